"""Draws: a law, a secret, an order of their own; and what rules on disclosure do to them."""

from __future__ import annotations

from math import exp, factorial

import numpy as np
import polars as pl
import pytest
from scipy import stats

from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.disclosure.fold import Limits
from consilience.disclosure.resampling import LEAST, Draws

SCHEMA = Schema({"A": "continuous", "E": ("multinomial", "pqr")})


def table_of(rows: int, seed: int = 1, rare: int = 0, order: np.ndarray | None = None) -> Table:
    rng = np.random.default_rng(seed)
    half = (rows - rare) // 2
    frame = pl.DataFrame({"A": rng.normal(size=rows), "E": ["r"] * rare + ["p"] * half + ["q"] * (rows - rare - half)})
    return Table(frame if order is None else frame[order], SCHEMA, "muenster")


def test_weights_are_poisson() -> None:
    draws = Draws(table_of(500), b"secret")
    times = np.concatenate([draws.times(k) for k in range(1, 101)])
    found = np.bincount(times, minlength=8)[:8]
    expected = len(times) * np.array([exp(-1) / factorial(k) for k in range(8)])
    assert stats.chi2(7).sf(((found - expected) ** 2 / expected).sum()) > 1e-4


def test_copies_are_independent_and_secrets_differ() -> None:
    table = table_of(400)
    one, other = Draws(table, b"secret"), Draws(table, b"another")
    assert abs(np.corrcoef(one.times(1), one.times(2))[0, 1]) < 0.2
    assert abs(np.corrcoef(one.times(1), other.times(1))[0, 1]) < 0.2
    assert (one.times(3) == Draws(table, b"secret").times(3)).all()


def test_the_order_of_rows_does_not_matter() -> None:
    order = np.random.default_rng(3).permutation(60)
    one, other = Draws(table_of(60), b"s"), Draws(table_of(60, order=order), b"s")
    assert (one.times(2)[order] == other.times(2)).all()


def test_clusters_are_drawn_whole() -> None:
    frame = pl.DataFrame({"A": np.random.default_rng(1).normal(size=90), "ward": [i // 3 for i in range(90)]})
    table = Table(frame, Schema({"A": "continuous"}), "muenster", "ward")
    times = Draws(table, b"s").times(1)
    assert (times.reshape(-1, 3) == times.reshape(-1, 3)[:, :1]).all()
    copy = table.repeated(times)
    assert copy.cluster is not None
    assert len(np.unique(copy.cluster)) == times[::3].sum()
    assert (np.bincount(copy.cluster) == 3).all()


@pytest.mark.parametrize("rare", [0, 6, LEAST - 1, LEAST])
def test_rows_of_rare_levels_are_not_drawn(rare: int) -> None:
    table = table_of(200, rare=rare)
    draws = Draws(table, b"s", Limits(10, 5))
    held = table.codes["E"] == 2
    if rare < LEAST:
        assert all((draws.times(k)[held] == 1).all() for k in range(1, 20))
    else:
        assert any((draws.times(k)[held] != 1).any() for k in range(1, 3))


def test_a_site_with_few_rows_of_everything_answers_with_its_rows_as_they_are() -> None:
    draws = Draws(table_of(50), b"s", Limits(10, 5))
    assert not draws.drawn.any()
    assert (draws.times(7) == 1).all()


def test_every_copy_keeps_the_limits() -> None:
    table = table_of(90)
    limits = Limits(40, 36)  # of 45 rows in each level: about one draw in ten is good
    draws = Draws(table, b"s", limits)
    for k in range(1, 23):
        times = draws.times(k)
        assert times.sum() >= limits.rows
        assert min(times[table.codes["E"] == level].sum() for level in (0, 1)) >= limits.cell


def test_there_are_half_as_many_different_copies_as_rows_of_the_rarest_level() -> None:
    """And they come again in another order, so that sites do not repeat the same combinations."""
    draws = Draws(table_of(130), b"s", Limits(10, 5))
    assert draws.distinct == 32
    found = [draws.times(k).tobytes() for k in range(1, 97)]
    assert len(set(found)) == 32
    for turn in range(3):
        assert len(set(found[32 * turn : 32 * turn + 32])) == 32
    assert found[:32] != found[32:64] != found[64:]


def test_a_number_that_hardly_varies_varies_in_every_copy() -> None:
    frame = pl.DataFrame({"A": [1.0] + [0.0] * 59, "E": ["p"] * 60})
    table = Table(frame, SCHEMA, "muenster")
    draws = Draws(table, b"s", Limits(10, 5))
    assert all(draws.times(k)[0] > 0 for k in range(1, 25))
