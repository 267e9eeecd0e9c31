"""A curve at a site with too few rows for its knots: the same curve, as nearly as columns of the site's own can have it.

The columns of a curve are the study's, on knots that are quantiles over all sites. At a site with few rows, or with knots that a server has
chosen for it, some of them are about one row or two. There the site replaces every column by its least-squares fit on columns that it
chooses by itself, from its own rows alone: a line, a square and a cube, or a square and splines with at least so many rows between any two
knots and beyond the outermost (:mod:`consilience.data.clumps`). There are no more of them than clumps. Where a curve is as smooth as that,
it is its own fit, and the model is what it was.

*One space.* Which columns these are, a site decides once for a number and some rows (:func:`space_of`), before it knows what is asked for:
the study's on the finest of its nested knots that part no few rows, or, where even a dozen pieces do, its own. Curves on fewer pieces are
combinations of the first as they are; all others, and fewer columns where there is room for fewer, are fits on them. So whatever is asked
for, and however the columns of many requests are added and subtracted, what comes out is about functions of this one space. Two spaces
together would have more columns than there are clumps.

*Not over its rows.* The fit is over a law with the centre and the width of the site's middle half of rows (:func:`law_of`). Over the rows
themselves its coefficients would tell what was to be hidden: the product of a line with the fit of a column is that with the column itself,
and where that is about one row, so is the product. For the same reason knots and ends are no row's value, nor the middle of two.

*Ends.* Squares and splines are steepest where fewest rows lie. So for curves, not for lines, rows that lie far out count as if they lay
nearer, where what rises towards the end would else be about fewer than ``least`` rows; and at a site with many rows the ``least`` outermost
ones count as if they lay at the same place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.data.clumps import Floats, clump_bounds, effective_rows, plain_between, rare
from consilience.data.spline import FARTHEST, NESTED, Knots, curves_on, spline

__all__ = [
    "BLOCK",
    "STRAIGHT",
    "Coarse",
    "clipped_few",
    "coarse_curves",
    "coarse_features",
    "fitted",
    "ladder_of",
    "law_of",
    "parts_few",
    "space_of",
]

STRAIGHT = 2
"""Columns that every number has besides curves: the constant and the line."""
TWO_KNOTS = 2
"""With fewer there is no piece between them, and no curve."""
COARSEST = 12
"""Pieces of the study's curves from which on a site takes these as its space; with fewer its own clumps tell a curve better."""
MOST_OWN = 25
"""Curves of a site's own, as many as the finest that a study asks for has. With as many as clumps, of fifty some combination was about
fewer than five rows."""
CUBIC = 3
"""Up to here powers are as good as splines."""
BLOCK = 1 << 14
"""Rows worked on at a time."""
COLLINEAR = 1e-10
"""Directions of own columns, brought to unit size, with less than this are none."""
ROWS_PER_END = 50
"""Rows of the site for each of those that count as lying at the same end. With few rows all of them are needed to know a curve there."""
POINTS = 256
"""Points that stand for a law."""
WITHIN_HALF = 0.5232
"""How far the middle half of a logistic law lies from its centre on average, in units of its scale."""


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

    @property
    def size(self) -> int:
        """How many own columns there are."""
        return 1 + self.powers + len(self.knots)

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


def ladder_of(knots: Knots) -> Iterator[tuple[float, ...]]:
    """The study's knots that may be a site's space, the finest first.

    >>> [len(each) for each in ladder_of(Knots(tuple(float(i) for i in range(49))))]
    [49, 25, 13]
    """
    for pieces in reversed(NESTED):
        if pieces >= COARSEST:
            yield tuple(spline(knots, pieces).knots.tolist())


