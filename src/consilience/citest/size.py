"""How strong: sign and size of an association, beside its p-value.

A p-value says whether an association stands out from chance; it grows smaller with every row. What a fit says besides is how much of
one variable goes with how much of the other, and that does not. docs/statistics.md has the formulas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from consilience.citest.laws import Law

__all__ = ["LEVEL", "MINUS", "NO_SIGN", "PLUS", "Measure", "Size", "correlation_size", "half_width", "likelihood_strength", "size_of"]

LEVEL = 0.95
"""How often intervals have the true size in them."""
PLUS, MINUS, NO_SIGN = "+", "−", ""


class Measure(StrEnum):
    """What a size is measured in.

    >>> Measure("odds ratio").ratio, Measure.SLOPE.none
    (True, 0.0)
    """

    SLOPE = "slope"
    RATE = "rate ratio"
    ODDS = "odds ratio"
    CORRELATION = "correlation"
    ASSOCIATION = "association"

    @property
    def ratio(self) -> bool:
        """True for factors: 1 is no association, and standard errors are those of the logarithm."""
        return self in (Measure.RATE, Measure.ODDS)

    @property
    def none(self) -> float:
        """The value where there is no association."""
        return 1.0 if self.ratio else 0.0


@dataclass(frozen=True, slots=True)
class Size:
    """One number that says how much of one variable goes with how much of another, the variables that were given held fixed.

    Parameters
    ----------
    measure : {"slope", "odds ratio", "rate ratio", "correlation", "association"}
        Standard deviations of a continuous response; the factor on the odds of a discrete one; the factor on the rate of a count; the
        correlation of residuals (``method="residual"``), or, where residuals are vectors, their root-mean-square canonical correlation.
    estimate : float
        The size.
    se : float or None
        Its standard error: of a ratio that of the logarithm, of a correlation that of Fisher's z. None where it is not known.
    low, high : float or None
        The ends of its 95 % interval.
    response, predictor : str
        Of what, and per what. With residuals there is no direction between the two.
    level, reference : str, default ""
        The two levels of a discrete predictor that are compared; both empty where the size is per standard deviation of a number.
    outcome, against : str, default ""
        The level of a discrete response whose odds these are, and against which other; both empty where a higher level is meant.

    Attributes
    ----------
    clear : bool
        True if the interval leaves "no association" out.
    rises : bool
        True if more goes with more.

    Examples
    --------
    >>> Size("odds ratio", 1.5, 0.1, 1.23, 1.82, "smoker", "age", outcome="yes", against="no").clear
    True
    """

    measure: str
    estimate: float
    se: float | None
    low: float | None
    high: float | None
    response: str
    predictor: str
    level: str = ""
    reference: str = ""
    outcome: str = ""
    against: str = ""

    @property
    def clear(self) -> bool:
        """True if the interval leaves "no association" out."""
        none = Measure(self.measure).none
        return self.low is not None and self.high is not None and not self.low <= none <= self.high

    @property
    def rises(self) -> bool:
        """True if more goes with more."""
        return self.estimate > Measure(self.measure).none


@lru_cache(maxsize=4096)
def half_width(law: str, n: float = 0.0, residual_df: int = 0) -> float:
    """How many standard errors an interval reaches to either side, by the law that the p-value beside it is from.

    >>> round(half_width("chi2"), 4), round(half_width("F", 12, 10), 4), round(half_width("scaled chi2", 100, 81), 4)
    (1.96, 2.2281, 2.1777)
    """
    from scipy import special  # noqa: PLC0415  a fifth of a second of a process's start, for whoever tests

    tail = 0.5 * (1.0 + LEVEL)
    if law in (Law.F, Law.QUASI):
        return float(special.stdtrit(residual_df, tail))
    normal = float(special.ndtri(tail))
    return normal * math.sqrt(n / residual_df) if law == Law.SCALED else normal


def size_of(measure: Measure, estimate: float, se: float | None, reach: float, about: tuple[str, str, str, str, str, str]) -> Size | None:
    """A size from a coefficient of a linear predictor, ``reach`` standard errors to either side; None where it is out of all range.

    ``about`` are response, predictor, level, reference, outcome, against.

    >>> size_of(Measure.ODDS, math.log(2.0), 0.0, 1.96, ("Y", "X", "", "", "", "")).estimate
    2.0
    """
    ends = (estimate,) if se is None else (estimate, estimate - reach * se, estimate + reach * se)
    try:
        found = tuple(math.exp(end) for end in ends) if measure.ratio else ends
    except OverflowError:
        return None
    if not all(map(math.isfinite, found)) or (se is not None and not math.isfinite(se)):
        return None
    low, high = (None, None) if se is None else found[1:]
    return Size(measure.value, found[0], se, low, high, *about)


def correlation_size(
    correlation: float,
    se: float | None,
    response: str,
    predictor: str,
    level: str = "",
    reference: str = "",
    outcome: str = "",
    against: str = "",
) -> Size:
    """A correlation with the standard error of Fisher's z, or (without one) an association that has no sign.

    >>> told = correlation_size(0.5, 0.1, "Y", "X")
    >>> round(told.low, 4), round(told.high, 4)
    (0.3393, 0.6323)
    """
    if se is None:
        return Size(Measure.ASSOCIATION.value, correlation, None, None, None, response, predictor)
    most = 1.0 - 1e-15
    z, reach = math.atanh(max(-most, min(most, correlation))), half_width(Law.CHI2) * se
    ends = math.tanh(z - reach), math.tanh(z + reach)
    return Size(Measure.CORRELATION.value, correlation, se, *ends, response, predictor, level, reference, outcome, against)


def likelihood_strength(statistic: float, n: float) -> float:
    """√(1 - e^{-T/n}): between Gaussian variables the absolute partial correlation, for others what that would be with as much gain.

    >>> round(likelihood_strength(-100 * math.log(1 - 0.3**2), 100), 12)
    0.3
    """
    return math.sqrt(-math.expm1(-statistic / n)) if n > 0 and statistic > 0 else 0.0
