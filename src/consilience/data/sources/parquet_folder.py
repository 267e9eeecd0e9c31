"""A folder of Parquet files as one table: the parts that Spark, DuckDB and data warehouses write.

The parts must have the same columns. Folders inside it that are named ``key=value`` are a column each, as those programs mean it. A pattern
(``folder/*.parquet``) stands for the files that fit it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from consilience.data.errors import ReadError
from consilience.data.parquet_size import ParquetShape, parquet_shape
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.data.sources.plain import plain
from consilience.frames import pl

__all__ = ["fits", "read", "scan", "shape"]

_MARKS = ("*", "?", "[")
_BROKEN = (pl.exceptions.PolarsError, OSError)


def read(source: Path, name: str, owner: str, reading: Reading) -> Loaded:
    """The table of all Parquet files in a folder, in the order of their names; ReadError if there is none or they differ."""
    parts = _parts(source, name)
    lazily = _scanned(_root(source), parts, name)
    try:
        frame = lazily.collect()
    except _BROKEN as error:
        raise ReadError(f"The Parquet files in {name!r} cannot be read: {_first(error)}. Write them again.") from None
    return plain(frame, about=(f"Parquet, {len(parts)} files in one folder" if len(parts) > 1 else "Parquet, one file in a folder",))


def scan(source: Path, name: str, owner: str, reading: Reading) -> pl.LazyFrame:
    """The same table, read as far as it is asked for."""
    return _scanned(_root(source), _parts(source, name), name)


def shape(source: Path, name: str, owner: str, reading: Reading) -> ParquetShape:
    """How large the table is, without reading it."""
    parts = [parquet_shape(part) for part in _parts(source, name)]
    keys = len({part for path in _parts(source, name) for part in path.relative_to(_root(source)).parts[:-1] if "=" in part} and {0})
    rows, columns = sum(one.rows for one in parts), max(one.columns for one in parts) + keys
    return ParquetShape(rows, columns, max(one.largest for one in parts), max(one.together for one in parts))


def fits(pattern: str) -> bool:
    """True if a path is a pattern, and some Parquet file fits it.

    >>> fits("folder/*.csv"), fits("folder/site.parquet")
    (False, False)
    """
    return any(mark in pattern for mark in _MARKS) and bool(_fitting(Path(pattern)))


def _fitting(pattern: Path) -> list[Path]:
    root = _root(pattern)
    return sorted(path for path in root.glob(str(pattern.relative_to(root))) if path.suffix == ".parquet" and path.is_file())


def _root(source: Path) -> Path:
    """The folder that all files are in: of a pattern, what stands before its first mark."""
    if source.is_dir():
        return source
    fixed = list(takewhile(lambda part: not any(mark in part for mark in _MARKS), source.parts))
    return Path(*fixed)


def _parts(folder: Path, name: str) -> list[Path]:
    """The files, without those that programs put beside them (``_SUCCESS``, ``.crc``, hidden ones)."""
    if not folder.is_dir():
        return _fitting(folder)
    found = sorted(path for path in folder.rglob("*.parquet") if not _hidden(path.relative_to(folder)))
    if not found:
        there = ", ".join(sorted(path.name for path in folder.iterdir())[:5]) or "nothing"
        raise ReadError(f"A folder is read as one table if it holds .parquet files; {name!r} holds none but: {there}. Name a file in it.")
    return found


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _scanned(folder: Path, parts: Sequence[Path], name: str) -> pl.LazyFrame:
    in_keys = any("=" in part for path in parts for part in path.relative_to(folder).parts[:-1])
    first: dict[str, pl.DataType] = {}
    for part in parts:
        try:
            schema = dict(pl.scan_parquet(part, glob=False, hive_partitioning=False).collect_schema())
        except _BROKEN as error:
            raise ReadError(f"{part.name!r} in {name!r} cannot be read as a Parquet table: {_first(error)}. Write it again.") from None
        first = first or schema
        if list(schema.items()) != list(first.items()):
            _differ(first, schema, parts[0].name, part.name, name)
    return pl.scan_parquet(list(parts), glob=False, hive_partitioning=in_keys)


def _differ(one: dict[str, pl.DataType], other: dict[str, pl.DataType], first: str, part: str, name: str) -> None:
    strange = [column for column in {**one, **other} if one.get(column) != other.get(column)]
    seen = strange[0] if strange else "the order of the columns"
    raise ReadError(
        f"The Parquet files in {name!r} must have the same columns of the same types; {first!r} and {part!r} differ in {seen!r}. "
        f"Write them from one table, or name the file you mean."
    )


def _first(error: Exception) -> str:
    return str(error).strip().split("\n", maxsplit=1)[0].rstrip(":. ")
