"""Marginal likelihoods: their definition by other integration, derivatives by finite differences, and the point without effects."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal

from consilience.glm.gaussian import Moments
from consilience.glm.kernel import Floats, Kernel
from consilience.glm.logit import Logit
from consilience.glm.multinomial import Multinomial
from consilience.glm.proportional import Proportional
from consilience.glm.random_effects import marginal
from tests.glm.helpers import differences, rows_of


def moments(X: Floats, y: Floats) -> Moments:
    W = np.column_stack([X, y])
    inner = W - W.mean(axis=0)
    return Moments.of(len(y), inner.T @ inner, W.sum(axis=0), list(range(X.shape[1])), X.shape[1])


def make(case: str, levels: list[int], *, weights: bool = False) -> Kernel | Moments:
    X, y, w = rows_of(levels, 2, weights=weights, n=12)
    X = X + 0.3  # columns are not centred at the site
    if case == "gaussian":
        return moments(X, y + X[:, 0] ** 2)
    if case == "logit":
        return Logit(X, y, w)
    if case == "proportional":
        return Proportional(X, y, w, 4, own_intercept=False)
    return Multinomial(X, y, w, 3, np.arange(3), 0)


POINTS = {
    "gaussian": [0.3, -0.2, 1.2, 0.4],
    "logit": [0.3, -0.2, 0.4],
    "proportional": [0.3, -0.2, 0.5, 1.4, 0.1],
    "multinomial": [0.3, -0.2, 0.5, 0.4, 0.1, 0.7],
}
CASES = [
    ("gaussian", [0, 1, 2]),
    ("logit", [0, 1]),
    ("logit", [1]),
    ("proportional", [0, 1, 2, 3]),
    ("proportional", [1]),
    ("multinomial", [0, 1, 2]),
    ("multinomial", [0, 2]),
]
cases = pytest.mark.parametrize(("case", "levels"), CASES)
spreads = pytest.mark.parametrize("s", [0.0, 0.05, 0.7, -0.7, 2.0])


@cases
@spreads
@pytest.mark.parametrize("weights", [False, True], ids=["", "weighted"])
def test_the_score_is_the_gradient(case: str, levels: list[int], s: float, weights: bool) -> None:
    kernel, point = make(case, levels, weights=weights), np.array([*POINTS[case], s])
    got = marginal(kernel, point)
    wanted = differences(lambda at: marginal(kernel, at).objective, point).ravel()
    np.testing.assert_allclose(got.score, wanted, rtol=1e-6, atol=1e-6)


@cases
@spreads
def test_the_information_is_minus_the_second_derivative(case: str, levels: list[int], s: float) -> None:
    kernel, point = make(case, levels), np.array([*POINTS[case], s])
    got = marginal(kernel, point).info
    wanted = -differences(lambda at: marginal(kernel, at).score, point)
    if case == "multinomial":  # Laplace: exact for s, and near for the others
        np.testing.assert_allclose(got[-1], wanted[-1], rtol=1e-5, atol=1e-5)
        assert np.abs(got - wanted).max() < 0.1 * np.abs(wanted).max()
    else:
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(got, got.T, rtol=1e-9, atol=1e-9)


def test_the_gaussian_marginal_is_a_normal_density() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(7, 2)), 5.0 + rng.normal(size=7)
    gamma, omega, a, s = np.array([0.4, -0.1]), 1.3, 6.0, 0.8
    mean, covariance = (X @ gamma + a) / omega, (np.eye(7) + s**2) / omega**2
    got = marginal(moments(X, y), np.array([*gamma, omega, a, s])).objective
    assert got == pytest.approx(multivariate_normal.logpdf(y, mean, covariance), abs=1e-11)


def _integral(conditional: Callable[[float], float]) -> float:
    top = max(conditional(z) for z in np.linspace(-6, 6, 121))
    value, _ = quad(lambda z: np.exp(conditional(z) - top - z * z / 2) / np.sqrt(2 * np.pi), -12, 12, epsabs=0, epsrel=1e-12, limit=500)
    return float(np.log(value) + top)


@pytest.mark.parametrize(("case", "levels"), [c for c in CASES if c[0] in ("logit", "proportional")])
@pytest.mark.parametrize("s", [0.05, 0.7, 2.0])
def test_quadrature_is_integration(case: str, levels: list[int], s: float) -> None:
    kernel, point = make(case, levels, weights=True), np.array(POINTS[case])
    assert isinstance(kernel, Kernel)
    shared, a = point[:-1], float(point[-1])
    wanted = _integral(lambda z: kernel.rows(kernel.linear(shared), shared, np.array([a + s * z])).loglik)
    assert marginal(kernel, np.append(point, s)).objective == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize("weights", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize(("case", "levels"), [("logit", [0, 1]), ("proportional", [0, 1, 2, 3])])
def test_linear_predictors_may_be_far_out(case: str, levels: list[int], weights: bool) -> None:
    """Rows at which e^v is no float, beside others: the integral is what the rows one by one say."""
    X, y, w = rows_of(levels, 1, weights=weights, n=12)
    X = np.concatenate([X, np.where(np.arange(12) < 3, 900.0, 0.0)[:, None]], axis=1)
    kernel = Logit(X, y, w) if case == "logit" else Proportional(X, y, w, 4, own_intercept=False)
    point, s = np.array([*POINTS[case][:1], 1.0, *POINTS[case][2:]]), 0.7
    shared, a = point[:-1], float(point[-1])
    wanted = _integral(lambda z: kernel.rows(kernel.linear(shared), shared, np.array([a + s * z])).loglik)
    assert marginal(kernel, np.append(point, s)).objective == pytest.approx(wanted, rel=1e-9)


@pytest.mark.slow
def test_laplace_is_near_integration_and_nearer_with_more_rows() -> None:
    """Over the two logits on a grid; every row three times brings the posterior nearer to a normal law."""
    kernel, point, s = make("multinomial", [0, 1, 2]), np.array(POINTS["multinomial"]), 0.7
    assert isinstance(kernel, Multinomial)
    root, grid = np.linalg.cholesky(np.eye(2) + 1.0), np.linspace(-6, 6, 41)
    missed = []
    for times in (1.0, 8.0):
        X, y, _ = rows_of([0, 1, 2], 2, weights=False, n=12)
        many = Multinomial(X + 0.3, y, np.full(12, times), 3, np.arange(3), 0)
        eta = many.linear(point[:4])
        values = np.array([[many.rows(eta, point[:4], point[4:] + s * root @ [u, v]).loglik for u in grid] for v in grid])
        heights = values - (grid[:, None] ** 2 + grid[None, :] ** 2) / 2
        wanted = heights.max() + np.log(np.exp(heights - heights.max()).sum() * (grid[1] - grid[0]) ** 2 / (2 * np.pi))
        missed.append(abs(marginal(many, np.append(point, s)).objective - wanted))
    assert missed[0] < 0.02
    assert missed[1] < 0.5 * missed[0]


@cases
def test_without_spread_it_is_the_likelihood_of_a_common_intercept(case: str, levels: list[int]) -> None:
    kernel, point = make(case, levels), np.array(POINTS[case])
    got = marginal(kernel, np.append(point, 0.0))
    assert got.score[-1] == pytest.approx(0.0, abs=1e-12)
    if isinstance(kernel, Moments):
        return
    shared, intercepts = point[: kernel.n_shared], point[kernel.n_shared :]
    terms = kernel.rows(kernel.linear(shared), shared, intercepts)
    assert got.objective == pytest.approx(terms.loglik, abs=1e-11)
    np.testing.assert_allclose(got.score[:-1], kernel.full(terms).score, atol=1e-9)


def test_a_precision_below_zero_is_out_of_range() -> None:
    kernel = make("gaussian", [0, 1, 2])
    assert marginal(kernel, np.array([0.0, 0.0, -1.0, 0.0, 0.5])).infeasible


def test_the_order_of_levels_does_not_matter() -> None:
    """The last level first: the same model, whose logits are differences of the old ones."""
    X, y, _ = rows_of([0, 1, 2], 1, weights=False, n=15)
    turned = ((y + 1) % 3).astype(np.int32)
    slopes, intercepts = np.array([0.0, 0.4, -0.2]), np.array([0.0, 0.3, 0.6])
    order = [2, 0, 1]
    moved, shifted = slopes[order] - slopes[2], intercepts[order] - intercepts[2]
    one = marginal(Multinomial(X, y, None, 3, np.arange(3), 0), np.array([*slopes[1:], *intercepts[1:], 0.8]))
    two = marginal(Multinomial(X, turned, None, 3, np.arange(3), 0), np.array([*moved[1:], *shifted[1:], 0.8]))
    assert one.objective == pytest.approx(two.objective, abs=1e-11)
    assert one.score[-1] == pytest.approx(two.score[-1], abs=1e-9)
