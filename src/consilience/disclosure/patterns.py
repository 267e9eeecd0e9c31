"""Rows that have and lack the same values: a table's patterns of missing values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.data.table import Table

__all__ = ["Patterns", "columns_of", "patterns_of"]

BITS = 30
"""Columns that are told apart before the numbers of their patterns are made small again: 2³⁰ times 10⁹ rows fit 64 bits."""


class Patterns(NamedTuple):
    """Distinct patterns, in the order of their gaps: ``has`` (patterns × columns) and the pattern of every row (-1: of none).

    Rows are those of :meth:`Table.distinct`; ``times`` says how often each occurs (None: once).
    """

    columns: tuple[str, ...]
    has: NDArray[np.bool_]
    of_row: NDArray[np.intp]
    times: NDArray[np.int64] | None = None

    @property
    def rows(self) -> NDArray[np.intp]:
        """How many rows have each pattern."""
        there = self.of_row >= 0
        times = None if self.times is None else self.times[there]
        counts: NDArray[np.intp] = np.bincount(self.of_row[there], times, minlength=len(self.has)).astype(np.intp)
        return counts

    def count(self, rows: NDArray[np.bool_]) -> int:
        """How many rows these are, by a flag for each distinct one."""
        return int(rows.sum() if self.times is None else self.times[rows].sum())


def columns_of(table: Table) -> tuple[str, ...]:
    """A table's columns in the order of the schema."""
    return tuple(name for name in table.schema if name in table.names)


def patterns_of(table: Table) -> Patterns:
    """Group rows by which values they lack. The order of patterns does not depend on the order of rows.

    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> frame = pl.DataFrame({"A": [1.0, None, 3.0, 4.0], "B": [0, 1, 0, None]})
    >>> found = patterns_of(Table(frame, Schema({"A": "continuous", "B": "binary"}), "muenster"))
    >>> found.has.tolist(), found.of_row.tolist()
    ([[True, True], [True, False], [False, True]], [0, 2, 0, 1])
    """
    columns = columns_of(table)
    table, times = table.distinct()
    gaps = [j for j, name in enumerate(columns) if name in table.missing]
    if not gaps:
        return Patterns(columns, np.ones((1, len(columns)), dtype=np.bool_), np.zeros(table.n_rows, dtype=np.intp), times)
    key = np.zeros(table.n_rows, dtype=np.int64)
    for i, j in enumerate(gaps):
        key = 2 * key + table.missing[columns[j]]
        if (i + 1) % BITS == 0:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
    # sorted by the first gap, then the second, …: a row is a binary number, and numbers that were made small again keep their order
    _, first, of_row = np.unique(key, return_index=True, return_inverse=True)
    has = np.ones((len(first), len(columns)), dtype=np.bool_)
    for j in gaps:
        has[:, j] = ~table.missing[columns[j]][first]
    return Patterns(columns, has, of_row.astype(np.intp), times)
