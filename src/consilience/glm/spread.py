"""How far to move the standard deviation s of random effects, given the slope and the curvature of the log-likelihood along it.

The log-likelihood is even in s and not concave: it has a maximum or a saddle at s = 0, and falls like -K log s far out. Newton's step is
right where it bends down; it creeps (by a third of s a round) where s is much too small, and points the wrong way where it bends up.
Away from zero the log-likelihood of K sites is close to -K log s - C/(2s²), whose maximum follows from slope and curvature::

    C/s² = (s² h - s g)/2,   K = C/s² - s g,   maximum at s √(C/(K s²))

with g the slope and h minus the second derivative. Near a maximum away from zero this step and Newton's agree to first order.
"""

from __future__ import annotations

import math

__all__ = ["FIRST_SPREAD", "spread_step"]

FIRST_SPREAD = 0.5
"""Where fits begin, in units of the residual standard deviation or of the linear predictor: inside the usual range, and not at the saddle."""
MOST_GROWTH, MOST_FALL = 16.0, 8.0
"""The most that one step multiplies or divides s by where the model above is used: it is a guess when far away."""


def spread_step(s: float, g: float, h: float) -> tuple[float, float]:
    """The step from ``s`` and the gain that it promises.

    >>> spread_step(0.1, -0.2, 2.0)  # ℓ = -s²: straight to zero
    (-0.1, 0.01)
    >>> s = 0.01  # ℓ = -log s - 4/(2s²), with its maximum at 2: Newton's step would be 0.0033
    >>> round(spread_step(s, -1 / s + 4 / s**3, -1 / s**2 + 12 / s**4)[0], 2)
    0.15
    """
    if s < 0.0:  # the mirror image
        step, gain = spread_step(-s, -g, h)
        return -step, gain
    newton = g / h if h > 0.0 else 0.0
    share = 0.5 * (s * s * h - s * g)
    weight = share - s * g
    modelled = s * (min(max(math.sqrt(share / weight), 1.0 / MOST_FALL), MOST_GROWTH) - 1.0) if share > 0.0 and weight > 0.0 else 0.0
    if h > 0.0:
        step = max(newton, modelled) if g > 0.0 else newton
        step = min(max(step, -2.0 * s), max(MOST_GROWTH * s, FIRST_SPREAD))  # the mirror image of s is as far as a step down may go
        return step, 0.5 * g * step
    # It bends up here. Downhill towards zero the model is asked; uphill, away from a saddle at zero, s is doubled at least.
    if g < 0.0:
        step = modelled if modelled < 0.0 else -0.5 * s
    else:
        step = max(s, 0.5 * FIRST_SPREAD)
    return step, abs(g * step) - 0.5 * h * step * step
