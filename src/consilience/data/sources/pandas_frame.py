"""A pandas frame, column by column, without importing pandas (and without needing pyarrow)."""

from __future__ import annotations

from typing import Any

from consilience.data.errors import ReadError
from consilience.data.kinds import level_label
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.frames import pl

__all__ = ["read"]


def read(source: Any, name: str, owner: str, reading: Reading) -> Loaded:
    """The frame's columns. Its ordered categories are ordinal; polars has no such type."""
    columns: dict[str, pl.Series] = {}
    for key in source.columns:
        column, label = source[key], str(key)
        if getattr(column, "ndim", 1) != 1 or label in columns:
            raise ReadError(f"The frame of {owner!r} has two columns named {label!r}; every column needs a name of its own.")
        columns[label] = _column(column, label)
    ordered = frozenset(str(key) for key in source.columns if getattr(source[key].dtype, "ordered", False))
    return Loaded(pl.DataFrame(columns), ordered=ordered, about=("pandas frame",))


def _column(column: Any, label: str) -> pl.Series:
    missing = column.isna().to_numpy()
    dtype = str(column.dtype).lower()
    if dtype == "category":
        levels = [level_label(level) for level in column.cat.categories]
        values = [None if gone else level_label(value) for value, gone in zip(column, missing, strict=True)]
        return pl.Series(label, values, dtype=pl.Enum(levels))
    if dtype.startswith("bool"):
        return pl.Series(label, [None if gone else bool(v) for v, gone in zip(column, missing, strict=True)], dtype=pl.Boolean)
    if dtype.startswith(("int", "uint")):
        return pl.Series(label, [None if gone else int(v) for v, gone in zip(column, missing, strict=True)], dtype=pl.Int64)
    if dtype.startswith("float"):
        return pl.Series(label, column.to_numpy(dtype="float64", na_value=float("nan")), nan_to_null=True)
    values = [None if gone else value for value, gone in zip(column, missing, strict=True)]
    try:
        return pl.Series(label, values, strict=True) if values else pl.Series(label, [], dtype=pl.String)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values if value is not None})
        raise ReadError(f"Column {label!r} mixes values of the types {', '.join(kinds)}; convert it to one type first.") from None
