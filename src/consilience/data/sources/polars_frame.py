"""A polars frame, which is taken as it is; a lazy one is collected."""

from __future__ import annotations

from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.frames import pl

__all__ = ["read", "scan"]


def read(source: pl.DataFrame | pl.LazyFrame, name: str, owner: str, reading: Reading) -> Loaded:
    """The frame."""
    return Loaded(source.collect() if isinstance(source, pl.LazyFrame) else source, about=("polars frame",))


def scan(source: pl.DataFrame | pl.LazyFrame, name: str, owner: str, reading: Reading) -> pl.LazyFrame:
    """The frame, as a lazy one."""
    return source.lazy()
