"""How sure, on the pages of a result: the panel, the table of edges, the page on it, and the files."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from consilience.iod import Discovery
from tests.iod.report.sized import sized
from tests.iod.report.sured import EDGES, by_site, edge, frame, stable, sured
from tests.iod.report.test_how_sure import SHORT, SURE
from tests.web.pages.result.stage import client_of
from tests.web.pages.result.test_pages import page


@pytest.fixture(scope="module")
def found() -> Discovery:
    return sured(**by_site())


def test_the_page_of_the_graph(found: Discovery) -> None:
    tree = page(found, "?show=1&pair=0-1")
    assert SHORT in tree.text
    assert SURE in tree.one("section", id="details").text
    (table,) = tree.all("table", class_="edge-table")
    assert [head.text for head in table.all("th")][:4] == ["edge", "in graphs", "how sure", "what it says"]
    cells = [cell for cell in table.all("td") if cell.attributes.get("class") == "sure"]
    assert [cell.text for cell in cells] == ["97% ", "60%  hangs on marburg"]  # a bar is between the two spaces
    assert cells[0].attributes["title"] == SURE
    assert len(table.all("svg", class_="interval share")) == 2
    assert len(table.all("svg", class_="interval")) == 1
    assert "Found again in 90% of copies or more." in tree.one("ul", class_="legend").text


def test_the_script_is_told_the_same(found: Discovery) -> None:
    told = client_of(found).get("/studies/s/result/graph.json?show=1").json()["pairs"]
    assert {"term": "How sure", "words": SURE} in told["0-1"]["facts"]
    assert [fact["term"] for fact in told["0-1"]["facts"] if "plot" in fact] == ["How strong"]


def test_a_page_of_its_own(found: Discovery) -> None:
    tree = page(found, "/sure")
    assert "Consensus graph" in tree.text
    assert "What is said here is of the study’s own result" not in tree.text
    assert "The copies were decided at the study’s own level, α = 0.05" in page(found, "/sure?alpha=0.01").text
    assert "How sure" in page(found, "/tests").one("nav", class_="tabs").text
    assert "How sure" not in page(sized(), "/tests").one("nav", class_="tabs").text
    assert "Nobody has resampled the data" in page(sized(), "/sure").text


def test_files_have_it_and_guard_their_cells(found: Discovery) -> None:
    client = client_of(found)
    rows = list(csv.DictReader(io.StringIO(client.get("/studies/s/result/export/edges.csv?show=1").text)))
    assert [(row["share over copies"], row["how sure"][:3]) for row in rows] == [("0.97", "97%"), ("0.6", "60%")]
    assert client.get("/studies/s/result/export/json?show=1").json()["edges"][0]["share_over_copies"] == 0.97
    sure = list(csv.DictReader(io.StringIO(client.get("/studies/s/result/export/sure.csv").text)))
    assert [row["share"] for row in sure] == ["0.97", "0.6", "0.0"]
    assert client.get("/studies/s/result/export/sites.csv").text.splitlines()[2].startswith("marburg,9.0")
    assert client_of(sized()).get("/studies/s/result/export/sure.csv").status_code == 404
    evil = replace(found, stability=stable(edges=frame(*EDGES, edge("=cmd", "x", 0.5, 1.0))))
    assert "'=cmd" in client_of(evil).get("/studies/s/result/export/sure.csv").text
