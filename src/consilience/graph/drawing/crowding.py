"""What makes the layout of a drawing bad, as a number.

It counts crossings, edges that run near a third node, boxes that are too close, edges of unequal length, sharp angles between edges at
a node, arrows that point to the left, and slanted edges. Many layouts are judged at once: x and y have a row for every node and a column
for every layout.

The unit is a crossing, which costs 1; the other weights say how many crossings something is worth. Boxes that touch cost twelve, as
nothing excuses them; an edge through a box up to four; an arrow that points straight to the left 0.6, so that one turns where that is free
and not at the price of a crossing; a slanted edge 0.015, or 0.12 if it is almost straight, which decides between layouts that are equal
otherwise.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["CLEARANCE", "EDGE", "MARGIN", "SHORTEST", "Penalties", "cost_of", "penalties_of"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

EDGE = 76.0
"""How long the visible part of an edge should be."""
SHORTEST = 44.0
"""How long it must be at least, so that the marks at both ends can be told apart."""
MARGIN = 26.0
"""The least space between the boxes of two nodes without an edge."""
CLEARANCE = 13.0
"""The least space between an edge and the box of a third node."""

_SHARP = float(np.cos(np.radians(32.0)))  # edges at a node with a smaller angle than this between them are hard to tell apart


class Penalties(NamedTuple):
    """What may cost something, each row the nodes that it depends on. Found once for a graph; what it costs depends on the layout."""

    crossings: Ints  # edges a–b, c–d without a common node
    passings: Ints  # an edge a–b and a third node
    pairs: Ints
    length: Floats  # of each pair: how far apart its boxes should be
    weight: Floats  # and how much that matters
    margin: Floats  # and how far apart they must be
    angles: Ints  # a node and two of its neighbours
    arrows: Ints  # a, b for edges that point from a to b

    def around(self, node: int) -> Penalties:
        """Those that change when one node moves: with n nodes about 2/n of all, which is what makes the local search fast."""
        kept = (self.pairs == node).any(axis=1)
        crossings, passings, angles, arrows = (
            rows[(rows == node).any(axis=1)] for rows in (self.crossings, self.passings, self.angles, self.arrows)
        )
        return Penalties(crossings, passings, self.pairs[kept], self.length[kept], self.weight[kept], self.margin[kept], angles, arrows)


def penalties_of(adjacent: Bools, half: Floats, forward: Bools, distance: Floats) -> Penalties:
    """The penalties of a connected graph, given the lengths of its shortest paths.

    >>> path = np.array([[False, True, False], [True, False, True], [False, True, False]])
    >>> steps = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    >>> penalties_of(path, np.full((3, 2), 15.0), np.triu(path), steps).angles.tolist()
    [[1, 0, 2]]
    """
    edges = np.argwhere(np.triu(adjacent))
    e, f = np.triu_indices(len(edges), 1)
    crossings = np.concatenate([edges[e], edges[f]], axis=1)
    apart = (crossings[:, :2, None] != crossings[:, None, 2:]).all(axis=(1, 2))
    passings = np.column_stack([np.repeat(edges, len(half), axis=0), np.tile(np.arange(len(half)), len(edges))])
    pairs = np.argwhere(np.triu(np.ones_like(adjacent), 1))
    steps = distance[pairs[:, 0], pairs[:, 1]]
    edge = EDGE * (1.0 + 0.16 * max(2.0 * len(edges) / len(half) - 2.2, 0.0))  # many edges need more room
    at, u, w = np.nonzero(adjacent[:, :, None] & adjacent[:, None, :] & np.triu(np.ones_like(adjacent), 1))
    return Penalties(
        crossings=crossings[apart],
        passings=passings[(passings[:, 2:] != passings[:, :2]).all(axis=1)],
        pairs=pairs,
        length=edge * steps + (steps - 1.0) * 2.0 * half.mean(),
        weight=np.where(steps == 1, 0.3, 0.08) / (edge * steps) ** 2,
        margin=np.where(steps == 1, SHORTEST, MARGIN),
        angles=np.column_stack([at, u, w]),
        arrows=np.argwhere(forward),
    )


def cost_of(x: Floats, y: Floats, half: Floats, penalties: Penalties) -> Floats:
    """How bad each layout is.

    >>> pair = np.array([[False, True], [True, False]])
    >>> penalties = penalties_of(pair, np.full((2, 2), 15.0), np.triu(pair), 1.0 * pair)
    >>> right, left = cost_of(np.array([[0.0, 0.0], [106.0, -106.0]]), np.zeros((2, 2)), np.full((2, 2), 15.0), penalties)
    >>> bool(right < left)  # arrows should point to the right
    True
    """
    total = _crossed(x, y, penalties.crossings).sum(axis=0) + _passed(x, y, half, penalties.passings)
    total += _spread(x, y, half, penalties) + _sharp(x, y, penalties.angles)
    a, b = penalties.arrows.T
    dx, dy = x[b] - x[a], y[b] - y[a]
    backwards = (1.0 - dx / (np.hypot(dx, dy) + 1e-9)).sum(axis=0)
    return np.asarray(total + 0.3 * backwards + 0.1 * _slanted(x, y, penalties))


def _crossed(x: Floats, y: Floats, crossings: Ints) -> Bools:
    """Which edges cross: a + s (b - a) = c + t (d - c) with s and t between 0 and 1, without a division."""
    a, b, c, d = crossings.T
    xa, ya, xc, yc = x[a], y[a], x[c], y[c]
    ux, uy, vx, vy = x[b] - xa, y[b] - ya, x[d] - xc, y[d] - yc
    wx, wy = xc - xa, yc - ya
    turn, along, across = ux * vy - uy * vx, wx * vy - wy * vx, wx * uy - wy * ux
    size = np.abs(turn)
    along, across = along * np.sign(turn), across * np.sign(turn)
    return np.asarray((along > 0) & (along < size) & (across > 0) & (across < size))


def _passed(x: Floats, y: Floats, half: Floats, passings: Ints) -> Floats:
    """Edges near the box of a third node: by separating axes, x, y and the edge's normal."""
    a, b, w = passings.T
    dx, dy = 0.5 * (x[b] - x[a]), 0.5 * (y[b] - y[a])
    mx, my = x[a] + dx - x[w], y[a] + dy - y[w]
    wide, high = half[w, 0, None], half[w, 1, None]
    adx, ady = np.abs(dx), np.abs(dy)
    normal = (np.abs(mx * dy - my * dx) - wide * ady - high * adx) / (np.hypot(dx, dy) + 1e-9)
    space = np.maximum(np.maximum(np.abs(mx) - adx - wide, np.abs(my) - ady - high), normal)
    return np.asarray((np.clip(1.0 - space / CLEARANCE, 0.0, 2.0) ** 2).sum(axis=0))


