"""How often a study of some design finds each edge, and each mark at its ends: power for graphs, by simulation.

A study is simulated from the truth, discovery runs on it with the settings that it will have, and the summary of its list is held against
the truth's PAG, which is the most that any test can find. What unlimited rows would lead to is told beside it: what is open there, more
rows will not settle, but another variable at some site may (:mod:`consilience.simulate.next_measurement`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from consilience.data.kinds import Kind
from consilience.data.schema import Schema
from consilience.errors import OptionError
from consilience.frames import pl
from consilience.graph import MAG, PAG, Mark, MixedGraph, Oracle, latent_projection, mag_to_pag
from consilience.graph.errors import UnknownNodeError
from consilience.iod import Discovery, discover
from consilience.iod.discover import discover_arguments
from consilience.iod.summary import ALL, NO, SOME, percent
from consilience.options import check_number
from consilience.parallel import Jobs, spread
from consilience.settings import LOCAL, settings_of
from consilience.simulate.methods import federated
from consilience.simulate.partition import split_variables
from consilience.simulate.randomness import generator
from consilience.simulate.scm import Model, random_model
from consilience.simulate.shares import wilson
from consilience.simulate.sites import as_mag

__all__ = ["GraphPower", "graph_power"]

RIGHT, WRONG, OPEN, ABSENT = "right", "wrong", "open", "absent"
_INTERVAL = {"low": float, "high": float}
_PAIR = {"x": str, "y": str}
EDGE_COLUMNS = _PAIR | {"edge": str, "unlimited": str, "in_all": float} | _INTERVAL | {"in_some": float}
MARK_COLUMNS = _PAIR | {"mark": str, "unlimited": str, RIGHT: float} | _INTERVAL | dict.fromkeys((WRONG, OPEN, ABSENT), float)


@dataclass(frozen=True, slots=True, eq=False)
class GraphPower:
    """How often each edge and each mark of the truth is found.

    Attributes
    ----------
    edges : polars.DataFrame
        A row for every pair of variables: ``edge``, that of the truth, empty where there is none; ``unlimited``, whether all, some or
        none of the listed graphs have one if rows are unlimited; ``in_all`` and ``in_some``, the share of studies in which all graphs of
        the list, or some of them, have an edge. ``low`` and ``high`` are Wilson's 95% interval of ``in_all``.
    marks : polars.DataFrame
        A row for either end of every edge of the truth: ``mark``, what stands at y on the edge x–y. In which share of studies it is
        certain and ``right`` (all graphs of the list have the edge and this arrowhead or tail there), certain and ``wrong`` (they have
        another one), ``open``, or ``absent``, as no graph has the edge; ``low`` and ``high`` belong to ``right``. A circle is rightly
        open: no test can tell more. ``unlimited`` says which of the four it is if rows are unlimited.
    truth : PAG
        What is to be found.
    sites : dict of str to tuple of str
        The variables of each site.
    rows : tuple of int
        The rows of each site.
    studies : int
        How many were simulated.
    listed : int
        In how many of them the truth is in the list.

    Examples
    --------
    >>> found = graph_power("A o-> C, B o-> C", sites=2, rows=300, kinds=dict.fromkeys("ABC", "continuous"), replications=10)
    >>> found.marks.filter(mark="arrow").select("x", "y", "unlimited", "right").rows()
    [('A', 'C', 'right', 1.0), ('B', 'C', 'right', 1.0)]
    """

    edges: pl.DataFrame
    marks: pl.DataFrame
    truth: PAG
    sites: dict[str, tuple[str, ...]]
    rows: tuple[int, ...]
    studies: int
    listed: int

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON.

        Returns
        -------
        dict
        """
        return {
            "truth": str(self.truth),
            "sites": {name: list(held) for name, held in self.sites.items()},
            "rows": list(self.rows),
            "studies": self.studies,
            "listed": {"share": self.listed / self.studies, **wilson(self.listed, self.studies)},
            "edges": self.edges.to_dicts(),
            "marks": self.marks.to_dicts(),
        }

    def _repr_html_(self) -> str:
        """Shown in notebooks: a sentence, the truth, and a table."""
        from consilience.simulate.showing import show_graph_power  # noqa: PLC0415  only who looks pays for it

        return show_graph_power(self)

    def __str__(self) -> str:
        studies = f"{self.studies} simulated {'study' if self.studies == 1 else 'studies'}"
        lines = [f"In {_of(self.listed / self.studies, wilson(self.listed, self.studies))} of {studies} the true graph is in the list."]
        for row in self.edges.iter_rows(named=True):
            if row["edge"]:
                lines.append(
                    f"{row['edge']}: in all graphs in {_of(row['in_all'], row)}, in some in {percent(row['in_some'])}{_limit(row)}"
                )
                lines += [f"  {line}" for line in self.mark_lines(row["x"], row["y"])]
            elif row["in_all"] or row["in_some"]:
                shares = f"in all graphs in {_of(row['in_all'], row)}, in some in {percent(row['in_some'])}"
                lines.append(f"no edge between {row['x']} and {row['y']}: one {shares}{_limit(row)}")
        return "\n".join(lines)

    def mark_lines(self, x: str, y: str) -> list[str]:
        """How often each mark of one edge of the truth is found, in words.

        Parameters
        ----------
        x, y : str
            The ends of the edge.

        Returns
        -------
        list of str
            One for either end.
        """
        ends = self.marks.filter(pl.col("x").is_in([x, y]) & pl.col("y").is_in([x, y]))
        return [_mark_line(end) for end in ends.iter_rows(named=True)]


