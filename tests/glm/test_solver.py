"""The server's side of a fit, on functions whose maximum is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from consilience.data.design import Design
from consilience.glm.kernel import Floats
from consilience.glm.layout import Family, Shape, SiteEffects, Total
from consilience.glm.site_effects import answer, make_kernel
from consilience.glm.solver import FitProblem, Newton

Function = Callable[[Floats], Total]


def solve(problem: FitProblem, function: Callable[..., Total]) -> Newton:
    """Run a fit to its end. The function may also take the barrier's weight."""
    newton = Newton(problem)
    while newton.fit is None:
        newton.tell(function(newton.beta, newton.mu) if problem.barrier else function(newton.beta))
    return newton


def free(start: Any, **options: Any) -> FitProblem:
    """A problem of slopes only, in columns of unit spread."""
    start = np.asarray(start, dtype=float)
    return FitProblem(start, np.ones_like(start), len(start), **options)


def total(objective: float, score: Any, info: Any) -> Total:
    return Total(False, float(objective), 0.0, 0.0, np.atleast_1d(score).astype(float), np.atleast_2d(info).astype(float))


def quadratic(centre: Floats, curvature: Floats, top: float = -7.0) -> Function:
    """ℓ(β) = top - ½ (β - c)ᵀ H (β - c)."""

    def function(beta: Floats) -> Total:
        away = centre - beta
        return total(top - 0.5 * away @ curvature @ away, curvature @ away, curvature)

    return function


def logit(X: Floats, y: Floats) -> Function:
    """A logit without intercept, straight from its definition."""

    def function(beta: Floats) -> Total:
        z = X @ beta
        mu = expit(z)
        return total(y @ z - np.logaddexp(0.0, z).sum(), X.T @ (y - mu), (X * (mu * (1.0 - mu))[:, None]).T @ X)

    return function


@pytest.mark.parametrize("units", [np.ones(2), np.array([1e-150, 1e150]), np.array([1e8, 1e-3])], ids=str)
def test_a_quadratic_needs_one_step(units: Floats) -> None:
    """Whatever the units of the columns: one question to step from, one to see that the step ended at the maximum."""
    centre, curvature = np.array([3.0, -2.0]) / units, np.array([[2.0, 0.9], [0.9, 1.0]]) * np.outer(units, units)
    newton = solve(FitProblem(np.zeros(2), units, 2), quadratic(centre, curvature))
    assert newton.fit is not None
    assert (newton.fit.converged, newton.fit.separated, newton.fit.rounds) == (True, False, 2)
    assert_allclose(newton.fit.loglik, -7.0, rtol=1e-12)
    assert_allclose(newton.beta, centre, rtol=1e-10)


def test_a_start_at_the_maximum_needs_no_step() -> None:
    newton = solve(free([3.0, -2.0]), quadratic(np.array([3.0, -2.0]), np.eye(2)))
    assert newton.fit is not None
    assert (newton.fit.loglik, newton.fit.rounds, newton.fit.converged) == (-7.0, 1, True)


def test_a_model_without_parameters_needs_one_question() -> None:
    newton = solve(free([]), lambda _: Total(False, -5.0, 0.0, 0.0, np.zeros(0), np.zeros((0, 0))))
    assert newton.fit is not None
    assert (newton.fit.loglik, newton.fit.rounds, newton.fit.converged, newton.fit.separated) == (-5.0, 1, True, False)


@pytest.mark.parametrize("start", [1.5, 3.0, -50.0])
@pytest.mark.parametrize("n", [1.0, 1000.0])
def test_steps_that_overshoot_are_shortened(start: float, n: float) -> None:
    """ℓ(β) = -n √(1 + β²): from |β| > 1 a full Newton step lands at -β³, further away each time."""

    def function(beta: Floats) -> Total:
        root = np.sqrt(1.0 + beta[0] ** 2)
        return total(-n * root, -n * beta / root, n * root**-3)

    assert function(np.array([-(start**3)])).objective < function(np.array([start])).objective
    newton = solve(free([start]), function)
    assert newton.fit is not None
    assert newton.fit.converged
    assert_allclose(newton.fit.loglik, -n, rtol=1e-8)


