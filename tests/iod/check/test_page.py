"""The check's page alive in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

import consilience as cs
from tests.iod.check.test_checking import clients, frame
from tests.iod.report.test_browser import tried


@pytest.mark.slow
def test_the_page_opens_and_its_tables_sort(tmp_path: Path) -> None:
    found = cs.check(clients(frame(1).rename({"age": "<b>Age"}), frame(2)), estimate=False)
    steps = """
      said.heads = [...page.querySelectorAll("h2")].map((head) => head.textContent);
      const own = "#site-1 table"; said.before = column(own, 0); click(own, 0); said.up = column(own, 0);
      said.strange = page.querySelectorAll("main b").length;"""
    said = tried(found, steps, tmp_path)
    assert said["heads"] == ["Contents", "Overview", "Between sites", "Site a", "Site b", "Pairs of variables"]
    assert said["before"] == ["<b>Age", "marker", "sex"]
    assert sorted(map(str, said["up"])) == sorted(map(str, said["before"]))  # type: ignore[call-overload]
    assert said["strange"] == 0
