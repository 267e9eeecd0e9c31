"""The law that a likelihood-ratio statistic is referred to, in large samples and in small ones.

Twice a gain in log-likelihood is χ² in the limit only. With n rows and q parameters per linear predictor (intercepts of sites counted):

``chi2``
    T itself, to χ²(df): the limit, and what the paper does.
``scaled chi2``
    T (n - q)/n to χ²(df): what estimating q parameters takes from the scale of T, to first order.
``F``
    (e^{T/n} - 1)(n - q)/df to F(df, n - q): exact for Gaussian responses, whatever n.
``quasi F``
    T/df to F(df, n - q), where T was divided by a dispersion that was estimated with n - q degrees of freedom: for counts, whose
    quasi-likelihood has no other law.
"""

from __future__ import annotations

from enum import StrEnum

from consilience.citest.combine import chi2_log_sf, chi2_sf, excess_log_sf, excess_sf, f_log_sf, f_sf

__all__ = ["Law", "log_tail", "tail"]


class Law(StrEnum):
    """Which law a p-value is from."""

    CHI2 = "chi2"
    SCALED = "scaled chi2"
    F = "F"
    QUASI = "quasi F"


def tail(law: Law, statistic: float, df: int, n: float = 0.0, residual_df: int = 0) -> float:
    """The probability of a statistic this large or larger.

    >>> round(tail(Law.CHI2, 3.841458820694124, 1), 12), round(tail(Law.SCALED, 4.0, 1, 100, 80), 6)
    (0.05, 0.073638)
    >>> import math
    >>> t_squared, n = 2.228138851986274**2, 12  # a t-test with ten degrees of freedom, at 0.05
    >>> round(tail(Law.F, n * math.log1p(t_squared / 10), 1, n, 10), 12)
    0.05
    >>> tail(Law.QUASI, 4.0, 1, residual_df=10) == tail(Law.F, 12 * math.log1p(4.0 / 10), 1, 12, 10)
    True
    """
    if law is Law.CHI2:
        return chi2_sf(statistic, df)
    if law is Law.SCALED:
        return chi2_sf(statistic * residual_df / n, df)
    if law is Law.QUASI:
        return f_sf(statistic, df, residual_df)
    return excess_sf(statistic / n, df, residual_df)  # of the F above, 1 + df F/(n - q) = e^{T/n}


def log_tail(law: Law, statistic: float, df: int, n: float = 0.0, residual_df: int = 0) -> float:
    """The logarithm of :func:`tail`, also where the probability itself is below the smallest float.

    >>> round(log_tail(Law.F, 2e5, 1, 100, 90), 2)
    -90002.48
    """
    if law is Law.CHI2:
        return chi2_log_sf(statistic, df)
    if law is Law.SCALED:
        return chi2_log_sf(statistic * residual_df / n, df)
    if law is Law.QUASI:
        return f_log_sf(statistic, df, residual_df)
    return excess_log_sf(statistic / n, df, residual_df)
