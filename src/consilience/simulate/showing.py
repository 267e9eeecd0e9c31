"""What plans and simulated sites show in a notebook: sentences, tables and drawings, of the report's own parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from consilience.frames import pl
from consilience.iod.report.html import Html, el, join, label, labels
from consilience.iod.report.intervals import share_plot
from consilience.iod.report.tables import Column, table
from consilience.iod.summary import percent
from consilience.simulate.methods import ComparedMethod
from consilience.wording import counted

if TYPE_CHECKING:  # they show themselves with this module
    from consilience.simulate.graph_power import GraphPower
    from consilience.simulate.next_measurement import NextMeasurement
    from consilience.simulate.power import Power
    from consilience.simulate.sites import Simulation

__all__ = ["show_graph_power", "show_next", "show_power", "show_simulation"]

LEFT = "text-align:left"
"""Of text: Jupyter would put it at the right of its cell."""
MOST_ROWS = 60
"""Rows of a table in a notebook; of more, a sentence says how many there are, and the object's own table has all."""


def show_power(found: Power) -> Html:
    """A row for each method and number of sites, a column for each number of rows; what is enough is bold.

    >>> from consilience.simulate import power
    >>> show_power(power(1.0, sites=2, rows=60, replications=10, methods=["fedci"])).count("<strong>100%</strong>")
    1
    """
    sizes = sorted(set(found.table["rows"].to_list()))
    enough = {(row["method"], row["sites"]): row["rows"] for row in found.needed().iter_rows(named=True)}
    rows = []
    for (method, sites), part in found.table.group_by(["method", "sites"], maintain_order=True):
        told = {row["rows"]: row for row in part.iter_rows(named=True)}
        needed = enough[str(method), int(str(sites))]
        cells = (_power_cell(told[size], found.target) for size in sizes)
        words = "more than were tried" if needed is None else f"{needed:,}"
        rows.append(el("tr", el("td", ComparedMethod(str(method)).label), el("td", str(sites)), *cells, el("td", words)))
    columns = [Column("method"), Column("sites"), *(Column(f"{size:,} rows each", number=True) for size in sizes), Column("enough")]
    caption = f"Power at level {found.alpha:g} (95 % interval), and the fewest rows per site, of those tried, for power {found.target:g}"
    return el("div", table(columns, rows, caption=caption, sortable=False), class_="consilience-power")


def _power_cell(row: Mapping[str, Any], target: float) -> Html:
    share = percent(row["power"])
    return el("td", el("strong", share) if row["power"] >= target else share, f" ({percent(row['low'])} to {percent(row['high'])})")


def show_graph_power(found: GraphPower) -> Html:
    """The first sentence, the truth, and a row for each of its edges and for others that some study found."""
    first, *_ = str(found).splitlines()
    told = found.edges.filter((pl.col("edge") != "") | (pl.col("in_all") > 0.0) | (pl.col("in_some") > 0.0))
    rows = [_edge_row(found, row) for row in told.head(MOST_ROWS).iter_rows(named=True)]
    columns = [Column("edge of the truth"), Column("in all graphs", number=True), Column("in some", number=True), Column("its marks")]
    caption = f"{counted(len(found.sites), 'site')} with {_spread(found.rows)} rows, {found.studies:,} simulated studies"
    return el(
        "div",
        el("p", first),
        el("figure", Html(found.truth.to_svg(title="The truth"))),
        table(columns, rows, caption=caption, sortable=False),
        _more(told.height),
        class_="consilience-graph-power",
    )


def _edge_row(found: GraphPower, row: Mapping[str, Any]) -> Html:
    words = row["edge"] or join(["none between ", label(row["x"]), " and ", label(row["y"])])
    reach = f"{percent(row['in_all'])} ({percent(row['low'])} to {percent(row['high'])}) "
    marks = found.mark_lines(row["x"], row["y"]) if row["edge"] else []
    limit = ["in some with unlimited rows, too"] if row["unlimited"] == "some" else []
    lines = join([*marks, *limit], "; ")
    cells = el("td", reach, share_plot(row["in_all"])), el("td", percent(row["in_some"])), el("td", lines, style=LEFT)
    return el("tr", el("td", words, style=LEFT), *cells)


def show_next(found: NextMeasurement) -> Html:
    """The first sentence, and a row for every site and variable."""
    first, *_ = str(found).splitlines()
    rows = [
        el(
            "tr",
            el("td", label(row["variable"])),
            el("td", label(row["site"])),
            el("td", f"{row['open']:.1f}"),
            el("td", f"{row['settled']:.1f} ", share_plot(row["settled"] / found.open)),
            el("td", str(row["most"])),
            el("td", f"{row['graphs']:.1f}"),
        )
        for row in found.table.head(MOST_ROWS if found.open else 0).iter_rows(named=True)
    ]
    heads = ("variable", "at site", "marks left open", "settled", "left open at worst", "graphs left")
    caption = "One variable more at one site: on average over the graphs that may be the truth"
    shown = table([Column(head, number=True) for head in heads], rows, caption=caption, sortable=False) if rows else None
    return el("div", el("p", first), shown, _more(found.table.height) if rows else None, class_="consilience-next")


def show_simulation(made: Simulation) -> Html:
    """What was simulated, the graph that tests can find, and who measures what."""
    rows = [
        el("tr", el("td", label(name)), el("td", f"{frame.height:,}"), el("td", labels(frame.columns)))
        for name, frame in made.frames.items()
    ]
    columns = [Column("site"), Column("rows", number=True), Column("variables")]
    total = sum(frame.height for frame in made.frames.values())
    return el(
        "div",
        el("figure", Html(made.pag.to_svg(title="What tests can find"))),
        table(columns, rows[:MOST_ROWS], caption=f"{counted(len(rows), 'simulated site')}, {total:,} rows", sortable=False),
        _more(len(rows)),
        class_="consilience-simulation",
    )


def _spread(rows: Sequence[int]) -> str:
    least, most = min(rows), max(rows)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _more(count: int) -> Html | None:
    return el("p", f"and {count - MOST_ROWS:,} more") if count > MOST_ROWS else None
