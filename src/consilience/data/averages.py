"""Where the numbers of a table lie, over the rows that are complete on some variables: found block by block, for many sets in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.data.blocks import over_blocks
from consilience.data.design import Coding, column_names
from consilience.data.table import Table

__all__ = ["Averages"]

Floats = NDArray[np.float64]
Place = tuple[frozenset[str], str]


class _Lies(NamedTuple):
    """Of some values: their sum, the least and the greatest."""

    total: float
    least: float
    most: float

    def with_(self, other: _Lies) -> _Lies:
        return _Lies(self.total + other.total, min(self.least, other.least), max(self.most, other.most))


_NOTHING = _Lies(0.0, np.inf, -np.inf)


@dataclass(slots=True, eq=False)
class Averages:
    """Means and totals of a table's numbers, by which rows are complete; kept, since hundreds of models share them.

    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> schema = Schema({"A": "continuous", "B": "binary"})
    >>> averages = Averages(Table(pl.DataFrame({"A": [1.0, 3.0, 8.0], "B": [0, 1, None]}), schema, "muenster"))
    >>> averages.find([("A", "B")])
    >>> averages.columns(("A", "B"), [("A", 0), ("B", 1)], Coding({"A": 1}))
    array([1. , 0.5])
    """

    table: Table
    _found: dict[Place, _Lies] = field(default_factory=dict)
    _levels: dict[Place, NDArray[np.intp]] = field(default_factory=dict)

    def find(self, samples: Iterable[Sequence[str]]) -> None:
        """Look at the numbers of some variable sets, each over the rows that are complete on the set; one pass over the rows."""
        wanted: dict[Place, Sequence[str]] = {}
        for sample in samples:
            key = self.table.complete(sample).key
            for name in sample:
                if name in self.table.numbers and (key, name) not in self._found:
                    wanted[key, name] = sample
        if not wanted:
            return
        sums = [_NOTHING] * len(wanted)
        look = partial(_all_lie, [(name, sample) for (_, name), sample in wanted.items()])
        for found in over_blocks(self.table, {name for sample in wanted.values() for name in sample}, look, portable=True):
            sums = [one.with_(other) for one, other in zip(sums, found, strict=True)]
        self._found.update(zip(wanted, sums, strict=True))

    def total(self, sample: Sequence[str], name: str) -> float:
        """The sum of a number."""
        return self._found[self.table.complete(sample).key, name].total

    def levels(self, sample: Sequence[str], name: str) -> NDArray[np.intp]:
        """How many rows have each level of a discrete variable."""
        place = (self.table.complete(sample).key, name)
        if place not in self._levels:
            self._levels[place] = self.table.level_counts(name, sample)
        return self._levels[place]

    def columns(self, sample: Sequence[str], names: Sequence[tuple[str, int]], coding: Coding) -> Floats:
        """The means of columns, by variable and level, in their units; zeros where columns are not centred at the site."""
        n = self.table.complete(sample).n
        if not coding.centre_at_site or n == 0:
            return np.zeros(len(names))
        return np.array([self._mean(sample, name, level, n, coding) for name, level in names])

    def _mean(self, sample: Sequence[str], name: str, level: int, n: int, coding: Coding) -> float:
        if name in self.table.codes:
            return float(self.levels(sample, name)[level] / n)
        total, least, most = self._found[self.table.complete(sample).key, name]
        # a constant column becomes exactly zero: see consilience.data.design
        return float(np.ldexp(least if least == most else total / n, -coding.exponents.get(name, 0)))

    def of_model(self, sample: Sequence[str], predictors: Sequence[str], keep: Sequence[int], coding: Coding) -> Floats:
        """The means of the columns ``keep`` of a model's predictors."""
        names = column_names(self.table.schema, predictors)
        return self.columns(sample, [names[j] for j in keep], coding)


def _all_lie(wanted: Iterable[tuple[str, Sequence[str]]], block: Table) -> list[_Lies]:
    return [_lies(block, name, sample) for name, sample in wanted]


def _lies(block: Table, name: str, sample: Sequence[str]) -> _Lies:
    rows, values = block.complete(sample), block.numbers[name]
    if rows.n == 0:
        return _NOTHING
    if rows.index is not None:
        values = values[rows.index]
    return _Lies(float(values.sum()), float(values.min()), float(values.max()))
