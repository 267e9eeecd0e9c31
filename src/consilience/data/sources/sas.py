"""A file of SAS (``.sas7bdat``, and ``.xpt`` as sent to authorities). Its labels are in a catalogue of their own, which is not read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.data.sources.readstat import Gone, assembled, parsed

__all__ = ["read"]


def read(source: Path | bytes, name: str, owner: str, reading: Reading) -> Loaded:
    """The table of a SAS file; ReadError if it is none."""
    if name.lower().endswith((".xpt", ".xport")):
        columns, told = parsed("read_xport", "SAS", source, name, encoding=reading.encoding)
    else:
        columns, told = parsed("read_sas7bdat", "SAS", source, name, encoding=reading.encoding, user_missing=True)
    gone = {column: _letters(frozenset(letters)) for column, letters in told.missing_user_values.items()}
    return assembled(columns, told, gone, ("SAS transport file" if told.file_format == "xport" else "SAS",))


def _letters(letters: frozenset[str]) -> Gone:
    """``.A`` to ``.Z`` and ``._``, which say why a value is missing."""

    def gone(value: Any) -> str | None:
        return f".{value}" if isinstance(value, str) and value in letters else None

    return gone
