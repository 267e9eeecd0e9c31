"""How a source is to be read, where its owner says so. What is None is found out, and said."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Reading"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a source is to be read.

    Attributes
    ----------
    separator, decimal, thousands, encoding, quote : str, optional
        Of text files. ``thousands=""`` says that there is no such mark.
    missing : tuple of str
        Words and codes that stand for "missing", besides the usual ones, in every column. Numbers among them are compared by value.
    sheet : str, optional
        Of an Excel file: its name, or its number from 1.
    table : str, optional
        Of a database.
    query : str, optional
        SQL, of a database.

    Examples
    --------
    >>> Reading(decimal=",", missing=("-9",)).decimal
    ','
    """

    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    quote: str | None = None
    missing: tuple[str, ...] = ()
    sheet: str | None = None
    table: str | None = None
    query: str | None = None
