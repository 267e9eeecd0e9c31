"""Sign and size of an association, from the unrestricted fit that a test has anyway: no request, no round, no number of a site more.

A Gaussian fit is in the cross-products. A fit in steps ends with a point and with the information there; what is kept of it is, for each
predictor, its slopes and their covariance. Standard deviations are those of the cross-products, about the mean of each site (about the
common mean where sites share one intercept).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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

__all__ = ["sized", "slopes_of"]

Named = tuple[str, str]


class _Columns(NamedTuple):
    """A predictor's estimable columns: where they stand among the kept ones, what each is divided by, its levels, and their order."""

    places: list[int]
    scale: Floats
    levels: list[Named]
    order: Floats | None


def slopes_of(
    newton: Newton, info: Floats | None, shape: Sketch, positions: Mapping[str, Sequence[int]], *, random: bool
) -> dict[str, Slopes]:
    """Of a finished fit in steps: each predictor's slopes, and their covariance where the information is known.

    A predictor whose slopes still run away at the end is left out: it predicts a level perfectly. With random site effects the last
    parameter, their spread, is held at its estimate.
    """
    beta = newton.state.beta + newton.state.step
    reach = np.abs(newton.state.step) * newton.problem.scale
    covariance = None if info is None else _inverse(info[:-1, :-1] if random else info)
    if shape.gaussian and covariance is not None:  # the parameters are slopes times precision, and the precision
        precision = shape.rank
        turn = np.eye(len(covariance)) / beta[precision]
        turn[:precision, precision] = -beta[:precision] / beta[precision] ** 2
        covariance = turn @ covariance @ turn.T
        beta = beta / beta[precision]
    found = {}
    for name, own in positions.items():
        place = list(own)
        if not (reach[place] > LONG_STEP).any():
            found[name] = Slopes(beta[place], None if covariance is None else covariance[np.ix_(place, place)])
    return found


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


def sized(direction: Direction, model: ModelSpec, shape: Sketch, found: ProductsTotal, sums: Sums) -> tuple[tuple[Size, ...], str | None]:
    """The sizes and the sign of an informative comparison; nothing where its slopes are not all told by the data."""
    columns = _columns(model, direction.predictor, shape, found, sums)
    if columns is None or direction.df != len(columns.places) * shape.per_column:
        return (), None
    slopes = _gaussian(direction, model, shape, found, sums) if shape.shape is None else sums.slopes.get(model, {}).get(direction.predictor)
    if slopes is None or (shape.shape is None and len(slopes.estimates) != len(columns.places)):
        return (), None
    unit = 1.0 / _deviation(model.response, found, sums) if shape.gaussian else 1.0
    scale = np.tile(columns.scale, shape.per_column) * unit
    estimates = slopes.estimates * scale
    covariance = None if slopes.covariance is None else slopes.covariance * np.outer(scale, scale) * direction.dispersion
    return _named(direction, shape, columns, estimates, covariance, sums), _sign(shape, columns, estimates, covariance)


def _columns(model: ModelSpec, predictor: str, shape: Sketch, found: ProductsTotal, sums: Sums) -> _Columns | None:
    """The predictor's columns; None where its levels are not all compared with one of them."""
    names = column_names(sums.schema, model.predictors)
    places = [place for place, column in enumerate(shape.keep) if names[column][0] == predictor]
    variable = sums.schema[predictor]
    if not variable.kind.is_discrete:
        return _Columns(places, np.array([_deviation(predictor, found, sums)]), [("", "")], np.ones(1))
    kept = [names[shape.keep[place]][1] for place in places]
    varying = _varying(predictor, found, sums)
    rest = [level for level in varying if level not in kept]
    if len(rest) != 1:
        return None
    levels = [(variable.levels[level], variable.levels[rest[0]]) for level in kept]
    ordered = variable.kind is not Kind.MULTINOMIAL or len(varying) == 2
    rank = {level: float(place) for place, level in enumerate(sorted(varying))}
    order = np.array([rank[level] - rank[rest[0]] for level in kept]) if ordered else None
    return _Columns(places, np.ones(len(places)), levels, order)


def _varying(name: str, found: ProductsTotal, sums: Sums) -> list[int]:
    """The levels that some site has beside another one. The first has no column: it is what all others leave of one."""
    own, always = found.columns[name], _always(found, sums)
    if not always:
        first, squares = float(found.gram[np.ix_(own, own)].sum()), np.diag(found.gram)[own].tolist()
    else:
        turn = np.vstack([np.eye(len(found.gram)), np.isin(np.arange(len(found.gram)), own)])
        whole = turn @ found.gram @ turn.T
        first, *squares = (residual_sum(whole, i, always) for i in (len(found.gram), *own))
    least = COLLINEAR * max(sum(squares), np.finfo(float).tiny)
    return [level for level, square in enumerate([first, *squares]) if square > least]