def _of(share: float, interval: Mapping[str, Any]) -> str:
    return f"{percent(share)} ({percent(interval['low'])} to {percent(interval['high'])})"


def _limit(row: Mapping[str, Any]) -> str:
    """What unlimited rows would not change, where they would leave something open."""
    return "; in some with unlimited rows, too" if row["unlimited"] == SOME else ""


def _mark_line(row: Mapping[str, Any]) -> str:
    if row["mark"] == "circle":
        return f"at {row['y']}: rightly open in {percent(row[OPEN])}, wrongly certain in {percent(row[WRONG])}"
    limit = f"; {row['unlimited']} with unlimited rows, too" if row["unlimited"] != RIGHT else ""
    name = {"arrow": "arrowhead", "tail": "tail"}[row["mark"]]
    return f"{name} at {row['y']}: right in {_of(row[RIGHT], row)}, wrong in {percent(row[WRONG])}, open in {percent(row[OPEN])}{limit}"


def graph_power(
    truth: MixedGraph | Model | str,
    *,
    sites: int | Mapping[str, Iterable[str]] = 4,
    rows: int | Sequence[int] = 500,
    exclusive: Iterable[str] = (),
    kinds: Mapping[str, str | Kind] | None = None,
    replications: int = 100,
    seed: int = 1,
    jobs: Jobs = LOCAL.jobs,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
    **settings: Any,
) -> GraphPower:
    """How often studies of a design find each edge of a graph, and each mark at its ends.

    Parameters
    ----------
    truth : PAG, MAG, DAG, str or Model
        A graph, or its text: every study is drawn from a new model on it, with coefficients as
        :func:`~consilience.simulate.from_graph` draws them. Or one model, from which all are drawn. Variables that no site measures are
        latent.
    sites : int or mapping of str to iterable of str, default 4
        How many sites; or the variables that each of them measures, by its name.
    rows : int or sequence of int, default 500
        Rows of each site.
    exclusive : iterable of str, optional
        With a number of sites: variables that are measured by every second (third, …) site only.
    kinds : mapping of str to str or Kind, optional
        Kinds of some or all variables; the others are random, new ones in every study.
    replications : int, default 100
        Studies to simulate.
    seed : int, default 1
        The same seed gives the same numbers, however many ``jobs``.
    jobs : int or str, default 1
        Processes to use, or the address of a Dask scheduler.
    progress : callable, optional
        Told (done, all) after each study; an exception that it raises cancels the work.
    stop : callable, optional
        Asked after each study whether to stop: True keeps what was found until then.
    **settings
        Settings of the study, those of the tests and those of the search: ``alpha``, ``method``, ``max_given``, ``resolve``, …

    Returns
    -------
    GraphPower

    Raises
    ------
    OptionError
        If an option cannot be used, or the design does not go with the truth.
    UnknownNodeError
        If a site measures what the truth does not have.

    See Also
    --------
    power : for a single test
    next_measurement : which further variable would settle most

    Examples
    --------
    >>> found = graph_power("A o-> C, B o-> C, C --> D", sites={"north": "ABC", "south": "BCD"}, rows=400, replications=5)
    >>> found.edges.filter(edge="C --> D").select("unlimited").item(), found.studies
    ('all', 5)
    """
    check_number("replications", replications, least=1)
    settings_of(**settings)
    design = _design(truth, sites, rows, tuple(exclusive), dict(kinds or {}), settings)
    pag = mag_to_pag(design.mag)
    tell = progress or (lambda _done, _all: None)
    seen = []
    for _, outcome in spread(_study, [(design, pag, (seed, k)) for k in range(replications)], jobs):
        seen.append(outcome)
        tell(len(seen), replications)
        if stop is not None and stop():
            break
    unlimited = _seen(discover(Oracle(design.mag, design.sites.values()), **_search(settings)), pag)
    edges, marks = _edge_rows(pag, seen, unlimited), _mark_rows(pag, seen, unlimited)
    return GraphPower(
        pl.DataFrame(edges, schema=EDGE_COLUMNS),
        pl.DataFrame(marks, schema=MARK_COLUMNS),
        pag,
        design.sites,
        design.rows,
        len(seen),
        sum(outcome.listed for outcome in seen),
    )


