"""The law that a likelihood-ratio statistic is referred to, in large samples and in small ones.

Twice a gain in log-likelihood is χ² in the limit only. With n rows and q parameters per linear predictor (intercepts of sites counted):

``chi2``
    T itself, to χ²(df): the limit, and what the paper does.
``scaled chi2``
    T (n - q)/n to χ²(df): what estimating q parameters takes from the scale of T, to first order.
``F``
    (e^{T/n} - 1)(n - q)/df to F(df, n - q): exact for Gaussian responses, whatever n.
"""

from __future__ import annotations

import math
from enum import StrEnum

from scipy import special

from consilience.citest.combine import chi2_log_sf, chi2_sf

__all__ = ["Law", "log_tail", "tail"]

SMALLEST = 1e-280
"""Probabilities below this are computed on the log scale: floats end at 1e-308."""


class Law(StrEnum):
    """Which law a p-value is from."""

    CHI2 = "chi2"
    SCALED = "scaled chi2"
    F = "F"


def tail(law: Law, statistic: float, df: int, n: float = 0.0, residual_df: int = 0) -> float:
    """The probability of a statistic this large or larger.

    >>> round(tail(Law.CHI2, 3.841458820694124, 1), 12), round(tail(Law.SCALED, 4.0, 1, 100, 80), 6)
    (0.05, 0.073638)
    >>> t_squared, n = 2.2281388519649385**2, 12  # a t-test with ten degrees of freedom, at 0.05
    >>> round(tail(Law.F, n * math.log1p(t_squared / 10), 1, n, 10), 12)
    0.05
    """
    if law is Law.CHI2:
        return chi2_sf(statistic, df)
    if law is Law.SCALED:
        return chi2_sf(statistic * residual_df / n, df)
    # F > f as a beta integral up to ν/(ν + df f) = e^{-T/n}: no difference of nearly equal numbers at either end
    return float(special.betainc(0.5 * residual_df, 0.5 * df, math.exp(-statistic / n)))


def log_tail(law: Law, statistic: float, df: int, n: float = 0.0, residual_df: int = 0) -> float:
    """The logarithm of :func:`tail`, also where the probability itself is below the smallest float.

    >>> round(log_tail(Law.F, 2e5, 1, 100, 90), 2)
    -90002.08
    """
    if law is Law.CHI2:
        return chi2_log_sf(statistic, df)
    if law is Law.SCALED:
        return chi2_log_sf(statistic * residual_df / n, df)
    p = tail(law, statistic, df, n, residual_df)
    if p > SMALLEST:
        return math.log(p)
    # I_x(a, b) = x^a (1-x)^b / (a B(a, b)) · ₂F₁(a + b, 1; a + 1; x). Of an x that makes p so small, the series has few terms that count.
    a, b, log_x = 0.5 * residual_df, 0.5 * df, -statistic / n
    x = math.exp(log_x)
    series = float(special.hyp2f1(a + b, 1.0, a + 1.0, x))
    return a * log_x + b * math.log1p(-x) - math.log(a) - float(special.betaln(a, b)) + math.log(series)
