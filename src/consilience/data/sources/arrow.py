"""An Arrow table: whatever can hand over its columns in Arrow's own layout, without a copy and without knowing who made it.

pyarrow, DuckDB, ibis, nanoarrow and others do, by the method ``__arrow_c_stream__``.
"""

from __future__ import annotations

from typing import Any

from consilience.data.errors import ReadError
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.data.sources.plain import check_names, plain
from consilience.frames import pl

__all__ = ["frame_of", "read"]


def read(source: Any, name: str, owner: str, reading: Reading) -> Loaded:
    """The table, with ordered categories as such."""
    names = getattr(source, "column_names", None) or getattr(source, "columns", None)
    if isinstance(names, list):
        check_names([str(one) for one in names], name)
    declared, ordered = _categories(source)
    frame = frame_of(source, name).with_columns(pl.col(column).cast(pl.String).cast(pl.Enum(levels)) for column, levels in declared.items())
    found = plain(frame, about=(f"Arrow table of {type(source).__module__.partition('.')[0]}",))
    return Loaded(found.frame, ordered, {column: tuple(levels) for column, levels in declared.items()}, found.about, {}, found.findings)


def frame_of(stream: Any, name: str) -> pl.DataFrame:
    """A polars frame of an Arrow stream; ReadError if it breaks off or holds what polars cannot."""
    try:
        return pl.DataFrame(stream)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, TypeError) as error:
        first = str(error).strip().split("\n", maxsplit=1)[0].rstrip(":. ")
        if "interval" in first:
            first = "it has a column of intervals; turn it into a number of days or seconds where the table is made"
        raise ReadError(f"{name} cannot be read as a table: {first}.") from None


def _categories(source: Any) -> tuple[dict[str, list[str]], frozenset[str]]:
    """Ordered categories with their order, of objects that tell (pyarrow's tables): polars keeps the words and forgets the order."""
    levels: dict[str, list[str]] = {}
    for field in getattr(source, "schema", None) or ():
        if getattr(getattr(field, "type", None), "ordered", False):
            column = source.column(field.name).unify_dictionaries()
            words = column.chunk(0).dictionary.to_pylist() if column.num_chunks else []
            levels[field.name] = [str(word) for word in words]
    return levels, frozenset(levels)