class _Design(NamedTuple):
    """All that a study is drawn from and done with."""

    model: Model | MAG
    """One model for all studies, or the graph on which each has its own."""
    mag: MAG
    """Over what the sites measure."""
    sites: dict[str, tuple[str, ...]]
    rows: tuple[int, ...]
    kinds: dict[str, str | Kind]
    settings: dict[str, Any]


class _Outcome(NamedTuple):
    """What the list of one study says: of every pair whether there is an edge, of every end of a true edge whether its mark is found."""

    edges: tuple[str, ...]
    marks: tuple[str, ...]
    listed: bool


def _design(
    truth: MixedGraph | Model | str,
    sites: int | Mapping[str, Iterable[str]],
    rows: int | Sequence[int],
    exclusive: tuple[str, ...],
    kinds: dict[str, str | Kind],
    settings: dict[str, Any],
) -> _Design:
    whole = as_mag(truth.dag if isinstance(truth, Model) else truth)
    known = tuple(truth.schema) if isinstance(truth, Model) else whole.labels
    held = _held(sites, known, exclusive)
    observed = sorted({name for names in held.values() for name in names})
    for name in observed:
        if name not in known:
            raise UnknownNodeError(f"Sites measure variables of the truth, {', '.join(known)}; got {name!r}.")
    if isinstance(truth, Model):
        if kinds:
            raise OptionError("A model says what kinds its variables have; leave kinds out, or give its graph in place of it.")
        if truth.sites != len(held):
            raise OptionError(f"The model has {truth.sites} sites, and the design {len(held)}; make one with as many.")
    sizes = (rows,) * len(held) if isinstance(rows, int) else tuple(rows)
    if len(sizes) != len(held):
        raise OptionError(f"Rows are given for each of {len(held)} sites, or once for all; got {list(sizes)}.")
    for size in sizes:
        check_number("rows", size, least=2)
    return _Design(truth if isinstance(truth, Model) else whole, latent_projection(whole, observed), held, sizes, kinds, settings)


