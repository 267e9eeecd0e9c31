"""The section "How sure": what resampled copies of the data say of the result, of every pair and of the decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from consilience.frames import pl
from consilience.graph.drawing.shapes import Line
from consilience.graph.drawing.svg import Positions, draw
from consilience.iod.report.how_sure import HowSure, copies_in_words, sure_cell
from consilience.iod.report.html import Html, el, join, label, labels
from consilience.iod.report.intervals import interval_plot, p_scale
from consilience.iod.report.tables import Column, table
from consilience.iod.stability.result import Stability
from consilience.iod.summary import percent
from consilience.iod.summary_drawing import by_share, share_legend
from consilience.iod.wording import counted, format_p

if TYPE_CHECKING:  # a Discovery writes itself with these modules
    from consilience.iod.discovery import Discovery

__all__ = ["consensus_drawing", "how_sure_section", "show_stability"]

WAVERING = 0.9
"""Decisions that fewer of the copies share are listed."""
MOST_TESTS = 50
"""Of these; the file of tests over the copies has all."""
MOST_PAIRS = 500
MOST_SHOWN = 30
"""Pairs on the page, and in a notebook."""
MOST_NOTED = 40
"""Edges of the consensus graph that have their share beside them; of more the table below is easier to read."""
SMALLEST = 0.005
"""Pairs that are joined less often, in the copies as in the list, are not in the table."""

READ = (
    "Each site drew about as many rows as it has from its own rows, some of them several times and some not at all, and the whole search "
    "was repeated with them. An edge that comes back nearly every time does not hang on a few patients. The share of an edge is the share "
    "of graphs that join the two within the list of one copy, averaged over the copies; it says how firm the result is in data like "
    "these, and is no probability that the edge is true: what all copies have in common, such as a model that does not hold or a variable "
    "that nobody measured, no resampling shows."
)
CALIBRATION = (
    "In simulated studies whose models hold, of the edges with a share above 90% more than nine of ten were true, and of those near one "
    "half about half (docs/stability.md has the figures). Marks are harder than edges: few of them are as sure."
)
"""From benchmarks/stability_calibration.py."""
CONSENSUS = (
    "The consensus graph has the edges whose share is above one half, and at each end the mark that more than half of that have, a circle "
    "where none has. It need not be the graph of any causal model, and is no substitute for the list."
)

INFLUENCE = (
    "The search was repeated with the rows of all sites but one, for each site in turn. The influence of a site is how much sizes change "
    "without it, squared, against what leaving out so many rows changes by chance: about 1 where sites are alike, more where this one "
    "says something else than the others. A site that stands out is named above; that its data are wrong is one reason, and that its "
    "patients differ is another."
)


def how_sure_section(found: Discovery, positions: Positions) -> Html:
    """What the copies say in sentences, as a graph, of each pair, and of decisions that waver.

    >>> import consilience as cs
    >>> how_sure_section(cs.discover(cs.Oracle(cs.PAG.parse("A o-o B"))), {})
    '<p>Nobody has resampled the data: how sure each edge is was not looked at.</p>'
    """
    stability = found.stability
    if stability is None:
        return el("p", "Nobody has resampled the data: how sure each edge is was not looked at.")
    parts = [el("p", sentence) for sentence in stability.in_words()]
    sure = HowSure(stability)
    if stability.done > stability.empty:
        drawing = Html(consensus_drawing(stability, positions))
        parts += [
            el("p", READ),
            el("p", CALIBRATION),
            el("h3", "Consensus graph"),
            el("p", CONSENSUS),
            el("figure", drawing, class_="wide"),
            _pairs(stability, sure),
        ]
        parts += [el("h3", "Decisions over the copies"), *_decisions(stability)]
    if stability.sites is not None and stability.sites.height:
        parts += [el("h3", "Without each site"), el("p", INFLUENCE), _sites(stability, stability.sites)]
    return join(parts)


def show_stability(stability: Stability) -> Html:
    """What the copies say in sentences, as a graph, of each pair and without each site: a piece of a page, for a notebook."""
    parts = [el("p", " ".join(stability.in_words()))]
    if stability.done > stability.empty:
        drawing = Html(consensus_drawing(stability, None, embedded=False))
        parts += [el("figure", drawing), _pairs(stability, HowSure(stability), most=MOST_SHOWN, alone=True)]
    if stability.sites is not None and stability.sites.height:
        parts.append(_sites(stability, stability.sites, alone=True))
    return el("div", *parts, class_="consilience-stability")


def consensus_drawing(stability: Stability, positions: Positions | None, *, embedded: bool = True) -> str:
    """The graph of the majority, with lines as thick as edges are sure."""
    graph, shares = stability.consensus, HowSure(stability).shares
    told = {e: percent(shares[frozenset((e.a, e.b))]) for e in graph.edges}
    noted = len(told) <= MOST_NOTED
    lines = by_share([Line(e.a, e.b, e.at_a, e.at_b, f"{e} in {share}", note=share if noted else "") for e, share in told.items()], shares)
    title = f"Consensus of {copies_in_words(stability)}"
    words = "; ".join(line.words for line in lines) or "No edges"
    legend = share_legend(lines, shares) or ["No edge has a share above one half."]
    return draw(graph.labels, lines, (title, f"{title}: {words}", f"{words}."), positions=positions, legend=legend, embedded=embedded)


def _pairs(stability: Stability, sure: HowSure, *, most: int = MOST_PAIRS, alone: bool = False) -> Html:
    told = stability.edges.filter((pl.col("share") >= SMALLEST) | (pl.col("plain") > 0.0))
    told = told.sort("share", "x", "y", descending=[True, False, False])
    rows = [_pair(row, sure) for row in told.head(most).iter_rows(named=True)]
    columns = [Column("edge"), Column("how sure", number=True), Column("share of the list", number=True)]
    columns += [Column("marks at the first"), Column("marks at the second")]
    rest = stability.edges.height - told.height
    cut = f"; the first {most}" if told.height > most else ""
    caption = f"{counted(told.height, 'pair')} joined in some copy{cut}" + (f"; {rest:,} in less than 1%" if rest else "")
    if not rows:
        return el("p", "No copy joins any two.")
    return table(columns, rows, caption=caption, ordered={1: "descending"}, **_place("sure", alone=alone))


def _pair(row: Mapping[str, Any], sure: HowSure) -> Html:
    share, plain = round(row["share"], 9), round(row["plain"], 9)
    return el(
        "tr",
        el("td", label(row["x"]), " – ", label(row["y"])),
        el("td", sure_cell(sure.of(row["x"], row["y"])), class_="number sure", data_value=share),
        el("td", percent(plain), class_="number", data_value=plain),
        *(el("td", _marks(row, end)) for end in "xy"),
    )


def _marks(row: Mapping[str, Any], end: str) -> str:
    seen = sorted(((row[f"{end}_{mark}"], mark) for mark in ("arrow", "tail", "circle") if row[f"{end}_{mark}"] > 0.0), reverse=True)
    return ", ".join(f"{mark} {percent(round(share, 9))}" for share, mark in seen) or "–"


def _decisions(stability: Stability) -> list[Html]:
    """Of how many tests the copies decide as the data did, and those on which they differ most."""
    told = stability.tests.filter(pl.col("same").is_not_null())
    wavering = told.filter(pl.col("same") < WAVERING).sort("same", maintain_order=True)
    firm = told.height - wavering.height
    few = f"of {counted(wavering.height, 'test')} fewer do, and these are the first to doubt" if wavering.height else "of none fewer do"
    parts = [el("p", f"Nine of ten copies or more decide as the data did in {firm:,} of {counted(told.height, 'test')}; {few}.")]
    if wavering.height:
        parts[0] = join(
            [parts[0], el("p", f"The plots reach from p = 10⁻⁴ to 1; the broken line is α = {stability.alpha:g}.", class_="score")]
        )
        columns = [Column("test"), Column("as in the data", number=True), Column("p-value", number=True)]
        columns += [Column("p-values of nine in ten copies")]
        rows = [_decision(row, stability) for row in wavering.head(MOST_TESTS).iter_rows(named=True)]
        cut = f", the first {MOST_TESTS}" if wavering.height > MOST_TESTS else ""
        caption = f"{counted(wavering.height, 'decision')} that copies of the data do not share{cut}"
        parts.append(table(columns, rows, caption=caption, name="wavering"))
    return parts


def _decision(row: Mapping[str, Any], stability: Stability) -> Html:
    low, median, high = (max(row[name], 0.0) for name in ("p_low", "p_median", "p_high"))
    words = f"{format_p(low)} to {format_p(high)}"
    return el(
        "tr",
        el("td", label(row["x"]), " – ", label(row["y"]), join([" given ", labels(row["given"])]) if row["given"] else None),
        el("td", percent(round(row["same"], 9)), class_="number", data_value=row["same"]),
        el("td", format_p(row["p_value"]), class_="number", data_value=repr(row["p_value"])),
        el("td", words, " ", interval_plot(p_scale(stability.alpha), median, low, high), class_="size", data_value=repr(median)),
    )


def _sites(stability: Stability, sites: pl.DataFrame, *, alone: bool = False) -> Html:
    """What leaving out each site changes."""
    hanging = stability.hanging()
    columns = [Column("without"), Column("influence", number=True), Column("decisions that change", number=True)]
    columns += [Column("edges lost", number=True), Column("edges gained", number=True), Column("what hangs on it")]
    rows = [_site(row, hanging.get(row["site"], []), named=row["site"] == stability.suspect) for row in sites.iter_rows(named=True)]
    return table(columns, rows, caption=f"Without each of {counted(sites.height, 'site')}", **_place("sites", alone=alone))


def _place(name: str, *, alone: bool) -> dict[str, Any]:
    """A table of the page has its name there, and is sorted by the page's script; in a notebook there is neither."""
    return {"sortable": False} if alone else {"name": name}


def _site(row: Mapping[str, Any], edges: Sequence[tuple[str, str]], *, named: bool) -> Html:
    """A row of that table; where no graph was found without the site, nothing is said of edges."""
    influence, told = row["influence"], row["graphs"] > 0
    counts = (
        el("td", f"{row[name]:,}" if told else "–", class_="number", data_value=row[name] if told else "") for name in ("lost", "gained")
    )
    hangs = join([join([label(x), " – ", label(y)]) for x, y in edges], ", ") if told else "no graph was found without it"
    return el(
        "tr",
        el("td", label(row["site"]), el("span", "stands out", class_="hangs") if named else None),
        el("td", "–" if influence is None else f"{influence:.1f}", class_="number", data_value="" if influence is None else influence),
        el("td", f"{row['decisions']:,}", class_="number", data_value=row["decisions"]),
        *counts,
        el("td", hangs or "nothing"),
    )
