"""Units that do not go together: the most likely reason why a site's number does not fit the ring."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from consilience.data.table import Table
from consilience.glm.kernel import Floats

__all__ = ["Misfit", "misfit", "spread"]

SUSPECT = 16
"""Powers of two that a site's spread may lie above the study's common unit before it is named. Squares are then 2³² times as large."""


def spread(values: Floats) -> float:
    """The standard deviation of what is not missing; exactly zero for a constant, of which rounding would leave 1e-17.

    >>> spread(np.array([0.1, 0.1, 0.1, np.nan]))
    0.0
    """
    known = values[~np.isnan(values)]
    return float(known.std()) if len(known) and known.min() < known.max() else 0.0


class Misfit(NamedTuple):
    """What is wrong, as the server may know it, and as the site's own ledger does."""

    told: str
    kept: str


def misfit(table: Table, exponents: Mapping[str, int]) -> Misfit:
    """Which variable of a site is far wider than the study's unit, and what to do; in general words if none is.

    The unit is the mean of the sites' exponents, so that the distance says how far the sites are apart. By how much stays at the site: the
    server is told no more than which variable, and that it is a lot.
    """
    apart = {}
    for name, exponent in exponents.items():
        width = spread(table.numbers[name]) if name in table.numbers else 0.0
        if width > 0.0 and math.isfinite(width):
            apart[name] = round(math.log2(width)) - exponent
    name = max(apart, key=lambda n: apart[n], default="")
    if not name or apart[name] < SUSPECT:
        return Misfit("A number of this site does not fit the ring. Look at the variables' units.", "")
    return Misfit(
        f"A number of this site does not fit the ring: {name!r} is at least 2^{SUSPECT} times as wide here as in the unit that the sites "
        f"share. Bring {name!r} to one unit at all sites, or leave it out.",
        f"{name!r} is about 2^{apart[name]} times as wide here as in the unit that the sites share.",
    )
