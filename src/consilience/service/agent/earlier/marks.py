"""Whether a table is the one that it was, without keeping it: marks made with a secret of the site.

A mark is a keyed digest of all rows, whatever their order, and of the values of every column by itself. Whoever has the marks and not the
site's key can tell nothing from them, not even whether a row that they guess is in the table.

Marks are of what takes part in a study (:func:`taking_part`), not of the site's file: two studies of one file leave out different rows if
they have other variables or other limits, and it is by these that their sums differ.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import combinations

import msgspec
import numpy as np
from numpy.typing import NDArray

from consilience.data.blocks import over_blocks
from consilience.data.streamed import Streamed
from consilience.data.table import Table
from consilience.disclosure.patterns import columns_of
from consilience.frames import pl
from consilience.secagg import Identity
from consilience.secagg.context import sha256

__all__ = ["Marks", "marks_of", "marks_of_table", "taking_part"]

_LABEL = b"consilience/agent/table/1"
Words = NDArray[np.uint64]
MOST_COLUMNS = 64


class Marks(msgspec.Struct, frozen=True):
    """A table's number of rows, its mark as a whole, and that of the values of each of its columns. Empty texts where they are not known.

    ``whole`` says that no row lacks a value: then there is one group of rows that sums are over, and not several. ``pairs`` are the marks
    of values of two columns together, where both have the same value in several rows: then the values of each may be what they were, and
    the rows others. Of more than :data:`MOST_COLUMNS` such columns there are none.
    """

    rows: int = 0
    table: str = ""
    columns: dict[str, str] = {}
    whole: bool = True
    pairs: dict[str, str] = {}

    def differs(self, other: Marks, names: Sequence[str]) -> bool:
        """Whether some columns do not have the values that they had, by themselves or two of them together, as far as is known."""
        if any(self.columns.get(name) != other.columns.get(name) for name in names):
            return True
        both = (_both(*pair) for pair in combinations(sorted(names), 2))
        return any(self.pairs[pair] != other.pairs[pair] for pair in both if pair in self.pairs and pair in other.pairs)


def _both(first: str, second: str) -> str:
    return f"{len(first)}:{first},{second}"


def taking_part(table: Table) -> pl.DataFrame:
    """The rows and values of a shielded table: labels where there are levels, else numbers. Rows without any value are left out.

    Levels that are numbers stand as numbers, so that it does not matter which kind a study gave to a column.

    >>> from consilience.data.schema import Schema
    >>> frame = pl.DataFrame({"A": [0.5, None, None], "B": [1, 0, None], "E": ["p", None, None]})
    >>> taking_part(Table(frame, Schema({"A": "continuous", "B": "binary", "E": ("multinomial", "pqr")}), "muenster")).rows()
    [(0.5, 1.0, 'p'), (None, 0.0, None)]
    """
    columns = {name: _values(table, name) for name in columns_of(table)}
    found = pl.DataFrame(columns)
    return found.filter(pl.any_horizontal(pl.all().is_not_null())) if columns else found


def _values(table: Table, name: str) -> pl.Series:
    if name not in table.codes:
        return pl.Series(name, table.numbers[name]).fill_nan(None)
    labels = table.schema[name].levels
    try:
        values = pl.Series(name, [float(label) for label in labels], dtype=pl.Float64)
    except ValueError:
        values = pl.Series(name, labels, dtype=pl.String)
    codes = pl.Series(np.where(table.codes[name] < 0, 0, table.codes[name]))
    return values.gather(codes).zip_with(pl.Series(table.codes[name] >= 0), pl.Series(name, [None], dtype=values.dtype))


def marks_of_table(table: Table, identity: Identity) -> Marks:
    """The marks of what takes part. Those of a table that is read block by block are sums, and others than those of the same table in
    memory: where a site changes from one to the other, its rows count as changed, and its owner is asked.
    """
    if not isinstance(table, Streamed):
        rows = taking_part(table)
        return marks_of(rows, rows.columns, identity)
    key, names = sha256(identity.sign(_LABEL)), sorted(table.names)
    sums: dict[tuple[str, ...], Words] = {}
    for found in over_blocks(table, names, partial(_summed, key, names)):
        sums = {which: found[which] + sums.get(which, np.uint64(0)) for which in found}
    marks = {which: hmac.new(key, b"sums" + words.astype(">u8").tobytes(), hashlib.sha256).hexdigest() for which, words in sums.items()}
    rows_held = int(sums[()][0]) if sums else 0
    whole = all(int(sums[name,][0]) == rows_held for name in names if (name,) in sums)
    pairs = {_both(*which): mark[:32] for which, mark in marks.items() if len(which) == 2}
    return Marks(rows_held, marks.get((), ""), {name: marks[name,] for name in names if (name,) in marks}, whole, pairs)


def _summed(key: bytes, names: Sequence[str], block: Table) -> dict[tuple[str, ...], Words]:
    """Of one block: how many rows have values, and two sums of their words; for all columns, for each of them, and for each two."""
    frame = taking_part(block)
    values, there = dict[str, Words](), dict[str, NDArray[np.bool_]]()
    for name in names:
        seed = hmac.new(key, name.encode(), hashlib.sha256).digest()
        values[name] = _mixed(_words(frame[name], key) ^ np.uint64(int.from_bytes(seed[:8], "big")))
        there[name] = frame[name].is_not_null().to_numpy()
    rows = np.zeros(frame.height, np.uint64)
    for words in values.values():
        rows += words  # modulo 2**64, as unsigned numbers are
    found: dict[tuple[str, ...], Words] = {(name,): _told(values[name][there[name]]) for name in names}
    found[()] = _told(_mixed(rows))
    for one, other in combinations(names if len(names) <= MOST_COLUMNS else (), 2):
        both = there[one] & there[other]
        found[one, other] = _told(_mixed(values[one][both] + values[other][both]))
    return found


def _told(words: Words) -> Words:
    again = _mixed(words ^ np.uint64(0xD1B54A32D192ED03))
    return np.array([len(words), words.sum(dtype=np.uint64), again.sum(dtype=np.uint64)], dtype=np.uint64)


def marks_of(frame: pl.DataFrame, names: Iterable[str], identity: Identity) -> Marks:
    """The marks of some columns of a table.

    The same numbers are the same, whatever type a file gave them: 1 and 1.0.

    >>> identity, frame = Identity.generate(), pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    >>> again = pl.DataFrame({"b": ["y", "x"], "a": [2.0, 1.0]})
    >>> marks_of(frame, "ab", identity) == marks_of(again, "ab", identity)
    True
    >>> crossed = pl.DataFrame({"a": [1, 2], "b": ["y", "x"]})
    >>> one, other = marks_of(frame, "ab", identity), marks_of(crossed, "ab", identity)
    >>> one.columns == other.columns, one.table == other.table
    (True, False)
    """
    key = sha256(identity.sign(_LABEL))
    columns, rows, whole = {}, np.zeros(frame.height, np.uint64), True
    tied = dict[str, tuple[Words, NDArray[np.bool_]]]()
    for name in sorted(names):
        seed = hmac.new(key, name.encode(), hashlib.sha256).digest()
        values = _mixed(_words(frame[name], key) ^ np.uint64(int.from_bytes(seed[:8], "big")))
        there = frame[name].is_not_null().to_numpy()
        columns[name], whole = _mark(key, values[there]), whole and bool(there.all())
        if len(np.unique(values[there])) < there.sum():
            tied[name] = values, there
        rows += values  # modulo 2**64, as unsigned numbers are
    few = tied if len(tied) <= MOST_COLUMNS else {}
    pairs = {_both(*pair): _sum_mark(key, few[pair[0]], few[pair[1]]) for pair in combinations(few, 2)}
    return Marks(frame.height, _mark(key, _mixed(rows)), columns, whole, pairs)


def _sum_mark(key: bytes, one: tuple[Words, NDArray[np.bool_]], other: tuple[Words, NDArray[np.bool_]]) -> str:
    """Of the rows that have both values, whatever their order: by a sum, since there are many pairs, and sorting takes longer."""
    there = one[1] & other[1]
    words = _mixed(one[0][there] + other[0][there])
    told = np.array([there.sum(), words.sum(dtype=np.uint64)], dtype=">u8").tobytes()
    return hmac.new(key, told, hashlib.sha256).hexdigest()[:32]


def _mark(key: bytes, values: Words) -> str:
    return hmac.new(key, np.sort(values).astype(">u8").tobytes(), hashlib.sha256).hexdigest()


def _words(column: pl.Series, key: bytes) -> Words:
    """A word of 64 bits for each value. Not polars' own hashes: those change with its version, and marks outlive that."""
    if (column.dtype.is_numeric() and not column.dtype.is_decimal()) or column.dtype == pl.Boolean:
        numbers = column.cast(pl.Float64).to_numpy().astype(np.float64) + 0.0  # no minus zero
        return np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)
    known: dict[object, int] = {None: 0}
    found = []
    for value in column.to_list():
        text = None if value is None else str(value)
        if text not in known:
            digest = hashlib.blake2b(str(text).encode("utf-8", "surrogatepass"), digest_size=8, key=key).digest()
            known[text] = int.from_bytes(digest, "big")
        found.append(known[text])
    return np.array(found, dtype=np.uint64)


def _mixed(words: Words) -> Words:
    """Every bit of a word depends on every other: the last steps of splitmix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
