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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.glm.kernel import Floats

__all__ = ["MOST_CLUSTER_LEVERAGE", "MOST_LEVERAGE", "Moments", "Residuals", "SumOfProducts"]

MOST_LEVERAGE, MOST_CLUSTER_LEVERAGE = 0.99, 0.9
"""A row, or a cluster, that a fit follows further than this counts as if it did so: what is left of it is rounding, and would be divided
by it."""


class Residuals(NamedTuple):
    """Residuals of one variable in the units 2^``units``, leverages, and fitted values in its own units."""

    values: Floats
    leverage: Floats
    fitted: Floats
    units: tuple[int, ...]


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
        a, b = x.values @ self.maps[0], y.values @ self.maps[1]
        products = (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)
        self.sums += products.sum(axis=0)
        if clusters is not None:
            self._gather(products, clusters)
            return
        weight = ((1.0 - np.minimum(x.leverage, MOST_LEVERAGE)) * (1.0 - np.minimum(y.leverage, MOST_LEVERAGE))) ** -0.25
        if self.known:
            self.units += len(products)
            self.squares += _known(_spread(x, self.maps[0]), _spread(y, self.maps[1]), weight**2)
        else:
            self._square(products * weight[:, None])

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
                self.fourths[i] += float((((weighted @ half) ** 2).sum(axis=1) ** 2).sum())
            return
        self.squares += weighted.T @ weighted
        if self.d == 1:
            self.fourths[0] += float((weighted**4).sum())

    def done(self, leverages: tuple[Floats, Floats] | None) -> Moments:
        """The sums; with the leverages of clusters, where there are some."""
        if self.by_cluster is not None and self.rows is not None and leverages is not None:
            there = np.flatnonzero(self.rows)
            x, y = (np.minimum(each[there], MOST_CLUSTER_LEVERAGE) for each in leverages)
            self._square(self.by_cluster[there] * (((1.0 - x) * (1.0 - y)) ** -0.25)[:, None])
        return Moments(self.units, self.sums, self.squares, self.fourths)


def _spread(of: Residuals, columns: Floats) -> Floats:
    """diag(p) - ppᵀ of every row, a row each, in the residuals' units and with their columns combined.

    Shares of all levels, the one without a column included, are made shares again: so it does not matter which level that is.
    """
    p = np.clip(of.fitted, 0.0, 1.0)
    p /= (p.sum(axis=1) + np.clip(1.0 - of.fitted.sum(axis=1), 0.0, 1.0))[:, None]
    spread = -p[:, :, None] * p[:, None, :]
    j = np.arange(p.shape[1])
    spread[:, j, j] += p
    scaled = columns * np.ldexp(1.0, -np.array(of.units))[:, None]
    combined: Floats = scaled.T @ spread @ scaled
    return combined


def _known(x: Floats, y: Floats, weight: Floats) -> Floats:
    a, b = x.shape[1], y.shape[1]
    total = (x * weight[:, None, None]).reshape(len(x), -1).T @ y.reshape(len(y), -1)
    whole: Floats = total.reshape(a, a, b, b).transpose(0, 2, 1, 3).reshape(a * b, a * b)
    return whole
