"""Multinomial response: log(π_l / π_0) = α_l + xβ_l for every level l but the first.

A level that the site never has is at π_l = 0 in the supremum (its intercept there is minus infinity), so the site's likelihood is that of
the levels it has; the other slopes get nothing from this site. That also holds for the baseline level: one of the levels present then
takes the part of reference *for the intercepts*, and the slopes keep their meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.glm.crowd import Crowd, Weights, step_weights
from consilience.glm.kernel import Evaluation, Floats, Kernel, RowTerms
from consilience.glm.products import gram, product

__all__ = ["Multinomial"]


class Multinomial(Kernel):
    """Baseline-category logit over ``n_levels`` levels of which ``present`` may occur at this site.

    Shared parameters are β_1, …, β_{L-1}, each of p slopes. Intercepts are those of the levels present, but for ``reference``.
    """

    def __init__(self, X: Floats, y: NDArray[np.int32], w: Floats | None, n_levels: int, present: NDArray[np.intp], reference: int) -> None:
        self.n_levels, self.present = n_levels, present
        self.n_shared, self.n_intercepts = X.shape[1] * (n_levels - 1), len(present) - 1
        layout = _layout(n_levels, tuple(present.tolist()), reference, X.shape[1])
        self.reference, self.free, self.free_square, self.sloped, self.pairs, self.target, self.target_square, self.added = layout
        self._set(X, y, w)

    def _set(self, X: Floats, y: NDArray[np.int32], w: Floats | None, like: Multinomial | None = None) -> None:
        """What depends on rows."""
        n = len(X)
        # columns and levels first, rows last: reductions over the few levels then run along long rows
        self.X1 = np.concatenate([X.T, np.ones((1, n))])
        self.w = w
        if like is None:
            self.observed = np.zeros((len(self.present), n))
            level = y if len(self.present) == self.n_levels else np.searchsorted(self.present, y)
            self.observed[level, np.arange(n)] = 1.0 if w is None else w
            self.counts = self.observed.sum(axis=1)
        else:
            self.observed, self.counts = like.observed, like.counts
        self.observed_sums = np.dot(self.observed, self.X1.T)

    @property
    def places(self) -> NDArray[np.intp]:
        return self.present[self.free] - 1

    def over(self, X: Floats, y: NDArray[np.int32] | Floats, w: Floats | None, like: Kernel | None = None) -> Multinomial:
        part = copy(self)
        part._set(X, y.astype(np.int32, copy=False), w, like if isinstance(like, Multinomial) else None)
        return part

    def start(self, shared: Floats, reach: Floats | None = None) -> Floats:
        del shared, reach
        start: Floats = np.log(self.counts[self.free] / self.counts[self.reference])
        return start

    def linear(self, shared: Floats) -> Floats:
        slopes = np.zeros((self.n_levels, len(self.X1) - 1))
        slopes[1:] = shared.reshape(slopes[1:].shape)
        eta: Floats = np.dot(slopes[self.present], self.X1[:-1])
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
        return RowTerms(reached - float(total.sum() if self.w is None else np.dot(self.w, total)), (z,))

    def intercept_terms(self, terms: RowTerms) -> tuple[Floats, Floats]:
        (probability,) = terms.arrays
        weighted = probability if self.w is None else probability * self.w
        totals = weighted.sum(axis=1)
        info = np.diag(totals) - np.dot(weighted, probability.T)
        return (self.counts - totals)[self.free], info[self.free_square]

    def full(self, terms: RowTerms) -> Evaluation:
        (probability,) = terms.arrays
        X = self.X1[:-1]
        sloped = probability[self.sloped]
        slopes = len(sloped) * len(X)
        # H = Σ_rows w (diag π - ππᵀ) ⊗ xxᵀ over the parameters that there are: one product of π ⊗ x with itself, and what diag π adds.
        # A loop over pairs of levels would do the same in L²/2 small products.
        spread = np.empty((slopes + len(self.free), X.shape[1]))
        np.multiply(sloped[:, None, :], X, out=spread[:slopes].reshape(len(sloped), *X.shape))
        np.take(probability, self.free, axis=0, out=spread[slopes:], mode="clip")
        weighted = spread if self.w is None else spread * self.w
        sums = product(weighted, self.X1)
        inner = gram(spread) if self.w is None else product(weighted, spread)
        np.negative(inner, out=inner)
        here, there, source = self.added
        inner[here, there] += sums[source]
        outer = self._own(self.observed_sums)
        outer -= sums[:, -1]
        if len(self.present) == self.n_levels:
            return Evaluation(outer, inner)
        # slopes of levels that the site lacks keep their zeros: nothing is known of them here
        size = self.n_shared + self.n_intercepts
        score, info = np.zeros(size), np.zeros((size, size))
        score[self.target] = outer
        info[self.target_square] = inner
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
        c: Floats = np.dot(-2.0 * whole, probability)
        c += whole.diagonal()[:, None]
        c -= np.einsum("ij,ij->j", c, probability)
        c *= probability
        c *= -0.5 if self.w is None else -0.5 * self.w
        return c

    def along(self, probability: Floats, shift: Floats) -> Floats:
        """How the score of every linear predictor falls when those of each level are shifted."""
        fall: Floats = shift[:, None] - np.dot(shift, probability)
        fall *= probability
        return fall if self.w is None else fall * self.w

    def gradient(self, by_row: Floats) -> Floats:
        """The derivative by all parameters of Σ (observed) η + f, where that of f by every linear predictor is ``by_row``."""
        return self.placed(self.observed_sums + np.dot(by_row, self.X1.T))

    def placed(self, sums: Floats) -> Floats:
        """What is known of each level present (rows) and column, the last that of ones, as a vector over all parameters."""
        vector = np.zeros(self.n_shared + self.n_intercepts)
        vector[self.target] = self._own(sums)
        return vector

    def _own(self, sums: Floats) -> Floats:
        return np.concatenate([sums[self.sloped, :-1].ravel(), sums[self.free, -1]])


class _Layout(NamedTuple):
    """Where the parameters of a site's levels stand, whatever its rows are; ``free`` and ``sloped`` are levels by their places there."""

    reference: int
    free: NDArray[np.intp]
    free_square: tuple[NDArray[np.intp], ...]
    sloped: slice
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]]
    target: NDArray[np.intp]
    target_square: tuple[NDArray[np.intp], ...]
    added: tuple[NDArray[np.intp], NDArray[np.intp], tuple[NDArray[np.intp], NDArray[np.intp]]]


