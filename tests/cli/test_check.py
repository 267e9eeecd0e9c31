"""``consilience check`` on files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import consilience as cs
from consilience.cli.app import app

runner = CliRunner()


def written(folder: Path, name: str, seed: int, levels: tuple[str, str] = ("f", "m")) -> str:
    draw = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {"age": draw.normal(60, 9, 100).round(1), "sex": draw.choice(levels, 100), "chol": draw.normal(230, 30, 100).round()}
    )
    frame.write_csv(folder / f"{name}.csv")
    return str(folder / f"{name}.csv")


def test_fine_files_are_exit_code_0(tmp_path: Path) -> None:
    answer = runner.invoke(app, ["check", "--no-estimate", written(tmp_path, "one", 1), written(tmp_path, "two", 2)])
    assert answer.exit_code == 0, answer.output
    assert "Between sites" in answer.stdout
    assert "nothing to say" in answer.stdout


def test_refused_things_are_exit_code_3_with_the_way_out(tmp_path: Path) -> None:
    answer = runner.invoke(app, ["check", "--no-estimate", written(tmp_path, "one", 1), written(tmp_path, "two", 2, ("female", "male"))])
    assert answer.exit_code == 3
    assert "refused" in answer.stdout
    assert "recode" in answer.stdout


def test_json_is_json_and_nothing_else(tmp_path: Path) -> None:
    answer = runner.invoke(app, ["check", "--json", written(tmp_path, "one", 1), written(tmp_path, "two", 2)])
    found = json.loads(answer.stdout)
    assert [site["name"] for site in found["sites"]] == ["one", "two"]
    assert found["estimate"]["least_tests"] == 3


def test_a_page_is_written(tmp_path: Path) -> None:
    page = tmp_path / "check.html"
    answer = runner.invoke(app, ["check", "--no-estimate", "--out", str(page), written(tmp_path, "one", 1)])
    assert answer.exit_code == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(cs.errors.OptionError, match="--out"):
        runner.invoke(app, ["check", "--out", str(tmp_path), written(tmp_path, "one", 1)], catch_exceptions=False)


def test_options_of_reading_count(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x;y\n" + "1,5;2\n3,5;4\n2,5;7\n" * 20, encoding="utf-8")
    answer = runner.invoke(app, ["check", "--json", "--no-estimate", "--variables", "x", str(tmp_path / "a.csv")])
    assert [row["name"] for row in json.loads(answer.stdout)["sites"][0]["variables"]] == ["x"]
