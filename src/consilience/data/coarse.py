"""A curve at a site with too few rows for its knots: the same curve, as nearly as columns of the site's own can have it.

The columns of a curve are the study's, on knots that are quantiles over all sites. At a site with few rows, or with knots that a server has
chosen for it, some of them are about one row or two. There the site replaces every column by its least-squares fit on columns that it
chooses by itself, from its own rows alone: a line, a square and a cube, or a square and splines with at least so many rows between any two
knots and beyond the outermost (:mod:`consilience.data.clumps`). There are no more of them than clumps. So whatever knots are asked for, and
however the columns are added and subtracted, what comes out is about functions of this space. Where a curve is as smooth as that, it is its
own fit, and the model is what it was.

*Ends.* Squares and splines are steepest where fewest rows lie. So for curves, not for lines, rows that lie far out count as if they lay
nearer, where what rises towards the end would else be about fewer than ``least`` rows; and at a site with many rows the ``least`` outermost
ones count as if they lay at the same place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.data.clumps import Floats, clump_bounds, effective_rows, rare
from consilience.data.spline import FARTHEST, curves_on

__all__ = ["BLOCK", "STRAIGHT", "Coarse", "clipped_few", "coarse_curves", "coarse_features", "fitted", "parts_few"]

STRAIGHT = 2
"""Columns that every number has besides curves: the constant and the line."""
TWO_KNOTS = 2
"""With fewer there is no piece between them, and no curve."""
CUBIC = 3
"""Up to here powers are as good as splines."""
BLOCK = 1 << 14
"""Rows worked on at a time."""
COLLINEAR = 1e-10
"""Directions of own columns, brought to unit size, with less than this are none."""
ROWS_PER_END = 50
"""Rows of the site for each of those that count as lying at the same end. With few rows all of them are needed to know a curve there."""


class Coarse(NamedTuple):
    """Columns of a site's own, and the ``turn`` that makes those of the study's curve of them.

    The own ones are powers of u about ``middle`` in units of ``width``, up to ``powers``, and splines on ``knots``; all but the line are of
    u ``clipped`` to these two values. Without a ``turn`` the columns are the study's, on its own ``knots``, of such values.
    """

    middle: float
    width: float
    powers: int
    knots: tuple[float, ...]
    turn: Floats | None
    clipped: tuple[float, float] | None = None

    def own(self, straight: Floats) -> Floats:
        """The site's own columns, the constant and the line first."""
        u = (straight - self.middle) / self.width
        inside = straight if self.clipped is None else np.clip(straight, *self.clipped)
        v = (inside - self.middle) / self.width
        return np.column_stack([np.ones(len(u)), u, *(v**k for k in range(2, self.powers + 1)), curves_on(self.knots, inside)])

    def columns(self, straight: Floats) -> Floats:
        """The study's columns, as this site has them."""
        if self.turn is None:
            return curves_on(self.knots, straight if self.clipped is None else np.clip(straight, *self.clipped))
        return self.own(straight) @ self.turn


def parts_few(straight: Floats, knots: tuple[float, ...], least: int) -> bool:
    """True if fewer than ``least`` rows lie between two knots, or beyond the outermost, or have a say in one of the B-splines on them.

    >>> u = np.linspace(-1.0, 1.0, 100)
    >>> parts_few(u, (-1.0, 0.0, 1.0), 5), parts_few(u, (-1.0, 0.93, 1.0), 5), parts_few(u, (0.98, 0.985), 5)
    (False, True, True)
    """
    if len(knots) < TWO_KNOTS:
        return False
    low, high, inside = _between(straight, knots)
    if rare(np.array([low, high]), least) or (inside < least).any() or len(inside) == 1:  # powers are as good as one piece
        return True
    sums, squares = np.zeros(len(knots) + 2), np.zeros(len(knots) + 2)
    for start in range(0, len(straight), BLOCK):
        u = straight[start : start + BLOCK]
        off = np.abs(_all_splines(knots, u))
        sums, squares = sums + off.sum(axis=0), squares + (off * off).sum(axis=0)
    return bool((sums**2 < least * squares).any())


def _all_splines(knots: tuple[float, ...], straight: Floats) -> Floats:
    """The curves on some knots, with the first B-spline and the last, which follow from them and the line: all sum to one."""
    curves = curves_on(knots, straight)
    rest = 1.0 - curves.sum(axis=1)
    return np.column_stack([np.where(straight < knots[1], rest, 0.0), curves, np.where(straight >= knots[-2], rest, 0.0)])


def _between(straight: Floats, knots: tuple[float, ...]) -> tuple[int, int, NDArray[np.intp]]:
    """How many values lie below the knots, above them, and between any two."""
    low, high = straight < knots[0], straight > knots[-1]
    inside = np.searchsorted(knots[1:-1], straight[~(low | high)], side="right")
    return int(low.sum()), int(high.sum()), np.bincount(inside, minlength=len(knots) - 1)


def coarse_curves(straight: Floats, knots: tuple[float, ...], least: int, most: int) -> Coarse | None:
    """What becomes of the curves on ``knots`` at these values, with ``most`` columns in all; None where there are none.

    >>> u = np.linspace(-1.0, 1.0, 401)
    >>> as_they_are = coarse_curves(u, (-1.0, -0.5, 0.0, 0.5, 1.0), 5, 80)
    >>> as_they_are.turn is None, as_they_are.clipped
    (True, (-0.98, 0.98))
    >>> around_one_row = coarse_curves(u[::10], (0.02, 0.025, 0.03), 5, 8)
    >>> around_one_row.powers, len(around_one_row.knots)
    (2, 2)
    """
    if len(knots) < TWO_KNOTS:
        return None
    bounds = clump_bounds(straight, least)
    most = min(most, len(bounds) + 1)
    if len(knots) + STRAIGHT <= most and not parts_few(straight, knots, least):
        return Coarse(0.0, 1.0, 1, knots, None, _ends(straight, bounds, least))
    found = _own(straight, bounds, knots, min(most - STRAIGHT, len(knots)), least)
    return found._replace(turn=fitted(found.own, lambda u: curves_on(knots, u), straight))


