"""What the owner of a table is told of its columns: of made columns what must be said, of real tables nothing that is not so."""

from __future__ import annotations

import datetime as dt
import time
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

from consilience.data import Kind
from consilience.data.errors import UnknownVariableError
from consilience.data.infer import declare
from consilience.data.profile import ColumnProfile, histogram, profile_column, profile_table
from tests.data.real_tables import RealStudy, studies

RNG = np.random.default_rng(11)


def codes(found: ColumnProfile) -> list[str]:
    return [finding.code for finding in (*found.signs, *found.refused)]


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("smoker", ["yes", "no"] * 20, []),
        ("centre", ["A"] * 40, ["constant"]),
        ("centre", [7.0] * 40, ["constant"]),
        ("patient", [f"P{i:04}" for i in range(40)], ["identifier"]),
        ("row", list(range(1, 41)), ["identifier"]),
        ("patientId", [7 * i for i in range(40)], ["identifier"]),
        ("case_no", [7 * i for i in range(40)], ["identifier"]),
        ("idle", [7 * i for i in range(40)], []),
        ("creatinine", [7 * i for i in range(40)], []),
        ("visit", [f"2021-03-{1 + i % 28:02}" for i in range(40)], ["date"]),
        ("visit", [f"{1 + i % 28}.3.2021 14:05" for i in range(40)], ["date"]),
        ("visit", [f"{1 + i % 12}:05" for i in range(40)], ["date"]),
        ("visit", [20210301 + i % 28 for i in range(40)], ["date"]),
        ("year_of_birth", [1950 + i for i in range(40)], ["years"]),
        ("year_of_birth", [1950 + i % 30 for i in range(40)], ["years"]),
        ("dose", [1950 + i % 30 for i in range(40)], []),
        ("crp", [f"{i}.5" for i in range(38)] + ["<5", "low"], ["mostly-numbers"]),
        ("crp", [f"{i},5" for i in range(40)], ["decimal-comma"]),
        ("sex", ["f"] * 20 + ["F "] * 10 + ["m"] * 20, ["spelling"]),
        ("treatment", ["beta-blocker"] * 20 + ["Beta blocker"] * 10 + ["none"] * 20, ["spelling"]),
        ("change", ["-1"] * 20 + ["1"] * 20 + ["a"] * 29 + ["b"] * 29, []),
        ("stage", ["I"] * 20 + ["II"] * 20 + ["IV"] * 2, ["rare"]),
        ("code", [f"c{i % 25}" for i in range(250)], ["many"]),
        ("score", [1.5, 2.0, 3.0] * 10, ["few"]),
        ("age", [40.0 + i / 2 for i in range(38)] + [999.0] * 2, ["missing-code"]),
        ("age", [40.0 + i / 2 for i in range(38)] + [-9.0] * 3, ["missing-code"]),
        ("dose", [900.0 + i for i in range(99)] + [999.0] * 2, []),
        ("late", [1.5, 2.25, 0.5, 2.0, 1.0, 3.0, 7.5] + [None] * 33, ["mostly-missing"]),
    ],
)
def test_what_looks_odd_is_said(name: str, values: list[Any], expected: list[str]) -> None:
    assert codes(profile_column(pl.Series(name, values))) == expected


def test_odd_values_are_named() -> None:
    found = profile_column(pl.Series("crp", [f"{i}.5" for i in range(38)] + ["<5", "low"]))
    assert "'<5' (1 row), 'low' (1 row)" in found.trouble
    found = profile_column(pl.Series("stage", ["I"] * 20 + ["II"] * 20 + ["IV"] * 2), min_cell=3)
    assert "1 level in fewer than 3 rows: 'IV'" in found.signs[0].words
    assert [level.rare for level in found.levels] == [False, False, True]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([None] * 5, "no values at all"),
        ([dt.date(2021, 3, 1), dt.date(2021, 3, 2)], "no variable as it is"),
        ([1.5, float("inf")], "infinite"),
        ([[1], [2]], "no kind of variable"),
        ([b"a", b"b"], "no kind of variable"),
    ],
)
def test_what_cannot_be_used_is_described_and_stops_nothing_else(values: list[Any], words: str) -> None:
    found = profile_table(pl.DataFrame({"bad": values, "good": [0.5 * i for i in range(len(values))]}))
    assert words in found["bad"].trouble
    assert found["bad"].kind is None
    assert found.usable == ("good",)


