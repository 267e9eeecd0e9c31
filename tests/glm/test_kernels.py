"""Response models of one site: against their definition, against finite differences, and against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import expit, log_softmax

from consilience.glm.generalized import Generalized
from consilience.glm.kernel import Floats, Kernel
from consilience.glm.layout import Family
from consilience.glm.logit import Logit, sigmoid
from consilience.glm.multinomial import Multinomial
from consilience.glm.poisson import Poisson
from consilience.glm.proportional import Proportional
from tests.glm.helpers import CASES, cases, columns, differences, make, objective, point_of, rows_of, terms_at, weighted


@cases
@columns
@weighted
def test_the_score_is_the_gradient(case: str, p: int, weights: bool) -> None:
    kernel = make(case, p, weights=weights)
    point = point_of(kernel)
    score = kernel.full(terms_at(kernel, point)).score
    assert_allclose(score, differences(lambda b: objective(kernel, b), point)[:, 0], rtol=1e-6, atol=1e-6)


@cases
@columns
@weighted
def test_the_information_is_minus_the_hessian(case: str, p: int, weights: bool) -> None:
    kernel = make(case, p, weights=weights)
    point = point_of(kernel)
    info = kernel.full(terms_at(kernel, point)).info
    assert_allclose(info, -differences(lambda b: kernel.full(terms_at(kernel, b)).score, point), rtol=1e-6, atol=1e-6)


@cases
@weighted
def test_the_information_is_symmetric_and_nowhere_negative(case: str, weights: bool) -> None:
    for seed in range(5):
        kernel = make(case, weights=weights)
        info = kernel.full(terms_at(kernel, point_of(kernel, seed))).info
        values = np.linalg.eigvalsh(info)
        assert_allclose(info, info.T, rtol=1e-12, atol=1e-12)
        assert values[0] >= -1e-10 * values[-1]


@cases
@columns
@weighted
def test_intercept_terms_are_the_last_block(case: str, p: int, weights: bool) -> None:
    kernel = make(case, p, weights=weights)
    terms = terms_at(kernel, point_of(kernel))
    score, info = kernel.intercept_terms(terms)
    full, own = kernel.full(terms), slice(kernel.n_shared, None)
    assert_allclose(score, full.score[own], rtol=1e-10, atol=1e-10)
    assert_allclose(info, full.info[own, own], rtol=1e-10, atol=1e-10)


@cases
@columns
def test_weights_are_repeated_rows(case: str, p: int) -> None:
    levels, factory = CASES[case]
    X, y, w = rows_of(levels, p, weights=True)
    assert w is not None
    compressed, repeated = factory(X, y, w), factory(X.repeat(w.astype(int), axis=0), y.repeat(w.astype(int)), None)
    point = point_of(compressed)
    assert_allclose(compressed.start(point[: compressed.n_shared]), repeated.start(point[: repeated.n_shared]), rtol=1e-12)
    one, other = terms_at(compressed, point), terms_at(repeated, point)
    assert_allclose([one.loglik, one.barrier, one.slack], [other.loglik, other.barrier, other.slack], rtol=1e-12, atol=1e-12)
    assert_allclose(compressed.full(one).score, repeated.full(other).score, rtol=1e-10, atol=1e-10)
    assert_allclose(compressed.full(one).info, repeated.full(other).info, rtol=1e-10, atol=1e-10)


# the likelihoods, by their definition


def cumulative(u: Floats, y: Any) -> Floats:
    """log P(Y = y) from the thresholds of every row."""
    n = len(y)
    below = np.column_stack([np.zeros(n), expit(u), np.ones(n)])
    return np.log(below[np.arange(n), y + 1] - below[np.arange(n), y])


def by_definition(family: Family, X: Floats, y: Any, slopes: Floats, intercepts: Floats) -> float:
    """Σ log P(Y = y | x) with slopes of shape (equations, p), and one intercept or threshold per equation."""
    eta = X @ slopes.T
    if family is Family.POISSON:
        return float(stats.poisson.logpmf(y, np.exp(eta + intercepts)[:, 0]).sum())
    if family is Family.LOGIT:
        return float(np.sum(np.log(expit(np.where(y == 1, 1.0, -1.0) * (eta + intercepts)[:, 0]))))
    if family is Family.MULTINOMIAL:
        logits = log_softmax(np.column_stack([np.zeros(len(y)), eta + intercepts]), axis=1)
        return float(logits[np.arange(len(y)), y].sum())
    return float(cumulative(intercepts - eta, y).sum())


@pytest.mark.parametrize("p", [0, 2])
@pytest.mark.parametrize("family", [f for f in Family if f is not Family.GAUSSIAN])
def test_log_likelihoods_are_those_of_the_definition(family: Family, p: int) -> None:
    J = 2 if family in (Family.LOGIT, Family.POISSON) else 4
    X, y, _ = rows_of([0, 1, 9] if family is Family.POISSON else list(range(J)), p, weights=False)
    rng = np.random.default_rng(5)
    slopes, theta = 0.1 * rng.normal(size=(J - 1, p)), np.linspace(-1.0, 1.3, J - 1)
    if family is Family.PROPORTIONAL:
        slopes = np.repeat(slopes[:1], J - 1, axis=0)
        kernel: Kernel = Proportional(X, y, None, J, own_intercept=False)
        point = np.concatenate([slopes[0], theta[1:] - theta[0], [theta.mean()]])
    else:
        made = {
            Family.LOGIT: lambda: Logit(X, y, None),
            Family.POISSON: lambda: Poisson(X, y.astype(float), None),
            Family.MULTINOMIAL: lambda: Multinomial(X, y, None, J, np.arange(J), 0),
            Family.GENERALIZED: lambda: Generalized(X, y, None, J, 0.0),
        }
        kernel = made[family]()
        point = np.concatenate([slopes.ravel(), theta])
    assert_allclose(objective(kernel, point), by_definition(family, X, y, slopes, theta), rtol=1e-12)


@weighted
@columns
def test_two_levels_are_a_logit_whatever_the_model(p: int, weights: bool) -> None:
    """P(Y = 1) = σ(α + xβ): cumulative models say the same of P(Y ≤ 0) with the threshold -α."""
    X, y, w = rows_of([0, 1], p, weights=weights)
    beta, alpha = np.linspace(-0.5, 0.7, p), 0.3
    logit = Logit(X, y, w)
    expected = terms_at(logit, np.array([*beta, alpha]))
    others = [
        (Multinomial(X, y, w, 2, np.arange(2), 0), 1.0),
        (Proportional(X, y, w, 2), -1.0),
        (Generalized(X, y, w, 2, 0.0), -1.0),
    ]
    for kernel, sign in others:
        terms = terms_at(kernel, np.array([*beta, sign * alpha]))
        flip = np.array([*[1.0] * p, sign])
        assert_allclose(terms.loglik, expected.loglik, rtol=1e-12)
        assert_allclose(kernel.full(terms).score, flip * logit.full(expected).score, rtol=1e-10, atol=1e-12)
        assert_allclose(kernel.full(terms).info, np.outer(flip, flip) * logit.full(expected).info, rtol=1e-10, atol=1e-12)


def test_equal_slopes_make_the_generalized_model_proportional() -> None:
    X, y, _ = rows_of([0, 1, 2, 3], 2, weights=False)
    beta, theta = np.array([0.4, -0.3]), np.array([-1.0, 0.2, 1.1])
    narrow = Proportional(X, y, None, 4, own_intercept=False)
    wide = Generalized(X, y, None, 4, 0.0)
    one = objective(narrow, np.concatenate([beta, theta[1:] - theta[0], [theta.mean()]]))
    assert_allclose(objective(wide, np.concatenate([np.tile(beta, 3), theta])), one, rtol=1e-12)


def test_absent_levels_are_the_limit_of_intercepts_at_infinity() -> None:
    """What a site without a level contributes is what the full model tends to as that level's probability goes to zero."""
    X, y, _ = rows_of([1, 3], 2, weights=False)
    slopes = 0.3 * np.random.default_rng(1).normal(size=6)
    subset = Multinomial(X, y, None, 4, np.array([1, 3]), 1)
    full = Multinomial(X, y, None, 4, np.arange(4), 0)
    limit = terms_at(full, np.concatenate([slopes, [40.0, -40.0, 40.3]]))
    exact = terms_at(subset, np.concatenate([slopes, [0.3]]))
    assert_allclose(exact.loglik, limit.loglik, rtol=1e-12)
    assert_allclose(subset.full(exact).score[:6], full.full(limit).score[:6], atol=1e-10)
    X, y, _ = rows_of([1, 2], 2, weights=False)
    narrow, wide = Generalized(X, y, None, 4, 0.0, 1, 2), Generalized(X, y, None, 4, 0.0)
    limit, exact = terms_at(wide, np.concatenate([slopes, [-40.0, 0.3, 40.0]])), terms_at(narrow, np.concatenate([slopes, [0.3]]))
    assert_allclose(exact.loglik, limit.loglik, rtol=1e-12)
    assert_allclose(narrow.full(exact).score[:6], wide.full(limit).score[:6], atol=1e-10)


