"""A penalised fit from the rows of all sites: the matrix of a model with every site's own columns in it, by orthogonal factors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilience.federation.exchange.residual import EXACT, ROUNDING
from consilience.glm.kernel import Floats
from consilience.glm.smooth import MOST_PARAMETERS, RATIOS, UNDERSMOOTH, VANISHED, WEIGHTS
from consilience.protocol.products_of import MOST_CLUSTER_LEVERAGE, MOST_LEVERAGE

__all__ = ["PooledDesign", "PooledFit"]


class PooledFit:
    """Residuals of one response, and factors of the matrix that its fitted values are made with: H = Σ q qᵀ + Σ k v vᵀ."""

    def __init__(self, residual: Floats, fitted: Floats, factors: Floats) -> None:
        self.residual, self.fitted, self._factors = residual, fitted, factors

    @property
    def leverage(self) -> Floats:
        """The leverage of each row."""
        found: Floats = np.minimum((self._factors**2).sum(axis=1), MOST_LEVERAGE)
        return found

    def cluster_leverage(self, codes: NDArray[np.intp]) -> Floats:
        """The leverage of each cluster's mean."""
        sums = np.stack([np.bincount(codes, weights=column) for column in self._factors.T], axis=1)
        found: Floats = np.minimum((sums**2).sum(axis=1) / np.bincount(codes), MOST_CLUSTER_LEVERAGE)
        return found


class PooledDesign:
    """The matrix of a model, with orthonormal columns for what has no penalty."""

    def __init__(self, own: Floats, made: Floats, free: int, curves: int, rough: Floats) -> None:
        self.n = len(made)
        self.own = _orthonormal(own)
        swept = made - self.own @ (self.own.T @ made)
        norms = (swept**2).sum(axis=0)
        self.free = _orthonormal(swept[:, :free][:, norms[:free] > VANISHED * self.n])
        penalised, norms = swept[:, free:], norms[free:]
        self.left = penalised - self.free @ (self.free.T @ penalised)
        rest = (self.left**2).sum(axis=0)
        there = (norms > VANISHED * self.n) & (rest > VANISHED * norms)
        self.curved, self.paired = np.flatnonzero(there[:curves]), curves + np.flatnonzero(there[curves:])
        self.rough, self.norms, self.rest = rough, norms, rest

    def _penalised(self, ratio: float) -> Floats:
        """Columns on which the penalty is the sum of squared coefficients."""
        found = [np.empty((self.n, 0))]
        if len(self.curved):
            turned = np.linalg.solve(np.linalg.cholesky(self.rough[np.ix_(self.curved, self.curved)]), self.left[:, self.curved].T).T
            found.append(turned / np.sqrt((turned**2).sum() / len(self.curved)))
        if len(self.paired):
            mean = float(np.mean(self.rest[self.paired] / self.norms[self.paired]))
            found.append(self.left[:, self.paired] / np.sqrt(self.norms[self.paired] * mean * ratio))
        return np.concatenate(found, axis=1)

    def fit(self, response: Floats, *, levels: bool) -> PooledFit | str:
        """The penalised fit with the least cross-validated error, undersmoothed; or why there is none."""
        swept = response - self.own @ (self.own.T @ response)
        squares = (swept**2).sum(axis=0)
        if (squares <= 1e-20 * np.maximum((response**2).sum(axis=0), 1.0)).all():
            return "does not vary within any site"
        left = swept - self.free @ (self.free.T @ swept)
        if levels:
            scored = np.column_stack([left, left.sum(axis=1)])
        else:
            scored = left / np.sqrt(np.where(squares > 0, squares, 1.0))
        base = self.own.shape[1] + self.free.shape[1]
        weight, vectors, sizes = self._choose(scored, base)
        kept = sizes**2 / (sizes**2 + weight)
        if base + float(kept.sum()) > (MOST_PARAMETERS + 0.1) * self.n:
            return "has too few rows for the parameters of its model"
        residual = left - vectors @ (kept[:, None] * (vectors.T @ left))
        if ((residual**2).sum(axis=0) <= np.maximum(EXACT * squares, ROUNDING * self.n)).all():
            return "is an exact function of the conditioning variables"
        return PooledFit(residual, response - residual, np.concatenate([self.own, self.free, vectors * np.sqrt(kept)], axis=1))

    def _choose(self, scored: Floats, base: int) -> tuple[float, Floats, Floats]:
        """The weight with the least cross-validated error, lowered; the columns' singular vectors and values."""
        best: tuple[float, float, Floats, Floats] | None = None
        several = len(self.curved) and len(self.paired)
        for ratio in RATIOS if several else (1.0,):
            vectors, sizes, _ = np.linalg.svd(self._penalised(ratio), full_matrices=False)
            power = ((vectors.T @ scored) ** 2).sum(axis=1)
            for weight in WEIGHTS.tolist():
                kept = sizes**2 / (sizes**2 + weight)
                edf = base + float(kept.sum())
                rss = max(float((scored**2).sum()) - float((kept * (2.0 - kept)) @ power), 0.0)
                if edf <= MOST_PARAMETERS * self.n and (best is None or rss / (1.0 - edf / self.n) ** 2 < best[0]):
                    best = rss / (1.0 - edf / self.n) ** 2, weight, vectors, sizes
        if best is None:
            vectors, sizes, _ = np.linalg.svd(self._penalised(RATIOS[-1] if several else 1.0), full_matrices=False)
            best = np.inf, float(WEIGHTS[-1]), vectors, sizes
        _, weight, vectors, sizes = best
        weight *= UNDERSMOOTH
        while base + float((sizes**2 / (sizes**2 + weight)).sum()) > MOST_PARAMETERS * self.n and weight < 1e12:
            weight *= 2.0
        return weight, vectors, sizes


def _orthonormal(matrix: Floats) -> Floats:
    """An orthonormal basis of the columns."""
    norms = np.sqrt((matrix**2).sum(axis=0))
    kept = matrix[:, norms > 0] / norms[norms > 0]
    if not kept.shape[1]:
        return np.empty((len(matrix), 0))
    vectors, sizes, _ = np.linalg.svd(kept, full_matrices=False)
    basis: Floats = vectors[:, sizes**2 > VANISHED]
    return basis
