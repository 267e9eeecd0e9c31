"""The result of a discovery."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, overload

import polars as pl

from consilience.graph.graphs import PAG
from consilience.iod.evidence import Decision
from consilience.iod.knowledge import Knowledge
from consilience.iod.resolution import Resolution
from consilience.iod.summary import Summary
from consilience.settings.choices import Resolve

__all__ = ["Discovery"]


@dataclass(frozen=True, slots=True, eq=False)
class Discovery:
    """What was found: every PAG over all variables that agrees with every data set, and all it rests on.

    What :func:`consilience.discover` returns. A notebook shows a headline and the summary; :meth:`to_html` writes all of it.

    Attributes
    ----------
    pags : tuple of PAG
        The graphs, best first.
    scores : tuple of float
        For each, the weight of the CI decisions that it contradicts; 0 if it contradicts none.
    complete : bool
        False if a limit cut the list short.
    summary : Summary
        What holds in all, some or none of the graphs, listed or not.
    conflicts : tuple of Decision
        Decisions of the local graphs that cannot hold together, and could with any one of them left out: why a strict list is empty.
    overruled : tuple of Decision
        With ``resolve="optimal"``, the decisions that were given up. Where all tests are weighed, this may happen without a conflict.
        Where several graphs tie, these are what at least one of them gives up, and :meth:`contradicted` tells which.
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
    knowledge : Knowledge or None
        What was known beforehand.
    disclosed : polars.DataFrame or None
        What left each site in all; None if the test keeps no ledgers.
    resolution : Resolution
        How contradictions between decisions were resolved, and how far that is proved.

    Examples
    --------
    >>> import consilience as cs
    >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABC", "BCD"]))
    >>> found
    Discovery(2 PAGs from 2 data sets, 10 tests)
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
    _contradicted: tuple[tuple[Decision, ...], ...] = field(default=(), repr=False)

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
        """``"strict"`` or ``"optimal"``."""
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
            "pags": [{**_plain(pag), "score": score} for pag, score in zip(self.pags, self.scores, strict=True)],
            "complete": self.complete,
            "summary": self.summary.frame.to_dicts(),
            "conflicts": [_decision(decision) for decision in self.conflicts],
            "overruled": [_decision(decision) for decision in self.overruled],
            "local_pags": [{"variables": list(v), **_plain(p)} for v, p in zip(self.datasets, self.local_pags, strict=True)],
            **self.settings,
            "knowledge": None if self.knowledge is None else self.knowledge.to_dict(),
            "candidates": self.candidates,
            "tests": self.tests.to_dicts(),
            "disclosed": None if self.disclosed is None else self.disclosed.to_dicts(),
            "timings": self.timings,
            "versions": self.versions,
        }

    def __repr__(self) -> str:
        more = "" if self.complete else " or more"
        count, sets = len(self.pags), len(self.datasets)
        graphs, held = "PAG" if count == 1 and not more else "PAGs", "data set" if sets == 1 else "data sets"
        return f"Discovery({count}{more} {graphs} from {sets} {held}, {self.tests.height} tests)"


def _plain(pag: PAG) -> dict[str, Any]:
    return {"edges": [str(edge) for edge in pag.edges], "labels": list(pag.labels), "matrix": pag.to_matrix().tolist()}


def _decision(decision: Decision) -> dict[str, Any]:
    return {**asdict(decision), "kind": decision.kind.value, "given": list(decision.given)}
