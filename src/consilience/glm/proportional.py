"""Ordinal response, proportional odds: P(Y ≤ j) = σ(θ_j - xβ), θ_1 < … < θ_{J-1}.

Thresholds are θ_j = α + τ_j - τ̄ with τ_1 = 0: α, the site's intercept, shifts them all; the gaps τ_2, …, τ_{J-1} are shared. τ̄ is a
mean of τ weighted with the site's own information about each threshold, so that α is nearly orthogonal to the gaps; like the
centring of columns it moves the intercept and changes no likelihood. Where all sites share one intercept, τ̄ is the plain mean.

With u the threshold above the observed level and l the one below, σ(u) - σ(l) = σ(u) σ(-l) (1 - e^{-(u-l)}): no cancellation in the
tails, and derivatives that read off directly: with f = σ(1-σ) and r = q(1+q), q = 1/(e^{u-l} - 1), the information of (u, l) is
[[f(u) + r, -r], [-r, f(l) + r]].
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from consilience.glm.crowd import Crowd, Weights, step_weights
from consilience.glm.kernel import Evaluation, Floats, Kernel, RowTerms, ShiftedKernel, Softplus
from consilience.glm.logit import sigmoid

__all__ = ["Proportional"]


class Proportional(ShiftedKernel):
    """Cumulative logit with one slope per column; shared parameters are (β, τ_2, …, τ_{J-1})."""

    n_intercepts = 1
    order: NDArray[np.intp]
    _weighed: tuple[RowTerms, Floats] | None = None

    def __init__(self, X: Floats, y: NDArray[np.int32], w: Floats | None, n_levels: int, *, own_intercept: bool = True) -> None:
        self.p = X.shape[1]
        self.n_shared = self.p + n_levels - 2
        self.n_levels = n_levels
        self._set(X, y, w)
        self.to_thresholds = self._map(n_levels - 1, own_intercept=own_intercept)

    def _set(self, X: Floats, y: NDArray[np.int32], w: Floats | None, like: Proportional | None = None) -> None:
        """What depends on rows."""
        if like is None:
            # rows sorted by level: those with a threshold above or below, and those of one level, are then slices
            self.order = np.argsort(y.astype(np.uint8) if self.n_levels <= 256 else y, kind="stable")
            self.w = None if w is None else w[self.order]
            sizes = np.bincount(y, minlength=self.n_levels)
            self.counts = sizes.astype(np.float64) if w is None else np.bincount(y, weights=w, minlength=self.n_levels)
            self.above = slice(0, len(y) - int(sizes[-1]))
            self.below = slice(int(sizes[0]), len(y))
            self.sizes_above, self.sizes_below = sizes[:-1], sizes[1:]
            self.parts = _stretches(sizes)
            self.parts_above, self.parts_below = _stretches(self.sizes_above), _stretches(self.sizes_below)
            beside = sizes[:-1] + sizes[1:]
            self.fewest_beside = int(beside[beside > 0].min(initial=len(y)))
        else:
            self.order, self.w, self.counts, self.parts = like.order, like.w, like.counts, like.parts
            self.above, self.sizes_above, self.parts_above = like.above, like.sizes_above, like.parts_above
            self.below, self.sizes_below, self.parts_below = like.below, like.sizes_below, like.parts_below
            self.fewest_beside = like.fewest_beside
        self.XT = np.take(X.T, self.order, axis=1)
        self._weighed = None
        for name in ("_terms", "_doubled"):  # of other rows
            self.__dict__.pop(name, None)

    def _map(self, n_thresholds: int, *, own_intercept: bool) -> Floats:
        """θ as a linear map of (τ_2, …, τ_{J-1}, α)."""
        # Half a row more on each side (Haldane's ½): a threshold below or above all rows of the site keeps a share inside (0, 1). The
        # weight of a threshold is the rows beside it times σ(1-σ) there, the information about it at zero slopes.
        share = (np.cumsum(self.counts)[:-1] + 0.5) / (self.counts.sum() + 1.0)
        weight = (self.counts[:-1] + self.counts[1:]) * share * (1.0 - share)
        weight = weight / weight.sum() if own_intercept else np.full(n_thresholds, 1.0 / n_thresholds)
        matrix = np.zeros((n_thresholds, n_thresholds))
        matrix[:, :-1] = np.eye(n_thresholds)[:, 1:] - weight[1:]
        matrix[:, -1] = 1.0
        return matrix

    def over(self, X: Floats, y: NDArray[np.int32] | Floats, w: Floats | None, like: Kernel | None = None) -> Proportional:
        part = copy(self)  # with its thresholds: the intercept is that of all rows
        part._set(X, y.astype(np.int32, copy=False), w, like if isinstance(like, Proportional) else None)
        return part

    def start(self, shared: Floats, reach: Floats | None = None) -> Floats:
        del reach
        gaps = np.concatenate([[0.0], shared[self.p :]])
        levels = np.cumsum(self.counts)[:-1]
        total = self.counts.sum()
        # start at the threshold that splits the site's rows most evenly: the one it knows most about
        middle = int(np.argmin(np.abs(levels - total / 2)))
        share = min(max(levels[middle], 0.5), total - 0.5) / total  # half a row away from 0 and 1: finite log-odds
        offset = np.dot(self.to_thresholds[middle, :-1], gaps[1:])
        return np.array([np.log(share / (1.0 - share)) - offset])

    def linear(self, shared: Floats) -> Floats:
        eta: Floats = np.dot(shared[: self.p], self.XT)
        return eta

    def rows(self, eta: Floats, shared: Floats, intercepts: Floats) -> RowTerms:
        theta = np.dot(self.to_thresholds, np.concatenate([shared[self.p :], intercepts]))
        gaps = np.diff(theta)
        # Gaps are the same for all rows, so the order of thresholds is checked once, and needs no barrier: the observed middle levels
        # keep their gaps open by their own likelihood, and every level has been observed somewhere.
        if (gaps <= 0).any():
            return RowTerms(-np.inf, feasible=False)
        # σ(-u) and -log σ(u) of rows with a threshold above them, then σ(l) and -log σ(-l) of those with one below
        split, z = self.above.stop, np.empty(self.above.stop + len(eta) - self.below.start)
        np.subtract(eta[self.above], np.repeat(theta, self.sizes_above), out=z[:split])
        np.subtract(np.repeat(theta, self.sizes_below), eta[self.below], out=z[split:])
        sigma, softplus = sigmoid(z)
        f = np.subtract(1.0, sigma, out=z)
        f *= sigma
        if self.w is None:
            loglik = -float(softplus.sum())
        else:
            w = self._doubled
            assert w is not None
            loglik = -float(np.dot(w, softplus))
            sigma *= w
            f *= w
        upper, lower, f_upper, f_lower = sigma[:split], sigma[split:], f[:split], f[split:]
        middle, closeness = self.counts[1:-1], -np.expm1(-gaps)  # expm1: 1 - e^{-g} would lose all digits of a narrow gap
        loglik += float(np.dot(middle, np.log(closeness)))
        q = np.exp(-gaps) / closeness
        return RowTerms(loglik, (upper, lower, f_upper, f_lower, middle * q, middle * q * (1.0 + q)))

    def intercept_terms(self, terms: RowTerms) -> tuple[Floats, Floats]:
        upper, lower, f_upper, f_lower, _, _ = terms.arrays
        return np.array([upper.sum() - lower.sum()]), np.array([[f_upper.sum() + f_lower.sum()]])

    def full(self, terms: RowTerms) -> Evaluation:
        upper, lower, f_upper, f_lower, gap_score, gap_info = terms.arrays
        p, m = self.p, len(self.to_thresholds)
        both, weight = np.zeros(self.XT.shape[1]), self._weight(terms)
        both[self.below] = lower
        both[self.above] -= upper
        raw = _sums(upper, self.parts_above) - _sums(lower, self.parts_below)
        raw[1:] += gap_score
        raw[:-1] -= gap_score
        block = np.diag(_sums(f_upper, self.parts_above) + _sums(f_lower, self.parts_below))
        steps = np.arange(m - 1)
        block[steps, steps] += gap_info
        block[steps + 1, steps + 1] += gap_info
        block[steps, steps + 1] -= gap_info
        block[steps + 1, steps] -= gap_info
        score, info = np.empty(p + m), np.empty((p + m, p + m))
        score[:p], score[p:] = np.dot(self.XT, both), np.dot(self.to_thresholds.T, raw)
        info[:p, :p] = np.dot(self.XT * weight, self.XT.T)
        info[:p, p:] = np.dot(-self._by_threshold(f_upper, f_lower), self.to_thresholds)
        info[p:, :p] = info[:p, p:].T
        info[p:, p:] = np.dot(np.dot(self.to_thresholds.T, block), self.to_thresholds)
        return Evaluation(score, info)

    def weights(self, terms: RowTerms, crowd: Crowd) -> Iterator[Weights]:
        upper, lower, f_upper, f_lower, _, _ = terms.arrays
        weight = self._weight(terms)
        if not crowd.is_even(weight[None], 0.5, label="information"):
            yield Weights(weight[None], 0.5, by_level=True, label="information")
        # Residuals are those of the level below and of the level above. Of the first and the last level one of them is all: mostly enough
        offset = self.below.start
        first, last = self.parts[0], self.parts[-1]
        sums = upper[first].sum(), lower[last.start - offset :].sum()
        if not crowd.is_plenty(*sums, label="score"):
            both = np.zeros(self.XT.shape[1])
            both[self.below] = lower
            both[self.above] -= upper
            yield Weights(np.abs(both)[None], label="score")
        # each threshold is a step of its own, for the rows of the level below it and of the level above
        if crowd.all_have_middle(self.fewest_beside, f_upper, f_lower):
            return
        for threshold, (low, high) in enumerate(pairwise(self.parts)):
            above = slice(high.start - offset, high.stop - offset)
            if high.stop > low.start and not crowd.has_middle(f_upper[low], f_lower[above], label=threshold):
                p, w = np.concatenate([1.0 - upper[low], lower[above]]), np.concatenate([f_upper[low], f_lower[above]])
                yield from step_weights(p[None], w[None], rows=slice(low.start, high.stop), label=threshold)

    def _weight(self, terms: RowTerms) -> Floats:
        """Of every row, how much it counts in the information of the slopes; kept until there are other terms."""
        if self._weighed is None or self._weighed[0] is not terms:
            _, _, f_upper, f_lower, _, _ = terms.arrays
            weight = np.zeros(self.XT.shape[1])
            weight[self.below] = f_lower
            weight[self.above] += f_upper
            self._weighed = terms, weight
        return self._weighed[1]

    def softplus(self, shared: Floats, intercept: float) -> Softplus | None:
        point = np.append(shared, intercept)
        design, weights, across = self._terms
        gaps = np.dot(across, point[self.p :])
        if (gaps <= 0).any():
            return None
        middle, closeness = self.counts[1:-1], -np.expm1(-gaps)
        q = np.exp(-gaps) / closeness
        size = len(point)
        score, info = np.zeros(size), np.zeros((size, size))
        score[self.p :] = np.dot(middle * q, across)
        info[self.p :, self.p :] = np.dot(across.T, (middle * q * (1.0 + q))[:, None] * across)
        return Softplus(np.dot(design, point), design, weights, self.above.stop, float(np.dot(middle, np.log(closeness))), 0.0, score, info)

    @cached_property
    def _doubled(self) -> Floats | None:
        """Weights of the rows with a threshold above them, then of those with one below."""
        return None if self.w is None else np.concatenate([self.w[self.above], self.w[self.below]])

    @cached_property
    def _terms(self) -> tuple[Floats, Floats | None, Floats]:
        """Derivatives of -u of every row with a threshold above it, then of l of every row with one below, their weights, and the gaps'."""
        above = np.concatenate([self.XT.T[self.above], -np.repeat(self.to_thresholds, self.sizes_above, axis=0)], axis=1)
        below = np.concatenate([-self.XT.T[self.below], np.repeat(self.to_thresholds, self.sizes_below, axis=0)], axis=1)
        return np.concatenate([above, below]), self._doubled, np.diff(self.to_thresholds, axis=0)

    def _by_threshold(self, f_upper: Floats, f_lower: Floats) -> Floats:
        """Per threshold, the weighted sum of the columns over the level below it and the level above it."""
        sums = np.empty((self.p, len(self.parts) - 1))
        offset = self.below.start
        for t, (low, high) in enumerate(pairwise(self.parts)):
            sums[:, t] = np.dot(self.XT[:, low], f_upper[low]) + np.dot(self.XT[:, high], f_lower[high.start - offset : high.stop - offset])
        return sums


def _stretches(sizes: NDArray[np.intp]) -> list[slice]:
    """Consecutive stretches of these sizes."""
    return [slice(int(end - size), int(end)) for end, size in zip(np.cumsum(sizes), sizes, strict=True)]


def _sums(values: Floats, parts: list[slice]) -> Floats:
    """Sums over stretches of ``values``, some of which may be empty."""
    return np.array([values[part].sum(axis=0) for part in parts])
