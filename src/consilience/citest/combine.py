"""P-values from statistics, and one p-value from several."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy import special

__all__ = [
    "cauchy",
    "chi2_log_sf",
    "chi2_sf",
    "f_log_sf",
    "f_sf",
    "fisher",
    "log_symmetric",
    "ratio_log_sf",
    "ratio_sf",
    "sign_flip_sf",
    "symmetric",
]


def chi2_sf(statistic: float, df: int) -> float:
    """P(χ²_df > statistic).

    >>> round(chi2_sf(3.841458820694124, 1), 12)
    0.05
    """
    return float(special.chdtrc(df, statistic))


def chi2_log_sf(statistic: float, df: int) -> float:
    """The logarithm of P(χ²_df > statistic), also where the probability itself is below the smallest float.

    Beyond that point the continued fraction of the incomplete gamma function is used: Γ(a, x) = e^{-x} x^a / (x + (1-a)/(1 + 1/(x + …))).

    >>> round(chi2_log_sf(5000.0, 2), 6)
    -2500.0
    """
    p = chi2_sf(statistic, df)
    if p > 1e-280:
        return math.log(p)
    a, x = 0.5 * df, 0.5 * statistic
    fraction = x + 1.0 - a
    b = fraction
    c, d = math.inf, 1.0 / b
    h = d
    for i in range(1, 200):  # modified Lentz
        an = -i * (i - a)
        b += 2.0
        d = 1.0 / (an * d + b)
        c = b + an / c
        h *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return a * math.log(x) - x - math.lgamma(a) + math.log(h)


def sign_flip_sf(statistic: float, df: int, units: float) -> float:
    """P(T > statistic) for T = SᵀV⁻¹S, S = Σ r and V = Σ r rᵀ, when the signs of the r are random.

    E T = df and E T² = df(df + 2) - 2b with b = Σ (rᵀV⁻¹r)². The law T/n' ~ Beta(df/2, (n' - df)/2) has these two moments for
    n' = ``units`` = df(df + 2)/b - 2. It tends to χ² for many r of like size, and is Hotelling's for normal ones.

    >>> round(sign_flip_sf(3.841458820694124, 1, 1e9), 6), sign_flip_sf(7.0, 1, 6.5)
    (0.05, 0.0)
    """
    return float(special.betaincc(0.5 * df, 0.5 * (units - df), min(statistic / units, 1.0)))


def f_sf(statistic: float, df: int, residual: float) -> float:
    """P(F_{df, residual} > statistic / df): the statistic is a sum over df, as of χ².

    >>> round(f_sf(3.9, 1, 10_000), 4), round(f_sf(3.9, 1, 10), 4)
    (0.0483, 0.0765)
    """
    return float(special.fdtrc(df, residual, statistic / df))


def f_log_sf(statistic: float, df: int, residual: float) -> float:
    """The logarithm of :func:`f_sf`, also where the probability itself is below the smallest float.

    P(F > f) = I_x(a, b), the incomplete beta function at x = residual/(residual + statistic), a = residual/2, b = df/2. In the tail its
    continued fraction converges in a few steps.

    >>> round(f_log_sf(1e6, 2, 2e3), 6)  # df = 2 has a closed form: (1 + statistic/residual)^(-residual/2)
    -6216.606107
    """
    p = f_sf(statistic, df, residual)
    if p > 1e-280:
        return math.log(p)
    a, b, x = 0.5 * residual, 0.5 * df, residual / (residual + statistic)
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    h = d
    for m in range(1, 500):  # modified Lentz
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1.0 / (1.0 + term * d), 1.0 + term / c
            h *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    # log x and log(1 - x) from the ratio that x was made of: x itself is close to one where there are many rows
    log_x, log_rest = -math.log1p(statistic / residual), math.log(statistic / (residual + statistic))
    return a * log_x + b * log_rest - math.log(a) - float(special.betaln(a, b)) + math.log(h)


def ratio_sf(statistic: float, df: int, residual: float = 0) -> float:
    """The p-value of a likelihood ratio: from χ²(df), or from F(df, residual) where the statistic was divided by an estimated dispersion.

    >>> ratio_sf(3.9, 1) == chi2_sf(3.9, 1), ratio_sf(3.9, 1, 10) == f_sf(3.9, 1, 10)
    (True, True)
    """
    return f_sf(statistic, df, residual) if residual > 0 else chi2_sf(statistic, df)


def ratio_log_sf(statistic: float, df: int, residual: float = 0) -> float:
    """The logarithm of :func:`ratio_sf`.

    >>> ratio_log_sf(3.9, 1) == chi2_log_sf(3.9, 1), ratio_log_sf(3.9, 1, 10) == f_log_sf(3.9, 1, 10)
    (True, True)
    """
    return f_log_sf(statistic, df, residual) if residual > 0 else chi2_log_sf(statistic, df)


def cauchy(p_values: Sequence[float], weights: Sequence[float]) -> float:
    """One p-value from several that may depend on each other (Liu and Xie 2020).

    >>> round(cauchy([0.01, 0.5], [1.0, 1.0]), 4), cauchy([0.3], [1.0])
    (0.02, 0.3)
    """
    if len(p_values) == 1:
        return p_values[0]
    # cot(πp) and not tan(π(1/2 - p)): the latter has no digits left where p is small
    total = sum(w / math.tan(math.pi * min(max(p, 1e-300), 1.0 - 1e-15)) for p, w in zip(p_values, weights, strict=True))
    return math.atan2(1.0, total / sum(weights)) / math.pi


def symmetric(p_y: float, p_x: float) -> float:
    """One p-value from the two directions of a test (Tsagris et al. 2018): min{2 min(p), max(p)}.

    >>> symmetric(0.01, 0.03)
    0.02
    """
    return min(2.0 * min(p_y, p_x), max(p_y, p_x))


def log_symmetric(log_y: float, log_x: float) -> float:
    """:func:`symmetric` on the log scale.

    >>> round(math.exp(log_symmetric(math.log(0.01), math.log(0.03))), 12)
    0.02
    """
    return min(math.log(2.0) + min(log_y, log_x), max(log_y, log_x))


def fisher(statistic: float, sites: int) -> float:
    """Fisher's method: the p-value of -2 Σ log p over independent sites.

    >>> round(fisher(-2 * (math.log(0.0918) + math.log(0.3253)), 2), 4)
    0.1347
    """
    return chi2_sf(statistic, 2 * sites) if sites else 1.0
