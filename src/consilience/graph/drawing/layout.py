"""Where the nodes of a drawing stand.

Nodes are boxes, given by half their width and height; lengths are in pixels, x to the right and y down. Every component is placed on
its own, then the components are packed side by side. For one component:

1. Starts: a circle whose order has few crossings, layers along the arrows, and random points.
2. Stress majorisation (Gansner, Koren & North 2004): distances on the page follow distances in the graph.
3. Of all rotations and reflections of these, the best few by their cost (``crowding``).
4. Local search on a lattice: each node in turn moves to the best of some near and far points, until none moves.

With very many edges the circle is taken as it is. The same input gives the same positions: random points come from a fixed seed.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from consilience.graph.drawing.crowding import MARGIN, SHORTEST, Penalties, cost_of, penalties_of

__all__ = ["place", "separate"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

LATTICE = 10.0
"""Nodes stand on a lattice, so that those in a row or a column stand there exactly."""

_SLACK = 0.01  # of a pixel, for rounding
_EFFORT = 2500  # penalties times starts that the local search improves: ten nodes get all 12, twenty get 4
_SWEEPS = 14  # sparse graphs stand still after 5 to 12; a bound for the others
_SWEPT = 20_000  # crossings beyond which one sweep over the nodes of a circle must do
_CROWDED = 8000  # crossings and passings, as of 20 nodes with 120 edges: a search of four seconds no more readable than a circle


def place(adjacent: Bools, half: Floats, forward: Bools) -> Floats:
    """Positions of the centres of boxes with these half widths and heights; ``forward[i, j]`` if the edge i–j points to j.

    >>> adjacent = np.array([[False, True], [True, False]])
    >>> place(adjacent, np.full((2, 2), 15.0), np.triu(adjacent)).tolist()
    [[0.0, 0.0], [110.0, 0.0]]
    """
    components = sorted(_components(adjacent), key=lambda members: (-len(members), members.tolist()))
    squares = [np.ix_(members, members) for members in components]
    inner = [_place_component(adjacent[one], half[members], forward[one]) for members, one in zip(components, squares, strict=True)]
    return _pack(list(zip(components, inner, strict=True)), half)


def separate(positions: Floats, adjacent: Bools, half: Floats, *, enlarge: bool = True) -> Floats:
    """Positions of someone's own choice, made larger where that is needed and pushed apart where it is not enough.

    Positions that leave room for every box and every edge stay as they are. Without ``enlarge`` boxes are only pushed apart.

    >>> separate(np.array([[0.0, 0.0], [1.0, 0.0]]), np.ones((2, 2), dtype=bool), np.full((2, 2), 15.0)).tolist()
    [[0.0, 0.0], [103.59, 0.0]]
    """
    i, j = np.triu_indices(len(positions), 1)
    if not len(i):
        return positions
    needed = half[i] + half[j] + np.where(adjacent[i, j], SHORTEST, MARGIN)[:, None]
    if not enlarge:
        return np.round(_push_apart(positions, i, j, needed), 2)
    with np.errstate(divide="ignore"):  # nodes in one row or column
        factors = ((needed - _SLACK) / np.abs(positions[i] - positions[j])).min(axis=1)
    extent = float(np.ptp(positions, axis=0).max()) or 1.0
    # Two nodes that almost coincide would blow the whole picture up; from here on only they are pushed apart.
    largest = max(1.0, 260.0 * len(positions) ** 0.5 / extent)
    factor = float(np.clip(factors.max(), 1.0, largest))
    moved = np.round(positions * (factor if factor < 1.5 else 1.4 * factor), 2)  # in another unit than pixels: not too narrow either
    return _push_apart(moved, i, j, needed)


def _push_apart(positions: Floats, i: Ints, j: Ints, needed: Floats) -> Floats:
    """Move the boxes of each pair that is too close along the axis on which less is missing."""
    moved = positions.copy()
    for _ in range(2000):  # pairs push each other to and fro in a crowd; a bound, lest two do so for ever
        difference = moved[j] - moved[i]
        missing = needed - np.abs(difference)
        close = np.flatnonzero((missing > _SLACK).all(axis=1))
        if not len(close):
            break
        for pair in close:
            axis = int(missing[pair, 1] < missing[pair, 0])
            step = 0.5 * (missing[pair, axis] + 0.2) * (1.0 if difference[pair, axis] >= 0 else -1.0)
            moved[i[pair], axis] -= step
            moved[j[pair], axis] += step
    return moved


# Components


def _components(adjacent: Bools) -> list[Ints]:
    left = np.ones(len(adjacent), dtype=bool)
    found = []
    for node in range(len(adjacent)):
        if left[node]:
            inside = np.zeros(len(adjacent), dtype=bool)
            inside[node] = True
            while (grown := inside | adjacent[inside].any(axis=0)).sum() > inside.sum():
                inside = grown
            left &= ~inside
            found.append(np.flatnonzero(inside))
    return found


def _pack(blocks: list[tuple[Ints, Floats]], half: Floats) -> Floats:
    """Blocks in rows, in the order given, those of single nodes in rows of their own; no row is wider than the whole should be."""
    positions = np.zeros_like(half)
    corners = [((inner - half[members]).min(axis=0), (inner + half[members]).max(axis=0)) for members, inner in blocks]
    sizes = [high - low for low, high in corners]
    connected = [size for (members, _), size in zip(blocks, sizes, strict=True) if len(members) > 1]
    area = sum(float((size + 2.0 * MARGIN).prod()) for size in connected or sizes)
    full = max([1.5 * area**0.5, *(float(size[0]) for size in connected)])
    x = y = height = 0.0
    many = True
    for (members, inner), (low, _), (wide, high) in zip(blocks, corners, sizes, strict=True):
        if x > 0 and (x + wide > full or (many and len(members) == 1)):
            x, y, height = 0.0, y + height + 1.5 * MARGIN, 0.0
        positions[members] = inner - low + (x, y)
        x, height, many = x + wide + 1.5 * MARGIN, max(height, high), len(members) > 1
    return np.round(positions - positions[:1], 2)


# One component


def _place_component(adjacent: Bools, half: Floats, forward: Bools) -> Floats:
    if len(half) == 1:
        return np.zeros((1, 2))
    distance = _distances(adjacent)
    penalties = penalties_of(adjacent, half, forward, distance)
    stretch = penalties.length.min() + 2.0 * half.mean(axis=0)
    size = len(penalties.crossings) + len(penalties.passings)
    crowded = size > _CROWDED or adjacent.sum() > max(0.65 * len(half) ** 2, 20)
    circle = _circle(_circle_order(adjacent, penalties.crossings))
    starts = circle[None] if crowded else _starts(circle, adjacent, forward, distance)
    turned = np.round(_turned(starts, rotations=12 if size < 2000 else 4) * stretch, 3)
    x, y = (np.ascontiguousarray(turned[..., axis].T) for axis in (0, 1))
    # Costs are rounded wherever they are compared: the last bits differ from machine to machine, and ties must not fall with them.
    best = np.argsort(np.round(cost_of(x, y, half, penalties), 6), kind="stable")
    if crowded:
        x, y = x[:, best[:1]], y[:, best[:1]]
    else:
        kept = _distinct(best, len(starts), most=min(max(_EFFORT // (size + 1), 4), 12))
        x, y = (np.round(values[:, kept] / LATTICE) * LATTICE for values in (x, y))
        _improve(x, y, half, penalties)
    winner = int(np.argmin(np.round(cost_of(x, y, half, penalties), 6)))
    i, j = penalties.pairs.T
    return _push_apart(np.stack([x[:, winner], y[:, winner]], axis=1), i, j, half[i] + half[j] + penalties.margin[:, None])


def _distinct(best: Ints, starts: int, most: int) -> list[int]:
    """The best rotation of each start, then the second best, up to so many."""
    kept: list[int] = []
    for _ in range(2):
        seen: set[int] = set()
        for layout in best.tolist():
            if layout % starts not in seen and layout not in kept and len(kept) < most:
                seen.add(layout % starts)
                kept.append(layout)
    return kept


def _distances(adjacent: Bools) -> Floats:
    """Lengths of shortest paths."""
    n = len(adjacent)
    distance = np.where(adjacent, 1.0, np.inf)
    np.fill_diagonal(distance, 0.0)
    for middle in range(n):
        distance = np.minimum(distance, distance[:, middle, None] + distance[None, middle])
    return distance


def _starts(circle: Floats, adjacent: Bools, forward: Bools, distance: Floats) -> Floats:
    """Layouts in units of an edge: circles, and what stress majorisation makes of them, of layers and of random points."""
    n = len(adjacent)
    # Of the circle in the given order only the majorised form is kept: as it is, it has no fewer crossings than the first. Random starts
    # find layouts to which neither circles nor layers lead.
    scattered = np.random.default_rng(n).random((5, n, 2)) * n**0.5
    raw = np.stack([circle, _circle(np.arange(n)), _layers(adjacent, forward), *scattered])
    return np.concatenate([raw[:3:2], _majorised(raw, distance)])


def _circle(order: Ints) -> Floats:
    """Nodes on a circle whose sides are one unit long."""
    n = len(order)
    angle = np.empty(n)
    angle[order] = 2.0 * np.pi * np.arange(n) / n
    points: Floats = np.stack([np.cos(angle), np.sin(angle)], axis=1) / (2.0 * np.sin(np.pi / max(n, 3)))
    return points


def _circle_order(adjacent: Bools, crossings: Ints) -> Ints:
    """An order with few crossings: each node in turn moves to its best place, until none moves."""
    n = len(adjacent)
    order = np.arange(n)
    around = [(crossings[(crossings == node).any(axis=1)], np.flatnonzero(adjacent[node])) for node in range(n)]
    for _ in range(6 if len(crossings) < _SWEPT else 1):
        before = order
        for node, (rows, neighbours) in enumerate(around):
            rest = order[order != node]
            tried = np.stack([np.insert(rest, k, node) for k in range(n)])
            place = np.argsort(tried, axis=1).T.astype(np.int16)  # of every node (row) in every order (column); small, to be compared fast
            a, b, c, d = place[rows.T]
            low, high = np.minimum(a, b), np.maximum(a, b)
            crossed = (((low < c) & (c < high)) != ((low < d) & (d < high))).sum(axis=0)
            apart = np.abs(place[neighbours] - place[node])
            order = tried[int(np.argmin(crossed * n**2 + np.minimum(apart, n - apart).sum(axis=0)))]
        if (order == before).all():
            break
    return order


def _layers(adjacent: Bools, forward: Bools) -> Floats:
    """Columns by the longest chain of arrows that ends in a node; within a column in the order of the neighbours to the left."""
    n = len(adjacent)
    column = np.zeros(n)
    for _ in range(n):  # at most n - 1 rounds without a cycle; with one, the columns are only a start anyway
        column = np.maximum(column, np.where(forward, column[:, None] + 1.0, 0.0).max(axis=0)).clip(max=n - 1)
    row = np.zeros(n)
    for level in np.unique(column):
        members = np.flatnonzero(column == level)
        left = adjacent[members] & (column < level)
        wish = np.where(left, row, 0.0).sum(axis=1) / np.maximum(left.sum(axis=1), 1)
        row[members[np.argsort(np.round(wish, 6), kind="stable")]] = np.arange(len(members)) - (len(members) - 1) / 2.0
    return np.stack([column, row + 0.15 * (column % 2)], axis=1)


def _majorised(layouts: Floats, distance: Floats) -> Floats:
    """Layouts whose distances follow ``distance``: each round minimises a quadratic bound of the stress Σ d⁻² (|x_i - x_j| - d)²."""
    n = len(distance)
    weight = np.divide(1.0, distance**2, out=np.zeros_like(distance), where=distance > 0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.inv(laplacian + 1.0 / n) - 1.0 / n
    moved = layouts
    for _ in range(60):
        lengths = np.hypot(*np.moveaxis(moved[:, :, None] - moved[:, None], -1, 0))
        bound = -weight * distance / np.maximum(lengths, 1e-9)
        bound[:, np.arange(n), np.arange(n)] = 0.0
        bound[:, np.arange(n), np.arange(n)] = -bound.sum(axis=2)
        moved = inverse @ bound @ moved
    return moved


def _turned(layouts: Floats, rotations: int) -> Floats:
    """Every layout with its longer axis in so many directions, each with its mirror image."""
    x, y = np.moveaxis(layouts - layouts.mean(axis=1, keepdims=True), -1, 0)
    # Rounded: a symmetrical layout has no longer axis, and the noise of the last bits must not choose one.
    tilt = 0.5 * np.arctan2(np.round((2.0 * x * y).sum(axis=1), 6), np.round((x**2 - y**2).sum(axis=1), 6))
    angles = tilt + np.arange(rotations)[:, None] * 2.0 * np.pi / rotations
    cosine, sine = np.cos(angles)[..., None], np.sin(angles)[..., None]
    turned = np.stack([x * cosine + y * sine, y * cosine - x * sine], axis=-1)
    return np.stack([turned, turned * (1.0, -1.0)]).reshape(-1, *layouts.shape[1:])


def _improve(x: Floats, y: Floats, half: Floats, penalties: Penalties) -> None:
    """Move nodes of all layouts (columns of x and y) to better places, in place."""
    n, layouts = x.shape
    around = [penalties.around(node) for node in range(n)]
    for sweep in range(_SWEEPS):
        moves = _moves(sweep)
        changed = False
        for node in range(n):
            far_x, far_y = (rows.min(axis=0) + _FAR[:, axis, None] * np.ptp(rows, axis=0) for axis, rows in enumerate((x, y)))
            tried_x = np.concatenate([x[node] + moves[:, :1], np.round(far_x / LATTICE) * LATTICE])
            tried_y = np.concatenate([y[node] + moves[:, 1:], np.round(far_y / LATTICE) * LATTICE])
            many_x, many_y = np.tile(x, len(tried_x)), np.tile(y, len(tried_y))
            many_x[node], many_y[node] = tried_x.ravel(), tried_y.ravel()
            cost = np.round(cost_of(many_x, many_y, half, around[node]).reshape(-1, layouts), 6)
            best = cost.argmin(axis=0)
            changed |= bool(best.any())
            x[node], y[node] = tried_x[best, np.arange(layouts)], tried_y[best, np.arange(layouts)]
        if not changed and sweep >= 4:  # before that the steps are still long, and a shorter one may help
            break


def _moves(sweep: int) -> Floats:
    """No move, and eight directions with two step lengths, which shrink from sweep to sweep."""
    directions = np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]])
    steps = [(8, 4), (6, 3), (4, 2), (3, 1), (2, 1)][min(sweep, 4)]
    return np.concatenate([np.zeros((1, 2)), *(directions * (step * LATTICE) for step in steps)])


_FAR = np.array([[a, b] for a in (-0.1, 0.3, 0.7, 1.1) for b in (-0.1, 0.5, 1.1)])
"""Far points to which a node may leap, as shares of the layout's width and height."""
