"""Knots from counts: where to count, and what quantiles the counts say. Pure functions of sums over sites."""

from __future__ import annotations

import numpy as np

from consilience.data.spline import LADDER, Knots
from consilience.glm.kernel import Floats
from consilience.protocol.guard import MOST_CELLS
from consilience.protocol.place import Placed

__all__ = ["coarse_edges", "fine_edges", "knots_from", "lie_apart", "n_cells"]

REACH = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
"""Bounds of the first look at a variable, in spreads from the centre."""
APART = 0.2
"""Where so many rows lie more than sixteen spreads from the sites' mean centre, sites have no range in common, or a unit is wrong."""
ROWS_PER_CELL = 20
"""Cells of the second look: each holds so many rows on average, or twice ``min_rows`` where that is more."""
TAIL = 2.0
"""How far beyond the outermost bound the last knots lie, in widths of the cell next to it."""


def coarse_edges(placed: Placed, *, centred: bool) -> Floats:
    """Bounds of the first look: dense in the middle, each cell outside twice as wide as the one before.

    >>> coarse_edges(Placed(2, 10.0, 1.0), centred=False)[6:10]
    array([ 9.5, 10. , 10.5, 11. ])
    """
    steps = np.concatenate([-REACH[:0:-1], REACH]) * placed.spread
    edges: Floats = steps if centred else placed.centre + steps
    return np.unique(edges)


def lie_apart(counts: Floats) -> bool:
    """True if sites lie so far apart that they have no values in common; ``counts`` are of the first look, not centred.

    >>> lie_apart(np.array([50.0] + [0.0] * 14 + [50.0]))
    True
    """
    return len(counts) < 2 * len(REACH) or float(counts[:2].sum() + counts[-2:].sum()) > APART * max(float(counts.sum()), 1.0)


def n_cells(rows: int, min_rows: int) -> int:
    """Cells of the second look at a variable with so many rows.

    >>> n_cells(400, 10), n_cells(60, 10), n_cells(10**6, 10)
    (20, 3, 96)
    """
    return min(MOST_CELLS, rows // max(ROWS_PER_CELL, 2 * min_rows))


def fine_edges(edges: Floats, counts: Floats, cells: int) -> Floats:
    """Bounds of cells that hold equal shares, by what the first look says."""
    bounds, cumulative = _cumulative(edges, counts)
    found = np.interp(np.linspace(0.0, 1.0, cells + 1)[1:-1], cumulative, bounds)
    gap = 1e-9 * float(edges[-1] - edges[0])
    kept = [float(found[0])]
    for edge in found[1:].tolist():
        if edge - kept[-1] > gap:
            kept.append(edge)
    return np.array(kept)


def knots_from(edges: Floats, counts: Floats, *, centred: bool) -> Knots:
    """The quantiles that counts between bounds say.

    >>> knots = knots_from(np.array([1.0, 2.0, 3.0]), np.array([12.0, 12.0, 12.0, 12.0]), centred=False)
    >>> knots.ladder[0], knots.ladder[24], knots.ladder[-1]
    (-1.0, 2.0, 5.0)
    """
    bounds, cumulative = _cumulative(edges, counts)
    ladder = np.interp(np.linspace(0.0, 1.0, LADDER + 1), cumulative, bounds)
    return Knots(tuple(np.maximum.accumulate(ladder).tolist()), centred)


def _cumulative(edges: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Bounds with ends, and the share of rows below each. The open cells end at some widths of their neighbours."""
    if len(edges) == 1:
        return np.array([edges[0] - 1.0, edges[0], edges[0] + 1.0]), np.array([0.0, 0.5, 1.0])
    first, last = np.flatnonzero(counts > 0)[[0, -1]] if counts.any() else (0, len(counts) - 1)
    low = edges[0] - TAIL * (edges[1] - edges[0]) if first == 0 else edges[first - 1]
    high = edges[-1] + TAIL * (edges[-1] - edges[-2]) if last == len(counts) - 1 else edges[last]
    inner = edges[first:last]
    shares = np.cumsum(counts)[first:last] / max(float(counts.sum()), 1.0)
    return np.concatenate([[low], inner, [high]]), np.concatenate([[0.0], shares, [1.0]])
