"""Products of a few long rows with each other: the sums over a site's rows that most of a fit's time goes into.

The library of linear algebra has two ways for them. Products of at most a million multiplications it makes at once; larger ones it first
copies into an order that suits square matrices, which takes several times as long as the product of a few long rows itself. A matrix times
its own transpose always goes the slow way. So a larger product is made of smaller ones, and no matrix is multiplied with itself: on
processors with AVX-512 the products of a multinomial model take a third of the time, on others about as long.
"""

from __future__ import annotations

import numpy as np

from consilience.glm.kernel import Floats

__all__ = ["gram", "product"]

MOST_AT_ONCE = 100**3
"""Multiplications of a product that OpenBLAS makes at once (its kernels for small matrices)."""
MOST_ROWS = 6
"""Of more rows pieces would be so many that they gain little on one processor and lose on another."""
LONG = 1 << 12
"""Rows from which on it matters. What is shorter takes as long as the calls."""


def product(a: Floats, b: Floats) -> Floats:
    """``a @ b.T`` of two matrices with few long rows, other than each other.

    >>> one = np.arange(30_000.0).reshape(3, -1) / 1e4
    >>> bool(np.allclose(product(one, one + 1.0), one @ (one + 1.0).T))
    True
    """
    (m, n), k = a.shape, len(b)
    step = MOST_AT_ONCE // (n * k) if n * k else m
    if n < LONG or step >= m or step < 2 or k > MOST_ROWS:
        plain: Floats = np.dot(a, b.T)
        return plain
    found = np.empty((m, k))
    for start in range(0, m, step):
        np.dot(a[start : start + step], b.T, out=found[start : start + step])
    return found


def gram(a: Floats) -> Floats:
    """``a @ a.T`` of a matrix with few long rows.

    >>> one = np.arange(30_000.0).reshape(3, -1) / 1e4
    >>> bool(np.allclose(gram(one), one @ one.T))
    True
    """
    m, n = a.shape
    if n < LONG or m > MOST_ROWS or m < 2:
        plain: Floats = np.dot(a, a.T)
        return plain
    found, start = np.empty((m, m)), 0
    while start < m:
        left = m - start
        step = max(min(MOST_AT_ONCE // (n * left), left - 1), 1)  # never all that is left: that would be a matrix times itself
        part = np.dot(a[start : start + step], a[start:].T)
        found[start : start + step, start:] = part
        found[start:, start : start + step] = part.T
        start += step
    return found