def _spread(x: Floats, y: Floats, half: Floats, penalties: Penalties) -> Floats:
    """Stress of the visible lengths, and boxes that are too close."""
    i, j = penalties.pairs.T
    dx, dy = np.abs(x[j] - x[i]), np.abs(y[j] - y[i])
    wide, high = (half[i, axis] + half[j, axis] for axis in (0, 1))
    length = np.hypot(dx, dy) + 1e-9
    hidden = length * np.minimum(wide[:, None] / (dx + 1e-9), high[:, None] / (dy + 1e-9))
    visible = np.maximum(length - hidden, -length)
    stress = (penalties.weight[:, None] * (visible - penalties.length[:, None]) ** 2).sum(axis=0)
    space = np.maximum(dx - wide[:, None], dy - high[:, None])
    close = np.maximum(1.0 - space / penalties.margin[:, None], 0.0)
    return np.asarray(stress + 6.0 * (close + close**2).sum(axis=0))


def _slanted(x: Floats, y: Floats, penalties: Penalties) -> Floats:
    """Edges that are neither horizontal nor vertical, most of all those that almost are: they look like an oversight."""
    i, j = penalties.pairs[penalties.margin == SHORTEST].T
    dx, dy = np.abs(x[j] - x[i]), np.abs(y[j] - y[i])
    less = np.minimum(dx, dy)
    return np.asarray(((less > 0) * np.where(less < 0.3 * np.maximum(dx, dy), 1.2, 0.15)).sum(axis=0))


def _sharp(x: Floats, y: Floats, angles: Ints) -> Floats:
    """Small angles between two edges at a node."""
    at, u, w = angles.T
    ux, uy, wx, wy = x[u] - x[at], y[u] - y[at], x[w] - x[at], y[w] - y[at]
    cosine = (ux * wx + uy * wy) / (np.hypot(ux, uy) * np.hypot(wx, wy) + 1e-9)
    return np.asarray((np.maximum((cosine - _SHARP) / (1.0 - _SHARP), 0.0) ** 2).sum(axis=0))
