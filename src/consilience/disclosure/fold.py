"""Groups of rows that have the same values, folded into each other until each of them may be summed over by itself.

A *group* is a set of rows and the variables of which all of them have a value. It may be summed over if it has at least ``min_rows`` rows
and if every level of every discrete variable that it has occurs in it not at all or at least ``min_cell`` times. While one group may not,
the smallest such group is changed in the way that costs least:

- it is *merged* with another: both lose the variables that the other lacks;
- it *loses the variable* whose level is too rare in it;
- the rows with that *level* are left out, in all groups of the site, and not in this one alone: rows that are chosen by level and pattern
  together would make variables dependent that are not;
- its rows are *left out*.

What a change costs is counted in pairs of values within rows, since tests are of pairs; then in values. Every change takes away a group, a
level or a variable of a group, so there are at most as many as there are of these. Neither the choice nor the order of changes depends on
the order of rows.

Only counts are worked on, never rows, but for those that have a level that is left out: the cost is in groups, of which there are at most
:data:`MOST_GROUPS` and some more, however many patterns a table has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.data.table import Table
from consilience.disclosure.patterns import Patterns

__all__ = ["Limits", "RareLevel", "fold", "narrow", "worth"]

MOST_GROUPS, MOST_SETS = 256, 32
"""Patterns with the most rows that stay as they are where there are more, and sets of variables that the others are brought to."""
MOST_PATTERNS = 4096
"""Up to here two beginnings are tried, the patterns themselves and a few sets of variables, and the better end is taken."""

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Cost = tuple[int, int, int, int]


class Limits(NamedTuple):
    """The least rows of a group, and the least rows of a level in it."""

    rows: int
    cell: int


class RareLevel(NamedTuple):
    """A level that was too rare, and how many rows were left out with it."""

    variable: str
    code: int
    rows: int


def narrow(has: Flags, rows: Ints) -> list[Flags]:
    """Sets of variables that are worth keeping if only rows that have all of them may stay, the best first.

    Columns go one by one, always the one without which most rows are complete.

    >>> narrow(np.array([[True, True, True], [True, True, False], [True, False, True]]), np.array([5, 90, 5]))[0]
    array([ True,  True, False])
    """
    kept: Flags = np.logical_or.reduce(has & (rows > 0)[:, None], axis=0)
    gap = np.ascontiguousarray(~has.T)
    lacking, gaps = gap[kept].sum(axis=0, dtype=np.int16), [int(rows[one].sum()) for one in gap]
    found = list[tuple[int, int, Flags]]()
    while kept.any():
        whole, width = int(rows[lacking == 0].sum()), int(kept.sum())
        found.append((whole * _pairs(width), whole * width, kept))
        nearly = np.flatnonzero(lacking == 1)
        gain = {j: int(rows[nearly[gap[j, nearly]]].sum()) for j in np.flatnonzero(kept).tolist()}
        leaves = max(gain, key=lambda j: (gain[j], gaps[j], j))
        kept = kept.copy()
        kept[leaves] = False
        lacking = lacking - gap[leaves]
    return [kept for _, _, kept in sorted(found, key=lambda one: one[:2], reverse=True)]


def fold(table: Table, patterns: Patterns, limits: Limits) -> tuple[Patterns, tuple[RareLevel, ...]]:
    """Groups of which each may be summed over, and the levels that are left out; rows that are left out have the group -1.

    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> from consilience.disclosure.patterns import patterns_of
    >>> frame = pl.DataFrame({"A": [1.0] * 8 + [None], "B": [0.5] * 9})
    >>> table = Table(frame, Schema({"A": "continuous", "B": "continuous"}), "muenster")
    >>> fold(table, patterns_of(table), Limits(rows=4, cell=1))[0].of_row.tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, -1]
    """
    starts = [patterns if len(patterns.has) <= MOST_GROUPS else _fewer(patterns, limits.rows)]
    if 1 < patterns.has.any(axis=1).sum() <= MOST_PATTERNS:
        starts.append(_fewer(patterns, None))
    best = _folded(table, starts[0], limits)
    for start in starts[1:] if worth(best[0]) < worth(patterns) else ():
        best = max(best, _folded(table, start, limits), key=lambda one: worth(one[0]))  # the first, where they are as good
    return best


def _folded(table: Table, start: Patterns, limits: Limits) -> tuple[Patterns, tuple[RareLevel, ...]]:
    state = _Groups(table, start, limits)
    while state.step():
        pass
    return state.found(), tuple(state.rare)


def worth(patterns: Patterns) -> tuple[int, int]:
    """What groups are worth: pairs of values within rows, then values.

    >>> worth(Patterns(("A", "B", "C"), np.array([[True, True, True], [True, False, False]]), np.array([0, 0, 1, -1])))
    (6, 7)
    """
    rows, width = patterns.rows, patterns.has.sum(axis=1)
    return int(rows @ (width * (width - 1) // 2)), int(rows @ width)


def _pairs(width: int) -> int:
    return width * (width - 1) // 2


def _fewer(patterns: Patterns, least: int | None) -> Patterns:
    """The patterns that at least so many rows have (None: none of them), and the others brought to sets of variables that many have."""
    has, rows = patterns.has, patterns.rows.astype(np.int64)
    order = np.lexsort((np.arange(len(rows)), -rows))
    heads = order[:MOST_GROUPS] if least is not None else order[:0]
    heads = heads[rows[heads] >= (least or 0)]
    sets, place = [has[g] for g in heads], np.full(len(has), -1, dtype=np.intp)
    place[heads] = np.arange(len(heads))
    for _ in range(MOST_SETS):
        rest = np.flatnonzero(place < 0)
        best = narrow(has[rest], rows[rest])
        if not best:
            break
        place[rest[has[rest][:, best[0]].all(axis=1)]] = len(sets)
        sets.append(best[0])
    last = len(sets)  # what is left of them: rows without values, and those that fit none of the sets
    place[place < 0] = last
    return patterns._replace(has=np.array([*sets, np.zeros(has.shape[1], dtype=np.bool_)]), of_row=place[patterns.of_row])


class _Groups:
    """The groups as they are folded: which variables, how many rows, how often each level (also of variables that were lost)."""

    def __init__(self, table: Table, patterns: Patterns, limits: Limits) -> None:
        self.patterns, self.columns, self.has, self.of_row = patterns, patterns.columns, patterns.has.copy(), patterns.of_row.copy()
        table, self.times = table.distinct()
        self.rows: Ints = patterns.rows.astype(np.int64)
        self.into = np.arange(len(self.has))
        self.limits, self.rare = limits, list[RareLevel]()
        self.codes: Mapping[str, NDArray[np.int32]] = table.codes
        self.at: dict[str, int] = {}
        variable, blocks = list[int](), list[Ints]()
        for j, name in enumerate(self.columns):
            if name in table.codes and limits.cell > 1:
                self.at[name] = len(variable)
                width = len(table.schema[name].levels)
                variable += [j] * width
                blocks.append(self._counted(name, np.arange(table.n_rows), width))
        self.variable = np.array(variable, dtype=np.intp)
        self.counts: Ints = np.concatenate(blocks, axis=1) if blocks else np.zeros((len(self.has), 0), dtype=np.int64)
        self.alive = (self.rows > 0) & self.has.any(axis=1)

    def _counted(self, name: str, rows: NDArray[np.intp], width: int) -> Ints:
        codes, group = self.codes[name][rows], self.of_row[rows]
        seen = (codes >= 0) & (group >= 0)
        # through `into`: rows keep the number of the group that they were in first
        times = None if self.times is None else self.times[rows][seen]
        flat = np.bincount(self.into[group[seen]] * width + codes[seen], times, minlength=len(self.has) * width)
        return flat.reshape(len(self.has), width).astype(np.int64)

    def found(self) -> Patterns:
        """The groups that are left, under new numbers."""
        number = np.full(len(self.has) + 1, -1, dtype=np.intp)  # the last is that of rows that are left out, -1
        number[:-1][self.alive] = np.arange(int(self.alive.sum()))
        home = np.append(self.into, len(self.has))
        return self.patterns._replace(has=self.has[self.alive], of_row=number[home[self.of_row]])

    def step(self) -> bool:
        """Change the smallest group that may not be summed over; False if there is none."""
        levels = (self.counts > 0) & (self.counts < self.limits.cell) & self.has[:, self.variable]
        few = self.rows < self.limits.rows
        broken = np.flatnonzero(self.alive & (few | levels.any(axis=1)))
        if not len(broken):
            return False
        g = int(broken[np.argmin(self.rows[broken])])
        width = self.has.sum(axis=1).astype(np.int64)
        options = [(self._cost(g, width[g], 0, 3), -1), *self._merges(g, width)]
        level = -1
        if not few[g]:
            candidates = np.flatnonzero(levels[g])
            level = int(candidates[np.argmin(self.counts[g, candidates])])
            options.append((self._cost(g, width[g], int(width[g]) - 1, 1), -1))
            with_level = np.where(self.alive, self.counts[:, level], 0)
            # a group that is left with too few rows is as good as left out
            with_level = np.where((with_level > 0) & (self.rows - with_level < self.limits.rows), self.rows, with_level)
            options.append(((int(with_level @ (width * (width - 1) // 2)), int(with_level @ width), 2, 0), -1))
        (_, _, kind, _), other = min(options)
        if kind == 0:
            self._merge(g, other)
        elif kind == 1:
            self._lose(g, int(self.variable[level]))
        elif kind == 2:
            self._leave_out(level)
        else:
            self.alive[g] = False
        return True

    def _cost(self, g: int, before: int, after: int, kind: int) -> Cost:
        rows = int(self.rows[g])
        return (rows * (_pairs(int(before)) - _pairs(after)), rows * (int(before) - after), kind, 0)

    def _merges(self, g: int, width: Ints) -> list[tuple[Cost, int]]:
        """The best merge, if there is one that leaves variables."""
        both = (self.has & self.has[g]).sum(axis=1).astype(np.int64)
        others = np.flatnonzero(self.alive & (both > 0) & (np.arange(len(both)) != g))
        if not len(others):
            return []
        w, b = width[others], both[others]
        twice = self.rows[others] * (w * (w - 1) - b * (b - 1)) + self.rows[g] * (width[g] * (width[g] - 1) - b * (b - 1))
        values = self.rows[others] * (w - b) + self.rows[g] * (width[g] - b)
        best = int(np.lexsort((others, values, twice))[0])
        return [((int(twice[best]) // 2, int(values[best]), 0, int(others[best])), int(others[best]))]

    def _merge(self, g: int, other: int) -> None:
        self.has[other] &= self.has[g]
        self.rows[other] += self.rows[g]
        self.counts[other] += self.counts[g]
        self.alive[g] = False
        self.into[self.into == g] = other

    def _lose(self, g: int, column: int) -> None:
        self.has[g, column] = False
        self.alive[g] = self.has[g].any()

    def _leave_out(self, level: int) -> None:
        """Leave out the rows with a level, in all groups."""
        name = self.columns[self.variable[level]]
        code = level - self.at[name]
        rows = np.flatnonzero((self.codes[name] == code) & (self.of_row >= 0))
        rows = rows[self.alive[self.into[self.of_row[rows]]]]
        times = None if self.times is None else self.times[rows]
        self.rows -= np.bincount(self.into[self.of_row[rows]], times, minlength=len(self.rows)).astype(np.int64)
        for other, start in self.at.items():
            width = int((self.variable == self.variable[start]).sum())
            self.counts[:, start : start + width] -= self._counted(other, rows, width)
        self.of_row[rows] = -1
        self.alive &= self.rows > 0
        self.rare.append(RareLevel(name, code, len(rows) if times is None else int(times.sum())))
