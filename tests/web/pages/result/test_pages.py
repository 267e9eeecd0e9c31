"""The pages without a script: whatever can be asked for is a plain address, and every name is text."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest

from consilience.graph.drawing.lettering import legible
from consilience.iod import Discovery
from tests.iod.report.helpers import Node, Reader, small
from tests.web.pages.result.cases import HOSTILE, contradictory, cut, hostile, many_pairs, nothing, real
from tests.web.pages.result.stage import client_of

VOID = {"input", "link", "meta", "path", "rect", "circle", "br", "hr", "img"}
PAGES = [
    "",
    "?show=1",
    "?show=set-1",
    "?show=1&with=2",
    "?show=1&pair=0-1",
    "/tests",
    "/tests?pair=0-1",
    "/sure",
    "/effects",
    "/conflicts",
    "/about",
]


def read(text: str) -> Node:
    """A page as a tree; an element that is not closed as it should be is an error."""
    reader = Reader()
    text = re.sub(r"<(input|link|meta|br|hr)\b([^>]*[^/])>", r"<\1\2/>", text)
    reader.feed(text.replace("<!doctype html>", ""))
    reader.close()
    assert reader.open == [reader.root]
    return reader.root


def page(found: Discovery, path: str = "") -> Node:
    answer = client_of(found).get(f"/studies/s/result{path}")
    assert answer.status_code == 200, answer.text
    return read(answer.text)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_whole_and_has_the_policy(path: str) -> None:
    answer = client_of(small()).get(f"/studies/s/result{path}")
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    tree = read(answer.text)
    assert len(tree.all("h1")) == 1
    ids = [node.attributes["id"] for node in tree.nodes() if "id" in node.attributes]
    assert len(set(ids)) == len(ids)
    assert all("style" not in node.attributes and not any(key.startswith("on") for key in node.attributes) for node in tree.nodes())
    assert "style" not in tree.tags()
    assert all(node.attributes.get("src", "").startswith("/") for node in tree.all("script"))


def test_another_study_is_not_found() -> None:
    assert client_of(small()).get("/studies/other/result").status_code == 404
    assert client_of(small()).get("/studies/other/result/files/result.json").status_code == 404
    assert client_of(small()).get("/studies/s/result?show=9").status_code == 404
    assert client_of(small()).get("/studies/s/result/export/exe").status_code == 404
    assert client_of(small()).get("/studies/s/result/files/..%2Fsecret").status_code == 404
    assert client_of(small()).get("/studies/s/result/assets/page.py").status_code == 404


def test_graphs_can_be_walked_through_by_links() -> None:
    tree = page(small(), "?show=summary")
    (after,) = tree.all("a", rel="next")
    assert after.attributes["href"] == "/studies/s/result?show=1"
    assert [link.attributes["href"] for link in page(small(), "?show=2").all("a", rel="prev")] == ["/studies/s/result?show=1"]
    assert page(small(), "?show=2").all("a", rel="next") == []


def test_a_pair_is_told_without_a_script() -> None:
    tree = page(small(), "?show=1&pair=0-1")
    details = tree.one("section", id="details").text
    assert "no edge" in details
    assert "p = 0.300, n = 900" in details
    rows = tree.one("section", id="details").all("tr")
    assert [cell.text for cell in rows[1].all("td")] == ["nothing", "0.300", "independent", "–", "900"]


@pytest.mark.slow
@pytest.mark.parametrize("make", [nothing, contradictory, cut, real])
def test_no_page_claims_what_is_not_known(make: object) -> None:
    found: Discovery = make()  # type: ignore[operator]
    client = client_of(found)
    text = read(client.get("/studies/s/result?show=summary").text).one("main").text
    assert found.headline in " ".join(text.split())
    if not found.pags:
        assert "What follows" not in text
        assert "is a cause of" not in text
    if not found.complete:
        assert not re.search(r"(all|none of the) \d+ graphs", text)
    for path in ("/tests", "/conflicts", "/about", "?show=set-1"):
        assert client.get(f"/studies/s/result{path}").status_code == 200


@pytest.mark.parametrize("path", [*PAGES, "?show=1&pair=0-6", "?show=summary", "/tests?words=%3Cscript%3E"])
def test_hostile_names_stay_text(path: str) -> None:
    tree = page(hostile(), path)
    assert not {"img", "iframe", "foreignObject"} & tree.tags()
    assert all(node.attributes["src"].startswith(("/static/", "/studies/s/result/assets/")) for node in tree.all("script"))
    assert not any(key.startswith("on") for node in tree.nodes() for key in node.attributes)
    assert "49" not in tree.one("main").text.replace("0.049", "") or "{{ 7*7 }}" in tree.text


def test_hostile_names_come_whole_through_the_data() -> None:
    client = client_of(hostile())
    told = client.get("/studies/s/result/graph.json?show=1")
    assert told.headers["content-type"] == "application/json"
    assert told.json()["names"] == [legible(name) for name in sorted(HOSTILE)]
    drawn = client.get("/studies/s/result/drawing.svg?show=1").text
    assert "<script" not in drawn
    assert "&lt;script&gt;" in drawn
    isolated = [fact["words"] for one in told.json()["pairs"].values() for fact in one["facts"] if "גיל" in fact["words"]]
    assert any("\u2068גיל\u2069" in words for words in isolated)


def test_positions_of_the_reader_are_used_and_bounded() -> None:
    client = client_of(small())
    plain = client.get("/studies/s/result/drawing.svg?show=1").text
    moved = client.get("/studies/s/result/drawing.svg?show=1&at=0,0;500,0;0,400;500,400").text
    assert '<rect x="485.00"' in moved
    assert moved != plain
    for at in ("nan,0;1,1;2,2;3,3", "1e9,0;1,1;2,2;3,3", "0,0", "<b>", ";" * 5000, "0,0;0,0;0,0;0,0"):
        answer = client.get("/studies/s/result/drawing.svg", params={"show": "1", "at": at})
        assert answer.status_code == 200
        assert "nan" not in answer.text


@pytest.mark.parametrize("name", ["result.json", "tests.csv", "report.html"])
def test_files_are_handed_out_to_be_kept(name: str) -> None:
    answer = client_of(small()).get(f"/studies/s/result/files/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith(f'attachment; filename="s-{name}"')
    if name == "result.json":
        assert Discovery.from_dict(json.loads(answer.content)).pags == small().pags


def shown(tree: Node) -> list[list[str]]:
    (body,) = next(table for table in tree.all("table") if table.attributes.get("id") == "ci").all("tbody")
    return [[cell.text for cell in row.all("td")] for row in body.all("tr") if "hidden" not in row.attributes]


def test_tests_are_searched_and_sorted_by_addresses() -> None:
    found = small()
    assert len(shown(page(found, "/tests"))) == 7
    up = [row[3] for row in shown(page(found, "/tests?sort=p"))]
    assert up == ["< 10⁻¹⁵", "1.0 × 10⁻⁷", "2.0 × 10⁻⁴", "0.049", "0.300", "0.700", "–"]
    assert [row[3] for row in shown(page(found, "/tests?sort=p&order=down"))] == [*up[-2::-1], "–"]
    assert [row[4] for row in shown(page(found, "/tests?decision=independent"))] == ["independent"] * 2
    assert all("D" in row[:3] for row in shown(page(found, "/tests?variable=3")))
    assert [row[:3] for row in shown(page(found, "/tests?words=too+few"))] == [["B", "D", "C"]]
    assert len(shown(page(found, "/tests?pair=0-1"))) == 2
    for strange in ("?sort=<b>", "?variable=99", "?variable=x", "?page=-1", "?page=99999999", "?decision=maybe", "?pair=9-9"):
        assert len(shown(page(found, f"/tests{strange}"))) == 7
    head = page(found, "/tests?sort=p").all("th", aria_sort="ascending")
    assert [node.text for node in head] == ["p-value"]


@pytest.mark.slow
def test_many_tests_are_turned_page_by_page_and_none_is_lost() -> None:
    found, seen, path = many_pairs(1450), [], "/studies/s/result/tests?sort=rows"
    client = client_of(found)
    while path:
        tree = read(client.get(path).text)
        seen += [int(row[7].replace(",", "")) for row in shown(tree)]
        assert "sortable" not in tree.one("table", id="ci").attributes.get("class", "")
        links = tree.all("a", rel="next")
        path = links[0].attributes["href"] if links else ""
    assert seen == sorted(found.tests["n"].to_list())
    assert len(shown(read(client.get("/studies/s/result/tests?words=z1449").text))) == 1
    assert found.tests.filter(pl.col("n") == 1549).height == 1
