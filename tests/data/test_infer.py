"""From a column's type to a variable's kind: the rules, what overrides them, and that nothing happens silently."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from consilience import Client, Kind
from consilience.data.errors import (
    InfiniteValueError,
    KindError,
    LevelConflictError,
    RareLevelError,
    UnknownLevelError,
    UnknownVariableError,
)
from consilience.data.infer import declare, labels_of
from consilience.data.schema import Declaration
from consilience.errors import DataError, OptionError

NAN, INF = float("nan"), float("inf")


def declared(values: Any, dtype: Any = None, *, kind: Any = None, levels: Any = None) -> Declaration:
    """What a site says of a column S with ``values``."""
    frame = pl.DataFrame({"S": pl.Series(values, dtype=dtype)})
    return declare(frame, "muenster", kind and {"S": kind}, None if levels is None else {"S": levels})["S"]


@pytest.mark.parametrize(
    ("values", "dtype", "kind", "levels"),
    [
        ([1.5, 2.5], pl.Float64, "continuous", ()),
        ([1.0, 2.0], pl.Float32, "ordinal", ("1", "2")),
        ([0.0, 1.0, NAN], pl.Float64, "binary", ("0", "1")),
        (["1.5", "2.5"], pl.Decimal(10, 2), "continuous", ()),
        ([True, False], pl.Boolean, "binary", ("0", "1")),
        ([True, True, None], pl.Boolean, "binary", ("0", "1")),
        ([0, 1, None], pl.Int64, "binary", ("0", "1")),
        ([1, 1], pl.UInt8, "binary", ("0", "1")),
        ([1, 2], pl.Int64, "ordinal", ("1", "2")),
        ([0, 2], pl.Int64, "ordinal", ("0", "2")),
        ([10, 9, -1], pl.Int8, "ordinal", ("-1", "9", "10")),
        (list(range(10)), pl.Int64, "ordinal", tuple("0123456789")),
        (list(range(11)), pl.Int64, "continuous", ()),
        (["b", "a", None], pl.String, "multinomial", ("a", "b")),
        (["10", "9"], pl.String, "multinomial", ("9", "10")),
        (["b", "a"], pl.Categorical, "multinomial", ("a", "b")),
        (["b", "a"], pl.Enum(["b", "c", "a"]), "multinomial", ("b", "c", "a")),
    ],
)
def test_kind_and_levels_from_the_type(values: list[Any], dtype: Any, kind: str, levels: tuple[str, ...]) -> None:
    found = declared(values, dtype).variable
    assert (found.kind, found.levels) == (Kind(kind), levels)


@pytest.mark.parametrize(
    ("kind", "levels", "expected"),
    [
        ("continuous", None, ("continuous", ())),
        ("multinomial", None, ("multinomial", ("1", "2", "3"))),
        (Kind.ORDINAL, None, ("ordinal", ("1", "2", "3"))),
        ("multinomial", [3, 2, 1], ("multinomial", ("3", "2", "1"))),
        (None, [1, 2, 3, 4], ("ordinal", ("1", "2", "3", "4"))),
        (None, [3, 2, 1], ("ordinal", ("3", "2", "1"))),
    ],
)
def test_what_the_owner_declares_wins(kind: Any, levels: Any, expected: tuple[str, tuple[str, ...]]) -> None:
    found = declared([1, 2, 3], kind=kind, levels=levels)
    assert (found.variable.kind.value, found.variable.levels) == expected
    assert (found.declared_kind, found.declared_levels) == (kind is not None, levels is not None)


@pytest.mark.parametrize(
    ("levels", "kind"), [(["lo", "mid", "hi"], "multinomial"), (["lo", "hi"], "binary"), (("hi", "lo", "mid", "top"), "multinomial")]
)
def test_levels_alone_make_text_discrete_in_their_order(levels: Any, kind: str) -> None:
    found = declared(["lo", "hi", "lo"], levels=levels).variable
    assert (found.kind.value, found.levels) == (kind, tuple(levels))


def test_floats_that_are_whole_have_the_labels_of_integers() -> None:
    assert declared([1.0, 2.0, NAN], kind="ordinal").variable.levels == ("1", "2")
    assert labels_of(pl.Series([True])) == labels_of(pl.Series([1.0])) == labels_of(pl.Series([1])) == {"1"}


def test_a_binary_column_of_text_has_its_own_labels() -> None:
    assert declared(["f", "m"], kind="binary").variable.levels == ("f", "m")


@pytest.mark.parametrize("values", [["I", "II", "IIIb"], ["low", "high"]])
def test_ordinal_text_without_an_order_says_the_way_out(values: list[str]) -> None:
    with pytest.raises(KindError, match=r"'S' of 'muenster' .* order of .* levels=\{'S': \["):
        declared(values, kind="ordinal")
    assert declared(values, kind="ordinal", levels=values).variable.levels == tuple(values)


DAY, MOMENT = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize("value", [[1], {"a": 1}, b"x"], ids=lambda v: type(v).__name__)
def test_types_that_are_no_kind(value: Any) -> None:
    with pytest.raises(KindError, match=r"'S' of 'muenster' holds values that are no numbers, text or booleans, .*drop"):
        declared([value, value])


@pytest.mark.parametrize("value", [DAY, MOMENT, dt.timedelta(1), dt.time(1)], ids=lambda v: type(v).__name__)
def test_dates_and_times_are_no_variables_and_left_out(value: Any) -> None:
    client = Client("muenster", pl.DataFrame({"S": [value, value], "A": [0.5, 1.5]}))
    assert list(client.declarations) == ["A"]
    assert [finding.code for finding in client.findings] == ["date"]


@pytest.mark.parametrize("kind", ["binary", "ordinal", "multinomial"])
@pytest.mark.parametrize("value", [DAY, MOMENT, [1]], ids=lambda v: type(v).__name__)
def test_a_declaration_does_not_turn_them_into_levels(value: Any, kind: str) -> None:
    with pytest.raises(KindError, match="'S' of 'muenster'"):
        declared([value, value], kind=kind)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([None, None], pl.Float64), ([NAN, None], pl.Float64), ([None], pl.String), ([None], pl.Boolean), ([None], pl.Null)],
)
@pytest.mark.parametrize("kind", [None, "continuous", "binary"])
def test_a_column_without_values(values: list[Any], dtype: Any, kind: Any) -> None:
    frame = pl.DataFrame({"S": pl.Series(values, dtype=dtype), "A": [0.5] * len(values)})
    client = Client("muenster", frame, kinds=kind and {"S": kind})
    assert list(client.declarations) == ["A"]
    assert "'S' of 'muenster' has no values at all: the site counts as not measuring it" in client.findings[0].words


@pytest.mark.parametrize("values", [[1.0, INF], [-INF, None], [INF, NAN]])
def test_infinite_numbers(values: list[Any]) -> None:
    with pytest.raises(InfiniteValueError, match=r"'S' of 'muenster' is infinite in 1 row.*missing"):
        declared(values)


@pytest.mark.parametrize(
    ("kind", "levels", "error", "message"),
    [
        ("number", None, OptionError, r"'S' .*continuous, binary, ordinal, multinomial, count.*'number'"),
        ("continuous", [1, 2, 3], KindError, r"'S' of 'muenster' .*\['1', '2', '3'\]; give one or the other"),
        ("binary", None, LevelConflictError, r"'S' of 'muenster' is binary .*\['1', '2', '3'\].*kinds=\{'S'"),
        (None, [1, 2], UnknownLevelError, r"'S' of 'muenster' = '3'.*\['1', '2'\].*levels=\{'S'"),
        ("ordinal", ["1", "2", "3", "3"], LevelConflictError, "'S' must differ"),
    ],
)
def test_declarations_that_the_column_contradicts(kind: Any, levels: Any, error: type[DataError], message: str) -> None:
    with pytest.raises(error, match=message):
        declared([1, 2, 3], kind=kind, levels=levels)


@pytest.mark.parametrize("values", [["abc", "1.5"], ["1.5", "abc", "2"]])
def test_text_declared_continuous_names_the_value_that_is_no_number(values: list[str]) -> None:
    with pytest.raises(KindError, match=r"'S' of 'muenster' .*'abc'.*missing="):
        declared(values, kind="continuous")


def test_text_that_holds_numbers_may_be_declared_continuous() -> None:
    assert declared(["1.5", None, "2"], kind="continuous").variable.kind is Kind.CONTINUOUS


@pytest.mark.parametrize("option", ["kinds", "levels"])
def test_declaring_a_column_that_is_not_there(option: str) -> None:
    value: Any = {"kinds": "ordinal", "levels": [1, 2]}[option]
    with pytest.raises(UnknownVariableError, match=r"'muenster' has no column 'T'.*It has: S"):
        Client("muenster", pl.DataFrame({"S": [1, 2]}), **{option: {"T": value}})


def test_ordered_pandas_categories_are_ordinal_in_their_order() -> None:
    column = pd.Categorical(["lo", "hi", None], categories=["lo", "mid", "hi"], ordered=True)
    frame = Client("muenster", pd.DataFrame({"S": column, "T": pd.Categorical(["b", "a", "b"])})).variables.drop("rare", "verdict")
    assert frame.rows() == [
        ("S", "ordinal", "ordered categories", ["lo", "mid", "hi"], 1),
        ("T", "multinomial", "text", ["a", "b"], 0),
    ]


def test_what_was_inferred_is_shown_with_its_reason(tmp_path: Path) -> None:
    """Name, kind, why, levels and missing values, in the order of the file."""
    path = tmp_path / "site.csv"
    header, rows = "age,sex,dead,stage,visits,smoker,grade", ["61.5,f,true,1,{},0,1", "?,m,false,3,{},1,2"]
    path.write_text("\n".join([header, *(rows[i % 2].format(i) for i in range(12))]))
    client = Client("muenster", path, kinds={"grade": "multinomial"}, levels={"stage": [1, 2, 3]})
    assert client.variables.drop("rare", "verdict").rows() == [
        ("age", "continuous", "decimal numbers", [], 6),
        ("sex", "multinomial", "text", ["f", "m"], 0),
        ("dead", "binary", "boolean", ["0", "1"], 0),
        ("stage", "ordinal", "levels declared", ["1", "2", "3"], 0),
        ("visits", "continuous", "integers, 12 distinct", [], 0),
        ("smoker", "binary", "integers 0 and 1", ["0", "1"], 0),
        ("grade", "multinomial", "declared", ["1", "2"], 0),
    ]
    assert repr(client).startswith(
        "Client('muenster', 12 rows; age: continuous, sex: multinomial f, m, dead: binary 0, 1, stage: ordinal 1 < 2"
    )


def test_nan_counts_as_missing() -> None:
    client = Client("muenster", pl.DataFrame({"A": [1.5, NAN, None, 2.0], "B": [NAN, 1.0, 2.0, None]}), kinds={"B": "ordinal"})
    assert client.variables["missing"].to_list() == [2, 2]
    assert client.variables["levels"].to_list() == [[], ["1", "2"]]


def test_rare_levels_are_shown_or_refused() -> None:
    frame = pl.DataFrame({"S": ["a"] * 9 + ["b"] * 2, "T": [1.0] * 11})
    assert Client("muenster", frame).variables["rare"].to_list() == [["b"], []]
    assert Client("muenster", frame, min_cell=2, rare_levels="refuse").variables["rare"].to_list() == [[], []]
    with pytest.raises(RareLevelError, match=r"'S' = 'b' occurs in 2 rows of 'muenster'.*Merge it"):
        Client("muenster", frame, rare_levels="refuse")