@lru_cache(maxsize=256)  # a study has few different sizes, and hundreds of models of each
def _layout(n_levels: int, levels: tuple[int, ...], reference: int, p: int) -> _Layout:
    present = np.array(levels, dtype=np.intp)
    # two baselines: level 0 for the slopes, the same at all sites; for the intercepts a level that this site has
    free, sloped = np.flatnonzero(present != reference), slice(int(levels[0] == 0), len(levels))
    # in the vector of all parameters: the slopes, level by level, then the intercepts
    slopes = (present[sloped][:, None] - 1) * p + np.arange(p)
    target = np.concatenate([slopes.ravel(), (n_levels - 1) * p + np.arange(len(free))])
    pairs = np.triu_indices(len(levels), 1)
    added = _added(range(sloped.start, sloped.stop), free.tolist(), p)
    return _Layout(levels.index(reference), free, np.ix_(free, free), sloped, pairs, target, np.ix_(target, target), added)


def _added(
    sloped: Sequence[int], free: Sequence[int], p: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Which entries of the information diag π adds to, and where in Σ_rows (π ⊗ x) xᵀ stands what it adds; the last column is of ones.

    The parameters are ``p`` slopes for each level that is ``sloped``, then the intercepts of levels that are ``free``.
    """
    found: list[tuple[int, int, int, int]] = []
    intercept = {level: len(sloped) * p + k for k, level in enumerate(free)}
    for j, level in enumerate(sloped):
        for row in range(j * p, (j + 1) * p):
            found += [(row, j * p + column, row, column) for column in range(p)]
            if level in intercept:
                found += [(row, intercept[level], row, p), (intercept[level], row, row, p)]
    found += [(place, place, place, p) for place in intercept.values()]
    here, there, rows, columns = np.array(found, dtype=np.intp).reshape(-1, 4).T
    return here, there, (rows, columns)
