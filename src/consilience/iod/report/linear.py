"""Whether the linear models behind the tests hold: a sentence, and the tests in which they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilience.citest.diagnostics import doubtful
from consilience.iod.report.html import Html, el, join, label, labels
from consilience.iod.report.tables import Column, table
from consilience.iod.wording import counted, format_p

if TYPE_CHECKING:  # a Discovery writes itself with these modules
    from consilience.iod.discovery import Discovery

__all__ = ["linear_models", "sentence"]

CHECKS = {"curvature_p": "curvature", "variance_p": "variances", "slopes_p": "slopes of sites"}
MOST_TESTS = 50
"""Tests that are listed; the table of all tests has a column."""


def sentence(found: Discovery) -> str:
    """What is said on linear models, as a sentence of its own.

    >>> import consilience as cs
    >>> sentence(cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C"), datasets=["ABC"])))
    'Whether linear models hold was not looked at.'
    """
    words = str(found.diagnosis)
    return f"{words[0].upper()}{words[1:]}."


def linear_models(found: Discovery) -> Html:
    """The sentence, what it means, and the tests whose models do not hold."""
    first = el("p", el("strong", sentence(found)))
    if not found.diagnosis.made:
        return first
    tests = found.tests.filter(doubtful(found.tests["linear_p"].to_list())).sort("linear_p")
    how = (
        "The models of a test take means to be straight lines with the same slopes at all sites, and variances to be equal. Checked is "
        "whether squares, cubes and products of the predictors add something (curvature), whether variances differ, and whether slopes "
        "differ between sites; I² is the share of those differences that is not chance. Where a model does not hold, a p-value can be "
        "far too small, and an edge false. The tests below are those in which it does not after Holm's correction over all tests at 0.05."
    )
    if not tests.height:
        return join([first, el("p", how)])
    columns = [Column("x"), Column("y"), Column("given"), Column("linear", number=True)]
    columns += [Column(name, number=True) for name in (*CHECKS.values(), "I²")]
    rows = []
    wanted = tests.head(MOST_TESTS).select("x", "y", "given", "linear_p", *CHECKS, "i_squared")
    for x, y, given, *numbers, share in wanted.iter_rows():
        cells = [_number(p, None if p is None else format_p(p)) for p in numbers]
        cells.append(_number(share, None if share is None else f"{share:.0%}"))
        rows.append(el("tr", el("td", label(x)), el("td", label(y)), el("td", labels(given) or "–"), *cells))
    caption = counted(tests.height, "test") + (f", the first {MOST_TESTS}" if tests.height > MOST_TESTS else "")
    return join([first, el("p", how), table(columns, rows, caption=caption, name="linear")])


def _number(value: float | None, shown: str | None) -> Html:
    return el("td", shown or "–", class_="number", data_value="" if value is None else repr(value))
