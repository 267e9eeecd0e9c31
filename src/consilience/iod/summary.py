"""What holds in all, in some or in none of the graphs: of every pair whether it has an edge, of every end which marks stand there, and who
is an ancestor of whom.

Two kinds of graphs are spoken of. A PAG stands for a class of MAGs that no test can tell apart; it has the marks that all of them share,
and circles where they differ. So an arrowhead or a tail that every PAG has is one that every MAG has, and the reverse; a circle says
that both occur. What MAGs share can therefore be read off the PAGs, and a solver can tell it of lists that nobody can write down. Which
marks stand in some of the PAGs cannot be read off the MAGs, and takes a list.

Shares count all PAGs: one without an edge has no mark there, so that the shares of the three marks at an end add up to that of the edge.
A summary is counted from a complete list, or put together from what a solver says of each edge and mark without a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any, NamedTuple, Self

import numpy as np

from consilience.errors import OptionError
from consilience.frames import pl
from consilience.graph.ancestry import possible_descendants, sure_descendants
from consilience.graph.errors import UnknownNodeError
from consilience.graph.graphs import PAG
from consilience.graph.marks import ARROW, CIRCLE, NONE, TAIL
from consilience.graph.mixed import MixedGraph
from consilience.graph.text import edge_symbol, quoted
from consilience.graph.views import Positions
from consilience.options import check_option

__all__ = ["ALL", "EITHER", "MARKS", "NO", "SOME", "UNKNOWN", "Summary", "SummaryEdge", "percent"]

MARKS = {"arrow": ARROW, "tail": TAIL, "circle": CIRCLE}
ALL, SOME, NO, UNKNOWN = STATUSES = ("all", "some", "none", "unknown")
EITHER = "either"
SHARED = ("arrow", "tail", EITHER, NO, UNKNOWN)
"""What MAGs may have at an end of an edge: a mark that they share, both, no edge; or nobody knows."""
_ENDS = tuple(f"{mark}_at_{end}" for end in "xy" for mark in MARKS)
_OF_MAGS = ("mark_at_x", "mark_at_y", "x_causes_y", "y_causes_x")


def _schema() -> dict[str, Any]:
    return (
        {"x": pl.String, "y": pl.String, "edge": pl.String, "edge_share": pl.Float64}
        | dict.fromkeys(_ENDS, pl.String)
        | dict.fromkeys((f"share_{name}" for name in _ENDS), pl.Float64)
        | dict.fromkeys(_OF_MAGS, pl.String)
    )


class SummaryEdge(NamedTuple):
    """An edge that occurs: its ends, the mark on which the PAGs that have it agree at each, and the rest in words.

    A mark is None where PAGs differ, or where MAGs do and there is no list that tells whether PAGs differ or have circles.
    ``status`` is "all", "some" or "unknown", ``share`` that of the PAGs that have it, None unless they were counted.
    """

    a: str
    b: str
    at_a: int | None
    at_b: int | None
    status: str
    share: float | None
    words: str


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """What the graphs have in common: which pairs have an edge, which marks stand at its ends, and who is an ancestor of whom.

    A discovery has one as ``found.summary``; :meth:`of` counts any list of PAGs. A notebook shows it as its drawing. It covers all graphs
    that agree with the decisions, whether the list has them or not.

    Attributes
    ----------
    labels : tuple of str
        The variables, sorted.
    count : int or None
        How many PAGs were counted; None if the search asked the solver instead of counting a complete list.
    frame : polars.DataFrame
        A row for every pair x < y. ``"unknown"`` stands wherever time did not suffice.

        *Of the PAGs*: ``edge`` and ``arrow_at_x``, ``tail_at_x``, ``circle_at_x``, ``arrow_at_y``, … say in how many it is so: ``"all"``,
        ``"some"`` (but not all) or ``"none"``. ``edge_share`` and ``share_arrow_at_x``, … are shares of all PAGs, null unless they were
        counted. Without a complete list, a mark is null where MAGs differ and it would take the list to tell how their PAGs do.

        *Of every MAG that agrees*, also without a list: ``mark_at_x`` and ``mark_at_y`` say what those with the edge have at its end:
        ``"arrow"`` or ``"tail"`` if all of them do, ``"either"`` if both occur, ``"none"`` if no MAG has the edge. ``x_causes_y`` and
        ``y_causes_x`` say in how many a directed path leads from the one to the other: ``"all"``, ``"some"`` or ``"none"``. An edge is
        in all MAGs iff it is in all PAGs. The mark is ``"arrow"`` iff no PAG has another mark than an arrowhead there, and ``"either"``
        iff PAGs differ there or have a circle.
    condition : str
        Under which all of it holds, where decisions were overruled: "if the 3 overruled decisions are wrong …"; empty where they agree.

    Examples
    --------
    >>> found = Summary.of([PAG.parse("A o-> C, B o-> C"), PAG.parse("A o-> C, B <-> C"), PAG.parse("A <-> C, B")], "ABC")
    >>> print(found)
    A ?-> C in all (at A: arrow in 33%, circle in 67%), B ?-> C in 67% (at B: arrow in 33%, circle in 33%)
    """

    labels: tuple[str, ...]
    count: int | None
    frame: pl.DataFrame
    condition: str = ""

    @classmethod
    def of(
        cls,
        pags: Sequence[PAG],
        labels: Iterable[str],
        *,
        complete: bool = True,
        ancestors: Mapping[tuple[str, str], str] | None = None,
    ) -> Self:
        """Count a list of PAGs.

        Parameters
        ----------
        pags : sequence of PAG
            The list; each may lack some of the variables.
        labels : iterable of str
            The variables to count over.
        complete : bool, default True
            False for a list that was cut short: it tells only what holds in some graphs and not in others.
        ancestors : mapping of (str, str) to str, optional
            ``"all"``, ``"some"``, ``"none"`` or ``"unknown"`` for pairs (x, y): in how many MAGs is x an ancestor of y? By default this is
            read off the PAGs, which is right if every MAG of their classes is meant and there is no selection bias.

        Returns
        -------
        Summary

        Examples
        --------
        >>> Summary.of([PAG.parse("A --> B, C")], "ABC").frame.select("x", "y", "edge", "tail_at_x").rows()
        [('A', 'B', 'all', 'all'), ('A', 'C', 'none', 'none'), ('B', 'C', 'none', 'none')]
        """
        names = tuple(sorted(labels))
        counts = np.zeros((4, len(names), len(names)), dtype=np.int64)
        for pag in pags:
            marks = pag.marks if pag.labels == names else pag.reordered(names).marks
            for mark in range(4):
                counts[mark] += marks == mark
        total = len(pags)
        related = _ancestors(pags, names, complete=complete) if ancestors is None else ancestors

        def found(count: int) -> tuple[str, float | None]:
            if not complete:  # the graphs that are not listed may have it, or lack it
                return SOME if 0 < count < total else UNKNOWN, None
            return NO if not count else ALL if count == total else SOME, count / total if total else None

        rows: list[dict[str, Any]] = []
        for (i, x), (j, y) in combinations(enumerate(names), 2):
            row: dict[str, Any] = {"x": x, "y": y}
            row["edge"], row["edge_share"] = found(int(total - counts[NONE, i, j]))
            for end, (a, b) in (("x", (j, i)), ("y", (i, j))):
                for name, mark in MARKS.items():
                    row[f"{name}_at_{end}"], row[f"share_{name}_at_{end}"] = found(int(counts[mark, a, b]))
                row[f"mark_at_{end}"] = _shared(row["edge"], {name: row[f"{name}_at_{end}"] for name in MARKS})
            rows.append(row | _causes(x, y, related))
        return cls(names, total if complete else None, pl.DataFrame(rows, schema=_schema()))

    @classmethod
    def from_statuses(
        cls,
        labels: Iterable[str],
        edge: Mapping[tuple[str, str], str],
        marks: Mapping[tuple[str, str, str], str],
        ends: Mapping[tuple[str, str], str] | None = None,
        ancestors: Mapping[tuple[str, str], str] | None = None,
    ) -> Self:
        """Put together what is known of edges, marks and ancestral relations, without a list.

        What is left out follows from the rest, where it does (no edge, no marks; one mark in all, the others in none), or is unknown.

        Parameters
        ----------
        labels : iterable of str
            The variables.
        edge : mapping of (str, str) to str
            ``"all"``, ``"some"``, ``"none"`` or ``"unknown"`` for pairs of variables, in either order.
        marks : mapping of (str, str, str) to str
            The same for marks of PAGs: ``(x, y, mark)`` is the mark ``"arrow"``, ``"tail"`` or ``"circle"`` at y on the edge x–y.
        ends : mapping of (str, str) to str, optional
            What the MAGs with the edge x–y have at y, for (x, y): ``"arrow"``, ``"tail"``, ``"either"``, ``"none"`` or ``"unknown"``.
        ancestors : mapping of (str, str) to str, optional
            In how many MAGs x is an ancestor of y, for (x, y): ``"all"``, ``"some"``, ``"none"`` or ``"unknown"``. By default nothing is
            said of ancestors.

        Returns
        -------
        Summary

        Raises
        ------
        OptionError
            If a status or a mark has another name, or they contradict each other.
        UnknownNodeError
            If a status belongs to a variable that is not among ``labels``.

        Examples
        --------
        >>> statuses = {("A", "B", "arrow"): "all", ("B", "A", "tail"): "none"}
        >>> print(Summary.from_statuses("AB", {("A", "B"): "all"}, statuses))
        A ?-> B in all
        """
        names = tuple(sorted(labels))
        ends = ends or {}
        for place, mark in ends.items():
            check_option(f"The mark of {place!r}", mark, SHARED)
        for key, status in (*edge.items(), *marks.items(), *(ancestors or {}).items()):
            check_option(f"The status of {key!r}", status, STATUSES)
        for about in (*edge, *marks, *ends, *(ancestors or {})):
            if about[0] == about[1] or not set(about[:2]) <= set(names):
                raise UnknownNodeError(f"A status belongs to two of the variables {', '.join(names)}; got {about!r}.")
        for *_, mark in marks:
            check_option("A mark", mark, tuple(MARKS))
        rows = []
        for x, y in combinations(names, 2):
            joined = edge.get((x, y), edge.get((y, x), UNKNOWN))
            row: dict[str, Any] = {"x": x, "y": y, "edge": joined}
            for end, (a, b) in (("x", (y, x)), ("y", (x, y))):
                given = {mark: marks.get((a, b, mark), UNKNOWN) for mark in MARKS}
                shared = ends.get((a, b), UNKNOWN)
                if shared in MARKS:  # no PAG has another mark there
                    given |= {mark: NO for mark in MARKS if mark != shared and given[mark] == UNKNOWN}
                told = _deduced(joined, given, f"{x}–{y}, at {b}")
                follows = _shared(joined, told)
                if UNKNOWN not in (shared, follows) and shared != follows:
                    raise OptionError(f"The edge {x}–{y}, at {b}: MAGs have {shared!r}, which does not go with {told!r} of their PAGs.")
                row |= {f"{mark}_at_{end}": None if (shared, status) == (EITHER, UNKNOWN) else status for mark, status in told.items()}
                row[f"mark_at_{end}"] = follows if shared == UNKNOWN else shared
            rows.append(row | _causes(x, y, ancestors))
        return cls(names, None, pl.DataFrame(rows, schema=_schema()))

    @classmethod
    def from_rows(cls, labels: Iterable[str], rows: Sequence[Mapping[str, Any]], *, count: int | None) -> Self:
        """A summary whose ``frame`` was written down, row by row.

        Parameters
        ----------
        labels : iterable of str
            The variables.
        rows : sequence of mapping
            Those of the frame, as dictionaries.
        count : int or None
            How many PAGs were counted.

        Returns
        -------
        Summary

        Raises
        ------
        OptionError
            If there is not one row for every pair of variables.

        Examples
        --------
        >>> told = Summary.of([PAG.parse("A --> B, C")], "ABC")
        >>> str(Summary.from_rows("ABC", told.frame.to_dicts(), count=1))
        'A --> B in all'
        """
        names = tuple(sorted(labels))
        frame = pl.DataFrame(rows, schema=_schema())
        if frame.select("x", "y").rows() != list(combinations(names, 2)):
            raise OptionError(f"A summary has a row for every pair of its variables {', '.join(names)}, in their order; these rows do not.")
        return cls(names, count, frame)

    @property
    def complete(self) -> bool:
        """True if nothing is unknown."""
        return not any(UNKNOWN in self.frame[name] for name in ("edge", *_ENDS, *_OF_MAGS))

    @property
    def ancestors(self) -> pl.DataFrame:
        """In how many MAGs one variable causes another, directly or through others: ``cause``, ``effect`` and ``status``.

        >>> Summary.of([PAG.parse("A o-> B, C o-> B, B --> D")], "ABCD").ancestors.filter(pl.col("status") != "none").rows()
        [('A', 'B', 'some'), ('A', 'D', 'some'), ('B', 'D', 'all'), ('C', 'B', 'some'), ('C', 'D', 'some')]
        """
        there = self.frame.select(cause="x", effect="y", status="x_causes_y")
        back = self.frame.select(cause="y", effect="x", status="y_causes_x")
        return pl.concat([there, back]).sort("cause", "effect")

    def edges(self) -> list[SummaryEdge]:
        """Every edge that all or some of the PAGs have, or may have.

        Returns
        -------
        list of SummaryEdge
            By sorted labels, each turned so that a single arrowhead stands at ``b``.
        """
        return [_edge(row) for row in self.frame.iter_rows(named=True) if row["edge"] != NO]

    def lines(self) -> list[str]:
        """Every edge that occurs, in words; ``?`` stands where the PAGs that have the edge differ, or its MAGs if there is no list.

        Returns
        -------
        list of str

        Examples
        --------
        >>> Summary.of([PAG.parse("A --> C, B o-o D"), PAG.parse("A --> C, B, D")], "ABCD").lines()
        ['A --> C in all', 'B o-o D in 50%']
        """
        return [edge.words for edge in self.edges()]

    def union(self) -> MixedGraph:
        """A graph with every edge that occurs, and circles where marks differ: what is common to drawings of the PAGs.

        Returns
        -------
        MixedGraph
            It need not be a PAG of anything.

        Examples
        --------
        >>> Summary.of([PAG.parse("A --> B, C"), PAG.parse("A <-> B, B o-o C")], "ABC").union()
        MixedGraph.parse('A o-> B, B o-o C')
        """
        marks = np.zeros((len(self.labels), len(self.labels)), dtype=np.int8)
        for edge in self.edges():
            a, b = self.labels.index(edge.a), self.labels.index(edge.b)
            marks[b, a], marks[a, b] = (CIRCLE if mark is None else mark for mark in (edge.at_a, edge.at_b))
        return MixedGraph(marks, self.labels)

    def to_svg(
        self, *, width: float | None = None, positions: Positions | None = None, title: str | None = None, embedded: bool = False
    ) -> str:
        """The summary as a picture: solid where all PAGs have an edge, dashed where some do, with the share of those.

        An end has the mark on which all PAGs that have the edge agree, or a hollow grey diamond where they differ.

        Parameters
        ----------
        width : float, optional
            Of the picture on the page, in pixels. By default letters are 14 pixels high.
        positions : mapping of str to (float, float), optional
            The centres of the nodes in pixels, y down, such as ``positions_of`` finds for several graphs at once.
        title : str, optional
            What the picture is called where it cannot be seen.
        embedded : bool, default False
            Leave out the rules of style, for a page that has them once for all its pictures.

        Returns
        -------
        str
            SVG that needs nothing else.

        Raises
        ------
        OptionError
            If the width is no positive number or a node has no position.

        Examples
        --------
        >>> Summary.of([PAG.parse("A --> B, C"), PAG.parse("A --> B, B o-o C")], "ABC").to_svg().count(">50%</text>")
        1
        """
        from consilience.iod.summary_drawing import draw_summary  # noqa: PLC0415  counting knows no drawing; who wants one loads it

        return draw_summary(self, width=width, positions=positions, title=title, embedded=embedded)

    def _repr_svg_(self) -> str:
        """Drawn where only pictures are shown."""
        return self.to_svg()

    def _repr_html_(self) -> str:
        """Drawn in notebooks; its text is escaped with the drawing."""
        return f'<div class="consilience-summary">{self.to_svg()}</div>'

    def __str__(self) -> str:
        if self.count == 0:
            return "no PAG agrees with all decisions"
        told = ", ".join(self.lines()) or "no edge in any PAG"
        return f"{self.condition}: {told}" if self.condition else told

    def __repr__(self) -> str:
        return f"Summary({'of ' + _counted(self.count) + ': ' if self.count is not None else ''}{self})"


def percent(share: float) -> str:
    """A share for people; only what holds without exception is 100%, and only what never does is 0%.

    >>> percent(0.617), percent(0.999), percent(0.0001)
    ('62%', '>99%', '<1%')
    """
    if 0.0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1.0 else f"{share:.0%}"


def _deduced(edge: str, marks: dict[str, str], where: str) -> dict[str, str]:
    """Statuses of the marks at an end, with what follows from the others and from that of the edge."""
    # Every edge has exactly one mark at each end. So a mark in all graphs leaves none for the others, no edge leaves no marks, and where
    # two marks are out, the third is wherever the edge is. The same sentence tells what cannot be true, below.
    statuses = dict(marks)
    for mark in [mark for mark, status in marks.items() if status == ALL]:
        statuses |= {other: NO for other in MARKS if other != mark and marks[other] == UNKNOWN}
    if edge == NO:
        statuses = {mark: NO if status == UNKNOWN else status for mark, status in statuses.items()}
    elif edge != UNKNOWN and list(statuses.values()).count(NO) == 2:
        statuses = {mark: edge if status == UNKNOWN else status for mark, status in statuses.items()}
    given = list(statuses.values())
    several = [status for status in given if status in (ALL, SOME)]
    wrong = (edge == NO and several) or (edge == SOME and ALL in given) or (ALL in given and len(several) > 1)
    if wrong or (edge in (ALL, SOME) and given.count(NO) == 3) or (edge == ALL and given.count(NO) == 2 and SOME in given):
        raise OptionError(f"The edge {where}: {edge!r} does not go with marks {statuses!r}. Every edge has one mark at each end.")
    return statuses


def _shared(edge: str, marks: Mapping[str, str]) -> str:
    """What MAGs with the edge have at an end, from how often PAGs have each mark there. A circle stands for both."""
    circle = marks["circle"]
    if circle in (ALL, SOME) or (marks["arrow"] in (ALL, SOME) and marks["tail"] in (ALL, SOME)):
        return EITHER
    if edge == NO:
        return NO
    for mark, other in (("arrow", "tail"), ("tail", "arrow")):
        if marks[other] == circle == NO and (edge in (ALL, SOME) or marks[mark] in (ALL, SOME)):
            return mark
    return UNKNOWN


def _causes(x: str, y: str, ancestors: Mapping[tuple[str, str], str] | None) -> dict[str, str | None]:
    if ancestors is None:
        return {"x_causes_y": None, "y_causes_x": None}
    return {"x_causes_y": ancestors.get((x, y), UNKNOWN), "y_causes_x": ancestors.get((y, x), UNKNOWN)}


def _ancestors(pags: Sequence[PAG], names: Sequence[str], *, complete: bool) -> dict[tuple[str, str], str]:
    """In how many MAGs of the PAGs' classes one variable is an ancestor of another."""
    n = len(names)
    everyone = (1 << n) - 1
    ever, sure = [0] * n, [everyone & ~(1 << v) for v in range(n)]
    for pag in pags:
        marks = (pag if pag.labels == names else pag.reordered(names)).working()
        ever = [row | more for row, more in zip(ever, possible_descendants(marks), strict=True)]
        sure = sure_descendants(marks, among=sure)

    def status(x: int, y: int) -> str:
        occurs, always = ever[x] >> y & 1, sure[x] >> y & 1
        if not complete:
            return SOME if occurs and not always else UNKNOWN
        return NO if not occurs else ALL if always else SOME

    return {(names[x], names[y]): status(x, y) for x, y in permutations(range(n), 2)}


