"""A relation of a DuckDB that runs in this process: what ``duckdb.sql(...)`` gives."""

from __future__ import annotations

from typing import Any

from consilience.data.errors import ReadError
from consilience.data.sources.database import first_line
from consilience.data.sources.duck import read_relation
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.data.sources.packages import needed

__all__ = ["read"]


def read(source: Any, name: str, owner: str, reading: Reading) -> Loaded:
    """The rows of the relation; ReadError if the database refuses."""
    package = needed("duckdb", "duckdb", "databases", "DuckDB relations")
    try:
        return read_relation(source, name, owner, reading)
    except package.Error as error:
        raise ReadError(f"The relation of {owner!r} cannot be read: {first_line(error)}.") from None
