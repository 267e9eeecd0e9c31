"""How many values an SPSS file stands for, looked at before anybody unpacks it.

A ``.zsav`` is packed by zlib, and rows of either kind may be written with one byte for a value, so that a few kilobytes can stand for
gigabytes. The header has the rows and the values of each; where it does not know the rows (-1), a byte is one value at most, and the
trailer of a ``.zsav`` has the bytes that its blocks unpack to.
"""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import BinaryIO

from consilience.data.errors import ReadError
from consilience.data.sources.excel_parts import MOST_CELLS

__all__ = ["check_size"]

_HEADER, _LAYOUT = 84, (2, 3)
_BIAS = -100
_ENTRY = 24
"""Bytes of the trailer's head, and of what it says of each block."""


def check_size(source: Path | bytes, name: str) -> None:
    """ReadError if a file stands for more values than are read. What is no file of SPSS is left to the parser.

    >>> head = b"$FL2" + bytes(60) + struct.pack("<5i", 2, 1000, 1, 0, 2_000_000)
    >>> check_size(head, "site.sav")
    Traceback (most recent call last):
    consilience.data.errors.ReadError: 'site.sav' has 2,000,000,000 values, and at most 50,000,000 are read. Export fewer columns, ...
    """
    with source.open("rb") if isinstance(source, Path) else io.BytesIO(source) as file:
        cells = _cells(file)
    if cells > MOST_CELLS:
        raise ReadError(
            f"{name!r} has {cells:,} values, and at most {MOST_CELLS:,} are read. Export fewer columns, or the table as Parquet or CSV."
        )


def _cells(file: BinaryIO) -> int:
    """Values, as far as the file says; 0 if it says nothing."""
    head = file.read(_HEADER)
    if len(head) < _HEADER or not head.startswith(b"$FL"):
        return 0
    order = "<" if struct.unpack_from("<i", head, 64)[0] in _LAYOUT else ">"
    _, width, packed, _, rows = struct.unpack_from(f"{order}5i", head, 64)
    if rows >= 0 and width > 0:
        return int(rows * width)
    size = file.seek(0, io.SEEK_END)
    return _unpacked(file, size, order) if packed == 2 else size


def _unpacked(file: BinaryIO, size: int, order: str) -> int:
    """Bytes that the blocks of a ``.zsav`` unpack to; the trailer is found from the end, since only its own head says how long it is."""
    tail = min(size, 1 << 20)
    file.seek(size - tail)
    data = file.read(tail)
    for blocks in range(tail // _ENTRY):
        at = tail - _ENTRY * (blocks + 1)
        if struct.unpack_from(f"{order}qqii", data, at)[::3] == (_BIAS, blocks):
            return sum(struct.unpack_from(f"{order}qqii", data, at + _ENTRY * (k + 1))[2] for k in range(blocks))
    return 0
