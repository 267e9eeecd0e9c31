"""Options that choose columns and say how files are read, and the words in which findings are printed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.test_cli import invoke


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Two sites: a suspected code, an index without a name, and a column whose kinds disagree."""
    rng = np.random.default_rng(2)
    paths = []
    for site in ("a", "b"):
        chol = np.where(rng.random(120) < 0.1, 999, rng.integers(150, 290, 120))
        odd = rng.normal(size=120) if site == "a" else rng.integers(0, 3, 120)
        flags = {"sex": rng.integers(0, 2, 120), "exang": rng.integers(0, 2, 120)}
        frame = pl.DataFrame({"": range(120), "age": rng.integers(30, 90, 120), "chol": chol, "odd": odd, **flags})
        frame.write_csv(tmp_path / f"{site}.csv")
        paths.append(str(tmp_path / f"{site}.csv"))
    return paths


@pytest.mark.parametrize("given", [["--given", "sex", "--given", "exang"], ["--given", "sex, exang"], ["--given", "sex,exang"]])
def test_conditions_may_be_repeated_and_have_spaces(files: list[str], given: list[str]) -> None:
    found = invoke("test", "age", "odd", *files, *given, "--variables", "age,sex,exang,odd", "--kind", "odd=continuous", "--json")
    assert json.loads(found.stdout)["given"] == ["sex", "exang"]


def test_doubts_are_on_standard_error_in_the_words_of_options(files: list[str]) -> None:
    found = invoke("test", "age", "chol", *files, "--json")
    assert "'chol' of 'a' has 999" in found.stderr
    assert "--missing '999'" in found.stderr
    assert "missing=" not in found.stderr
    json.loads(found.stdout)
    assert invoke("test", "age", "sex", *files, "--json").stderr == ""
    read = invoke("test", "age", "chol", *files, "--missing", "999", "--json")
    assert "999" not in read.stderr
    assert json.loads(read.stdout)["n"] < json.loads(found.stdout)["n"]


def test_columns_that_are_no_variables_are_named_in_one_line(files: list[str]) -> None:
    assert "left out: '' (an identifier)" in invoke("test", "age", "sex", *files).stdout