def space_of(straight: Floats, ladder: Iterable[tuple[float, ...]], least: int) -> Coarse:
    """The space of curves at these values, whatever is asked for: columns on the first knots of the ``ladder`` that part no few rows, or,
    where all do, as many of the site's own as it has clumps, up to :data:`MOST_OWN`.

    >>> ladder = [(-1.0, -0.5, 0.0, 0.5, 1.0), (-1.0, 0.0, 1.0)]
    >>> space_of(np.linspace(-1.0, 1.0, 401), ladder, 5).knots, space_of(np.linspace(-1.0, 1.0, 40), ladder, 5).knots
    ((-1.0, -0.5, 0.0, 0.5, 1.0), (-1.0, 0.0, 1.0))
    >>> own = space_of(np.linspace(0.0, 0.2, 40), ladder, 5)
    >>> own.powers, len(own.knots), own.size
    (2, 5, 8)
    """
    bounds = clump_bounds(straight, least)
    curved = len(bounds) + 1 - STRAIGHT
    for knots in ladder:
        if TWO_KNOTS <= len(knots) <= curved and not parts_few(straight, knots, least):
            return Coarse(0.0, 1.0, 1, knots, None, _ends(straight, bounds, least))
    return _own(straight, bounds, min(curved, MOST_OWN), least)


def coarse_curves(straight: Floats, knots: tuple[float, ...], least: int, most: int, space: Coarse | None = None) -> Coarse | None:
    """What becomes of the curves on ``knots`` at these values, with ``most`` columns in all; None where there are none.

    ``space`` is what the site has for these values (None: it has seen no other knots).

    >>> u = np.linspace(-1.0, 1.0, 401)
    >>> as_they_are = coarse_curves(u, (-1.0, -0.5, 0.0, 0.5, 1.0), 5, 80)
    >>> as_they_are.turn is None, as_they_are.clipped
    (True, (-0.9765625, 0.9765625))
    >>> around_one_row = coarse_curves(u[::10], (0.02, 0.025, 0.03), 5, 8)
    >>> around_one_row.powers, len(around_one_row.knots)
    (2, 5)
    """
    if len(knots) < TWO_KNOTS:
        return None
    space = space_of(straight, (knots,), least) if space is None else space
    if len(knots) + STRAIGHT <= most and _nested(knots, space):
        return Coarse(0.0, 1.0, 1, knots, None, space.clipped)
    law = law_of(straight, knots)
    if most >= space.size:
        return space._replace(turn=fitted(space.own, lambda u: curves_on(knots, u), law))
    fewer = _own(straight, clump_bounds(straight, least), most - STRAIGHT, least)
    turn = fitted(fewer.own, lambda u: curves_on(knots, u), law)
    # a line is in every space; fewer curves of the site's own are not in that of more, but their fits are
    return fewer._replace(turn=turn) if fewer.size <= STRAIGHT else space._replace(turn=fitted(space.own, fewer.own, law) @ turn)


def _nested(knots: tuple[float, ...], space: Coarse) -> bool:
    """True if curves on these knots are combinations of those in the space.

    B-splines on some of the knots are combinations of those on all of them. The first and the last, which are no columns, have no part in
    it where the outermost knots are the same: all others are zero there.
    """
    return space.turn is None and {knots[0], knots[-1]} == {space.knots[0], space.knots[-1]} and set(knots) <= set(space.knots)


def _own(straight: Floats, bounds: Floats, curved: int, least: int) -> Coarse:
    """A line and so many curved columns of the site's own."""
    middle = float(straight.mean())
    width = float(np.abs(straight - middle).max(initial=0.0)) or 1.0
    if curved < 1:
        return Coarse(middle, width, 1, (), np.empty((0, 0)))
    if curved < CUBIC:  # powers rise from one end to the other
        return Coarse(middle, width, 1 + curved, (), np.empty((0, 0)), _ends(straight, bounds[[0, -1]], least))
    chosen = tuple(bounds[np.linspace(0, len(bounds) - 1, curved - 1).round().astype(np.intp)].tolist())
    return Coarse(middle, width, 2, chosen, np.empty((0, 0)), _ends(straight, bounds, least))


def _ends(straight: Floats, bounds: Floats, least: int) -> tuple[float, float]:
    """The values between which curves are told apart: with many rows, ``least`` of them lie beyond either."""
    return -_end(-straight, -bounds[::-1], least), _end(straight, bounds, least)


