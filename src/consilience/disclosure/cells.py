"""Levels of several variables together: which sets of variables a site keeps apart, since few of its rows would be told of.

Cross-products of two discrete variables are their table, and a model with three discrete predictors tells how many rows have three given
levels together. The shield (:mod:`consilience.disclosure.shield`) is on levels of one variable: rows cannot be left out by several, since
choosing rows by the levels of two variables makes just these two dependent. What a site can do is to stay out of all sums over such a set.
With ``cells="refuse"`` it does so, for a set of discrete variables D, where in one of its groups of rows

1. *observed*: some cell of D, a level of each, has 1 to ``min_cell`` − 1 rows; or
2. *expected*: some cell would have fewer than :data:`TIMES` · ``min_cell`` rows, were two of the variables independent given the others.

A set that contains such a set is kept apart, too. Cells that no row has are no matter: nobody is in them.

*Why the second rule.* By the first alone, sites would take part in a test of two variables exactly if their own table of the two came out
so: where five rows are expected in a cell, those sites are left whose cell came out large, and all of them together show a dependence that
is none. Expected counts rest on the tables of fewer variables alone, given which the test is done anyway; and where so many rows are
expected, fewer than ``min_cell`` hardly ever come out unless the two are dependent (``benchmarks/cells_calibration.py``).

*Why sets of any size, not pairs.* A fitted model tells cells of as many variables as it has discrete predictors
(``tests/disclosure/test_three_levels.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from consilience.data.apart import Apart
from consilience.data.table import Table
from consilience.disclosure.patterns import columns_of, patterns_of

__all__ = ["MOST_APART", "MOST_TABLES", "TIMES", "apart_of"]

TIMES = 2
"""Expected rows of a cell, in ``min_cell``. Of a Poisson law with mean 10 fewer than 5 are 3 of 100; its mean without these is 10.2."""
MOST_APART = 4000
"""Sets that a site names. With more it names the small ones, and looks at no more variables together than these have."""
MOST_TABLES = 20_000
"""Sets whose cells are counted; beyond, no more variables are looked at together than have been."""

MOST_CELLS = 1_000_000
"""Cells of a table that is counted: sets with more are kept apart."""

Floats = NDArray[np.float64]


def apart_of(table: Table, min_cell: int) -> Apart | None:
    """The sets of discrete variables that a site keeps apart, each without a smaller one in it; None where there is none.

    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> frame = pl.DataFrame({"C": [0, 0, 1, 1] * 20, "D": [0, 1] * 40, "E": ([0, 0, 1, 1] * 20)[:-1] + [0]})
    >>> found = apart_of(Table(frame, Schema(dict.fromkeys("CDE", "binary")), "muenster"), 5)
    >>> sorted(map(sorted, found.sets)), found.most
    ([['C', 'E']], 0)
    """
    names = [name for name in columns_of(table) if name in table.codes]
    if min_cell <= 1 or len(names) < 2 or not table.n_rows:
        return None
    counted = _Cells(table, names)
    apart = list[tuple[int, ...]]()
    shown: set[tuple[int, ...]] = {(i,) for i in range(len(names))}
    size, tables, most = 1, 0, 0
    while shown:
        size += 1
        tried = list(_joined(shown, size))
        tables += len(tried)
        if tables > MOST_TABLES:
            most = size - 1
            break
        few = [one for one in tried if counted.is_few(one, min_cell)]
        if len(apart) + len(few) > MOST_APART:
            most = size - 1
            break
        apart += few
        shown = set(tried).difference(few)
    if not apart and not most:
        return None
    return Apart(frozenset(frozenset(names[i] for i in one) for one in apart), frozenset(names), most)


def _joined(shown: set[tuple[int, ...]], size: int) -> Iterator[tuple[int, ...]]:
    """Sets of this size whose every part with one variable less is shown together."""
    last = max(one[-1] for one in shown)
    for one in sorted(shown):
        for i in range(one[-1] + 1, last + 1):
            new = (*one, i)
            if all(part in shown for part in combinations(new, size - 1)):
                yield new


class _Cells:
    """How many rows of each group have given levels together."""

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        patterns = patterns_of(table)
        table, times = table.distinct()
        self._has = patterns.has[:, [patterns.columns.index(name) for name in names]]
        # rows that are alike are one, with how many they are: many tables are counted, and where variables are few these are fewer
        rows = np.stack([patterns.of_row, *(table.codes[name] for name in names)], axis=1).astype(np.int64)
        there = patterns.of_row >= 0
        distinct, where = np.unique(rows[there], axis=0, return_inverse=True)
        self._times = np.bincount(where.ravel(), None if times is None else times[there]).astype(np.float64)
        self._group = distinct[:, 0].copy()
        # codes of levels that occur: a study may name a hundred of which a site has two
        coded = [np.unique(codes, return_inverse=True) for codes in distinct[:, 1:].T]
        self._levels = [int(np.count_nonzero(levels >= 0)) for levels, _ in coded]
        self._codes = [codes - int(levels[0] < 0) for levels, codes in coded]

    def is_few(self, variables: tuple[int, ...], min_cell: int) -> bool:
        """True if a cell of these variables has few rows, or should have few if two of them were independent given the others."""
        has: NDArray[np.bool_] = np.all(self._has[:, variables], axis=1)
        shape = (len(self._has), *(self._levels[i] for i in variables))
        if not has.any():
            return False
        if prod(shape) > MOST_CELLS:
            return True
        key, times = self._group, self._times
        for i in variables:
            key = key * self._levels[i] + self._codes[i]
        if not has.all():
            inside = has[self._group]
            key, times = key[inside], times[inside]
        counts = np.bincount(key, weights=times, minlength=prod(shape)).reshape(shape).astype(np.float64)
        if ((counts > 0) & (counts < min_cell)).any():
            return True
        return any(_least_expected(counts, a, b) < TIMES * min_cell for a, b in combinations(range(1, counts.ndim), 2))


def _least_expected(counts: Floats, a: int, b: int) -> float:
    """The least that a cell would have if two variables were independent given the others, of levels that occur there."""
    of_a, of_b = counts.sum(axis=b, keepdims=True), counts.sum(axis=a, keepdims=True)
    product = of_a * of_b
    expected = np.divide(product, counts.sum(axis=(a, b), keepdims=True), out=np.full(counts.shape, np.inf), where=product > 0)
    return float(expected.min())
