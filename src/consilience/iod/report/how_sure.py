"""How sure two variables are joined: what resampled copies of the data say of a pair, in few words and in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from consilience.frames import pl
from consilience.iod.report.html import Html, el, join, label
from consilience.iod.report.intervals import share_plot
from consilience.iod.report.sentences import isolated
from consilience.iod.stability.result import Stability
from consilience.iod.stability.words import SURE
from consilience.iod.summary import percent
from consilience.iod.wording import counted

__all__ = ["HowSure", "Sure", "copies_in_words", "sure_cell", "sure_in_short"]

_MARKS = {"arrow": "an arrowhead", "tail": "a tail", "circle": "a circle"}


class Sure(NamedTuple):
    """How often an edge is found again (None where no copy has a graph), that in few words, in sentences, and the sites it hangs on."""

    share: float | None
    short: str
    words: str
    hangs: tuple[str, ...] = ()


def sure_cell(sure: Sure | None) -> Html:
    """How sure, for a cell of a table: the share with its bar, and below it what the edge hangs on.

    >>> sure_cell(None), sure_cell(Sure(None, "hangs on marburg", "", ("marburg",)))
    ('–', '<span class="hangs">hangs on <bdi>marburg</bdi></span>')
    """
    if sure is None:
        return join(["–"])
    hangs = el("span", "hangs on ", join(map(label, sure.hangs), " and on "), class_="hangs") if sure.hangs else None
    return join([None if sure.share is None else join([sure.short, " ", share_plot(sure.share)]), hangs], " ")


class HowSure:
    """What is said of every pair.

    >>> import consilience as cs
    >>> sites = cs.simulate.mixed_sites(n=300, sites=2, seed=1)
    >>> found = cs.discover([cs.Client(name, frame.select("A", "B", "C"), seed=1) for name, frame in sites.items()], bootstrap=5)
    >>> HowSure(found.stability).of("B", "A").words
    'In all 5 resampled copies of the data every graph joins them; at A a circle in 100%, at B a circle in 100%.'
    >>> HowSure(None).of("B", "A") is None
    True
    """

    def __init__(self, stability: Stability | None) -> None:
        self.stability = stability
        self._rows: dict[tuple[str, str], dict[str, Any]] = {}
        if stability is not None and stability.done > stability.empty:
            self._rows = {(row["x"], row["y"]): row for row in stability.edges.iter_rows(named=True)}
        self._hangs: dict[tuple[str, str], list[str]] = {}
        for site, edges in ({} if stability is None else stability.hanging()).items():
            for pair in edges:
                self._hangs.setdefault(pair, []).append(site)

    @property
    def known(self) -> bool:
        """True if anything is said of pairs."""
        return bool(self._rows or self._hangs)

    @property
    def shares(self) -> dict[frozenset[str], float]:
        """How often each edge is found again, by its ends."""
        return {frozenset(pair): round(float(row["share"]), 9) for pair, row in self._rows.items()}

    def of(self, x: str, y: str) -> Sure | None:
        """What is said of two variables, in either order; None where nothing is."""
        x, y = sorted((x, y))
        row, sites = self._rows.get((x, y)), tuple(self._hangs.get((x, y), ()))
        hangs = f"hangs on {' and on '.join(map(isolated, sites))}"
        without = " ".join(f"Without {isolated(site)} they would not be joined." for site in sites)
        if row is None or self.stability is None:
            return Sure(None, hangs, without, sites) if sites else None
        share = round(float(row["share"]), 9)  # a mean of ones is one
        words = f"{_joined(self.stability, share)}{_marks(row)}."
        return Sure(share, percent(share), f"{words} {without}" if sites else words, sites)


def sure_in_short(stability: Stability) -> str:
    """How sure the result is as a whole, in two or three sentences; the section has all of it.

    >>> import consilience as cs
    >>> sites = cs.simulate.mixed_sites(n=300, sites=2, seed=1)
    >>> found = cs.discover([cs.Client(name, frame.select("A", "B", "C"), seed=1) for name, frame in sites.items()], bootstrap=5)
    >>> sure_in_short(found.stability)
    'Of 2 edges that more than half of the graphs have, 2 are found again in 90% or more of 5 resampled copies of the data.'
    """
    known = stability.done > stability.empty
    told = [_firm(stability)] if known else stability.in_words()[: min(stability.done, 1) + 1] if stability.asked else []
    if known and stability.stopped:
        told.append(f"It was stopped after {stability.done:,} of {stability.asked:,} copies.")
    if stability.suspect is not None:
        told.append(f"{isolated(stability.suspect)} says something else than the other sites.")
    hanging = len({pair for edges in stability.hanging().values() for pair in edges})
    if hanging:
        told.append(f"{counted(hanging, 'edge')} {'hangs' if hanging == 1 else 'hang'} on one site.")
    return " ".join(told)


def _firm(stability: Stability) -> str:
    """How many edges of the list come back, and which does least."""
    edges = stability.edges.with_columns(share=pl.col("share").round(9)).filter(pl.col("plain") > 0.5).sort("share", "x", "y")
    if not edges.height:
        return "No edge is in more than half of the graphs, so that there is none to be sure of."
    firm = edges.filter(pl.col("share") >= SURE).height
    x, y, share = edges.select("x", "y", "share").row(0)
    weakest = f"; least sure is {isolated(x)} – {isolated(y)} ({percent(share)})" if firm < edges.height else ""
    whole = f"Of {counted(edges.height, 'edge')} that more than half of the graphs have, {firm:,} {'is' if firm == 1 else 'are'}"
    return f"{whole} found again in {SURE:.0%} or more of {copies_in_words(stability)}{weakest}."


def copies_in_words(stability: Stability) -> str:
    """The copies that have a graph, which is what shares are of.

    >>> import polars as pl
    >>> from consilience.graph import PAG
    >>> copies_in_words(Stability(10, 8, pl.DataFrame(), pl.DataFrame(), PAG.parse("A"), 0.05, empty=3))
    '5 resampled copies of the data'
    """
    return counted(stability.done - stability.empty, "resampled copy of the data", "resampled copies of the data")


def _joined(stability: Stability, share: float) -> str:
    count = stability.done - stability.empty
    every = f"In all {copies_in_words(stability)}" if count > 1 else "In the one resampled copy of the data"
    if share == 1.0:
        return f"{every} every graph joins them"
    if share == 0.0:
        return f"{every} no graph joins them"
    if count == 1:
        return f"{every} {percent(share)} of the graphs join them"
    return f"{percent(share)} of the graphs join them, on average over {copies_in_words(stability)}"


def _marks(row: Mapping[str, Any]) -> str:
    """How often each mark stands at either end, of all: what there is of an end adds up to the share of the edge."""
    told = []
    for end in "xy":
        seen = sorted(((row[f"{end}_{mark}"], words) for mark, words in _MARKS.items() if row[f"{end}_{mark}"] > 0.0), reverse=True)
        if seen:
            told.append(f"at {isolated(row[end])} {', '.join(f'{words} in {percent(share)}' for share, words in seen)}")
    return f"; {', '.join(told)}" if told else ""