def _end(straight: Floats, bounds: Floats, least: int) -> float:
    """The upper of the two: no row's own value, and none at all where every row may count as lying where it lies."""
    beyond = max(1, min(least, len(straight) // ROWS_PER_END))
    base = float(bounds[-min(len(bounds), 2)])
    ordered = np.sort(straight)[::-1]
    rise = ordered[ordered > base]
    far = next((i for i in range(min(len(rise), 2 * least)) if _rises(rise, i, base) >= least), len(rise) - 1)
    last = max(beyond - 1, far)
    if last == 0:
        return np.inf
    below = ordered[ordered < ordered[last]]
    return plain_between(float(below[0]), float(ordered[last])) if len(below) else float(ordered[last])


def _rises(rise: Floats, i: int, base: float) -> float:
    """How many rows are in what rises from ``base``, where those beyond the ``i``-th count as lying there."""
    return float(effective_rows(np.minimum(rise, rise[i])[:, None], np.array([base]))[0])


def coarse_features(straight: Floats, knots: tuple[float, ...], least: int, space: Coarse | None = None) -> Coarse | None:
    """What becomes of curves of a response, which are constant beyond the outermost of ``knots``; None where there are none.

    Where few rows lie between the knots, powers of the values between the outermost clumps, beyond which there are enough rows. In any case
    their fit in the ``space`` of curves of the number, which is one for all that a site tells of it.

    >>> u = np.linspace(-1.0, 1.0, 40)
    >>> found = coarse_features(u, (-0.9, 0.0, 0.9), 5)
    >>> found.columns(u).shape, found.knots == space_of(u, (), 5).knots
    ((40, 3), True)
    """
    if len(knots) < TWO_KNOTS:
        return None
    bounds, law = clump_bounds(straight, least), law_of(straight, knots)
    space = space_of(straight, (), least) if space is None else space
    _, _, inside = _between(straight, knots)
    curved = min(len(bounds) + 1 - STRAIGHT, len(knots))
    if len(knots) <= curved and (inside >= 2 * least).all():
        return space._replace(turn=fitted(space.own, lambda u: curves_on(knots, np.clip(u, knots[0], knots[-1])), law))
    found = _own(straight, bounds, 0, least)
    if curved >= 1:
        found = found._replace(powers=min(1 + curved, CUBIC), clipped=(float(bounds[0]), float(bounds[-1])))
    turn = fitted(found.own, lambda u: curves_on(knots, np.clip(u, knots[0], knots[-1])), law)
    return space._replace(turn=fitted(space.own, found.own, law) @ turn)


def law_of(straight: Floats, knots: tuple[float, ...]) -> Floats:
    """Points of a logistic law about the centre of the values, by their middle half: what a fit is over, so that it is not over rows.

    Of the points those between the outermost ``knots``, beyond which nothing bends, if these are most of them.

    >>> law_of(np.linspace(-1.0, 1.0, 41), (-4.0, 4.0)).round(2)[[0, 64, 128, 192, 255]]
    array([-3.12, -0.54,  0.  ,  0.56,  3.12])
    >>> law_of(np.linspace(-1.0, 1.0, 41), (-1.0, 0.0, 1.0)).round(2)[[0, -1]]
    array([-0.98,  0.98])
    """
    ordered, n = np.sort(straight), len(straight)
    middle = ordered[n // 4 : n - n // 4]
    centre = float(middle.mean()) if n else 0.0
    scale = float(np.abs(middle - centre).mean()) / WITHIN_HALF if n else 0.0
    if scale <= 0.0:
        scale = float(straight.std()) if n else 0.0
    share = (np.arange(POINTS) + 0.5) / POINTS
    found: Floats = centre + (scale or 1.0) * np.log(share / (1.0 - share))
    inside = found[(found >= knots[0]) & (found <= knots[-1])]
    return inside if 2 * len(inside) > len(found) else found


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
