"""A file with a database in it: SQLite's and DuckDB's share endings, and are told apart by how they begin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from consilience.data.errors import ReadError
from consilience.data.sources import duck, sqlite
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading

__all__ = ["of", "read"]


def read(source: Path | bytes, name: str, owner: str, reading: Reading) -> Loaded:
    """A table or query of a database in a file; ReadError if it is none."""
    start = source[:16] if isinstance(source, bytes) else _start(source)
    if start == b"SQLite format 3\x00":
        return sqlite.read(source, name, owner, reading)
    if start[8:12] == b"DUCK":
        return duck.read(source, name, owner, reading)
    raise ReadError(f"{name!r} must be a database of SQLite or DuckDB; it begins like neither. Check that it is the whole file.")


def of(source: Path) -> Any:
    """The module that reads a database in a file."""
    return duck if _start(source)[8:12] == b"DUCK" else sqlite


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)
