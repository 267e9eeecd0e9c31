"""Likelihood-ratio logic: what a model looks like given the cross-products, and what two nested fits say."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from consilience.citest.combine import symmetric
from consilience.citest.laws import Law, tail
from consilience.citest.question import Question
from consilience.citest.result import CIResult, Direction, silent
from consilience.data.design import ModelSpec
from consilience.data.kinds import Kind
from consilience.errors import OptionError
from consilience.federation.exchange.sums import Sums
from consilience.glm.gram import estimable, gaussian_loglik, residual_sum
from consilience.glm.kernel import Floats
from consilience.glm.layout import Family, Shape, SiteEffects, family_of, n_parameters
from consilience.glm.solver import TOLERANCE, Fit, FitProblem
from consilience.glm.spread import FIRST_SPREAD
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
    "settled",
    "sketch",
    "too_steep",
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
EXACT_COUNTS = 1e-8
"""A dispersion below this is what the end of a fit leaves of an exact one: the count is a function of the predictors."""

TOLERANCE_COUNTS = 1e-12
"""Where fits of counts end, as a share of ℓ. Pearson's sum is right to second order in the last step of a Newton fit, but only to first
order where steps converge linearly (``coordinate``). At 1e-9 that differed by 5e-8 from the pooled sum, at this by less than 1e-9."""

EFFECTS_OF_COUNTS = (SiteEffects.PROFILED, SiteEffects.COORDINATE, SiteEffects.JOINT, SiteEffects.NONE)
"""Site effects that models of counts have. A marginal likelihood over normal intercepts is of no use while the dispersion is estimated
beside it: quasi-likelihood is no likelihood that could be integrated."""


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """A model after the cross-products are known: estimable columns (``keep`` counts within the predictors), observed levels, shape.

    ``shape`` is None for a Gaussian response that has a closed form. ``varies`` is False where the response is constant (within every
    site, if sites have intercepts of their own; with random effects a discrete response must vary within some site, or their variance
    has no maximum). ``shares`` are those of the levels, or the mean of a count where all sites have one intercept; ``degrees`` what a
    count has before there are slopes.
    """

    keep: tuple[int, ...]
    levels: tuple[int, ...]
    shape: Shape | None
    varies: bool
    spreads: Floats
    shares: Floats
    n: float
    degrees: float = 0.0

    @property
    def counts(self) -> bool:
        """True for a count as the response, whose dispersion is estimated."""
        return self.shape is not None and self.shape.dispersed

    @property
    def residual_df(self) -> int:
        """The degrees of freedom that a dispersion is estimated with; 0 where there is none."""
        return round(self.degrees) - self.rank if self.counts else 0

    @property
    def rank(self) -> int:
        """Estimable columns."""
        return len(self.keep)

    @property
    def gaussian(self) -> bool:
        """True for a continuous response."""
        return self.shape is None or self.shape.family is Family.GAUSSIAN

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
        size = Shape(Family.GAUSSIAN, len(keep), 0) if sums.options.effects is SiteEffects.RANDOM else None
        return Sketch(keep, (), size, varies, spreads, np.empty(0), found.n)
    if response.kind is Kind.COUNT:
        if sums.options.effects not in EFFECTS_OF_COUNTS:
            raise OptionError(
                f"{response.name!r} is a count, which has no model with site_effects='{sums.options.effects}'. "
                f"Take site_effects='profiled', or declare {response.name!r} continuous or ordinal."
            )
        size, name = Shape(Family.POISSON, len(keep), 0), response.name
        mean = np.array([found.means[name]]) if name in found.means else np.empty(0)
        return Sketch(keep, (), size, varies, spreads, mean, found.n, found.degrees[name])
    counts = found.levels[model.response]
    levels = tuple(int(i) for i in np.flatnonzero(counts > 0))
    varies = varies and len(levels) > 1 and (sums.options.effects is not SiteEffects.RANDOM or found.within[model.response])
    shape = Shape(family_of(response.kind, max(len(levels), 2), sums.options.ordinal), len(keep), max(len(levels), 2))
    return Sketch(keep, levels, shape, varies, spreads, counts[list(levels)] / max(found.n, 1.0), found.n)


def closed_form(model: ModelSpec, shape: Sketch, found: ProductsTotal, sums: Sums) -> Fit | None:
    """The fit of a model that needs no iteration: Gaussian, or without predictors. None for the others."""
    if not shape.varies:
        return None
    if shape.shape is None:
        return _gaussian_fit(model, shape, found, sums)
    if sums.options.effects is SiteEffects.RANDOM:
        return None
    if shape.rank == 0 and shape.shape.family is not Family.PROPORTIONAL:  # each site's shares, or its mean, are its fit
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


def settled(fit: Fit, model: ModelSpec, shape: Sketch, sums: Sums) -> Fit:
    """A finished fit in the response's own unit."""
    if not shape.gaussian:
        return fit
    return replace(fit, loglik=fit.loglik - shape.n * (sums.exponents or {}).get(model.response, 0) * math.log(2.0))


def _random_gaussian(model: ModelSpec, shape: Sketch, found: ProductsTotal) -> tuple[Floats, float]:
    """Slopes and precision of a fit without site effects, and a precision that only an exact fit can have."""
    positions = [i for name in model.predictors for i in found.columns[name]]
    chosen = [positions[j] for j in shape.keep]
    (response,) = found.columns[model.response]
    total = max(float(found.gram[response, response]), np.finfo(float).tiny)
    rss = max(residual_sum(found.gram, response, chosen), EXACT * total)
    omega = math.sqrt(found.n / rss)
    unit = np.sqrt(np.diag(found.gram)[chosen])
    slopes = np.linalg.solve(found.gram[np.ix_(chosen, chosen)] / np.outer(unit, unit), found.gram[chosen, response] / unit) / unit
    return np.append(slopes * omega, omega), math.sqrt(found.n / (EXACT * total))


