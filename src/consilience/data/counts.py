"""Counts: what a number must be to be one, and what a model without predictors says of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from consilience.data.errors import KindError

__all__ = ["MOST_COUNT", "check_counts", "count_sums", "poisson_loglik"]

MOST_COUNT = 10**9
"""The largest count. What a count's own chance adds is its root, one part in 30,000 of such a number: other noise hides it, and the number
is as good as continuous. In the sums of models counts stand in their own unit, and those must fit the ring (±2⁶²) for a million rows."""


def check_counts(values: NDArray[np.float64], name: str, owner: str) -> None:
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


def count_sums(values: NDArray[np.float64], sites: NDArray[np.int32] | None = None, *, own_mean: bool = True) -> tuple[float, float]:
    """The log-likelihood of counts under the mean of their site, and the degrees of freedom that this mean leaves.

    A site where nothing was counted is fitted exactly by the mean zero. It says nothing on how far counts scatter, and has none. Where the
    mean is not the site's own, but that of all sites, what is said is the part of the log-likelihood without it, and the rows. ``sites``
    are codes, where rows of several sites are together and the site is a factor.

    >>> likelihood, degrees = count_sums(np.array([0.0, 2.0, 4.0]))
    >>> round(likelihood, 6), degrees
    (-5.712318, 2.0)
    """
    n, constant = len(values), -float(special.gammaln(values + 1.0).sum())
    if own_mean:
        return constant + poisson_loglik(float(values.sum()), n), float(n - 1 if values.any() else 0)
    if sites is None:
        return constant, float(n)
    # the parameter of a site without counts takes up one row, and the site's other rows are not there
    held, totals = np.bincount(sites), np.bincount(sites, weights=values)
    return constant, float(np.where(totals > 0, held, np.minimum(held, 1)).sum())


def poisson_loglik(total: float, n: float) -> float:
    """The log-likelihood of ``n`` counts under their mean, but for -Σ log y!.

    >>> round(poisson_loglik(6.0, 3.0), 6), poisson_loglik(0.0, 3.0)
    (-1.841117, 0.0)
    """
    return total * float(np.log(total / n)) - total if total > 0 else 0.0
