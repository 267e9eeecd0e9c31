"""What earlier steps tell about curvature that a site's information leaves out.

Coordinate ascent steps with H_ββ, which ignores that the intercepts move along. Where that matters (most of all under separation,
where it turns convergence sublinear) the changes of the score along the steps already made correct it: limited-memory BFGS with
H_ββ as the first guess.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from consilience.glm.kernel import Floats

__all__ = ["SecantMemory"]

PAIRS = 12


class SecantMemory:
    """The last steps and how the score fell along them.

    >>> import numpy as np
    >>> memory = SecantMemory()
    >>> memory.remember(np.array([1.0]), np.array([0.5]))  # the score fell by a half: the curvature is a half
    >>> memory.correct(np.array([1.0]), lambda g: g / 4.0)  # the first guess says four
    array([2.])
    """

    def __init__(self) -> None:
        self._pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=PAIRS)

    def remember(self, step: Floats, fall: Floats) -> None:
        """Take a step and the fall of the score along it. Pairs without curvature say nothing and are left out."""
        product = float(step @ fall)
        if product > 1e-300:
            self._pairs.append((step, fall, product))

    def correct(self, score: Floats, solve: Callable[[Floats], Floats]) -> Floats:
        """The step for ``score``, where ``solve`` applies the inverse of the first guess (the two-loop recursion)."""
        q = score.copy()
        weights = []
        for step, fall, product in reversed(self._pairs):
            weight = float(step @ q) / product
            q -= weight * fall
            weights.append(weight)
        direction = solve(q)
        for (step, fall, product), weight in zip(self._pairs, reversed(weights), strict=True):
            direction = direction + step * (weight - float(fall @ direction) / product)
        return direction
