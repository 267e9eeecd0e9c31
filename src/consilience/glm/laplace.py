"""A site's marginal log-likelihood with a vector of random shifts, by Laplace's approximation: the multinomial model.

Every level has a random effect of the site, u_l ~ N(0, s²), the first one too. The L - 1 logits against the first level then shift by
u_l - u_0 = s C z with z standard normal and C Cᵀ = I + 11ᵀ. So there is one standard deviation, and the model is the same whichever
level comes first; independent shifts of the logits would make the answer depend on the order of the levels.

With ẑ the mode of ℓ(a + s C z) - z²/2 and M = I + s² CᵀHC there (H the information of the intercepts)::

    Λ = ℓ(a + s C ẑ) - ẑ²/2 - ½ log det M

Its gradient is exact. The logarithm depends on the linear predictors through H; with B = s² C M⁻¹ Cᵀ and probabilities π of a row its
derivative by them is -½ π ∘ (c - cᵀπ), c = diag B - 2 B π. The information of all but s leaves out how the logarithm bends, which is of the
order 1/n; that of s is a difference of two gradients, at (s, ẑ) and at (s + δ, ẑ + δ dẑ/ds): by how much the mode there is off that line is
of second order, and no search for it is needed. Steps are then a little off Newton's, and the maximum is the right one. At s = 0 all of it
has a closed form.

Rows cost one exponential per level, at z = 0. A shift multiplies those of a level by the same number.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from consilience.glm.kernel import Floats, RowTerms
from consilience.glm.layout import Total, unsaid
from consilience.glm.multinomial import Multinomial

__all__ = ["laplace_marginal"]

MOST_STEPS = 100
"""Of the search for the mode; five are many."""
LONGEST_STEP = 5.0
"""Most that one step moves a linear predictor, as in :data:`consilience.glm.site_effects.LONGEST_STEP`."""
CLOSE = 1e-6
"""A search ends after a step below this, in posterior standard deviations. Newton's error is the square of it, and the error of Λ the
square of that; that of the gradient is the first."""
APART = 1e-6
"""Between the two gradients whose difference is the information about s: an error of 1e-6 of it, which only steers."""
LARGEST_SHIFT = 300.0
"""Shifts up to this are factors of exponentials. A point beyond is not feasible: odds of e³⁰⁰ are no model's maximum."""


def laplace_marginal(kernel: Multinomial, beta: Floats) -> Total:
    """Log-likelihood, score and (nearly) the information at (shared, intercepts, s)."""
    size, d = len(beta), kernel.n_intercepts
    p, s = kernel.n_shared, float(beta[-1])
    root, rows = _root(d), _Rows(kernel, beta)
    at = None if rows.far(np.zeros(d)) else _mode(rows, s, root)
    if at is None:
        return Total(True, 0.0, 0.0, 0.0, np.zeros(size), np.zeros((size, size)))
    if kernel.is_steep_at(beta[:p], rows.a + s * (root @ at.z)):
        return unsaid(size)
    whole = np.zeros((size, size))
    if s == 0.0:  # no shift, so nothing moves; ℓ bends along s as much as squares of scores exceed what is known
        probability = rows.probability(at)
        score = np.append(kernel.gradient(-rows.weighted(probability)), 0.0)
        whole[:-1, :-1] = kernel.full(RowTerms(at.loglik, (probability,))).info
        pull = root.T @ at.g
        whole[-1, -1] = float(np.sum((at.h @ root) * root)) - float(pull @ pull)
        return Total(False, at.loglik, 0.0, 0.0, score, whole)
    found = _gradient(rows, at, s, root)
    value = at.loglik - 0.5 * float(at.z @ at.z) - 0.5 * float(np.linalg.slogdet(at.m)[1])
    full = kernel.full(RowTerms(at.loglik, (found.probability,))).info
    to_intercepts = full[:, p:]
    whole[:-1, :-1] = full - to_intercepts @ found.b @ to_intercepts.T
    near = _gradient(rows, rows.at(s + APART, root, at.z + APART * found.moved), s + APART, root)
    whole[:, -1] = whole[-1, :] = (found.score - near.score) / APART
    return Total(False, value, 0.0, 0.0, found.score, whole)


@lru_cache(maxsize=64)  # a response has the same levels at every step
def _root(d: int) -> Floats:
    """C with C Cᵀ = I + 11ᵀ."""
    root: Floats = np.linalg.cholesky(np.eye(d) + 1.0).astype(np.float64, copy=False)
    return root


class _Point(NamedTuple):
    """A shift z, the log-likelihood there, score and information of the intercepts, M, and how probabilities come of exponentials."""

    z: Floats
    loglik: float
    g: Floats
    h: Floats
    m: Floats
    grown: Floats
    out: Floats


