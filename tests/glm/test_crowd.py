"""Sums that are about few rows: for every model and every kind of site effects, at steep points and at others."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from consilience.data.design import Coding, Design, ModelSpec, build, column_names
from consilience.data.features import feature_plan, widen
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.glm.crowd import Crowd, Crowds, Weights, sets_of_block
from consilience.glm.layout import WITHHELD, Family, Shape, SiteEffects, is_silent, n_parameters, pack, unpack
from consilience.glm.logit import Logit
from consilience.glm.site_effects import answer, make_kernel
from consilience.glm.solver import MOST_WITHHELD, FitProblem, Newton, Total

N, FEWEST = 120, 5
FAMILIES = [Family.LOGIT, Family.MULTINOMIAL, Family.PROPORTIONAL, Family.GENERALIZED, Family.POISSON]
EFFECTS = [effects for effects in SiteEffects if effects is not SiteEffects.RANDOM]
MODELS = [(family, effects) for family in FAMILIES for effects in EFFECTS] + [
    (family, SiteEffects.RANDOM) for family in (Family.LOGIT, Family.MULTINOMIAL, Family.PROPORTIONAL)
]
ALL = Crowd(np.ones((N, 1)), FEWEST)


def site(family: Family, effects: SiteEffects, crowd: Crowd | None, slope: float) -> Total:
    """A site's answer at a slope of X; rows are in no order of it."""
    rng = np.random.default_rng(4)
    x, other = rng.normal(size=(2, N))
    levels = {Family.LOGIT: 2, Family.POISSON: 0}.get(family, 3)
    latent = 0.8 * x + rng.logistic(size=N)
    y = rng.poisson(np.exp(1.0 + 0.3 * x)) if family is Family.POISSON else np.digitize(latent, [0.0, 1.0][: levels - 1])
    shape = Shape(family, 2, levels)
    columns = np.column_stack([x, other])
    design = Design(columns if effects.common else columns - columns.mean(axis=0), y.astype(float if levels == 0 else np.int32), None)
    kernel = make_kernel(design, shape, effects, 1e-2 if family is Family.GENERALIZED else 0.0, crowd)
    beta = np.zeros(n_parameters(shape, effects, 2))
    beta[: 2 * shape.slopes_per_column : 2] = slope * np.arange(1, shape.slopes_per_column + 1) ** (family is Family.MULTINOMIAL)
    if family is Family.PROPORTIONAL:
        beta[2] = 1.0 + abs(slope)
    if family is Family.GENERALIZED and (effects.common or effects is SiteEffects.JOINT):
        beta[shape.n_shared :] = np.tile([-0.5, 0.5], len(beta[shape.n_shared :]) // 2)
    if effects is SiteEffects.RANDOM:
        beta[-1] = 0.5
    return answer(kernel, shape, effects, beta, 0, 2, None)[0]


@pytest.mark.parametrize(("family", "effects"), MODELS)
def test_a_steep_model_is_not_told_and_an_even_one_is(family: Family, effects: SiteEffects) -> None:
    steep = 8.0 if family is Family.POISSON else 300.0  # means above e⁶⁰ are not feasible in any case
    assert site(family, effects, ALL, steep).withheld
    assert not site(family, effects, None, steep).withheld
    even, plain = site(family, effects, ALL, 0.3), site(family, effects, None, 0.3)
    assert not even.infeasible
    np.testing.assert_array_equal(pack(even), pack(plain))


def test_rows_with_a_level_are_looked_at_by_themselves() -> None:
    """Of 300 rows many are in the middle of the step, and of twelve with a level one is."""
    rng = np.random.default_rng(3)
    x = np.sort(rng.normal(size=300))
    level = np.zeros(300)
    level[[5, 10, 15, 20, 25, 150, 280, 283, 286, 289, 292, 295]] = 1.0
    y = (x + rng.normal(size=300) > 0.0).astype(np.int32)
    kernel = Logit(np.column_stack([x, level]), y, None)
    shared, intercept = np.array([12.0, 0.0]), np.array([-12.0 * x[150]])
    for sets, steep in ((np.ones((300, 1)), False), (np.column_stack([np.ones(300), level, 1.0 - level]), True)):
        kernel.crowd = Crowd(sets, FEWEST)
        assert kernel.is_steep_at(shared, intercept) is steep
    kernel.crowd = None
    assert not kernel.is_steep_at(shared, intercept)


@pytest.mark.parametrize(("beyond", "steep"), [(1, True), (2, True), (40, False)])
def test_there_are_enough_rows_on_either_side_of_a_step(beyond: int, steep: bool) -> None:
    """Forty rows as near to it from below do not hide one above."""
    x = np.concatenate([np.full(40, -0.1), np.full(beyond, 0.1), np.linspace(3.0, 4.0, 40), np.linspace(-4.0, -3.0, 40)])
    y = (np.arange(len(x)) % 2).astype(np.int32)
    kernel = Logit(x[:, None], y, None)
    kernel.crowd = Crowd(np.ones((len(x), 1)), FEWEST)
    for slope in (60.0, 600.0):
        assert kernel.is_steep_at(np.array([slope]), np.zeros(1)) is (steep or slope > 400.0)


def test_a_small_set_needs_a_third_of_its_rows() -> None:
    crowd = Crowd(np.column_stack([np.ones(100), np.arange(100) < 6]), FEWEST)
    even = np.full(100, 0.2)
    for counting, enough in ((1, False), (2, True), (6, True)):
        weights = even.copy()
        weights[counting:6] = 1e-6
        assert crowd.is_enough([Weights(weights[None], by_level=True)]) is enough


def test_what_is_kept_of_levels_silences_the_features_that_the_columns_do() -> None:
    """Cells of two variables are counted once for all models over the same rows; a design's own columns say the same."""
    schema, seen = Schema({"A": "continuous", "B": "continuous", "C": "binary", "E": ("multinomial", "pqrs")}), set[tuple[bool, ...]]()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.choice([40, 90, 200]))
        frame = pl.DataFrame({"A": rng.normal(size=n), "B": rng.normal(size=n), "C": rng.random(n) < 0.3, "E": [*rng.choice([*"pqrs"], n)]})
        table = Table(frame.with_columns(C=pl.when(rng.random(n) < 0.1).then(None).otherwise(pl.col("C"))), schema, "muenster")
        crowds = Crowds(table, FEWEST)
        for predictors in (("A", "C", "E"), ("C", "E", "B"), ("C", "E")):
            model, names = ModelSpec("B", predictors, predictors), column_names(schema, predictors)
            design = build(table, model, range(len(names)), Coding({}))
            plan, scales = feature_plan(schema, names), [None if name in table.codes else 0 for name, _ in names]
            own = widen(design.columns, plan, scales, design.weights, FEWEST)
            kept = widen(design.columns, plan, scales, design.weights, FEWEST, crowds.levels(model, names))
            np.testing.assert_array_equal(kept, own)
            seen.add(tuple((own[:, len(names) :] == 0.0).all(axis=0).tolist()))
    assert len(seen) > 5, "different features are silent in different tables"


