"""P-values from statistics, and one p-value from several."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = [
    "cauchy",
    "chi2_log_sf",
    "chi2_sf",
    "excess_log_sf",
    "excess_sf",
    "f_log_sf",
    "f_sf",
    "fisher",
    "log_symmetric",
    "sign_flip_sf",
    "symmetric",
]


def chi2_sf(statistic: float, df: int) -> float:
    """P(χ²_df > statistic).

    >>> round(chi2_sf(3.841458820694124, 1), 12)
    0.05
    """
    from scipy import special  # noqa: PLC0415  a fifth of a second of a process's start, for whoever tests

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
    from scipy import special  # noqa: PLC0415

    return float(special.betaincc(0.5 * df, 0.5 * (units - df), min(statistic / units, 1.0)))


def f_sf(statistic: float, df: int, residual: float) -> float:
    """P(F_{df, residual} > statistic / df): the statistic is a sum over df, as of χ².

    >>> round(f_sf(3.9, 1, 10_000), 4), round(f_sf(3.9, 1, 10), 4)
    (0.0483, 0.0765)
    """
    return excess_sf(math.log1p(statistic / residual), df, residual)


def f_log_sf(statistic: float, df: int, residual: float) -> float:
    """The logarithm of :func:`f_sf`, also where the probability itself is below the smallest float.

    >>> round(f_log_sf(1e6, 2, 2e3), 6)  # df = 2 has a closed form: (1 + statistic/residual)^(-residual/2)
    -6216.606101
    """
    return excess_log_sf(math.log1p(statistic / residual), df, residual)


def excess_sf(excess: float, df: int, residual: float) -> float:
    """P(log(1 + df F/residual) > excess) for F ~ F_{df, residual}: the scale on which a Gaussian likelihood ratio is T/n.

    >>> round(excess_sf(math.log1p(3.9 / 10), 1, 10), 4)
    0.0765
    """
    from scipy import special  # noqa: PLC0415

    # the incomplete beta function at x = e^-excess, or its complement at 1 - x: at the smaller of the two, so that no digit is lost
    a, b = 0.5 * residual, 0.5 * df
    x = math.exp(-excess)
    return float(special.betainc(a, b, x) if x < 0.5 else special.betaincc(b, a, -math.expm1(-excess)))


def excess_log_sf(excess: float, df: int, residual: float) -> float:
    """The logarithm of :func:`excess_sf`, also where the probability itself is below the smallest float.

    The probability is I_x(a, b), the incomplete beta function at x = e^-excess, a = residual/2, b = df/2. In the tail its continued
    fraction converges in a few steps.

    >>> round(excess_log_sf(2e3, 1, 90), 2)
    -90002.48
    """
    p = excess_sf(excess, df, residual)
    if p > 1e-280:
        return math.log(p)
    from scipy import special  # noqa: PLC0415

    a, b, x = 0.5 * residual, 0.5 * df, math.exp(-excess)
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
    # log x and log(1 - x) from what x was made of: x itself is close to one where there are many rows
    log_rest = math.log(-math.expm1(-excess))
    return -a * excess + b * log_rest - math.log(a) - float(special.betaln(a, b)) + math.log(h)


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
