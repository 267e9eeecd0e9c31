"""An SQLite file, opened to be read only.

SQLite holds any type in any column, so what a column is follows from all of its values: integers, floats, or text, which is typed as in a
text file. Text that is an ISO date or time throughout is such.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from consilience.data.errors import ReadError
from consilience.data.sources.columns import typed_text
from consilience.data.sources.database import first_line, question
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.data.sources.plain import check_names
from consilience.frames import pl

__all__ = ["read"]

_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
_READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def read(source: Path | bytes, name: str, owner: str, reading: Reading) -> Loaded:
    """A table or query of an SQLite file; ReadError if it cannot be read, or would write."""
    connection = _opened(source)
    try:
        tables = [table for (table,) in connection.execute(_TABLES)]
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READS else sqlite3.SQLITE_DENY)
        cursor = connection.execute(question(reading, tables, name))
        names = [column[0] for column in cursor.description or ()]
        check_names(names, name)
        columns = [_column(one, values, name) for one, values in zip(names, _columns(cursor.fetchall(), len(names)), strict=True)]
    except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as error:
        raise _said(name, error) from None
    finally:
        connection.close()
    loaded = typed_text(pl.DataFrame(columns), reading)
    return Loaded(loaded.frame, about=("SQLite", *loaded.about), emptied=loaded.emptied, findings=loaded.findings)


def _opened(source: Path | bytes) -> sqlite3.Connection:
    if isinstance(source, bytes):
        connection = sqlite3.connect(":memory:")
        connection.deserialize(source)
        return connection
    return sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)


def _columns(rows: Sequence[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(width)]


def _column(column: str, values: list[Any], called: str) -> pl.Series:
    kinds = {type(value) for value in values if value is not None}
    if bytes in kinds:
        raise ReadError(
            f"{column!r} of {called!r} holds bytes, and a variable has a number, word or date. Name the other columns in a query."
        )
    if kinds == {int}:
        return pl.Series(column, values, dtype=pl.Int64)
    if kinds and kinds <= {int, float}:
        return pl.Series(column, values, dtype=pl.Float64, strict=False)
    text = pl.Series(column, [value if value is None or isinstance(value, str) else repr(value) for value in values], dtype=pl.String)
    return _dates(text)


def _dates(text: pl.Series) -> pl.Series:
    """ISO dates and times, which is how SQLite's own functions write them, where every value is one."""
    there = len(text.drop_nulls())
    for dates in (text.str.to_date("%Y-%m-%d", strict=False), text.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False)):
        if 0 < len(dates.drop_nulls()) == there:
            return dates
    return text


def _said(name: str, error: Exception) -> ReadError:
    first = first_line(error)
    if "one statement" in first:
        return ReadError(f"A query must be one statement; that of {name!r} has more. Nothing was run.")
    if "not authorized" in first or "readonly" in first:
        return ReadError(f"A query may only read; that of {name!r} would do more. Nothing was written.")
    return ReadError(f"{name!r} cannot be read with SQLite: {first}.")
