"""Predictions under an intervention: gradients are derivatives, intercepts follow, sites add, and what is about few rows is not told."""

from __future__ import annotations

import numpy as np
import pytest

from consilience.data.design import Design
from consilience.glm.crowd import Crowd
from consilience.glm.layout import Family, Shape, SiteEffects, n_parameters
from consilience.glm.standard import Intervention, Standard, n_outcomes, robust_of_numbers, standard_of, standard_size

SHAPES = [
    Shape(Family.LOGIT, 3, 2),
    Shape(Family.MULTINOMIAL, 3, 3),
    Shape(Family.PROPORTIONAL, 3, 4),
    Shape(Family.GENERALIZED, 3, 4),
    Shape(Family.POISSON, 3, 0),
]
DOES = Intervention((0, 1), ((-0.4, -0.3), (0.6, -0.3), (-0.4, 0.7)))


def design(shape: Shape, n: int = 60, *, weights: bool = False, lacking: bool = False) -> Design:
    rng = np.random.default_rng(3)
    columns = rng.normal(size=(n, 3))
    columns -= columns.mean(axis=0)
    y = rng.poisson(2.0, size=n).astype(float) if shape.dispersed else rng.integers(int(lacking), shape.n_levels, size=n).astype(np.int32)
    return Design(columns, y, rng.integers(1, 4, size=n).astype(float) if weights else None)


def point_of(shape: Shape, *, common: bool) -> np.ndarray:
    effects = SiteEffects.NONE if common else SiteEffects.PROFILED
    point = np.random.default_rng(8).normal(size=n_parameters(shape, effects, 1)) * 0.1
    if shape.family is Family.PROPORTIONAL:
        point[3 : shape.n_shared] = (0.9, 1.7)
    if common and shape.family is Family.GENERALIZED:
        point[shape.n_shared :] = (-1.0, 0.1, 1.2)
    return point


def told(shape: Shape, made: Design, point: np.ndarray, *, common: bool) -> Standard:
    vector = standard_of(made, shape, point, DOES, common=common)
    outcomes = n_outcomes(shape) * len(DOES.values)
    assert len(vector) == standard_size(outcomes, len(point))
    return Standard.read(vector, outcomes, len(point))


@pytest.mark.parametrize("common", [False, True])
@pytest.mark.parametrize("lacking", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.family.value)
def test_gradients_are_derivatives_along_the_intercepts(shape: Shape, lacking: bool, common: bool) -> None:
    """With intercepts of the site's own they move with the others: the derivative is that of the whole answer."""
    made, point, step = design(shape, lacking=lacking), point_of(shape, common=common), 1e-5
    found = told(shape, made, point, common=common)
    for j in range(len(point)):
        ahead, behind = point.copy(), point.copy()
        ahead[j] += step
        behind[j] -= step
        wanted = (told(shape, made, ahead, common=common).sums - told(shape, made, behind, common=common).sums) / (2 * step)
        np.testing.assert_allclose(found.gradients[:, j], wanted, atol=2e-6 * len(made.response))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.family.value)
def test_weights_are_rows_that_occur_more_than_once(shape: Shape) -> None:
    made, point = design(shape, weights=True), point_of(shape, common=False)
    assert made.weights is not None
    times = made.weights.astype(int)
    twice = Design(np.repeat(made.columns, times, axis=0), np.repeat(made.response, times), None)
    np.testing.assert_allclose(
        standard_of(made, shape, point, DOES, common=False), standard_of(twice, shape, point, DOES, common=False), rtol=1e-8, atol=1e-8
    )


@pytest.mark.parametrize("shape", [SHAPES[0], SHAPES[1], SHAPES[4]], ids=lambda shape: shape.family.value)
def test_where_x_is_as_it_is_the_mean_prediction_is_what_was_seen(shape: Shape) -> None:
    """Of canonical links, at the site's own intercept: Σ predictions = Σ y. x has one value here, and is set to it."""
    made = design(shape)
    made.columns[:, :2] = 0.0
    point = point_of(shape, common=False)
    outcomes = n_outcomes(shape)
    found = Standard.read(standard_of(made, shape, point, Intervention((0, 1), ((0.0, 0.0),)), common=False), outcomes, len(point))
    seen = [made.response.sum()] if shape.dispersed else [(made.response == level).sum() for level in range(1, shape.n_levels)]
    np.testing.assert_allclose(found.sums, seen, rtol=1e-7)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.family.value)
def test_the_spread_has_what_is_not_known_of_the_intercept(shape: Shape) -> None:
    """With the site's own intercept it is more than the sum of products, and the more, the larger the dispersion."""
    made, point = design(shape), point_of(shape, common=False)
    outcomes = n_outcomes(shape) * len(DOES.values)
    spreads = [
        Standard.read(standard_of(made, shape, point, DOES, common=False, dispersion=phi), outcomes, len(point)).spread
        for phi in (0.0, 1.0, 2.0)
    ]
    np.testing.assert_allclose(spreads[2] - spreads[1], spreads[1] - spreads[0], atol=1e-9)
    assert (np.linalg.eigvalsh(spreads[1] - spreads[0]) > -1e-9).all()
    assert np.trace(spreads[1] - spreads[0]) > 0.01


def test_a_site_of_one_level_has_it_for_certain() -> None:
    shape = Shape(Family.GENERALIZED, 3, 4)
    made = design(shape)
    made.response[:] = 2
    found = told(shape, made, point_of(shape, common=False), common=False)
    assert found.sums.reshape(3, 3).tolist() == [[60.0, 60.0, 0.0]] * 3
    assert not found.gradients.any()


@pytest.mark.parametrize("shape", SHAPES[:4], ids=lambda shape: shape.family.value)
def test_a_steep_prediction_is_not_told(shape: Shape) -> None:
    made = design(shape, n=300)
    flat = np.zeros(n_parameters(shape, SiteEffects.PROFILED, 1))
    if shape.family is Family.PROPORTIONAL:
        flat[3:] = (0.9, 1.7)
    steep = flat.copy()
    steep[2 : 3 * shape.slopes_per_column : 3] = 400.0
    crowd = Crowd(np.ones((300, 1)), 5)
    for point, silent in ((flat, False), (steep, True)):
        vector = standard_of(made, shape, point, DOES, common=False, crowd=crowd)
        assert vector[0] == float(silent)
        assert np.isnan(vector[1:]).all() == silent


def test_residuals_of_few_rows_are_not_told() -> None:
    rng = np.random.default_rng(1)
    columns, response = rng.normal(size=(100, 2)), rng.normal(size=100)
    crowd = Crowd(np.ones((100, 1)), 5)
    assert robust_of_numbers(columns, response, np.zeros(2), crowd)[0] == 0.0
    response[7] = 1e4
    assert robust_of_numbers(columns, response, np.zeros(2), crowd)[0] == 1.0
