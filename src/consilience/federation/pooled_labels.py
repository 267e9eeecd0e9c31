"""Columns of several sites in types that concatenate."""

from __future__ import annotations

import numpy as np

from consilience.data.kinds import Kind
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.frames import pl

__all__ = ["as_labels"]


def as_labels(frame: pl.DataFrame, schema: Schema, owner: str, *, centred: bool = False) -> pl.DataFrame:
    """Columns in types that concatenate: numbers as floats, levels as their labels.

    Where the site is a factor, continuous columns may be ``centred`` at it: that moves its dummy's coefficient and no likelihood, and keeps
    the digits of columns that differ between sites by millions of standard deviations. At the median, so that one wild value moves nothing.
    """
    table = Table(frame, schema, owner)
    columns: dict[str, pl.Series] = {}
    for name, numbers in table.numbers.items():
        known = numbers[~np.isnan(numbers)]
        moved = centred and schema[name].kind is Kind.CONTINUOUS and len(known) > 0
        columns[name] = pl.Series(name, numbers - float(np.median(known)) if moved else numbers)
    for name, codes in table.codes.items():
        levels = schema[name].levels
        columns[name] = pl.Series(name, [levels[c] if c >= 0 else None for c in codes.tolist()], dtype=pl.String)
    return pl.DataFrame(columns)
