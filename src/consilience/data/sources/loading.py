"""Reading what a site holds, whatever it is: a frame, a file, an address."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from consilience.data.errors import EmptyDataError, OutOfMemoryError, ReadError
from consilience.data.sources.emptying import emptied_of
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.data.sources.registry import (
    Source,
    source_of_address,
    source_of_file,
    source_of_folder,
    source_of_object,
    source_of_pattern,
)
from consilience.frames import pl

__all__ = ["Scanned", "load", "load_bytes", "scan", "scan_larger"]

_FOUND_OUT = Reading()
SLICE_ROWS = 1 << 17
"""Rows that are taken from a file at a time, or a group of its rows if that has more."""
GROUPS_AHEAD = 128
"""Groups of rows that polars reads ahead, of one column, when columns are looked at before a study."""
COPIES = 4
"""How often a table is in memory, in words of eight bytes: as it is read, as it is encoded, and what is made of some columns."""


def load(source: Any, owner: str, reading: Reading = _FOUND_OUT) -> Loaded:
    """Read what a site holds.

    Parameters
    ----------
    source : polars.DataFrame, polars.LazyFrame, pandas.DataFrame, str or Path, or whatever else a module of this package reads
        A frame, the path of a file, or an address.
    owner : str
        The site's name, for messages.
    reading : Reading
        How it is to be read, where its owner says so.

    Returns
    -------
    Loaded

    Raises
    ------
    ReadError
        If it is something else, or the file cannot be read.
    EmptyDataError
        If there is no row or no column.

    Examples
    --------
    >>> load(pl.DataFrame({"A": [1.5, 2.5]}), "muenster").frame.shape
    (2, 1)
    """
    module, found, name = _source(source, owner)
    return emptied_of(_not_empty(module.read(found, name, owner, reading), name), reading.missing)


def load_bytes(content: bytes, name: str, owner: str, reading: Reading = _FOUND_OUT) -> Loaded:
    r"""Read a table from the content of a file, which need not be on a disk.

    Parameters
    ----------
    content : bytes
        The file.
    name : str
        What it is called; its ending says what it is.
    owner : str
        The site's name, for messages.
    reading : Reading
        How it is to be read, where its owner says so.

    Returns
    -------
    Loaded

    Raises
    ------
    ReadError, EmptyDataError
        As :func:`load`.

    Examples
    --------
    >>> load_bytes(b"A,B\n1,x\n2,y\n", "table.csv", "muenster").frame.dtypes
    [Int64, String]
    """
    return emptied_of(_not_empty(source_of_file(name).read(content, name, owner, reading), repr(name)), reading.missing)


def scan(source: Any, owner: str, reading: Reading = _FOUND_OUT) -> pl.LazyFrame:
    """The same table as :func:`load`, lazily, so that what is asked of it can be computed without holding all of it.

    Sources that can be read in parts (Parquet, lazy frames) are; all others are read first, as :func:`load` does.

    Parameters
    ----------
    source, owner, reading
        As in :func:`load`.

    Returns
    -------
    polars.LazyFrame

    Examples
    --------
    >>> scan(pl.LazyFrame({"A": [1.5, 2.5]}), "muenster").select(pl.col("A").mean()).collect().item()
    2.0
    """
    module, found, name = _source(source, owner)
    if hasattr(module, "scan"):
        lazily: pl.LazyFrame = module.scan(found, name, owner, reading)
        return lazily
    return emptied_of(_not_empty(module.read(found, name, owner, reading), name), reading.missing).frame.lazy()


class Scanned(NamedTuple):
    """A table that is not loaded: lazily, what is known of it without reading it, and the bytes of what readers unpack at once.

    ``step`` is how many rows are best taken from it at a time; 0 where it can only be read from its beginning.
    """

    lazy: pl.LazyFrame
    loaded: Loaded
    unpacked: int
    step: int


def scan_larger(source: Any, owner: str, reading: Reading, memory: int) -> Scanned | None:
    """A table that would take more than so many bytes, without loading it; None if it takes less, or can only be loaded.

    Parameters
    ----------
    source, owner, reading
        As in :func:`load`.
    memory : int
        Bytes that the table may take, with what is made of it.

    Returns
    -------
    Scanned or None

    Raises
    ------
    OutOfMemoryError
        If it would have to be changed as it is read.

    Examples
    --------
    >>> scan_larger(pl.DataFrame({"A": [1.5]}), "muenster", Reading(), 1) is None  # it is in memory as it is
    True
    """
    if not isinstance(source, str | Path):
        return None
    module: Any
    module, found, name = _source(source, owner)
    module = module.of(found) if hasattr(module, "of") else module  # files of several programs have the same ending
    if not hasattr(module, "shape"):
        return None
    try:
        rows, columns, largest, together = module.shape(found, name, owner, reading)
    except ReadError:  # whoever loads it says what is wrong
        return None
    if rows * columns * COPIES * 8 <= memory:
        return None
    if reading.missing:
        raise OutOfMemoryError(
            f"{name!r} takes more than the {memory >> 20} MiB that it may (memory=), and is read a block of rows at a time; words that "
            f"stand for missing values ({', '.join(map(repr, reading.missing))}) need a loaded table. Make them missing in the file."
        )
    lazy = module.scan(found, name, owner, reading)
    levels = module.levels(found, name, owner, reading) if hasattr(module, "levels") else {}
    header = pl.DataFrame(schema=lazy.collect_schema())
    step = max(SLICE_ROWS, together) if together else 0
    ahead = min(GROUPS_AHEAD, rows // max(together, 1)) * together * 8
    return Scanned(lazy, Loaded(header, levels=levels, about=("read a block of rows at a time",)), 3 * largest + ahead, step)


def _source(source: Any, owner: str) -> tuple[Source, Any, str]:
    """The module that reads it, what the module is given, and what it is called in messages."""
    if not isinstance(source, str | Path):
        return source_of_object(source, owner), source, f"the data of {owner!r}"
    if isinstance(source, str) and (module := source_of_address(source)) is not None:
        return module, source, source
    path = Path(source)
    if path.is_dir() and (folder := source_of_folder()) is not None:
        return folder, path, str(path)
    if isinstance(source, str) and not path.is_file() and (module := source_of_pattern(source)) is not None:
        return module, path, source
    if not path.is_file():
        raise ReadError(f"The data of {owner!r} should be in {str(path)!r}, but there is no such file.")
    return source_of_file(str(path)), path, str(path)


def _not_empty(loaded: Loaded, name: str) -> Loaded:
    rows, columns = loaded.frame.height, loaded.frame.width
    if rows == 0 or columns == 0:
        said = name[:1].upper() + name[1:] if name.startswith("the data of") else name
        raise EmptyDataError(
            f"{said}: {rows} rows and {columns} columns; at least one of each is needed. Leave the site out or check the file."
        )
    return loaded
