"""Counts: what a number must be to be one, and what a model without predictors says of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilience.data.errors import KindError

__all__ = ["MOST_COUNT", "check_counts", "count_sums", "saturated"]

Floats = NDArray[np.float64]

MOST_COUNT = 10**9
"""The largest count. What a count's own chance adds is its root, one part in 30,000 of such a number: other noise hides it, and the number
is as good as continuous. In the sums of models counts stand in their own unit, and those must fit the ring (±2⁶²) for a million rows."""

STIRLING = 64.0
"""From here Stirling's series with four terms is exact in floating point; the logarithm of y! itself has lost a digit or two."""


def check_counts(values: Floats, name: str, owner: str) -> None:
    """Refuse the first number that cannot be a count; NaN is a missing value.

    >>> check_counts(np.array([0.0, 3.0, np.nan]), "visits", "muenster")
    >>> check_counts(np.array([2.5]), "visits", "muenster")
    Traceback (most recent call last):
    ...
    consilience.data.errors.KindError: A count must be a whole number from 0 to 1000000000; 'visits' of 'muenster' holds 2.5. Correct the \
value or leave it empty (missing), or declare 'visits' continuous.
    """
    with np.errstate(invalid="ignore"):
        strange = ~np.isnan(values) & ~((values >= 0) & (values <= MOST_COUNT) & (values == np.floor(values)))
    if strange.any():
        value = float(values[strange][0])
        raise KindError(
            f"A count must be a whole number from 0 to {MOST_COUNT}; {name!r} of {owner!r} holds {value:.15g}. "
            f"Correct the value or leave it empty (missing), or declare {name!r} continuous."
        )


def saturated(values: Floats) -> Floats:
    """The log-likelihood of each count under a mean that is the count itself, y log y - y - log y!.

    Other log-likelihoods are told from here: the rest, y log(μ/y) + y - μ, is small where the fit is good, while y log μ and log y! of
    large counts are large numbers whose difference would have lost its digits.

    >>> saturated(np.array([0.0, 1.0, 1e9])).round(6)
    array([  0.      ,  -1.      , -11.280571])
    """
    from scipy import special  # noqa: PLC0415  a fifth of a second of a process's start, for whoever counts

    low, high = np.minimum(values, STIRLING), np.maximum(values, STIRLING)
    few = special.xlogy(low, low) - low - special.gammaln(low + 1.0)
    many = -0.5 * np.log(2.0 * np.pi * high) - (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * high**2)) / high**2) / high
    found: Floats = np.where(values < STIRLING, few, many)
    return found


def count_sums(values: Floats, sites: NDArray[np.int32] | None = None, about: float | None = None) -> tuple[float, float]:
    """The log-likelihood of counts under the mean of their site, and the degrees of freedom that this mean leaves.

    A site where nothing was counted is fitted exactly by the mean zero. It says nothing on how far counts scatter, and has none. Where the
    mean is not the site's own but that of all sites, which nobody knows yet, the likelihood is that of a mean ``about`` which all agree on,
    but for the part that the total settles, and the degrees are the rows. ``sites`` are codes, where rows of several sites are together and
    the site is a factor.

    >>> likelihood, degrees = count_sums(np.array([0.0, 2.0, 4.0]))
    >>> round(likelihood, 6), degrees
    (-5.712318, 2.0)
    """
    n, total = len(values), float(values.sum())
    if about is None and total == 0.0:
        return 0.0, 0.0
    mean = total / n if about is None else about
    ratio = np.divide(mean, values, out=np.ones_like(values), where=values > 0)
    likelihood = float((values * np.log(ratio) + saturated(values)).sum())
    if about is None:
        return likelihood, float(n - 1)
    if sites is None:
        return likelihood, float(n)
    # the parameter of a site without counts takes up one row, and the site's other rows are not there
    held, totals = np.bincount(sites), np.bincount(sites, weights=values)
    return likelihood, float(np.where(totals > 0, held, np.minimum(held, 1)).sum())
