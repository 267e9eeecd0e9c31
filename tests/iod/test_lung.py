"""Many small institutions: the script and its page, from the table that lifelines ships."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import polars as pl
import pytest

import consilience as cs
from tests.iod.example_pages import ROOT, cells, command_of, run, script, sections_of

PAGE = ROOT / "docs" / "lung.md"
KNOWN = cs.Knowledge(exogenous=["age", "sex"])


def test_institutions_are_as_the_table_says(monkeypatch: pytest.MonkeyPatch) -> None:
    lung = script("lung", monkeypatch)
    raw = pl.read_csv(script("package_file", monkeypatch).package_file("lifelines", "datasets", "lung.csv"), null_values="NA")
    frame = lung.read()
    sizes = dict(raw["inst"].drop_nulls().value_counts().iter_rows())
    clients = lung.institutions(frame)
    assert {client.name: client.frame.height for client in clients} == {f"institution {key:.0f}": n for key, n in sizes.items()}
    assert [client.frame.height for client in clients] == sorted(sizes.values(), reverse=True)
    kept = raw.filter(pl.col("inst").is_not_null())
    days, dead = kept["time"].to_list(), kept["status"].to_list()
    expected = [None if t < 180 and not d else t <= 180 and d == 1 for t, d in zip(days, dead, strict=True)]
    assert frame["early death"].to_list() == expected
    assert frame["ECOG"].to_list() == [None if score is None else min(int(score), 2) for score in kept["ph.ecog"]]


@pytest.mark.slow
def test_the_command_of_the_page_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the three largest institutions and two copies: what takes minutes is left to who writes the page."""
    committed = PAGE.read_text(encoding="utf-8")
    arguments = command_of(committed)
    assert arguments[:3] == ["examples/lung.py", "--page", "docs/lung.md"]
    arguments[2] = str(tmp_path / "lung.md")
    arguments[arguments.index("--bootstrap") + 1] = "2"
    lung, page = script("lung", monkeypatch), script("lung_page", monkeypatch)
    whole = lung.read()
    largest = whole["institution"].value_counts().sort("count", descending=True)["institution"].head(3).implode()
    monkeypatch.setattr(page, "read", lambda: whole.filter(pl.col("institution").is_in(largest)))
    run(arguments, monkeypatch)
    text = (tmp_path / "lung.md").read_text(encoding="utf-8")
    parts = sections_of(text)
    assert list(parts) == list(sections_of(committed))
    assert "79 patients with advanced lung cancer, seen at 3 institutions" in text
    decided = {name: rest for name, *rest in cells(parts["Against one institution and Fisher's method"])}
    same = {name: rest for name, *rest in cells(sections_of(committed)["Against one institution and Fisher's method"])}
    for name in ("institution 1 alone", "institution 12 alone", "institution 13 alone"):
        assert decided[name][0] == same[name][0], "one institution decides as it did among all"
    for name in ("graph", "decisions"):
        assert f"(images/lung-{name}.svg)" in committed
        for folder in (tmp_path, PAGE.parent):
            assert ET.parse(folder / "images" / f"lung-{name}.svg").getroot().tag.endswith("svg")


@pytest.mark.slow
def test_the_page_is_what_the_script_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table, the graphs and the effects, which take seconds."""
    page, words = script("lung_page", monkeypatch), script("study.words", monkeypatch)
    made = page.run(KNOWN, alpha=0.05, bootstrap=0, seed=20, steps=words.Steps(), compare=False)
    committed = sections_of(PAGE.read_text(encoding="utf-8"))
    for title, section in (
        ("The institutions", page.the_study),
        ("What is found", page.together),
        ("Effects, and what may be said", page.said),
    ):
        assert committed[title] == section(made).strip()
