"""What the lines of a drawing say, each kind that occurs in a sentence: for the legend of a picture and for that of a page."""

from __future__ import annotations

from collections.abc import Sequence

from consilience.graph.drawing.shapes import Line
from consilience.graph.marks import ARROW, CIRCLE, TAIL

__all__ = ["graph_legend"]

_SAID = {
    (TAIL, ARROW): "the first is a cause of the second, directly or through others",
    (ARROW, ARROW): "neither causes the other: something unmeasured causes both",
    (CIRCLE, ARROW): "the second is no cause of the first; the rest is open",
    (CIRCLE, CIRCLE): "connected; which way is open",
    (TAIL, CIRCLE): "the first is a cause of the second or of who is in the data",
    (TAIL, TAIL): "both influence who is in the data",
}


def graph_legend(lines: Sequence[Line]) -> list[Line | str]:
    """The kinds of edges that occur, the plainest first.

    >>> from consilience.graph.marks import ARROW, CIRCLE
    >>> [entry.words for entry in graph_legend([Line("A", "B", ARROW, CIRCLE, "B o-> A")])]
    ['the second is no cause of the first; the rest is open']
    """
    if not lines:
        return ["No two variables are joined."]
    kinds = {(line.at_a, line.at_b) for line in lines}
    return [Line("", "", a, b, words) for (a, b), words in _SAID.items() if {(a, b), (b, a)} & kinds]
