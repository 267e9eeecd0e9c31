"""What a site holds, encoded over the study's schema, and the rows complete on some variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from consilience.data.errors import InfiniteValueError, KindError, UnknownLevelError
from consilience.data.schema import Schema
from consilience.data.table import Table

NAN = float("nan")


def encoded(values: Any, spec: Any, dtype: Any = None) -> Table:
    return Table(pl.DataFrame({"S": pl.Series(values, dtype=dtype)}), Schema({"S": spec}), "muenster")


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([2, 0, None, 2], pl.Int64),
        ([2.0, 0.0, NAN, 2.0], pl.Float64),
        ([2.0, 0.0, None, 2.0], pl.Float32),
        (["2", "0", None, "2"], pl.String),
        (["2", "0", None, "2"], pl.Categorical),
        (["2", "0", None, "2"], pl.Enum(["2", "1", "0"])),
        (["2", "0", None, "2"], pl.Decimal(5, 1)),
    ],
)
def test_codes_count_within_the_levels_of_the_study(values: Any, dtype: Any) -> None:
    """Whatever the type a level came in, and whichever levels the site has; -1 is missing."""
    codes = encoded(values, ("ordinal", [0, 1, 2]), dtype).codes["S"]
    assert codes.tolist() == [2, 0, -1, 2]
    assert codes.dtype == np.int32


@pytest.mark.parametrize("levels", ["pqr", "rqp", "qrp"])
def test_codes_follow_the_order_of_the_study(levels: str) -> None:
    assert encoded(list("pqr"), ("multinomial", levels)).codes["S"].tolist() == [levels.index(label) for label in "pqr"]


@pytest.mark.parametrize("missing", [NAN, None])
@pytest.mark.parametrize("dtype", [pl.Int8, pl.Float32, pl.Float64])
def test_long_columns_are_encoded_like_short_ones(dtype: Any, missing: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short ones are sorted, long ones are asked by a query."""
    values: list[Any] = np.random.default_rng(3).integers(0, 3, 500).tolist()
    if dtype != pl.Int8 or missing is None:
        values[::7] = [missing] * len(values[::7])
    short = encoded(values, ("ordinal", [0, 1, 2]), dtype).codes["S"]
    monkeypatch.setattr("consilience.data.table.SHORT_NUMBERS", 0)
    np.testing.assert_array_equal(short, encoded(values, ("ordinal", [0, 1, 2]), dtype).codes["S"])
    np.testing.assert_array_equal(short, [-1 if value not in (0, 1, 2) else value for value in values])


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["0", "2", "1"])])
def test_long_texts_are_encoded_like_short_ones(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    values: list[Any] = [str(value) for value in np.random.default_rng(3).integers(0, 3, 500)]
    values[::7] = [None] * len(values[::7])
    short = encoded(values, ("ordinal", [0, 1, 2]), dtype).codes["S"]
    monkeypatch.setattr("consilience.data.table.SHORT_TEXTS", 0)
    np.testing.assert_array_equal(short, encoded(values, ("ordinal", [0, 1, 2]), dtype).codes["S"])
    np.testing.assert_array_equal(short, [-1 if value is None else int(value) for value in values])


def test_booleans_are_zero_and_one() -> None:
    assert encoded([True, None, False], "binary").codes["S"].tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("values", "numbers"),
    [([1, None, 3], [1, NAN, 3]), ([1.5, NAN, None], [1.5, NAN, NAN]), ([True, False], [1, 0]), (["1.5", None, "2"], [1.5, NAN, 2])],
)
def test_numbers_with_nan_for_missing(values: Any, numbers: list[float]) -> None:
    found = encoded(values, "continuous").numbers["S"]
    np.testing.assert_array_equal(found, numbers)
    assert found.dtype == np.float64


@pytest.mark.parametrize(
    ("values", "spec", "error", "message"),
    [
        ([1, 7], ("ordinal", [1, 2]), UnknownLevelError, r"'muenster' has 'S' = '7'.*\['1', '2'\].*add the level"),
        (["x"], "continuous", KindError, r"'S' is continuous, but 'muenster' holds 'x'.*Convert"),
        ([1.0, np.inf, -np.inf], "continuous", InfiniteValueError, r"'S' of 'muenster' is infinite in 2 rows.*missing"),
    ],
)
def test_values_that_do_not_fit(values: Any, spec: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        encoded(values, spec)


SCHEMA = Schema({"A": "continuous", "B": "continuous", "C": "binary", "D": ("ordinal", [1, 2, 3]), "Z": "continuous"})
FRAME = pl.DataFrame(
    {
        "A": [1.0, NAN, 3.0, 4.0, 5.0],
        "B": [None, 2.0, 3.0, 4.0, 5.0],
        "C": [0, 1, 1, 0, 1],
        "D": [1, 2, 3, None, 1],
        "unknown": ["not", "in", "the", "schema", "!"],
    }
)
TABLE = Table(FRAME, SCHEMA, "muenster")


@pytest.mark.parametrize(
    ("variables", "rows"),
    [
        ("C", [0, 1, 2, 3, 4]),
        ("A", [0, 2, 3, 4]),
        ("AB", [2, 3, 4]),
        ("BD", [1, 2, 4]),
        ("ABCD", [2, 4]),
        ("DCBA", [2, 4]),
        ("", [0, 1, 2, 3, 4]),
    ],
)
def test_complete_rows(variables: str, rows: list[int]) -> None:
    found = TABLE.complete(variables)
    index = np.arange(5) if found.index is None else found.index
    assert index.tolist() == rows
    assert found.n == len(rows)


def test_sets_with_the_same_incomplete_variables_share_their_rows() -> None:
    assert TABLE.complete("AB") is TABLE.complete("BCA")
    assert TABLE.complete("C").index is None


def test_no_row_may_be_complete() -> None:
    table = Table(pl.DataFrame({"A": [1.0, None], "B": [None, 1.0]}), SCHEMA, "muenster")
    assert table.complete("AB").n == 0
    assert table.complete("A").n == table.complete("B").n == 1


def test_a_table_holds_the_variables_of_schema_and_frame() -> None:
    assert TABLE.names == frozenset("ABCD")
    assert TABLE.holds("AC")
    assert not TABLE.holds("AZ")
    assert not TABLE.holds(["unknown"])
