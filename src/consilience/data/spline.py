"""Smooth functions of one number: a straight line, and cubic B-splines for what is curved.

The knots are quantiles over all sites, agreed once for a study (:class:`Knots`). Everything here follows from them by explicit formulas, so
that sites with other machines and libraries make the same columns; an eigenbasis would have signs and rotations of its own at each.

*Columns.* ``u``, the number in units of the knots' width, then all B-splines but the first and the last. With the constant these span every
cubic spline on the knots, and only the B-splines are curved: the integral of the squared second derivative is a positive definite form
in their coefficients alone (:attr:`Spline.roughness`).

*Outside the knots* every column goes on as a straight line: a cubic would be enormous where a few rows lie far out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

__all__ = ["FARTHEST", "LADDER", "NESTED", "Knots", "Spline", "curves_on", "own_knots", "spline"]

Floats = NDArray[np.float64]
LADDER = 48
"""Quantiles that knots are taken from: as many as curves have pieces at most, and a few more."""
NESTED = (0, 1, 3, 6, 12, 24, 48)
"""Numbers of pieces of which the knots of each are among those of the next: curves on any of them are curves on the last. Of other numbers,
columns on 17 and on 19 pieces together tell apart what neither does: rows between knots that nearly meet."""
FARTHEST = 2.0**12
"""A value farther out than this, in units of the knots' width, counts as if it lay here: a sentinel of 10¹² would not fit the ring once it
is multiplied with another and squared."""
CLOSEST = 1e-6
"""Knots nearer to each other than this share of their width are one: of a variable with ties several quantiles fall together."""


class Knots(msgspec.Struct, frozen=True):
    """Where the values of a variable lie: ``LADDER + 1`` quantiles over all sites, in its own unit, ascending.

    ``centred`` says that every site subtracts its own centre first: so where sites lie so far apart that they have no values in common.
    """

    ladder: tuple[float, ...]
    centred: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Spline:
    """Columns of a variable on some pieces of its range. ``knots`` are in units of their width about their middle."""

    middle: float
    width: float
    knots: Floats
    roughness: Floats

    @property
    def n_curved(self) -> int:
        """Columns besides the straight one."""
        return len(self.roughness)

    def straight(self, values: Floats) -> Floats:
        """The values in units of the knots' width.

        >>> spline(Knots(tuple(float(i) for i in range(49))), 4).straight(np.array([24.0, 36.0]))
        array([0., 1.])
        """
        return np.clip((values - self.middle) / self.width, -FARTHEST, FARTHEST)

    def curved(self, straight: Floats) -> Floats:
        """The B-splines at values that :meth:`straight` has prepared, one column each.

        >>> spline(Knots(tuple(float(i) for i in range(49))), 2).curved(np.array([-3.0, 0.0])).round(3)
        array([[-1.5 ,  0.  ,  0.  ],
               [ 0.25,  0.5 ,  0.25]])
        """
        return curves_on(tuple(self.knots.tolist()), straight)


def curves_on(knots: tuple[float, ...], values: Floats) -> Floats:
    """The B-splines on some knots, straight beyond them: one column more than there are pieces; none without a piece."""
    if len(knots) < 2:
        return np.empty((len(values), 0))
    splines, low, high = _splines(knots), knots[0], knots[-1]
    inside = np.clip(values, low, high)
    found: Floats = splines(inside)
    beyond = values - inside
    outside = np.flatnonzero(beyond)
    if len(outside):
        steep = _ends(knots)
        found[outside] += beyond[outside, None] * np.where((beyond[outside] < 0)[:, None], steep[0], steep[1])
    return found


def own_knots(straight: Floats, curves: int) -> tuple[float, ...]:
    """Knots for so many curved columns (two at least) of one site's values: its own quantiles, which never leave it.

    >>> own_knots(np.array([0.0, 1.0, 2.0, 3.0, 4.0]), 3)
    (0.0, 2.0, 4.0)
    """
    return _distinct(np.quantile(straight, np.linspace(0.0, 1.0, curves)))


def _distinct(values: Floats) -> tuple[float, ...]:
    kept = [float(values[0])]
    for value in values[1:].tolist():
        if value - kept[-1] > CLOSEST:
            kept.append(value)
    return tuple(kept)


@lru_cache(maxsize=1024)
def _splines(knots: tuple[float, ...]) -> BSpline:
    from scipy.interpolate import BSpline  # noqa: PLC0415  half a second of a process's start, for tests of residuals alone

    t = np.array([*[knots[0]] * 3, *knots, *[knots[-1]] * 3])
    return BSpline(t, np.eye(len(knots) + 2)[:, 1:-1], 3)


@lru_cache(maxsize=1024)
def _ends(knots: tuple[float, ...]) -> Floats:
    """How steep the B-splines are at the first knot and at the last."""
    steep: Floats = _splines(knots).derivative()(np.array([knots[0], knots[-1]]))
    return steep


@lru_cache(maxsize=1024)
def spline(knots: Knots, pieces: int) -> Spline:
    """The spline with so many pieces, which hold equal shares of the rows; fewer where quantiles fall together.

    >>> spline(Knots(tuple(float(i) for i in range(49))), 8).n_curved
    9
    """
    shares = np.linspace(0.0, LADDER, pieces + 1)
    chosen = np.interp(shares, np.arange(LADDER + 1), knots.ladder)
    middle, width = knots.ladder[LADDER // 2], 0.25 * (knots.ladder[-1] - knots.ladder[0])
    if width <= 0.0 or not np.isfinite(width):
        return Spline(middle, 1.0, np.zeros(1), np.empty((0, 0)))
    scaled = (chosen - middle) / width
    t = np.array(_distinct(scaled))
    if len(t) < 2:
        return Spline(middle, width, t, np.empty((0, 0)))
    # second derivatives are straight between knots, so two points of Gauss's rule integrate their products exactly
    half = 0.5 * np.diff(t)
    points = (t[:-1] + half)[:, None] + half[:, None] * np.array([-1.0, 1.0]) / np.sqrt(3.0)
    bend = _splines(tuple(t.tolist())).derivative(2)(points.ravel())
    roughness = (bend * np.repeat(half, 2)[:, None]).T @ bend
    return Spline(middle, width, t, 0.5 * (roughness + roughness.T))
