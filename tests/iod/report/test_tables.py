"""The tables of tests, of what left each site, and of settings."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from consilience.graph import PAG
from consilience.iod.report import render
from consilience.iod.report.tables import MOST_ROWS
from tests.iod.report.helpers import KNOWN, found_of, read, result, small, with_settings


def test_the_table_of_tests() -> None:
    root = read(render(small()))
    rows = root.one("table", id="ci").one("tbody").all("tr")
    cells = [[cell.text for cell in row.all("td")] for row in rows]
    assert [row[:5] for row in cells] == [
        ["A", "B", "–", "0.300", "independent"],
        ["A", "C", "–", "1.0 × 10⁻⁷", "dependent"],
        ["B", "C", "–", "0.049", "dependent"],
        ["C", "D", "–", "< 10⁻¹⁵", "dependent"],
        ["B", "D", "–", "0.700", "independent"],
        ["B", "D", "C", "–", "uninformative"],
        ["A", "B", "C", "2.0 × 10⁻⁴", "dependent"],
    ]
    assert cells[5][-1] == "too few rows"
    assert rows[6].attributes["data-variables"] == "0 1 2"
    assert "7 tests: 2 independent, 4 dependent, 1 uninformative." in root.one("section", id="tests").text


def test_decisions_are_those_of_the_search() -> None:
    """At p = α the test rejects, as in :class:`consilience.iod.answers.Answers`."""
    rows = read(render(found_of([PAG.parse("A, B")], ["AB"], [result("A", "B", "", 0.05)]))).one("table", id="ci").one("tbody").all("tr")
    assert [row.attributes["data-decision"] for row in rows] == ["dependent"]


@pytest.mark.slow
def test_very_many_tests_are_cut_with_a_word() -> None:
    results = [result("A", "B", "C", (k % 97) / 97) for k in range(MOST_ROWS)] + [result("A", "C", "", 0.5)]
    page = render(found_of([PAG.parse("A, B, C")], ["ABC"], results))
    section = read(page).one("section", id="tests")
    rows = section.one("table", id="ci").one("tbody").all("tr")
    assert len(rows) == MOST_ROWS
    assert rows[0].all("td")[1].text == "C"  # fewest variables given first
    assert "of 5,001; the result as JSON and the CI table as CSV have all of them" in section.text
    assert len(page) < 2_500_000


def test_what_left_each_site() -> None:
    assert "kept no ledger" in read(render(small())).one("section", id="disclosed").text
    frame = pl.DataFrame(
        {"site": ["<b>", "köln"], "study": ["s", "s"], "rounds": [14, 12], "numbers": [12034, 7], "bytes": [192544, 112], "refused": [0, 2]}
    )
    table = read(render(replace(small(), disclosed=frame))).one("table", id="ledgers")
    assert [cell.text for cell in table.one("thead").all("th")] == frame.columns
    cells = [[cell.text for cell in row.all("td")] for row in table.one("tbody").all("tr")]
    assert cells == [["<b>", "s", "14", "12,034", "192,544", "0"], ["köln", "s", "12", "7", "112", "2"]]


def test_settings_and_knowledge() -> None:
    root = read(render(replace(with_settings(small(), max_given=2), knowledge=KNOWN)))
    assert [item.text for item in root.one("section", id="knowledge").all("li")] == [
        "In time order: <A>, then B; nothing causes what is in an earlier tier."
    ]
    rows = [row for table in root.one("section", id="settings").all("tbody") for row in table.all("tr")]
    values = {row.one("th").text: row.one("td").text for row in rows}
    assert values["engine"] == "exact"
    assert values["alpha"] == "0.05"
    assert values["max_given"] == "2"
    assert values["selection_bias"] == "no"
    assert values["limit"] == "10,000"
    assert values["time_limit"] == "–"
    assert values["consilience"] == "0.1.0"
    assert values["tests"] == "1.23"
