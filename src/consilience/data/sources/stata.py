"""A file of Stata (``.dta``): value labels, and the missing values ``.a`` to ``.z``, which say why a value is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.data.sources.readstat import Gone, assembled, parsed
from consilience.frames import pl

__all__ = ["read"]

_MONTHS = {"%tm": 1, "%tq": 3, "%th": 6}
"""Formats that count months, quarters and half-years from January 1960, with the months in each."""


def read(source: Path | bytes, name: str, owner: str, reading: Reading) -> Loaded:
    """The table of a Stata file; ReadError if it is none."""
    columns, told = parsed("read_dta", "Stata", source, name, encoding=reading.encoding, user_missing=True)
    gone = {column: _letters(frozenset(letters)) for column, letters in told.missing_user_values.items()}
    loaded = assembled(columns, told, gone, ("Stata",))
    periods = {column: _MONTHS[kind[:3]] for column, kind in told.original_variable_types.items() if kind and kind[:3] in _MONTHS}
    frame = loaded.frame.with_columns(_dated(column, months) for column, months in periods.items())
    return Loaded(frame, loaded.ordered, loaded.levels, loaded.about, loaded.emptied, loaded.findings)


def _letters(letters: frozenset[str]) -> Gone:
    def gone(value: Any) -> str | None:
        return f".{value}" if isinstance(value, str) and value in letters else None

    return gone


def _dated(column: str, months: int) -> pl.Expr:
    """The first day of the period."""
    count = pl.col(column).cast(pl.Int64) * months
    return pl.date(1960 + count.floordiv(12), 1 + count % 12, 1).alias(column)
