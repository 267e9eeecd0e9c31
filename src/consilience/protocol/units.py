"""Units that do not go together: the most likely reason why a site's number does not fit the ring."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

from consilience.data.streamed import Streamed
from consilience.data.table import Table
from consilience.glm.kernel import Floats

__all__ = ["Misfit", "location", "middle_half", "misfit", "near", "spread", "spread_of", "spreads_of"]

FEWEST = 8
"""Rows from which on the middle half is taken, which then has four at least; of fewer rows the mean and the standard deviation."""
HALF_OF_NORMAL = 4.0 * (1.0 - np.exp(-0.5 * 0.6744897501960817**2)) / np.sqrt(2.0 * np.pi)
"""The mean distance from the centre in the middle half of a standard normal variable: 0.325."""
FAR = 1000.0
"""Distances between quartiles beyond which a value has no part in a location. Laws with tails as heavy as that have no location to lose."""
FARTHEST = 2.0**-20
"""The part of the farthest value in a spread. Sums of squares must stay below 2⁵⁸ or so: a value of 2²⁰ units, or of 2²⁴ since units are
rounded, may then occur a thousand times. The squares of the others are small in such a unit, but the ring has 64 bits below one: beside a
value 10¹² standard deviations away they keep some 16 of them a row."""
SUSPECT = 16
"""Powers of two that a site's spread may lie above the study's common unit before it is named. Squares are then 2³² times as large."""


def spread(values: Floats) -> float:
    """How widely numbers lie, for a choice of unit: missing ones, and those far outside, have next to no part in it.

    Three quarters of the distance between the quartiles, which is the standard deviation of normal data, or the standard deviation where
    half of the values are one. A value far outside, such as a sentinel for "missing", may be in rows that no test has; it counts for a
    millionth, so that its square still fits the ring if a test does have it. Exactly zero for a constant.

    >>> spread(np.array([0.1, 0.1, 0.1, np.nan])), round(spread(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 1e12])) / 1e6, 2)
    (0.0, 0.95)
    """
    known = values[~np.isnan(values)]
    if len(known) == 0 or known.min() == known.max():
        return 0.0
    middle, quartiles = _quartiles(known)
    farthest = float(np.max(np.abs(known - middle)))
    return max(0.75 * quartiles, farthest * FARTHEST) if quartiles > 0.0 else float(known.std())


def spread_of(table: Table, name: str) -> float:
    """:func:`spread` of a table's column; zero of one that it does not have."""
    if name not in table.numbers:
        return 0.0
    if not isinstance(table, Streamed):
        return spread(table.numbers[name])
    found = table.lengthy().get(name)
    if found is None or found.low == found.high:
        return 0.0
    low, middle, high = found.quartiles
    return max(0.75 * (high - low), max(found.high - middle, middle - found.low) * FARTHEST) if high > low else found.std


def spreads_of(table: Table, names: Sequence[str]) -> list[float]:
    """:func:`spread_of` many columns: in several threads where their rows are many, since selecting a quartile lets others run."""
    if not table.many or isinstance(table, Streamed):  # the latter has found all of them in the same passes
        return [spread_of(table, name) for name in names]
    with ThreadPoolExecutor(table.threads) as pool:
        return list(pool.map(partial(spread_of, table), names))


def location(table: Table, name: str, exponent: int) -> tuple[int, float]:
    """How many values of a column there are, and their sum in units of two to the exponent; where some of them lie far outside, as many
    times a value in the middle.
    """
    if isinstance(table, Streamed):
        found = table.lengthy().get(name) if name in table.numbers else None
        if found is None:
            return 0, 0.0
        low, middle, high = found.quartiles
        far = high > low and max(found.high - middle, middle - found.low) > FAR * (high - low)
        return found.n, float(np.ldexp(found.n * (middle if far else found.mean), -exponent))
    values = table.numbers.get(name, np.empty(0))
    values = np.ldexp(values[~np.isnan(values)], -exponent)
    return len(values), float(values.sum() if len(near(values)) == len(values) else len(values) * middle_half(values)[0])


def middle_half(values: Floats) -> tuple[float, float]:
    """The centre and the spread of some values: of the half of them in the middle, so that outliers do not count.

    >>> centre, spread = middle_half(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 1e9]))
    >>> centre, round(float(spread), 2)
    (4.5, 3.08)
    """
    values = values[~np.isnan(values)]
    n = len(values)
    if n == 0:
        return 0.0, 0.0
    if n < FEWEST:
        return float(values.mean()), float(values.std())
    quarter = n // 4
    middle = np.sort(values)[quarter : n - quarter]
    centre = float(middle[0] + (middle - middle[0]).mean())
    spread = float(np.abs(middle - centre).mean()) / HALF_OF_NORMAL
    return centre, spread if spread > 0.0 else float(np.std(values - centre))


def near(values: Floats) -> Floats:
    """The values that are not missing and not far outside, from which a location can be told.

    >>> near(np.array([1.0, 2.0, np.nan, 3.0, 4.0, 5.0, 1e12])).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """
    known: Floats = values[~np.isnan(values)]
    if len(known) == 0:
        return known
    middle, quartiles = _quartiles(known)
    return known[np.abs(known - middle) <= FAR * quartiles] if quartiles > 0.0 else known


def _quartiles(known: Floats) -> tuple[float, float]:
    """The median, and the distance between the quartiles."""
    # np.quantile says the same, and takes ten times as long for the values of a small site
    last = len(known) - 1
    places = [divmod(quarter * last, 4) for quarter in (1, 2, 3)]
    ordered = np.partition(known, sorted({min(i + more, last) for i, _ in places for more in (0, 1)}))
    low, middle, high = (float(ordered[i] + (ordered[min(i + 1, last)] - ordered[i]) * (part / 4.0)) for i, part in places)
    return middle, high - low


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
        width = spread_of(table, name)
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