class _Gradient(NamedTuple):
    score: Floats
    b: Floats
    moved: Floats
    probability: Floats


class _Rows:
    """A site's rows at common parameters, under shifts of the intercepts."""

    def __init__(self, kernel: Multinomial, beta: Floats) -> None:
        p = kernel.n_shared
        eta = kernel.linear(beta[:p])
        self.kernel, self.a = kernel, beta[p:-1]
        eta -= eta.max(axis=0)
        self.reached = float(np.vdot(kernel.observed, eta))
        self.exp = np.exp(eta, out=eta)
        self.unit = np.eye(kernel.n_intercepts)

    def probability(self, at: _Point) -> Floats:
        """Of every level and row."""
        return at.out * at.grown[:, None]

    def weighted(self, values: Floats) -> Floats:
        """Rows times their weights."""
        return values if self.kernel.w is None else values * self.kernel.w

    def far(self, shift: Floats) -> bool:
        """Are shifts of the intercepts too long to be factors?"""
        return not float(np.abs(self.a + shift).max(initial=0.0)) < LARGEST_SHIFT

    def at(self, s: float, root: Floats, z: Floats) -> _Point:
        """The log-likelihood and its derivatives by the intercepts at a + s C z."""
        kernel, spread = self.kernel, s * root
        shift = np.zeros(len(kernel.present))
        shift[kernel.free] = self.a + spread @ z
        grown = np.exp(shift)
        total = grown @ self.exp
        loglik = self.reached + float(kernel.counts @ shift)
        out = self.exp / total
        if kernel.w is None:
            loglik -= float(np.log(total).sum())
            sums, products = out.sum(axis=1), out @ out.T
        else:
            loglik -= float(kernel.w @ np.log(total))
            weighted = out * kernel.w
            sums, products = weighted.sum(axis=1), weighted @ out.T
        sums *= grown
        products *= -grown[:, None] * grown
        products.ravel()[:: len(sums) + 1] += sums
        g, h = (kernel.counts - sums)[kernel.free], products[kernel.free_square]
        return _Point(z, loglik, g, h, self.unit + spread.T @ h @ spread, grown, out)


def _gradient(rows: _Rows, at: _Point, s: float, root: Floats) -> _Gradient:
    """The gradient of Λ from the mode, with B, dẑ/ds and the probabilities."""
    kernel, spread = rows.kernel, s * root
    p = kernel.n_shared
    inverse = np.linalg.inv(at.m)
    b = spread @ inverse @ spread.T
    probability = rows.probability(at)
    bend = kernel.bend(probability, b)
    by_intercept = bend.sum(axis=1)[kernel.free]
    # the logarithm by all parameters, and by way of the mode, which moves with them
    follow = np.zeros(len(kernel.present))
    follow[kernel.free] = b @ by_intercept
    bend -= kernel.along(probability, follow)
    bend -= rows.weighted(probability)
    score = np.empty(len(rows.a) + p + 1)
    score[:-1] = kernel.gradient(bend)
    line = root @ at.z
    moved = inverse @ (root.T @ at.g - spread.T @ (at.h @ line))  # how the mode moves with s
    explicit = float(np.sum(inverse * (root.T @ at.h @ spread).T))
    score[-1] = float((at.g + by_intercept) @ line) - explicit + float((spread @ moved) @ by_intercept)
    return _Gradient(score, b, moved, probability)


def _mode(rows: _Rows, s: float, root: Floats) -> _Point | None:
    """Newton from zero with halving; the function is concave, and never steeper than its own normal part. None where it is out of reach."""
    spread = s * root
    at = rows.at(s, root, np.zeros(len(root)))
    for _ in range(MOST_STEPS):
        gradient = spread.T @ at.g - at.z
        step = np.linalg.solve(at.m, gradient)
        size = float(np.sqrt(step @ gradient))  # √(δᵀMδ)
        if size == 0.0:
            break
        reach = float(np.max(np.abs(spread @ step), initial=0.0))
        if reach > LONGEST_STEP:
            step *= LONGEST_STEP / reach
        height = at.loglik - 0.5 * float(at.z @ at.z)
        while True:
            z = at.z + step
            if rows.far(spread @ z):
                return None
            trial = rows.at(s, root, z)
            if trial.loglik - 0.5 * float(z @ z) >= height - 1e-12 * (1.0 + abs(height)) or size < CLOSE:
                break
            step, size = 0.5 * step, 0.5 * size
        at = trial
        if size < CLOSE and reach <= LONGEST_STEP:
            break
    return at