def _held(sites: int | Mapping[str, Iterable[str]], known: Sequence[str], exclusive: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    if isinstance(sites, int):
        check_number("sites", sites, least=1)
        return {f"site{k}": names for k, names in enumerate(split_variables(known, exclusive, sites), start=1)}
    if exclusive:
        raise OptionError("Exclusive variables go with a number of sites; sites that are named have the variables that they are given.")
    if not sites:
        raise OptionError("A study needs a site; got none.")
    return {name: tuple(sorted(dict.fromkeys(variables))) for name, variables in sites.items()}


def _search(settings: Mapping[str, Any]) -> dict[str, Any]:
    return discover_arguments(settings_of(**settings))


def _study(design: _Design, truth: PAG, seed: tuple[int, int]) -> _Outcome:
    """Draw, test, discover, compare."""
    rng = generator(seed)
    drawn = design.model
    model = drawn if isinstance(drawn, Model) else random_model(drawn, len(design.sites), rng, kinds=design.kinds)
    complete = model.sample(design.rows, rng)
    frames = {name: frame.select(held) for (name, held), frame in zip(design.sites.items(), complete, strict=True)}
    schema = Schema([model.schema[name] for name in truth.labels])
    return _seen(discover(federated(frames, schema, **design.settings), **_search(design.settings)), truth)


def _seen(found: Discovery, truth: PAG) -> _Outcome:
    frame = found.summary.frame
    edges, marks = [], []
    for x, y, edge, at_x, at_y in frame.select("x", "y", "edge", "mark_at_x", "mark_at_y").iter_rows():
        edges.append(edge)
        if truth.adjacent(x, y):
            marks += [_verdict(edge, told, mark) for told, mark in ((at_x, truth.mark(y, x)), (at_y, truth.mark(x, y)))]
    return _Outcome(tuple(edges), tuple(marks), truth in found.pags)


def _verdict(edge: str, told: str, mark: Mark) -> str:
    """What a list says about one end of a true edge, where ``told`` is the mark that its graphs share there, if they share one."""
    if edge == NO:
        return ABSENT
    if edge != ALL or told not in ("arrow", "tail"):
        return OPEN
    return RIGHT if told == mark.name.lower() else WRONG


def _pairs(truth: PAG) -> list[tuple[str, str]]:
    names = sorted(truth.labels)
    return [(x, y) for i, x in enumerate(names) for y in names[i + 1 :]]


def _edge_rows(truth: PAG, seen: Sequence[_Outcome], unlimited: _Outcome) -> list[dict[str, Any]]:
    told = {frozenset((edge.a, edge.b)): str(edge) for edge in truth.edges}
    rows = []
    for k, (x, y) in enumerate(_pairs(truth)):
        count = Counter(outcome.edges[k] for outcome in seen)
        row: dict[str, Any] = {"x": x, "y": y, "edge": told.get(frozenset((x, y)), ""), "unlimited": unlimited.edges[k]}
        rows.append(row | {"in_all": count[ALL] / len(seen), **wilson(count[ALL], len(seen)), "in_some": count[SOME] / len(seen)})
    return rows


def _mark_rows(truth: PAG, seen: Sequence[_Outcome], unlimited: _Outcome) -> list[dict[str, Any]]:
    ends = [end for x, y in _pairs(truth) if truth.adjacent(x, y) for end in ((y, x), (x, y))]
    rows = []
    for k, (x, y) in enumerate(ends):
        count = Counter(outcome.marks[k] for outcome in seen)
        shares = {what: count[what] / len(seen) for what in (RIGHT, WRONG, OPEN, ABSENT)}
        row: dict[str, Any] = {"x": x, "y": y, "mark": truth.mark(x, y).name.lower(), "unlimited": unlimited.marks[k]}
        rows.append(row | shares | wilson(count[RIGHT], len(seen)))
    return rows
