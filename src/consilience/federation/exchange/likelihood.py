"""Likelihood-ratio logic: what a model looks like given the cross-products, and what two nested fits say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from consilience.citest.combine import symmetric
from consilience.citest.laws import Law, tail
from consilience.citest.question import Question
from consilience.citest.result import CIResult, Direction, silent
from consilience.data.design import ModelSpec
from consilience.data.kinds import Kind
from consilience.federation.exchange.sums import Sums
from consilience.glm.gram import estimable, gaussian_loglik, residual_sum
from consilience.glm.kernel import Floats
from consilience.glm.layout import Family, Shape, SiteEffects, family_of, n_parameters
from consilience.glm.solver import Fit, FitProblem
from consilience.protocol.products import ProductsTotal

__all__ = [
    "MOST_ROUNDS",
    "Reference",
    "Sketch",
    "closed_form",
    "direction",
    "gaussian_fit",
    "no_information",
    "problem",
    "reference",
    "refusal",
    "result",
    "sketch",
]

ASIDE = 2.0**-7
"""How far from where an earlier fit stood a new one begins, in standard deviations of a column: near, and never at the same point."""
MOST_ROUNDS, MOST_COORDINATE = 200, 50
"""Rounds of one fit. Ordinary ones take six to ten; by coordinates up to thirty. One that needs more converges sublinearly (a level that
is predicted perfectly, columns that are nearly collinear, one huge value), and goes on with the sites' profiled information instead."""
ROWS_PER_PARAMETER = 4
"""A model of a discrete response with fewer rows for each of its parameters (slopes, thresholds, intercepts of sites) is refused. With four
and more, the scaled χ² rejected 0.047 of the time at 0.05 on average over 25 settings of 30 to 200 rows, at most 0.074; with fewer 0.066
and up to 0.09 (docs/statistics.md). A continuous response needs no such rule, since F is exact."""
EXACT = 1e-13
"""A residual sum of squares below this share of the total is rounding: the response is a function of the predictors."""


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """A model after the cross-products are known: estimable columns (``keep`` counts within the predictors), observed levels, shape.

    ``shape`` is None for a Gaussian response. ``varies`` is False where the response is constant (within every site, if sites have
    intercepts of their own).
    """

    keep: tuple[int, ...]
    levels: tuple[int, ...]
    shape: Shape | None
    varies: bool
    spreads: Floats
    shares: Floats
    n: float

    @property
    def rank(self) -> int:
        """Estimable columns."""
        return len(self.keep)

    @property
    def per_column(self) -> int:
        """Degrees of freedom that one column is worth."""
        return 1 if self.shape is None else self.shape.slopes_per_column

    def per_predictor(self, intercepts: int) -> int:
        """Parameters of one linear predictor, so many intercepts included."""
        return self.rank + intercepts

    def n_estimated(self, sites: int) -> int:
        """Parameters that the data must determine, intercepts of ``sites`` sites included."""
        if self.shape is None:
            return self.rank + sites + 1
        return self.shape.n_shared + sites * self.shape.n_intercepts


def sketch(model: ModelSpec, found: ProductsTotal, sums: Sums) -> Sketch:
    """Read a model's estimable columns and observed levels off the cross-products of its sample."""
    positions = [i for name in model.predictors for i in found.columns[name]]
    kept = set(estimable(found.gram, positions))
    keep = tuple(j for j, i in enumerate(positions) if i in kept)
    response = sums.schema[model.response]
    own = found.columns[model.response]
    common = [i for name in sums.options.always for i in found.columns[name]]
    varies = any(i in own for i in estimable(found.gram, [*common, *own]))
    spreads = np.sqrt(np.maximum(np.diag(found.gram)[[positions[j] for j in keep]], 0.0) / max(found.n, 1.0))
    if response.kind is Kind.CONTINUOUS:
        return Sketch(keep, (), None, varies, spreads, np.empty(0), found.n)
    counts = found.levels[model.response]
    levels = tuple(int(i) for i in np.flatnonzero(counts > 0))
    varies = varies and len(levels) > 1
    shape = Shape(family_of(response.kind, max(len(levels), 2), sums.options.ordinal), len(keep), max(len(levels), 2))
    return Sketch(keep, levels, shape, varies, spreads, counts[list(levels)] / max(found.n, 1.0), found.n)


def closed_form(model: ModelSpec, shape: Sketch, found: ProductsTotal, sums: Sums) -> Fit | None:
    """The fit of a model that needs no iteration: Gaussian, or without predictors. None for the others."""
    if not shape.varies:
        return None
    if shape.shape is None:
        return _gaussian_fit(model, shape, found, sums)
    if shape.rank == 0 and shape.shape.family is not Family.PROPORTIONAL:  # each site's shares are its fit
        return Fit(found.nulls[model.response], 0, converged=True)
    return None


def _gaussian_fit(model: ModelSpec, shape: Sketch, found: ProductsTotal, sums: Sums) -> Fit:
    """In the response's own unit, as :func:`gaussian_fit` has it."""
    positions = [i for name in model.predictors for i in found.columns[name]]
    (response,) = found.columns[model.response]
    rss = residual_sum(found.gram, response, [positions[j] for j in shape.keep], sums.options.ridge)
    return gaussian_fit(model, found, rss, sums, EXACT)


def gaussian_fit(model: ModelSpec, found: ProductsTotal, rss: float, sums: Sums, exact: float) -> Fit:
    """The fit with a residual sum of squares. Below the share ``exact`` of the total it is rounding."""
    (response,) = found.columns[model.response]
    floor = exact * float(found.gram[response, response])
    exponent = (sums.exponents or {}).get(model.response, 0)
    loglik = gaussian_loglik(max(rss, floor), found.n) - found.n * exponent * math.log(2.0)
    return Fit(loglik, 0, converged=True, separated=rss <= floor)


