"""Sites that code and measure in different ways: after harmonising they answer as if they had not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.data.errors import HarmoniseError, KindError, OutOfRangeError
from consilience.data.kinds import Kind, Variable
from consilience.data.schema import Schema
from consilience.settings.studyfile import parse_study, write_study

MMOL = 0.1 * 386.664
"""Milligrams per decilitre in a millimole of cholesterol per litre."""
PLAN: dict[str, Any] = {"chol": {"unit": "mg/dl -> mmol/l"}, "sex": {"recode": {"M": "male", "F": "female"}}}


def tables(n: int = 120) -> list[pl.DataFrame]:
    rng = np.random.default_rng(3)
    found = []
    for _ in range(2):
        age = rng.normal(60, 9, n).round(1)
        chol = (5 + 0.03 * (age - 60) + rng.normal(0, 1, n)).round(2)
        sex = np.where(rng.random(n) < 1 / (1 + np.exp(-(chol - 5))), "male", "female")
        found.append(pl.DataFrame({"age": age, "chol": chol, "sex": sex}))
    return found


def otherwise(frame: pl.DataFrame) -> pl.DataFrame:
    """The same patients, as another laboratory and another clerk write them down."""
    return frame.with_columns(chol=pl.col("chol") * MMOL, sex=pl.col("sex").replace({"male": "M", "female": "F"}))


@pytest.mark.parametrize("question", [("age", "chol", ["sex"]), ("sex", "chol", []), ("age", "sex", ["chol"])])
def test_a_site_with_other_units_and_codes_answers_the_same_after_harmonising(question: tuple[str, str, list[str]]) -> None:
    one, two = tables()
    plain = cs.Server([cs.Client("a", one), cs.Client("b", two)]).test(*question)
    other = cs.Server([cs.Client("a", one), cs.Client("b", otherwise(two), harmonise=PLAN)]).test(*question)
    assert other.p_value == plain.p_value


def test_without_harmonising_they_would_not() -> None:
    one, two = tables()
    plain = cs.Server([cs.Client("a", one), cs.Client("b", two)]).test("age", "chol")
    with pytest.warns(cs.DoubtfulDataWarning, match="difference between cholesterol in mg/dl and mmol/l"):
        mixed = cs.Server([cs.Client("a", one), cs.Client("b", otherwise(two))]).test("age", "chol")
    assert abs(mixed.p_value - plain.p_value) > 1e-6 * plain.p_value


def test_sites_that_say_different_units_are_brought_to_one() -> None:
    one, two = tables()
    clients = [cs.Client("a", one, harmonise={"chol": {"unit": "mmol/l"}})]
    clients.append(cs.Client("b", otherwise(two), harmonise={"chol": {"unit": "mg/dl"}, "sex": PLAN["sex"]}))
    expected = cs.Server([cs.Client("a", one), cs.Client("b", two)]).test("age", "chol", ["sex"]).p_value
    assert cs.Server(clients).test("age", "chol", ["sex"]).p_value == expected
    assert cs.pooled(clients).test("age", "chol", ["sex"]).p_value == pytest.approx(expected, rel=1e-6)


def test_a_unit_that_one_site_alone_says_settles_nothing() -> None:
    one, two = tables()
    clients = [cs.Client("a", one), cs.Client("b", otherwise(two), harmonise={"chol": {"unit": "mg/dl"}, "sex": PLAN["sex"]})]
    with pytest.warns(cs.DoubtfulDataWarning, match="difference between cholesterol in mg/dl and mmol/l"):
        cs.Server(clients).test("age", "chol")


def test_units_without_a_way_between_them_are_refused() -> None:
    one, two = tables()
    clients = [cs.Client("a", one, harmonise={"age": {"unit": "years"}}), cs.Client("b", two, harmonise={"age": {"unit": "kg"}})]
    with pytest.raises(HarmoniseError, match="The study has 'age' in years, and 'b' in kg"):
        cs.Server(clients).test("age", "chol")


def test_a_study_that_declares_a_unit_has_it_converted_and_holds_sites_to_its_range() -> None:
    one, two = tables()
    schema = Schema([Variable("age", Kind.CONTINUOUS), Variable("chol", Kind.CONTINUOUS, unit="mmol/l", range=(0.5, 30.0))])
    clients = [cs.Client("a", one), cs.Client("b", otherwise(two), harmonise={"chol": {"unit": "mg/dl"}})]
    expected = cs.Server([cs.Client("a", one), cs.Client("b", two)]).test("age", "chol").p_value
    assert cs.Server(clients, schema=schema).test("age", "chol").p_value == expected
    assert clients[1].fitted(schema).changes[0].words == "mg/dl -> mmol/l, cholesterol: × 0.0258622"
    unsaid = [cs.Client("a", one), cs.Client("b", otherwise(two))]
    for study in (cs.Server, cs.pooled):
        with pytest.raises(OutOfRangeError, match=re.escape("0.5 to 30 mmol/l; 'b' has 120 of 120 values outside")):
            study(unsaid, schema=schema)
    assert cs.pooled(clients, schema=schema).test("age", "chol").p_value == pytest.approx(expected, rel=1e-6)


def test_arguments_win_over_the_plan(tmp_path: Path) -> None:
    file = tmp_path / "site.toml"
    file.write_text('columns.stage = {kind = "ordinal", levels = [1, 2, 3], rename = "grade"}\nderived.old = "age > 60"', encoding="utf-8")
    frame = pl.DataFrame({"stage": [1, 2, 3, 1], "age": [50.5, 61.0, 70.0, 80.0]})
    client = cs.Client("a", frame, harmonise=file)
    assert repr(client) == "Client('a', 4 rows; grade: ordinal 1 < 2 < 3, age: continuous, old: binary 0, 1)"
    other = cs.Client("a", frame, harmonise=file, kinds={"grade": "continuous"})
    assert other.declarations["grade"].variable.kind is Kind.CONTINUOUS


def test_a_unit_of_something_with_levels_is_an_error() -> None:
    with pytest.raises(KindError, match="says the unit of 'n', which is ordinal"):
        cs.Client("a", pl.DataFrame({"n": [1, 2, 3]}), harmonise={"n": {"unit": "years"}})


def test_only_numbers_have_units_and_ranges() -> None:
    with pytest.raises(KindError, match="a unit and a range are for numbers"):
        Variable("sex", Kind.BINARY, ("f", "m"), unit="kg")
    with pytest.raises(KindError, match="goes from its lower to its higher end"):
        Variable("age", Kind.CONTINUOUS, range=(3.0, 1.0))


def test_a_study_file_declares_units_ranges_and_plans(tmp_path: Path) -> None:
    text = """
        sites.a = {file = "a.csv", harmonise = "a.toml"}
        variables.chol = {kind = "continuous", unit = "mmol/l", range = [0.5, inf]}
        variables.age = "continuous"
    """
    study = parse_study(text, tmp_path / "study.toml")
    assert study.plans == {"a": tmp_path / "a.toml"}
    assert study.declaration()["variables"][1] == {
        "name": "chol",
        "kind": "continuous",
        "levels": [],
        "unit": "mmol/l",
        "range": [0.5, None],
    }
    assert "unit" not in study.declaration()["variables"][0]
    write_study(tmp_path / "again.toml", study.schema, {})
    assert parse_study((tmp_path / "again.toml").read_text(encoding="utf-8"), tmp_path / "again.toml").schema == study.schema


@pytest.mark.parametrize(("entry", "words"), [("range = [1]", "two numbers"), ("range = 'a'", "two numbers"), ("unit = 3", "is text")])
def test_a_study_file_with_a_wrong_unit_or_range_names_it(entry: str, words: str) -> None:
    with pytest.raises(cs.errors.DataError, match=words):
        parse_study(f"[variables.chol]\nkind = 'continuous'\n{entry}", Path("study.toml"))
