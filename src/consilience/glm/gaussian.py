"""Gaussian response with a random intercept per site, in closed form: y = xβ + a + u + e, u ~ N(0, τ²), e ~ N(0, σ²).

The parameters are (γ, ω, a', s) with ω = 1/σ, γ = β/σ, a' = a/σ (Olsen 1978) and s = τ/σ. With W = (-X, y, -1) and θ = (γ, ω, a') the
scaled residuals are Wθ, and the site's marginal log-likelihood is::

    n log ω - n/2 log 2π - ½ log(1 + n s²) - ½ θᵀ G θ,    G = Q + t tᵀ / (n (1 + n s²))

where Q are the cross-products of W centred at the site and t its column sums. Given s it is concave in all others, and quadratic but for
the logarithm; a parametrisation by β and σ² is not. It is even in s, so that s = 0, no site effects, is an inner point and no boundary.

Q and t say all that the rows say: they are made once, and a question at another point costs nothing in rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from consilience.glm.kernel import Floats
from consilience.glm.layout import Total

__all__ = ["Moments", "gaussian_marginal"]


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Cross-products about the site's means and column sums, of minus the predictors, then the response, then minus ones."""

    n: int
    centred: Floats
    sums: Floats

    @staticmethod
    def of(n: int, gram: Floats, sums: Floats, columns: list[int], response: int) -> Moments:
        """From the cross-products of a whole sample (centred at the site) and its sums, those of one model."""
        order = np.array([*columns, response])
        p = len(columns)
        sign = np.full(p + 1, -1.0)
        sign[p] = 1.0
        centred, totals = np.zeros((p + 2, p + 2)), np.full(p + 2, -float(n))
        centred[:-1, :-1] = gram[order[:, None], order] * sign[:, None] * sign
        totals[:-1] = sums[order] * sign
        return Moments(n, centred, totals)


def gaussian_marginal(moments: Moments, beta: Floats) -> Total:
    """Log-likelihood, score and observed information at (γ, ω, a', s).

    >>> site = Moments(2, np.diag([2.0, 0.0]), np.array([0.0, -2.0]))  # the responses 1 and -1, no predictor
    >>> round(gaussian_marginal(site, np.array([1.0, 0.0, 0.0])).objective, 6)
    -2.837877
    """
    n, t = float(moments.n), moments.sums
    size = len(beta)
    p = size - 3
    omega, s = float(beta[p]), float(beta[p + 2])
    if moments.n == 0 or omega <= 0.0:
        return Total(moments.n > 0, 0.0, 0.0, 0.0, np.zeros(size), np.zeros((size, size)))
    theta, grown = beta[:-1], 1.0 + n * s * s
    # Σ_centred + tt'/(n(1 + ns²)) and not Σ - s²/(1 + ns²) tt': a sum of two positive parts loses no digits where sites lie far apart
    gram = moments.centred + t[:, None] * (t / (n * grown))
    pull, mass = gram @ theta, float(t @ theta)
    weight, slope = -2.0 * s / grown**2, -2.0 / grown**2 + 8.0 * n * s * s / grown**3  # of 1/(n(1 + ns²)), by s
    score, info = np.empty(size), np.empty((size, size))
    score[:-1] = -pull
    score[p] += n / omega
    score[-1] = -n * s / grown - 0.5 * weight * mass**2
    info[:-1, :-1] = gram
    info[p, p] += n / omega**2
    info[:-1, -1] = info[-1, :-1] = weight * mass * t
    info[-1, -1] = n * (1.0 - n * s * s) / grown**2 + 0.5 * slope * mass**2
    loglik = n * math.log(omega) - 0.5 * n * math.log(2.0 * math.pi) - 0.5 * math.log(grown) - 0.5 * float(theta @ pull)
    return Total(False, loglik, 0.0, 0.0, score, info)
