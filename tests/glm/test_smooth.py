"""Smooth means from sums: equal to penalised least squares on the rows, with every site's own columns in the matrix."""

from __future__ import annotations

import numpy as np
import pytest

from consilience.citest.combine import cauchy, sign_flip_sf
from consilience.data.basis import Widths
from consilience.glm.smooth import UNDERSMOOTH, axes, smooth
from consilience.glm.swept import sweep


def test_sweeping_is_regression_on_own_columns() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(50, 5)) + 1e6
    swept = sweep(lambda: [rows[:20], rows[20:]], 5, 2)
    own = np.column_stack([np.ones(50), rows[:, :2] - rows[:, :2].mean(axis=0)])
    left = rows - own @ np.linalg.lstsq(own, rows, rcond=None)[0]
    np.testing.assert_allclose(swept.gram[2:, 2:], left[:, 2:].T @ left[:, 2:], rtol=1e-9)
    hat = own @ np.linalg.pinv(own)
    np.testing.assert_allclose(swept.leverage(rows[:, :2] - swept.means[:2]), np.diag(hat), rtol=1e-9)


def test_own_columns_that_say_the_same_count_once() -> None:
    rng = np.random.default_rng(2)
    one = rng.normal(size=(30, 1))
    swept = sweep(lambda: [np.concatenate([one, 2.0 * one, rng.normal(size=(30, 1))], axis=1)], 3, 2)
    assert swept.rank == 2
    assert sweep(list, 3, 2).n == 0


def test_a_fit_from_sums_is_the_penalised_fit_of_the_rows() -> None:
    rng = np.random.default_rng(3)
    n, wide = 200, Widths(1, 1, 1, 4, 3)
    columns = rng.normal(size=(n, 8))
    columns -= columns.mean(axis=0)
    root = rng.normal(size=(4, 4))
    rough = root @ root.T + np.eye(4)
    y = columns[:, [2]] + rng.normal(size=(n, 1))
    y -= y.mean()
    found = smooth(axes(columns.T @ columns, rough, wide, n), columns.T @ y, y.T @ y, n, 1.0)
    fitted = columns @ found.axes.turn @ found.coefficients
    penalty = np.linalg.pinv(found.axes.turn @ np.diag(1.0 / (found.axes.size + found.weight * found.axes.penalised)) @ found.axes.turn.T)
    np.testing.assert_allclose(fitted, columns @ np.linalg.solve(penalty, columns.T @ y), rtol=1e-7)
    np.testing.assert_allclose(found.left, (y - fitted).T @ (y - fitted), rtol=1e-9)
    hat = columns @ np.linalg.solve(penalty, columns.T)
    assert found.edf == pytest.approx(1.0 + np.trace(hat))
    extra = penalty - columns.T @ columns  # the penalty itself: roughness of the curves, sizes of the pairs, nothing on the line
    assert np.abs(extra[0]).max() < 1e-8 * n
    assert np.linalg.matrix_rank(extra[1:5, 1:5] / rough, tol=1e-6) == 1
    assert np.abs(extra[5:, 5:] - np.diag(np.diag(extra[5:, 5:]))).max() < 1e-8 * n


def test_the_weight_has_the_least_cross_validated_error() -> None:
    rng = np.random.default_rng(4)
    n, wide = 300, Widths(0, 0, 0, 6, 0)
    columns = rng.normal(size=(n, 6))
    y = rng.normal(size=(n, 1))
    (turned,) = axes(columns.T @ columns, np.eye(6), wide, n)

    def error(weight: float) -> float:
        shrink = turned.size / (turned.size + weight)
        left = y - columns @ turned.turn @ ((shrink / turned.size)[:, None] * (turned.turn.T @ columns.T @ y))
        return float((left**2).sum()) / (1.0 - shrink.sum() / n) ** 2

    found = smooth((turned,), columns.T @ y, y.T @ y, n, 0.0)
    best = found.weight / UNDERSMOOTH
    assert error(best) <= min(error(best * 10**0.5), error(best / 10**0.5))


def test_which_level_has_no_column_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    n, wide = 300, Widths(0, 0, 0, 6, 0)
    columns = rng.normal(size=(n, 6))
    levels = np.eye(3)[rng.integers(0, 3, n)]
    turned = axes(columns.T @ columns, np.eye(6), wide, n)
    weights = []
    for left_out in range(3):
        y = np.delete(levels, left_out, axis=1) - np.delete(levels, left_out, axis=1).mean(axis=0)
        weights.append(smooth(turned, columns.T @ y, y.T @ y, n, 1.0, levels=True).weight)
    assert len(set(weights)) == 1


def test_the_law_of_sign_flips_has_the_moments_it_says() -> None:
    """All 2^10 signs of ten products: mean and mean square of T are those of the beta law."""
    rng = np.random.default_rng(6)
    r = rng.normal(size=(10, 2)) * rng.uniform(0.5, 3.0, size=(10, 1))
    inverse = np.linalg.inv(r.T @ r)
    signs = np.array([[1 if code >> i & 1 else -1 for i in range(10)] for code in range(1024)])
    sums = signs @ r
    t = np.einsum("ni,ij,nj->n", sums, inverse, sums)
    b = float((np.einsum("ni,ij,nj->n", r, inverse, r) ** 2).sum())
    units = 2 * 4 / b - 2.0
    assert t.mean() == pytest.approx(2.0)
    assert (t**2).mean() == pytest.approx(2 * 4 - 2 * b)
    assert (t**2).mean() == pytest.approx(units**2 * (2 / 2) * (2 / 2 + 1) / ((units / 2) * (units / 2 + 1)))
    assert sign_flip_sf(units, 2, units) == 0.0


def test_cauchys_combination_keeps_small_p_values() -> None:
    assert cauchy([1e-200, 0.5], [1.0, 1.0]) == pytest.approx(2e-200)
    assert cauchy([1.0, 0.5], [1.0, 1.0]) <= 1.0
    assert cauchy([0.2, 0.2, 0.2], [1.0, 1.0, 0.5]) == pytest.approx(0.2)
