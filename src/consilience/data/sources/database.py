"""What databases have in common: one table or one query is read, never written, and what was asked for is found out or said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from consilience.data.errors import ReadError
from consilience.data.sources.options import Reading

__all__ = ["first_line", "question", "quoted"]

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_READS = ("select", "with", "values", "table", "from")


def question(reading: Reading, tables: Sequence[str] | None, called: str) -> str:
    """The query to be asked: what the owner says, or all of the only table.

    >>> question(Reading(), ["patients"], "ward.duckdb")
    'SELECT * FROM "patients"'
    """
    if reading.query and reading.table:
        raise ReadError(f"Of {called!r} either a table or a query is read; got both, {reading.table!r} and a query. Leave one out.")
    if reading.query:
        return _checked(_text(reading.query), called)
    if reading.table:
        if tables is not None and reading.table not in tables:
            raise ReadError(f"{called!r} has no table {reading.table!r}. {_named(tables)}")
        return f"SELECT * FROM {quoted(reading.table)}"  # noqa: S608  (quoted)
    if tables is None or len(tables) != 1:
        raise ReadError(f"Which table or query of {called!r} is to be read must be said (table, query). {_named(tables or ())}".rstrip())
    return f"SELECT * FROM {quoted(tables[0])}"  # noqa: S608  (quoted)


def quoted(name: str) -> str:
    """A table's name in SQL, with its schema if it has one.

    >>> quoted("cdm.person"), quoted('odd"name')
    ('"cdm"."person"', '"odd""name"')
    """
    return ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))


def first_line(error: object) -> str:
    """What a database said, as one line without the end."""
    return " ".join(str(error).split("\n\n")[0].split()).rstrip(":. ")


def _text(query: str) -> str:
    """The query itself, or that in a file if it is the path of one."""
    if not query.lower().endswith(".sql"):
        return query
    try:
        return Path(query).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(f"The query should be in {query!r}, which cannot be read: {first_line(error)}.") from None


def _checked(query: str, called: str) -> str:
    """One statement that reads. A database held read-only can still write files and change its settings, by other statements."""
    words = _COMMENT.sub(" ", query).strip().rstrip(";").strip()
    first = re.match(r"\(*\s*(\w*)", words)
    if first is None or first[1].lower() not in _READS:
        raise ReadError(
            f"A query must be one that reads (SELECT or WITH …); that of {called!r} begins with {words[:20]!r}. Nothing was run."
        )
    return query.strip().rstrip(";")


def _named(tables: Sequence[str]) -> str:
    return f"It has: {', '.join(repr(table) for table in tables)}." if tables else ""