def test_silence_is_counted_and_is_no_other_nan() -> None:
    total = site(Family.LOGIT, SiteEffects.PROFILED, ALL, 300.0)
    silent, plain = pack(total), pack(site(Family.LOGIT, SiteEffects.PROFILED, None, 0.3))
    assert is_silent(silent).tolist() == [False] + [True] * (len(silent) - 1)
    assert silent[0] == WITHHELD
    noise = np.where(is_silent(silent), 1e18, silent)
    assert unpack(noise + plain, 2).withheld
    assert not unpack(noise + plain, 2).infeasible
    plain[0] = 3.0
    both = unpack(2 * noise + plain, 2)
    assert both.withheld
    assert both.infeasible
    assert not unpack(plain, 2).withheld
    assert not is_silent(np.array([np.nan, np.inf, np.float64("nan") * 0.0])).any()


def told(newton: Newton, far: float) -> Total:
    """ℓ(β) = -log cosh(β - 3), which Newton's steps overshoot from afar; sites say nothing beyond ``far``."""
    gap = newton.beta[0] - 3.0
    value = Total(False, float(-np.log(np.cosh(gap))), 0.0, 0.0, -np.tanh(newton.beta - 3.0), np.array([[1.0 / np.cosh(gap) ** 2]]))
    return Total(False, 1e18, -1e17, 1e16, value.score + 1e15, value.info - 1e15, withheld=True) if newton.beta[0] > far else value


def test_a_step_that_goes_too_far_is_halved_and_the_fit_goes_on() -> None:
    newton = Newton(FitProblem(np.array([1.5]), np.ones(1), 1))
    beyond = 0
    while newton.fit is None:
        total = told(newton, 4.0)
        beyond += total.withheld
        newton.tell(total)
    assert beyond > 0
    assert newton.fit.converged
    assert not newton.fit.withheld
    assert newton.fit.beta[0] == pytest.approx(3.0, abs=1e-6)
    assert newton.fit.loglik == pytest.approx(0.0, abs=1e-9)


def test_a_fit_that_only_meets_silence_ends_soon() -> None:
    newton = Newton(FitProblem(np.array([1.5]), np.ones(1), 1))
    while newton.fit is None:
        newton.tell(told(newton, 1.6))
    assert newton.fit.withheld
    assert not newton.fit.converged
    assert newton.fit.rounds == 2 + MOST_WITHHELD
    assert newton.fit.loglik == pytest.approx(-np.log(np.cosh(1.5)))


def test_where_all_sites_share_an_intercept_rows_with_two_levels_are_sets_too() -> None:
    """Against a count by hand; and a block has the same sets, and those that are empty in it."""
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"D": rng.integers(0, 2, 60), "E": rng.integers(0, 3, 60), "X": rng.normal(size=60), "Y": rng.integers(0, 2, 60)})
    schema = Schema({"D": "binary", "E": ("multinomial", ["0", "1", "2"]), "X": "continuous", "Y": "binary"})
    table = Table(frame.filter(~((pl.col("D") == 1) & (pl.col("E") == 2))), schema, "muenster")
    model = ModelSpec("Y", ("D", "E", "X"), ("D", "E", "X", "Y"))
    crowds, levels = Crowds(table, FEWEST), [("D", 0), ("D", 1), ("E", 0), ("E", 1), ("E", 2)]
    plain, crossed = crowds.of(model), crowds.of(model, crossed=True)
    assert plain is not None
    assert crossed is not None
    d, e = table.codes["D"], table.codes["E"]
    cells = [((d == a) & (e == b)).sum() for a in range(2) for b in range(3)]
    np.testing.assert_array_equal(crossed.sets[:, : plain.sets.shape[1]], plain.sets)
    assert sorted(crossed.sets[:, plain.sets.shape[1] :].sum(axis=0)) == sorted(cell for cell in cells if cell)
    of_block = sets_of_block(model, levels, table, crossed=True)
    assert sorted(of_block.sum(axis=0)) == sorted([*crossed.sets.sum(axis=0), 0.0])
