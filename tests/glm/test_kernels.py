"""Response models of one site: against their definition, against finite differences, and against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, log_softmax

from consilience.data.design import Design
from consilience.glm.generalized import Generalized
from consilience.glm.kernel import Floats, Kernel
from consilience.glm.layout import Family, Shape, SiteEffects, n_parameters, pack, unpack
from consilience.glm.logit import Logit, sigmoid
from consilience.glm.multinomial import Multinomial
from consilience.glm.proportional import Proportional
from consilience.glm.site_effects import answer, make_kernel

Make = Callable[[Floats, Any, Floats | None], Kernel]

# each case: the levels that occur, and the kernel over four (or two) levels of the study
CASES: dict[str, tuple[list[int], Make]] = {
    "logit": ([0, 1], Logit),
    "multinomial": ([0, 1, 2, 3], lambda X, y, w: Multinomial(X, y, w, 4, np.arange(4), 0)),
    "multinomial, reference 2": ([0, 1, 2, 3], lambda X, y, w: Multinomial(X, y, w, 4, np.arange(4), 2)),
    "multinomial without 1": ([0, 2, 3], lambda X, y, w: Multinomial(X, y, w, 4, np.array([0, 2, 3]), 0)),
    "multinomial without its baseline": ([1, 2, 3], lambda X, y, w: Multinomial(X, y, w, 4, np.array([1, 2, 3]), 2)),
    "multinomial with two": ([1, 3], lambda X, y, w: Multinomial(X, y, w, 4, np.array([1, 3]), 1)),
    "proportional": ([0, 1, 2, 3], lambda X, y, w: Proportional(X, y, w, 4)),
    "proportional, common intercept": ([0, 1, 2, 3], lambda X, y, w: Proportional(X, y, w, 4, own_intercept=False)),
    "proportional without 0": ([1, 2, 3], lambda X, y, w: Proportional(X, y, w, 4)),
    "proportional without 1": ([0, 2, 3], lambda X, y, w: Proportional(X, y, w, 4)),
    "proportional without 3": ([0, 1, 2], lambda X, y, w: Proportional(X, y, w, 4)),
    "proportional with two": ([0, 1], lambda X, y, w: Proportional(X, y, w, 2)),
    "generalized": ([0, 1, 2, 3], lambda X, y, w: Generalized(X, y, w, 4, 0.0)),
    "generalized with barrier": ([0, 1, 2, 3], lambda X, y, w: Generalized(X, y, w, 4, 0.03)),
    "generalized without 0": ([1, 2, 3], lambda X, y, w: Generalized(X, y, w, 4, 0.03, 1, 3)),
    "generalized without 3": ([0, 1, 2], lambda X, y, w: Generalized(X, y, w, 4, 0.03, 0, 2)),
    "generalized without 1": ([0, 2, 3], lambda X, y, w: Generalized(X, y, w, 4, 0.03, 0, 3)),
    "generalized with two": ([1, 2], lambda X, y, w: Generalized(X, y, w, 4, 0.03, 1, 2)),
}
cases = pytest.mark.parametrize("case", CASES)
columns = pytest.mark.parametrize("p", [0, 1, 3])
weighted = pytest.mark.parametrize("weights", [False, True], ids=["", "weighted"])


def rows_of(levels: list[int], p: int, *, weights: bool, n: int = 40) -> tuple[Floats, Any, Floats | None]:
    rng = np.random.default_rng([*levels, p])
    X = rng.normal(size=(n, p))
    y = np.array([*levels, *rng.choice(levels, n - len(levels))], dtype=np.int32)
    return X - X.mean(axis=0), y, rng.integers(1, 5, n).astype(float) if weights else None


def make(case: str, p: int = 2, *, weights: bool = False) -> Kernel:
    levels, factory = CASES[case]
    return factory(*rows_of(levels, p, weights=weights))


def point_of(kernel: Kernel, seed: int = 0) -> Floats:
    """A point away from the maximum at which every probability is positive."""
    rng = np.random.default_rng(seed)
    shared = 0.15 * rng.normal(size=kernel.n_shared)
    if isinstance(kernel, Proportional):
        shared[kernel.p :] = np.cumsum(rng.uniform(0.5, 1.5, kernel.n_shared - kernel.p))
    return np.concatenate([shared, kernel.start(shared) + 0.1 * np.arange(kernel.n_intercepts)])


def terms_at(kernel: Kernel, point: Floats) -> Any:
    shared, intercepts = np.split(point, [kernel.n_shared])
    terms = kernel.rows(kernel.linear(shared), shared, intercepts)
    assert terms.feasible
    return terms


def objective(kernel: Kernel, point: Floats) -> float:
    terms = terms_at(kernel, point)
    return float(terms.loglik + terms.barrier)


def differences(f: Callable[[Floats], Any], at: Floats, step: float = 1e-5) -> Floats:
    """Central finite differences, one row per parameter."""
    return np.array([(f(at + step * unit) - f(at - step * unit)) / (2.0 * step) for unit in np.eye(len(at))]).reshape(len(at), -1)


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
    if family is Family.LOGIT:
        return float(np.sum(np.log(expit(np.where(y == 1, 1.0, -1.0) * (eta + intercepts)[:, 0]))))
    if family is Family.MULTINOMIAL:
        logits = log_softmax(np.column_stack([np.zeros(len(y)), eta + intercepts]), axis=1)
        return float(logits[np.arange(len(y)), y].sum())
    return float(cumulative(intercepts - eta, y).sum())


@pytest.mark.parametrize("p", [0, 2])
@pytest.mark.parametrize("family", list(Family))
def test_log_likelihoods_are_those_of_the_definition(family: Family, p: int) -> None:
    J = 2 if family is Family.LOGIT else 4
    X, y, _ = rows_of(list(range(J)), p, weights=False)
    rng = np.random.default_rng(5)
    slopes, theta = 0.1 * rng.normal(size=(J - 1, p)), np.linspace(-1.0, 1.3, J - 1)
    if family is Family.PROPORTIONAL:
        slopes = np.repeat(slopes[:1], J - 1, axis=0)
        kernel: Kernel = Proportional(X, y, None, J, own_intercept=False)
        point = np.concatenate([slopes[0], theta[1:] - theta[0], [theta.mean()]])
    else:
        made = {
            Family.LOGIT: lambda: Logit(X, y, None),
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


# what leaves a site

SHAPES = {
    "logit": (Shape(Family.LOGIT, 2, 2), [0, 1]),
    "multinomial": (Shape(Family.MULTINOMIAL, 2, 4), [0, 1, 2, 3]),
    "multinomial without its baseline": (Shape(Family.MULTINOMIAL, 2, 4), [1, 3]),
    "proportional": (Shape(Family.PROPORTIONAL, 2, 4), [0, 1, 2, 3]),
    "proportional without 0": (Shape(Family.PROPORTIONAL, 2, 4), [1, 2, 3]),
    "proportional without 2": (Shape(Family.PROPORTIONAL, 2, 4), [0, 1, 3]),
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


@pytest.mark.parametrize("name", ["logit", "multinomial", "proportional", "generalized"])
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


@pytest.mark.parametrize("effects", [SiteEffects.PROFILED, SiteEffects.COORDINATE])
@pytest.mark.parametrize("shape", [shape for shape, _ in SHAPES.values()], ids=list(SHAPES))
@pytest.mark.parametrize("level", [0, 1])
def test_a_site_whose_response_is_constant_says_exactly_nothing(shape: Shape, effects: SiteEffects, level: int) -> None:
    X, _, _ = rows_of([0, 1], 2, weights=False)
    kernel = make_kernel(Design(X, np.full(len(X), level, dtype=np.int32), None), shape, effects, MU)
    total, _ = answer(kernel, shape, effects, shared_of(shape), 0, 1, None)
    assert_array_equal(pack(total), np.zeros_like(pack(total)))


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


# far out


@pytest.mark.parametrize("z", [-800.0, -40.0, 0.0, 40.0, 800.0])
def test_sigmoid_in_the_tails(z: float) -> None:
    mu, softplus = sigmoid(np.array([z]))
    assert_allclose(mu, expit(z), rtol=1e-14)
    assert_allclose(softplus, np.logaddexp(0.0, z), rtol=1e-14)


@cases
@pytest.mark.parametrize("size", [800.0, -800.0])
def test_extreme_linear_predictors_give_finite_numbers(case: str, size: float) -> None:
    """Slopes at which every linear predictor is ±800: finite, and no warning on the way."""
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


@shapes
@pytest.mark.parametrize("size", [30.0, 800.0])
def test_a_profile_far_out_is_finite_or_out_of_reach(name: str, size: float) -> None:
    """However far the server's step went: finite numbers, or a flag that makes it come back, but never NaN or a warning."""
    kernel, shape = site(name, SiteEffects.PROFILED)
    beta = shared_of(shape)
    beta[: shape.n_columns * shape.slopes_per_column] *= size / 0.15
    total, _ = answer(kernel, shape, SiteEffects.PROFILED, beta, 0, 1, None)
    assert np.isfinite(pack(total)).all()