def test_points_out_of_reach_are_stepped_back_from() -> None:
    """ℓ(β) = log β - β/100 for β > 0: the first Newton step from 250 ends below zero, where no probability is positive."""

    def function(beta: Floats) -> Total:
        if beta[0] <= 0.0:
            return Total(True, 0.0, 0.0, 0.0, np.zeros(1), np.zeros((1, 1)))
        return total(np.log(beta[0]) - beta[0] / 100.0, 1.0 / beta - 0.01, beta**-2.0)

    first = function(np.array([250.0]))
    assert 250.0 + (first.score[0] / first.info[0, 0]) < 0.0
    newton = solve(free([250.0]), function)
    assert newton.fit is not None
    assert newton.fit.converged
    assert_allclose(newton.beta, 100.0, rtol=1e-3)
    assert_allclose(newton.fit.loglik, np.log(100.0) - 1.0, rtol=1e-9)


def test_a_first_point_out_of_reach_moves_towards_zero_slopes() -> None:
    def function(beta: Floats) -> Total:
        if abs(beta[0]) > 1.0:
            return Total(True, 0.0, 0.0, 0.0, np.zeros(1), np.zeros((1, 1)))
        return quadratic(np.array([0.3]), np.eye(1))(beta)

    newton = solve(free([5.0]), function)
    assert newton.fit is not None
    assert newton.fit.converged
    assert_allclose(newton.beta, 0.3, rtol=1e-8)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_not_accepted(bad: float) -> None:
    def function(beta: Floats) -> Total:
        away = quadratic(np.array([3.0]), np.eye(1))(beta)
        return total(bad, np.nan, np.nan) if beta[0] > 2.0 else away

    newton = solve(free([0.0], most_rounds=40), function)
    assert newton.fit is not None
    assert np.isfinite(newton.fit.loglik)
    assert newton.fit.loglik <= -7.0
    assert not newton.fit.converged


def test_threshold_gaps_stay_open_without_costing_a_round() -> None:
    """ℓ = Σ log of the gaps - Σ gaps: a full step from gaps (1, 3) closes the second one."""

    def function(beta: Floats) -> Total:
        gaps = np.diff(beta, prepend=0.0)
        assert (gaps > 0).all(), "was asked where thresholds are out of order"
        to_gaps = np.array([[1.0, 0.0], [-1.0, 1.0]])
        score, info = 1.0 / gaps - 1.0, np.diag(gaps**-2.0)
        return total(np.log(gaps).sum() - gaps.sum(), to_gaps.T @ score, to_gaps.T @ info @ to_gaps)

    newton = solve(FitProblem(np.array([1.0, 4.0]), np.zeros(2), 0, increasing=slice(0, 2)), function)
    assert newton.fit is not None
    assert newton.fit.converged
    assert_allclose(newton.fit.loglik, -2.0, rtol=1e-9)


