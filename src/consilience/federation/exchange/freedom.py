"""Degrees of freedom: how many directions of a predictor's slopes the data speak on, given the others.

With a discrete response the cross-products are not enough. A site whose response never varies fits perfectly whatever the slopes are, and
one that lacks a level says nothing on that level's: a column that varies at such sites only is there, and nobody can tell its slope. What
can be told is the rank of the *information*, and that is a sum over sites which every fit asks for anyway. It is read at the first point
of a fit, where no probability is near zero; at every other point the rank is the same in exact arithmetic. No further number leaves a
site, which would be the price of cross-products over the informative sites alone, for every response and every pattern of levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from consilience.data.design import ModelSpec, column_names
from consilience.data.schema import Schema
from consilience.federation.exchange.likelihood import Sketch
from consilience.glm.gram import estimable
from consilience.glm.kernel import Floats
from consilience.glm.layout import Family, Shape

__all__ = ["degrees", "freedom", "gap_is_open", "slope_positions", "without_faint"]

TIED = 1e-3
"""Slopes of neighbouring thresholds that differ by less than this, in units of the linear predictor per standard deviation, are tied: the
barrier leaves some 1e-5 between those that the order of thresholds holds together, and chance leaves 0.05 and more between others."""
OPEN_GAP = 16.0
"""A gap between two thresholds beyond this runs away: no site has rows on both sides of the level between them. At 16 a row outside that
level is one in three thousand at best; a fit ends with gaps of 30 and more where one runs away."""
FAINT = 1e-7
"""What is left of a column's information where a gap has run away, in squares of its standard deviation per row: below this, none."""


def slope_positions(model: ModelSpec, keep: Sequence[int], shape: Shape, schema: Schema) -> dict[str, list[int]]:
    """Where the slopes of each predictor stand among the parameters of a model."""
    names = column_names(schema, model.predictors)
    found: dict[str, list[int]] = {name: [] for name in model.predictors}
    for block in range(shape.slopes_per_column):
        for place, column in enumerate(keep):
            found[names[column][0]].append(block * len(keep) + place)
    return found


def freedom(info: Floats, slopes: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """For every predictor the rank that its slopes add to the information of all other parameters.

    >>> freedom(np.diag([2.0, 0.0, 1.0]), {"A": [0], "B": [1]})  # nobody has a row that speaks on B; the third is an intercept
    {'A': 1, 'B': 0}
    """
    found = {}
    for name, own in slopes.items():
        others = [i for i in range(len(info)) if i not in set(own)]
        found[name] = sum(i in set(own) for i in estimable(info, [*reversed(others), *own]))
    return found


def gap_is_open(beta: Floats, shape: Shape) -> bool:
    """True if thresholds of a proportional model run apart, so that sites with one middle level have nothing to say any more."""
    if shape.family is not Family.PROPORTIONAL or len(beta) == 0:
        return False
    gaps = np.diff(beta[shape.n_columns : shape.n_shared], prepend=0.0)
    return bool((gaps > OPEN_GAP).any())


def without_faint(info: Floats, shape: Sketch) -> Floats:
    """An information matrix without the slopes of which next to nothing is known."""
    assert shape.shape is not None
    slopes = np.arange(shape.rank)
    faint = slopes[np.diag(info)[slopes] < FAINT * shape.n * shape.spreads**2]
    info = info.copy()
    info[faint, :] = info[:, faint] = 0.0
    return info


def degrees(found: int, own: Sequence[int], beta: Floats, shape: Sketch) -> int:
    """The degrees of freedom of a predictor whose slopes at ``own`` positions have the rank ``found``.

    With a slope per threshold, a site that lacks a level in between holds the thresholds around it together, and so their slopes: the cost
    of taking them apart is of first order. Slopes that are tied in the fit count once, as coefficients at zero do in the lasso.
    """
    if shape.shape is None or shape.shape.family is not Family.GENERALIZED or len(beta) == 0 or found == 0:
        return found
    columns = sorted({i % shape.rank for i in own})
    slopes = beta[: shape.shape.n_shared].reshape(-1, shape.rank)[:, columns] * shape.spreads[columns]
    told = slopes != 0.0  # a slope that no site speaks on stays at its start
    tied = int(((np.abs(np.diff(slopes, axis=0)) < TIED) & told[1:] & told[:-1]).sum())
    return max(found - tied, 1)