def _edge(row: Mapping[str, Any]) -> SummaryEdge:
    """An edge, turned so that a single arrowhead points to the right, as graphs write theirs."""
    ends = [(row[end], _agreed(row, end), _differing(row, end)) for end in "xy"]
    (_, left, _), (_, right, _) = ends
    if left == ARROW != right or (left, right) == (CIRCLE, TAIL):
        ends.reverse()
    (a, at_a, _), (b, at_b, _) = ends
    left_sign = "?" if at_a is None else edge_symbol(at_a, TAIL)[0]
    right_sign = "?" if at_b is None else edge_symbol(TAIL, at_b)[-1]
    share = row["edge_share"]
    often = {ALL: "in all", UNKNOWN: "perhaps"}.get(row["edge"]) or f"in {'some' if share is None else percent(share)}"
    more = "; ".join(words for _, _, words in ends if words)
    words = f"{quoted(a)} {left_sign}-{right_sign} {quoted(b)} {often}{f' ({more})' if more else ''}"
    return SummaryEdge(a, b, at_a, at_b, row["edge"], share, words)


def _agreed(row: Mapping[str, Any], end: str) -> int | None:
    """The one mark that occurs at this end; None if there are more, or may be."""
    possible = [mark for name, mark in MARKS.items() if row[f"{name}_at_{end}"] != NO]
    return possible[0] if len(possible) == 1 else None


def _differing(row: Mapping[str, Any], end: str) -> str:
    """How often each mark stands at an end where they differ, if that was counted."""
    shares = {name: row[f"share_{name}_at_{end}"] for name in MARKS}
    known = {name: share for name, share in shares.items() if share}
    if len(known) < 2:
        return ""
    return f"at {quoted(row[end])}: {', '.join(f'{name} in {percent(share)}' for name, share in known.items())}"


def _counted(count: int) -> str:
    return f"{count:,} PAG" + ("" if count == 1 else "s")
