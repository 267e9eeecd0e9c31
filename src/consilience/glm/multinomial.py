"""Multinomial response: log(π_l / π_0) = α_l + xβ_l for every level l but the first.

A level that the site never has is at π_l = 0 in the supremum (its intercept there is minus infinity), so the site's likelihood is that of
the levels it has; the other slopes get nothing from this site. That also holds for the baseline level: one of the levels present then
takes the part of reference *for the intercepts*, and the slopes keep their meaning.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilience.glm.kernel import Evaluation, Floats, Kernel, RowTerms

__all__ = ["Multinomial"]


class Multinomial(Kernel):
    """Baseline-category logit over ``n_levels`` levels of which ``present`` may occur at this site.

    Shared parameters are β_1, …, β_{L-1}, each of p slopes. Intercepts are those of the levels present, but for ``reference``.
    """

    def __init__(self, X: Floats, y: NDArray[np.int32], w: Floats | None, n_levels: int, present: NDArray[np.intp], reference: int) -> None:
        n, p = X.shape
        self.X1 = np.concatenate([X, np.ones((n, 1))], axis=1)
        self.w = np.ones(n) if w is None else w
        self.n_levels, self.present = n_levels, present
        self.n_shared = p * (n_levels - 1)
        self.n_intercepts = len(present) - 1
        self.position = np.searchsorted(present, y)
        indicator = np.zeros((n, len(present)))
        indicator[np.arange(n), self.position] = 1.0
        self.weighted_indicator = indicator * self.w[:, None]
        self.free = np.flatnonzero(present != reference)
        sloped = np.flatnonzero(present != 0)
        # where the parameters of the levels present sit: in a (level, column) grid here, and in the parameter vector
        q = p + 1
        self.grid = np.concatenate([(sloped[:, None] * q + np.arange(p)).ravel(), self.free * q + p])
        self.target = np.concatenate(
            [((present[sloped][:, None] - 1) * p + np.arange(p)).ravel(), self.n_shared + np.arange(len(self.free))]
        )

    def start(self, shared: Floats) -> Floats:
        del shared
        counts = self.weighted_indicator.sum(axis=0)
        reference = np.setdiff1d(np.arange(len(self.present)), self.free)[0]
        start: Floats = np.log(counts[self.free] / counts[reference])
        return start

    def linear(self, shared: Floats) -> Floats:
        slopes = np.zeros((self.n_levels, self.X1.shape[1] - 1))
        slopes[1:] = shared.reshape(slopes[1:].shape)
        eta: Floats = self.X1[:, :-1] @ slopes[self.present].T
        return eta

    def rows(self, eta: Floats, shared: Floats, intercepts: Floats) -> RowTerms:
        del shared
        z = eta.copy()
        z[:, self.free] += intercepts
        z -= z.max(axis=1, keepdims=True)
        observed = np.take_along_axis(z, self.position[:, None], axis=1)[:, 0]
        np.exp(z, out=z)
        total = z.sum(axis=1)
        z /= total[:, None]
        return RowTerms(float(self.w @ (observed - np.log(total))), (z,))

    def intercept_terms(self, terms: RowTerms) -> tuple[Floats, Floats]:
        (probability,) = terms.arrays
        weighted = probability * self.w[:, None]
        totals = weighted.sum(axis=0)
        score = self.weighted_indicator.sum(axis=0) - totals
        info = np.diag(totals) - weighted.T @ probability
        return score[self.free], info[np.ix_(self.free, self.free)]

    def full(self, terms: RowTerms) -> Evaluation:
        (probability,) = terms.arrays
        n, q = self.X1.shape
        levels = len(self.present)
        gradient = self.weighted_indicator - probability * self.w[:, None]
        all_scores = (gradient.T @ self.X1).ravel()
        spread = (probability[:, :, None] * self.X1[:, None, :]).reshape(n, levels * q)
        weighted = spread * self.w[:, None]
        all_info = -(weighted.T @ spread)
        diagonal = self.X1.T @ weighted
        for level in range(levels):
            block = slice(level * q, (level + 1) * q)
            all_info[block, block] += diagonal[:, block]
        size = self.n_shared + self.n_intercepts
        score, info = np.zeros(size), np.zeros((size, size))
        score[self.target] = all_scores[self.grid]
        info[np.ix_(self.target, self.target)] = all_info[np.ix_(self.grid, self.grid)]
        return Evaluation(score, info)