def test_a_kind_that_does_not_fit_is_kept_with_its_trouble() -> None:
    found = profile_column(pl.Series("crp", ["5.5", "low"]), "continuous")
    assert (found.kind, found.declared, found.usable) == (Kind.CONTINUOUS, True, False)
    assert "'low'" in found.trouble
    found = profile_column(pl.Series("stage", ["I", "II", "iii"]), "ordinal", ["I", "II", "III"])
    assert "'iii'" in found.trouble
    assert [(level.label, level.count) for level in found.levels] == [("I", 1), ("II", 1), ("III", 0), ("iii", 1)]


def test_declared_kinds_and_levels_win_and_unknown_columns_are_refused() -> None:
    frame = pl.DataFrame({"grade": [1, 2, 2, 3], "sex": ["m", "f", "m", "m"]})
    found = profile_table(frame, {"grade": "continuous"}, {"sex": ["m", "f"]})
    assert (found["grade"].kind, found["grade"].reason) == (Kind.CONTINUOUS, "declared")
    assert (found["sex"].kind, [level.label for level in found["sex"].levels]) == (Kind.BINARY, ["m", "f"])
    with pytest.raises(UnknownVariableError, match="'age'"):
        profile_table(frame, {"age": "continuous"})


def test_a_column_may_be_called_anything() -> None:
    for name in ("count", "value", "literal", "", "<b>", "a" * 5000):
        found = profile_table(pl.DataFrame({name: ["x", "y", "y", None]}))[name]
        assert [(level.label, level.count) for level in found.levels] == [("x", 1), ("y", 2)]


def test_all_rows_of_many_levels_are_counted_if_the_owner_wants_them_as_levels() -> None:
    found = profile_column(pl.Series("code", [i // 2 for i in range(4000)]), "multinomial")
    assert (len(found.levels), found.unlisted) == (200, 1800)
    assert {level.count for level in found.levels} == {2}


def test_histograms_have_round_edges_and_lose_no_value() -> None:
    for values, whole in (
        (RNG.normal(120, 15, 999), False),
        (RNG.integers(18, 90, 500).astype(float), True),
        (RNG.exponential(1e-7, 300), False),
        (np.array([1e16, 1e16 + 4]), False),
        (np.array([-1e308, 1e308]), False),
        (np.array([5.0]), False),
        (np.arange(-3.0, 4.0), True),
    ):
        bins = histogram(values, whole=whole)
        assert sum(one.count for one in bins) == len(values)
        assert len(bins) <= 24
        assert bins[0].low <= values.min()
        assert bins[-1].high >= values.max()
        assert all(a.high == b.low for a, b in pairwise(bins))
    assert histogram(np.array([])) == ()
    assert histogram(np.array([1.0, 30.0]), whole=True)[0].high == 2.0


@pytest.mark.parametrize("study", [study for study in studies() if study.n in (10, 14, 15)], ids=str)
def test_real_tables_are_profiled_as_they_are_declared(study: RealStudy) -> None:
    for name, frame in study.frames().items():
        found = profile_table(frame)
        declared = declare(frame, name)
        for column in found.columns:
            assert column.kind is declared[column.name].variable.kind
            assert column.reason == declared[column.name].reason
            assert not column.trouble
            drawn = sum(one.count for one in (*column.levels, *column.bins))
            assert drawn == column.rows - column.missing
            if column.kind is Kind.CONTINUOUS:
                assert column.low == pytest.approx(float(frame[column.name].min()))  # type: ignore[arg-type]
                assert column.high == pytest.approx(float(frame[column.name].max()))  # type: ignore[arg-type]
        # measurements of patients: none of them is an identifier, and the years of one table are its only dates
        assert {column.name for column in found.columns if "identifier" in codes(column)} == set()
        assert {column.name for column in found.columns if "date" in codes(column)} <= {"year"}


@pytest.mark.slow
def test_a_large_table_takes_well_under_a_second() -> None:
    n = 100_000
    frame = pl.DataFrame(
        {f"number{i}": RNG.normal(size=n) for i in range(8)}
        | {f"count{i}": RNG.integers(0, 90, n) for i in range(4)}
        | {f"group{i}": RNG.choice(["low", "middle", "high"], n) for i in range(4)}
        | {f"flag{i}": RNG.integers(0, 2, n) for i in range(2)}
        | {"id": [f"P{i}" for i in range(n)], "visit": ["2021-03-01"] * (n - 1) + ["2021-03-02"]}
    )
    begin = time.perf_counter()
    found = profile_table(frame)
    seconds = time.perf_counter() - begin
    assert found["id"].unlisted == n - 200
    assert seconds < 3.0  # 0.4 s on an idle core; wide, since tests run beside each other
