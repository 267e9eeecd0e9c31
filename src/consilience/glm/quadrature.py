"""A site's marginal log-likelihood with one random shift: log ∫ exp(ℓ(a + s z)) φ(z) dz, by adaptive Gauss-Hermite quadrature.

The nodes are centred at the mode of the integrand and scaled by its curvature there (Liu and Pierce 1994), so that few of them do. With
weights that sum to one, the nodes are the site's posterior law of z given its rows, and the derivatives are moments under it (Louis 1982)::

    score = E[u],   information = E[H] - Cov[u]

with u and H the score and the information of (shared, a, s) at a known z: u_s = z u_a, H_as = z H_aa, H_ss = z² H_aa.

A row is looked at under a dozen shifts and more. All it costs is arithmetic: e^(v + shift) is a product of two exponentials, one per row
and one per shift, and Σ log(1 + e^v) is the logarithm of a product, of as many rows at a time as a float has room for.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from consilience.glm.kernel import Floats, ShiftedKernel, Softplus
from consilience.glm.layout import Total, unsaid
from consilience.glm.logit import sigmoid

__all__ = ["quadrature_marginal"]

TWO, FEW, USUAL, MANY = 2, 15, 31, 101
"""Nodes. The more a site's rows say about its shift (the information h), the more the integrand is a normal density: few do from
h = 20 on. Where they say next to nothing and s is large (a site with one level only) it has the edge of a logistic curve, and
takes many. Over 3,000 random sites of 1 to 5,000 rows the error of ℓ is below 4e-8 for s up to 3 and below 1e-6 up to
s = 5, and mostly below 1e-10. At s = 0 nothing depends on z, and two have the moments of z that the derivatives take."""
MUCH, LITTLE, WIDE = 20.0, 5.0, 1.5
"""The information from which few nodes do, and below which many are needed if s is wider than the last."""
MOST_STEPS = 100
"""Of the search for the mode. The integrand is log-concave: two to five are usual."""
LONGEST_STEP = 5.0
"""Most that one step moves the linear predictor, as in :data:`consilience.glm.site_effects.LONGEST_STEP`."""
CLOSE = 1e-3
"""A search ends with a step below this, in posterior standard deviations, which is still made. The mode only places the nodes."""
LARGEST_EXPONENT = 300.0
"""Exponents up to this are made as products: the sum of two is still a float. Beyond, every row and shift has its own exponential."""
ROOM = 600.0
"""The largest logarithm of a product of rows."""


@lru_cache(maxsize=8)
def _rule(n: int) -> tuple[Floats, Floats]:
    """Nodes, and logarithms of the weights times e^(x²): the integrand comes as a logarithm, with its own normal part."""
    x, w = np.polynomial.hermite.hermgauss(n)
    return x, np.log(w) + x * x


def quadrature_marginal(kernel: ShiftedKernel, beta: Floats) -> Total:
    """Log-likelihood, score and observed information at (shared, a, s)."""
    p = kernel.n_shared
    s, size = float(beta[p + 1]), p + 2
    terms = kernel.softplus(beta[:p], float(beta[p]))
    if terms is None:
        return Total(True, 0.0, 0.0, 0.0, np.zeros(size), np.zeros((size, size)))
    look = _Look(terms)
    mode, curvature = _mode(look, s)
    if kernel.is_steep_at(beta[:p], np.array([beta[p] + s * mode])):
        return unsaid(size)
    known = (curvature - 1.0) / (s * s) if s != 0.0 else math.inf
    x, log_w = _rule(TWO if s == 0.0 else FEW if known >= MUCH else MANY if known < LITTLE and abs(s) > WIDE else USUAL)
    z = mode + x * math.sqrt(2.0 / curvature)
    seen = look.at(s * z)
    height = seen.loglik - 0.5 * z * z + log_w
    top = float(height.max())
    posterior = np.exp(height - top)
    mass = float(posterior.sum())
    posterior /= mass
    value = top + math.log(mass) - 0.5 * math.log(math.pi * curvature)  # √2/√c of the nodes over √2π of the normal law
    scores = np.empty((len(z), size))
    scores[:, :-1] = terms.score - seen.probability @ look.weighted
    scores[:, -1] = z * scores[:, p]
    score = posterior @ scores
    spread = scores - score
    info = (spread * -posterior[:, None]).T @ spread
    tilted = posterior * z
    plain, along = np.stack([posterior, tilted]) @ seen.bend  # per row
    info[:-1, :-1] += (look.weighted * plain[:, None]).T @ terms.design
    if terms.info is not None:
        info[:-1, :-1] += terms.info  # of the intercept it says nothing
    cross = (along * terms.design[:, p]) @ look.weighted
    info[:-1, -1] += cross
    info[-1, :-1] += cross
    info[-1, -1] += float((tilted * z) @ look.total(seen.bend))
    return Total(False, value, 0.0, 0.0, score, info)


class _Seen(NamedTuple):
    """Under each shift: the log-likelihood, and of every term σ(v) and σ(v)(1 - σ(v))."""

    loglik: Floats
    probability: Floats
    bend: Floats


class _Look:
    """The rows of a site under shifts of their intercept."""

    def __init__(self, terms: Softplus) -> None:
        self.terms = terms
        self.weighted = terms.design if terms.weights is None else terms.design * terms.weights[:, None]
        self.highest = float(terms.v.max(initial=0.0))
        self.reach = LARGEST_EXPONENT - max(self.highest, -float(terms.v.min(initial=0.0)))
        self.exp = np.exp(terms.v) if self.reach > 0.0 else terms.v

    def total(self, values: Floats) -> Floats:
        """Weighted sums over the terms."""
        weights = self.terms.weights
        sums: Floats = values.sum(axis=-1) if weights is None else values @ weights
        return sums

    def at(self, shift: Floats) -> _Seen:
        """The log-likelihood and its terms under each shift."""
        terms, farthest = self.terms, float(np.abs(shift).max())
        if farthest > self.reach:
            probability, softplus = sigmoid(self._moved(shift[:, None]))
            bend = probability * (1.0 - probability)
            lost = self.total(softplus)
        else:
            probability = self._grown(np.exp(shift)[:, None])
            bend = probability + 1.0
            lost = self._logarithms(bend, farthest)
            np.divide(1.0, bend, out=bend)
            probability *= bend
            bend *= probability
        return _Seen(terms.value + terms.tilt * shift - lost, probability, bend)

    def slope(self, shift: float) -> tuple[float, float]:
        """The first derivative of the log-likelihood by a shift, and minus the second."""
        if abs(shift) > self.reach:
            probability, _ = sigmoid(self._moved(np.array(shift)))
            bend = probability * (1.0 - probability)
        else:
            probability = self._grown(np.exp(shift))
            bend = 1.0 / (probability + 1.0)
            probability *= bend
            bend *= probability
        return self.terms.tilt - float(probability @ self.weighted[:, -1]), float(self.total(bend))

    def _moved(self, shift: Floats) -> Floats:
        """Every v ± shift."""
        return np.concatenate([self.terms.v[: self.terms.falling] - shift, self.terms.v[self.terms.falling :] + shift], axis=-1)

    def _grown(self, factor: Floats) -> Floats:
        """e^(v ± shift), with the factor e^shift."""
        n = self.terms.falling
        if n == 0:
            grown: Floats = self.exp * factor
            return grown
        return np.concatenate([self.exp[:n] / factor, self.exp[n:] * factor], axis=-1)

    def _logarithms(self, factors: Floats, farthest: float) -> Floats:
        """The weighted sum of logarithms of each row of ``factors``."""
        if self.terms.weights is not None:
            weighted: Floats = np.log(factors) @ self.terms.weights
            return weighted
        # 1 + e^v ≤ e^(v + log 2) for v ≥ 0
        together = int(ROOM / (self.highest + farthest + math.log(2.0)))
        products = np.multiply.reduceat(factors, np.arange(0, factors.shape[1], together), axis=1)
        sums: Floats = np.log(products).sum(axis=1)
        return sums


def _mode(look: _Look, s: float) -> tuple[float, float]:
    """Where ℓ(a + s z) - z²/2 is highest, nearly, and minus its second derivative there."""
    # the slope falls from side to side, so a Newton step that leaves the bracket of its zero is the only one that can fail
    z, low, high, curvature = 0.0, -math.inf, math.inf, 1.0
    longest = LONGEST_STEP / max(abs(s), 1.0)
    for _ in range(MOST_STEPS):
        along, known = look.slope(s * z)
        slope, curvature = s * along - z, 1.0 + s * s * known
        step = min(max(slope / curvature, -longest), longest)
        if abs(step) * math.sqrt(curvature) <= CLOSE:
            return z + step, curvature
        low, high = (z, high) if slope > 0.0 else (low, z)
        z = z + step if low < z + step < high else 0.5 * (low + high)
    return z, curvature
