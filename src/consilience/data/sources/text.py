"""A text file with a line for each row: CSV in every common dialect, separated by tabs or otherwise, packed or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from consilience.data.errors import ReadError
from consilience.data.sources.content import recoded, unpacked
from consilience.data.sources.dialect import NONE, dialect_of
from consilience.data.sources.encoding import encoding_of
from consilience.data.sources.gathering import gathered
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.noticed import no_header
from consilience.data.sources.options import Reading
from consilience.data.sources.records import tables
from consilience.frames import pl

__all__ = ["read"]

SAMPLE = 1 << 18
"""Bytes that the layout is found out from."""


def read(source: Path | bytes, name: str, owner: str, reading: Reading) -> Loaded:
    r"""The table of a text file.

    Parameters
    ----------
    source : Path or bytes
        The file.
    name : str
        What it is called, for messages.
    owner : str
        The site's name.
    reading : Reading
        What the owner says of it; the rest is found out, and said in ``about``.

    Returns
    -------
    Loaded

    Raises
    ------
    ReadError
        If it cannot be read, or not without guessing.

    Examples
    --------
    >>> found = read("Größe;Alter\n1,80;61\n1,75;70\n".encode("cp1252"), "site.csv", "muenster", Reading())
    >>> found.frame.to_dict(as_series=False)
    {'Größe': [1.8, 1.75], 'Alter': [61, 70]}
    >>> found.about
    ('separated by semicolons', 'encoding windows-1252, since it is not UTF-8', "decimal mark ',' in 'Größe'")
    """
    try:
        return _read(unpacked(source, name), name, reading)
    except OSError as error:
        raise ReadError(f"{name!r} cannot be read: {error}. Check that {owner!r} may read it.") from error


def _read(source: Path | bytes, name: str, reading: Reading) -> Loaded:
    encoding = encoding_of(source, name, reading)
    head = _head(recoded(source, encoding.name, name))
    returns = b"\r" in head and b"\n" not in head
    sample = _lines(head[:SAMPLE], returns=returns).decode(errors="ignore")
    dialect = dialect_of(sample, name, reading, whole=len(head) <= SAMPLE)

    def texts(only: list[int] | None) -> Iterator[pl.DataFrame]:
        blocks = (_lines(block, returns=returns) for block in recoded(source, encoding.name, name))
        return tables(blocks, dialect, name, only)

    loaded = _named(gathered(texts, _apart(dialect.names), reading), name)
    about = (*dialect.about, encoding.said, *(("lines end with a return",) if returns else ()), *loaded.about)
    header = no_header(name, loaded.frame)
    return replace(loaded, about=about, findings=(*encoding.findings, *((header,) if header else ()), *loaded.findings))


def _head(blocks: Iterator[bytes]) -> bytes:
    """The beginning of a file: more than is looked at, or all of it."""
    head = b""
    for block in blocks:
        head += block
        if len(head) > SAMPLE:
            break
    return head


def _apart(names: tuple[str, ...]) -> list[str]:
    """Names that differ: those of several columns without one are separators, which no name of a column is, until they are looked at."""
    nameless = [place for place, name in enumerate(names) if not name]
    return list(names) if len(nameless) < 2 else [name or NONE * (place + 1) for place, name in enumerate(names)]


def _named(loaded: Loaded, name: str) -> Loaded:
    """The table without columns that have neither a name nor a value: separators at the ends of rows. One nameless column is an index."""
    frame = loaded.frame
    columns = [column.alias(column.name.strip(NONE)) for column in frame.iter_columns()]
    kept = [column for column in columns if column.name or column.null_count() < column.len()]
    if len([column for column in kept if not column.name]) > 1:
        raise ReadError(f"{name!r} has two columns without a name; every column needs a name of its own.")
    if len(kept) == frame.width or frame.is_empty():
        return loaded
    gone = frame.width - len(kept)
    said = f"{gone} column{'s' if gone > 1 else ''} without a name and without a value left out"
    left = pl.DataFrame([column.alias(str(place)) for place, column in enumerate(kept)])
    left.columns = [column.name for column in kept]
    return replace(loaded, frame=left, about=(*loaded.about, said))


def _lines(block: bytes, *, returns: bool) -> bytes:
    """Lines that end with a return alone, as old Macs wrote them, end as all others do."""
    return block.replace(b"\r", b"\n") if returns else block
