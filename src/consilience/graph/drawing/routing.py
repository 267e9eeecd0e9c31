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

__all__ = ["MARK", "Box", "along", "leaving_box", "leaving_point", "point_at", "points_of", "routes"]

Floats: TypeAlias = NDArray[np.float64]

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
        beyond = np.abs(points - (self.x, self.y)) - (self.wide - self.corner, self.high - self.corner)
        outside = np.maximum(beyond, 0.0)
        return np.asarray(np.hypot(outside[..., 0], outside[..., 1]) + np.minimum(beyond.max(axis=-1), 0.0) - self.corner)

    def towards(self, other: Box) -> Floats:
        """Where a straight edge to another box starts: its centre, moved a bit if the box is long."""
        room = np.array([self.wide - self.corner, self.high - self.corner])
        return np.array([self.x, self.y]) + 0.5 * np.clip([other.x - self.x, other.y - self.y], -room, room)


_STEPS = np.linspace(0.0, 1.0, 41)  # of an edge of usual length, a point every two or three pixels
_WEIGHTS = np.stack([(1.0 - _STEPS) ** 2, 2.0 * _STEPS * (1.0 - _STEPS), _STEPS**2], axis=1)
_STRAIGHT = [(0.0, 0.5)]
_BENDS = [(sign * bend, skew) for bend in (0.07, 0.13, 0.22, 0.34, 0.5) for skew in (0.5, 0.3, 0.7) for sign in (1, -1)]
"""Candidates: how far the middle of a curve is off the straight line, as a share of its length, and where along it."""
_ROOM = 10.0  # between the centre of a mark and another edge
_EFFORT = 1000  # curves against which bent ones are compared, in all


class _Curves(NamedTuple):
    """Curves in the first dimension: their control points, points on what can be seen, the middles of their marks, how bent they are."""

    control: Floats
    points: Floats
    marks: Floats
    bent: Floats

    def take(self, rows: list[int]) -> _Curves:
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
    drawn = _Curves(*map(np.concatenate, zip(*(_curves(boxes[a], boxes[b], _STRAIGHT) for a, b in ends), strict=True)))
    others = [[f for f in range(len(ends)) if f != e] for e in range(len(ends))]
    trouble = []
    for e, pair in enumerate(ends):
        straight = drawn.take([e])
        trouble.append(float(_near_boxes(straight, boxes, pair)[0] + _near_marks(straight, drawn.take(others[e]))[0]))
    worst = sorted((e for e in range(len(ends)) if trouble[e] > 0.1), key=lambda e: (-round(trouble[e], 6), e))
    for turn, e in enumerate(worst * 2):  # twice: what bends may make room for what has bent before it
        hurried = turn * len(ends) > _EFFORT
        if hurried and turn >= len(worst):
            break
        best = _best_curve(boxes, ends[e], None if hurried else drawn.take(others[e]))
        for part, chosen in zip(drawn, best, strict=True):
            part[e] = chosen[0]
    return drawn.control


def _best_curve(boxes: Sequence[Box], ends: tuple[int, int], others: _Curves | None) -> _Curves:
    tried = _curves(boxes[ends[0]], boxes[ends[1]], _STRAIGHT + _BENDS)
    cost = _near_boxes(tried, boxes, ends) + tried.bent
    if others is not None:
        cost += 2.0 * _near_marks(tried, others)
        promising = np.argsort(np.round(cost, 6), kind="stable")[:12].tolist()  # crossings are slow to count
        tried, cost = tried.take(promising), cost[promising]
        cost += 0.7 * _crossings(tried, others)
    return tried.take([int(np.argmin(np.round(cost, 6)))])


def _curves(a: Box, b: Box, bends: Sequence[tuple[float, float]]) -> _Curves:
    tail, head = a.towards(b), b.towards(a)
    line = head - tail
    normal = np.array([-line[1], line[0]])
    control = np.array([[tail, tail + skew * line + 2.0 * bend * normal, head] for bend, skew in bends])
    all_points = _WEIGHTS @ control
    start, end = _exits(a.distance(all_points)), 1.0 - _exits(b.distance(all_points)[:, ::-1])
    points = along(control, start[:, None] + (end - start)[:, None] * _STEPS)
    mark = 0.5 * MARK * (end - start) / np.hypot(*np.moveaxis(np.diff(points, axis=1), -1, 0)).sum(axis=1)
    marks = along(control, np.stack([start + mark, end - mark], axis=1))
    bent = np.array([2.4 * abs(bend) + 0.1 * abs(skew - 0.5) for bend, skew in bends])
    return _Curves(control, points, marks, bent)


def _exits(distances: Floats) -> Floats:
    """Where curves that start in a box leave it, from the distances of their points (second dimension) from its border."""
    rows = np.arange(len(distances))
    last = len(_STEPS) - 2 - np.argmax(distances[:, -2::-1] <= 0, axis=1)
    inside, outside = distances[rows, last], distances[rows, last + 1]
    return np.asarray((last + inside / (inside - outside)) * _STEPS[1])


def _near_boxes(curves: _Curves, boxes: Sequence[Box], ends: tuple[int, int]) -> Floats:
    """How much each curve is in the way of boxes that are not its own."""
    others = [box for node, box in enumerate(boxes) if node not in ends]
    if not others:
        return np.zeros(len(curves.control))
    x, y, wide, high, corner = np.array(others).T[:, :, None, None]
    # Box.distance of all boxes at once: of thirty there is more calling than computing otherwise
    dx = np.abs(curves.points[..., 0] - x) - (wide - corner)
    dy = np.abs(curves.points[..., 1] - y) - (high - corner)
    distances = np.hypot(np.maximum(dx, 0.0), np.maximum(dy, 0.0)) + np.minimum(np.maximum(dx, dy), 0.0) - corner
    space = distances.min(axis=2)
    return np.asarray((2.0 * np.clip(1.0 - space / CLEARANCE, 0.0, 2.0) ** 2 + 3.0 * (space < 5.0)).sum(axis=0))


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


def point_at(curve: Floats, t: float) -> Floats:
    """The point of one curve at one parameter."""
    return np.asarray(along(curve[None], np.array([[t]]))[0, 0])


def _last(curve: Floats, start: float, inside: Callable[[Floats], NDArray[np.bool_]]) -> float:
    """The last parameter from ``start`` on at which the curve is inside, to a ten-millionth of its length."""
    low, high = start, 1.0
    for _ in range(5):
        steps = np.linspace(low, high, 33)
        last = int(np.flatnonzero(inside(along(curve[None], steps[None])[0]))[-1])
        low, high = float(steps[last]), float(steps[min(last + 1, 32)])
    return low


def leaving_box(curve: Floats, box: Box, distance: float) -> float:
    """Where a curve that starts in the box is at this distance from its border."""
    return _last(curve, 0.0, lambda points: box.distance(points) <= distance)


def leaving_point(curve: Floats, t: float, distance: float) -> float:
    """Where the curve is at this distance from its point at t."""
    x, y = point_at(curve, t)
    return _last(curve, t, lambda points: np.asarray(np.hypot(points[:, 0] - x, points[:, 1] - y) <= distance))
