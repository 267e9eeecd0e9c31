"""Ordinal response, a slope per threshold: P(Y ≤ j) = σ(θ_j - xβ_j), with every cell probability positive at every row.

The thresholds of a row, u_j = θ_j - xβ_j, must increase in j, or a cell would have a negative probability. The log-likelihood of a row
is log σ(u_y) + log σ(-u_{y-1}) + log(1 - e^{-(u_y - u_{y-1})}); it guards the gap of the *observed* level only. To keep all gaps open, each
gets the small weight ``mu`` of a logarithmic barrier: rows count as if every inner level had also been observed ``mu`` times, in
that factor alone. The solver lets ``mu`` go to zero. The sum stays concave, so there is one maximum for every ``mu``.

A site that lacks the lowest or highest levels has those thresholds at infinity in the supremum; they drop out there. A site that
lacks a level in between has its maximum on the boundary, and the barrier finds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

import numpy as np
from numpy.typing import NDArray

from consilience.glm.crowd import Crowd, Weights, step_weights
from consilience.glm.kernel import Evaluation, Floats, Kernel, RowTerms
from consilience.glm.logit import sigmoid

__all__ = ["BARRIER_FACTOR", "FIRST_BARRIER", "Generalized"]

FIRST_BARRIER, BARRIER_FACTOR = 1e-2, 1e-2
"""Where the barrier begins, and what it is multiplied with once a maximum is found.

