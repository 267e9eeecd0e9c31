"""From the many types of Arrow, files and databases to the few that a variable can have.

A column has one value a row: a number, a truth, a word, a category, a date or a time. Numbers of every width become 64 bits, decimals
become floats (nothing here computes with money), and what is no single value (lists, structures, JSON, bytes) is refused by name, not read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from consilience.data.errors import ReadError
from consilience.data.finding import Finding, Grade, Remedy, Step
from consilience.data.sources.loaded import Loaded
from consilience.frames import pl

__all__ = ["EXACT", "check_names", "plain", "whole"]

EXACT = 2**53
"""Up to here every whole number is a float of its own."""


def plain(frame: pl.DataFrame, about: tuple[str, ...] = ()) -> Loaded:
    """A table with each column in a type that a variable can have; columns that cannot have one are refused in the findings.

    >>> from decimal import Decimal
    >>> found = plain(pl.DataFrame({"dose": [Decimal("2.5"), None], "tags": [["a"], ["b"]]}))
    >>> found.frame.dtypes, [finding.code for finding in found.findings]
    ([Float64, String], ['nested'])
    """
    columns, findings = [], []
    for column in frame:
        done = _single(column)
        if done is None:
            findings.append(_refused(column))
            done = pl.Series(column.name, [None if v is None else str(v) for v in column.to_list()], dtype=pl.String)
        columns.append(done)
    return Loaded(pl.DataFrame(columns), about=about, findings=tuple(findings))


def whole(column: pl.Series) -> pl.Series:
    """A column of floats as integers if every value is whole; formats that know only floats write an integer in no other way.

    >>> whole(pl.Series([1.0, 2.0, None])).dtype, whole(pl.Series([1.0, 2.5])).dtype
    (Int64, Float64)
    """
    values = column.drop_nulls()
    if len(values) == 0 or not values.is_finite().all():
        return column
    is_whole = bool(((values == values.round()) & (values.abs() <= EXACT)).all())
    return column.cast(pl.Int64) if is_whole else column


def check_names(names: Iterable[str], called: str) -> None:
    """ReadError if two columns have the same name.

    >>> check_names(["age", "age"], "site.xlsx")
    Traceback (most recent call last):
    consilience.data.errors.ReadError: 'site.xlsx' has two columns named 'age'; every column needs a name of its own.
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ReadError(f"{called!r} has two columns named {name!r}; every column needs a name of its own.")
        seen.add(name)


def _single(column: pl.Series) -> pl.Series | None:
    """The column in a plain type, or None if its values are no single values."""
    dtype = column.dtype
    if _is_extension(dtype):
        return _stored(column, dtype)
    if dtype.is_decimal():
        return _decimal(column)
    if dtype.is_integer():
        return _integer(column)
    if dtype.is_float():
        return column.cast(pl.Float64)
    if dtype == pl.Null:
        return column.cast(pl.String)
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        return None
    return column


def _integer(column: pl.Series) -> pl.Series:
    numbers = column.cast(pl.Int64, strict=False)
    return numbers if numbers.null_count() == column.null_count() else column.cast(pl.Float64)


def _decimal(column: pl.Series) -> pl.Series:
    """Sums of integers come as decimals without digits after the point: those are integers again, the others floats."""
    if isinstance(column.dtype, pl.Decimal) and column.dtype.scale == 0:
        return _integer(column)
    return column.cast(pl.Float64)


def _is_extension(dtype: Any) -> bool:
    """By what it can do: older versions of polars know no such types."""
    return hasattr(dtype, "ext_name")


def _stored(column: Any, dtype: Any) -> pl.Series | None:
    """What an extension type means by what it stores: databases send exact decimals as text."""
    stored: pl.Series = column.ext.storage()
    if dtype.ext_name() == "arrow.opaque":
        return whole(stored.cast(pl.Float64)) if '"numeric"' in (dtype.ext_metadata() or "") else None
    if dtype.ext_name() == "arrow.bool8":
        return stored.cast(pl.Boolean)
    return None if dtype.ext_name() == "arrow.json" else _single(stored)


def _refused(column: pl.Series) -> Finding:
    words = f"{column.name!r} holds {_named(column.dtype)}, and a variable has one number, word or date in a row."
    return Finding("nested", Grade.REFUSED, words, (column.name,), remedies=(Remedy(Step.DROP, column.name),))


def _named(dtype: Any) -> str:
    if isinstance(dtype, pl.List | pl.Array):
        return "lists"
    if isinstance(dtype, pl.Struct):
        return "structures"
    if _is_extension(dtype):
        named = json.loads(dtype.ext_metadata() or "{}").get("type_name", dtype.ext_name().removeprefix("arrow."))
        return f"values of the database's type {named}"
    return "bytes" if dtype == pl.Binary else "objects"
