"""Knots of continuous variables and scores of ordered levels, once for a study: up to three rounds.

What has been decided on the way, where to look and between which values to count, is kept: sites answer that once, and a run that begins
again, with fewer sites perhaps, goes on where the last one stood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from consilience.data.responses import mid_ranks
from consilience.data.spline import LADDER, Knots
from consilience.federation.exchange.batch import Rounds
from consilience.federation.exchange.knots import coarse_edges, fine_edges, knots_from, lie_apart, n_cells
from consilience.federation.exchange.sums import Sums
from consilience.protocol.grid import Cells, Grid
from consilience.protocol.place import Place
from consilience.protocol.single import SingleRequest

__all__ = ["FEWEST_CELLS", "find_knots"]

Asked = Callable[[SingleRequest], SingleRequest]
FEWEST_CELLS = 3
"""With fewer cells in the second look than this, the first look says as much."""


def find_knots(curved: Sequence[str], scored: Sequence[str], sums: Sums, asked: Asked) -> Rounds:
    """Quantiles of continuous variables, by a first look that widens outwards, then by cells that hold equal shares; scores of levels.

    Of a variable that too few sites measure nothing is asked: no test over several sites has it.
    """
    found = sums.residual
    names, levels = _allowed(curved, found.knots, sums), _allowed(scored, found.scores, sums)
    new = tuple(name for name in names if name not in found.placed)
    if new:
        place = Place(new, sums.exponents or {})
        found.placed |= place.read((yield asked(place)), sums.schema)
    for name in names:
        if found.placed[name].spread <= 0.0:
            found.knots[name] = Knots((found.placed[name].centre,) * (LADDER + 1))
    names = tuple(name for name in names if name not in found.knots)
    new = tuple(name for name in names if name not in found.cells)
    if new or levels:
        both = [Cells.of(n, coarse_edges(found.placed[n], centred=c), centred=c) for n in new for c in (False, True)]
        look = Grid(tuple(both), False, levels)
        counted = look.read((yield asked(look)), sums.schema)
        found.scores |= {name: mid_ranks(counts.tolist()) for name, counts in counted.levels.items()}
        for i, name in enumerate(new):
            centred = lie_apart(counted.cells[2 * i])
            cells, counts = both[2 * i + centred], counted.cells[2 * i + centred]
            n = n_cells(sums.rows((name,)), sums.options.disclosure.min_rows)
            edges = fine_edges(cells.bounds, counts, n) if n >= FEWEST_CELLS else np.empty(0)
            if len(edges) >= FEWEST_CELLS - 1:
                found.cells[name] = Cells.of(name, edges, centred=centred)
            else:
                found.knots[name] = knots_from(cells.bounds, counts, centred=centred)
    fine = tuple(found.cells[name] for name in names if name not in found.knots)
    if fine:
        request = Grid(fine, True)
        closer = request.read((yield asked(request)), sums.schema)
        for cells, counts in zip(fine, closer.cells, strict=True):
            found.knots[cells.variable] = knots_from(cells.bounds, counts, centred=cells.centred)


def _allowed(names: Iterable[str], known: Iterable[str], sums: Sums) -> tuple[str, ...]:
    limits, there = sums.options.disclosure, set(known)
    return tuple(n for n in names if n not in there and not sums.refusal((n,)) and not limits.alone(sums.counts[n,][0]))