def problem(shape: Sketch, sums: Sums, begin: Floats | None = None) -> FitProblem:
    """Starting point and scales of an iterative fit: zero slopes, thresholds and intercepts from the level counts.

    A fit may also ``begin`` next to where an earlier one stood, if that point has the right length.
    """
    assert shape.shape is not None
    size, options = shape.shape, sums.options
    sites = options.n_sites
    start = np.zeros(n_parameters(size, options.effects, sites))
    scale = np.zeros_like(start)
    n_slopes = size.n_columns * size.slopes_per_column
    scale[:n_slopes] = np.tile(shape.spreads, size.slopes_per_column)
    scale[size.n_shared :] = 1.0
    shares = shape.shares
    if size.family is Family.MULTINOMIAL:
        intercepts = np.log(shares[1:] / shares[0])
    else:
        cumulative = np.cumsum(shares)[:-1]
        thresholds = np.log(cumulative / (1.0 - cumulative))
        intercepts = thresholds
        if size.family is Family.LOGIT:
            intercepts = -thresholds
        elif size.family is Family.PROPORTIONAL:
            start[n_slopes : size.n_shared] = thresholds[1:] - thresholds[0]
            intercepts = np.array([thresholds.mean()])
    copies = {SiteEffects.NONE: 1, SiteEffects.JOINT: sites}.get(options.effects, 0)
    start[size.n_shared :] = np.tile(intercepts, copies)
    if begin is not None and len(begin) == len(start):
        start = begin * (1.0 + ASIDE)
        start[:n_slopes] += ASIDE / scale[:n_slopes]
    return FitProblem(
        start,
        scale,
        n_slopes,
        increasing=slice(n_slopes, size.n_shared) if size.family is Family.PROPORTIONAL else None,
        barrier=size.family is Family.GENERALIZED,
        quadratic=options.effects is not SiteEffects.COORDINATE,
        most_rounds=MOST_COORDINATE if options.effects is SiteEffects.COORDINATE else MOST_ROUNDS,
        ridge=options.ridge,
        weight=shape.n,
    )


def refusal(question: Question, response: str, restricted: Sketch, full: Sketch, sums: Sums, sites: int) -> str:
    """Why a direction is not informative, or the empty string."""
    predictor = question.y if response == question.x else question.x
    within = "" if sums.options.effects is SiteEffects.NONE else " within any site"
    if not full.varies:
        return f"{response} does not vary{within} in the rows of this test"
    if full.rank == restricted.rank:
        given = f" once {', '.join(question.given)} is known" if question.given else ""
        return f"{predictor} does not vary{within}{given} in the rows of this test"
    needed = full.n_estimated(_intercepts(sums, sites))
    few = full.n < ROWS_PER_PARAMETER * needed if sums.options.small_sample and full.shape is not None else full.n <= needed
    if few:
        return f"{int(full.n)} rows are too few for the {needed} parameters of the model of {response}"
    return ""


def no_information(question: Question, response: str) -> str:
    """Why nothing can be said although both variables vary: never at the same site, or not in a way that tells anything."""
    predictor = question.y if response == question.x else question.x
    given = f" once {', '.join(question.given)} is known" if question.given else ""
    return f"{predictor} does not vary{given} at any site where {response} varies"


class Reference(NamedTuple):
    """The law that a comparison refers to, and what it needs to know."""

    law: Law
    n: float
    residual_df: int


def reference(full: Sketch, sums: Sums, sites: int) -> Reference:
    """The law for the comparison with a model, over so many sites."""
    if not sums.options.small_sample:
        return Reference(Law.CHI2, full.n, 0)
    exact = full.shape is None and sums.options.ridge == 0.0  # a penalised residual sum of squares is no longer a χ²
    return Reference(Law.F if exact else Law.SCALED, full.n, int(full.n) - full.per_predictor(_intercepts(sums, sites)))


def _intercepts(sums: Sums, sites: int) -> int:
    return 1 if sums.options.effects is SiteEffects.NONE else sites


def direction(response: str, predictor: str, df: int, restricted: Fit, full: Fit, law: Reference, *, gaussian: bool) -> Direction:
    """Compare two nested fits."""
    if not (restricted.converged and full.converged):
        return silent(response, predictor, f"the models of {response} did not reach their maximum", converged=False)
    if gaussian and restricted.separated:
        return silent(response, predictor, f"{response} is an exact function of the conditioning variables")
    statistic = max(0.0, 2.0 * (full.loglik - restricted.loglik))
    return Direction(
        response,
        predictor,
        statistic,
        df,
        tail(law.law, statistic, df, law.n, law.residual_df),
        restricted.loglik,
        full.loglik,
        separated=restricted.separated or full.separated,
        law=law.law.value,
        residual_df=law.residual_df,
    )


def result(question: Question, directions: tuple[Direction, ...], n: int, contributors: int, rounds: int, reason: str = "") -> CIResult:
    """Combine the directions that are informative."""
    speaking = [d for d in directions if d.informative]
    if len(speaking) == 2:
        p = symmetric(speaking[0].p_value, speaking[1].p_value)
    else:
        p = speaking[0].p_value if speaking else 1.0
    if not speaking and not reason:
        reason = "; ".join(dict.fromkeys(d.reason for d in directions))
    return CIResult(
        question.x,
        question.y,
        question.given,
        p,
        n,
        contributors,
        rounds,
        informative=bool(speaking),
        reason="" if speaking else reason,
        converged=all(d.converged for d in speaking or directions),  # a direction that did not converge has no say where the other has
        directions=directions,
    )
