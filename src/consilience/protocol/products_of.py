"""Sums of products of two variables' residuals, as rows come in.

S sums r = r_x ⊗ r_y as they are. V, its variance, is one of three sums:

======================  ==============================================================================================================
rows are independent    Σ w r rᵀ, w = ((1 - h_x)(1 - h_y))^-½ with the leverages h: residuals are too small by what a fit has followed
                        (HC2 of MacKinnon and White)
both without order      Σ w v_x ⊗ v_y, v = diag(p) - ppᵀ with the fitted probabilities p: what levels vary by is known from their means,
                        and where some are rare their products are far too few to estimate it
clusters                Σ w_c r_c r_cᵀ with r_c = Σ r over a cluster, and leverages of the cluster's means
======================  ==============================================================================================================
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.glm.kernel import Floats

__all__ = ["MOST_CLUSTER_LEVERAGE", "MOST_LEVERAGE", "Moments", "Residuals", "SumOfProducts", "fourth_root"]

MOST_LEVERAGE, MOST_CLUSTER_LEVERAGE = 0.99, 0.9
"""A row, or a cluster, that a fit follows further than this counts as if it did so: what is left of it is rounding, and would be divided
by it."""


class Residuals(NamedTuple):
    """Residuals of one variable in the units 2^``units``, the fourth roots that they are divided by, fitted values in its own units.

    What they are divided by is :func:`fourth_root` of 1 - h, so that a product of two has the weight that the table above says.
    """

    values: Floats
    roots: Floats
    fitted: Floats
    units: tuple[int, ...]


def fourth_root(leverage: Floats) -> Floats:
    """(1 - h)^¼ of every row.

    >>> fourth_root(np.array([0.0, 0.9375, 1.0])).round(3)
    array([1.   , 0.5  , 0.316])
    """
    root: Floats = np.sqrt(np.sqrt(1.0 - np.minimum(leverage, MOST_LEVERAGE)))
    return root


class Moments(NamedTuple):
    """Sums of one test at one site: independent units, Σ r, V, and Σ |half r|⁴ for every half (or Σ r⁴ where r is one number)."""

    units: int
    sums: Floats
    squares: Floats
    fourths: Floats


class SumOfProducts:
    """The sums of one test. ``maps`` combine the columns of each variable; ``halves`` are roots of inverses for fourth moments."""

    def __init__(self, maps: tuple[Floats, Floats], halves: tuple[Floats, ...], *, known: bool) -> None:
        self.maps, self.halves, self.known = maps, halves, known
        self.d = maps[0].shape[1] * maps[1].shape[1]
        self.units, self.sums = 0, np.zeros(self.d)
        self.squares, self.fourths = np.zeros((self.d, self.d)), np.zeros(len(halves) or 1)
        self.by_cluster: Floats | None = None
        self.rows: Floats | None = None

    def add(self, x: Residuals, y: Residuals, clusters: NDArray[np.intp] | None) -> None:
        """Take some rows, which belong to these clusters."""
        a, b = _combined(x.values, self.maps[0]), _combined(y.values, self.maps[1])
        self.sums += (a.T @ b).ravel()
        if clusters is not None:
            self._gather(_products(a, b), clusters)
        elif self.known:
            self.units += len(a)
            self.squares += _known(_spread(x, self.maps[0]), _spread(y, self.maps[1]), (x.roots * y.roots) ** -2)
        else:
            self._square(_products(a / x.roots[:, None], b / y.roots[:, None]))

    def _gather(self, products: Floats, clusters: NDArray[np.intp]) -> None:
        size = int(clusters.max(initial=-1)) + 1
        if self.by_cluster is None or self.rows is None:
            self.by_cluster, self.rows = np.zeros((0, self.d)), np.zeros(0)
        if size > len(self.rows):
            self.by_cluster = np.concatenate([self.by_cluster, np.zeros((size - len(self.rows), self.d))])
            self.rows = np.concatenate([self.rows, np.zeros(size - len(self.rows))])
        np.add.at(self.by_cluster, clusters, products)
        np.add.at(self.rows, clusters, 1.0)

    def _square(self, weighted: Floats) -> None:
        self.units += len(weighted)
        if self.halves:
            for i, half in enumerate(self.halves):
                inside = weighted @ half
                lengths = np.einsum("ij,ij->i", inside, inside)
                self.fourths[i] += float(lengths @ lengths)
            return
        self.squares += weighted.T @ weighted
        if self.d == 1:
            squares = weighted[:, 0] ** 2
            self.fourths[0] += float(squares @ squares)

    def done(self, leverages: tuple[Floats, Floats] | None) -> Moments:
        """The sums; with the leverages of clusters, where there are some."""
        if self.by_cluster is not None and self.rows is not None and leverages is not None:
            there = np.flatnonzero(self.rows)
            x, y = (np.minimum(each[there], MOST_CLUSTER_LEVERAGE) for each in leverages)
            self._square(self.by_cluster[there] * (((1.0 - x) * (1.0 - y)) ** -0.25)[:, None])
        return Moments(self.units, self.sums, self.squares, self.fourths)


def _combined(values: Floats, columns: Floats) -> Floats:
    """The columns of a variable as a test combines them: one is as it is, up to a number."""
    return values * columns[0, 0] if columns.size == 1 else values @ columns


def _products(a: Floats, b: Floats) -> Floats:
    """Every column of the one times every column of the other."""
    if a.shape[1] == 1 or b.shape[1] == 1:
        return a * b
    return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)


def _spread(of: Residuals, columns: Floats) -> Floats:
    """diag(p) - ppᵀ of every row, a row each, in the residuals' units and with their columns combined.

    Shares of all levels, the one without a column included, are made shares again: so it does not matter which level that is.
    """
    all_levels = np.ones(of.fitted.shape[1])
    p = np.clip(of.fitted, 0.0, 1.0)
    p /= (p @ all_levels + np.clip(1.0 - of.fitted @ all_levels, 0.0, 1.0))[:, None]
    spread = -_products(p, p)
    spread[:, :: p.shape[1] + 1] += p  # the diagonal
    scaled = columns * np.ldexp(1.0, -np.array(of.units))[:, None]
    combined: Floats = spread @ np.kron(scaled, scaled)
    return combined


def _known(x: Floats, y: Floats, weight: Floats) -> Floats:
    """Σ w v_x ⊗ v_y over rows."""
    a, b = math.isqrt(x.shape[1]), math.isqrt(y.shape[1])
    total = (x * weight[:, None]).T @ y
    whole: Floats = total.reshape(a, a, b, b).transpose(0, 2, 1, 3).reshape(a * b, a * b)
    return whole
