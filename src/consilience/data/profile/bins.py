"""A histogram whose edges a person can read."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bin", "histogram"]

MOST_BINS = 24
"""A drawing of a few hundred pixels shows no more."""


@dataclass(frozen=True, slots=True)
class Bin:
    """How many values lie from ``low`` up to ``high``; the last bin of a histogram holds its upper edge, too.

    Attributes
    ----------
    low, high : float
        The edges.
    count : int
        Values between them.

    Examples
    --------
    >>> Bin(60.0, 65.0, 12).count
    12
    """

    low: float
    high: float
    count: int


def histogram(values: NDArray[np.float64], *, whole: bool = False) -> tuple[Bin, ...]:
    """Bins of equal width with round edges.

    Parameters
    ----------
    values : array of float
        Finite numbers.
    whole : bool, default False
        True for whole numbers, whose bins are not narrower than one.

    Returns
    -------
    tuple of Bin
        From the smallest value to the largest; empty without values, one bin if they are all the same.

    Examples
    --------
    >>> histogram(np.array([1.0, 2.0, 2.0, 9.0]), whole=True)[:2]
    (Bin(low=1.0, high=2.0, count=1), Bin(low=2.0, high=3.0, count=2))
    """
    if len(values) == 0:
        return ()
    low, high = float(values.min()), float(values.max())
    width = high - low
    step = _round_step(width / (MOST_BINS - 4)) if 0 < width < math.inf else 0.0
    if whole:
        step = max(1.0, step)
    # one bin for one value, and where edges would fall together: beside 1e16 a step of 0.1 is nothing
    if width in (0, math.inf) or step < 1e-10 * max(abs(low), abs(high)):
        return (Bin(low, high, len(values)),)
    first = math.floor(low / step)
    counts, edges = np.histogram(values, bins=np.arange(first, math.floor(high / step) + 2) * step)
    return tuple(
        Bin(_tidy(a), _tidy(b), int(count)) for a, b, count in zip(edges.tolist(), edges.tolist()[1:], counts.tolist(), strict=False)
    )


def _round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not below ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def _tidy(edge: float) -> float:
    """0.3 rather than 0.30000000000000004."""
    return float(f"{edge:.12g}")
