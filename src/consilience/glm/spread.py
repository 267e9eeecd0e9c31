"""How far to move the standard deviation s of random effects, given the slope and the curvature of the log-likelihood along it.

The log-likelihood is even in s and not concave: it has a maximum or a saddle at s = 0, and falls like -K log s far out. Newton's step is
right where it bends down well; it creeps (by a third of s a round) where s is much too small, jumps where the curvature nearly vanishes,
and points the wrong way where it bends up. Two curves with their maximum known are laid through slope g and curvature h instead::

    far from zero    -K log s - C/(2s²)      C/s² = (s² h - s g)/2,  K = C/s² - s g,     maximum at s √(C/(K s²))
    near zero        c s²/2 - d s⁴/4         d s² = (h + g/s)/2,     c = g/s + d s²,     maximum at s √(c/(d s²))

The first is the log-likelihood of K sites whose own part in it is small, the second the beginning of any even function. Near a maximum
away from zero the steps to their maxima agree with Newton's to first order, so that convergence stays quadratic.

A long step is better made as if all sites knew equally much about their shifts (:func:`balanced_step`): then one slope says where the
maximum is, which saves a round in six.
"""

from __future__ import annotations

import math
from typing import NamedTuple

__all__ = ["FAR", "FIRST_SPREAD", "NO_SPREAD", "Balanced", "balanced_step", "from_saddle", "spread_step"]

FIRST_SPREAD = 0.5
"""Where fits begin, in units of the residual standard deviation or of the linear predictor: in the usual range, and not at the saddle."""
MOST_GROWTH, MOST_FALL = 3.0, 4.0
"""The most that one step multiplies or divides s by: both curves are guesses when their maximum is far away."""
FAR = 0.2
"""A step by a larger share of s is taken as if shifts were known equally well. A shorter one is left to the curvature."""
TO_ZERO = 0.6
"""A Newton step down by more than this share of s means that the maximum is at zero or next to it: there Newton's step is right."""

NO_SPREAD = 1e-6
"""Below this s is zero but for rounding: what it adds to a log-likelihood is 1e-12 of what s = 1 does."""


class Balanced(NamedTuple):
    """What is known about random shifts: how many there are, and the sum of the informations about their means."""

    shifts: int
    info: float


def balanced_step(s: float, g: float, known: Balanced) -> tuple[float, float]:
    """The step from ``s`` with slope ``g``, and its gain, if all shifts were known equally well.

    With i known about each, ℓ is -K/2 (log G + c/G) with G = 1 + i s²: its maximum is at G = c, or at s = 0. What is known about the mean
    of a shift is i/G. The slope says what c is, so one question is enough where Newton's step needs many.

    >>> s, i, c, K = 0.5, 100.0, 5.0, 20  # the maximum is at G = 5, s = 0.2
    >>> G = 1.0 + i * s * s
    >>> round(balanced_step(s, K * i * s * (c / G - 1.0) / G, Balanced(K, K * i / G))[0], 9)
    -0.3
    """
    if s < 0.0:
        step, gain = balanced_step(-s, -g, known)
        return -step, gain
    mean = known.info / known.shifts
    left = 1.0 - s * s * mean
    if s == 0.0 or mean <= 0.0 or left <= 0.0:
        return 0.0, 0.0
    i, G = mean / left, 1.0 / left
    c = G + g * G * G / (known.shifts * i * s)
    wanted = min(max(c, 1.0), 1.0 + i * (MOST_GROWTH * s) ** 2)
    gain = 0.5 * known.shifts * (math.log(G / wanted) + c / G - c / wanted)
    return math.sqrt((wanted - 1.0) / i) - s, gain


def from_saddle(h: float, known: Balanced) -> float:
    """How far from zero the maximum is, where ℓ bends up there (``h`` < 0), at most half of :data:`FIRST_SPREAD`.

    Near zero ℓ is -h s²/2 - Σ i² s⁴/4 over the shifts. Where they are not known equally well, the maximum is nearer, by √shifts at most.

    >>> from_saddle(-4.0, Balanced(16, 800.0))
    0.01
    """
    return min(math.sqrt(-h * known.shifts) / known.info, 0.5 * FIRST_SPREAD) if h < 0.0 < known.info else 0.5 * FIRST_SPREAD


def spread_step(s: float, g: float, h: float, away: float = 0.5 * FIRST_SPREAD) -> tuple[float, float]:
    """The step from ``s`` and the gain that it promises; ``g`` is the slope, ``h`` minus the second derivative.

    ``away`` is how far to go from a saddle at zero.

    >>> spread_step(0.125, -0.25, 2.0)  # ℓ = -s²: straight to zero
    (-0.125, 0.015625)
    >>> s = 1.0  # ℓ = -log s - 4/(2s²), with its maximum at 2: Newton's step would be 0.27
    >>> round(spread_step(s, -1 / s + 4 / s**3, -1 / s**2 + 12 / s**4)[0], 9)
    1.0
    """
    if s < 0.0:  # the mirror image
        step, gain = spread_step(-s, -g, h, away)
        return -step, gain
    if s < NO_SPREAD and h <= 0.0:  # a saddle; the sign of the slope is rounding there
        s = g = 0.0
    newton = g / h if h > 0.0 else math.inf if g >= 0.0 else -math.inf
    if g < 0.0 and newton >= -TO_ZERO * s:
        step = s * max(_far(s, g, h), 1.0 / MOST_FALL) - s
    elif g < 0.0:
        step = max(newton, -s) if h > 0.0 else s * max(_far(s, g, h), 1.0 / MOST_FALL) - s
    elif h > 0.0:
        ratio = _far(s, g, h) or min(_near(s, g, h), 2.0)
        step = max(s * min(ratio, MOST_GROWTH) - s, min(newton, max(s, FIRST_SPREAD)))
    else:  # a saddle at zero, or next to one
        step = max(min(s * _near(s, g, h), FIRST_SPREAD) - s, s) if s > 0.0 else away
    return step, abs(0.5 * g * step) if h > 0.0 else abs(g * step) - 0.5 * h * step * step


def _far(s: float, g: float, h: float) -> float:
    """What s is multiplied with to reach the maximum of the curve far from zero; 0 where it has none."""
    share = 0.5 * (s * s * h - s * g)
    weight = share - s * g
    return math.sqrt(share / weight) if share > 0.0 and weight > 0.0 else 0.0


def _near(s: float, g: float, h: float) -> float:
    """The same for the curve near zero."""
    bend = 0.5 * (h + g / s) if s > 0.0 else 0.0
    rise = g / s + bend if s > 0.0 else 0.0
    return math.sqrt(rise / bend) if bend > 0.0 and rise > 0.0 else 0.0
