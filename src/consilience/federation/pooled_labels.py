"""Columns of several sites in types that concatenate."""

from __future__ import annotations

import polars as pl

from consilience.data.schema import Schema
from consilience.data.table import Table

__all__ = ["as_labels"]


def as_labels(frame: pl.DataFrame, schema: Schema, owner: str) -> pl.DataFrame:
    """Columns in types that concatenate: numbers as floats, levels as their labels."""
    table = Table(frame, schema, owner)
    columns: dict[str, pl.Series] = {}
    for name, numbers in table.numbers.items():
        columns[name] = pl.Series(name, numbers)
    for name, codes in table.codes.items():
        levels = schema[name].levels
        columns[name] = pl.Series(name, [levels[c] if c >= 0 else None for c in codes.tolist()], dtype=pl.String)
    return pl.DataFrame(columns)
