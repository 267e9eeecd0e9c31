"""How finely the rows of one site may be told apart along a column: in clumps of enough rows.

A sum over few rows says something about these few. So a site that must not tell of fewer than ``least`` rows makes no column that is about
fewer: along a number its rows form clumps of neighbours, each with that many rows, and there are no more columns than clumps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_CLUMPS", "clump_bounds", "effective_rows", "plain_between", "rare"]

Floats = NDArray[np.float64]
MOST_CLUMPS = 128
"""Clumps are larger where there would be more: no curve has as many pieces."""
MOST_DIGITS = 60
"""Binary digits of a bound: as many as a double has, and a few more."""


def clump_bounds(values: Floats, least: int) -> Floats:
    """Bounds between neighbouring clumps of the values, each of at least ``least`` rows; equal values are never parted.

    >>> clump_bounds(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 9.0, 9.0, 9.0]), 2)
    array([2.5, 4.5])
    """
    ordered, n = np.sort(values), len(values)
    step = max(least, -(-n // MOST_CLUMPS))
    found, start = list[float](), 0
    while start + step < n:
        cut = int(np.searchsorted(ordered, ordered[start + step - 1], side="right"))  # behind all that equal the last of the clump
        if n - cut < step:
            break
        found.append(plain_between(float(ordered[cut - 1]), 0.5 * float(ordered[cut - 1] + ordered[cut])))
        start = cut
    return np.array(found)


def plain_between(low: float, high: float) -> float:
    """A number above ``low`` and not above ``high`` with as few binary digits as there can be: which it is says little of the two.

    The middle of two rows' values would be about these two.

    >>> plain_between(2.1, 2.7), plain_between(2.30, 2.34), plain_between(0.975, 0.98), plain_between(-0.4, 7.0)
    (2.5, 2.3125, 0.9765625, 0.0)
    """
    if low < 0.0 <= high:
        return 0.0
    exponent = int(np.frexp(max(abs(low), abs(high)))[1])
    for digits in range(MOST_DIGITS):
        found = float(np.ldexp(np.floor(np.ldexp(high, digits - exponent)), exponent - digits))
        if low < found <= high:
            return found
    return high


def rare(counts: NDArray[np.integer], least: float) -> bool:
    """True if some count is neither zero nor ``least``.

    >>> rare(np.array([0, 5]), 5), rare(np.array([4, 6]), 5)
    (False, True)
    """
    return bool(((counts > 0) & (counts < least)).any())


def effective_rows(columns: Floats, about: Floats) -> Floats:
    """How many rows a column is about, as if all counted the same: (Σ|b|)²/Σb² of what it is besides ``about``, the value of most rows.

    >>> effective_rows(np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 1.0]]), np.zeros(2)).round(2)
    array([1.  , 2.67])
    """
    off = np.abs(columns - about)
    squares = (off * off).sum(axis=0)
    found: Floats = np.divide(off.sum(axis=0) ** 2, squares, out=np.zeros_like(squares), where=squares > 0)
    return found
