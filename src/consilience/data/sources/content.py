"""The bytes of a text file: from a path or from memory, unpacked if it is packed, in UTF-8 whatever it was in."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path

from consilience.data.errors import ReadError

__all__ = ["BLOCK", "MOST_UNPACKED", "blocks_of", "recoded", "unpacked"]

BLOCK = 4 << 20
"""Bytes that are handled at a time, so that a file is never held beside its table."""
MOST_UNPACKED = 2 << 30
"""Bytes that a packed file may unpack to: a few kilobytes can stand for gigabytes, since equal bytes pack well."""


def unpacked(source: Path | bytes, name: str) -> Path | bytes:
    """The file itself, or what a packed one holds; ReadError if that is too much, or damaged.

    >>> unpacked(gzip.compress(b"A,B"), "site.csv.gz")
    b'A,B'
    """
    if not name.lower().endswith(".gz"):
        return source
    found = bytearray()
    try:
        with gzip.open(io.BytesIO(source) if isinstance(source, bytes) else source) as file:
            while block := file.read(BLOCK):
                found += block
                if len(found) > MOST_UNPACKED:
                    raise ReadError(
                        f"{name!r} unpacks to more than {MOST_UNPACKED:,} bytes, which is as much as is unpacked in memory. Unpack it, and "
                        f"give the file that comes out."
                    )
    except (OSError, EOFError, zlib.error) as error:
        raise ReadError(f"{name!r} cannot be unpacked: {error}. Pack it again, or give the file that is in it.") from error
    return bytes(found)


def blocks_of(source: Path | bytes) -> Iterator[bytes]:
    """The bytes, some at a time.

    >>> list(blocks_of(b"A,B"))
    [b'A,B']
    """
    with source.open("rb") if isinstance(source, Path) else io.BytesIO(source) as file:
        while block := file.read(BLOCK):
            yield block


def recoded(source: Path | bytes, encoding: str, name: str) -> Iterator[bytes]:
    """The text in UTF-8, some at a time, without a byte-order mark; ReadError where it is not in this encoding.

    >>> b"".join(recoded("Münster".encode("cp1252"), "windows-1252", "site.csv")).decode()
    'Münster'
    """
    if codecs.lookup(encoding).name == "utf-8":
        yield from _without_mark(blocks_of(source))
        return
    decoder, done = codecs.getincrementaldecoder(encoding)(), 0
    for block in (*blocks_of(source), b""):
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            where = done + error.start
            raise ReadError(
                f"{name!r} is no text in {encoding}: the byte at {where:,} has no meaning in it. Give the encoding that the file is in."
            ) from None
        done += len(block)
        yield text.removeprefix("\ufeff").encode() if done == len(block) else text.encode()


def _without_mark(blocks: Iterator[bytes]) -> Iterator[bytes]:
    yield next(blocks, b"").removeprefix(codecs.BOM_UTF8)
    yield from blocks
