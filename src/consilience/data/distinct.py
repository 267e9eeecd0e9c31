"""The distinct rows of a table in all but its numbers, and how often each occurs.

Levels and gaps are few, however many rows there are. What depends on them alone (level counts, how many rows are complete on which
variables, which rows rules on disclosure leave out, models of discrete variables only) is worked out from distinct rows. They are a table
like any other, in which a number is zero where it is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from consilience.data.errors import OutOfMemoryError
from consilience.data.schema import Schema
from consilience.data.table import Table

__all__ = ["Distinct", "Keys"]

Ints = NDArray[np.int64]
MOST_KEYS = 1 << 62
"""Combinations of levels and gaps that a key of 64 bits tells apart, with a bit to spare."""
WAITING = 1 << 16
"""Keys that are kept before they are counted together."""


class Keys:
    """A number for every row, the same for rows with the same levels and the same gaps.

    >>> import polars as pl
    >>> schema = Schema({"A": "continuous", "E": ("multinomial", "pq")})
    >>> table = Table(pl.DataFrame({"A": [0.5, None, 0.7], "E": ["q", "p", "q"]}), schema, "muenster")
    >>> Keys(schema, ["A", "E"]).of(table)
    array([5, 1, 5])
    """

    def __init__(self, schema: Schema, names: Sequence[str]) -> None:
        self.schema, self.names = schema, tuple(names)
        self.sizes = [len(schema[name].levels) + 1 if schema[name].kind.is_discrete else 2 for name in names]
        if prod(self.sizes) > MOST_KEYS:
            raise OutOfMemoryError(
                f"The levels of a table that is larger than memory are counted together, in at most 2^62 combinations; its "
                f"{len(names)} variables have 2^{sum(np.log2(self.sizes)):.0f}. Choose fewer variables, or variables with fewer levels."
            )

    def of(self, table: Table) -> Ints:
        """The keys of a table's rows."""
        keys = np.zeros(table.n_rows, dtype=np.int64)
        for name, size in zip(self.names, self.sizes, strict=True):
            keys *= size
            if name in table.codes:
                keys += table.codes[name] + 1  # -1 is a gap
            elif name in table.missing:
                keys += ~table.missing[name]
            else:
                keys += 1
        return keys

    def rows(self, keys: Ints) -> Table:
        """The table of rows that have these keys."""
        codes, numbers = dict[str, NDArray[np.int32]](), dict[str, NDArray[np.float64]]()
        for name, size in zip(reversed(self.names), reversed(self.sizes), strict=True):
            keys, digit = np.divmod(keys, size)
            if self.schema[name].kind.is_discrete:
                codes[name] = (digit - 1).astype(np.int32)
            else:
                numbers[name] = np.where(digit == 1, 0.0, np.nan)
        return Table.of_arrays(self.schema, numbers, codes)


class Distinct:
    """Keys that occur, in their order, and how often; ``room`` is how many may be kept.

    >>> found = Distinct.of([np.array([5, 1, 5]), np.array([1, 7])], room=10)
    >>> found.keys, found.times
    (array([1, 5, 7]), array([2, 2, 1]))
    """

    def __init__(self, keys: Ints, times: Ints) -> None:
        self.keys, self.times = keys, times

    @staticmethod
    def of(parts: Iterable[Ints], room: int) -> Distinct:
        """Count keys that come in parts."""
        found, waiting, held = Distinct(np.empty(0, np.int64), np.empty(0, np.int64)), list[Distinct](), 0
        for part in parts:
            waiting.append(Distinct(*np.unique(part, return_counts=True)))
            held += len(waiting[-1].keys)
            if held > WAITING:
                found, waiting, held = _joined([found, *waiting], room), [], 0
        return _joined([found, *waiting], room)

    def place(self, keys: Ints) -> NDArray[np.intp]:
        """Where keys stand among those that occur; KeyError if one does not."""
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        if (self.keys[at] != keys).any():
            raise KeyError("a row that was not there before")
        return at


def _joined(parts: Sequence[Distinct], room: int) -> Distinct:
    keys, where = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
    if len(keys) > room:
        raise OutOfMemoryError(
            f"The levels of a table that is larger than memory are counted together; there are more than the {room} combinations that fit "
            f"its share of memory. Choose fewer variables, merge levels, or give it more (memory=)."
        )
    times = np.zeros(len(keys), dtype=np.int64)
    np.add.at(times, where, np.concatenate([part.times for part in parts]))
    return Distinct(keys, times)
