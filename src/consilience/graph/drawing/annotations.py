"""Short notes beside the edges of a drawing: where they stand clear of boxes, lines and each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from consilience.graph.drawing.routing import Box, along, distances, leaving_boxes, points_of

__all__ = ["place_notes"]

Floats: TypeAlias = NDArray[np.float64]

_PLACES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)
"""Along what can be seen of an edge; the first that are free are taken."""
_GAPS = (4.0, 9.0)
"""Between a note and its edge."""
_AIR = 2.5
"""Between a note and anything else."""


def place_notes(
    boxes: Sequence[Box], ends: Sequence[tuple[int, int]], curves: Floats, sizes: Mapping[int, tuple[float, float]]
) -> dict[int, Box]:
    """A box for the note of every edge that has one: ``sizes`` gives half its width and height by the number of the edge.

    >>> boxes = [Box(x, 0.0, 15.0, 15.0, 15.0) for x in (0.0, 100.0)]
    >>> place_notes(boxes, [(0, 1)], np.array([[[0.0, 0.0], [50.0, 0.0], [100.0, 0.0]]]), {0: (12.0, 6.0)})
    {0: Box(x=50.0, y=-10.0, wide=12.0, high=6.0, corner=0.0)}
    """
    points = points_of(curves)
    placed: dict[int, Box] = {}
    noted = list(sizes)
    touch = np.zeros(len(noted))
    starts = leaving_boxes(curves[noted], [boxes[ends[edge][0]] for edge in noted], touch) if noted else touch
    backs = leaving_boxes(curves[noted][:, ::-1], [boxes[ends[edge][1]] for edge in noted], touch) if noted else touch
    for turn, (edge, (wide, high)) in enumerate(sizes.items()):
        start, end = starts[turn], 1.0 - backs[turn]
        tried = [
            (Box(x, y, wide, high, 0.0), 0.1 * away + 0.15 * far)
            for far, gap in enumerate(_GAPS)
            for away, place in enumerate(_PLACES)
            for x, y in _beside(curves[edge], start + place * (end - start), wide, high, gap)
        ]
        costs = _trouble([note for note, _ in tried], [*boxes, *placed.values()], points) + [dear for _, dear in tried]
        placed[edge] = tried[int(np.argmin(np.round(costs, 6)))][0]
    return placed


def _beside(curve: Floats, t: float, wide: float, high: float, gap: float) -> list[tuple[float, float]]:
    """Centres of a box on either side of the curve at t, first above."""
    before, here, after = along(curve[None], np.array([[t - 0.01, t, t + 0.01]]))[0]
    direction = (after - before) / max(float(np.hypot(*(after - before))), 1e-9)
    normal = np.array([direction[1], -direction[0]])
    if (normal[1], normal[0]) > (1e-9, 0.0):
        normal = -normal
    off = gap + wide * abs(normal[0]) + high * abs(normal[1])
    return [(round(float(x), 2), round(float(y), 2)) for x, y in (here + off * normal, here - off * normal)]


def _trouble(notes: Sequence[Box], boxes: Sequence[Box], points: Floats) -> Floats:
    """How much stands in the way of a note in each of these places: boxes and other notes that it touches count most, then lines."""
    tried, others = np.array(notes), np.array(boxes)
    apart = np.abs(tried[:, None, :2] - others[:, :2]) - tried[:, None, 2:4] - others[:, 2:4]
    space = apart.max(axis=2)
    # Of several bad places the least bad is taken: what is covered counts by how much, a line through a note less than any box, and a
    # place far from the middle (0.1 a step, above) only where everything else is equal.
    touched = np.where(space < _AIR, 10.0 + np.minimum(-space, 20.0), 0.0).sum(axis=1)
    reach = tried[:, 2:4] + _AIR
    low, high = (tried[:, :2] - reach).min(axis=0), (tried[:, :2] + reach).max(axis=0)
    near = points[((points >= low) & (points <= high)).all(axis=2).any(axis=1)]  # lines farther away count nothing
    spaces = distances(tried, np.broadcast_to(near, (len(tried), *near.shape))).min(axis=2)
    return np.asarray(touched + 3.0 * np.clip(1.0 - spaces / _AIR, 0.0, 3.0).sum(axis=1))
