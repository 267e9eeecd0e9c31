"""Counts: Pearson's sum and its gradient, intercepts by a formula, and steps that go too far."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from consilience.data.design import Design
from consilience.glm.kernel import Floats
from consilience.glm.layout import Family, Shape, SiteEffects, Total, answer_size, n_parameters, pack, unpack
from consilience.glm.poisson import Poisson
from consilience.glm.site_effects import LARGEST_SUM, answer, make_kernel
from consilience.glm.solver import FitProblem, Newton
from tests.glm.helpers import differences, rows_of, terms_at, weighted

SHAPE = Shape(Family.POISSON, 2, 0)
BETA = np.array([0.3, -0.2])


def at(design: Design, effects: SiteEffects, beta: Floats, n_sites: int = 1) -> Total:
    return answer(make_kernel(design, SHAPE, effects, 0.0), SHAPE, effects, beta, 0, n_sites, None)[0]


@weighted
def test_pearson_is_the_sum_by_its_definition(weights: bool) -> None:
    X, y, w = rows_of([0, 1, 6], 2, weights=weights)
    mu = np.exp(X @ BETA + 0.4)
    terms = terms_at(Poisson(X, y.astype(float), w), np.append(BETA, 0.4))
    assert terms.squares == pytest.approx(float(((1.0 if w is None else w) * (y - mu) ** 2 / mu).sum()), rel=1e-12)


@weighted
@pytest.mark.parametrize("effects", [effects for effects in SiteEffects if effects is not SiteEffects.RANDOM])
def test_the_pull_is_the_gradient_of_pearson(effects: SiteEffects, weights: bool) -> None:
    """Also along the intercept that goes with the slopes, where the site has one of its own."""
    design = Design(*rows_of([0, 1, 6], 2, weights=weights))
    beta = np.append(BETA, 0.4)[: n_parameters(SHAPE, effects, 1)]
    total = at(design, effects, beta)
    assert total.pull is not None
    assert_allclose(total.pull, differences(lambda b: at(design, effects, b).squares, beta)[:, 0], rtol=1e-6, atol=1e-5)


def test_the_intercept_makes_the_expected_total_the_observed_one() -> None:
    X, y, w = rows_of([0, 1, 6], 2, weights=True)
    assert w is not None
    kernel = Poisson(X, y.astype(float), w)
    for size in (1.0, 300.0):  # e^{xβ} itself would overflow
        eta = kernel.linear(size * BETA)
        assert float(w @ np.exp(eta + kernel.closed(kernel.reach(eta))[0])) == pytest.approx(float(w @ y), rel=1e-10)


@weighted
def test_a_centre_of_its_own_moves_the_intercept_and_nothing_else(weights: bool) -> None:
    X, y, w = rows_of([0, 1, 6], 2, weights=weights)
    plain, centred = Poisson(X, y.astype(float), w), Poisson(X, y.astype(float), w, own_centre=True)
    mean = float(np.average(y, weights=w))
    one, other = terms_at(plain, np.append(BETA, np.log(mean) + 0.4)), terms_at(centred, np.append(BETA, 0.4))
    assert other.loglik == pytest.approx(one.loglik, rel=1e-12)
    assert_allclose(centred.full(other).info, plain.full(one).info, rtol=1e-12)
    eta = plain.linear(BETA)
    assert_allclose(centred.closed(eta), plain.closed(eta) - np.log(mean), atol=1e-13)


@pytest.mark.parametrize("effects", [SiteEffects.PROFILED, SiteEffects.COORDINATE, SiteEffects.JOINT])
def test_a_site_that_counted_nothing_says_exactly_nothing(effects: SiteEffects) -> None:
    X, _, _ = rows_of([0, 1], 2, weights=False)
    total = at(Design(X, np.zeros(len(X)), None), effects, np.ones(n_parameters(SHAPE, effects, 3)), 3)
    assert_array_equal(pack(total), np.zeros(answer_size(n_parameters(SHAPE, effects, 3), dispersed=True)))


def test_with_one_intercept_for_all_a_site_that_counted_nothing_speaks() -> None:
    X, _, _ = rows_of([0, 1], 2, weights=False)
    total = at(Design(X, np.zeros(len(X)), None), SiteEffects.NONE, np.array([0.1, 0.2, 0.5]))
    assert total.objective == pytest.approx(-float(np.exp(X @ [0.1, 0.2] + 0.5).sum()), rel=1e-12)


@pytest.mark.parametrize("effects", [SiteEffects.JOINT, SiteEffects.NONE])
@pytest.mark.parametrize("size", [45.0, 90.0, 800.0])
def test_a_step_too_far_is_not_feasible_and_fits_the_ring(effects: SiteEffects, size: float) -> None:
    """A number beyond the ring would close the study for the site."""
    design = Design(*rows_of([0, 1, 6], 2, weights=False))
    for sign in (1.0, -1.0):
        for slope in (0.0, sign * size):
            total = at(design, effects, np.array([slope, 0.0, sign * size]))
            assert (np.abs(pack(total)) <= LARGEST_SUM).all()
            assert total.infeasible or sign < 0 or size < 50


def test_a_mean_too_small_for_a_number_is_fine_where_nothing_was_counted() -> None:
    X, y = np.array([[-900.0], [0.0], [1.0]]), np.array([0.0, 2.0, 3.0])
    terms = Poisson(X, y, None).rows(X @ [1.0], np.ones(1), np.zeros(1))
    assert terms.feasible
    assert terms.loglik == pytest.approx(-1.0 - np.log(2.0) + 3.0 - np.e - np.log(6.0), rel=1e-12)
    assert not Poisson(X, np.array([1.0, 2.0, 3.0]), None).rows(X @ [1.0], np.ones(1), np.zeros(1)).feasible


def test_packing_keeps_pearson() -> None:
    total = at(Design(*rows_of([0, 1, 6], 2, weights=False)), SiteEffects.PROFILED, BETA)
    again = unpack(pack(total) + pack(total), 2)
    assert again.pull is not None
    assert total.pull is not None
    assert again.squares == 2.0 * total.squares
    assert_array_equal(again.pull, 2.0 * total.pull)
    assert len(pack(total)) == answer_size(2, dispersed=True)


def test_a_fit_says_pearson_where_its_last_step_would_have_gone() -> None:
    """To second order: the same from a loose end as from a tight one, to the square of what is left."""
    design = Design(*rows_of([0, 1, 6], 2, weights=False))

    def fitted(tolerance: float) -> float:
        newton = Newton(FitProblem(np.zeros(2), np.ones(2), 2, tolerance=tolerance))
        while newton.fit is None:
            newton.tell(at(design, SiteEffects.PROFILED, newton.beta))
        return newton.fit.squares

    tight = fitted(1e-18)
    assert fitted(1e-5) == pytest.approx(tight, rel=1e-5)
    assert fitted(1e-9) == pytest.approx(tight, rel=1e-9)
