"""Features of diagnostics that are about few rows are zero, whether rows are told one by one or as distinct ones and how often."""

from __future__ import annotations

import numpy as np

from consilience.data.features import widen

LEAST = 5.0
PLAN = [(0, 0), (0, 0, 0), (0, 1), (0, 2), (1, 2)]
SCALES = [0, None, None]
"""A count and two levels."""


def silent(rows: np.ndarray, weights: np.ndarray | None) -> list[bool]:
    """Which features are zero."""
    n = np.ones(len(rows)) if weights is None else weights
    centred = rows - (n @ rows) / n.sum()
    return (widen(centred, PLAN, SCALES, weights, LEAST)[:, rows.shape[1] :] == 0.0).all(axis=0).tolist()


def test_distinct_rows_with_weights_are_judged_as_the_rows() -> None:
    seen = set[tuple[bool, ...]]()
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.choice([30, 60, 120]))
        rows = np.column_stack([rng.poisson(rng.choice([0.1, 0.5, 2.0]), n), rng.random((n, 2)) < rng.choice([0.15, 0.4])]).astype(float)
        distinct, counts = np.unique(rows, axis=0, return_counts=True)
        told = silent(rows, None)
        assert silent(distinct, counts.astype(float)) == told, seed
        seen.add(tuple(told))
    assert len(seen) > 5, "different features are silent in different tables"


def test_a_number_within_a_level_that_meets_another_level_in_few_rows_is_silent() -> None:
    count = np.tile([0.0, 1.0, 2.0, 3.0], 15)
    level, other = np.arange(60) % 2 == 0, np.arange(60) >= 58
    enough = np.arange(60) >= 30
    assert silent(np.column_stack([count, level, other]), None)[2]
    assert not silent(np.column_stack([count, level, enough]), None)[2]
