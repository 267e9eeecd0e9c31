"""How much memory a Parquet file asks for, read from its own headers before anybody unpacks it.

A few kilobytes can stand for gigabytes: zeros compress well, and a run of equal values is a number and a count. The footer says how many
rows and which columns there are; each page says how long it is unpacked. Both are in Thrift's compact protocol, of which this module reads
what it needs (https://github.com/apache/parquet-format, parquet.thrift).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path
from typing import Any, NamedTuple

from consilience.data.errors import ReadError

__all__ = ["ParquetShape", "ParquetSize", "parquet_shape", "parquet_size"]

_MAGIC = b"PAR1"
_BROKEN = "This is not a whole Parquet file."
MOST_DEPTH = 16
MOST_COLUMNS = 100_000


@dataclass(frozen=True, slots=True)
class ParquetSize:
    """What a file holds when it is unpacked: ``unpacked`` are the bytes of its pages, ``values`` what they say to hold."""

    rows: int
    columns: int
    unpacked: int
    values: int

    @property
    def cells(self) -> int:
        """Rows times columns, or what the pages hold if they say more."""
        return max(self.rows * self.columns, self.values)


class ParquetShape(NamedTuple):
    """What a file's footer says: rows, columns, and the bytes and rows of its largest group of rows, which readers unpack as a whole."""

    rows: int
    columns: int
    largest: int
    together: int


def parquet_shape(path: Path) -> ParquetShape:
    """The shape of a Parquet file on disk, by the word of its footer, which alone is read; :class:`ReadError` if that is damaged.

    >>> import tempfile
    >>> import polars as pl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pl.DataFrame({"a": range(5000)}).write_parquet(f"{folder}/a.parquet", row_group_size=1000)
    ...     found = parquet_shape(Path(folder) / "a.parquet")
    >>> found.rows, found.columns, found.largest < 10_000
    (5000, 1, True)
    """
    try:
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(end - 8, 0))
            tail = file.read(8)
            length = int.from_bytes(tail[:4], "little")
            if tail[4:] != _MAGIC or length > end - 12:
                raise ReadError(_BROKEN)
            file.seek(end - 8 - length)
            footer = _Thrift(memoryview(file.read(length))).struct()
        groups = footer.get(4, [])
        columns = max((len(group.get(1, [])) for group in groups), default=0)
        largest, together = (max((int(group.get(field, 0)) for group in groups), default=0) for field in (2, 3))
        return ParquetShape(int(footer.get(3, 0)), columns, largest, together)
    except (IndexError, KeyError, TypeError, AttributeError, ValueError, OverflowError, OSError):
        raise ReadError(_BROKEN) from None


def parquet_size(content: bytes | bytearray | mmap) -> ParquetSize:
    """The size of a Parquet file, from its headers; :class:`ReadError` if they are damaged.

    >>> import io
    >>> import polars as pl
    >>> file = io.BytesIO()
    >>> pl.DataFrame({"a": [0] * 5000, "b": ["x"] * 5000}).write_parquet(file)
    >>> found = parquet_size(file.getvalue())
    >>> found.rows, found.columns, found.cells
    (5000, 2, 10000)
    """
    data = memoryview(content)
    try:
        if len(data) < 12 or data[:4] != _MAGIC or data[-4:] != _MAGIC:
            raise ReadError(_BROKEN)
        length = int.from_bytes(data[-8:-4], "little")
        if length > len(data) - 12:
            raise ReadError(_BROKEN)
        footer = _Thrift(data[len(data) - 8 - length : len(data) - 8]).struct()
        groups = footer.get(4, [])
        chunks = [chunk.get(3, {}) for group in groups for chunk in group.get(1, [])]
        rows = max(int(footer.get(3, 0)), sum(int(group.get(3, 0)) for group in groups))
        columns = max((len(group.get(1, [])) for group in groups), default=0)
        if len(chunks) > MOST_COLUMNS:
            raise ReadError(f"The file has {len(chunks)} column chunks; at most {MOST_COLUMNS} are read.")
        pages = [page for chunk in chunks for page in _pages(data, chunk)]
        if rows < 0 or any(length < 0 or count < 0 for length, count in pages):
            raise ReadError(_BROKEN)
        return ParquetSize(rows, columns, sum(length for length, _ in pages), sum(count for _, count in pages))
    except (IndexError, KeyError, TypeError, AttributeError, ValueError, OverflowError):
        raise ReadError(_BROKEN) from None


def _pages(data: memoryview, chunk: dict[int, Any]) -> Iterator[tuple[int, int]]:
    """Bytes and values of a column chunk's pages: by their own headers, which is what a reader makes room for, not by the footer's word."""
    start = min(at for at in (chunk.get(9), chunk.get(11)) if at)  # the first page, or the dictionary in front of it
    end = start + int(chunk[7])
    if not 0 <= start <= end <= len(data):
        raise ReadError(_BROKEN)
    while start < end:
        reader = _Thrift(data[start:end])
        head = reader.struct()
        told = head.get(5) or head.get(8) or {}  # a page of values, of the first or the second kind; a dictionary's are not counted
        yield int(head[2]), int(told.get(1, 0))
        if int(head[3]) < 0:
            raise ReadError(_BROKEN)
        start += reader.at + int(head[3])


class _Thrift:
    """The compact protocol: fields by number, structs as dictionaries."""

    def __init__(self, data: memoryview) -> None:
        self._data, self.at = data, 0

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise ValueError

    def _number(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)  # zigzag

    def _skip(self, count: int) -> None:
        self.at += count
        if self.at > len(self._data):
            raise IndexError

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """A struct, up to its stop field."""
        if depth > MOST_DEPTH:
            raise ValueError
        found: dict[int, Any] = {}
        field = 0
        while (head := self._data[self.at]) != 0:
            self.at += 1
            field = field + (head >> 4) if head >> 4 else self._number()
            found[field] = self._value(head & 0x0F, depth)
        self.at += 1
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):  # booleans are in the field's head
            return kind == 1
        if kind == 3:
            self._skip(1)
            return None
        if kind in (4, 5, 6):
            return self._number()
        if kind == 7:
            return self._skip(8)
        if kind == 8:  # names and statistics: only their length matters
            return self._skip(self._varint())
        if kind in (9, 10):
            return self._list(depth)
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError

    def _list(self, depth: int) -> list[Any]:
        head = self._data[self.at]
        self.at += 1
        count, kind = head >> 4, head & 0x0F
        if count == 15:
            count = self._varint()
        if count > len(self._data):
            raise ValueError
        if kind in (1, 2):  # in lists, a byte each
            self._skip(count)
            return []
        return [self._value(kind, depth) for _ in range(count)]
