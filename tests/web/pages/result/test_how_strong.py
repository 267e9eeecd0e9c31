"""How strong, on the pages of a result: the panel of a pair, the table of edges, the table of tests, and the files."""

from __future__ import annotations

import csv
import io

from tests.iod.report.sized import sized
from tests.iod.report.test_how_strong import APART, MARGINAL, WEAKEST
from tests.web.pages.result.stage import client_of
from tests.web.pages.result.test_pages import page


def test_the_panel_of_an_edge_and_of_a_missing_edge() -> None:
    edge = page(sized(), "?show=1&pair=0-1").one("section", id="details")
    assert WEAKEST in edge.text
    assert MARGINAL in edge.text
    assert [cell.text for cell in edge.all("tr")[2].all("td")] == ["smoker", "< 10⁻¹⁵", "dependent", "+0.31", "1,000"]
    gap = page(sized(), "?show=1&pair=1-2").one("section", id="details")
    assert "no edge" in gap.text
    assert APART in gap.text


def test_the_script_is_told_the_same() -> None:
    told = client_of(sized()).get("/studies/s/result/graph.json?show=1").json()["pairs"]
    for pair, words in (("0-1", WEAKEST), ("1-2", APART)):
        (fact,) = [fact for fact in told[pair]["facts"] if fact["term"] == "How strong"]
        assert fact["words"] == words
        assert fact["plot"].startswith('<svg class="interval"')
    assert [test["strength"] for test in told["0-1"]["tests"]] == ["+0.41", "+0.31"]
    assert told["0-1"]["tests"][1]["size"] == "+0.31 SD per SD (0.25 to 0.37)"


def test_the_table_of_edges() -> None:
    (table,) = page(sized(), "?show=1").all("table", class_="edge-table")
    (first, *_) = [node for node in table.all("span") if node.attributes.get("class") == "strength"]
    assert first.text == "strength +0.31"
    assert first.attributes["title"] == f"{WEAKEST} Given nothing: {MARGINAL}"


def test_the_table_of_tests_is_sorted_by_strength() -> None:
    tree = page(sized(), "/tests?sort=strength&order=down")
    assert "Both are of an association, not of a cause." in tree.text
    column = [row.all("td")[5].text for row in tree.one("table", id="ci").all("tr")[1:]]
    assert column == ["+0.41", "+0.31", "0.20", "+0.10", "−0.02"]


def test_files_have_it() -> None:
    client = client_of(sized())
    rows = list(csv.DictReader(io.StringIO(client.get("/studies/s/result/export/edges.csv?show=1").text)))
    assert (rows[0]["strength"], rows[0]["how strong"]) == ("+0.31", f"{WEAKEST} Given nothing: {MARGINAL}")
    assert client.get("/studies/s/result/export/json?show=1").json()["edges"][0]["how_strong"].startswith(WEAKEST)
    tests = list(csv.DictReader(io.StringIO(client.get("/studies/s/result/files/tests.csv").text)))
    assert [(row["sign"], row["size_of"]) for row in tests[1:4]] == [("+", "slope"), ("+", "odds ratio"), ("−", "odds ratio")]
