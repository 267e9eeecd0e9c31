"""How far to move the standard deviation s of random effects, given the slope and the curvature of the log-likelihood along it.

The log-likelihood is even in s and not concave: it has a maximum or a saddle at s = 0, and falls like -K log s far out. Newton's step is
right where it bends down well; it creeps (by a third of s a round) where s is much too small, jumps where the curvature nearly vanishes,
and points the wrong way where it bends up. Two curves with their maximum known are laid through slope g and curvature h instead::

    far from zero    -K log s - C/(2s²)      C/s² = (s² h - s g)/2,  K = C/s² - s g,     maximum at s √(C/(K s²))
    near zero        c s²/2 - d s⁴/4         d s² = (h + g/s)/2,     c = g/s + d s²,     maximum at s √(c/(d s²))

The first is the log-likelihood of K sites whose own part in it is small, the second the beginning of any even function. Near a maximum
away from zero the steps to their maxima agree with Newton's to first order, so that convergence stays quadratic.
"""

from __future__ import annotations

import math

__all__ = ["FIRST_SPREAD", "spread_step"]

FIRST_SPREAD = 0.5
"""Where fits begin, in units of the residual standard deviation or of the linear predictor: in the usual range, and not at the saddle."""
MOST_GROWTH, MOST_FALL = 3.0, 4.0
"""The most that one step multiplies or divides s by: both curves are guesses when their maximum is far away."""
TO_ZERO = 0.6
"""A Newton step down by more than this share of s means that the maximum is at zero or next to it: there Newton's step is right."""

NO_SPREAD = 1e-6
"""Below this s is zero but for rounding: what it adds to a log-likelihood is 1e-12 of what s = 1 does."""


def spread_step(s: float, g: float, h: float) -> tuple[float, float]:
    """The step from ``s`` and the gain that it promises; ``g`` is the slope, ``h`` minus the second derivative.

    >>> spread_step(0.125, -0.25, 2.0)  # ℓ = -s²: straight to zero
    (-0.125, 0.015625)
    >>> s = 1.0  # ℓ = -log s - 4/(2s²), with its maximum at 2: Newton's step would be 0.27
    >>> round(spread_step(s, -1 / s + 4 / s**3, -1 / s**2 + 12 / s**4)[0], 9)
    1.0
    """
    if s < 0.0:  # the mirror image
        step, gain = spread_step(-s, -g, h)
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
        step = max(min(s * _near(s, g, h), FIRST_SPREAD) - s, s) if s > 0.0 else 0.5 * FIRST_SPREAD
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
