"""Tables, and the one of all tests. Those of class ``sortable`` are sorted by a click on the head of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from consilience.citest.result import size_from_row
from consilience.citest.size_words import levels_in_words, strength_in_words
from consilience.frames import pl
from consilience.iod.report.html import Html, el, label, labels
from consilience.iod.report.intervals import size_plot, size_scales
from consilience.iod.wording import counted, format_p

if TYPE_CHECKING:  # a Discovery writes itself with these modules
    from consilience.iod.discovery import Discovery

__all__ = ["CI_COLUMNS", "DECISIONS", "Column", "ci_rows", "ci_table", "decision_counts", "decision_of", "note_of", "table"]

MOST_ROWS = 5000
"""Tests on the page: some two megabytes of table; more would make it slow."""
MOST_PLOTS = 1000
"""Tests whose sizes are drawn as well: more would make the page half as large again."""
DECISIONS = ("independent", "dependent", "uninformative")


class Column(NamedTuple):
    """A column: its head, and whether it holds numbers."""

    head: str
    number: bool = False


def table(
    columns: Sequence[Column],
    rows: Sequence[Html],
    *,
    caption: str,
    sortable: bool = True,
    name: str | None = None,
    ordered: Mapping[int, str] | None = None,
) -> Html:
    """A table that scrolls if it is too wide or too long, and can be scrolled by keyboard.

    ``ordered`` names the column by whose values the rows stand, "ascending" or "descending".

    >>> table([Column("a", number=True)], [el("tr", el("td", "1"))], caption="One", sortable=False)[-41:]
    '<tr><td>1</td></tr></tbody></table></div>'
    """
    order = ordered or {}
    heads = (
        el("th", column.head, scope="col", class_="number" if column.number else None, aria_sort=order.get(place))
        for place, column in enumerate(columns)
    )
    inside = el(
        "table",
        el("caption", caption),
        el("thead", el("tr", *heads)),
        el("tbody", *rows),
        class_="sortable" if sortable else None,
        id=name,
    )
    return el("div", inside, class_="scroll", tabindex=0, role="region", aria_label=caption)


CI_COLUMNS = (
    Column("x"),
    Column("y"),
    Column("given"),
    Column("p-value", number=True),
    Column("decision"),
    Column("strength", number=True),
    Column("size (95 % interval)"),
    Column("rows", number=True),
    Column("sites", number=True),
    Column("linear", number=True),
    Column("note"),
)


def ci_rows(found: Discovery, tests: pl.DataFrame, shown: Sequence[bool] | None = None) -> list[Html]:
    """Tests as rows of a table with :data:`CI_COLUMNS`; those that are not ``shown`` are there, and hidden."""
    names = sorted({name for held in found.datasets for name in held})
    index = {name: i for i, name in enumerate(names)}
    rows = []
    shown_names = {name: el("td", label(name)) for name in names}  # few names, in thousands of rows
    columns = ("x", "y", "given", "p_value", "n", "contributors", "informative", "reason", "converged", "linear_p", "method")
    seen = [True] * tests.height if shown is None else shown
    scales = size_scales(tests) if tests.height <= MOST_PLOTS else {}
    for row, visible in zip(tests.iter_rows(named=True), seen, strict=True):
        x, y, given, p, n, sites, informative, reason, converged, linear, method = (row[name] for name in columns)
        size, strength = size_from_row(row), row["strength"]
        decision = decision_of(p, found.alpha, informative=informative and converged)
        note = note_of(reason, converged=converged, method=method)
        rows.append(
            el(
                "tr",
                shown_names.get(x) or el("td", label(x)),
                shown_names.get(y) or el("td", label(y)),
                el("td", labels(given) or "–", data_value=f"{len(given):04d} {', '.join(given)}"),
                el("td", format_p(p) if informative else "–", class_="number", data_value=repr(p) if informative else ""),
                el("td", el("span", decision, class_=f"decision {decision}")),
                el("td", strength_in_words(row["sign"], strength) or "–", class_="number", data_value="" if strength is None else strength),
                el(
                    "td", levels_in_words([size]) if size is not None else row["size_levels"] or "–", size_plot(scales, size), class_="size"
                ),
                el("td", f"{n:,}", class_="number", data_value=n),
                el("td", str(sites), class_="number"),
                el("td", "–" if linear is None else format_p(linear), class_="number", data_value="" if linear is None else repr(linear)),
                el("td", note),
                data_variables=" ".join(str(index[name]) for name in (x, y, *given) if name in index),
                data_decision=decision,
                hidden=not visible,
            )
        )
    return rows


def ci_table(found: Discovery) -> Html:
    """Every test with its p-value and what was decided; with choices of a variable, of a decision and of words."""
    names = sorted({name for held in found.datasets for name in held})
    rows = ci_rows(found, found.tests.sort(found.tests["given"].list.len(), maintain_order=True).head(MOST_ROWS))
    cut = None
    if found.tests.height > MOST_ROWS:
        cut = el(
            "p",
            f"The table has the {MOST_ROWS:,} tests with the fewest variables given, of {found.tests.height:,}; "
            "the result as JSON and the CI table as CSV have all of them.",
            class_="cut",
        )
    caption = f"{counted(len(rows), 'test')} at α = {found.alpha:g}"
    return Html((cut or "") + _choices(names) + table(CI_COLUMNS, rows, caption=caption, name="ci"))


def decision_counts(found: Discovery) -> dict[str, int]:
    """How many tests ended in which decision."""
    tests = found.tests.select("p_value", "informative", "converged").iter_rows()
    decisions = [decision_of(p, found.alpha, informative=informative and converged) for p, informative, converged in tests]
    return {decision: decisions.count(decision) for decision in DECISIONS}


def decision_of(p: float | None, alpha: float, *, informative: bool) -> str:
    """What a test says at a level.

    >>> decision_of(0.3, 0.05, informative=True), decision_of(0.05, 0.05, informative=True), decision_of(1.0, 0.05, informative=False)
    ('independent', 'dependent', 'uninformative')
    """
    if not informative or p is None:
        return DECISIONS[2]
    return DECISIONS[0] if p > alpha else DECISIONS[1]


def note_of(reason: str, *, converged: bool, method: str | None = None) -> str:
    """What else is to be said of a test.

    >>> note_of("too few rows", converged=False)
    'too few rows; did not converge'
    """
    by = "answered by residuals" if method == "residual" else ""
    return "; ".join(words for words in (reason, "" if converged else "did not converge", by) if words)


def _choices(names: Sequence[str]) -> Html:
    """Choices that hide rows; shown by the script only, since they need it."""
    variables = [el("option", "any variable", value=""), *(el("option", name, value=i) for i, name in enumerate(names))]
    decisions = [el("option", "any decision", value=""), *(el("option", name, value=name) for name in DECISIONS)]
    return el(
        "div",
        el("label", "Tests with ", el("select", *variables, id="ci-variable")),
        el("label", " decided as ", el("select", *decisions, id="ci-decision")),
        el("label", " and the words ", el("input", type="search", id="ci-words", maxlength=80)),
        el("span", id="ci-shown", role="status"),
        class_="choices",
        id="ci-choices",
        hidden=True,
    )
