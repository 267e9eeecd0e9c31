"""A Parquet file, which says of every column what it is."""

from __future__ import annotations

import io
from pathlib import Path

from consilience.data.errors import ReadError
from consilience.data.parquet_size import ParquetShape, parquet_shape
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.frames import pl

__all__ = ["read", "scan", "shape"]


def read(source: Path | bytes, name: str, owner: str, reading: Reading) -> Loaded:
    """The table of a Parquet file; ReadError if it is none."""
    try:
        # a file named data[1].parquet is a file, not a pattern
        frame = pl.read_parquet(io.BytesIO(source)) if isinstance(source, bytes) else pl.read_parquet(source, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _broken(name, error) from error
    return Loaded(frame, about=("Parquet",))


def scan(source: Path, name: str, owner: str, reading: Reading) -> pl.LazyFrame:
    """The table of a Parquet file, read as far as it is asked for; ReadError if it is none."""
    lazily = pl.scan_parquet(source, glob=False)
    try:
        lazily.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _broken(name, error) from error
    return lazily


def shape(source: Path, name: str, owner: str, reading: Reading) -> ParquetShape:
    """How large the table is, without reading it."""
    return parquet_shape(source)


def _broken(name: str, error: Exception) -> ReadError:
    first = str(error).strip().split("\n", maxsplit=1)[0].rstrip(":. ")
    return ReadError(f"{name!r} cannot be read as a Parquet table: {first}. Write it again with the program that made it.")
