"""A summary as a picture: one graph with every edge that occurs, whose lines say in how many PAGs it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from consilience.graph.drawing.shapes import DASHED, DOTTED, OPEN, SOLID, STROKE, Line
from consilience.graph.drawing.svg import draw
from consilience.graph.marks import ARROW, CIRCLE, TAIL
from consilience.graph.views import Positions
from consilience.iod.summary import ALL, SOME, UNKNOWN, SummaryEdge, percent

if TYPE_CHECKING:
    from consilience.iod.summary import Summary

__all__ = ["by_share", "draw_summary", "share_legend", "summary_legend", "summary_lines"]

_PATTERNS = {ALL: SOLID, SOME: DASHED, UNKNOWN: DOTTED}
_WIDTHS = {
    0.9: (3.0, "found again in 90% of copies or more"),
    0.5: (1.9, "found again in 50% to 90%"),
    0.0: (0.9, "found again in less than 50%"),
}
"""Of lines, from a share of replicates on: three that the eye tells apart. A width is seen by all, a paler line is not."""


def draw_summary(
    summary: Summary,
    *,
    width: float | None = None,
    positions: Positions | None = None,
    title: str | None = None,
    embedded: bool = False,
    shares: Mapping[frozenset[str], float] | None = None,
) -> str:
    """The summary as SVG; the options are those of :func:`consilience.graph.drawing.svg.to_svg`.

    ``shares`` of replicates that have an edge, by its ends, make lines thick or thin.
    """
    of_all = "What the PAGs have in common"
    name = title or (of_all if summary.count is None else f"What holds in {summary.count:,} PAG{'' if summary.count == 1 else 's'}")
    lines = by_share(summary_lines(summary), shares or {})
    said = (name, f"{name}: {summary}", f"{'; '.join(summary.lines()) or str(summary)}.")
    legend = [*summary_legend(summary, lines), *share_legend(lines, shares or {})]
    return draw(summary.labels, lines, said, width=width, positions=positions, legend=legend, embedded=embedded)


def by_share(lines: Sequence[Line], shares: Mapping[frozenset[str], float]) -> list[Line]:
    """The same lines, thick where the edge is found again in resampled data, thin where it mostly is not.

    >>> [line.stroke for line in by_share([Line("A", "B", TAIL, TAIL, ""), Line("B", "C", TAIL, TAIL, "")], {frozenset("AB"): 0.97})]
    [3.0, 1.5]
    """
    return [line._replace(stroke=_width(shares[ends])) if (ends := frozenset((line.a, line.b))) in shares else line for line in lines]


def share_legend(lines: Sequence[Line], shares: Mapping[frozenset[str], float]) -> list[Line | str]:
    """What the widths of lines say, for those that occur; nothing where nobody has resampled."""
    seen = {_width(shares[ends]) for line in lines if (ends := frozenset((line.a, line.b))) in shares}
    return [Line("", "", TAIL, TAIL, words, stroke=stroke) for stroke, words in _WIDTHS.values() if stroke in seen]


def _width(share: float) -> float:
    return next((stroke for least, (stroke, _) in _WIDTHS.items() if share >= least - 1e-9), STROKE)


def summary_lines(summary: Summary) -> list[Line]:
    """The edges of a summary as they are drawn."""
    return [_line(edge) for edge in summary.edges()]


def _line(edge: SummaryEdge) -> Line:
    at_a, at_b = (OPEN if mark is None else mark for mark in (edge.at_a, edge.at_b))
    note = percent(edge.share) if edge.status == SOME and edge.share is not None else ""
    return Line(edge.a, edge.b, at_a, at_b, edge.words, _PATTERNS[edge.status], note)


def summary_legend(summary: Summary, lines: Sequence[Line]) -> list[Line | str]:
    """What the lines say, for those kinds that occur only."""
    count = summary.count
    if count == 0:
        return ["No graph agrees with all decisions."]
    if not lines:
        return ["No edge in any graph."]
    every = "in every graph" if count is None else "in the one graph" if count == 1 else f"in all {count:,} graphs"
    entries: list[Line | str] = [Line("", "", TAIL, TAIL, every)]
    patterns = {line.pattern for line in lines}
    if DASHED in patterns:
        entries.append(Line("", "", TAIL, TAIL, "in some, with their share" if count else "in some", DASHED))
    if DOTTED in patterns:
        entries.append(Line("", "", TAIL, TAIL, "not known: all, some or none", DOTTED))
    ends = {(line.at_a, line.at_b) for line in lines}
    if count != 1 and {mark for pair in ends for mark in pair} & {ARROW, CIRCLE}:
        entries.append(Line("", "", CIRCLE, ARROW, "a mark on which they agree"))
    if any(OPEN in pair for pair in ends):
        # Without a list their PAGs may differ or have circles: either way both marks occur.
        differ = "they differ on the mark" if count is not None else "an arrowhead in some, a tail in others"
        entries.append(Line("", "", TAIL, OPEN, differ + ("" if summary.complete else ", or it is not known")))
    if (ARROW, ARROW) in ends:
        entries.append(Line("", "", ARROW, ARROW, "a common cause that nobody measured"))
    return entries
