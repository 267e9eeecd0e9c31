"""``--harmonise`` on the command line, and plans in study files: the same answer as from tables that need none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from consilience.cli.app import app
from tests.data.harmonise.test_clients import otherwise, tables

TOML = """
columns.chol.unit = "mg/dl -> mmol/l"
columns.sex.recode = { M = "male", F = "female" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    one, two = tables()
    one.write_csv(tmp_path / "one.csv")
    two.write_csv(tmp_path / "two.csv")
    otherwise(two).write_csv(tmp_path / "other.csv")
    (tmp_path / "other.toml").write_text(TOML, encoding="utf-8")
    return tmp_path


def p_value(*arguments: str) -> float:
    result = CliRunner().invoke(app, ["test", "age", "chol", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    return float(json.loads(result.stdout)["p_value"])


def test_a_plan_for_one_file_gives_the_answer_of_tables_that_need_none(folder: Path) -> None:
    one, two, other = (str(folder / f"{name}.csv") for name in ("one", "two", "other"))
    plan = f"other={folder / 'other.toml'}"
    assert p_value(one, other, "--given", "sex", "--harmonise", plan) == pytest.approx(p_value(one, two, "--given", "sex"), rel=1e-9)


def test_a_study_file_names_the_plans_of_its_sites_and_the_units(folder: Path) -> None:
    study = folder / "study.toml"
    sites = 'sites.one.file = "one.csv"\nsites.other = {file = "other.csv", harmonise = "other.toml"}\n'
    variables = 'variables.age = "continuous"\nvariables.chol = {kind = "continuous", unit = "mmol/l", range = [0.5, 30]}\n'
    study.write_text(sites + variables, encoding="utf-8")
    assert p_value(str(study)) == pytest.approx(p_value(str(folder / "one.csv"), str(folder / "two.csv")), rel=1e-9)
    (folder / "other.toml").write_text('columns.sex.recode = { M = "male" }', encoding="utf-8")
    result = CliRunner().invoke(app, ["test", "age", "chol", str(study)])
    assert result.exit_code != 0
    assert "'other' has 120 of 120 values outside" in str(result.exception)


def test_a_plan_for_nobody_is_an_error(folder: Path) -> None:
    arguments = ["test", "age", "chol", str(folder / "one.csv"), str(folder / "two.csv"), "--harmonise", "three=x.toml"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code != 0
    assert "'three' is no site. There are: one, two." in str(result.exception)


def test_one_plan_for_all_files(folder: Path) -> None:
    (folder / "all.toml").write_text('derived.old = "age > 60"', encoding="utf-8")
    files = [str(folder / "one.csv"), str(folder / "two.csv")]
    result = CliRunner().invoke(app, ["test", "old", "chol", *files, "--harmonise", str(folder / "all.toml"), "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["p_value"] < 0.05


@pytest.mark.parametrize("command", [["test", "age", "chol"], ["discover"]])
def test_what_a_plan_changed_is_shown_before_and_after(command: list[str], folder: Path) -> None:
    files = [str(folder / "one.csv"), str(folder / "other.csv")]
    plain = CliRunner().invoke(app, [*command, files[0], str(folder / "two.csv")], env={"COLUMNS": "200"})
    assert "Changed by plans" not in plain.output
    result = CliRunner().invoke(app, [*command, *files, "--harmonise", f"other={folder / 'other.toml'}"], env={"COLUMNS": "200"})
    assert result.exit_code in (0, 3), result.output
    table = result.output.partition("Variables as read")[0]
    assert "× 0.0258622 (120)" in table
    assert "'M' -> 'male'" in table
    assert "one" not in table.split()  # which has no plan


def test_the_way_out_of_linear_models_is_an_option_on_the_command_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for name in "ab":
        x = rng.normal(size=400)
        pl.DataFrame({"X": x, "Y": x**2 + 0.3 * rng.normal(size=400)}).write_csv(tmp_path / f"{name}.csv")
    result = CliRunner().invoke(app, ["test", "X", "Y", str(tmp_path / "a.csv"), str(tmp_path / "b.csv")])
    assert "the linear model does not hold: use --method residual." in result.output
    assert "method='" not in result.output
