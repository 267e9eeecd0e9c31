"""How to read the page, for those who have not seen such graphs before."""

from __future__ import annotations

from functools import cache

from consilience.graph.drawing.svg import to_svg
from consilience.graph.graphs import PAG
from consilience.iod.report.html import Html, el, join
from consilience.iod.report.sentences import edge_sentence

__all__ = ["reading"]

_EXAMPLES = ("A --> B", "A <-> B", "A o-> B", "A o-o B")
_PAG = "Each graph is a PAG (partial ancestral graph). It stands for all causal structures that the tests cannot tell apart."
_MARKS = (
    "An arrowhead says that this end is not a cause of the other, a bare end that it is. A circle says that both occur among the "
    "structures that the graph stands for. Where two variables have no edge, some other variables explain all that they have in common."
)
_LIST = (
    "The data sets overlap only in part, so several graphs can agree with all of them. With enough data the true one is among them. "
    "A long list says that the data sets, as they overlap, leave much open. The score of a graph is the weight of the tests that it "
    "contradicts: 0 agrees best, and the best come first."
)
_SUMMARY = (
    "It draws all graphs as one, listed or not. A solid edge is in all of them, a dashed one in some, with the share of graphs that have "
    "it where they were counted; of a dotted one it is not known. A share counts graphs; it is not a probability. A grey diamond stands at "
    "an end where the graphs that have the edge differ."
)
_DECISIONS = (
    "All of this rests on the decisions of the tests. With few rows some of them are wrong, and a wrong one can remove the true graph from "
    "the list. Tests with p-values near α are the first to doubt. Where decisions contradict each other, the strongest are kept and others "
    "overruled: what the graphs then say is true only if those that were overruled are wrong, and those that were kept right."
)

_STRENGTH = (
    "A p-value says whether two variables go together more than by chance; the size says how much of one goes with how much of the other, "
    "the given variables held fixed: in standard deviations (SD) of a number, as a factor on the odds of a level or on the rate of a "
    "count, with an interval that has the true size in it 95 times of 100. The strength puts all kinds on one scale from 0 to 1, with + "
    "where more goes with more and − where more goes with less. A pair with an edge is told by the weakest of its tests, one that some "
    "test finds independent by that test. All of these are associations: which way causes go, if any do, only the marks say."
)

_SURE = (
    "Where the search was repeated in resampled copies of the data, each pair has a share: how often the copies join the two. Near 100% "
    "an edge does not hang on a few patients; near 50% another sample of the same patients might not have it. Lines are thick, middling or "
    "thin by it. Two shares are told apart: that of the graphs in the list counts what the data leave open, that over the copies what "
    "chance does. Neither is a probability that an edge is true."
)


@cache
def reading() -> Html:
    """How to read marks, list and summary.

    >>> reading().count("<svg")
    4
    """
    examples = map(PAG.parse, _EXAMPLES)
    marks = (el("li", Html(to_svg(graph, embedded=True)), el("span", edge_sentence(graph.edges[0]))) for graph in examples)
    parts = [el("p", _PAG), el("ul", *marks, class_="marks"), el("p", _MARKS)]
    for title, words in (
        ("The list", _LIST),
        ("The summary", _SUMMARY),
        ("The decisions", _DECISIONS),
        ("How strong", _STRENGTH),
        ("How sure", _SURE),
    ):
        parts += [el("h3", title), el("p", words)]
    return join(parts)
