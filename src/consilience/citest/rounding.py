"""How exactly numbers are told: of one site alone to three digits, in published results to six.

A statistic in full precision is more than a statistic. Of all tables of two binary variables with 137 rows there is one that has a given
likelihood ratio, but for the names of its rows and columns: who has all digits has the table. With three digits of the p-value a dozen
have it, at the median. In small samples fewer tables are possible and fewer digits would be needed: with 40 rows three digits single out
six tables of ten. docs/privacy.md says so; ``single_site="refuse"`` is what closes it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

__all__ = ["ALONE_DIGITS", "LEAST_ALONE", "PUBLISHED_DIGITS", "ToldP", "significant", "told_statistic"]

ALONE_DIGITS = 3
"""Significant digits of a p-value that one site alone has found."""
LEAST_ALONE = 1e-10
"""The smallest p-value that a site tells of its own rows. Three digits of 1e-50 tell the statistic to five: what is beyond doubt anyway is
told as this number. (Of the tables with 137 rows, digits without this end would single out one of nine, with it one of forty.)"""
TERM = 2.0**-9
"""Steps in which -2 log p of one site is told where it is summed: coarse enough that a sum of two fits hundreds of pairs of p-values, and
fine enough that one alone is the p-value of three digits, whichever it is (999 and 998 are 0.0020 apart, and this is 0.00195)."""
PUBLISHED_DIGITS = 6
"""Significant digits of whatever a study server publishes."""


def significant(value: float, digits: int) -> float:
    """The value with so many significant digits; what is not finite stays.

    >>> significant(0.0123456, 3), significant(-98765.4, 3), significant(math.inf, 3)
    (0.0123, -98800.0, inf)
    """
    return float(f"{value:.{digits - 1}e}") if math.isfinite(value) else value


class ToldP(NamedTuple):
    """A rounded p-value as two whole numbers, ``digits`` · 10^``exponent``: a fixed-point sum has them exactly, however small p is.

    >>> ToldP.of(math.log(0.0123456)), ToldP.of(math.log(0.0123456)).p_value
    (ToldP(digits=123, exponent=-4), 0.0123)
    >>> ToldP.of(-1000.0).p_value, ToldP.of(0.0).p_value
    (1e-10, 1.0)
    """

    digits: float
    exponent: float

    @staticmethod
    def of(log_p: float) -> ToldP:
        """Site: what it tells, from the logarithm of its p-value."""
        p = min(max(math.exp(max(log_p, -700.0)), LEAST_ALONE), 1.0)
        head, _, exponent = f"{p:.{ALONE_DIGITS - 1}e}".partition("e")
        return ToldP(int(head.replace(".", "")), int(exponent) - (ALONE_DIGITS - 1))

    @property
    def p_value(self) -> float:
        """The p-value that was told: the same bits wherever it is read."""
        return float(f"{round(self.digits)}e{round(self.exponent)}")


def told_statistic(log_p: float) -> float:
    """-2 log p of a rounded p-value as one term of a sum, in steps of :data:`TERM`.

    With all its digits the sum of such terms would be the logarithm of a product of numbers of three digits, and few such numbers have a
    given product: who factors it has the p-values of all sites.

    >>> told_statistic(math.log(0.0123456)) * 512, ToldP.of(-0.5 * told_statistic(math.log(0.0123456))).p_value
    (4504.0, 0.0123)
    """
    return round(-2.0 * math.log(ToldP.of(log_p).p_value) / TERM) * TERM
