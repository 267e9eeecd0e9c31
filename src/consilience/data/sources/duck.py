"""A DuckDB file, opened to be read only, or a relation of a DuckDB that runs in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from polars.io.plugins import register_io_source

from consilience.data.errors import ReadError
from consilience.data.parquet_size import ParquetShape
from consilience.data.sources.arrow import frame_of
from consilience.data.sources.database import first_line, question
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.data.sources.packages import needed
from consilience.data.sources.plain import check_names, plain
from consilience.frames import pl

__all__ = ["levels", "read", "read_relation", "scan", "shape"]

BATCH_ROWS = 1 << 17
"""Rows that are taken from a database at a time."""
_TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY table_name"


def read(source: Path | bytes, name: str, owner: str, reading: Reading) -> Loaded:
    """A table or query of a DuckDB file; ReadError if it cannot be read, or would write."""
    needed("duckdb", "duckdb", "databases", "DuckDB files")
    if isinstance(source, bytes):
        raise ReadError(
            f"{name!r} is a DuckDB file, which is read from a folder of this computer; put it there, or export the table as Parquet."
        )
    with _asked(source, name, reading) as relation:
        return read_relation(relation, name, owner, reading)


@contextmanager
def _asked(source: Path, name: str, reading: Reading) -> Iterator[Any]:
    """What is asked of a DuckDB file, as a relation that is open for the while."""
    package = needed("duckdb", "duckdb", "databases", "DuckDB files")
    try:
        # without access to anything outside: a query could otherwise write files or read others, though the database is read-only
        with package.connect(str(source), read_only=True, config={"enable_external_access": "false"}) as connection:
            tables = [table for (table,) in connection.execute(_TABLES).fetchall()]
            statements = connection.extract_statements(question(reading, tables, name))
            if len(statements) != 1:
                raise ReadError(f"A query must be one statement; that of {name!r} has {len(statements)}. Nothing was run.")
            yield connection.sql(statements[0].query)
    except package.Error as error:
        raise _said(name, error) from None


def shape(source: Path, name: str, owner: str, reading: Reading) -> ParquetShape:
    """How large the table is; DuckDB reads it in small pieces."""
    with _asked(source, name, reading) as relation:
        return ParquetShape(int(relation.count("*").fetchall()[0][0]), len(relation.columns), 0, 0)


def levels(source: Path, name: str, owner: str, reading: Reading) -> dict[str, tuple[str, ...]]:
    """The levels of its enumerations."""
    with _asked(source, name, reading) as relation:
        return dict(read_relation(relation.limit(0), name, owner, reading).levels)


def scan(source: Path, name: str, owner: str, reading: Reading) -> pl.LazyFrame:
    """The same table, read anew, some rows at a time, whenever it is asked for."""
    needed("pyarrow", "pyarrow", "databases", "DuckDB files larger than memory")
    with _asked(source, name, reading) as relation:
        header = read_relation(relation.limit(0), name, owner, reading)
    schema = header.frame.schema

    def batches(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        columns = list(schema) if with_columns is None else with_columns
        left = n_rows
        with _asked(source, name, reading) as relation:
            asked = relation.select(*(_column(column) for column in columns)) if columns else relation
            for batch in asked.to_arrow_reader(BATCH_ROWS if batch_size is None else min(batch_size, BATCH_ROWS)):
                frame = _plain(batch, columns, schema)
                frame = frame if left is None else frame.head(left)
                left = None if left is None else left - frame.height
                yield frame if predicate is None else frame.filter(predicate)
                if left == 0:
                    return

    return register_io_source(batches, schema=schema)


def _column(name: str) -> Any:
    return needed("duckdb", "duckdb", "databases", "DuckDB files").ColumnExpression(name)


def _plain(batch: Any, columns: list[str], schema: pl.Schema) -> pl.DataFrame:
    """Rows in the types that the whole table has."""
    frame = plain(pl.DataFrame(batch)).frame
    return frame.select(
        pl.col(column).cast(pl.String).cast(schema[column]) if isinstance(schema[column], pl.Enum) else pl.col(column).cast(schema[column])
        for column in columns
    )


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
