"""What leaves a site of a model: profiled, by coordinates or with its intercepts; and nothing where there is nothing to say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from consilience.data.design import Design
from consilience.glm.kernel import Floats, Kernel
from consilience.glm.layout import Family, Shape, SiteEffects, n_parameters, pack, unpack
from consilience.glm.site_effects import answer, make_kernel
from tests.glm.helpers import differences, rows_of, terms_at, weighted

# what leaves a site

SHAPES = {
    "logit": (Shape(Family.LOGIT, 2, 2), [0, 1]),
    "poisson": (Shape(Family.POISSON, 2, 0), [0, 1, 2, 7]),
    "multinomial": (Shape(Family.MULTINOMIAL, 2, 4), [0, 1, 2, 3]),
    "multinomial without its baseline": (Shape(Family.MULTINOMIAL, 2, 4), [1, 3]),
    "proportional": (Shape(Family.PROPORTIONAL, 2, 4), [0, 1, 2, 3]),
    "proportional without 0": (Shape(Family.PROPORTIONAL, 2, 4), [1, 2, 3]),
    "proportional without 2": (Shape(Family.PROPORTIONAL, 2, 4), [0, 1, 3]),
    "proportional with 1 alone": (Shape(Family.PROPORTIONAL, 2, 4), [1]),
    "generalized": (Shape(Family.GENERALIZED, 2, 4), [0, 1, 2, 3]),
    "generalized without 3": (Shape(Family.GENERALIZED, 2, 4), [0, 1, 2]),
    "generalized without 1": (Shape(Family.GENERALIZED, 2, 4), [0, 2, 3]),
}
shapes = pytest.mark.parametrize("name", SHAPES)
MU = 0.01


def site(name: str, effects: SiteEffects, *, weights: bool = False) -> tuple[Kernel | None, Shape]:
    shape, levels = SHAPES[name]
    return make_kernel(Design(*rows_of(levels, 2, weights=weights)), shape, effects, MU if "generalized" in name else 0.0), shape


def shared_of(shape: Shape, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    shared = 0.15 * rng.normal(size=shape.n_shared)
    if shape.family is Family.PROPORTIONAL:
        shared[shape.n_columns :] = np.cumsum(rng.uniform(0.5, 1.5, shape.n_levels - 2))
    return shared


@shapes
@weighted
def test_the_profile_has_the_score_and_information_it_says(name: str, weights: bool) -> None:
    """Score and information of max over α, by finite differences of that maximum."""
    kernel, shape = site(name, SiteEffects.PROFILED, weights=weights)

    def profile(beta: Floats) -> Any:
        return answer(kernel, shape, SiteEffects.PROFILED, beta, 0, 1, None)[0]

    beta = shared_of(shape)
    total = profile(beta)
    assert_allclose(total.score, differences(lambda b: profile(b).objective, beta)[:, 0], rtol=1e-5, atol=1e-5)
    assert_allclose(total.info, -differences(lambda b: profile(b).score, beta), rtol=1e-4, atol=1e-4)
    assert np.linalg.eigvalsh(total.info)[0] >= -1e-8


@shapes
def test_the_profile_is_the_maximum_over_intercepts(name: str) -> None:
    kernel, shape = site(name, SiteEffects.PROFILED)
    assert kernel is not None
    beta = shared_of(shape)
    total, _ = answer(kernel, shape, SiteEffects.PROFILED, beta, 0, 1, None)

    def loss(intercepts: Floats) -> float:
        terms = kernel.rows(kernel.linear(beta), beta, intercepts)
        return -(terms.loglik + terms.barrier) if terms.feasible else 1e10

    found = minimize(loss, kernel.start(beta), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 4000})
    assert_allclose(total.objective, -found.fun, rtol=1e-8)


@shapes
@pytest.mark.parametrize("effects", [SiteEffects.PROFILED, SiteEffects.COORDINATE])
def test_a_warm_start_changes_nothing(name: str, effects: SiteEffects) -> None:
    kernel, shape = site(name, effects)
    _, warm = answer(kernel, shape, effects, shared_of(shape, 1), 0, 1, None)
    assert warm is not None
    cold, _ = answer(kernel, shape, effects, shared_of(shape, 2), 0, 1, None)
    again, _ = answer(kernel, shape, effects, shared_of(shape, 2), 0, 1, warm)
    assert_allclose(again.objective, cold.objective, rtol=1e-9)
    assert_allclose(again.score, cold.score, rtol=1e-5, atol=1e-5)
    assert_allclose(again.info, cold.info, rtol=1e-4, atol=1e-4)


@shapes
def test_coordinate_has_the_score_of_the_profile_and_more_information(name: str) -> None:
    kernel, shape = site(name, SiteEffects.PROFILED)
    profiled, _ = answer(kernel, shape, SiteEffects.PROFILED, shared_of(shape), 0, 1, None)
    coordinate, _ = answer(kernel, shape, SiteEffects.COORDINATE, shared_of(shape), 0, 1, None)
    assert_array_equal(profiled.score, coordinate.score)
    assert profiled.objective == coordinate.objective
    assert np.linalg.eigvalsh(coordinate.info - profiled.info)[0] >= -1e-9


@pytest.mark.parametrize("name", ["logit", "poisson", "multinomial", "proportional", "generalized"])
@pytest.mark.parametrize(("effects", "place"), [(SiteEffects.JOINT, 0), (SiteEffects.JOINT, 2), (SiteEffects.NONE, 1)])
def test_intercepts_stand_in_the_block_of_their_site(name: str, effects: SiteEffects, place: int) -> None:
    kernel, shape = site(name, effects)
    assert kernel is not None
    n_sites, q = 3, shape.n_intercepts
    block = shape.n_shared + (q * place if effects is SiteEffects.JOINT else 0)
    where = [*range(shape.n_shared), *range(block, block + q)]
    shared = shared_of(shape)
    beta = np.full(n_parameters(shape, effects, n_sites), np.nan)  # what belongs to other sites is not looked at
    beta[where] = np.concatenate([shared, kernel.start(shared)])
    total, _ = answer(kernel, shape, effects, beta, place, n_sites, None)
    expected = kernel.full(terms_at(kernel, beta[where]))
    others = np.setdiff1d(np.arange(len(beta)), where)
    assert_array_equal(total.score[where], expected.score)
    assert_array_equal(total.info[np.ix_(where, where)], expected.info)
    assert not total.score[others].any()
    assert not total.info[others].any()


@pytest.mark.parametrize("effects", [SiteEffects.PROFILED, SiteEffects.COORDINATE, SiteEffects.JOINT])
@pytest.mark.parametrize("family", [Family.LOGIT, Family.MULTINOMIAL, Family.PROPORTIONAL, Family.GENERALIZED])
@pytest.mark.parametrize("level", range(4))
def test_a_site_whose_response_is_constant_says_exactly_nothing(family: Family, effects: SiteEffects, level: int) -> None:
    """But for a level in the middle where gaps between thresholds are common: that one says something (``_absorbed``)."""
    shape = Shape(family, 2, 2 if family is Family.LOGIT else 4)
    X, _, _ = rows_of([0, 1], 2, weights=False)
    y = np.full(len(X), min(level, shape.n_levels - 1), dtype=np.int32)
    kernel = make_kernel(Design(X, y, None), shape, effects, MU)
    beta = np.concatenate([shared_of(shape), np.zeros(n_parameters(shape, effects, 1) - shape.n_shared)])
    total, _ = answer(kernel, shape, effects, beta, 0, 1, None)
    speaks = family is Family.PROPORTIONAL and level in (1, 2)
    assert pack(total).any() == speaks


def test_a_site_without_rows_says_exactly_nothing() -> None:
    shape = Shape(Family.LOGIT, 2, 2)
    for effects in SiteEffects:
        kernel = make_kernel(Design(np.empty((0, 2)), np.empty(0, dtype=np.int32), None), shape, effects, 0.0)
        total, _ = answer(kernel, shape, effects, np.ones(n_parameters(shape, effects, 2)), 0, 2, None)
        assert not pack(total).any()


def test_packing_keeps_every_number() -> None:
    total, _ = answer(*site("multinomial", SiteEffects.PROFILED), SiteEffects.PROFILED, shared_of(SHAPES["multinomial"][0]), 0, 1, None)
    again = unpack(pack(total), len(total.score))
    assert_array_equal(again.score, total.score)
    assert_array_equal(again.info, total.info)
    assert (again.infeasible, again.objective) == (total.infeasible, total.objective)
    double = unpack(pack(total) + pack(total), len(total.score))
    assert_array_equal(double.info, 2.0 * total.info)


@shapes
@pytest.mark.parametrize("size", [30.0, 800.0])
def test_a_profile_far_out_is_finite_or_out_of_reach(name: str, size: float) -> None:
    """However far the server's step went: finite numbers, or a flag that makes it come back, but never NaN or a warning."""
    kernel, shape = site(name, SiteEffects.PROFILED)
    beta = shared_of(shape)
    beta[: shape.n_columns * shape.slopes_per_column] *= size / 0.15
    total, _ = answer(kernel, shape, SiteEffects.PROFILED, beta, 0, 1, None)
    assert np.isfinite(pack(total)).all()
