"""Random against profiled site effects over many small sites: type-I error and power of one direction of a test.

Y ~ Z + X against Y ~ Z over K sites of n rows. Z is normal; X = b u + 0.5 Z + noise with u normal per site, so that b says how much X
varies between sites; Y has an effect of each site (standard deviation 0.6) and the slope of X. Models are fitted with the sites' own
answers and the server's solver, without a federation around them.

Run: python benchmarks/random_effects.py [replications] [continuous | binary | ordinal]
"""

from __future__ import annotations

import sys
import time
from typing import NamedTuple

import numpy as np

from consilience.citest.combine import chi2_sf
from consilience.data.design import Design
from consilience.glm.gaussian import Moments
from consilience.glm.kernel import Floats
from consilience.glm.layout import Family, Shape, SiteEffects, Total, n_parameters
from consilience.glm.site_effects import answer, make_kernel
from consilience.glm.solver import FitProblem, Newton
from consilience.glm.spread import FIRST_SPREAD

SEED = 14
LABELS = {Family.GAUSSIAN: "continuous", Family.LOGIT: "binary", Family.PROPORTIONAL: "ordinal"}
CUTS = np.array([-1.0, 0.2, 1.2])


class Setting(NamedTuple):
    """One row of the table; ``between`` is b."""

    family: Family
    sites: int
    rows: int
    between: float
    slope: float


SETTINGS = [
    Setting(family, sites, rows, between, slope)
    for family, slopes in ((Family.GAUSSIAN, (0.08, 0.15)), (Family.LOGIT, (0.16, 0.3)), (Family.PROPORTIONAL, (0.14, 0.26)))
    for sites, rows, between, slope in (
        (50, 20, 0.0, 0.0),
        (50, 20, 1.0, 0.0),
        (50, 20, 0.0, slopes[0]),
        (50, 20, 1.0, slopes[0]),
        (50, 5, 1.0, 0.0),
        (50, 5, 1.0, slopes[1]),
    )
]


def draw(setting: Setting, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """The site, the two columns and the response of every row."""
    site = np.repeat(np.arange(setting.sites), setting.rows)
    u, v = rng.normal(size=(2, setting.sites))
    z = rng.normal(size=len(site))
    x = setting.between * u[site] + 0.5 * z + rng.normal(size=len(site))
    eta = 0.6 * v[site] + 0.5 * z + setting.slope * x
    if setting.family is Family.GAUSSIAN:
        return site, np.stack([z, x], axis=1), eta + rng.normal(size=len(site))
    latent = eta + rng.logistic(size=len(site))
    codes = latent > 0 if setting.family is Family.LOGIT else np.digitize(latent, CUTS)
    return site, np.stack([z, x], axis=1), codes.astype(np.int32)


def fit(setting: Setting, effects: SiteEffects, site: Floats, X: Floats, y: Floats) -> float:
    """The highest log-likelihood of one model."""
    p, levels = X.shape[1], 0 if setting.family is Family.GAUSSIAN else int(y.max()) + 1
    shape = Shape(setting.family, p, levels)
    groups = [slice(k * setting.rows, (k + 1) * setting.rows) for k in range(setting.sites)]
    if setting.family is Family.GAUSSIAN:
        W = np.column_stack([X, y])
        parts = [(W[g] - W[g].mean(axis=0), W[g].sum(axis=0)) for g in groups]
        if effects is SiteEffects.PROFILED:
            gram = sum(c.T @ c for c, _ in parts)
            rss = gram[p, p] - gram[p, :p] @ np.linalg.solve(gram[:p, :p], gram[:p, p])
            return -0.5 * len(y) * float(np.log(rss / len(y)))
        kernels = [Moments.of(setting.rows, c.T @ c, t, list(range(p)), p) for c, t in parts]
    else:
        columns = [X[g] - (X[g].mean(axis=0) if effects is SiteEffects.PROFILED else 0.0) for g in groups]
        kernels = [make_kernel(Design(c, y[g], None), shape, effects, 0.0) for c, g in zip(columns, groups, strict=True)]
    start = np.zeros(n_parameters(shape, effects, setting.sites))
    if setting.family is Family.PROPORTIONAL:
        start[p : p + levels - 2] = np.arange(1, levels - 1)
    if effects is SiteEffects.RANDOM:
        start[-1] = FIRST_SPREAD
        start[p] = max(start[p], 1.0) if setting.family is Family.GAUSSIAN else start[p]
    increasing = slice(p, shape.n_shared) if setting.family is Family.PROPORTIONAL else None
    newton = Newton(FitProblem(start, np.ones_like(start), p, increasing=increasing, spread=effects is SiteEffects.RANDOM))
    warm = [None] * setting.sites
    while newton.fit is None:
        found = [answer(k, shape, effects, newton.beta, i, setting.sites, warm[i]) for i, k in enumerate(kernels)]
        warm = [w for _, w in found]
        newton.tell(_sum([total for total, _ in found]))
    assert newton.fit.converged
    return newton.fit.loglik


def _sum(parts: list[Total]) -> Total:
    return Total(
        any(t.infeasible for t in parts),
        sum(t.objective for t in parts),
        0.0,
        0.0,
        sum((t.score for t in parts), np.zeros(1)),
        sum((t.info for t in parts), np.zeros((1, 1))),
    )


def main() -> None:
    """Print the table, row by row."""
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    wanted = sys.argv[2:] or list(LABELS.values())
    print("| response | sites × rows | X between sites | slope | random | profiled |")
    print("|---|---|---|---|---|---|")
    for number, setting in enumerate(SETTINGS):
        label = LABELS[setting.family]
        if label not in wanted:
            continue
        rejected = dict.fromkeys((SiteEffects.RANDOM, SiteEffects.PROFILED), 0)
        for replication in range(replications):
            site, X, y = draw(setting, np.random.default_rng([SEED, number, replication]))
            for effects in rejected:
                statistic = 2.0 * (fit(setting, effects, site, X, y) - fit(setting, effects, site, X[:, :1], y))
                rejected[effects] += chi2_sf(max(statistic, 0.0), 1) < 0.05
        shares = [f"{count / replications:.3f}" for count in rejected.values()]
        row = [label, f"{setting.sites} × {setting.rows}", f"{setting.between:g}", f"{setting.slope:g}", *shares]
        print(f"| {' | '.join(row)} |", flush=True)
    print(f"\n{replications} replications, {time.process_time():.0f} CPU seconds", flush=True)


if __name__ == "__main__":
    main()
