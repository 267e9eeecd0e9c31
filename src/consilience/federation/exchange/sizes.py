"""Sign and size of an association, from the unrestricted fit that a test has anyway: no request, no round, no number of a site more.

A Gaussian fit is in the cross-products. A fit in steps ends with a point and with the information there; what is kept of it are its slopes
and their covariance. Standard deviations are those of the cross-products, about the mean of each site (about the common mean where sites
share one intercept).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from consilience.citest.laws import Law
from consilience.citest.result import Direction
from consilience.citest.size import MINUS, NO_SIGN, PLUS, Measure, Size, half_width, size_of
from consilience.data.design import ModelSpec, column_names
from consilience.data.kinds import Kind
from consilience.federation.exchange.likelihood import Sketch
from consilience.federation.exchange.sums import Slopes, Sums
from consilience.glm.gram import COLLINEAR, estimable, residual_sum
from consilience.glm.kernel import Floats
from consilience.glm.layout import Family
from consilience.glm.solver import LONG_STEP, Newton
from consilience.protocol.products import ProductsTotal

__all__ = ["Sizer", "slopes_of"]


def slopes_of(newton: Newton, info: Floats | None, shape: Sketch, *, random: bool) -> Slopes:
    """Of a finished fit in steps: its slopes, and their covariance where the information is known.

    A slope that still runs away at the end, because it predicts a level perfectly, is NaN. With random site effects their
    spread, the last parameter, is held at its estimate, and so is the precision of a Gaussian response: variances of rows and of sites.
    """
    n, beta = newton.problem.n_slopes, newton.state.beta + newton.state.step
    held = [*([n] if shape.gaussian else []), *([len(beta) - 1] if random else [])]
    free = np.delete(np.arange(len(beta)), held)
    covariance = None if info is None else _inverse(info[np.ix_(free, free)])
    precision = float(beta[n]) if shape.gaussian else 1.0  # the parameters of a Gaussian model are slopes times precision
    slopes = beta[:n] / precision
    slopes[np.abs(newton.state.step[:n]) * newton.problem.scale[:n] > LONG_STEP] = np.nan
    return Slopes(slopes, None if covariance is None else covariance[:n, :n] / precision**2)


def _inverse(info: Floats) -> Floats | None:
    """The inverse; parameters without information (a site that has no row of the model) are left out of it. None if there is none."""
    diagonal = np.diag(info)
    there = np.flatnonzero(diagonal > 0)
    unit = 1.0 / np.sqrt(diagonal[there])
    found = np.full_like(info, np.nan)
    try:
        inside = np.linalg.inv(info[np.ix_(there, there)] * np.outer(unit, unit))
    except np.linalg.LinAlgError:
        return None
    found[np.ix_(there, there)] = inside * np.outer(unit, unit)
    return found


class _Columns(NamedTuple):
    """A predictor's estimable columns: where they stand among the kept ones, what each is divided by, its levels, and their order."""

    places: list[int]
    scale: float
    levels: list[tuple[str, str]]
    order: list[float] | None


