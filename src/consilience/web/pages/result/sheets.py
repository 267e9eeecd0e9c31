"""Tables for spreadsheets, which take a cell that begins with certain signs for a formula and may run it.

Names come from many sites and are nobody's formulas. The convention is an apostrophe in front; numbers stay numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

__all__ = ["guarded", "guarded_csv", "to_csv"]

_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def guarded(cell: object) -> object:
    """A cell that no spreadsheet runs.

    >>> [guarded(cell) for cell in ("age", "=1+1", "-1.5", -1.5, "@sum", "-x", "")]
    ['age', "'=1+1", '-1.5', -1.5, "'@sum", "'-x", '']
    """
    # a lone plus says which way two go together, and runs nothing
    if not isinstance(cell, str) or not cell.startswith(_SIGNS) or cell == "+":
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def to_csv(rows: Iterable[Sequence[object]]) -> str:
    r"""Rows as CSV.

    >>> to_csv([["a", 1]])
    'a,1\n'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def guarded_csv(content: bytes) -> bytes:
    r"""A CSV file with every cell guarded; the same bytes if none need be.

    >>> guarded_csv(b"x,p\n=a,-1.5\n")
    b"x,p\n'=a,-1.5\n"
    """
    rows = list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))
    safe = [[guarded(cell) for cell in row] for row in rows]
    return content if safe == rows else to_csv(safe).encode()
