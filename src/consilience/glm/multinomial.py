"""Multinomial response: log(π_l / π_0) = α_l + xβ_l for every level l but the first.

A level that the site never has is at π_l = 0 in the supremum (its intercept there is minus infinity), so the site's likelihood is that of
the levels it has; the other slopes get nothing from this site. That also holds for the baseline level: one of the levels present then
takes the part of reference *for the intercepts*, and the slopes keep their meaning.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from consilience.glm.crowd import Crowd, Weights, step_weights
from consilience.glm.kernel import Evaluation, Floats, Kernel, RowTerms

__all__ = ["Multinomial"]


class Multinomial(Kernel):
    """Baseline-category logit over ``n_levels`` levels of which ``present`` may occur at this site.

    Shared parameters are β_1, …, β_{L-1}, each of p slopes. Intercepts are those of the levels present, but for ``reference``.
    """

    def __init__(self, X: Floats, y: NDArray[np.int32], w: Floats | None, n_levels: int, present: NDArray[np.intp], reference: int) -> None:
        n, p = X.shape
        # columns and levels first, rows last: reductions over the few levels then run along long rows
        self.X1 = np.concatenate([X.T, np.ones((1, n))])
        self.w = w
        self.n_levels, self.present = n_levels, present
        self.n_shared = p * (n_levels - 1)
        self.n_intercepts = len(present) - 1
        self.observed = np.zeros((len(present), n))
        self.observed[y if len(present) == n_levels else np.searchsorted(present, y), np.arange(n)] = 1.0 if w is None else w
        self.counts = self.observed.sum(axis=1)
        self.observed_sums = self.observed @ self.X1.T
        # two baselines: level 0 for the slopes, the same at all sites; for the intercepts a level that this site has
        self.free, self.reference = np.flatnonzero(present != reference), int(np.flatnonzero(present == reference)[0])
        sloped = np.flatnonzero(present != 0)
        # where the parameters of the levels present sit: in a (level, column) grid here, and in the parameter vector
        q = p + 1
        self.grid = np.concatenate([(sloped[:, None] * q + np.arange(p)).ravel(), self.free * q + p])
        self.target = np.concatenate(
            [((present[sloped][:, None] - 1) * p + np.arange(p)).ravel(), self.n_shared + np.arange(len(self.free))]
        )
        self.pairs = np.triu_indices(len(present), 1)
        self.free_square, self.grid_square, self.target_square = (np.ix_(i, i) for i in (self.free, self.grid, self.target))

    @property
    def places(self) -> NDArray[np.intp]:
        return self.present[self.free] - 1

    def over(self, X: Floats, y: NDArray[np.int32] | Floats, w: Floats | None) -> Multinomial:
        reference = int(self.present[self.reference])
        return Multinomial(X, y.astype(np.int32, copy=False), w, self.n_levels, self.present, reference)

    def start(self, shared: Floats, reach: Floats | None = None) -> Floats:
        del shared, reach
        start: Floats = np.log(self.counts[self.free] / self.counts[self.reference])
        return start

    def linear(self, shared: Floats) -> Floats:
        slopes = np.zeros((self.n_levels, len(self.X1) - 1))
        slopes[1:] = shared.reshape(slopes[1:].shape)
        eta: Floats = slopes[self.present] @ self.X1[:-1]
        return eta

    def rows(self, eta: Floats, shared: Floats, intercepts: Floats) -> RowTerms:
        del shared
        shift = np.zeros((len(self.present), 1))
        shift[self.free, 0] = intercepts
        z = eta + shift
        z -= z.max(axis=0)  # no overflow, and at least one term of the sum below is 1: its logarithm is fine
        reached = float(np.vdot(self.observed, z))
        np.exp(z, out=z)
        total = z.sum(axis=0)
        z /= total
        np.log(total, out=total)
        return RowTerms(reached - float(total.sum() if self.w is None else self.w @ total), (z,))

    def intercept_terms(self, terms: RowTerms) -> tuple[Floats, Floats]:
        (probability,) = terms.arrays
        weighted = probability if self.w is None else probability * self.w
        totals = weighted.sum(axis=1)
        info = np.diag(totals) - weighted @ probability.T
        return (self.counts - totals)[self.free], info[self.free_square]

    def full(self, terms: RowTerms) -> Evaluation:
        (probability,) = terms.arrays
        q, n = self.X1.shape
        levels = len(self.present)
        # H = Σ_rows w (diag π - ππᵀ) ⊗ xxᵀ: one product of all (level, column) pairs gives ππᵀ ⊗ xxᵀ, and the diagonal blocks are added.
        # A loop over pairs of levels would do the same in L²/2 small products.
        spread = (probability[:, None, :] * self.X1).reshape(levels * q, n)
        weighted = spread if self.w is None else spread * self.w
        sums = weighted.reshape(levels, q, n).sum(axis=2)
        all_scores = (self.observed_sums - sums).ravel()
        all_info = -(weighted @ spread.T)
        diagonal = self.X1 @ weighted.T
        for level in range(levels):
            block = slice(level * q, (level + 1) * q)
            all_info[block, block] += diagonal[:, block]
        # slopes of levels that the site lacks keep their zeros: nothing is known of them here
        size = self.n_shared + self.n_intercepts
        score, info = np.zeros(size), np.zeros((size, size))
        score[self.target] = all_scores[self.grid]
        info[self.target_square] = all_info[self.grid_square]
        return Evaluation(score, info)

    def weights(self, terms: RowTerms, crowd: Crowd) -> Iterator[Weights]:
        # H = Σ over pairs of levels of π_l π_m (e_l - e_m)(e_l - e_m)ᵀ ⊗ xxᵀ, and each pair has its own block of it
        (probability,) = terms.arrays
        one, other = self.pairs
        pairs = probability.take(one, axis=0)
        pairs *= probability.take(other, axis=0)
        if not crowd.is_even(pairs, label="information"):
            yield Weights(pairs, 0.25, by_level=True, label="information")
        if crowd.have_middle(probability):
            return
        weight = probability * (1.0 - probability)
        for level in range(len(probability)):
            if not crowd.has_middle(weight[level], label=level):
                p, w = probability[level : level + 1], weight[level : level + 1]
                yield from step_weights(p, w, self.observed[level : level + 1] - p, label=level)

    def bend(self, probability: Floats, b: Floats) -> Floats:
        """The derivative of -½ tr(b H), with H the information of the intercepts, by every linear predictor."""
        whole = np.zeros((len(self.present), len(self.present)))
        whole[self.free_square] = b
        c = (-2.0 * whole) @ probability
        c += whole.diagonal()[:, None]
        c -= np.einsum("ij,ij->j", c, probability)
        c *= probability
        c *= -0.5 if self.w is None else -0.5 * self.w
        return c

    def along(self, probability: Floats, shift: Floats) -> Floats:
        """How the score of every linear predictor falls when those of each level are shifted."""
        fall: Floats = shift[:, None] - shift @ probability
        fall *= probability
        return fall if self.w is None else fall * self.w

    def gradient(self, by_row: Floats) -> Floats:
        """The derivative by all parameters of Σ (observed) η + f, where that of f by every linear predictor is ``by_row``."""
        score = np.zeros(self.n_shared + self.n_intercepts)
        score[self.target] = (self.observed_sums + by_row @ self.X1.T).ravel()[self.grid]
        return score