It begins at a hundredth of a row per gap: small enough to end near the maximum, large enough for Newton's quadratic model to hold near the
boundary. Over small sites (40 to 70 rows, 140 directions) all fits converge; beginning at 1e-4, 1e-6, 1e-8 three, eight, eight do not
(joint: 2, 6, 11). As g·q ≤ 1, the slack is at most ``mu`` times rows times gaps, so three factors of 1e-2 are enough: 1e-8 at the lowest. A
factor of 0.1 takes a fifth more rounds over large sites and a quarter fewer over small ones, and ends less near: no clear gain.
"""

REPAIRED_GAP = 0.05
"""The gap that a repaired threshold leaves in the row where it is tightest. Any positive number is feasible, but a Newton step at most
doubles a gap that the barrier dominates: a search from 1e-10 would begin with thirty steps that only open it."""


class Generalized(Kernel):
    """Cumulative logit with slopes β_1, …, β_{J-1}; thresholds ``first`` to ``last`` (exclusive) are finite at this site."""

    reaches = True

    def __init__(
        self, X: Floats, y: NDArray[np.int32], w: Floats | None, n_levels: int, mu: float, first: int = 0, last: int | None = None
    ) -> None:
        n, p = X.shape
        last = n_levels - 1 if last is None else last
        # columns and thresholds first, rows last, as in the multinomial kernel
        self.design = np.concatenate([-X.T, np.ones((1, n))])
        self.w = np.ones(n) if w is None else w
        self.mu, self.n_levels = mu, n_levels
        self.first, self.last = first, last
        active = last - first
        self.n_shared, self.n_intercepts = p * (n_levels - 1), active
        local = y - first
        rows = np.arange(n)
        self.upper = np.zeros((active, n))
        is_lower = np.zeros((active, n))
        has_upper, has_lower = local < active, local > 0
        self.upper[local[has_upper], rows[has_upper]] = self.w[has_upper]
        is_lower[local[has_lower] - 1, rows[has_lower]] = self.w[has_lower]
        self.either = self.upper + is_lower
        self.inner = np.zeros((max(active - 1, 0), n))
        middle = has_upper & has_lower
        self.inner[local[middle] - 1, rows[middle]] = self.w[middle]
        self.counts = np.bincount(local, weights=self.w, minlength=active + 1)
        q = p + 1
        self.grid = np.concatenate([(np.arange(active)[:, None] * q + np.arange(p)).ravel(), np.arange(active) * q + p])
        self.target = np.concatenate([np.arange(first * p, last * p), self.n_shared + np.arange(active)])

    @property
    def places(self) -> NDArray[np.intp]:
        return np.arange(self.first, self.last)

    def over(self, X: Floats, y: NDArray[np.int32] | Floats, w: Floats | None, like: Kernel | None = None) -> Generalized:
        del like  # fitted with a path of barriers, each a kernel of its own
        return Generalized(X, y.astype(np.int32, copy=False), w, self.n_levels, self.mu, self.first, self.last)

    def start(self, shared: Floats, reach: Floats | None = None) -> Floats:
        # a quarter of a row more below and above: log-odds stay finite, also where a level in between was never seen
        share: Floats = (np.cumsum(self.counts)[:-1] + 0.25) / (self.counts.sum() + 0.5)
        theta: Floats = np.log(share / (1.0 - share))
        return self.repair(self.reach(self.linear(shared)) if reach is None else reach, theta)

    def reach(self, eta: Floats) -> Floats:
        """By how much each threshold must be above the one before it."""
        needed: Floats = (eta[:-1] - eta[1:]).max(axis=1, initial=-np.inf)
        return needed

    def joined(self, one: Floats, other: Floats) -> Floats:
        return np.maximum(one, other)

    def repair(self, reach: Floats, intercepts: Floats) -> Floats:
        theta = intercepts.copy()
        for j in range(1, self.n_intercepts):
            theta[j] = max(theta[j], theta[j - 1] + float(reach[j - 1]) + REPAIRED_GAP)
        return theta

    def softer(self) -> list[Kernel]:
        path: list[Kernel] = []
        mu = FIRST_BARRIER
        while mu > self.mu * BARRIER_FACTOR**-0.5:  # down to this kernel's own mu, exclusive; the root makes it safe from rounding
            soft = copy(self)
            soft.mu = mu
            path.append(soft)
            mu *= BARRIER_FACTOR
        return path

    def linear(self, shared: Floats) -> Floats:
        p = len(self.design) - 1
        slopes = shared[self.first * p : self.last * p].reshape(self.last - self.first, p)
        eta: Floats = np.dot(slopes, self.design[:-1])
        return eta

    def rows(self, eta: Floats, shared: Floats, intercepts: Floats) -> RowTerms:
        del shared
        u = eta + intercepts[:, None]
        gaps = np.diff(u, axis=0)
        if (gaps <= 0).any():
            return RowTerms(-np.inf, feasible=False)
        sigma, softplus = sigmoid(u)
        closeness = -np.expm1(-gaps)
        log_gap = np.log(closeness)
        q = np.exp(-gaps) / closeness
        # log σ(u) = u - softplus(u) for the threshold above, log σ(-u) = -softplus(u) for the one below
        loglik = float(np.vdot(self.upper, u) - np.vdot(self.either, softplus) + np.vdot(self.inner, log_gap))
        barrier = self.mu * float((np.dot(log_gap, self.w)).sum())
        # At the maximum of ℓ + μ Σ φ(g), φ = log(1 - e^{-g}), φ' = q, and for any feasible point with gaps g*, concavity gives
        # ℓ* - ℓ ≤ ∇ℓ·(x* - x) = -μ Σ q (g* - g) ≤ μ Σ q g, since g* ≥ 0: what the barrier can cost.
        slack = self.mu * float((np.dot(gaps * q, self.w)).sum())
        return RowTerms(loglik, (sigma, q, self.inner + self.mu * self.w), barrier, slack)

    def _row_derivatives(self, terms: RowTerms) -> tuple[Floats, Floats, Floats]:
        """Per row: the gradient in u, and the diagonal and the off-diagonal of minus its Hessian (which is tridiagonal)."""
        sigma, q, gap_weight = terms.arrays
        pull, stiffness = gap_weight * q, gap_weight * q * (1.0 + q)
        gradient = self.upper - self.either * sigma
        diagonal = self.either * sigma * (1.0 - sigma)
        gradient[1:] += pull
        gradient[:-1] -= pull
        diagonal[1:] += stiffness
        diagonal[:-1] += stiffness
        return gradient, diagonal, -stiffness

    def intercept_terms(self, terms: RowTerms) -> tuple[Floats, Floats]:
        gradient, diagonal, off = self._row_derivatives(terms)
        info = np.diag(diagonal.sum(axis=1))
        steps = np.arange(self.n_intercepts - 1)
        info[steps, steps + 1] = info[steps + 1, steps] = off.sum(axis=1)
        return gradient.sum(axis=1), info

    def full(self, terms: RowTerms) -> Evaluation:
        gradient, diagonal, off = self._row_derivatives(terms)
        q, active = len(self.design), self.n_intercepts
        all_scores = (np.dot(gradient, self.design.T)).ravel()
        all_info = np.zeros((active * q, active * q))
        for j in range(active):
            here = slice(j * q, (j + 1) * q)
            all_info[here, here] = np.dot(self.design * diagonal[j], self.design.T)
            if j + 1 < active:
                there = slice((j + 1) * q, (j + 2) * q)
                cross = np.dot(self.design * off[j], self.design.T)
                all_info[here, there] = cross
                all_info[there, here] = cross.T
        size = self.n_shared + active
        score, info = np.zeros(size), np.zeros((size, size))
        score[self.target] = all_scores[self.grid]
        info[np.ix_(self.target, self.target)] = all_info[np.ix_(self.grid, self.grid)]
        return Evaluation(score, info)

    def weights(self, terms: RowTerms, crowd: Crowd) -> Iterator[Weights]:
        # a gap that closes in one row pulls as hard as all others together, be it by the barrier alone
        gradient, diagonal, off = self._row_derivatives(terms)
        sigma = terms.arrays[0]
        beside = (self.either > 0).astype(np.float64)
        having = np.concatenate([beside, self.inner > 0])
        yield Weights(np.concatenate([diagonal, -off]), None, by_level=True, having=having, label="information")
        yield Weights(np.abs(gradient), None, having=beside, label="score")
        for j in range(len(sigma)):
            rows = np.flatnonzero(self.either[j])
            p = sigma[j, rows]
            if not crowd.has_middle(p * (1.0 - p), label=j):
                yield from step_weights(p[None], (p * (1.0 - p))[None], rows=rows, label=j)