@pytest.mark.parametrize("curvature", [[[1.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]], ids=str)
def test_singular_information(curvature: Any) -> None:
    """Where ℓ is flat in a direction there are many maxima; any will do, and it is found."""
    curvature = np.array(curvature)
    newton = solve(free([0.0, 0.0]), quadratic(np.array([1.0, 2.0]), curvature))
    assert newton.fit is not None
    assert newton.fit.converged
    assert_allclose(newton.fit.loglik, -7.0, rtol=1e-7)
    assert np.isfinite(newton.beta).all()


def test_nearly_singular_information() -> None:
    near = np.array([[1.0, 1.0 - 1e-13], [1.0 - 1e-13, 1.0]])
    newton = solve(free([0.0, 0.0]), quadratic(np.array([1.0, 2.0]), near))
    assert newton.fit is not None
    assert newton.fit.converged
    assert_allclose(newton.fit.loglik, -7.0, rtol=1e-7)


def test_the_promised_gain_is_added() -> None:
    """A fit that stops early, at a gain of 1e-4, tells the maximum up to third order."""
    x = np.linspace(-2.0, 2.0, 101)
    y = (np.random.default_rng(0).random(101) < expit(1.5 * x)).astype(float)
    early, late = (
        solve(FitProblem(np.zeros(1), np.array([x.std()]), 1, tolerance=tolerance), logit(x[:, None], y)) for tolerance in (1e-3, 1e-14)
    )
    assert early.fit is not None
    assert late.fit is not None
    assert late.fit.loglik - logit(x[:, None], y)(early.beta).objective > 1e-5
    assert early.fit.loglik == pytest.approx(late.fit.loglik, abs=1e-6)


# separation: the supremum is not attained


def test_under_separation_twice_the_promised_gain_is_missing() -> None:
    x = np.linspace(-2.0, 2.0, 6)
    newton = solve(FitProblem(np.zeros(1), np.array([x.std()]), 1, tolerance=1e-3), logit(x[:, None], (x > 0).astype(float)))
    assert newton.fit is not None
    assert newton.fit.separated
    assert logit(x[:, None], (x > 0).astype(float))(newton.beta).objective < -1e-3
    assert abs(newton.fit.loglik) < 1e-5


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
@pytest.mark.parametrize("n", [6, 400])
def test_perfect_separation_is_flagged_with_the_supremum_zero(unit: float, n: int) -> None:
    x = np.linspace(-2.0, 2.0, n) * unit
    newton = solve(FitProblem(np.zeros(1), np.array([x.std()]), 1), logit(x[:, None], (x > 0).astype(float)))
    assert newton.fit is not None
    assert newton.fit.separated
    assert newton.fit.converged
    assert abs(newton.fit.loglik) < 1e-8
    assert newton.fit.rounds < 40


def test_a_level_that_is_predicted_perfectly_leaves_the_likelihood_of_the_rest() -> None:
    """All rows of group 1 are positive, half of group 0: the supremum is that of group 0 alone, 10 log ½."""
    group = np.repeat([0.0, 1.0], [10, 20])
    y = np.array([0.0, 1.0] * 5 + [1.0] * 20)
    X = np.column_stack([group, np.ones(30)])
    newton = solve(FitProblem(np.zeros(2), np.array([group.std(), 1.0]), 1), logit(X, y))
    assert newton.fit is not None
    assert newton.fit.separated
    assert_allclose(newton.fit.loglik, 10.0 * np.log(0.5), rtol=1e-8)


def test_what_is_nearly_separated_is_not_flagged() -> None:
    x = np.linspace(-2.0, 2.0, 100)
    y = (x > 0).astype(float)
    y[[49, 50]] = y[[50, 49]]
    newton = solve(FitProblem(np.zeros(1), np.array([x.std()]), 1), logit(x[:, None], y))
    assert newton.fit is not None
    assert newton.fit.converged
    assert not newton.fit.separated


def test_a_site_that_is_separated_says_so_through_its_profile() -> None:
    """The same through the kernels: two sites with intercepts of their own, perfectly separated at different places."""
    shape, effects = Shape(Family.LOGIT, 1, 2), SiteEffects.PROFILED
    x = np.linspace(-1.0, 1.0, 20)
    sites = [make_kernel(Design(x[:, None], (x > cut).astype(np.int32), None), shape, effects, 0.0) for cut in (-0.5, 0.4)]

    def function(beta: Floats) -> Total:
        parts = [answer(kernel, shape, effects, beta, 0, 2, None)[0] for kernel in sites]
        return total(sum(p.objective for p in parts), sum(p.score for p in parts), sum(p.info for p in parts))

    newton = solve(FitProblem(np.zeros(1), np.array([x.std()]), 1), function)
    assert newton.fit is not None
    assert (newton.fit.converged, newton.fit.separated) == (True, True)
    assert abs(newton.fit.loglik) < 1e-7


# ridge


def test_ridge_penalises_slopes_per_spread_of_their_column_and_nothing_else() -> None:
    """The maximum of ℓ - ½ r n Σ (s β)² over slopes; the fit tells ℓ there, without the penalty."""
    centre, curvature = np.array([3.0, -2.0, 1.0]), np.diag([2.0, 4.0, 8.0])
    scale, ridge, weight = np.array([0.5, 2.0, 1.0]), 0.1, 10.0
    problem = FitProblem(np.zeros(3), scale, 2, ridge=ridge, weight=weight)
    newton = solve(problem, quadratic(centre, curvature))
    stiffness = ridge * weight * np.array([0.25, 4.0, 0.0])
    expected = np.diag(curvature) * centre / (np.diag(curvature) + stiffness)
    assert newton.fit is not None
    assert newton.fit.converged
    assert_allclose(newton.beta, expected, rtol=1e-10)
    assert_allclose(newton.fit.loglik, quadratic(centre, curvature)(expected).objective, rtol=1e-10)


def test_ridge_makes_a_separated_fit_finite() -> None:
    x = np.linspace(-2.0, 2.0, 50)
    newton = solve(FitProblem(np.zeros(1), np.array([x.std()]), 1, ridge=1e-3, weight=50.0), logit(x[:, None], (x > 0).astype(float)))
    assert newton.fit is not None
    assert (newton.fit.converged, newton.fit.separated) == (True, False)
    assert newton.fit.loglik < -1e-3


# steps with an information that is too large, as in coordinate ascent


@pytest.mark.parametrize("excess", [1.0, 2.0, 10.0, 300.0])
def test_convergence_is_reported_only_when_it_is_true(excess: float) -> None:
    """Every step goes 1/excess of the way: small steps alone are no sign of the end."""
    centre, curvature = np.array([3.0, -2.0]), np.array([[2.0, 0.9], [0.9, 1.0]])
    true = quadratic(centre, curvature)

    def function(beta: Floats) -> Total:
        found = true(beta)
        return total(found.objective, found.score, excess * found.info)

    newton = solve(free([0.0, 0.0], quadratic=False, most_rounds=2000), function)
    assert newton.fit is not None
    assert newton.fit.converged
    assert_allclose(newton.fit.loglik, -7.0, rtol=1e-9)


@pytest.mark.parametrize("excess", [1.0, 3.0, 30.0, 300.0])
def test_the_same_on_a_likelihood(excess: float) -> None:
    """Four correlated columns, one of which separates a tenth of the rows; the information is too large by another factor each."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4)) @ (np.eye(4) + 0.8)
    X[:, 3] = np.arange(200) < 20
    y = (rng.random(200) < expit(X @ [0.5, -0.8, 0.3, 0.0])).astype(float)
    y[:20] = 1.0
    true, scale = logit(X, y), X.std(axis=0)
    best = solve(FitProblem(np.zeros(4), scale, 4), true).fit
    factor = np.diag(np.sqrt(excess ** np.array([1.0, 0.0, 0.5, 0.7])))

    def function(beta: Floats) -> Total:
        found = true(beta)
        return total(found.objective, found.score, factor @ found.info @ factor)

    fit = solve(FitProblem(np.zeros(4), scale, 4, quadratic=False, most_rounds=500), function).fit
    assert best is not None
    assert fit is not None
    assert best.separated
    assert not fit.converged or fit.loglik == pytest.approx(best.loglik, rel=1e-8)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_and_not_converged_where_rounds_ran_out(most: int) -> None:
    def function(beta: Floats) -> Total:
        found = quadratic(np.array([3.0, -2.0]), np.diag([1.0, 5.0]))(beta)
        return total(found.objective, found.score, 50.0 * np.diag([1.0, 2.0]))

    newton = solve(free([0.0, 0.0], quadratic=False, most_rounds=most), function)
    assert newton.fit is not None
    assert (newton.fit.converged, newton.fit.rounds) == (False, most)
    assert newton.fit.loglik < -7.1


@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_fit_that_ran_out_of_rounds_tells_the_best_it_saw(most: int) -> None:
    """ℓ(β) = -cosh(β - 20) from zero: every step is short, and ℓ rises at each."""

    def function(beta: Floats) -> Total:
        away = float(beta[0] - 20.0)
        return total(-np.cosh(away), -np.sinh(away), np.cosh(away))

    newton = solve(free([0.0], most_rounds=most), function)
    assert newton.fit is not None
    assert (newton.fit.converged, newton.fit.rounds) == (False, most)
    assert_allclose(newton.fit.loglik, -np.cosh(20.0 - (most - 1)), rtol=1e-3)


def test_a_fit_that_never_had_a_feasible_point() -> None:
    newton = solve(free([1.0], most_rounds=5), lambda _: Total(True, 0.0, 0.0, 0.0, np.zeros(1), np.zeros((1, 1))))
    assert newton.fit is not None
    assert (newton.fit.converged, newton.fit.rounds, newton.fit.loglik) == (False, 5, -np.inf)


# the barrier


def test_the_barrier_is_lowered_until_it_no_longer_matters() -> None:
    """ℓ(β) = -β on β > 0 has its supremum 0 on the boundary; with the barrier μ log β the maximum is at β = μ."""
    asked = []

    def function(beta: Floats, mu: float) -> Total:
        asked.append(mu)
        if beta[0] <= 0.0:
            return Total(True, 0.0, 0.0, 0.0, np.zeros(1), np.zeros((1, 1)))
        barrier = mu * float(np.log(beta[0]))
        return Total(False, -beta[0] + barrier, barrier, mu, mu / beta - 1.0, np.diag(mu / beta**2))

    newton = solve(FitProblem(np.ones(1), np.zeros(1), 1, barrier=True), function)
    assert newton.fit is not None
    assert newton.fit.converged
    assert asked == sorted(asked, reverse=True)
    assert asked[-1] < 1e-3 * asked[0]
    assert -1e-6 < newton.fit.loglik <= 1e-6
