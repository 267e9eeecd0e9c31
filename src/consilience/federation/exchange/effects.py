"""Total effects from sums: the full model of a test, fitted as every other, then one round at its fitted parameters.

The model of y given x and an adjustment set is the one that a test of x and y given the set compares with: it is fitted as part of that
test, and is there already where the test was done. What is asked besides are outcomes under the intervention (:mod:`consilience.protocol
.standardise`), for all effects of a batch in one round. docs/effects.md has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from consilience.citest.effect import Change, Contrast, Estimate, Variance
from consilience.citest.interface import Progress
from consilience.citest.laws import Law
from consilience.citest.question import Question
from consilience.citest.result import CIResult, Direction
from consilience.citest.size import half_width
from consilience.data.design import ModelSpec, column_names
from consilience.data.kinds import Kind
from consilience.federation.exchange.batch import batch
from consilience.federation.exchange.likelihood import EXACT_COUNTS, Sketch, sketch
from consilience.federation.exchange.sums import Sums
from consilience.glm.gram import least_squares, residual_sum
from consilience.glm.kernel import Floats
from consilience.glm.layout import Family, SiteEffects
from consilience.glm.misfit import pseudo_inverse
from consilience.glm.solver import Fit
from consilience.glm.standard import Robust, Standard
from consilience.protocol.evaluate import ModelAsk
from consilience.protocol.products import ProductsTotal
from consilience.protocol.single import SingleRequest
from consilience.protocol.standardise import ROWS_PER_PREDICTION, StandardAsk, Standardise

__all__ = ["effect_batch"]

Estimating = Generator[SingleRequest, Floats, list[Estimate]]
APART = 2.0**-24
"""Where a site has gone, effects are asked for this far from where they would be, as a share: in no point that was answered before."""


def effect_batch(questions: Sequence[Question], sums: Sums, progress: Progress | None = None) -> Estimating:
    """Estimate the effect of x on y for each question, adjusted for what is given; what is learnt stays in ``sums``."""
    results = yield from batch(questions, sums, progress)
    plans = [_plan(question, result, sums) for question, result in zip(questions, results, strict=True)]
    asked = [plan for plan in plans if isinstance(plan, _Plan) and plan.ask is not None]
    totals: dict[int, Standard | Robust] = {}
    if asked:
        asks = tuple(plan.ask for plan in asked if plan.ask is not None)
        request = Standardise(asks, sums.options.ordinal, sums.exponents or {}, sums.locations)
        found = request.read((yield request), sums.schema)
        totals = {id(plan): total for plan, total in zip(asked, found, strict=True)}
    return [plan if isinstance(plan, Estimate) else plan.estimate(totals.get(id(plan)), sums) for plan in plans]


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """An effect whose model is fitted: what it is of, the columns of x among those that are kept, and what is asked at the fit."""

    question: Question
    result: CIResult
    model: ModelSpec
    shape: Sketch
    found: ProductsTotal
    places: list[int]
    levels: list[int]
    kept: list[int]
    deviation: float
    ask: StandardAsk | None

    def estimate(self, total: Standard | Robust | None, sums: Sums) -> Estimate:
        """What the sums say."""
        if isinstance(total, Standard):
            if total.infeasible:
                return self._none("its predictions at some site are about too few rows to be told, or out of all range")
            return self._told(_standardised(self, total, sums), Variance.MODEL, sums)
        robust = None if total is None or total.infeasible else total
        variance = Variance.MODEL if robust is None else Variance.ROBUST
        return self._told(_differences(self, robust, sums), variance, sums)

    def _told(self, contrasts: list[Contrast], variance: Variance, sums: Sums) -> Estimate:
        if not all(math.isfinite(n) for c in contrasts for n in (c.estimate, c.se or 0.0)):
            return self._none("its numbers are out of all range")
        question, x, y = self.question, sums.schema[self.question.x], sums.schema[self.question.y]
        exponent = (sums.exponents or {}).get(question.x, 0)
        return Estimate(
            question.x,
            question.y,
            tuple(sorted(question.given)),
            self.result.n,
            self.result.contributors,
            tuple(contrasts),
            self.result.p_value,
            None if x.kind.is_discrete else float(np.ldexp(self.deviation, exponent)),
            x.unit,
            y.unit,
            variance.value,
        )

    def _none(self, reason: str) -> Estimate:
        return _no_estimate(self.question, self.result, reason)


def _no_estimate(question: Question, result: CIResult, reason: str) -> Estimate:
    return Estimate(question.x, question.y, tuple(sorted(question.given)), result.n, result.contributors, reason=reason)


def _plan(question: Question, result: CIResult, sums: Sums) -> _Plan | Estimate:
    """What to ask for an effect, or why there is no estimate."""
    limits, options = sums.options.disclosure, sums.options
    if limits.alone(result.contributors):
        reason = "only one site measures these variables together, and tells of them no more than a rounded p-value"
        return _no_estimate(question, result, reason)
    by_y = next((d for d in result.directions if d.response == question.y), None)
    if by_y is None or not by_y.informative:
        return _no_estimate(question, result, result.reason if by_y is None else by_y.reason or result.reason)
    predictors = tuple(sorted((question.x, *question.given)))
    model = ModelSpec(question.y, predictors, question.variables)
    found, fit = sums.cover(model.sample), sums.fits.get(model)
    assert found is not None
    assert fit is not None
    shape = sketch(model, found, sums)
    if fit.separated or by_y.separated:
        reason = f"a level of {question.y} is predicted perfectly, so that its model has no finite maximum"
        return _no_estimate(question, result, reason if shape.shape is not None else f"{question.y} is an exact function of the others")
    if options.effects is SiteEffects.RANDOM and not shape.gaussian:
        reason = f"risks of {question.y} are not standardised over random site effects; a study with site_effects='profiled' estimates them"
        return _no_estimate(question, result, reason)
    names = column_names(sums.schema, predictors)
    own = [(place, names[column][1]) for place, column in enumerate(shape.keep) if names[column][0] == question.x]
    places, positions = [place for place, _ in own], [i for name in predictors for i in found.columns[name]]
    kept = [positions[column] for column in shape.keep]
    levels, deviation = list[int](), 1.0
    if sums.schema[question.x].kind.is_discrete:
        present = np.flatnonzero(found.levels[question.x] > 0).tolist()
        rest = [level for level in present if level not in [level for _, level in own]]
        if len(rest) != 1 or by_y.df != len(places) * shape.per_column:
            reason = f"some levels of {question.x} cannot be told apart from the other variables, or occur only where {question.y} is fixed"
            return _no_estimate(question, result, reason)
        levels = present
    else:
        (column,) = found.columns[question.x]
        deviation = math.sqrt(float(found.gram[column, column]) / found.n)
    plan = _Plan(question, result, model, shape, found, places, levels, kept, deviation, None)
    return _asking(plan, fit, by_y, sums)


def _asking(plan: _Plan, fit: Fit, by_y: Direction, sums: Sums) -> _Plan | Estimate:
    """The plan with what is asked: nothing for a continuous response without intercepts of sites."""
    shape, options, question = plan.shape, sums.options, plan.question
    values: tuple[float, ...] = ()
    if shape.gaussian:
        if options.effects.common:
            return plan
        beta, dispersion = _slopes(plan, sums), 1.0
    else:
        assert shape.shape is not None
        size = shape.shape
        beta = fit.beta if options.effects is SiteEffects.NONE else fit.beta[: size.n_shared]
        middle = plan.found.centres.get(question.x, 0.0)
        half = 0.5 * plan.deviation
        values = tuple(float(level) for level in plan.levels) or (middle - half, middle + half)
        dispersion = max(by_y.dispersion, EXACT_COUNTS)
    if sums.restarted:
        beta = beta * (1.0 + sums.runs * APART)
    ask = StandardAsk(ModelAsk.of(plan.model, shape.keep, shape.levels, beta, 0.0), question.x, values, dispersion)
    breadth = ask.breadth(sums.schema, options.ordinal)
    if breadth * ROWS_PER_PREDICTION > plan.result.n:
        if shape.gaussian:  # slopes and their spread are known without: only residuals are taken to scatter alike
            return plan
        reason = f"{plan.result.n} rows are too few for {breadth} predictions and columns: at most one for {ROWS_PER_PREDICTION}"
        return _no_estimate(question, plan.result, reason)
    return replace(plan, ask=ask)


def _slopes(plan: _Plan, sums: Sums) -> Floats:
    """The slopes of a continuous response, in coded units."""
    if sums.options.effects is SiteEffects.RANDOM:
        return sums.slopes[plan.model].estimates
    (response,) = plan.found.columns[plan.question.y]
    return least_squares(plan.found.gram, response, plan.kept, ridge=sums.options.ridge)


def _differences(plan: _Plan, robust: Robust | None, sums: Sums) -> list[Contrast]:
    """Differences of means: slopes of x with their interval, by residuals as they are or as if they were alike everywhere."""
    found, shape = plan.found, plan.shape
    slopes = _slopes(plan, sums)
    (response,) = found.columns[plan.question.y]
    random = sums.options.effects is SiteEffects.RANDOM
    intercepts = 1 if sums.options.effects.common else plan.result.contributors
    residual = int(found.n) - shape.per_predictor(intercepts)
    if random:
        covariance, reach = sums.slopes[plan.model].covariance, half_width(Law.CHI2)
    else:
        inside = found.gram[np.ix_(plan.kept, plan.kept)]
        inverse = np.linalg.inv(inside + sums.options.ridge * np.diag(np.diag(inside)))
        if robust is None:
            rss = residual_sum(found.gram, response, plan.kept, sums.options.ridge)
            covariance = inverse * rss / residual
        else:  # HC1: what fitting takes from residuals is given back to all alike
            covariance = inverse @ robust.products @ inverse * (found.n / residual)
        reach = half_width(Law.F, residual_df=residual)
    unit = 2.0 ** (sums.exponents or {}).get(plan.question.y, 0) * plan.deviation
    compared = _compared(plan, sums)
    contrasts = []
    for place, (level, reference) in zip(plan.places, compared, strict=True):
        estimate = float(slopes[place]) * unit
        se = None if covariance is None else math.sqrt(max(float(covariance[place, place]), 0.0)) * unit
        low, high = (None, None) if se is None else (estimate - reach * se, estimate + reach * se)
        contrasts.append(Contrast(Change.MEAN.value, estimate, se, low, high, level, reference))
    return contrasts


def _compared(plan: _Plan, sums: Sums) -> list[tuple[str, str]]:
    """Of each value of x but the first: its level and that of the first; empty for a number."""
    if not plan.levels:
        return [("", "")]
    labels = sums.schema[plan.question.x].levels
    first, *others = (labels[level] for level in plan.levels)
    return [(other, first) for other in others]


def _standardised(plan: _Plan, total: Standard, sums: Sums) -> list[Contrast]:
    """Differences of standardised risks, or ratios of standardised means, each value of x against the first."""
    assert plan.ask is not None
    shape, n = plan.shape.shape, plan.found.n
    assert shape is not None
    point = plan.ask.model.point
    stiffness = np.zeros(len(point))
    slopes = shape.n_columns * shape.slopes_per_column
    stiffness[:slopes] = sums.options.ridge * n * np.tile(plan.shape.spreads, shape.slopes_per_column) ** 2
    inverse, _ = pseudo_inverse(total.info + np.diag(stiffness))
    gradients = total.gradients / n
    # a fit ends a little before its end: the last step, to first order
    means = total.sums / n + gradients @ (inverse @ (total.score - stiffness * point))
    covariance = total.spread / n**2 - np.outer(means, means) / n
    covariance += plan.ask.dispersion * gradients @ inverse @ gradients.T
    outcomes = _outcomes(plan, sums)
    told = _turned(plan, sums, len(means) // len(plan.ask.values))
    means, covariance = told @ means, told @ covariance @ told.T
    if shape.family is Family.MULTINOMIAL:  # the first level is what all others leave of one
        means[:: len(outcomes)] += 1.0
    reach = half_width(Law.CHI2)
    contrasts = []
    for value, (level, reference) in enumerate(_compared(plan, sums), start=1):
        for k, outcome in enumerate(outcomes):
            first, second = k, value * len(outcomes) + k
            contrasts.append(_contrast(means, covariance, (first, second), reach, (level, reference, outcome), ratio=shape.dispersed))
    return contrasts


def _turned(plan: _Plan, sums: Sums, outcomes: int) -> Floats:
    """From predictions to what is told, at each value: of several nominal levels the first as well."""
    assert plan.ask is not None
    assert plan.shape.shape is not None
    one = np.eye(outcomes)
    if plan.shape.shape.family is Family.MULTINOMIAL:
        one = np.concatenate([-np.ones((1, outcomes)), one])
    return np.kron(np.eye(len(plan.ask.values)), one).astype(np.float64, copy=False)


def _outcomes(plan: _Plan, sums: Sums) -> list[str]:
    """What is told of y, in words: levels, or levels and all above them."""
    assert plan.shape.shape is not None
    labels = sums.schema[plan.question.y].levels
    family, present = plan.shape.shape.family, [labels[level] for level in plan.shape.levels]
    if family is Family.POISSON:
        return [""]
    if family is Family.MULTINOMIAL:
        return present
    ordinal = sums.schema[plan.question.y].kind is Kind.ORDINAL and len(present) > 2
    return [f"{level} or higher" if ordinal and level != present[-1] else level for level in present[1:]]


def _contrast(
    means: Floats, covariance: Floats, places: tuple[int, int], reach: float, about: tuple[str, str, str], *, ratio: bool
) -> Contrast:
    first, second = places
    low, high = float(means[first]), float(means[second])
    towards = np.zeros(len(means))
    towards[first], towards[second] = (-1.0 / low, 1.0 / high) if ratio else (-1.0, 1.0)
    se = math.sqrt(max(float(towards @ covariance @ towards), 0.0))
    if ratio:
        estimate = high / low
        ends = estimate * math.exp(-reach * se), estimate * math.exp(reach * se)
        return Contrast(Change.RATE.value, estimate, se, *ends, *about, high, low)
    estimate = high - low
    ends = max(-1.0, estimate - reach * se), min(1.0, estimate + reach * se)  # no probability rises by more than one
    return Contrast(Change.RISK.value, estimate, se, *ends, *about, high, low)
