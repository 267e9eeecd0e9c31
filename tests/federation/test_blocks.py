"""Sums that are made block by block: the same results as over all rows at once, and the same to the last bit in any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from consilience.federation import Client, Server

N = 400
OPTIONS: list[dict[str, Any]] = [
    {},
    {"site_effects": "none"},
    {"site_effects": "joint"},
    {"site_effects": "coordinate"},
    {"ordinal": "generalized"},
    {"min_cell": 5, "min_rows": 10},
]


def clients(*, gaps: bool, threads: int = 1) -> list[Client]:
    made = []
    for k in range(2):
        rng = np.random.default_rng([3, k])
        z = rng.normal(size=N)
        a = z + rng.normal(size=N) + 5 * k
        b = 0.3 * a + rng.normal(size=N)
        frame = pl.DataFrame(
            {
                "a": a,
                "b": 1e6 + b,
                "d": (rng.logistic(size=N) < 0.2 * a - 0.5).astype(int),
                "e": np.array(list("pqs"))[np.clip(np.round(z + rng.normal(size=N)), 0, 2).astype(int)],
                "g": np.clip(np.round(0.2 * b + rng.normal(size=N) + 1), 0, 3).astype(int),
                "h": rng.poisson(np.exp(0.3 + 0.1 * b - 0.1 * k)),
            }
        )
        if gaps:
            hidden = [pl.when(pl.Series(rng.random(N) < 0.1)).then(None).otherwise(pl.col(c)).alias(c) for c in ("a", "d", "g")]
            frame = frame.with_columns(hidden)
        made.append(Client(f"site {k}", frame, kinds={"h": "count", "g": "ordinal"}, threads=threads))
    return made


def results(monkeypatch: pytest.MonkeyPatch, sites: list[Client], *, blocks: bool, **options: Any) -> pl.DataFrame:
    monkeypatch.setattr("consilience.data.table.MANY_ROWS", 1 if blocks else N + 1)
    monkeypatch.setattr("consilience.data.table.BLOCK_ROWS", 37)
    monkeypatch.setattr("consilience.data.table.PART_BLOCKS", 2)
    return Server(sites, **options).test_all(max_given=1)


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_blocks_give_the_results_of_whole_tables(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], gaps: bool) -> None:
    sites = clients(gaps=gaps)
    whole, found = (results(monkeypatch, sites, blocks=blocks, **options) for blocks in (False, True))
    for column, dtype in whole.schema.items():
        if dtype == pl.Float64:
            np.testing.assert_allclose(found[column].to_numpy(), whole[column].to_numpy(), rtol=1e-9, atol=1e-9, err_msg=column)
        elif dtype in (pl.Int64, pl.Boolean):
            assert found[column].to_list() == whole[column].to_list(), column


@pytest.mark.slow
def test_no_digit_depends_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, five = (results(monkeypatch, clients(gaps=True, threads=n), blocks=True) for n in (1, 2, 5))
    assert one.equals(two, null_equal=True)
    assert one.equals(five, null_equal=True)
