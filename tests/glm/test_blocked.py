"""Kernels over blocks of rows: the same terms as over all rows at once, and the same word on whether they are about enough of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from consilience.data.averages import Averages
from consilience.data.design import Coding, Design, ModelSpec, build
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.glm.blocked import Blocked, answer_together
from consilience.glm.crowd import Crowds, sets_of_block
from consilience.glm.layout import Family, Shape, SiteEffects, n_parameters, pack
from consilience.glm.site_effects import answer, make_kernel, steps

N, FEWEST = 1000, 5
SCHEMA = Schema(
    {
        "X": "continuous",
        "E": ("multinomial", "pqr"),
        "logit": "binary",
        "multinomial": ("multinomial", "pqr"),
        "proportional": ("ordinal", range(4)),
        "poisson": "count",
    }
)
FAMILIES = {
    "logit": (Family.LOGIT, 2),
    "multinomial": (Family.MULTINOMIAL, 3),
    "proportional": (Family.PROPORTIONAL, 4),
    "generalized": (Family.GENERALIZED, 4),
    "poisson": (Family.POISSON, 0),
}
EFFECTS = [effects for effects in SiteEffects if effects is not SiteEffects.RANDOM]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consilience.data.table.BLOCK_ROWS", 64)
    monkeypatch.setattr("consilience.data.table.PART_BLOCKS", 3)


def table_of(rare: int = 0) -> Table:
    """Rows sorted by X, so that blocks differ as much as they can; ``rare`` rows have the last level of E, and they lie side by side."""
    rng = np.random.default_rng(6)
    x = np.sort(rng.normal(size=N))
    latent = 0.5 * x + rng.logistic(size=N)
    levels = rng.integers(0, 2 if rare else 3, N)
    levels[N // 2 : N // 2 + rare] = 2
    columns = {
        "X": np.where(rng.random(N) < 0.1, np.nan, x),
        "E": np.array(list("pqr"))[levels],
        "logit": (latent > 0.5).astype(int),
        "multinomial": np.array(list("pqr"))[np.digitize(latent, [-1.0, 1.0])],
        "proportional": np.digitize(latent, [-1.5, 0.0, 1.5]),
        "poisson": rng.poisson(np.exp(0.5 + 0.2 * x)),
    }
    return Table(pl.DataFrame(columns), SCHEMA, "muenster")


def kernels(table: Table, name: str, effects: SiteEffects, fewest: float) -> tuple[Shape, object, Blocked]:
    """The kernel of a model over all rows, and over blocks."""
    family, levels = FAMILIES[name]
    response = "proportional" if name == "generalized" else name
    model, keep = ModelSpec(response, ("E", "X"), tuple(sorted(("E", "X", response)))), (0, 1, 2)
    coding = Coding({}, {"X": 0.3} if effects.common else None)
    shape, barrier = Shape(family, 3, levels), 1e-2 if family is Family.GENERALIZED else 0.0
    whole = make_kernel(build(table, model, keep, coding), shape, effects, barrier, Crowds(table, fewest).of(model))
    averages = Averages(table)
    averages.find([model.sample])
    if levels:
        counts = averages.levels(model.sample, response)
        totals = Design(np.zeros((levels, 3)), np.arange(levels, dtype=np.int32), counts.astype(np.float64))
    else:
        n = table.complete(model.sample).n
        totals = Design(np.zeros((1, 3)), np.array([averages.total(model.sample, response) / n]), np.array([float(n)]))
    head = make_kernel(totals, shape, effects, barrier)
    assert head is not None
    means = averages.columns(model.sample, [("E", 1), ("E", 2), ("X", 0)], coding)
    present = [("E", level) for level in range(3)]
    blocked = Blocked(
        table,
        model.sample,
        head,
        lambda block: build(block, model, keep, coding, means),
        response,
        (lambda block: sets_of_block(model, present, block)) if fewest > 1 else None,
        fewest,
    )
    return shape, whole, blocked


def point(shape: Shape, effects: SiteEffects, slope: float) -> np.ndarray:
    beta = np.zeros(n_parameters(shape, effects, 2))
    slots = shape.slopes_per_column
    beta[: 3 * slots] = np.tile([0.2, -0.1, slope], slots) * np.repeat(np.arange(1, slots + 1) if slots == 2 else np.ones(slots), 3)
    if shape.family is Family.PROPORTIONAL:
        beta[3:5] = 1.0 + abs(slope), 2.0 + 2.0 * abs(slope)
    if shape.family is Family.GENERALIZED and effects in (SiteEffects.NONE, SiteEffects.JOINT):
        beta[shape.n_shared :] = np.tile([-1.0, 0.2, 1.5], len(beta[shape.n_shared :]) // 3)
    return beta


@pytest.mark.parametrize("effects", EFFECTS)
@pytest.mark.parametrize("name", FAMILIES)
def test_blocks_of_rows_say_what_all_rows_say(name: str, effects: SiteEffects) -> None:
    shape, whole, blocked = kernels(table_of(), name, effects, 1)
    beta = point(shape, effects, 0.3)
    expected, warm = answer(whole, shape, effects, beta, 0, 2, None)  # type: ignore[arg-type]
    found, end = answer(blocked, shape, effects, beta, 0, 2, None)
    assert not expected.infeasible
    assert_allclose(pack(found), pack(expected), rtol=1e-9, atol=1e-8)
    if warm is not None and end is not None:
        assert_allclose(end.intercepts, warm.intercepts, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("rare", [0, 6])
@pytest.mark.parametrize("slope", [0.3, 4.0, 30.0, 500.0])
@pytest.mark.parametrize("name", FAMILIES)
def test_the_rule_on_few_rows_decides_alike(name: str, slope: float, rare: int) -> None:
    """At points of all steepnesses, with a level that few rows have and without."""
    table = table_of(rare)
    shape, whole, blocked = kernels(table, name, SiteEffects.PROFILED, FEWEST)
    beta = point(shape, SiteEffects.PROFILED, slope if name != "poisson" else slope / 20.0)
    expected, _ = answer(whole, shape, SiteEffects.PROFILED, beta, 0, 2, None)  # type: ignore[arg-type]
    found, _ = answer(blocked, shape, SiteEffects.PROFILED, beta, 0, 2, None)
    assert (found.infeasible, found.withheld) == (expected.infeasible, expected.withheld)


def test_points_of_both_kinds_are_among_these() -> None:
    """The last test compares nothing if all points are told, or none is."""
    withheld = set()
    for name in FAMILIES:
        for slope in (0.3, 500.0):
            shape, whole, _ = kernels(table_of(), name, SiteEffects.PROFILED, FEWEST)
            beta = point(shape, SiteEffects.PROFILED, slope if name != "poisson" else slope / 20.0)
            withheld.add(answer(whole, shape, SiteEffects.PROFILED, beta, 0, 2, None)[0].withheld)  # type: ignore[arg-type]
    assert withheld == {True, False}


def test_models_that_share_passes_are_answered_as_each_alone() -> None:
    table = table_of()
    runs, alone = [], []
    for name in FAMILIES:
        shape, whole, blocked = kernels(table, name, SiteEffects.PROFILED, 1)
        beta = point(shape, SiteEffects.PROFILED, 0.2)
        for kernel in (blocked, whole, None):  # over blocks, with rows of its own, and without any
            alone.append(answer(kernel, shape, SiteEffects.PROFILED, beta, 0, 2, None)[0])  # type: ignore[arg-type]
            runs.append(steps(kernel, shape, SiteEffects.PROFILED, beta, 0, 2, None))  # type: ignore[arg-type]
    for (found, _), expected in zip(answer_together(table, runs), alone, strict=True):
        np.testing.assert_array_equal(pack(found), pack(expected))
