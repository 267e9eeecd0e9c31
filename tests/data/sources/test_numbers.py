"""Which numbers a column of text holds is found out by rules, or refused; never guessed."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from consilience.data.finding import Asker, Grade
from consilience.data.sources import Reading, typed_text
from consilience.data.sources.columns import TypedColumn, type_column


def column(*values: str | None, **reading: Any) -> TypedColumn:
    return type_column(pl.Series("c", values, dtype=pl.String), Reading(**reading))


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1,5", "12,25"], [1.5, 12.25]),
        (["0,123", "0,456"], [0.123, 0.456]),
        (["12,345", "1,5"], [12.345, 1.5]),
        (["12,345", "0.5"], [12345.0, 0.5]),
        (["1.234,56", "7"], [1234.56, 7.0]),
        (["1,234.56", "999"], [1234.56, 999.0]),
        (["1'234.5", "17"], [1234.5, 17.0]),
        (["1’234", "17"], [1234, 17]),
        (["1 234,5", "17"], [1234.5, 17.0]),
        (["1\u202f234", "17\u00a0"], [1234, 17]),
        (["1,234,567", "12,345"], [1234567, 12345]),
        (["1e3", "+5", "-2.5E-1"], [1000.0, 5.0, -0.25]),
        (["1,5e2", "2"], [150.0, 2.0]),
        (["-1,5", "+2"], [-1.5, 2.0]),
        (["01.5", "2"], [1.5, 2.0]),
        (["inf", "1.5"], [float("inf"), 1.5]),
        (["1.234", "12.345"], [1.234, 12.345]),
        ([" 1", "2 "], [1, 2]),
        ([".5", "1."], [0.5, 1.0]),
    ],
    ids=str,
)
def test_numbers(values: list[str], numbers: list[float]) -> None:
    found = column(*values)
    assert found.column.to_list() == numbers
    assert found.column.dtype == (pl.Int64 if all(isinstance(n, int) for n in numbers) else pl.Float64)
    assert found.findings == ()


def test_a_comma_before_three_digits_in_every_value_is_refused_with_both_ways_out() -> None:
    found = column("12,345", "1,234", "17")
    assert found.column.to_list() == ["12,345", "1,234", "17"]
    (refused,) = found.findings
    assert (refused.code, refused.grade, refused.columns) == ("decimal-mark", Grade.REFUSED, ("c",))
    assert "--decimal ','" in refused.said(Asker.COMMAND)
    assert "thousands=','" in refused.said(Asker.PYTHON)


@pytest.mark.parametrize(
    ("reading", "numbers"),
    [
        ({"decimal": ","}, [12.345, 17.0]),
        ({"thousands": ","}, [12345, 17]),
        ({"decimal": "."}, [12345, 17]),
        ({"thousands": "."}, [12.345, 17.0]),
    ],
    ids=str,
)
def test_each_way_out_is_one(reading: dict[str, str], numbers: list[float]) -> None:
    found = column("12,345", "17", **reading)
    assert found.column.to_list() == numbers
    assert not found.findings


def test_points_of_thousands_where_the_file_has_decimal_commas_are_refused() -> None:
    frame = pl.DataFrame({"a": ["1,5", "2,25"], "b": ["1.234", "12.345"], "c": ["1.5", "2"]})
    found = typed_text(frame)
    assert found.frame.dtypes == [pl.Float64, pl.String, pl.Float64]
    assert [finding.columns for finding in found.findings] == [("b",)]
    assert typed_text(frame, Reading(thousands=".")).frame["b"].to_list() == [1234, 12345]
    assert typed_text(frame, Reading(thousands="")).frame["b"].to_list() == [1.234, 12.345]


def test_a_decimal_mark_that_is_given_is_the_only_one() -> None:
    found = column("1.5", "2.5", decimal=",")
    assert found.column.dtype == pl.String
    assert found.findings[0].grade is Grade.REFUSED


@pytest.mark.parametrize(
    ("values", "named"),
    [
        (["12", "13", "14", "233 mg/dl"], "'233 mg/dl' (1 row)"),
        (["<5", "12", "13", ">100", "7"], "'<5' (1 row), '>100' (1 row)"),
        (["12%", "13", "14"], "'12%'"),
        (["1,5", "2.5", "3.5"], "'1,5'"),
        (["V57", "250", "276.1"], "'V57'"),
        ([f"{i} mg/dl" for i in range(100, 120)], "'100 mg/dl'"),
        ([f"{i}%" for i in range(20)], "'0%'"),
    ],
    ids=str,
)
def test_what_is_mostly_numbers_is_refused_and_the_values_are_named(values: list[str], named: str) -> None:
    found = column(*values)
    assert found.column.dtype == pl.String
    (refused,) = found.findings
    assert (refused.code, refused.grade) == ("mostly-numbers", Grade.REFUSED)
    assert named in refused.words
    assert refused.remedies


@pytest.mark.parametrize(
    "values", [["1 - mild", "2 - severe"] * 9, ["a1", "b2"], ["2020-01-05", "2021-02-03"], ["1", "true"], ["12a", "x", "y"]], ids=str
)
def test_other_text_is_text(values: list[str]) -> None:
    found = column(*values)
    assert found.column.to_list() == values
    assert not found.findings


@pytest.mark.parametrize(
    "word", [".", "n/a", "N/A", "#N/A", "-", "--", "k.A.", "K. A.", "unknown", "Unbekannt", "missing", "not known", "nd", "n.d.", "NAN"]
)
def test_words_among_numbers_are_missing_and_said(word: str) -> None:
    found = column("1", "2.5", word, None)
    assert found.column.to_list() == [1.0, 2.5, None, None]
    assert found.emptied == {word: 1}
    if word != "N/A":  # missing in every column, as R writes it
        assert [(f.code, f.grade) for f in found.findings] == [("missing-words", Grade.NOTICE)]
        assert repr(word) in found.findings[0].words


def test_in_text_they_are_answers() -> None:
    found = column("yes", "no", "unknown", "-", "NA")
    assert found.column.to_list() == ["yes", "no", "unknown", "-", None]
    assert found.emptied == {"NA": 1}


def test_numbers_are_never_missing_by_themselves() -> None:
    assert column("-9", "99", "999", "0").column.to_list() == [-9, 99, 999, 0]


def test_codes_that_the_owner_names_are_compared_as_text_and_by_value() -> None:
    assert column("-9", "-9.0", "1.5", missing=("-9",)).column.to_list() == [None, None, 1.5]
    assert column("-9,0", "1,5", missing=("-9",)).column.to_list() == [None, 1.5]
    assert column("9.999", "1,5", missing=("9999",)).emptied == {"9.999": 1}
    assert column("x", "Refused", "-9", missing=("refused", "-9")).column.to_list() == ["x", None, None]


def test_digits_behind_a_zero_are_codes() -> None:
    found = column("007", "012", "100")
    assert found.column.to_list() == ["007", "012", "100"]
    assert [(f.code, f.grade) for f in found.findings] == [("codes", Grade.NOTICE)]
    assert column("0", "10").column.to_list() == [0, 10]
