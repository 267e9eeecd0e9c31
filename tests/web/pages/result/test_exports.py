"""Whatever is taken away is the graph that is shown, also for the programs that read it."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from starlette.testclient import TestClient

from consilience.graph import PAG
from consilience.iod import Discovery
from consilience.web.pages.result.exports import plain_names
from tests.iod.report.helpers import found_of, result, small
from tests.web.pages.result.cases import hostile, oracle, real
from tests.web.pages.result.stage import client_of


def export(client: TestClient, kind: str, query: str = "?show=1") -> str:
    answer = client.get(f"/studies/s/result/export/{kind}{query}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"].startswith("attachment")
    return answer.text


def check(found: Discovery) -> None:
    client = client_of(found)
    pag = found.pags[0]
    assert PAG.from_dot(export(client, "dot")) == pag
    renamed = PAG.from_matrix(pag.to_matrix(), plain_names(pag.labels))
    assert PAG.from_tetrad(export(client, "tetrad.txt")) == renamed
    head, *rows = csv.reader(io.StringIO(export(client, "amat.csv")))
    assert [row[0] for row in rows] == head[1:]
    assert PAG.from_matrix([[int(cell) for cell in row[1:]] for row in rows], head[1:]) == pag
    told = json.loads(export(client, "json"))
    assert PAG.from_matrix(told["matrix"], told["labels"]) == pag
    edges = list(csv.DictReader(io.StringIO(export(client, "edges.csv"))))
    assert {(one["from"], one["edge"], one["to"]) for one in edges} == {
        (edge.a, str(edge).removeprefix(quoted(edge.a)).split()[0], edge.b) for edge in pag.edges
    }


def quoted(label: str) -> str:
    return str(PAG.parse("").reordered([label]))


@pytest.mark.slow
def test_they_are_read_back_as_the_same_graph() -> None:
    for seed in range(5):
        check(oracle(seed))
    check(real())


def test_also_with_hostile_names() -> None:
    check(hostile())


def test_no_name_is_a_formula_in_a_spreadsheet() -> None:
    names = ["=cmd|' /C calc'!A0", "@sum", "-x", "+y", "-1.5"]
    marks = np.zeros((5, 5), dtype=int)
    marks[0, 1:], marks[1:, 0] = 2, 1
    tests = [replace(result(names[0], name, ["\t=z"], 0.5), reason="=1+1") for name in names[1:]]
    client = client_of(found_of([PAG.from_matrix(marks, names)], [names], tests))
    cells = {cell for row in csv.reader(io.StringIO(export(client, "amat.csv"))) for cell in row}
    edges = list(csv.DictReader(io.StringIO(export(client, "edges.csv"))))
    cells |= {edge[head] for edge in edges for head in ("from", "to", "meaning")}
    tests_csv = client.get("/studies/s/result/files/tests.csv").text
    cells |= {cell for row in csv.reader(io.StringIO(tests_csv)) for cell in row}
    assert {f"'{name}" for name in names[:4]} | {"-1.5", "'\t=z", "'=1+1", "0.5"} <= cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t")) and cell != "-1.5"]


def test_local_graphs_are_exported_too() -> None:
    client = client_of(small())
    assert PAG.from_dot(export(client, "dot", "?show=set-2")) == small().local_pags[1]


@pytest.mark.parametrize("query", ["?show=summary", "?show=1&with=2"])
def test_marks_that_differ_go_into_no_foreign_format(query: str) -> None:
    client = client_of(small())
    for kind in ("dot", "tetrad.txt", "amat.csv"):
        assert client.get(f"/studies/s/result/export/{kind}{query}").status_code == 404
    assert "A" in export(client, "edges.csv", query)
    assert "matrix" not in json.loads(export(client, "json", query))


@pytest.mark.parametrize("query", ["?show=summary", "?show=1", "?show=set-1", "?show=1&with=2"])
@pytest.mark.parametrize("kind", ["svg", "sheet.svg"])
def test_pictures_are_whole_and_have_a_legend(kind: str, query: str) -> None:
    for found in (small(), hostile()):
        text = export(client_of(found), kind, query)
        tree = ET.fromstring(text)  # our own output
        assert tree.findall(".//{*}g[@class='legend']")
        assert not tree.findall(".//{*}script")
        assert ('fill="#ffffff"' in text) == (kind == "sheet.svg")
        assert ("<style>" in text) == (kind == "svg")


def test_the_names_of_files_say_what_is_in_them() -> None:
    client = client_of(small())
    named = client.get("/studies/s/result/export/dot?show=2").headers["content-disposition"]
    assert named.startswith('attachment; filename="s-graph-2.dot"')
    named = client.get("/studies/s/result/export/svg?show=1&with=set-2").headers["content-disposition"]
    assert named.startswith('attachment; filename="s-graph-1-set-2.svg"')
