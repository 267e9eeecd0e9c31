"""How the edges of a drawing run: curves between boxes that keep clear of other boxes and of each other's marks.

An edge is a quadratic Bézier curve between points inside its two boxes, straight unless it would run into a third box or another
edge's mark. What can be seen of it lies between the borders, which :meth:`Box.distance` knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from consilience.graph.drawing.crowding import CLEARANCE

__all__ = ["MARK", "Box", "along", "distances", "leaving_boxes", "leaving_points", "points_at", "points_of", "routes"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

MARK = 11.5
"""Length of the longest mark, an arrowhead."""


class Box(NamedTuple):
    """A box around a node: its centre, half its width and height, and the radius of its corners.

    >>> Box(0.0, 0.0, 20.0, 10.0, 5.0).distance(np.array([[0.0, 0.0], [30.0, 0.0]])).tolist()
    [-10.0, 10.0]
    """

    x: float
    y: float
    wide: float
    high: float
    corner: float

    def distance(self, points: Floats) -> Floats:
        """Distances of points from the border, negative inside."""
        found: Floats = distances(np.array([self]), points[None])[0]
        return found


def distances(boxes: Floats, points: Floats) -> Floats:
    """Distances of points from the borders of boxes: of each row of points from the box of that row, negative inside.

    >>> distances(np.array([[0.0, 0.0, 20.0, 10.0, 5.0]]), np.array([[[0.0, 0.0], [30.0, 0.0]]])).tolist()
    [[-10.0, 10.0]]
    """
    x, y, wide, high, corner = boxes.T.reshape(5, -1, *(1,) * (points.ndim - 2))
    dx, dy = np.abs(points[..., 0] - x) - (wide - corner), np.abs(points[..., 1] - y) - (high - corner)
    return np.asarray(np.hypot(np.maximum(dx, 0.0), np.maximum(dy, 0.0)) + np.minimum(np.maximum(dx, dy), 0.0) - corner)


def _towards(boxes: Floats, others: Floats) -> Floats:
    """Where straight edges to other boxes start: at the centre, moved a bit if the box is long."""
    room = boxes[:, 2:4] - boxes[:, 4:]
    return np.asarray(boxes[:, :2] + 0.5 * np.clip(others[:, :2] - boxes[:, :2], -room, room))


_STEPS = np.linspace(0.0, 1.0, 41)  # of an edge of usual length, a point every two or three pixels
_WEIGHTS = np.stack([(1.0 - _STEPS) ** 2, 2.0 * _STEPS * (1.0 - _STEPS), _STEPS**2], axis=1)
_STRAIGHT = (0.0, 0.5)
_BENDS = np.array([_STRAIGHT, *((s * bend, skew) for bend in (0.07, 0.13, 0.22, 0.34, 0.5) for skew in (0.5, 0.3, 0.7) for s in (1, -1))])
"""Candidates: how far the middle of a curve is off the straight line, as a share of its length, and where along it."""
_LEAST = 2.4 * 0.07  # what the slightest bend costs: with no more than that in its way, an edge that heeds boxes alone stays straight
_ROOM = 10.0  # between the centre of a mark and another edge
_EFFORT = 1000  # curves against which bent ones are compared, in all
_MANY = 120  # edges beyond which there is no room for all marks: what bends for one is in the way of the next


class _Curves(NamedTuple):
    """Curves in the first dimension: their control points, points on what can be seen, the middles of their marks, how bent they are."""

    control: Floats
    points: Floats
    marks: Floats
    bent: Floats

    def take(self, rows: Ints) -> _Curves:
        """Some of the curves."""
        return _Curves(*(part[rows] for part in self))


def routes(boxes: Sequence[Box], ends: Sequence[tuple[int, int]]) -> Floats:
    """Control points of every edge. Edges start straight; those that run into something take the best curve, given the others.

    The worst come first. When there are so many edges that this takes too long, the rest only keep clear of boxes.

    >>> row = [Box(x, 0.0, 15.0, 15.0, 15.0) for x in (0.0, 100.0, 200.0)]
    >>> (routes(row, [(0, 1), (1, 2), (0, 2)])[:, 1, 1] != 0.0).tolist()  # the last bends around the box in the middle
    [False, False, True]
    """
    if not ends:
        return np.zeros((0, 3, 2))
    around, of = np.array(boxes), np.array(ends)
    drawn = _curves(around[of[:, 0]], around[of[:, 1]], np.tile(_STRAIGHT, (len(ends), 1)))
    blocked = _blocked(drawn, around)
    blocked[of.T, np.arange(len(ends))] = 0.0  # an edge is not in the way of its own boxes
    at_boxes = blocked.sum(axis=0)
    crowded = len(ends) > _MANY
    trouble = at_boxes if crowded else at_boxes + _at_marks(drawn)
    worst = sorted(np.flatnonzero(trouble > 0.1).tolist(), key=lambda e: (-round(float(trouble[e]), 6), e))
    for turn, e in enumerate(worst * 2):  # twice: what bends may make room for what has bent before it
        hurried = crowded or turn * len(ends) > _EFFORT
        if hurried and turn >= len(worst):
            break
        if hurried and at_boxes[e] <= _LEAST:
            continue
        others = None if hurried else drawn.take(np.flatnonzero(np.arange(len(ends)) != e))
        best = _best_curve(around, ends[e], others)
        for part, chosen in zip(drawn, best, strict=True):
            part[e] = chosen[0]
    return drawn.control


def _best_curve(boxes: Floats, ends: tuple[int, int], others: _Curves | None) -> _Curves:
    a, b = (np.repeat(boxes[end, None], len(_BENDS), axis=0) for end in ends)
    tried = _curves(a, b, _BENDS)
    cost = _blocked(tried, np.delete(boxes, ends, axis=0)).sum(axis=0) + tried.bent
    if others is not None:
        cost += 2.0 * _near_marks(tried, others)
        promising = np.argsort(np.round(cost, 6), kind="stable")[:12]  # crossings are slow to count
        tried, cost = tried.take(promising), cost[promising]
        cost += 0.7 * _crossings(tried, others)
    return tried.take(np.argmin(np.round(cost, 6), keepdims=True))


def _curves(a: Floats, b: Floats, bends: Floats) -> _Curves:
    """Curves from boxes to boxes, each bent in its way."""
    tail, head = _towards(a, b), _towards(b, a)
    line = head - tail
    normal = np.stack([-line[:, 1], line[:, 0]], axis=1)
    bend, skew = bends.T[..., None]
    control = np.stack([tail, tail + skew * line + 2.0 * bend * normal, head], axis=1)
    all_points = _WEIGHTS @ control
    start, end = _exits(distances(a, all_points)), 1.0 - _exits(distances(b, all_points)[:, ::-1])
    points = along(control, start[:, None] + (end - start)[:, None] * _STEPS)
    mark = 0.5 * MARK * (end - start) / np.hypot(*np.moveaxis(np.diff(points, axis=1), -1, 0)).sum(axis=1)
    marks = along(control, np.stack([start + mark, end - mark], axis=1))
    return _Curves(control, points, marks, 2.4 * np.abs(bends[:, 0]) + 0.1 * np.abs(bends[:, 1] - 0.5))


def _exits(distances: Floats) -> Floats:
    """Where curves that start in a box leave it, from the distances of their points (second dimension) from its border."""
    rows = np.arange(len(distances))
    last = len(_STEPS) - 2 - np.argmax(distances[:, -2::-1] <= 0, axis=1)
    inside, outside = distances[rows, last], distances[rows, last + 1]
    return np.asarray((last + inside / (inside - outside)) * _STEPS[1])


def _blocked(curves: _Curves, boxes: Floats) -> Floats:
    """How much each curve (second dimension) is in the way of each box (first dimension)."""
    space = distances(boxes, np.broadcast_to(curves.points, (len(boxes), *curves.points.shape))).min(axis=2)
    return np.asarray(2.0 * np.clip(1.0 - space / CLEARANCE, 0.0, 2.0) ** 2 + 3.0 * (space < 5.0))


def _at_marks(curves: _Curves) -> Floats:
    """How much each of the curves is in the way of the marks of the others, and they in the way of its marks."""
    n = len(curves.control)
    lacking = np.maximum(1.0 - _gaps(curves, curves.marks.reshape(-1, 2)).reshape(n, n, 2) / _ROOM, 0.0) ** 2
    lacking[np.arange(n), np.arange(n)] = 0.0
    return np.asarray(lacking.sum(axis=(1, 2)) + lacking.sum(axis=(0, 2)))


def _near_marks(curves: _Curves, others: _Curves) -> Floats:
    """How much each curve is in the way of the marks of others, and they in the way of its marks."""
    to_theirs = _gaps(curves, others.marks.reshape(-1, 2))
    to_ours = _gaps(others, curves.marks.reshape(-1, 2))
    lacking = [np.maximum(1.0 - gaps / _ROOM, 0.0) ** 2 for gaps in (to_theirs, to_ours)]
    return np.asarray(lacking[0].sum(axis=1) + lacking[1].sum(axis=0).reshape(-1, 2).sum(axis=1))


def _gaps(curves: _Curves, spots: Floats) -> Floats:
    """The distance of every curve from every spot."""
    x, y = np.moveaxis(curves.points[:, ::2, None], -1, 0)
    dx, dy = np.diff(x, axis=1), np.diff(y, axis=1)
    wx, wy = spots[:, 0] - x[:, :-1], spots[:, 1] - y[:, :-1]
    nearest = np.clip((wx * dx + wy * dy) / (dx**2 + dy**2), 0.0, 1.0)
    return np.asarray(np.sqrt(((wx - nearest * dx) ** 2 + (wy - nearest * dy) ** 2).min(axis=1)))


def _crossings(curves: _Curves, others: _Curves) -> Floats:
    """How many of the others each curve crosses where both can be seen."""
    ours, theirs = (np.moveaxis(one.points[:, ::5], -1, 0) for one in (curves, others))
    (ux, uy), (vx, vy) = np.diff(ours, axis=2)[..., None, None], np.diff(theirs, axis=2)[:, None, None]
    wx, wy = theirs[:, None, None, :, :-1] - ours[:, :, :-1, None, None]
    turn = ux * vy - uy * vx
    with np.errstate(divide="ignore", invalid="ignore"):  # pieces that are parallel
        along, across = (wx * vy - wy * vx) / turn, (wx * uy - wy * ux) / turn
    crossed = (along > 0) & (along < 1) & (across > 0) & (across < 1)
    return np.asarray(crossed.any(axis=(1, 3)).sum(axis=1), dtype=np.float64)


def points_of(curves: Floats) -> Floats:
    """Points along whole curves, one row of them for each; or of one curve.

    >>> points_of(np.array([[0.0, 0.0], [5.0, 5.0], [10.0, 0.0]]))[20].tolist()
    [5.0, 2.5]
    """
    return np.asarray(_WEIGHTS @ curves)


def along(control: Floats, t: Floats) -> Floats:
    """Points of curves (first dimension) at parameters (second dimension)."""
    left, right = 1.0 - t[..., None], t[..., None]
    a, b, c = np.moveaxis(control, 1, 0)[:, :, None]
    return np.asarray(left**2 * a + 2.0 * left * right * b + right**2 * c)


def points_at(curves: Floats, t: Floats) -> Floats:
    """The point of every curve at its parameter.

    >>> points_at(np.array([[[0.0, 0.0], [5.0, 5.0], [10.0, 0.0]]]), np.array([0.5])).tolist()
    [[5.0, 2.5]]
    """
    return along(curves, t[:, None])[:, 0]


def _last(curves: Floats, start: Floats, inside: Callable[[Floats], NDArray[np.bool_]]) -> Floats:
    """The last parameter from ``start`` on at which each curve is inside, to a ten-millionth of its length."""
    rows = np.arange(len(curves))
    low, high = start, np.ones_like(start)
    for _ in range(5):
        steps = np.linspace(low, high, 33, axis=1)
        last = 32 - np.argmax(inside(along(curves, steps))[:, ::-1], axis=1)
        low, high = steps[rows, last], steps[rows, np.minimum(last + 1, 32)]
    return low


def leaving_boxes(curves: Floats, boxes: Sequence[Box], distance: Floats) -> Floats:
    """Where curves that start in boxes are at these distances from their borders.

    >>> curves = np.array([[[0.0, 0.0], [50.0, 0.0], [100.0, 0.0]]])
    >>> leaving_boxes(curves, [Box(0.0, 0.0, 15.0, 15.0, 15.0)], np.array([10.0])).round(6).tolist()
    [0.25]
    """
    rows = np.array(boxes)
    return _last(curves, np.zeros(len(curves)), lambda points: distances(rows, points) <= distance[:, None])


def leaving_points(curves: Floats, t: Floats, distance: Floats) -> Floats:
    """Where curves are at these distances from their points at t.

    >>> leaving_points(np.array([[[0.0, 0.0], [50.0, 0.0], [100.0, 0.0]]]), np.array([0.1]), np.array([20.0])).round(6).tolist()
    [0.3]
    """
    x, y = points_at(curves, t).T[..., None]
    return _last(curves, t, lambda points: np.asarray(np.hypot(points[..., 0] - x, points[..., 1] - y) <= distance[:, None]))
