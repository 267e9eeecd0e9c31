"""Tables for spreadsheets, which take a cell that begins with certain signs for a formula and may run it.

Names come from many sites and are nobody's formulas. The convention is an apostrophe in front; numbers stay numbers. Every CSV file that
people are given is written here; programs read ``result.json``, which has all names as they are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from consilience.frames import pl

__all__ = ["frame_csv", "guarded", "guarded_csv", "to_csv"]

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


def frame_csv(frame: pl.DataFrame) -> str:
    r"""A table as CSV with every text guarded; lists of text as one text, with commas.

    >>> frame_csv(pl.DataFrame({"x": ["=a"], "given": [["@b", "c"]], "size": [-1.5]}))
    'x,given,size\n\'=a,"\'@b,c",-1.5\n'
    """
    joined = frame.with_columns(pl.col(pl.List(pl.String)).list.join(","))  # CSV has no lists
    texts = [column for column in joined.get_columns() if column.dtype == pl.String]
    safe = [pl.Series(column.name, [guarded(cell) for cell in column], dtype=pl.String) for column in texts]
    made = joined.with_columns(safe)
    return made.rename({name: str(guarded(name)) for name in made.columns}).write_csv()
