"""Columns of a site are about clumps of enough rows, whatever knots are asked for; and a curve that is smooth stays what it is."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from consilience.data.altered import altered_columns
from consilience.data.basis import Expansion, widths
from consilience.data.clumps import clump_bounds, effective_rows
from consilience.data.coarse import coarse_curves, coarse_features, parts_few
from consilience.data.coarsening import alterations
from consilience.data.schema import Schema
from consilience.data.spline import LADDER, Knots, curves_on
from consilience.data.table import Table
from consilience.protocol.grid import fold_cells

LEAST = 5
SCHEMA = Schema({"A": "continuous", "B": "continuous", "C": ("multinomial", "pqr"), "D": "binary"})


def drawn(rng: np.random.Generator, n: int, kind: int) -> np.ndarray:
    """Normal, uniform, rounded, skewed, heavy tails."""
    return [rng.normal(size=n), rng.uniform(size=n), rng.normal(size=n).round(1), rng.exponential(size=n), rng.standard_t(2, size=n)][kind]


def chosen(rng: np.random.Generator, values: np.ndarray, around: bool) -> Knots:
    """Knots around one row, or quantiles of many."""
    if around:
        at, width = rng.choice(values), rng.choice([1e-4, 1e-2, 0.1, 1.0])
        return Knots(tuple(np.linspace(at - width, at + width, LADDER + 1).tolist()))
    return Knots(tuple(np.quantile(rng.normal(size=2000), np.linspace(0.0, 1.0, LADDER + 1)).tolist()))


def rank(matrix: np.ndarray) -> int:
    size = np.sqrt((matrix**2).sum(axis=0))
    return int(np.linalg.matrix_rank(matrix / np.where(size > 0, size, 1.0), tol=1e-8)) if matrix.size else 0


@pytest.mark.parametrize("seed", range(40))
def test_curves_of_one_number_are_no_more_than_its_clumps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, pieces = int(rng.integers(10, 120)), int(rng.integers(1, 30))
    values = drawn(rng, n, seed % 5)
    table = Table(pl.DataFrame({"A": values}), SCHEMA, "muenster")
    knots, expansion, rows = {"A": chosen(rng, values, seed % 2 == 0)}, Expansion(("A",), pieces, -1), table.complete(["A"])
    made = altered_columns(table, expansion, None, knots, {}, alterations(table, expansion, rows, knots, {}, LEAST))
    assert made.shape[1] == widths(SCHEMA, expansion, knots).all
    assert rank(np.column_stack([np.ones(n), made])) <= max(2, len(clump_bounds(values, LEAST)) + 1) <= max(2, n // LEAST)
    # no combination is about a row between the outermost clumps: of its sum of squares most is elsewhere
    basis, size, _ = np.linalg.svd(np.column_stack([np.ones(n), made / np.maximum(np.abs(made).max(axis=0), 1e-300)]), full_matrices=False)
    share = (basis[:, size > 1e-9 * size[0]] ** 2).sum(axis=1)
    inner = np.argsort(values)[LEAST:-LEAST]
    if seed % 5 < 2 and len(inner):
        assert share[inner].max() < 0.75


@pytest.mark.parametrize("seed", range(30))
def test_products_are_about_rows_enough(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 200))
    frame = {
        "A": drawn(rng, n, seed % 5),
        "B": rng.normal(size=n),
        "C": rng.choice([*"pqr"], n, p=[0.5, 0.4, 0.1]),
        "D": rng.integers(2, size=n),
    }
    table = Table(pl.DataFrame(frame), SCHEMA, "muenster")
    knots = {name: chosen(rng, frame[name], seed % 3 == 0) for name in "AB"}
    for given in (("A", "B"), ("A", "C"), ("C", "D"), ("A", "B", "C", "D")):
        expansion, rows = Expansion(given, 12, 2), table.complete(given)
        wide = widths(SCHEMA, expansion, knots)
        made = altered_columns(table, expansion, None, knots, {}, alterations(table, expansion, rows, knots, {}, LEAST))
        pairs = made[:, wide.all - wide.pairs :]
        about = effective_rows(pairs, np.median(pairs, axis=0))
        assert ((about == 0.0) | (about >= LEAST - 1e-9)).all()
        assert rank(np.column_stack([np.ones(n), made])) <= max(n // 2, 1 + wide.free)


def test_a_smooth_curve_is_its_own_fit() -> None:
    """Forty rows: sin 2z on twelve pieces comes out as it is, but for a few hundredths; powers up to three exactly."""
    rng = np.random.default_rng(1)
    z = np.sort(rng.uniform(-1.5, 1.5, 40))
    knots = tuple(np.linspace(-1.6, 1.6, 13).tolist())
    found = coarse_curves(z, knots, LEAST, 8)
    assert found is not None
    own = np.column_stack([np.ones(40), z])
    for curve, error in ((np.sin(2 * z), 0.02), (z**2, 1e-8)):
        fine = np.column_stack([own, curves_on(knots, z)])
        best = np.linalg.lstsq(fine, curve, rcond=None)[0]
        altered = np.column_stack([own, found.columns(z)]) @ best
        rest = altered - fine @ best
        rest -= own @ np.linalg.lstsq(own, rest, rcond=None)[0]
        assert np.sqrt((rest**2).mean()) < error


def test_enough_rows_between_all_knots_change_nothing_but_the_outermost() -> None:
    z = np.random.default_rng(2).uniform(-1.0, 1.0, 600)
    knots = tuple(np.linspace(-1.0, 1.0, 9).tolist())
    found = coarse_curves(z, knots, LEAST, 120)
    assert found is not None
    changed = (np.abs(found.columns(z) - curves_on(knots, z)) > 1e-12).any(axis=1)
    assert set(np.flatnonzero(changed)) <= set(np.argsort(z)[[*range(LEAST), *range(-LEAST, 0)]])


def test_a_gap_in_the_data_is_no_reason_to_tell_of_few() -> None:
    z = np.concatenate([np.linspace(0.0, 1.0, 60), [9.0, 9.1]])
    assert parts_few(z, (0.0, 0.5, 1.0, 5.0, 10.0), LEAST)
    assert not parts_few(z[:60], (0.0, 0.5, 1.0), LEAST)


def test_values_that_are_equal_are_one_clump() -> None:
    """Thirty rows of 0, eight of 1 and two of 2: a square would be an indicator of the last two."""
    values = np.repeat([0.0, 1.0, 2.0], [30, 8, 2])
    assert clump_bounds(values, LEAST).tolist() == [0.5]
    found = coarse_curves(values, (-0.5, 0.5, 1.5, 2.5), LEAST, 8)
    assert found is not None
    assert rank(np.column_stack([np.ones(40), values, found.columns(values)])) == 2
    features = coarse_features(values, (0.2, 1.2, 1.9), LEAST)
    assert features is not None
    assert rank(np.column_stack([np.ones(40), values, features.columns(values)])) == 2


@pytest.mark.parametrize("seed", range(20))
def test_folded_counts_are_none_or_many_and_all_rows_are_there(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.choice([0.5, 3.0, 20.0], size=int(rng.integers(1, 30))))
    folded = fold_cells(counts, LEAST)
    assert folded.sum() == counts.sum()
    assert counts.sum() < LEAST or not ((folded > 0) & (folded < LEAST)).any()
    assert (fold_cells(counts, 1) == counts).all()
