"""Texts as numbers, dates and level labels, in expressions of polars."""

from __future__ import annotations

import math

from consilience.frames import pl

__all__ = ["MINUS", "as_number", "date_of", "finite", "labels", "read_number"]

MINUS = {"\u2212": "-", "\u2013": "-"}
"""What word processors make of a minus sign."""
FORMATS = ("%Y-%m-%d", "%d.%m.%Y")
"""Days as text: the international way, and the German one. Day and month with a slash could be either, and are not guessed."""


def read_number(text: str) -> float | None:
    """A number, if it is one.

    >>> read_number("-9"), read_number("k.A.")
    (-9.0, None)
    """
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def as_number(text: pl.Expr) -> pl.Expr:
    """Numbers of texts; missing where a text is none, and not finite where it is "inf" or "nan"."""
    return text.str.strip_chars().cast(pl.Float64, strict=False)


def finite(number: pl.Expr) -> pl.Expr:
    """Numbers that are finite: others are no measurements."""
    return pl.when(number.is_finite()).then(number)


def labels(values: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Level labels, as :func:`consilience.data.kinds.level_label` makes them, without a call a row."""
    if dtype == pl.Boolean:
        return values.cast(pl.Int8).cast(pl.String)
    if dtype.is_float() or dtype.is_decimal():
        number = values.cast(pl.Float64)
        return pl.when(number == number.floor()).then(number.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(number.cast(pl.String))
    return values.str.strip_chars() if dtype == pl.String else values.cast(pl.String)


def date_of(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Days, of dates, times and texts; None if a column of this type has none."""
    if dtype == pl.Date:
        return values
    if dtype == pl.Datetime:
        return values.cast(pl.Date)
    if dtype == pl.String:
        text = values.str.strip_chars()
        return pl.coalesce([text.str.to_date(form, strict=False) for form in FORMATS])
    return None
