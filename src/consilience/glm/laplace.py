"""A site's marginal log-likelihood with a vector of random shifts, by Laplace's approximation: the multinomial model.

Every level has a random effect of the site, u_l ~ N(0, s²), the first one too. The L - 1 logits against the first level then shift by
u_l - u_0 = s C z with z standard normal and C Cᵀ = I + 11ᵀ. So there is one standard deviation, and the model is the same whichever
level comes first; independent shifts of the logits would make the answer depend on the order of the levels.

With ẑ the mode of ℓ(a + s C z) - z²/2 and M = I + s² CᵀHC there (H the information of the intercepts)::

    Λ = ℓ(a + s C ẑ) - ẑ²/2 - ½ log det M

Its gradient is exact. The logarithm depends on the linear predictors through H; with B = s² C M⁻¹ Cᵀ and probabilities π of a row its
derivative by them is -½ π ∘ (c - cᵀπ), c = diag B - 2 B π. The information of all but s leaves out how the logarithm bends, which is of the
order 1/n; that of s is a difference of two gradients. Steps are then a little off Newton's, and the maximum is the right one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from consilience.glm.kernel import Evaluation, Floats, RowTerms
from consilience.glm.layout import Total
from consilience.glm.multinomial import Multinomial

__all__ = ["laplace_marginal"]

MOST_STEPS = 100
"""Of the search for the mode; five are many."""
LONGEST_STEP = 5.0
"""Most that one step moves a linear predictor, as in :data:`consilience.glm.site_effects.LONGEST_STEP`."""
CLOSE = 1e-11
"""A search ends with a step below this, in posterior standard deviations. Its square is the error of Λ, itself that of the gradient."""
APART = 1e-4
"""Between the two gradients whose difference is the information about s: an error of 1e-8 of it, which only steers."""


def laplace_marginal(kernel: Multinomial, beta: Floats) -> Total:
    """Log-likelihood, score and (nearly) the information at (shared, intercepts, s)."""
    size, d = len(beta), kernel.n_intercepts
    p = kernel.n_shared
    root = _root(d)
    eta = kernel.linear(beta[:p])
    at = _mode(kernel, eta, beta, root, np.zeros(d))
    score, b, full = _gradient(kernel, at, beta, root)
    value = at.terms.loglik - 0.5 * float(at.z @ at.z) - 0.5 * float(np.linalg.slogdet(at.m)[1])
    to_intercepts = full.info[:, p:]
    info = full.info - to_intercepts @ b @ to_intercepts.T
    apart = np.zeros(size)
    apart[-1] = APART
    above, below = (_gradient(kernel, _mode(kernel, eta, near, root, at.z), near, root)[0] for near in (beta + apart, beta - apart))
    whole = np.empty((size, size))
    whole[:-1, :-1] = info
    whole[:, -1] = whole[-1, :] = (below - above) / (2.0 * APART)
    return Total(False, value, 0.0, 0.0, score, whole)


@lru_cache(maxsize=64)  # a response has the same levels at every step
def _root(d: int) -> Floats:
    """C with C Cᵀ = I + 11ᵀ."""
    root: Floats = np.linalg.cholesky(np.eye(d) + 1.0).astype(np.float64, copy=False)
    return root


class _Point(NamedTuple):
    """A shift z, the rows there, score and information of the intercepts, and M."""

    z: Floats
    terms: RowTerms
    g: Floats
    h: Floats
    m: Floats


def _point(kernel: Multinomial, spread: Floats, z: Floats, terms: RowTerms) -> _Point:
    g, h = kernel.intercept_terms(terms)
    return _Point(z, terms, g, h, np.eye(len(z)) + spread.T @ h @ spread)


def _gradient(kernel: Multinomial, at: _Point, beta: Floats, root: Floats) -> tuple[Floats, Floats, Evaluation]:
    """The gradient of Λ from the mode, with B, and with score and information at a known shift."""
    p, spread = kernel.n_shared, float(beta[-1]) * root
    inverse = np.linalg.inv(at.m)
    b = spread @ inverse @ spread.T
    full = kernel.full(at.terms)
    bend = kernel.bend(at.terms, b)
    follow = b @ bend[p:]
    score = np.empty(len(beta))
    score[:-1] = full.score + bend - full.info[:, p:] @ follow
    along = root @ at.z
    moved = inverse @ (root.T @ at.g - spread.T @ at.h @ along)  # how the mode moves with s
    explicit = float(np.sum(inverse * (root.T @ at.h @ spread).T))
    score[-1] = float((at.g + bend[p:]) @ along) - explicit + float((spread @ moved) @ bend[p:])
    return score, b, full


def _mode(kernel: Multinomial, eta: Floats, beta: Floats, root: Floats, z: Floats) -> _Point:
    """Newton from ``z`` with halving; the function is concave, and never steeper than its own normal part."""
    p, spread = kernel.n_shared, float(beta[-1]) * root
    shared, a = beta[:p], beta[p:-1]
    at = _point(kernel, spread, z, kernel.rows(eta, shared, a + spread @ z))
    for _ in range(MOST_STEPS):
        step = np.linalg.solve(at.m, spread.T @ at.g - at.z)
        size = float(np.sqrt(step @ at.m @ step))
        if size <= CLOSE:
            break
        reach = float(np.max(np.abs(spread @ step), initial=0.0))
        step = step * min(1.0, LONGEST_STEP / reach) if reach > 0.0 else step
        height = at.terms.loglik - 0.5 * float(at.z @ at.z)
        while True:
            z = at.z + step
            trial = kernel.rows(eta, shared, a + spread @ z)
            if trial.loglik - 0.5 * float(z @ z) >= height - 1e-12 * (1.0 + abs(height)) or size < 1e-6:
                break
            step, size = 0.5 * step, 0.5 * size
        at = _point(kernel, spread, z, trial)
    return at
