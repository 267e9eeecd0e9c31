"""The result of a discovery."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import EllipsisType
from typing import Any, overload

from consilience.citest.diagnostics import Diagnosis
from consilience.citest.interface import CITest
from consilience.citest.question import ask as checked
from consilience.frames import pl
from consilience.graph.graphs import PAG
from consilience.iod.effects import Effects
from consilience.iod.evidence import Decision
from consilience.iod.headline import headline
from consilience.iod.knowledge import Knowledge
from consilience.iod.resolution import Resolution, plain_decision
from consilience.iod.stability.result import Stability
from consilience.iod.summary import Summary
from consilience.settings.choices import Resolve

__all__ = ["Discovery", "question_schema"]


def question_schema() -> dict[str, Any]:
    """The columns of a table of questions. A function, as all that is polars' here: the apps load it after their first page.

    >>> list(question_schema())
    ['x', 'y', 'given']
    """
    return {"x": pl.String, "y": pl.String, "given": pl.List(pl.String)}


@dataclass(frozen=True, slots=True, eq=False)
class Discovery:
    """What was found: PAGs over all variables that agree with every data set, or with as much of the evidence as can be, and why.

    What :func:`consilience.discover` returns. ``headline`` says what was found and how far it can be relied on; a notebook shows it with
    the summary, and :meth:`to_html` writes all of it.

    Attributes
    ----------
    pags : tuple of PAG
        The graphs, best first.
    scores : tuple of float
        For each, the weight of the CI decisions that it contradicts; 0 if it contradicts none.
    complete : bool
        False if the limit, the time or somebody who stopped the search cut the list short.
    summary : Summary
        What holds in all, some or none of the graphs, listed or not.
    conflicts : tuple of Decision
        Decisions of the local graphs that cannot hold together, and could with any one of them left out: why a strict list is empty.
    overruled : tuple of Decision
        The decisions that were given up. Where all tests are weighed, this may happen without a conflict. Where several graphs tie
        (``resolve="optimal"``), these are what at least one of them gives up, and :meth:`contradicted` tells which.
    local_pags : tuple of PAG
        What each data set says on its own.
    datasets : tuple of tuple of str
        The variables of each data set.
    tests : polars.DataFrame
        One row per CI test that was used.
    candidates : int
        How many graphs were looked at before validation.
    timings : dict of str to float
        Seconds per step.
    settings, versions : dict
        What it takes to do it again.
    diagnosis : Diagnosis
        In how many tests the linear models behind them do not hold, if anybody has looked: ``str(found.diagnosis)`` says it.
    knowledge : Knowledge or None
        What was known beforehand.
    disclosed : polars.DataFrame or None
        What left each site in all; None if the test keeps no ledgers.
    resolution : Resolution
        How contradictions between decisions were resolved: what was overruled and why, how much was given up, and how far that is proved.
    stopped : bool
        True if the search was asked to stop before its time.
    stability : Stability or None
        How sure each edge, mark and decision is, by resampling and by leaving out sites; None unless ``bootstrap`` or ``leave_one_out``
        was asked for.
    effects : tuple of Effects
        What was asked for beforehand; :meth:`effect` has any other.
    missing : polars.DataFrame
        Of a result that :meth:`redecide` made: the questions that it needs and nobody had asked. They count as unknown.

    Examples
    --------
    >>> import consilience as cs
    >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABC", "BCD"]))
    >>> found
    Discovery(10 tests in 2 data sets. All 6 decisions agree: 2 graphs.)
    >>> found.pags[0], found.scores[0], found.complete
    (PAG.parse('A o-> C, B o-> C, C --> D'), 0.0, True)
    >>> print(found.summary)
    A ?-> C in all (at A: arrow in 50%, circle in 50%), A <-> D in 50%, B o-> C in all, C --> D in all
    """

    pags: tuple[PAG, ...]
    scores: tuple[float, ...]
    complete: bool
    summary: Summary
    conflicts: tuple[Decision, ...]
    overruled: tuple[Decision, ...]
    local_pags: tuple[PAG, ...]
    datasets: tuple[tuple[str, ...], ...]
    tests: pl.DataFrame
    candidates: int
    timings: dict[str, float]
    settings: dict[str, Any]
    versions: dict[str, str]
    knowledge: Knowledge | None = None
    disclosed: pl.DataFrame | None = None
    resolution: Resolution = field(default_factory=lambda: Resolution(Resolve.STRICT))
    stopped: bool = False
    missing: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=question_schema()))
    stability: Stability | None = None
    effects: tuple[Effects, ...] = ()
    _contradicted: tuple[tuple[Decision, ...], ...] = field(default=(), repr=False)
    _test: Any = field(default=None, repr=False)

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Discovery:
        """The discovery that :meth:`to_dict` wrote, as it is in a file ``result.json``.

        Parameters
        ----------
        told : mapping
            What the JSON says.

        Returns
        -------
        Discovery

        Raises
        ------
        OptionError
            If this is no result.

        Examples
        --------
        >>> import consilience as cs
        >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C"), datasets=["ABC"]))
        >>> cs.Discovery.from_dict(found.to_dict()).headline
        'All 3 decisions agree: exactly one graph.'
        """
        from consilience.iod.stored import discovery_of  # noqa: PLC0415  it makes discoveries

        return discovery_of(told)

    @property
    def headline(self) -> str:
        """What was found and how far it can be relied on, in a sentence or two: what stands at the top of every form of the result."""
        return headline(self)

    @property
    def diagnosis(self) -> Diagnosis:
        """In how many tests the linear models behind them do not hold, if anybody has looked: ``str(found.diagnosis)`` says it."""
        if "linear_p" not in self.tests.columns:
            return Diagnosis(self.tests.height, 0, 0)
        return Diagnosis.of(self.tests["linear_p"].to_list(), self.tests["method"].to_list())

    @property
    def alpha(self) -> float:
        """The significance level."""
        return float(self.settings["alpha"])

    @property
    def engine(self) -> str:
        """``"exact"`` or ``"iod"``."""
        return str(self.settings["engine"])

    @property
    def variant(self) -> str:
        """Which local marks guided ``engine="iod"``."""
        return str(self.settings["variant"])

    @property
    def resolve(self) -> str:
        """``"auto"``, ``"strict"``, ``"strongest"`` or ``"optimal"``, as it was asked for; ``resolution.how`` is what was done."""
        return str(self.settings["resolve"])

    @property
    def max_given(self) -> int | None:
        """The largest conditioning set that was allowed."""
        return None if self.settings["max_given"] is None else int(self.settings["max_given"])

    @property
    def selection_bias(self) -> bool:
        """Whether undirected edges were allowed."""
        return bool(self.settings["selection_bias"])

    def contradicted(self, number: int) -> tuple[Decision, ...]:
        """The decisions that one of the graphs contradicts.

        Parameters
        ----------
        number : int
            Of the graph in ``pags``, from 0.

        Returns
        -------
        tuple of Decision
            Empty, unless decisions were overruled.

        Raises
        ------
        IndexError
            If there is no such graph and decisions were overruled.
        """
        return self._contradicted[number] if self._contradicted else ()

    def redecide(
        self,
        *,
        alpha: float | None = None,
        knowledge: Knowledge | EllipsisType | None = ...,
        resolve: str | None = None,
        ask: CITest | None = None,
        progress: Callable[[str], None] | None = None,
        stop: Callable[[], bool] | None = None,
        **others: Any,
    ) -> Discovery:
        """Graphs from the tests that are there, decided otherwise. No site is asked, unless you say whom to ask.

        A search that decides otherwise may need tests that were not made. They count as unknown, never as independence: ``missing`` of the
        result has them, and its ``headline`` says how many there are.

        Parameters
        ----------
        alpha : float, optional
            Another significance level.
        knowledge : Knowledge or None, optional
            Other knowledge; None for none. What was known before is kept if nothing is said.
        resolve : {"auto", "strict", "strongest", "optimal"}, optional
            Another way out of contradictions.
        ask : CITest, optional
            Whom to ask for tests that were not made, such as the server of the study. Without it nobody is asked.
        progress, stop : callable, optional
            As for :func:`consilience.discover`.
        **others
            Other settings of :func:`consilience.discover`, such as ``max_given=2``. What is not given stays as it was.

        Returns
        -------
        Discovery
            With all tests that are there, used or not, so that one can go back.

        Raises
        ------
        OptionError
            If a setting does not exist, or has a value that does not.

        Examples
        --------
        >>> import consilience as cs
        >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABC", "BCD"]))
        >>> found.redecide(knowledge=cs.Knowledge(required=["A => C"]))
        Discovery(10 tests in 2 data sets. All 6 decisions agree with each other and with what is known: exactly one graph.)
        """
        from consilience.iod.redecide import Record, redecide  # noqa: PLC0415  it searches again, and a search makes discoveries

        again = redecide(
            Record.of(self), alpha=alpha, knowledge=knowledge, resolve=resolve, ask=ask, progress=progress, stop=stop, **others
        )
        return replace(again, _test=self._test if ask is None else ask)

    def effect(self, x: str, y: str) -> Effects:
        """What the listed graphs say of the total effect of x on y, with estimates where they identify it.

        Graph by graph: an adjustment set that some data set measures (of several, that over most rows, then with the shortest interval);
        zero, where x is no possible cause of y; or why there is no telling. Estimates are asked of the sites, where the test that found
        the graphs can ask them. With every test method effects are adjusted by regression; Fisher's tells no sums to do so.

        Parameters
        ----------
        x, y : str
            What is set, and what is looked at.

        Returns
        -------
        Effects

        Raises
        ------
        QuestionError
            If a variable does not exist, or both are the same.
        StudyError
            If an estimate is needed and there are no sites to ask, or they tell p-values only.

        Examples
        --------
        >>> import consilience as cs
        >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABCD"]))
        >>> print(found.effect("D", "A"))
        The effect of D on A: in the only graph it is zero, since D is no possible cause of A.
        """
        from consilience.iod.estimating import estimate_effects  # noqa: PLC0415  only who asks for effects pays for it

        question = checked(x, y, (), {name for held in self.datasets for name in held})
        pair = question.x, question.y
        kept = next((one for one in self.effects if (one.x, one.y) == pair), None)
        return estimate_effects(self, [pair], self._test)[0] if kept is None else kept

    @overload
    def to_html(self, path: None = None) -> str: ...
    @overload
    def to_html(self, path: str | Path) -> None: ...
    def to_html(self, path: str | Path | None = None) -> str | None:
        """The whole result as one page that needs no other file and no network.

        Parameters
        ----------
        path : str or Path, optional
            The file to write. Without it, nothing is written.

        Returns
        -------
        str or None
            The text of the page if no path was given, otherwise None.

        Examples
        --------
        >>> import consilience as cs
        >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C"), datasets=["ABC"]))
        >>> found.to_html()[:15]
        '<!doctype html>'
        """
        from consilience.iod.report import render, write_report  # noqa: PLC0415  only who wants a page pays for its parts

        if path is None:
            return render(self)
        write_report(self, path)
        return None

    def _repr_html_(self) -> str:
        """Shown in notebooks: a headline and the summary, not the whole report."""
        from consilience.iod.report import render_digest  # noqa: PLC0415  as above

        return render_digest(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for JSON: graphs as edges in text and as pcalg matrices.

        Returns
        -------
        dict
            With the attributes as keys, and the settings among them.
        """
        return {
            "headline": self.headline,
            "diagnosis": str(self.diagnosis),
            "pags": [{**_plain(pag), "score": score} for pag, score in zip(self.pags, self.scores, strict=True)],
            "complete": self.complete,
            "stopped": self.stopped,
            "summary": self.summary.frame.to_dicts(),
            "conflicts": [plain_decision(decision) for decision in self.conflicts],
            "overruled": [plain_decision(decision) for decision in self.overruled],
            "resolution": self.resolution.to_dict(),
            "contradicted": self._plain_contradicted(),
            "local_pags": [{"variables": list(v), **_plain(p)} for v, p in zip(self.datasets, self.local_pags, strict=True)],
            **self.settings,
            "knowledge": None if self.knowledge is None else self.knowledge.to_dict(),
            "candidates": self.candidates,
            "effects": [one.to_dict() for one in self.effects],
            "tests": self.tests.to_dicts(),
            "missing": self.missing.to_dicts(),
            "disclosed": None if self.disclosed is None else self.disclosed.to_dicts(),
            "stability": None if self.stability is None else self.stability.to_dict(),
            "timings": self.timings,
            "versions": self.versions,
        }

    def _plain_contradicted(self) -> dict[str, Any]:
        """The decisions that graphs contradict, and for each graph their places: graphs are many, and share most of them."""
        places = {decision: place for place, decision in enumerate(dict.fromkeys(one for own in self._contradicted for one in own))}
        return {
            "decisions": [plain_decision(decision) for decision in places],
            "by": [[places[decision] for decision in own] for own in self._contradicted],
        }

    def __repr__(self) -> str:
        tests, sets = self.tests.height, len(self.datasets)
        counted = f"{tests} test{'' if tests == 1 else 's'} in {sets} data set{'' if sets == 1 else 's'}"
        return f"Discovery({counted}. {self.headline})"


def _plain(pag: PAG) -> dict[str, Any]:
    return {"edges": [str(edge) for edge in pag.edges], "labels": list(pag.labels), "matrix": pag.to_matrix().tolist()}
