"""The page as a file, as text, and of real discoveries."""

from __future__ import annotations

from pathlib import Path

import pytest

import consilience as cs
from consilience.graph import PAG
from consilience.iod.report import render, write_report
from tests.iod.report.helpers import hostile, read, small


def test_the_same_page_every_time() -> None:
    assert render(small()) == render(small())


def test_writing(tmp_path: Path) -> None:
    write_report(hostile(), tmp_path / "a.html")
    write_report(small(), str(tmp_path / "b.html"))
    assert (tmp_path / "a.html").read_bytes().decode("utf-8").startswith("<!doctype html>\n<html")
    assert (tmp_path / "b.html").exists()


def test_a_discovery_writes_its_page(tmp_path: Path) -> None:
    found = cs.discover(cs.Oracle(PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABC", "BCD"]))
    found.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page == render(found)
    root = read(page)
    assert root.one("h1").text == "Causal discovery: 2 graphs from 2 data sets"
    assert len(root.one("section", id="graphs").all("figure")) == len(found.pags) == 2
    assert len(root.one("table", id="ci").one("tbody").all("tr")) == found.tests.height


@pytest.mark.slow
def test_a_federated_discovery_says_what_left_each_site() -> None:
    sites = cs.simulate.mixed_sites(n=300, sites=3, seed=1)
    found = cs.discover(cs.Server([cs.Client(name, frame) for name, frame in sites.items()]), max_given=1, limit=50)
    root = read(render(found))
    assert found.disclosed is not None
    rows = root.one("table", id="ledgers").one("tbody").all("tr")
    assert [row.all("td")[0].text for row in rows] == list(sites)
    numbers = found.disclosed.columns.index("numbers")
    assert [row.all("td")[numbers].text for row in rows] == [f"{count:,}" for count in found.disclosed["numbers"]]


def test_without_a_path_the_text_is_returned_and_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = small()
    assert found.to_html() == render(found)
    assert found.to_html(None) == render(found)
    assert list(tmp_path.iterdir()) == []
    assert found.to_html(tmp_path / "page.html") is None  # type: ignore[func-returns-value]
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == found.to_html()
