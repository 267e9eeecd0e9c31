"""What columns are taken for: every kind of column that was once read wrongly in silence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from consilience.data.facts import facts_of
from consilience.data.finding import Asker
from consilience.data.judging import Standing, Verdict, judge

RNG = np.random.default_rng(5)


def verdict(values: Any, name: str = "S", **options: Any) -> Verdict:
    return judge(facts_of(pl.DataFrame({name: values}))[name], **options)


@pytest.mark.parametrize(
    ("name", "values", "standing", "code"),
    [
        ("chol", [*range(150, 240), "k.A.", "n/a"], "refused", "mostly-numbers"),
        ("chol", [f"{i} mg/dl" for i in range(150, 240)], "refused", "units"),
        ("crp", [f"{i},5" for i in range(90)], "refused", "decimal-comma"),
        ("code", [f"c{i % 300}" for i in range(600)], "refused", "too-many-levels"),
        ("code", [f"c{i % 30}" for i in range(90)], "refused", "too-many-levels"),
        ("who", [f"P{i}" for i in range(90)], "excluded", "identifier"),
        ("pat_nr", [i * 7 for i in range(90)], "excluded", "identifier"),
        ("n", list(range(1, 91)), "excluded", "identifier"),
        ("", [4, 5, 6], "excluded", "identifier"),
        ("visit", [f"{1 + i % 28}.03.2021" for i in range(90)], "excluded", "date"),
        ("visit", [20210301 + i % 28 for i in range(90)], "excluded", "date"),
        ("onset", [f"19{49 + i % 5}-{1 + i % 12:02}" for i in range(90)], "excluded", "date"),
        ("chol", [0] * 5 + list(range(150, 240)), "doubtful", "missing-code"),
        ("age", [-9, -9, *range(20, 90)], "doubtful", "missing-code"),
        ("age", [99.0] * 9 + [20.5 + i / 2 for i in range(90)], "doubtful", "missing-code"),
        ("sex", [1, 2] * 40 + [9] * 3, "doubtful", "missing-code"),
        ("smoker", ["yes", "no", "Yes "] * 10, "doubtful", "spelling"),
    ],
)
def test_what_was_read_wrongly_is_refused_left_out_or_doubted(name: str, values: list[Any], standing: str, code: str) -> None:
    if any(isinstance(value, str) for value in values):
        values = [str(value) for value in values]
    found = verdict(values, name)
    assert (found.standing.value, found.findings[0].code) == (standing, code)
    assert found.findings[0].remedies
    assert "{" not in found.findings[0].words
    assert "kinds=" not in found.findings[0].said(Asker.COMMAND)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0.0, 1.0, None] * 9, "binary"),
        ([1.0, 2.0, 3.0] * 9, "ordinal"),
        ([20.0 + i for i in range(0, 90, 2)], "continuous"),
        ([0] * 40 + [5 * i for i in range(20)], "continuous"),
        (RNG.normal(size=200).tolist(), "continuous"),
        ([0, 1, 2, 3] * 9, "ordinal"),
        ([0.0] * 9 + [5.4 + 0.7 * i for i in range(50)] + [30.5, 31.5] * 30, "continuous"),  # a percentage that goes on to 0
        ([round(math.log(1 + i % 13), 6) for i in range(200)], "continuous"),  # logarithms, of 1, too
        ([0.0] * 30 + (50.0 * RNG.gamma(3, 1, 3000)).tolist(), "continuous"),
        (["20-29", "30-39", "40-49"] * 9, "multinomial"),
        (["<5", ">5"] * 9, "multinomial"),
    ],
)
def test_ordinary_columns_are_sure(values: list[Any], kind: str) -> None:
    found = verdict(values)
    assert (found.standing, str(found.kind)) == (Standing.SURE, kind)


@pytest.mark.parametrize("rows", [90, 3000])
def test_a_range_that_is_proposed_is_that_of_the_other_values(rows: int) -> None:
    """Where all values are counted, and where they are too many."""
    values = [150.5 + 90 * i / (rows - 1) for i in range(rows)]
    (zeros,) = verdict([0.0] * (rows // 10) + values).findings
    assert (zeros.code, zeros.remedies[0].value) == ("missing-code", "150.5, 240.5")
    (far,) = verdict([2_050_000.0, *values]).findings
    assert (far.code, far.remedies[0].value) == ("outlier", "150.5, 240.5")


def test_what_is_declared_or_asked_for_wins_over_a_guess_but_not_over_what_cannot_be() -> None:
    rows = list(range(1, 91))
    assert verdict(rows, kind="continuous").standing is Standing.SURE
    assert verdict(rows, wanted=True).standing is Standing.SURE
    assert str(verdict([f"c{i % 300}" for i in range(600)], kind="multinomial").kind) == "multinomial"
    assert verdict(["1", "2", "x"], kind="continuous").standing is Standing.REFUSED
    assert verdict([1.5, 2.5], kind="count").standing is Standing.REFUSED


def test_a_table_that_is_not_in_memory_has_the_same_facts(tmp_path: Any) -> None:
    frame = pl.DataFrame({"x": RNG.normal(size=3000), "g": RNG.choice(["a", "b"], 3000), "n": RNG.integers(0, 2000, 3000)})
    frame.write_parquet(tmp_path / "t.parquet")
    lazy, whole = facts_of(pl.scan_parquet(tmp_path / "t.parquet")), facts_of(frame)
    for name in frame.columns:
        a, b = lazy[name], whole[name]
        assert (a.distinct, a.top, a.low, a.high, a.median, a.lower) == (b.distinct, b.top, b.low, b.high, b.median, b.lower)
        if a.median is not None:
            assert a.median == pytest.approx(frame[name].median())
            assert a.upper == pytest.approx(frame[name].quantile(0.75, "linear"))
