"""Where the site's table comes from: a file of the folder, an upload, a database; and how it is read. Nothing is written anywhere."""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field, replace
from pathlib import Path

from consilience.data.errors import ReadError
from consilience.data.parquet_size import parquet_size
from consilience.data.sources import SUFFIXES, Loaded, Reading, load, load_bytes, suffix_of
from consilience.data.sources.registry import ADDRESSES, FILES

__all__ = ["MOST_BYTES", "OWNER", "Origin", "listed_files", "options_of"]

MOST_BYTES = 1 << 30
"""The largest file that is read: held beside its table while that is typed, it is what a usual machine has to spare."""
MOST_KEPT = 64 << 20
"""An upload of at most so many bytes is kept beside its table, to be read again in another way; of a larger one the table alone is."""
MOST_CELLS = 200_000_000
MOST_UNPACKED = 4 << 30
MOST_FILES = 500
OWNER = "this site"
_OPTIONS = {
    "text": ("separator", "decimal", "thousands", "encoding", "missing"),
    "excel": ("sheet", "decimal", "thousands", "missing"),
    **dict.fromkeys(("spss", "stata", "sas"), ("encoding",)),
    "database_file": ("table", "query", "missing"),
    "postgresql": ("table", "query"),
}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a table was read from, so that it can be read again.

    Attributes
    ----------
    name : str
        What it is called: a file's name, or an address.
    path : Path, optional
        Of a file of the folder.
    content : bytes, optional
        Of an upload, if it is small enough to be kept.
    address : str
        Of a database; without a password, which no address may have.
    reading : Reading
        What its owner says of it.
    """

    name: str
    path: Path | None = None
    content: bytes | None = field(default=None, repr=False)  # data have no place in a message about an error
    address: str = ""
    reading: Reading = field(default_factory=Reading)

    @property
    def copied(self) -> bool:
        """Whether the table is in this app's memory alone."""
        return self.path is None and not self.address

    @property
    def readable(self) -> bool:
        """Whether it can be read again without being chosen again."""
        return self.path is not None or self.content is not None or bool(self.address)

    def load(self) -> Loaded:
        """The table; an error of ours with the way out if it cannot be read."""
        if self.address:
            return self._asked()
        if self.content is not None:
            if suffix_of(self.name) == ".parquet":
                _check_parquet(self.content, self.name)
            return load_bytes(self.content, self.name, OWNER, self.reading)
        if self.path is None:
            raise ReadError(f"{self.name!r} is not kept beside its table, being larger than {MOST_KEPT:,} bytes. Open it again, on Data.")
        return self._read(self.path)

    def _asked(self) -> Loaded:
        if self.address.partition("://")[0].lower() not in ADDRESSES:
            raise ReadError("The address of a database begins with postgresql://, as in postgresql://user@host/name.")
        found = load(self.address, OWNER, self.reading)
        if found.frame.width * found.frame.height > MOST_CELLS:
            raise ReadError(f"The query gives more than {MOST_CELLS:,} values. Ask for fewer columns or rows.")
        return found

    def _read(self, path: Path) -> Loaded:
        parts = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        length = sum(part.stat().st_size for part in parts)
        if length > MOST_BYTES:
            raise ReadError(f"{self.name!r} has {length:,} bytes; at most {MOST_BYTES:,} are read. Leave out columns that no study needs.")
        for part in parts:
            if part.suffix.lower() == ".parquet" and part.stat().st_size:
                with part.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                    _check_parquet(content, part.name)
        return load(path, OWNER, self.reading)

    def let_go(self) -> Origin:
        """The same without an upload's bytes, where these are too many to be held beside the table."""
        return replace(self, content=None) if self.content is not None and len(self.content) > MOST_KEPT else self


def options_of(origin: Origin) -> tuple[str, ...]:
    """What can be said of how a source is read, by the names of :class:`~consilience.data.sources.Reading`.

    >>> options_of(Origin("site.csv")), options_of(Origin("site.parquet"))
    (('separator', 'decimal', 'thousands', 'encoding', 'missing'), ())
    """
    kind = ADDRESSES[origin.address.partition("://")[0].lower()] if origin.address else FILES.get(suffix_of(origin.name), "")
    return _OPTIONS.get(kind, ())


def listed_files(folder: Path) -> list[Path]:
    """The tables in a folder, by name: files of a known ending, and folders of Parquet files."""
    try:
        found = [path for path in folder.iterdir() if not path.name.startswith(".") and _is_table(path)]
    except OSError:
        return []
    return sorted(found, key=lambda path: path.name.casefold())[:MOST_FILES]


def _is_table(path: Path) -> bool:
    if path.is_dir():
        return any(part.is_file() for part in path.glob("*.parquet"))
    return suffix_of(path.name) in SUFFIXES and path.is_file()


def _check_parquet(content: bytes | mmap.mmap, name: str) -> None:
    found = parquet_size(content)
    if found.cells > MOST_CELLS or found.unpacked > MOST_UNPACKED:
        raise ReadError(
            f"{name!r} unpacks to {found.rows:,} rows, {found.columns:,} columns and {found.unpacked:,} bytes, more than this app holds "
            f"({MOST_CELLS:,} values, {MOST_UNPACKED:,} bytes). Leave out columns or rows that no study needs."
        )