def _always(found: ProductsTotal, sums: Sums) -> list[int]:
    """The columns that say where a row is from, where rows are pooled; elsewhere none."""
    return estimable(found.gram, [i for other in sums.options.always for i in found.columns[other]]) if sums.options.always else []


def _deviation(name: str, found: ProductsTotal, sums: Sums) -> float:
    """The standard deviation of a number about the means of sites, or about the common one."""
    (own,) = found.columns[name]
    return math.sqrt(residual_sum(found.gram, own, _always(found, sums)) / found.n)


def _gaussian(direction: Direction, model: ModelSpec, shape: Sketch, found: ProductsTotal, sums: Sums) -> Slopes:
    """Slopes and covariance of a Gaussian model, from the cross-products and from what its fit left."""
    names = column_names(sums.schema, model.predictors)
    positions = [i for name in model.predictors for i in found.columns[name]]
    columns = [positions[j] for j in shape.keep]
    own = [place for place, j in enumerate(shape.keep) if names[j][0] == direction.predictor]
    (response,) = found.columns[model.response]
    scale = np.sqrt(found.gram[columns, columns])
    inverse = np.linalg.inv(found.gram[np.ix_(columns, columns)] / np.outer(scale, scale) + sums.options.ridge * np.eye(len(columns)))
    slopes = (inverse[own] @ (found.gram[columns, response] / scale)) / scale[own]
    exponent = (sums.exponents or {}).get(model.response, 0)
    loglik = sums.fits[model].loglik + found.n * exponent * math.log(2.0)
    variance = math.exp(-2.0 * loglik / found.n - 1.0) / (2.0 * math.pi)  # RSS/n, see gaussian_loglik
    if direction.law == Law.F:
        variance *= found.n / direction.residual_df
    return Slopes(slopes, variance * inverse[np.ix_(own, own)] / np.outer(scale[own], scale[own]))


def _named(
    direction: Direction, shape: Sketch, columns: _Columns, estimates: Floats, covariance: Floats | None, sums: Sums
) -> tuple[Size, ...]:
    """Each number with what it compares; none at all where one of them is out of range."""
    reach = half_width(direction.law, float(direction.rows), direction.residual_df)
    response = sums.schema[direction.response]
    family = Family.GAUSSIAN if shape.shape is None else shape.shape.family
    measure = {Family.GAUSSIAN: Measure.SLOPE, Family.POISSON: Measure.RATE}.get(family, Measure.ODDS)
    seen = [response.levels[level] for level in shape.levels]
    outcomes = [("", "")]
    if family in (Family.LOGIT, Family.MULTINOMIAL):
        outcomes = [(level, seen[0]) for level in seen[1:]]
    elif family is Family.GENERALIZED:
        outcomes = [(f"{level} or higher", "") for level in seen[1:]]
    told = list[Size]()
    compared = [(level, outcome) for outcome in outcomes for level in columns.levels]
    for place, (level, outcome) in enumerate(compared):
        variance = None if covariance is None else float(covariance[place, place])
        if variance is not None and not variance >= 0.0:
            return ()
        se = None if variance is None else math.sqrt(variance)
        about = (direction.response, direction.predictor, *level, *outcome)
        size = size_of(measure, float(estimates[place]), se, reach, about)
        if size is None:
            return ()
        told.append(size)
    return tuple(told)


def _sign(shape: Sketch, columns: _Columns, estimates: Floats, covariance: Floats | None) -> str:
    """Whether more goes with more: of several numbers, their trend over the order of levels, each weighed by what is known of it."""
    several = shape.shape is not None and shape.shape.family is Family.MULTINOMIAL
    if columns.order is None or several:
        return NO_SIGN
    order = np.tile(columns.order, shape.per_column)
    if len(order) == 1:
        trend = float(order[0] * estimates[0])
    elif covariance is None or not np.isfinite(covariance).all():
        signs = set(np.sign(order * estimates).tolist())
        trend = signs.pop() if len(signs) == 1 else 0.0
    else:
        trend = float(order @ np.linalg.lstsq(covariance, estimates, rcond=None)[0])
    return PLUS if trend > 0 else MINUS if trend < 0 else NO_SIGN
