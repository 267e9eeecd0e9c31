"""Whether fitted models hold: which of them are looked at, and what the sums say, as p-values.

Three tests of each full model Y ~ Z + X at its fitted parameters, which add squares, cubes and products of the columns (curvature), slopes
for every site (Cochran's Q), or let the variance depend on all of that (Koenker 1981). All are score tests: nothing is fitted again. The
score of what is added is taken about the model's own (Neyman's C(α)), so that it does not matter that a fit ends a little before its end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from consilience.citest.combine import chi2_sf, f_sf
from consilience.citest.diagnostics import Diagnostics
from consilience.data.design import ModelSpec, column_names
from consilience.data.features import MOST_FEATURES, MOST_SCALE
from consilience.federation.exchange.likelihood import EXACT_COUNTS, Sketch
from consilience.federation.exchange.sums import Sums
from consilience.glm.gram import least_squares, residual_sum
from consilience.glm.kernel import Floats
from consilience.glm.layout import SiteEffects
from consilience.glm.misfit import Misfit, Widened, pseudo_inverse
from consilience.glm.solver import Fit
from consilience.protocol.diagnose import ROWS_PER_COLUMN, Diagnose, DiagnoseAsk
from consilience.protocol.evaluate import ModelAsk
from consilience.protocol.products import ProductsTotal

__all__ = ["combine_directions", "diagnose_request", "judge"]

DIAGNOSED = (SiteEffects.PROFILED, SiteEffects.COORDINATE, SiteEffects.JOINT, SiteEffects.NONE)
"""Where models have an intercept for each site, or one for all. What random ones do to these sums nobody has worked out."""
STEEPEST = 10.0
"""A slope beyond this, for a level or for a standard deviation of a number, is on its way to infinity: a level is predicted perfectly, and
the information at its end says nothing. (A fit that goes there ends at 15 and more. Whether it is flagged as separated hangs on intercepts
of sites too.)"""
FEWEST = 2
"""Features of a model with so many slopes a column that few are left: its information has a row for each slope of each of them."""
APART = 2.0**-24
"""Where a site has gone, models are looked at this far from where they would be, as a share: in no point that was answered before."""


def diagnose_request(models: Mapping[ModelSpec, Sketch], sums: Sums) -> tuple[list[ModelSpec], Diagnose] | None:
    """The request for those of ``models`` that can be looked at; None if there are none."""
    if not sums.options.diagnostics or sums.options.effects not in DIAGNOSED:
        return None
    asks: dict[ModelSpec, DiagnoseAsk] = {}
    for model, shape in models.items():
        found, fit = sums.cover(model.sample), sums.fits.get(model)
        if found is None or fit is None or not fit.converged or (fit.separated and shape.shape is None):
            continue
        ask = _ask(model, shape, fit, found, sums)
        if ask is not None:
            asks[model] = ask
    return (list(asks), Diagnose(tuple(asks.values()), sums.options.ordinal, sums.exponents or {})) if asks else None


def _ask(model: ModelSpec, shape: Sketch, fit: Fit, found: ProductsTotal, sums: Sums) -> DiagnoseAsk | None:
    always, schema = set(sums.options.always), sums.schema
    positions = [i for name in model.predictors for i in found.columns[name]]
    names = column_names(schema, model.predictors)
    own = [k for k, j in enumerate(shape.keep) if names[j][0] not in always]  # among the kept columns, those of no site
    kept = [positions[j] for j in shape.keep]
    beta = _slopes(model, shape, fit, found, kept, own, sums)
    if not own or beta is None:
        return None
    if sums.restarted:
        beta = beta * (1.0 + sums.runs * APART)
    spreads = _spreads(found, [kept[k] for k in own], [i for name in sums.options.always for i in found.columns[name]])
    sizes = np.array([1.0 if schema[names[shape.keep[k]][0]].kind.is_discrete else s for k, s in zip(own, spreads, strict=True)])
    steepest = np.abs(beta[: len(own) * shape.per_column]).reshape(-1, len(own)) * sizes
    if shape.shape is not None and float(steepest.max(initial=0.0)) > STEEPEST:
        return None
    predictors = tuple(name for name in model.predictors if name not in always)
    plain = {name: j for j, name in enumerate(column_names(schema, predictors))}
    columns = [names[shape.keep[k]] for k in own]
    spec = ModelSpec(model.response, predictors, tuple(name for name in model.sample if name not in always))
    ask = DiagnoseAsk(
        ModelAsk.of(spec, tuple(plain[name] for name in columns), shape.levels, beta, 0.0),
        tuple(0 if schema[name].kind.is_discrete else _exponent(s) for (name, _), s in zip(columns, spreads, strict=True)),
        10**6,
        _dispersion(model, shape, fit, found, kept),
    )
    most = int(found.n // (ROWS_PER_COLUMN * shape.per_column)) - len(own)
    if most < 0:
        return None
    features = min(most, max(FEWEST, MOST_FEATURES // shape.per_column), len(ask.plan(schema)))
    return DiagnoseAsk(ask.model, ask.scales, features, ask.dispersion)


def _dispersion(model: ModelSpec, shape: Sketch, fit: Fit, found: ProductsTotal, kept: list[int]) -> float:
    """Of a count its dispersion; of a number a power of two near the standard deviation of its residuals."""
    if shape.shape is not None:
        return max(fit.squares / shape.residual_df, EXACT_COUNTS) if shape.residual_df > 0 else 1.0
    (response,) = found.columns[model.response]
    squares = residual_sum(found.gram, response, kept)
    return 2.0 ** _exponent(math.sqrt(squares / found.n)) if squares > 0 else 1.0


def _slopes(model: ModelSpec, shape: Sketch, fit: Fit, found: ProductsTotal, kept: list[int], own: list[int], sums: Sums) -> Floats | None:
    """The fitted parameters that all sites share, but for those of sites."""
    if shape.shape is None:
        (response,) = found.columns[model.response]
        return least_squares(found.gram, response, kept, ridge=sums.options.ridge)[own]
    size = shape.shape
    if len(fit.beta) < size.n_shared:
        return None
    n_slopes = size.n_columns * size.slopes_per_column
    slopes = fit.beta[:n_slopes].reshape(size.slopes_per_column, size.n_columns)[:, own]
    return np.concatenate([slopes.ravel(), fit.beta[n_slopes : size.n_shared]])


def _spreads(found: ProductsTotal, columns: list[int], sites: list[int]) -> Floats:
    """Standard deviations within sites."""
    left = np.diag(found.gram)[columns]
    if sites:
        inverse, _ = pseudo_inverse(found.gram[np.ix_(sites, sites)])
        across = found.gram[np.ix_(columns, sites)]
        left = left - np.einsum("ij,jk,ik->i", across, inverse, across)
    spreads: Floats = np.sqrt(np.maximum(left, 0.0) / max(found.n, 1.0))
    return spreads


def _exponent(spread: float) -> int:
    return max(-MOST_SCALE, min(MOST_SCALE, round(math.log2(spread)))) if spread > 0 else 0


def judge(total: Misfit, shape: Sketch, ask: DiagnoseAsk, sums: Sums) -> Diagnostics:
    """What the sums over one model say."""
    widened = ask.widened(sums.schema, sums.options.ordinal)
    if total.infeasible:
        return Diagnostics()
    q, rank, sites, rows = total.own.tolist()
    per_row = shape.per_column
    own_inverse, common_rank = pseudo_inverse(total.own_info)
    between, df = q - float(total.own_score @ own_inverse @ total.own_score), round(rank) - common_rank
    if shape.shape is None:
        unit, residual = (float(total.moments[1]) - q) / max(rows - sites - rank, 1.0), round(rows - sites - rank)
    else:
        unit, residual = ask.dispersion, shape.residual_df
    slopes = i_squared = None
    if sites > 1.5 and df > 0 and unit > 0 and (shape.shape is not None or residual > 0):
        statistic = max(between, 0.0) / unit * (1.0 if residual else _shrunk(rows, sites * per_row + rank, per_row))
        slopes, i_squared = _tail(statistic, df, residual), max(0.0, 1.0 - df / statistic) if statistic > 0 else 0.0
    variance = None
    if shape.shape is None:
        variance = _unequal(total)
    elif shape.counts:
        variance = _overdispersed(total)
    return Diagnostics(_curved(total, widened, shape, ask.dispersion), variance, slopes, i_squared)


def _tail(statistic: float, df: int, residual: float) -> float:
    """From F where the unit was estimated with ``residual`` degrees of freedom, else from χ²."""
    return f_sf(statistic, df, residual) if residual > 0 else chi2_sf(statistic, df)


def _shrunk(rows: float, parameters: float, per_row: int) -> float:
    """What statistics of discrete responses are multiplied with: parameters per linear predictor against rows.

    Fitted probabilities are too extreme, and their variances too small, by about this factor.
    """
    return max(0.0, 1.0 - parameters / per_row / rows) if rows > 0 else 0.0


def _curved(total: Misfit, widened: Widened, shape: Sketch, dispersion: float) -> float | None:
    """Whether features add something: their score about that of the model, in units of its own spread."""
    b = widened.narrow
    f = [i for i in range(len(total.score)) if i not in set(b)]
    inverse, rank = pseudo_inverse(total.info[np.ix_(b, b)])
    across = total.info[np.ix_(f, b)] @ inverse
    lean = total.score[f] - across @ total.score[b]
    info = total.info[np.ix_(f, f)]
    left, df = pseudo_inverse(info - across @ total.info[np.ix_(b, f)], np.diag(info))
    if df == 0:
        return None
    statistic = float(lean @ left @ lean)
    if shape.shape is not None:
        if not shape.counts:
            statistic *= _shrunk(shape.n, total.sites * shape.per_column + rank + df, shape.per_column)
        return _tail(statistic / dispersion, df, shape.residual_df)
    n, squares, _, _, _, sites = total.moments.tolist()
    residual = round(n - sites) - rank - df
    unexplained = squares - float(total.score[b] @ inverse @ total.score[b]) - statistic
    return _tail(statistic / (unexplained / residual), df, residual) if residual > 0 and unexplained > 0 else None


def _unequal(total: Misfit) -> float | None:
    """Whether squares of residuals depend on columns, features or sites: n R² of their regression."""
    n, _, total_sum, squares, by_site, sites = total.moments.tolist()
    inverse, rank = pseudo_inverse(total.info)
    df = rank + round(sites) - 1
    about = squares - total_sum**2 / n if n > 0 else 0.0
    if df <= 0 or about <= 0 or n < ROWS_PER_COLUMN * df:
        return None
    explained = float(total.lean @ inverse @ total.lean) + by_site - total_sum**2 / n
    return chi2_sf(max(0.0, n * explained / about), df)


def _overdispersed(total: Misfit) -> float | None:
    """Whether a count's variance is the same multiple of its mean everywhere: squares of its excess are summed, not assumed."""
    inverse, rank = pseudo_inverse(total.spread)
    statistic, df = float(total.lean @ inverse @ total.lean), rank
    _, squared, crossed, moved, _, sites = total.moments.tolist()
    if sites > 1.5 and moved > 0:
        statistic, df = statistic + squared - crossed**2 / moved, df + round(sites) - 1
    return chi2_sf(max(0.0, statistic), df) if df > 0 else None


def combine_directions(found: Iterable[Diagnostics | None]) -> Diagnostics | None:
    """What the models of both directions say together; None if neither was looked at."""
    checked = [one for one in found if one is not None]
    if not checked:
        return None

    def least(name: str) -> float | None:
        made = [p for one in checked if (p := getattr(one, name)) is not None]
        return min(1.0, len(made) * min(made)) if made else None

    shares = [one.i_squared for one in checked if one.i_squared is not None]
    return Diagnostics(least("curvature_p"), least("variance_p"), least("slopes_p"), max(shares) if shares else None)
