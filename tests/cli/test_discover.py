"""``consilience discover`` on files."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from typer.testing import CliRunner

import consilience as cs
from consilience.cli.app import app

runner = CliRunner()


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = []
    for name, frame in cs.simulate.mixed_sites(n=6000, sites=3, seed=5, absent={0: ["E"], 2: ["D"]}).items():
        path = tmp_path / f"{name}.csv"
        frame.write_csv(path)
        paths.append(str(path))
    return paths


@pytest.mark.slow
def test_json_has_what_the_library_finds(files: list[str]) -> None:
    answer = runner.invoke(app, ["discover", "--json", "--alpha", "0.01", *files])
    found = json.loads(answer.stdout)
    wanted = cs.discover(cs.Server([cs.Client(Path(f).stem, f) for f in files]), alpha=0.01)
    assert [pag["edges"] for pag in found["pags"]] == [[str(edge) for edge in pag.edges] for pag in wanted.pags]
    assert answer.exit_code == (0 if wanted.pags else 3)
    assert len(found["local_pags"]) == len(wanted.local_pags) == 3
    assert found["candidates"] == wanted.candidates


@pytest.mark.slow
def test_drawings_json_and_table_are_written(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "result"
    answer = runner.invoke(app, ["discover", "--out", str(out), "--ledger", str(tmp_path / "left.jsonl"), "--alpha", "0.01", *files])
    assert answer.exit_code in (0, 3)
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert len(list(out.glob("pag-*.svg"))) == len(result["pags"])
    assert len(list(out.glob("local-*.svg"))) == 3
    for drawing in out.glob("*.svg"):
        assert ET.fromstring(drawing.read_text(encoding="utf-8")).tag.endswith("svg")
    assert pl.read_csv(out / "tests.csv").height == len(result["tests"])
    assert {json.loads(line)["site"] for line in (tmp_path / "left.jsonl").read_text().splitlines()} == {"site1", "site2", "site3"}
    assert result["headline"] in answer.stdout.replace("\n", " ")


def test_bad_input_is_exit_code_2_in_one_line(files: list[str]) -> None:
    answer = runner.invoke(app, ["discover", "--alpha", "2", *files])
    assert isinstance(answer.exception, cs.errors.OptionError)
    assert "alpha" in str(answer.exception)
