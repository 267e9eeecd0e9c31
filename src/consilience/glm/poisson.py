"""Count response: log μ = α + xβ, with a variance φμ whose factor φ is estimated from Pearson's sum Σ (y - μ)²/μ (quasi-likelihood).

The maximum does not depend on φ, so the kernel is that of Poisson regression. At fixed slopes the best intercept has a closed form, α =
log(Σ y / Σ e^{xβ}): the expected total is then the observed one. A site where nothing was counted has α = -∞ and no kernel.

Pearson's sum is not at a maximum where the likelihood is, so that an error in β would show in it to first order. Its gradient travels
along: the sum at the point where the last Newton step ends is then right to second order, without another round.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

import numpy as np
from numpy.typing import NDArray

from consilience.data.counts import saturated
from consilience.glm.crowd import Crowd, Weights
from consilience.glm.kernel import Evaluation, Floats, Kernel, RowTerms

__all__ = ["Poisson"]

MOST_LINEAR = 60.0
"""A linear predictor above this is a step that went much too far, where rows have an intercept from outside: e⁶⁰ is no mean of any count.
The server then shortens its step. Numbers that are not quite so wild are looked at once they are summed up (see ``site_effects``)."""


class Poisson(Kernel):
    """Poisson regression with one intercept, which is measured from log ``centre``.

    >>> kernel = Poisson(np.zeros((3, 1)), np.array([0.0, 2.0, 4.0]), None)
    >>> terms = kernel.rows(kernel.linear(np.zeros(1)), np.zeros(1), np.array([np.log(2.0)]))
    >>> round(terms.loglik, 6), round(terms.squares, 6)
    (-5.712318, 4.0)
    """

    n_intercepts = 1
    reaches = True

    def __init__(self, X: Floats, y: Floats, w: Floats | None, *, own_centre: bool = False) -> None:
        self.X, self.y, self.w = X, y, w
        self.n_shared = X.shape[1]
        self.counts = y if w is None else w * y
        self.total = float(self.counts.sum())
        rows = float(len(y) if w is None else w.sum())
        # An intercept that is one of the server's parameters counts from the site's own mean, as columns do: that changes no likelihood,
        # and zero is then a start from which no site's step goes astray, however different their means are.
        self.centre = float(np.log(self.total / rows)) if own_centre else 0.0
        best = saturated(y)
        self.best = float(best.sum() if w is None else np.dot(w, best))
        self.log_y = np.log(np.maximum(y, 1.0))

    def over(self, X: Floats, y: NDArray[np.int32] | Floats, w: Floats | None, like: Kernel | None = None) -> Poisson:
        if not isinstance(like, Poisson):
            part = Poisson(X, y.astype(np.float64, copy=False), w)
            part.centre = self.centre
            return part
        part = copy(like)
        part.X, part.n_shared, part.centre = X, X.shape[1], self.centre
        return part

    def start(self, shared: Floats, reach: Floats | None = None) -> Floats:
        return self.closed(self.reach(self.linear(shared)) if reach is None else reach)

    def reach(self, eta: Floats) -> Floats:
        """The highest linear predictor, and the sum of e^η in units of its own: no exponential overflows, however long a step was."""
        highest = float(eta.max())
        e = np.exp(eta - highest)
        return np.array([highest, float(e.sum() if self.w is None else np.dot(self.w, e))])

    def joined(self, one: Floats, other: Floats) -> Floats:
        highest = max(one[0], other[0])
        return np.array([highest, one[1] * np.exp(one[0] - highest) + other[1] * np.exp(other[0] - highest)])

    def closed(self, reach: Floats) -> Floats:
        return np.array([np.log(self.total) - reach[0] - np.log(reach[1]) - self.centre])

    def linear(self, shared: Floats) -> Floats:
        eta: Floats = np.dot(self.X, shared)
        return eta

    def rows(self, eta: Floats, shared: Floats, intercepts: Floats) -> RowTerms:
        del shared
        z = eta + (intercepts[0] + self.centre)
        if float(z.max(initial=0.0)) > MOST_LINEAR:
            return RowTerms(-np.inf, feasible=False)
        mu = np.exp(z)
        weight = mu if self.w is None else self.w * mu
        residual = self.counts - weight
        loglik = float(np.dot(self.counts, z - self.log_y) + residual.sum()) + self.best
        # (y - μ)²/μ as (y - μ)(y/μ - 1), with y/μ = 0 where y = 0: a mean may be too small for a float where nothing was counted, and only
        # there
        with np.errstate(divide="ignore", over="ignore"):
            surplus = np.divide(self.y, mu, out=np.zeros_like(mu), where=self.y > 0) - 1.0
        pearson = residual * surplus
        squares = float(pearson.sum())
        return RowTerms(loglik, (residual, weight, pearson), squares=squares, feasible=bool(np.isfinite(squares)))

    def intercept_terms(self, terms: RowTerms) -> tuple[Floats, Floats]:
        residual, weight, _ = terms.arrays
        return np.array([residual.sum()]), np.array([[weight.sum()]])

    def full(self, terms: RowTerms) -> Evaluation:
        residual, weight, pearson = terms.arrays
        p = self.n_shared
        score, pull = np.empty(p + 1), np.empty(p + 1)
        score[:p], score[p] = np.dot(residual, self.X), residual.sum()
        # d/dz (y - e^z)²/e^z = -(y - μ)²/μ - 2(y - μ)
        pull[:p], pull[p] = np.dot(pearson, self.X), pearson.sum()
        info = np.empty((p + 1, p + 1))
        weighted = self.X * weight[:, None]
        info[:p, :p] = np.dot(weighted.T, self.X)
        info[:p, p] = info[p, :p] = weighted.sum(axis=0)
        info[p, p] = weight.sum()
        return Evaluation(score, info, -pull - 2.0 * score)

    def weights(self, terms: RowTerms, crowd: Crowd) -> Iterator[Weights]:
        del crowd  # means have no steps
        residual, weight, pearson = terms.arrays
        yield Weights(weight[None], None, by_level=True, label="information")
        yield Weights(np.stack([np.abs(residual), pearson]), None, label="score")