def problem(model: ModelSpec, shape: Sketch, found: ProductsTotal, sums: Sums, begin: Floats | None = None) -> FitProblem:
    """Starting point and scales of an iterative fit: zero slopes, thresholds and intercepts from the level counts, or from the mean count.

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
    shares, ceiling = shape.shares, None
    if size.family is Family.GAUSSIAN:
        start[: size.n_shared], highest = _random_gaussian(model, shape, found)
        intercepts, ceiling = np.zeros(1), (n_slopes, highest)
    elif size.family is Family.POISSON:  # joint intercepts count from the site's own mean (see the kernel)
        intercepts = np.log(shares) if options.effects is SiteEffects.NONE else np.zeros(1)
    elif size.family is Family.MULTINOMIAL:
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
    random = options.effects is SiteEffects.RANDOM
    if random:
        start[size.n_shared :], scale[-1] = np.append(intercepts, FIRST_SPREAD), 0.0
    else:
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
        # Laplace's approximation comes with an information that is a little off
        quadratic=options.effects is not SiteEffects.COORDINATE and not (random and size.family is Family.MULTINOMIAL),
        most_rounds=MOST_COORDINATE if options.effects is SiteEffects.COORDINATE else MOST_ROUNDS,
        ridge=options.ridge,
        weight=shape.n,
        tolerance=TOLERANCE_COUNTS if size.dispersed else TOLERANCE,
        spread=random,
        shifts=size.n_intercepts,
        sites=sites,
        ceiling=ceiling,
    )


def refusal(question: Question, response: str, restricted: Sketch, full: Sketch, sums: Sums, sites: int) -> str:
    """Why a direction is not informative, or the empty string."""
    predictor = question.y if response == question.x else question.x
    within = "" if sums.options.effects.common else " within any site"
    if not full.varies:
        within = " within any site" if sums.options.effects is not SiteEffects.NONE else ""
        return f"{response} does not vary{within} in the rows of this test"
    if full.rank == restricted.rank:
        given = f" once {', '.join(question.given)} is known" if question.given else ""
        return f"{predictor} does not vary{within}{given} in the rows of this test"
    needed = full.n_estimated(_intercepts(sums, sites)) + (sums.options.effects is SiteEffects.RANDOM)
    if full.counts and full.residual_df < 1:
        return f"the rows of sites with a {response} above zero are too few for the {full.rank} slopes of its model"
    scaled = full.shape is not None and _law(full, sums) is Law.SCALED
    if full.n < ROWS_PER_PARAMETER * needed if scaled else full.n <= needed:
        return f"{int(full.n)} rows are too few for the {needed} parameters of the model of {response}"
    return ""


def no_information(question: Question, response: str) -> str:
    """Why nothing can be said although both variables vary: never at the same site, or not in a way that tells anything."""
    predictor = question.y if response == question.x else question.x
    given = f" once {', '.join(question.given)} is known" if question.given else ""
    return f"{predictor} does not vary{given} at any site where {response} varies"


def too_steep(response: str) -> str:
    """Why there is no maximum where sites have a rule on what they tell."""
    return (
        f"the model of {response} is so steep at some site that its sums would be about fewer of the site's rows than may be told "
        f"(min_cell), as where levels of {response} are a function of the other variables"
    )


class Reference(NamedTuple):
    """The law that a comparison refers to, and what it needs to know."""

    law: Law
    n: float
    residual_df: int


def reference(full: Sketch, sums: Sums, sites: int) -> Reference:
    """The law for the comparison with a model, over so many sites."""
    law = _law(full, sums)
    if law is Law.CHI2:
        return Reference(law, full.n, 0)
    if law is Law.QUASI:
        return Reference(law, full.n, full.residual_df)
    return Reference(law, full.n, int(full.n) - full.per_predictor(_intercepts(sums, sites)))


def _law(full: Sketch, sums: Sums) -> Law:
    """Counts have the law of their quasi-likelihood, whether rows are few or many; mixed models that of the limit."""
    if full.counts:
        return Law.QUASI
    if not sums.options.small_sample or sums.options.effects is SiteEffects.RANDOM:
        return Law.CHI2
    exact = full.shape is None and sums.options.ridge == 0.0  # a penalised residual sum of squares is no longer a χ²
    return Law.F if exact else Law.SCALED


def _intercepts(sums: Sums, sites: int) -> int:
    return 1 if sums.options.effects.common else sites


def direction(response: str, predictor: str, df: int, restricted: Fit, full: Fit, law: Reference, *, gaussian: bool) -> Direction:
    """Compare two nested fits; those of a count in units of the dispersion of the full one."""
    if not (restricted.converged and full.converged):
        return silent(response, predictor, f"the models of {response} did not reach their maximum", converged=False)
    counts = law.law is Law.QUASI
    if (gaussian and restricted.separated) or (counts and restricted.squares <= EXACT_COUNTS * law.residual_df):
        # with random effects the site may be part of the function; its intercepts are no variables of the test
        return silent(response, predictor, f"{response} is an exact function of the conditioning variables")
    dispersion = max(full.squares / law.residual_df, EXACT_COUNTS) if counts else 1.0
    statistic = max(0.0, 2.0 * (full.loglik - restricted.loglik)) / dispersion
    return Direction(
        response,
        predictor,
        statistic,
        df,
        tail(law.law, statistic, df, law.n, law.residual_df),
        restricted.loglik,
        full.loglik,
        separated=restricted.separated or full.separated,
        dispersion=dispersion,
        law=law.law.value,
        residual_df=law.residual_df,
        rows=0 if law.law is Law.CHI2 else int(law.n),
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
