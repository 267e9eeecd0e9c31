"""Whether fitted models hold, over more rows than are looked at at once: all models of a request share their passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.data.blocks import over_blocks
from consilience.data.design import Coding, column_names
from consilience.data.kinds import Kind
from consilience.data.table import Table
from consilience.data.wide import Wide, find_features
from consilience.glm.blocked import Blocked, answer_together
from consilience.glm.kernel import Floats
from consilience.glm.layout import Ordinal, SiteEffects, Total
from consilience.glm.misfit import (
    Widened,
    answer_of_counts,
    answer_of_numbers,
    barrier_of,
    count_steps,
    misfit_size,
    misfit_steps,
    sums_of_counts,
    sums_of_numbers,
)
from consilience.glm.poisson import Poisson
from consilience.glm.site_effects import Steps
from consilience.protocol.desk import Desk
from consilience.protocol.evaluate import blocked_kernel, intercepts_near

if TYPE_CHECKING:
    from consilience.protocol.diagnose import DiagnoseAsk

__all__ = ["answer_many"]


@dataclass(slots=True, eq=False)
class _Asked:
    """A model with features, and what is known of it."""

    ask: DiagnoseAsk
    wide: Wide
    widened: Widened
    kind: Kind
    kernel: Blocked | None = None


def answer_many(desk: Desk, asks: Sequence[DiagnoseAsk], ordinal: Ordinal, exponents: dict[str, int]) -> list[Floats]:
    """A site's numbers for many models, all of which it holds."""
    if not asks:
        return []
    desk.averages.find(ask.model.sample for ask in asks)
    asked = [_asked(desk, ask, ordinal, exponents) for ask in asks]
    find_features(desk.table, [each.wide for each in asked])
    found: dict[int, Floats] = _numbers(desk, {i: each for i, each in enumerate(asked) if each.kind is Kind.CONTINUOUS})
    for each in asked:
        if each.kind is not Kind.CONTINUOUS:
            each.kernel = blocked_kernel(
                desk.averages,
                desk.crowds,
                each.ask.model,
                each.widened.wide,
                SiteEffects.PROFILED,
                each.wide.design,
                barrier_of(each.widened),
            )
    found |= _levels(desk, {i: each for i, each in enumerate(asked) if each.kind.is_discrete})
    found |= _counts(desk, {i: each for i, each in enumerate(asked) if each.kind is Kind.COUNT})
    return [found[i] for i in range(len(asked))]


def _asked(desk: Desk, ask: DiagnoseAsk, ordinal: Ordinal, exponents: dict[str, int]) -> _Asked:
    model, schema, averages, crowds = ask.model, desk.table.schema, desk.averages, desk.crowds
    # centred at the site whatever the site effects are, as where all rows are at hand
    coding, names = Coding(exponents), column_names(schema, model.predictors)
    kept = [names[j] for j in model.keep]
    scales = [None if schema[name].kind.is_discrete else s for (name, _), s in zip(kept, ask.scales, strict=True)]
    kind = schema[model.response].kind
    middle = float(averages.columns(model.sample, [(model.response, 0)], coding)[0]) if kind is Kind.CONTINUOUS else 0.0
    means = averages.columns(model.sample, kept, coding)
    levels = crowds.levels(model.spec, kept)
    wide = Wide(model.spec, model.keep, coding, means, ask.plan(schema), scales, middle, levels, crowds.fewest)
    return _Asked(ask, wide, ask.widened(schema, ordinal), kind)


def _numbers(desk: Desk, asked: dict[int, _Asked]) -> dict[int, Floats]:
    """Models of continuous responses: one pass, since they need no search."""
    look = partial(_of_block, _residual_sums, [(each, each.widened.place(each.ask.model.point)) for each in asked.values()])
    return {
        i: answer_of_numbers(sums, each.widened) for (i, each), sums in zip(asked.items(), _added(desk.table, asked, look), strict=True)
    }


def _of_block(
    sums: Callable[[_Asked, Floats, Table], list[Any] | None], asked: Sequence[tuple[_Asked, Floats]], block: Table
) -> list[list[Any] | None]:
    """What one block adds, model by model."""
    return [sums(each, point, block) for each, point in asked]


def _residual_sums(each: _Asked, slopes: Floats, block: Table) -> list[Any]:
    design = each.wide.design(block)
    residuals = each.wide.numbers(design.response.astype(np.float64)) - np.dot(design.columns, slopes)
    return sums_of_numbers(design.columns, residuals / each.ask.dispersion)


def _levels(desk: Desk, asked: dict[int, _Asked]) -> dict[int, Floats]:
    """Models of levels: searches over intercepts, which share their passes."""
    runs: list[Steps[Floats]] = []
    for each in asked.values():
        model = each.ask.model
        rows = float(desk.table.complete(model.sample).n)
        runs.append(misfit_steps(each.kernel, model.point, each.widened, rows, intercepts_near(desk, model)))
    return dict(zip(asked, answer_together(desk.table, runs), strict=True))


def _counts(desk: Desk, asked: dict[int, _Asked]) -> dict[int, Floats]:
    """Models of counts: their score and information, then how squares of residuals lie beside what they should be."""
    silent = {i: np.zeros(misfit_size(each.widened, squares=True, robust=True)) for i, each in asked.items() if each.kernel is None}
    fitted = {i: each for i, each in asked.items() if each.kernel is not None}
    runs: list[Steps[tuple[Total, Floats]]] = [
        count_steps(each.kernel, each.ask.model.point, each.widened) for each in fitted.values() if each.kernel is not None
    ]
    ends = dict(zip(fitted, answer_together(desk.table, runs), strict=True))
    told = {i: each for i, each in fitted.items() if not (ends[i][0].infeasible or ends[i][0].withheld)}
    look = partial(_of_block, _excess_sums, [(each, ends[i][1]) for i, each in told.items()])
    sums = dict(zip(told, _added(desk.table, told, look), strict=True))
    return silent | {i: answer_of_counts(ends[i][0], sums.get(i, ()), each.widened) for i, each in fitted.items()}


def _excess_sums(each: _Asked, intercept: Floats, block: Table) -> list[Any] | None:
    assert each.kernel is not None
    kernel = each.kernel.of_block(block, {})
    if kernel is None:
        return None
    assert isinstance(kernel, Poisson)
    return sums_of_counts(kernel, each.widened.place(each.ask.model.point), intercept, each.ask.dispersion)


def _added(table: Table, asked: dict[int, _Asked], look: Any) -> list[list[Any]]:
    """The sums of blocks, model by model; a block without rows of a model adds nothing."""
    found: list[list[Any]] = [[] for _ in asked]
    if not asked:
        return found
    for parts in over_blocks(table, {name for each in asked.values() for name in each.ask.model.sample}, look, portable=True):
        for k, part in enumerate(parts):
            if part is not None:
                found[k] = part if not found[k] else [one + other for one, other in zip(found[k], part, strict=True)]
    return found
