"""The summary, the list of graphs and the local graphs, drawn with common positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from consilience.citest.size_words import interval_in_words, number_in_words
from consilience.graph.drawing.svg import Positions, positions_of, to_svg
from consilience.graph.graphs import PAG
from consilience.graph.mixed import Edge
from consilience.iod.headline import condition
from consilience.iod.report.how_sure import sure_cell
from consilience.iod.report.html import Html, el, join, label, labels, listed
from consilience.iod.report.pairs import Pairs, Story
from consilience.iod.report.stories import why_each_pair
from consilience.iod.report.tables import Column, table
from consilience.iod.summary import MARKS, percent
from consilience.iod.summary_drawing import draw_summary
from consilience.iod.wording import counted

if TYPE_CHECKING:  # a Discovery writes itself with these modules
    from consilience.iod.discovery import Discovery

__all__ = ["common_positions", "graph_list", "local_graphs", "summary_section"]

DRAWN, LISTED = 20, 500
"""Graphs that are drawn, and those that are on the page at all: nobody compares more drawings than that."""
MANY, WIDE = 10, 560.0
"""More edges than this are folded away; wider drawings (in pixels) need a row of their own."""


def common_positions(found: Discovery) -> Positions:
    """Where the variables stand in all drawings of the page."""
    drawn = [found.summary.union()] if found.summary.complete else list(found.pags[:DRAWN])
    return positions_of(*drawn, *found.local_pags, PAG.parse("").reordered(found.summary.labels))


def summary_section(found: Discovery, positions: Positions) -> Html:
    """What the graphs have in common, as a drawing and as a table."""
    summary = found.summary
    told = Pairs(found)
    sized = any(told.story(x, y).strong is not None for x, y in told.pairs())
    rows = [
        _pair(row, told.story(row["x"], row["y"]), sized=sized, sure=told.sure.known)
        for row in summary.frame.iter_rows(named=True)
        if row["edge"] != "none"
    ]
    columns = [Column("variable"), Column("mark there"), Column("variable"), Column("mark there"), Column("edge")]
    columns += [
        Column("share of graphs", number=True),
        *([Column("how sure", number=True)] if told.sure.known else []),
        *([Column("strength", number=True), Column("95 % interval")] if sized else []),
    ]
    drawing = el("figure", Html(draw_summary(summary, positions=positions, embedded=True, shares=told.sure.shares)), class_="wide")
    apart = [join([label(x), " – ", label(y)]) for x, y, edge in summary.frame.select("x", "y", "edge").iter_rows() if edge == "none"]
    if not found.pags:  # of no graph everything could be said
        return join([el("p", "There is no graph to sum up."), drawing if found.complete and found.resolution.proved else None])
    unknown = any(row["edge"] == "unknown" for row in summary.frame.iter_rows(named=True))
    caption = f"Edges that all or some of the graphs have{', or may have' if unknown else ''}"
    return Html(
        el("p", f"What all graphs share is true {condition(found)}.")
        + drawing
        + (table(columns, rows, caption=caption) if rows else "")
        + (_folded(f"{counted(len(apart), 'pair')} joined in no graph", listed(apart, class_="columns")) if apart else "")
        + why_each_pair(found, told)
    )


def _pair(row: Mapping[str, Any], story: Story, *, sized: bool, sure: bool) -> Html:
    share = row["edge_share"]
    return el(
        "tr",
        *(cell for end in "xy" for cell in (el("td", label(row[end])), el("td", _marks(row, end)))),
        el("td", row["edge"]),
        el("td", "–" if share is None else percent(share), class_="number", data_value="" if share is None else share),
        _sure(story) if sure else None,
        *(_strength(story) if sized else ()),
    )


def _sure(story: Story) -> Html:
    """How sure, in few words and as a bar, and which site it hangs on."""
    share = None if story.sure is None else story.sure.share
    return el("td", sure_cell(story.sure), class_="number sure", data_value="" if share is None else share)


def _strength(story: Story) -> tuple[Html, Html]:
    """How strong, in few words; and the size behind it with its interval, as a plot too. In which unit, the story of the pair says."""
    test = None if story.strong is None else story.strong.test
    size = None if test is None or test.size is None or test.size.low is None else test.size
    shown = "–" if size is None else f"{number_in_words(size)} ({interval_in_words(size)})"
    return (
        el("td", story.strength, class_="number", data_value="" if test is None else test.strength),
        el("td", shown, story.plot, class_="reach", data_value="" if size is None else size.estimate),
    )


def _marks(row: Mapping[str, Any], end: str) -> str:
    """The marks at an end; how often each occurs, if there are several."""
    possible = [mark for mark in MARKS if row[f"{mark}_at_{end}"] != "none"]
    if len(possible) == 1:
        return possible[0]
    words = []
    for mark in possible:
        share, known = row[f"share_{mark}_at_{end}"], row[f"{mark}_at_{end}"] not in ("unknown", None)
        words.append(f"{mark} {percent(share)}" if share is not None else mark if known else f"{mark}?")
    return ", ".join(words)


def graph_list(found: Discovery, positions: Positions) -> Html:
    """The graphs, best first: some drawn, more as text."""
    if not found.pags:
        return el("p", "There is no graph to show.")
    shared = _shared(found)
    figures = []
    for number, (pag, score) in enumerate(zip(found.pags[:DRAWN], found.scores[:DRAWN], strict=True)):
        detail = join([_score(score), _given_up(found, number), _what_is_own(pag, shared)])
        figures.append(_figure(f"Graph {number + 1}", pag, positions, detail))
    parts = [el("p", _about_scores(found)), _gallery(figures, positions)]
    further = zip(found.pags[DRAWN:LISTED], found.scores[DRAWN:LISTED], strict=True)
    rest = [join([_edges(pag.edges), " ", _score(score)]) for pag, score in further]
    if rest:
        last = min(len(found.pags), LISTED)
        parts.append(_folded(f"Graphs {DRAWN + 1} to {last} as text", listed(rest, ordered=True, start=DRAWN + 1)))
    if len(found.pags) > LISTED:
        parts.append(
            el("p", f"This page has the first {LISTED} of {len(found.pags):,} graphs; the result as JSON has all of them.", class_="cut")
        )
    return join(parts)


def _shared(found: Discovery) -> set[Edge]:
    """Edges that all graphs have, with the same marks."""
    if len(found.pags) < 2:
        return set()
    certain = {
        (row["x"], row["y"])
        for row in found.summary.frame.iter_rows(named=True)
        if row["edge"] == "all" and all("all" in (row[f"{mark}_at_{end}"] for mark in MARKS) for end in "xy")
    }
    return {edge for edge in found.pags[0].edges if tuple(sorted((edge.a, edge.b))) in certain}


def _what_is_own(pag: PAG, shared: set[Edge]) -> Html:
    """The edges of a graph; those that all graphs share are folded away if there are many."""
    if len(pag.edges) <= MANY or not shared:
        return _edges(pag.edges)
    own = [edge for edge in pag.edges if edge not in shared]
    return join([el("div", "Besides what all share:"), _edges(own), _folded(f"all {len(pag.edges)} edges", _edges(pag.edges))])


def _edges(edges: Sequence[Edge]) -> Html:
    """Edges as text, each of which stays on one line if it can."""
    texts = [f"{edge}," for edge in edges[:-1]] + [str(edge) for edge in edges[-1:]]
    return el("code", *(join([el("span", text), " "]) for text in texts or ["no edges"]))


def _score(score: float) -> Html:
    return el("span", f"score {score:.4g}", class_="score")


def _given_up(found: Discovery, number: int) -> Html | None:
    """The decisions that a graph contradicts, where graphs contradict any."""
    given_up = found.contradicted(number)
    return _folded(f"contradicts {counted(len(given_up), 'decision')}", listed(one.text for one in given_up)) if given_up else None


def _about_scores(found: Discovery) -> str:
    words = "The score of a graph is the weight of the tests that it contradicts; 0 agrees with every test."
    alike = len(found.pags) > 1 and len({f"{score:.4g}" for score in found.scores}) == 1
    return words + (" All have the same score: the weight of the tests does not put one before another." if alike else "")


def local_graphs(found: Discovery, positions: Positions) -> Html:
    """What each data set says on its own."""
    pairs = list(zip(found.datasets, found.local_pags, strict=True))
    figures = [
        _figure(f"Data set {number}", pag, positions, join([el("span", labels(held)), _edges(pag.edges)]))
        for number, (held, pag) in enumerate(pairs[:DRAWN], start=1)
    ]
    rest = [_edges(pag.edges) for _, pag in pairs[DRAWN:]]
    more = _folded(f"Data sets {DRAWN + 1} to {len(pairs)} as text", listed(rest, ordered=True, start=DRAWN + 1)) if rest else None
    return join([_gallery(figures, positions), more])


def _figure(name: str, pag: PAG, positions: Positions, detail: Html) -> Html:
    drawing = Html(to_svg(pag, positions=positions, title=name, embedded=True))
    return el("figure", drawing, el("figcaption", el("strong", name), " ", detail))


def _gallery(figures: Sequence[Html], positions: Positions) -> Html:
    """Drawings side by side, or one below the other if they are so wide that nothing could be read."""
    across = [x for x, _ in positions.values()]
    return el("div", *figures, class_="gallery wide" if across and max(across) - min(across) > WIDE else "gallery")


def _folded(words: str, inside: Html) -> Html:
    return el("details", el("summary", words), inside)
