"""What is inside an ``.xlsx`` file, looked at before anybody unpacks it: how large it becomes, and which cells hold errors.

Such a file is a zip archive of XML. A few kilobytes can stand for gigabytes, and two cells in opposite corners of a sheet for a table that
no memory holds; both are refused here. The cells that Excel computed to an error are counted here, too: the reader gives them as empty.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from consilience.data.errors import ReadError

__all__ = ["MOST_CELLS", "MOST_UNPACKED", "Sheet", "check_size", "sheet_in"]

MOST_UNPACKED = 2**30
"""Bytes of XML: about twenty million cells."""
MOST_CELLS = 50_000_000
"""Rows times columns of a sheet: the reader makes room for all of them."""
_CHUNK = 2**20
_OVERLAP = 2**12
"""Between two chunks, so that a cell across the seam is seen."""
_ROW = re.compile(rb'<(?:\w+:)?row [^>]*?\br="(\d+)"')
_PLACE = re.compile(rb'<(?:\w+:)?c [^>]*?\br="([A-Z]{1,3})\d+"')
_ERROR = re.compile(
    rb'<(?:\w+:)?c (?=[^>]*?\bt="e")[^>]*?\br="([A-Z]{1,3})(\d+)"[^>]*>(?:(?!</(?:\w+:)?c>).){0,2048}?<(?:\w+:)?v>([^<]{1,20})<', re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """How far a sheet reaches, and its errors by column (from 0) and by word."""

    rows: int
    columns: int
    errors: dict[int, Counter[str]]


def check_size(content: bytes, name: str) -> None:
    """ReadError if the archive is damaged or unpacks to more than can be held.

    >>> check_size(b"PK no archive", "site.xlsx")
    Traceback (most recent call last):
    consilience.data.errors.ReadError: 'site.xlsx' is not a whole Excel file. Open it in Excel and save it again as .xlsx, or as CSV.
    """
    try:
        fits = _fits(content)
    except _BROKEN:
        raise broken(name) from None
    if not fits:
        raise ReadError(
            f"{name!r} unpacks to more than {MOST_UNPACKED >> 20} MB, which is the most that is read. Save it as CSV or Parquet."
        )


def sheet_in(content: bytes, number: int, name: str) -> Sheet:
    """What the sheet of this number (from 0) holds, from its XML; ReadError if it spans more cells than can be held."""
    rows, columns = 0, 0
    errors: dict[tuple[bytes, bytes], bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for chunk in _overlapping(_unpacked(content, archive.getinfo(_part(archive, number)))):
                rows = max(rows, max((int(row) for row in _ROW.findall(chunk)), default=0))
                columns = max(columns, max((_index(letters) + 1 for letters in set(_PLACE.findall(chunk))), default=0))
                if b't="e"' in chunk:
                    errors.update({(column, row): word for column, row, word in _ERROR.findall(chunk)})
    except _BROKEN:
        raise broken(name) from None
    if rows * columns > MOST_CELLS:
        raise ReadError(
            f"A sheet of {name!r} spans {rows} rows and {columns} columns; at most {MOST_CELLS} cells are read. "
            f"Delete what stands far from the table, or save the table as CSV."
        )
    found: dict[int, Counter[str]] = {}
    for (column, _), word in errors.items():
        found.setdefault(_index(column), Counter())[word.decode("utf-8", "replace")] += 1
    return Sheet(rows, columns, found)


_BROKEN = (zipfile.BadZipFile, zlib.error, KeyError, IndexError, ValueError, ET.ParseError, NotImplementedError)


def broken(name: str) -> ReadError:
    """What is said of a file that is none."""
    return ReadError(f"{name!r} is not a whole Excel file. Open it in Excel and save it again as .xlsx, or as CSV.")


def _fits(content: bytes) -> bool:
    total = 0
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for part in archive.infolist():
            for chunk in _unpacked(content, part):
                total += len(chunk)
                if total > MOST_UNPACKED:
                    return False
    return True


def _unpacked(content: bytes, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """A part in pieces, however long it says it is: sizes in an archive are only claims."""
    at = part.header_offset
    start = at + 30 + int.from_bytes(content[at + 26 : at + 28], "little") + int.from_bytes(content[at + 28 : at + 30], "little")
    packed = memoryview(content)[start : start + part.compress_size]
    if part.compress_type == zipfile.ZIP_STORED:
        yield bytes(packed)
        return
    if part.compress_type != zipfile.ZIP_DEFLATED:
        raise zipfile.BadZipFile
    inflate = zlib.decompressobj(-15)
    for begin in range(0, len(packed), _CHUNK):
        yield inflate.decompress(packed[begin : begin + _CHUNK], _CHUNK)
        while inflate.unconsumed_tail:
            yield inflate.decompress(inflate.unconsumed_tail, _CHUNK)


def _overlapping(chunks: Iterator[bytes]) -> Iterator[bytes]:
    last = b""
    for chunk in chunks:
        yield last + chunk
        last = (last + chunk)[-_OVERLAP:]


def _part(archive: zipfile.ZipFile, number: int) -> str:
    """The path of a sheet in the archive: the workbook has its sheets in order by key, and another file says where each key is."""
    sheets = [element for element in _xml(archive, "xl/workbook.xml").iter() if element.tag.endswith("}sheet")]
    key = next(value for attribute, value in sheets[number].attrib.items() if attribute.endswith("}id"))
    for relation in _xml(archive, "xl/_rels/workbook.xml.rels"):
        if relation.get("Id") == key:
            target = relation.get("Target", "")
            return target[1:] if target.startswith("/") else f"xl/{target}"
    raise KeyError(key)


def _xml(archive: zipfile.ZipFile, path: str) -> ET.Element:
    """A small part of the archive. Entities are refused: they are how small XML becomes large, and Excel writes none."""
    text = archive.read(path)
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise ValueError(path)
    return ET.fromstring(text)  # noqa: S314  (without entities there is nothing to expand)


def _index(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number - 1