def _own(straight: Floats, bounds: Floats, knots: tuple[float, ...], curved: int, least: int) -> Coarse:
    """A line and so many curved columns of the site's own."""
    middle = float(straight.mean())
    width = float(np.abs(straight - middle).max(initial=0.0)) or 1.0
    if curved < 1:
        return Coarse(middle, width, 1, (), np.empty((0, 0)))
    if curved < CUBIC:  # powers rise from one end to the other
        return Coarse(middle, width, 1 + curved, (), np.empty((0, 0)), _ends(straight, bounds[[0, -1]], least))
    clipped = _ends(straight, bounds, least)
    low, high = float(bounds[0]), float(bounds[-1])
    chosen = (low, *(knot for knot in knots if low < knot < high), high)  # the study's, but for the outermost
    if len(chosen) >= curved or (_between(straight, chosen)[2] < least).any():
        chosen = tuple(bounds[np.linspace(0, len(bounds) - 1, curved - 1).round().astype(np.intp)].tolist())
    return Coarse(middle, width, 2, chosen, np.empty((0, 0)), clipped)


def _ends(straight: Floats, bounds: Floats, least: int) -> tuple[float, float]:
    """The values between which curves are told apart: with many rows, ``least`` of them lie beyond either."""
    beyond = max(1, min(least, len(straight) // ROWS_PER_END))
    ordered = np.partition(straight, (beyond - 1, len(straight) - beyond))
    low, high = float(ordered[beyond - 1]), float(ordered[-beyond])
    return max(low, -_reach(-straight, -bounds[::-1], least)), min(high, _reach(straight, bounds, least))


def _reach(straight: Floats, bounds: Floats, least: int) -> float:
    """How far out a value may lie and not count as if it lay nearer: what rises from the last bound but one is about ``least`` rows."""
    base = float(bounds[-min(len(bounds), 2)])
    rise = np.sort(straight[straight > base])[::-1]
    for far in rise[: 2 * least].tolist():
        if effective_rows(np.minimum(rise, far)[:, None], np.array([base]))[0] >= least:
            return float(far)
    return float(rise[-1])


def coarse_features(straight: Floats, knots: tuple[float, ...], least: int) -> Coarse | None:
    """What becomes of curves of a response, which are constant beyond the outermost of ``knots``; None where they may stay as they are.

    Powers of the values between the outermost clumps, beyond which there are enough rows.

    >>> u = np.linspace(-1.0, 1.0, 40)
    >>> coarse_features(u, (-0.9, 0.0, 0.9), 5) is None, coarse_features(u, (0.02, 0.025, 0.03), 5).powers
    (True, 3)
    """
    bounds = clump_bounds(straight, least)
    if len(knots) < TWO_KNOTS:
        return None
    _, _, inside = _between(straight, knots)
    if len(knots) + STRAIGHT <= len(bounds) + 1 and (inside >= 2 * least).all():
        return None
    curved = min(len(bounds) + 1 - STRAIGHT, len(knots))
    if curved < 1 or len(bounds) < 2:
        found = _own(straight, bounds, (), 0, least)
    else:
        found = _own(straight, bounds, (), 0, least)._replace(powers=min(1 + curved, CUBIC), clipped=(float(bounds[0]), float(bounds[-1])))
    return found._replace(turn=fitted(found.own, lambda u: curves_on(knots, np.clip(u, knots[0], knots[-1])), straight))


def fitted(own: Callable[[Floats], Floats], columns: Callable[[Floats], Floats], straight: Floats) -> Floats:
    """The least-squares coefficients of ``columns`` on ``own`` ones, by orthogonal factors of some rows at a time.

    >>> fitted(lambda u: np.column_stack([np.ones(len(u)), u]), lambda u: (2.0 * u + 1.0)[:, None], np.arange(4.0)).round(6).ravel()
    array([1., 2.])
    """
    factor, size = np.empty((0, 0)), 0
    for start in range(0, max(len(straight), 1), BLOCK):
        u = straight[start : start + BLOCK]
        left = own(u)
        size, both = left.shape[1], np.column_stack([left, columns(u)])
        factor = np.asarray(np.linalg.qr(both if not factor.size else np.concatenate([factor, both]), mode="r"))
    left, right = factor[:size, :size], factor[:size, size:]
    scale = np.sqrt((left * left).sum(axis=0))
    unit = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    found: Floats = unit[:, None] * np.linalg.lstsq(left * unit, right, rcond=COLLINEAR)[0]
    return found


def clipped_few(straight: Floats, least: int) -> bool:
    """True if values that count as lying at :data:`~consilience.data.spline.FARTHEST` part few rows from the others: a line that is a step.

    >>> clipped_few(np.array([-FARTHEST] * 9 + [FARTHEST]), 5), clipped_few(np.arange(10.0), 5)
    (True, False)
    """
    low, high = int((straight <= -FARTHEST).sum()), int((straight >= FARTHEST).sum())
    return rare(np.array([low, high, len(straight) - low - high if low or high else 0]), least)