class Sizer:
    """Sizes for the tests of a batch; what several of them need is worked out once."""

    def __init__(self, sums: Sums) -> None:
        self._sums = sums
        self._names: dict[ModelSpec, list[tuple[str, int]]] = {}
        self._gaussian: dict[ModelSpec, Slopes] = {}
        self._deviations: dict[tuple[int, str], float] = {}

    def sized(self, direction: Direction, model: ModelSpec, shape: Sketch, found: ProductsTotal) -> tuple[tuple[Size, ...], str | None]:
        """The sizes and the sign of an informative comparison; nothing where its slopes are not all told by the data."""
        columns = self._columns(model, direction.predictor, shape, found)
        if columns is None or direction.df != len(columns.places) * shape.per_column:
            return (), None
        slopes = self._of_gram(model, shape, found) if shape.shape is None else self._sums.slopes.get(model)
        if slopes is None:
            return (), None
        own = [block * shape.rank + place for block in range(shape.per_column) for place in columns.places]
        scale = columns.scale / self._deviation(model.response, found) if shape.gaussian else columns.scale
        estimates = (slopes.estimates[own] * scale).tolist()
        covariance = None
        if slopes.covariance is not None:
            factor = scale**2 * direction.dispersion * (shape.n / direction.residual_df if direction.law == Law.F else 1.0)
            covariance = slopes.covariance[own][:, own] * factor
        sizes = self._named(direction, shape, columns, estimates, covariance)
        return sizes, _sign(shape, columns, estimates, covariance) if sizes else None

    def _columns(self, model: ModelSpec, predictor: str, shape: Sketch, found: ProductsTotal) -> _Columns | None:
        """The predictor's columns; None where its levels are not all compared with one of them."""
        if model not in self._names:
            names = column_names(self._sums.schema, model.predictors)
            self._names[model] = [names[column] for column in shape.keep]
        own = [(place, level) for place, (name, level) in enumerate(self._names[model]) if name == predictor]
        places, variable = [place for place, _ in own], self._sums.schema[predictor]
        if not variable.kind.is_discrete:
            return _Columns(places, self._deviation(predictor, found), [("", "")], [1.0])
        kept, varying = [level for _, level in own], self._varying(predictor, found)
        rest = [level for level in varying if level not in kept]
        if len(rest) != 1:
            return None
        levels = [(variable.levels[level], variable.levels[rest[0]]) for level in kept]
        ordered = variable.kind is not Kind.MULTINOMIAL or len(varying) == 2
        order = [float(varying.index(level) - varying.index(rest[0])) for level in kept] if ordered else None
        return _Columns(places, 1.0, levels, order)

    def _varying(self, name: str, found: ProductsTotal) -> list[int]:
        """The levels that some site has beside another one. The first has no column: it is what all others leave of one."""
        own, always = found.columns[name], self._always(found)
        if not always:
            first, squares = float(found.gram[np.ix_(own, own)].sum()), np.diag(found.gram)[own].tolist()
        else:
            turn = np.vstack([np.eye(len(found.gram)), np.isin(np.arange(len(found.gram)), own)])
            whole = turn @ found.gram @ turn.T
            first, *squares = (residual_sum(whole, i, always) for i in (len(found.gram), *own))
        least = COLLINEAR * max(sum(squares), np.finfo(float).tiny)
        return [level for level, square in enumerate([first, *squares]) if square > least]

    def _always(self, found: ProductsTotal) -> list[int]:
        """The columns that say where a row is from, where rows are pooled; elsewhere none."""
        always = self._sums.options.always
        return estimable(found.gram, [i for other in always for i in found.columns[other]]) if always else []

    def _deviation(self, name: str, found: ProductsTotal) -> float:
        """The standard deviation of a number about the means of sites, or about the common one."""
        key = (id(found), name)
        if key not in self._deviations:
            (own,) = found.columns[name]
            self._deviations[key] = math.sqrt(residual_sum(found.gram, own, self._always(found)) / found.n)
        return self._deviations[key]

    def _of_gram(self, model: ModelSpec, shape: Sketch, found: ProductsTotal) -> Slopes:
        """Slopes of a Gaussian model from the cross-products, and their covariance from what its fit left, with n in the denominator."""
        if model not in self._gaussian:
            sums = self._sums
            positions = [i for name in model.predictors for i in found.columns[name]]
            columns = [positions[j] for j in shape.keep]
            (response,) = found.columns[model.response]
            inside = found.gram[np.ix_(columns, columns)]
            scale = np.sqrt(np.diag(inside))
            inverse = np.linalg.inv(inside / np.outer(scale, scale) + sums.options.ridge * np.eye(len(columns))) / np.outer(scale, scale)
            loglik = sums.fits[model].loglik + found.n * (sums.exponents or {}).get(model.response, 0) * math.log(2.0)
            variance = math.exp(-2.0 * loglik / found.n - 1.0) / (2.0 * math.pi)  # RSS/n, see gaussian_loglik
            self._gaussian[model] = Slopes(inverse @ found.gram[columns, response], variance * inverse)
        return self._gaussian[model]

    def _named(
        self, direction: Direction, shape: Sketch, columns: _Columns, estimates: list[float], covariance: Floats | None
    ) -> tuple[Size, ...]:
        """Each number with what it compares; none at all where one of them is out of range."""
        reach = half_width(direction.law, float(direction.rows), direction.residual_df)
        family = Family.GAUSSIAN if shape.shape is None else shape.shape.family
        measure = {Family.GAUSSIAN: Measure.SLOPE, Family.POISSON: Measure.RATE}.get(family, Measure.ODDS)
        outcomes = [("", "")]
        if family in (Family.LOGIT, Family.MULTINOMIAL, Family.GENERALIZED):
            every = self._sums.schema[direction.response].levels
            first, *others = (every[level] for level in shape.levels)
            outcomes = [(f"{level} or higher", "") if family is Family.GENERALIZED else (level, first) for level in others]
        told = list[Size]()
        compared = ((level, outcome) for outcome in outcomes for level in columns.levels)
        variances = [None] * len(estimates) if covariance is None else np.diag(covariance).tolist()
        for estimate, variance, (level, outcome) in zip(estimates, variances, compared, strict=True):
            if variance is not None and not variance >= 0.0:
                return ()
            se = None if variance is None else math.sqrt(variance)
            size = size_of(measure, estimate, se, reach, (direction.response, direction.predictor, *level, *outcome))
            if size is None:
                return ()
            told.append(size)
        return tuple(told)


def _sign(shape: Sketch, columns: _Columns, estimates: list[float], covariance: Floats | None) -> str:
    """Whether more goes with more: of several numbers, their trend over the order of levels, each weighed by what is known of it."""
    if columns.order is None or (shape.shape is not None and shape.shape.family is Family.MULTINOMIAL):
        return NO_SIGN
    order = columns.order * shape.per_column
    if len(order) == 1:
        trend = order[0] * estimates[0]
    elif covariance is None:
        signs = {math.copysign(1.0, place * estimate) for place, estimate in zip(order, estimates, strict=True)}
        trend = signs.pop() if len(signs) == 1 else 0.0
    else:
        trend = float(np.array(order) @ np.linalg.lstsq(covariance, np.array(estimates), rcond=None)[0])
    return PLUS if trend > 0 else MINUS if trend < 0 else NO_SIGN
