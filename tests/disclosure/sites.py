"""Tables of small sites, and what they are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from consilience.data.schema import Schema
from consilience.data.table import Table

NAMES = ("A", "B", "C", "D", "E")
SCHEMA = Schema({"A": "continuous", "B": "binary", "C": "continuous", "D": ("multinomial", "pqr"), "E": ("ordinal", "1234")})
"""Two numbers, and discrete variables with two, three and four levels."""


def table(columns: dict[str, list[Any]], schema: Schema = SCHEMA) -> Table:
    """A table from values; None is missing."""
    return Table(pl.DataFrame(columns, strict=False), schema, "muenster")


def random_site(rng: np.random.Generator, most: int = 40) -> Table:
    """A site that has some of the variables, with rare levels, and gaps in some patterns."""
    n = int(rng.integers(1, most))
    names = [name for name in SCHEMA if rng.random() < 0.8] or ["A"]
    columns = dict[str, list[Any]]()
    for name in names:
        levels = SCHEMA[name].levels
        shares = rng.dirichlet(np.full(max(len(levels), 1), 0.7))
        columns[name] = [levels[i] for i in rng.choice(len(levels), n, p=shares)] if levels else rng.normal(size=n).tolist()
    if rng.random() < 0.6:
        gaps = [[bool(rng.random() < 0.3) for _ in names] for _ in range(int(rng.integers(1, 5)))] + [[False] * len(names)]
        for row in range(n):
            for name, gap in zip(names, gaps[int(rng.integers(len(gaps)))], strict=True):
                if gap:
                    columns[name][row] = None
    return table(columns)


def values(of: Table) -> dict[str, list[float]]:
    """Every column as numbers, NaN where a value is missing."""
    codes = {name: np.where(codes < 0, np.nan, codes.astype(float)) for name, codes in of.codes.items()}
    return {name: column.tolist() for name, column in sorted({**of.numbers, **codes}.items())}
