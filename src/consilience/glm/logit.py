"""Binary response: log(μ/(1-μ)) = α + xβ."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from consilience.glm.crowd import Crowd, Weights, step_weights
from consilience.glm.kernel import Evaluation, Floats, Kernel, RowTerms, ShiftedKernel, Softplus

__all__ = ["Logit", "sigmoid"]


def sigmoid(z: Floats) -> tuple[Floats, Floats]:
    """σ(z) and log(1 + e^z), without overflow and with one exponential.

    >>> sigmoid(np.array([0.0, 800.0]))
    (array([0.5, 1. ]), array([6.93147181e-01, 8.00000000e+02]))
    """
    e = np.abs(z)
    np.negative(e, out=e)
    np.exp(e, out=e)  # never above one; σ and the logarithm both follow from it, and exponentials are what a pass costs
    mu = np.where(z >= 0, 1.0, e)
    above = 1.0 + e
    mu /= above
    np.log1p(e, out=e)
    e += np.maximum(z, 0.0, out=above)
    return mu, e


class Logit(ShiftedKernel):
    """Logistic regression with one intercept.

    >>> kernel = Logit(np.zeros((4, 1)), np.array([0, 1, 1, 1]), None)
    >>> terms = kernel.rows(kernel.linear(np.zeros(1)), np.zeros(1), np.array([np.log(3.0)]))
    >>> round(terms.loglik, 6), kernel.intercept_terms(terms)[0].round(9)
    (-2.249341, array([0.]))
    """

    n_intercepts = 1

    def __init__(self, X: Floats, y: NDArray[np.int32], w: Floats | None) -> None:
        self.X = X
        self.y = y.astype(np.float64)
        self.w = w
        self.n_shared = X.shape[1]
        self.ones = self.y if w is None else w * self.y
        self.total = float(len(y) if w is None else w.sum())

    def over(self, X: Floats, y: NDArray[np.int32] | Floats, w: Floats | None, like: Kernel | None = None) -> Logit:
        if not isinstance(like, Logit):
            return Logit(X, y.astype(np.int32, copy=False), w)
        part = copy(like)
        part.X, part.n_shared = X, X.shape[1]
        part.__dict__.pop("_with_ones", None)  # of other columns
        return part

    def start(self, shared: Floats, reach: Floats | None = None) -> Floats:
        del shared, reach
        positive = float(self.ones.sum())
        # the intercept at zero slopes, exactly. Finite: a site with one level only has no kernel
        return np.array([np.log(positive / (self.total - positive))])

    def linear(self, shared: Floats) -> Floats:
        eta: Floats = np.dot(self.X, shared)
        return eta

    def rows(self, eta: Floats, shared: Floats, intercepts: Floats) -> RowTerms:
        del shared
        z = eta + intercepts[0]
        mu, softplus = sigmoid(z)
        if self.w is None:  # rows that were not compressed: a pass less than multiplying with ones
            loglik = float(np.dot(self.y, z) - softplus.sum())
            residual, weight = self.y - mu, mu * (1.0 - mu)
        else:
            loglik = float(np.dot(self.ones, z) - np.dot(self.w, softplus))
            residual, weight = self.ones - self.w * mu, self.w * mu * (1.0 - mu)
        return RowTerms(loglik, (residual, weight))

    def intercept_terms(self, terms: RowTerms) -> tuple[Floats, Floats]:
        residual, weight = terms.arrays
        return np.array([residual.sum()]), np.array([[weight.sum()]])

    def full(self, terms: RowTerms) -> Evaluation:
        residual, weight = terms.arrays
        p = self.n_shared
        score = np.empty(p + 1)
        score[:p], score[p] = np.dot(residual, self.X), residual.sum()
        info = np.empty((p + 1, p + 1))
        weighted = self.X * weight[:, None]
        info[:p, :p] = np.dot(weighted.T, self.X)
        info[:p, p] = info[p, :p] = weighted.sum(axis=0)
        info[p, p] = weight.sum()
        return Evaluation(score, info)

    def weights(self, terms: RowTerms, crowd: Crowd) -> Iterator[Weights]:
        residual, weight = terms.arrays
        if not crowd.is_even(weight[None], label="information"):
            yield Weights(weight[None], 0.25, by_level=True, label="information")
        if not crowd.has_middle(weight):
            yield from step_weights((self.y - residual)[None], weight[None], residual[None])

    def softplus(self, shared: Floats, intercept: float) -> Softplus:
        point = np.append(shared, intercept)
        score = np.dot(self._with_ones.T, self.ones)
        return Softplus(
            np.dot(self._with_ones, point), self._with_ones, self.w, 0, float(np.dot(score, point)), float(score[-1]), score, None
        )

    @cached_property
    def _with_ones(self) -> Floats:
        """The design with a column for the intercept."""
        return np.concatenate([self.X, np.ones((len(self.X), 1))], axis=1)
