"""A table a block of rows at a time."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from consilience.data.averages import Averages
from consilience.data.blocks import over_blocks
from consilience.data.design import Coding, ModelSpec, cross_products, residual_sums
from consilience.data.schema import Schema
from consilience.data.summing import cross_products_of, residual_sums_of
from consilience.data.table import Table

N = 500
SETS = [("A",), ("A", "E"), ("A", "B", "E"), ("B", "E", "H"), ("E", "F"), ("A", "H")]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consilience.data.table.MANY_ROWS", N)
    monkeypatch.setattr("consilience.data.table.BLOCK_ROWS", 32)
    monkeypatch.setattr("consilience.data.table.PART_BLOCKS", 2)


def table_of(*, gaps: bool) -> Table:
    rng = np.random.default_rng(8)
    frame = pl.DataFrame(
        {
            "A": rng.normal(size=N) + 1e9,  # a mean 10⁹ standard deviations away from zero
            "B": np.full(N, 0.1),
            "E": rng.choice(list("pqr"), N),
            "F": rng.integers(0, 2, N),
            "H": rng.poisson(3.0, N),
        }
    )
    if gaps:
        frame = frame.with_columns(pl.when(pl.Series(rng.random(N) < 0.2)).then(None).otherwise(pl.col(c)).alias(c) for c in ("A", "E"))
    kinds = Schema({"A": "continuous", "B": "continuous", "E": ("multinomial", "pqr"), "F": "binary", "H": "count"})
    return Table(frame, kinds, "muenster")


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("coding", [Coding({"A": 3}), Coding({}, {"A": 1e9, "H": 3.0})], ids=["own centre", "common"])
def test_cross_products_over_blocks_are_those_over_all_rows(coding: Coding, gaps: bool) -> None:
    table = table_of(gaps=gaps)
    assert table.many
    for variables, found in zip(SETS, cross_products_of(Averages(table), SETS, coding), strict=True):
        whole = cross_products(table, variables, coding)
        assert found.n == whole.n
        for name in ("levels", "nulls", "counted", "gram"):
            np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-11, atol=1e-6, err_msg=name)
        if not coding.centre_at_site:
            np.testing.assert_allclose(found.sums, whole.sums, rtol=1e-11, atol=1e-6)
    constant = cross_products_of(Averages(table), [("A", "B")], Coding({}))[0].gram
    assert (constant[1] == 0.0).all()  # exactly: a rank hangs on it


def test_counts_of_nothing_say_nothing() -> None:
    table = Table(pl.DataFrame({"A": np.arange(N, dtype=float), "H": [0] * N}), Schema({"A": "continuous", "H": "count"}), "muenster")
    for coding in (Coding({}), Coding({}, {})):
        found = cross_products_of(Averages(table), [("A", "H")], coding)[0].counted
        np.testing.assert_allclose(found, cross_products(table, ("A", "H"), coding).counted)


@pytest.mark.parametrize("gaps", [False, True])
def test_residual_sums_over_blocks_are_those_over_all_rows(gaps: bool) -> None:
    table, slopes = table_of(gaps=gaps), np.array([0.2, -0.3])
    model = ModelSpec("A", ("E", "F"), ("A", "E", "F"))
    for coding in (Coding({}), Coding({}, {"A": 1e9})):
        found = residual_sums_of(Averages(table), [(model, (0, 2), slopes)], coding)[0]
        np.testing.assert_allclose(found, residual_sums(table, model, (0, 2), slopes, coding), rtol=1e-9, atol=1e-5)


def test_an_error_in_a_thread_is_the_callers() -> None:
    table = Table(pl.DataFrame({"A": np.arange(float(N))}), Schema({"A": "continuous"}), "muenster")
    table.threads = 3

    def work(block: Table) -> float:
        if 200.0 in block.numbers["A"]:
            raise ValueError("the seventh block")
        return float(block.numbers["A"].sum())

    with pytest.raises(ValueError, match="seventh"):
        list(over_blocks(table, ["A"], work))
    assert sum(over_blocks(table, ["A"], lambda block: float(block.numbers["A"].sum()))) == N * (N - 1) / 2
