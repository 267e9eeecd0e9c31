"""How numbers are written, as patterns that Python and polars both read: the one place where that is said.

Patterns are without anchors; what holds a whole value puts ``^`` and ``$`` around them.
"""

from __future__ import annotations

import re

__all__ = ["COMMAS", "GROUPING", "NUMBER", "PLAIN", "SPACES", "grouped", "in_way"]

SPACES = (" ", "\u00a0", "\u202f", "\u2009")
GROUPING = (",", ".", "'", "’", *SPACES)
"""Marks between thousands that people use."""
_SIGN, _POWER = "[+-]?", r"(?:[eE][+-]?\d+)?"


def grouped(marks: str) -> str:
    """Digits in groups of three behind one to three of which the first is no zero, with one of the marks between them.

    >>> bool(re.fullmatch(grouped("."), "1.234.567")), bool(re.fullmatch(grouped("."), "0.123"))
    (True, False)
    """
    return rf"[1-9]\d{{0,2}}(?:[{re.escape(marks)}]\d{{3}})+"


def in_way(decimal: str, thousands: str = "") -> str:
    """A number with this decimal mark, and perhaps with this mark between thousands.

    >>> bool(re.fullmatch(in_way(",", "."), "1.234,5")), bool(re.fullmatch(in_way("."), "1,5"))
    (True, False)
    """
    mark = re.escape(decimal)
    whole = rf"(?:{grouped(thousands)}|\d+)" if thousands else r"\d+"
    return rf"{_SIGN}(?:{whole}(?:{mark}\d*)?|{mark}\d+){_POWER}"


PLAIN = rf"{_SIGN}(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+){_POWER}"
"""As machines write them. Digits behind a zero (``007``) are a code."""
NUMBER = rf"{_SIGN}(?:{grouped(''.join(GROUPING))}(?:[.,]\d+)?|\d+(?:[.,]\d*)?|[.,]\d+){_POWER}"
"""A number in any of the ways."""
COMMAS = rf"{_SIGN}(?:\d+,\d+|{grouped(',')}(?:\.\d+)?|{grouped('.')},\d+|,\d+)"
"""A number with a comma, which no plain one has: as decimal mark, between thousands, or behind points between thousands."""
