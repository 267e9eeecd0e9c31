"""A DuckDB file, opened to be read only, or a relation of a DuckDB that runs in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from consilience.data.errors import ReadError
from consilience.data.sources.arrow import frame_of
from consilience.data.sources.database import first_line, question
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.data.sources.packages import needed
from consilience.data.sources.plain import check_names, plain

__all__ = ["read", "read_relation"]

_TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY table_name"


def read(source: Path | bytes, name: str, owner: str, reading: Reading) -> Loaded:
    """A table or query of a DuckDB file; ReadError if it cannot be read, or would write."""
    package = needed("duckdb", "duckdb", "databases", "DuckDB files")
    if isinstance(source, bytes):
        raise ReadError(
            f"{name!r} is a DuckDB file, which is read from a folder of this computer; put it there, or export the table as Parquet."
        )
    try:
        # without access to anything outside: a query could otherwise write files or read others, though the database is read-only
        with package.connect(str(source), read_only=True, config={"enable_external_access": "false"}) as connection:
            tables = [table for (table,) in connection.execute(_TABLES).fetchall()]
            statements = connection.extract_statements(question(reading, tables, name))
            if len(statements) != 1:
                raise ReadError(f"A query must be one statement; that of {name!r} has {len(statements)}. Nothing was run.")
            return read_relation(connection.sql(statements[0].query), name, owner, reading)
    except package.Error as error:
        raise _said(name, error) from None


def read_relation(relation: Any, name: str, owner: str, reading: Reading) -> Loaded:
    """The rows of a relation; its enumerations are levels."""
    check_names(relation.columns, name)
    for column, kind in zip(relation.columns, relation.types, strict=True):
        if kind.id == "interval":
            raise ReadError(f"{column!r} of {name} is an interval; make it a number in the query: epoch({column}) are its seconds.")
    levels = {
        column: tuple(dict(kind.children)["values"])
        for column, kind in zip(relation.columns, relation.types, strict=True)
        if kind.id == "enum"
    }
    frame = frame_of(relation, name).with_columns(pl.col(one).cast(pl.String).cast(pl.Enum(words)) for one, words in levels.items())
    found = plain(frame, about=("DuckDB",))
    return Loaded(found.frame, levels=levels, about=found.about, findings=found.findings)


def _said(name: str, error: Exception) -> ReadError:
    first = first_line(error)
    if "read-only" in first or "disabled by configuration" in first:
        return ReadError(f"A query may only read; that of {name!r} would do more ({first}). Nothing was written.")
    if "lock" in first:
        return ReadError(f"{name!r} is in use by another program, which has locked it. Close that program, or copy the file.")
    return ReadError(f"{name!r} cannot be read with DuckDB: {first}.")
