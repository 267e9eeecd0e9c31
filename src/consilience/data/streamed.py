"""A table larger than memory: read a block of rows at a time, every time that something is summed over it.

It is a :class:`~consilience.data.table.Table` whose columns are not at hand. What depends on levels and gaps alone is known from its
distinct rows (:mod:`consilience.data.distinct`), which one pass counts; all else is asked of its blocks, which are encoded as they are
read. Where rules on disclosure leave out rows and values, they are left out of every block before anything else sees it.

polars reads the blocks: four million rows of six columns in Parquet took it 0.11 s of a processor, and pyarrow 0.69 s with twice the
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from consilience.data.blocks import over_blocks
from consilience.data.distinct import Distinct, Keys
from consilience.data.errors import OutOfMemoryError, ReadError
from consilience.data.quartiles import Floats, Lengthy, lengthy
from consilience.data.schema import Schema
from consilience.data.table import BLOCK_ROWS, PART_BLOCKS, Rows, Table, part_rows
from consilience.frames import pl

__all__ = ["Streamed", "least_memory"]

Flags = NDArray[np.bool_]
SHARE_OF_DISTINCT = 4
"""Of the memory that a table may take, one part in so many is for its distinct rows."""
DISTINCT_BYTES = 40
"""Bytes of a distinct row, but for its columns: its key and how often it occurs, sorted and merged."""


PARTS_HELD = 6
"""Parts that are in memory beside those that threads work on: as polars reads ahead, as they wait, and as they are put together."""
BLOCKS_HELD = 64
"""Columns as long as a block that a thread makes of one."""


def least_memory(columns: int, unpacked: int, threads: int) -> int:
    """About how many bytes it takes to read a table of so many columns, of which readers unpack so many bytes at once.

    >>> least_memory(10, 0, 2) >> 20
    144
    """
    part = PART_BLOCKS * BLOCK_ROWS * columns * 8
    return part * (threads + PARTS_HELD) + BLOCK_ROWS * BLOCKS_HELD * 8 * threads + unpacked


def _refusal(owner: str) -> OutOfMemoryError:
    return OutOfMemoryError(
        f"The table of {owner!r} is larger than the memory it may take, and is read a block of rows at a time; what is asked for needs "
        f"whole columns at once. Give it more (memory=), or ask it of a table with fewer rows."
    )


class _Absent(dict[str, Any]):
    """Columns that are not at hand: they have names, and no values."""

    def __init__(self, names: Iterable[str], owner: str) -> None:
        super().__init__(dict.fromkeys(names))
        self._owner = owner

    def _refuse(self) -> NoReturn:
        raise _refusal(self._owner)

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(name)
        return self._refuse()

    def get(self, name: str, default: Any = None) -> Any:
        """As of any other mapping: nothing of a name that is not there."""
        return self._refuse() if name in self else default

    def values(self) -> Any:
        """Not at hand."""
        return self._refuse()

    def items(self) -> Any:
        """Not at hand."""
        return self._refuse()


class Streamed(Table):
    """A table whose rows are read again and again. ``memory`` are the bytes that it may take; ``step`` says how many rows are taken from it
    at a time, or is 0 where it is read from its beginning on.

    >>> frame = pl.DataFrame({"A": [1.0, None, 3.0], "E": ["r", "p", "q"]})
    >>> schema = Schema({"A": "continuous", "E": ("multinomial", ["p", "q", "r"])})
    >>> table = Streamed(frame.lazy(), schema, "muenster", memory=1 << 24)
    >>> table.n_rows, table.complete(["A", "E"]).n, table.level_counts("E", ["A", "E"])
    (3, 2, array([0, 1, 1]))
    """

    def __init__(self, lazy: pl.LazyFrame, schema: Schema, owner: str, *, memory: int, threads: int = 1, step: int = 0) -> None:
        self.schema, self.site, self.threads, self.helpers, self.cluster, self.apart = schema, None, threads, 0, None, None
        self._lazy, self._owner, self._step = lazy, owner, step
        self._columns = {name: i for i, name in enumerate(lazy.collect_schema().names())}
        held = [name for name in schema if name in self._columns]
        self.names = frozenset(held)
        self.numbers = _Absent((name for name in held if not schema[name].kind.is_discrete), owner)
        self.codes = _Absent((name for name in held if schema[name].kind.is_discrete), owner)
        self._missing, self._rows = _Absent((), owner), {}
        self._keys, self._read, self._hidden = Keys(schema, held), -1, dict[str, Flags]()
        room = memory // SHARE_OF_DISTINCT // (DISTINCT_BYTES + 8 * len(held))
        self._stays: NDArray[np.intp] | None = None
        self._distinct = Distinct.of(over_blocks(self, held, self._keys.of), room)
        self._read = int(self._distinct.times.sum())
        self._kinds, self._times = self._keys.rows(self._distinct.keys), self._distinct.times
        self.n_rows = self._read
        self._lengthy: dict[str, Lengthy] | None = None

    @property
    def many(self) -> bool:
        """Always: there are no rows at hand."""
        return True

    def distinct(self) -> tuple[Table, NDArray[np.int64] | None]:
        """A table of distinct rows, in which numbers are zero or missing, and how often each occurs."""
        return self._kinds, self._times

    def complete(self, variables: Iterable[str]) -> Rows:
        """How many rows have a value for every one of ``variables``; they have no places."""
        rows = self._kinds.complete(variables)
        if rows.key not in self._rows:
            n = int(self._times.sum() if rows.index is None else self._times[rows.index].sum())
            self._rows[rows.key] = Rows(rows.key, None, n)
        return self._rows[rows.key]

    def level_counts(self, name: str, sample: Iterable[str]) -> NDArray[np.intp]:
        """By distinct rows."""
        index = self._kinds.complete(sample).index
        codes, times = self._kinds.codes[name], self._times
        codes, times = (codes, times) if index is None else (codes[index], times[index])
        return np.bincount(codes, times, len(self.schema[name].levels)).astype(np.intp)

    def varies(self, name: str, rows: NDArray[np.intp]) -> bool:
        """Of levels by distinct rows; of a number by two passes over those that stay."""
        if name in self.codes:
            return self._kinds.varies(name, rows)
        kept = self.subset(rows)
        found = kept.lengthy().get(name) if isinstance(kept, Streamed) else None
        return found is not None and found.low < found.high

    def sum_of_rows(self) -> tuple[int, int, int]:
        """How many rows there are, and two sums over them, of words in which every bit hangs on every value: the same in any order."""
        names = sorted(self.names)
        sums = np.zeros(2, dtype=np.uint64)
        for part in over_blocks(self, names, partial(_words, names)):
            sums += part
        return self.n_rows, int(sums[0]), int(sums[1])

    def lengthy(self) -> Mapping[str, Lengthy]:
        """Statistics of the numbers that take part, found once."""
        if self._lengthy is None:
            self._lengthy = lengthy(self._numbers)
        return self._lengthy

    def _numbers(self) -> Iterator[Mapping[str, Floats]]:
        return over_blocks(self, self.numbers, lambda block: block.numbers)

    def subset(self, rows: NDArray[np.intp] | None, hidden: Mapping[str, Flags] | None = None) -> Table:
        """A copy with fewer rows and values; both are said of its distinct rows."""
        kinds = self._kinds.subset(rows, hidden)
        if not kinds.n_rows:
            return kinds
        made = object.__new__(Streamed)
        made.__dict__.update(self.__dict__)
        stays = np.arange(self._kinds.n_rows) if rows is None else rows
        origin = np.arange(len(self._distinct.keys)) if self._stays is None else self._stays
        made._stays, made._hidden = origin[stays], dict(self._hidden)
        for name, mask in (hidden or {}).items():
            flags = np.zeros(len(self._distinct.keys), dtype=np.bool_)
            flags[origin] = mask
            made._hidden[name] = flags | made._hidden.get(name, False)
        made._kinds, made._times = kinds, self._times[stays]
        made.n_rows, made.names, made._rows, made._lengthy = int(made._times.sum()), kinds.names, {}, None
        made.numbers, made.codes = _Absent(kinds.numbers, self._owner), _Absent(kinds.codes, self._owner)
        return made

    def repeated(self, times: NDArray[np.intp]) -> Table:
        """Refused: rows are not at hand to be drawn."""
        raise _refusal(self._owner)

    def parts(self, names: Iterable[str]) -> Iterator[Callable[[], Table]]:
        """Stretches of the rows, as they are read; ReadError if there are others than before."""
        ruled = self._stays is not None
        kept = sorted(self._keys.names if ruled else names)  # which rows stay is said by all columns
        lazy = self._lazy.select(pl.nth(self._columns[name]) for name in kept) if kept else self._lazy.select(pl.lit(0).alias(""))
        read = 0
        try:
            rows = part_rows(max(self._read, 0))
            for batch in _even(_batches(lazy, self._step, rows), rows):
                read += batch.height
                yield partial(self._ruled if ruled else self._encoded, batch)
        except (pl.exceptions.PolarsError, OSError) as error:
            first = str(error).strip().split("\n", maxsplit=1)[0].rstrip(":. ")
            raise ReadError(f"The table of {self._owner!r} cannot be read any more: {first}.") from None
        if self._read not in (-1, read):
            raise self._changed()

    def _encoded(self, batch: pl.DataFrame) -> Table:
        return Table(batch, self.schema, self._owner)

    def _ruled(self, batch: pl.DataFrame) -> Table:
        """A batch without what rules leave out."""
        assert self._stays is not None
        raw = self._encoded(batch)
        try:
            at = self._distinct.place(self._keys.of(raw))
        except KeyError:
            raise self._changed() from None
        flags = np.zeros(len(self._distinct.keys), dtype=np.bool_)
        flags[self._stays] = True
        rows = np.flatnonzero(flags[at])
        gone = {name: mask[at[rows]] for name, mask in self._hidden.items()}
        numbers = {name: raw.numbers[name][rows] for name in self.numbers}
        codes = {name: raw.codes[name][rows] for name in self.codes}
        numbers = {name: np.where(gone[name], np.nan, column) if name in gone else column for name, column in numbers.items()}
        codes = {name: np.where(gone[name], np.int32(-1), column) if name in gone else column for name, column in codes.items()}
        return Table.of_arrays(self.schema, numbers, codes)

    def _changed(self) -> ReadError:
        return ReadError(
            f"The table of {self._owner!r} has changed while it was read: it has other rows than at first. Sums of before and after do not "
            f"go together. Make a copy that nobody writes to, and begin again."
        )


def _words(names: Sequence[str], block: Table) -> NDArray[np.uint64]:
    """Sums, modulo 2⁶⁴, of two words for every row of a block."""
    words = np.zeros(block.n_rows, dtype=np.uint64)
    for place, name in enumerate(names):
        column = block.numbers[name] + 0.0 if name in block.numbers else block.codes[name].astype(np.float64)  # no -0.0
        values = np.where(np.isnan(column), np.nan, column).view(np.uint64)  # one of the many
        words = _mixed(words + _mixed(values + np.uint64((2 * place + 1) * 0x9E3779B97F4A7C15 % (1 << 64))))
    return np.array([words.sum(dtype=np.uint64), _mixed(words ^ np.uint64(0xD1B54A32D192ED03)).sum(dtype=np.uint64)])


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The last steps of splitmix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _batches(lazy: pl.LazyFrame, step: int, rows: int) -> Iterator[pl.DataFrame]:
    """The rows of a table, some at a time: about ``rows`` where it is read from its beginning on."""
    if step == 0:
        yield from lazy.collect_batches(chunk_size=rows, maintain_order=True, engine="streaming")
        return
    # Not as batches of the whole: polars reads a hundred groups of rows ahead, of all files, whoever waits for the first. A slice is found
    # by the footers, and no more is read than it needs.
    for start in count(0, step):
        batch = lazy.slice(start, step).collect(engine="streaming")
        yield batch
        if batch.height < step:
            return


def _even(batches: Iterable[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """The rows of a table in parts of the same length, whatever lengths they are read in: no sum depends on that."""
    waiting, held = list[pl.DataFrame](), 0
    for batch in batches:
        waiting.append(batch)
        held += batch.height
        while held >= rows:
            whole = waiting[0] if len(waiting) == 1 else pl.concat(waiting)
            yield whole.head(rows)
            held -= rows
            waiting = [whole.slice(rows)] if held else []
    if held:
        yield pl.concat(waiting)
