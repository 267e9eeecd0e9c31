"""Ordinal response, proportional odds: P(Y ≤ j) = σ(θ_j - xβ), θ_1 < … < θ_{J-1}.

Thresholds are θ_j = α + τ_j - τ̄ with τ_1 = 0: α, the site's intercept, shifts them all; the gaps τ_2, …, τ_{J-1} are shared. τ̄ is a
mean of τ weighted with the site's own information about each threshold, so that α is nearly orthogonal to the gaps; like the
centring of columns it moves the intercept and changes no likelihood. Where all sites share one intercept, τ̄ is the plain mean.

With u the threshold above the observed level and l the one below, σ(u) - σ(l) = σ(u) σ(-l) (1 - e^{-(u-l)}): no cancellation in the
tails, and derivatives that read off directly: with f = σ(1-σ) and r = q(1+q), q = 1/(e^{u-l} - 1), the information of (u, l) is
[[f(u) + r, -r], [-r, f(l) + r]].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilience.glm.kernel import Evaluation, Floats, Kernel, RowTerms
from consilience.glm.logit import sigmoid

__all__ = ["Proportional"]


class Proportional(Kernel):
    """Cumulative logit with one slope per column; shared parameters are (β, τ_2, …, τ_{J-1})."""

    n_intercepts = 1

    def __init__(self, X: Floats, y: NDArray[np.int32], w: Floats | None, n_levels: int, *, own_intercept: bool = True) -> None:
        n, p = X.shape
        self.X, self.p = X, p
        self.w = np.ones(n) if w is None else w
        self.n_shared = p + n_levels - 2
        self.y = y
        self.counts = np.bincount(y, weights=self.w, minlength=n_levels)
        # row i has the threshold y_i above it (none for the top level) and y_i - 1 below it (none for the bottom level)
        self.above = np.flatnonzero(y < n_levels - 1)
        self.below = np.flatnonzero(y > 0)
        n_thresholds = n_levels - 1
        self.is_above = np.zeros((n, n_thresholds))
        self.is_above[self.above, y[self.above]] = 1.0
        self.is_below = np.zeros((n, n_thresholds))
        self.is_below[self.below, y[self.below] - 1] = 1.0
        self.to_thresholds = self._map(n_thresholds, own_intercept=own_intercept)

    def _map(self, n_thresholds: int, *, own_intercept: bool) -> Floats:
        """θ as a linear map of (τ_2, …, τ_{J-1}, α)."""
        share = (np.cumsum(self.counts)[:-1] + 0.5) / (self.counts.sum() + 1.0)
        weight = (self.counts[:-1] + self.counts[1:]) * share * (1.0 - share)
        weight = weight / weight.sum() if own_intercept else np.full(n_thresholds, 1.0 / n_thresholds)
        matrix = np.zeros((n_thresholds, n_thresholds))
        matrix[:, :-1] = np.eye(n_thresholds)[:, 1:] - weight[1:]
        matrix[:, -1] = 1.0
        return matrix

    def start(self, shared: Floats) -> Floats:
        gaps = np.concatenate([[0.0], shared[self.p :]])
        levels = np.cumsum(self.counts)[:-1]
        total = self.counts.sum()
        middle = int(np.argmin(np.abs(levels - total / 2)))
        share = min(max(levels[middle], 0.5), total - 0.5) / total
        offset = self.to_thresholds[middle, :-1] @ gaps[1:]
        return np.array([np.log(share / (1.0 - share)) - offset])

    def linear(self, shared: Floats) -> Floats:
        eta: Floats = self.X @ shared[: self.p]
        return eta

    def rows(self, eta: Floats, shared: Floats, intercepts: Floats) -> RowTerms:
        theta = self.to_thresholds @ np.concatenate([shared[self.p :], intercepts])
        gaps = np.diff(theta)
        if (gaps <= 0).any():
            return RowTerms(-np.inf, feasible=False)
        upper, lower = np.zeros(len(eta)), np.zeros(len(eta))
        f_upper, f_lower = np.zeros(len(eta)), np.zeros(len(eta))
        above, below = self.above, self.below
        sigma_u, softplus_u = sigmoid(eta[above] - theta[self.y[above]])  # σ(-u) and -log σ(u)
        upper[above], f_upper[above] = sigma_u, sigma_u * (1.0 - sigma_u)
        sigma_l, softplus_l = sigmoid(theta[self.y[below] - 1] - eta[below])  # σ(l) and -log σ(-l)
        lower[below], f_lower[below] = sigma_l, sigma_l * (1.0 - sigma_l)
        middle, closeness = self.counts[1:-1], -np.expm1(-gaps)
        loglik = -float(self.w[above] @ softplus_u) - float(self.w[below] @ softplus_l) + float(middle @ np.log(closeness))
        q = np.exp(-gaps) / closeness
        return RowTerms(loglik, (self.w * upper, self.w * lower, self.w * f_upper, self.w * f_lower, middle * q, middle * q * (1.0 + q)))

    def intercept_terms(self, terms: RowTerms) -> tuple[Floats, Floats]:
        upper, lower, f_upper, f_lower, _, _ = terms.arrays
        return np.array([upper.sum() - lower.sum()]), np.array([[f_upper.sum() + f_lower.sum()]])

    def full(self, terms: RowTerms) -> Evaluation:
        upper, lower, f_upper, f_lower, gap_score, gap_info = terms.arrays
        p, m = self.p, self.to_thresholds.shape[0]
        score = np.empty(p + m)
        score[:p] = (lower - upper) @ self.X
        raw = upper @ self.is_above - lower @ self.is_below
        raw[1:] += gap_score
        raw[:-1] -= gap_score
        score[p:] = self.to_thresholds.T @ raw
        by_threshold = self.is_above * f_upper[:, None] + self.is_below * f_lower[:, None]
        block = np.diag(by_threshold.sum(axis=0))
        steps = np.arange(m - 1)
        block[steps, steps] += gap_info
        block[steps + 1, steps + 1] += gap_info
        block[steps, steps + 1] -= gap_info
        block[steps + 1, steps] -= gap_info
        info = np.empty((p + m, p + m))
        info[:p, :p] = (self.X * (f_upper + f_lower)[:, None]).T @ self.X
        info[:p, p:] = -(self.X.T @ by_threshold) @ self.to_thresholds
        info[p:, :p] = info[:p, p:].T
        info[p:, p:] = self.to_thresholds.T @ block @ self.to_thresholds
        return Evaluation(score, info)
