"""Whether a table is the one that it was, without keeping it: marks made with a secret of the site.

A mark is a keyed digest of all rows, whatever their order, and of every column by itself. Whoever has the marks and not the site's key can
tell nothing from them, not even whether a row that they guess is in the table.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from consilience.secagg import Identity
from consilience.secagg.context import sha256

__all__ = ["Marks", "marks_of"]

_LABEL = b"consilience/agent/table/1"
Words = NDArray[np.uint64]


class Marks(msgspec.Struct, frozen=True):
    """A table's number of rows, its mark as a whole, and that of each of its columns. Empty texts where they are not known."""

    rows: int = 0
    table: str = ""
    columns: dict[str, str] = {}


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
    columns, rows = {}, np.zeros(frame.height, np.uint64)
    for name in sorted(names):
        seed = hmac.new(key, name.encode(), hashlib.sha256).digest()
        values = _mixed(_words(frame[name], key) ^ np.uint64(int.from_bytes(seed[:8], "big")))
        columns[name] = _mark(key, values)
        rows += values  # modulo 2**64, as unsigned numbers are
    return Marks(frame.height, _mark(key, _mixed(rows)), columns)


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