@pytest.mark.parametrize("case", ["proportional", "generalized"])
def test_thresholds_out_of_order_are_not_feasible(case: str) -> None:
    kernel = make(case)
    shared = np.zeros(kernel.n_shared)
    if case == "proportional":
        shared[-2:] = [1.0, 0.5]
    intercepts = np.array([1.0, 0.5, 2.0])[: kernel.n_intercepts]
    assert not kernel.rows(kernel.linear(shared), shared, intercepts).feasible


# far out


@pytest.mark.parametrize("z", [-800.0, -40.0, 0.0, 40.0, 800.0])
def test_sigmoid_in_the_tails(z: float) -> None:
    mu, softplus = sigmoid(np.array([z]))
    assert_allclose(mu, expit(z), rtol=1e-14)
    assert_allclose(softplus, np.logaddexp(0.0, z), rtol=1e-14)


@pytest.mark.parametrize("case", [case for case in CASES if case != "poisson"])
@pytest.mark.parametrize("size", [800.0, -800.0])
def test_extreme_linear_predictors_give_finite_numbers(case: str, size: float) -> None:
    """Slopes at which every linear predictor is ±800: finite, and no warning on the way. (A count is out of reach there: test_poisson.)"""
    levels, factory = CASES[case]
    X = np.where(np.arange(40) % 2, 1.0, -1.0)[:, None]
    kernel = factory(X, np.array([*levels, *np.resize(levels, 40 - len(levels))], dtype=np.int32), None)
    shared = np.full(kernel.n_shared, size)
    if isinstance(kernel, Proportional):
        shared[1:] = np.arange(1.0, kernel.n_shared)
    evaluation = kernel.full(terms := terms_at(kernel, np.concatenate([shared, kernel.start(shared)])))
    assert np.isfinite(terms.loglik)
    assert terms.loglik <= 0.0
    assert np.isfinite(evaluation.score).all()
    assert np.isfinite(evaluation.info).all()


@pytest.mark.parametrize("case", ["proportional", "generalized with barrier"])
@pytest.mark.parametrize("gap", [1600.0, 1e-6])
def test_thresholds_very_far_apart_and_very_close(case: str, gap: float) -> None:
    kernel = make(case, p=0)
    if isinstance(kernel, Proportional):
        point = np.array([gap, 2.0 * gap, 0.0])
    else:
        point = np.array([-gap, 0.0, gap])
    evaluation = kernel.full(terms := terms_at(kernel, point))
    assert np.isfinite(terms.loglik)
    assert np.isfinite(evaluation.score).all()
    assert np.isfinite(evaluation.info).all()
