"""A file of SPSS (``.sav``, ``.zsav``): value labels, codes and ranges declared missing, and which variables are ordinal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from consilience.data.kinds import level_label
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.data.sources.readstat import Gone, assembled, parsed
from consilience.data.sources.spss_size import check_size

__all__ = ["read"]


def read(source: Path | bytes, name: str, owner: str, reading: Reading) -> Loaded:
    """The table of an SPSS file; ReadError if it is none."""
    check_size(source, name)
    columns, told = parsed("read_sav", "SPSS", source, name, encoding=reading.encoding, user_missing=True)
    gone = {column: _declared(ranges) for column, ranges in told.missing_ranges.items()}
    ordinal = frozenset(column for column, measure in told.variable_measure.items() if measure == "ordinal")
    return assembled(columns, told, gone, (f"SPSS, {told.file_encoding or 'encoding not named'}",), ordinal)


def _declared(ranges: Sequence[Any]) -> Gone:
    """Whether a value is in one of the ranges that the file declares missing; single codes are ranges from and to themselves."""

    def gone(value: Any) -> str | None:
        return level_label(value) if any(_inside(value, one["lo"], one["hi"]) for one in ranges) else None

    return gone


def _inside(value: Any, low: Any, high: Any) -> bool:
    if isinstance(value, str) or isinstance(low, str):
        return isinstance(value, str) and value.strip() == str(low).strip()
    return isinstance(value, int | float) and bool(low <= value <= high)
