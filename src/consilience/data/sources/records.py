"""A text file as tables of text, some rows at a time: cut between rows, never within a quoted field, and checked for its form.

Quotes are counted: in a well-formed file every second one opens a field or follows the one before, and every other closes a field or is
followed by the next. Separators outside quotes are counted, too, and must be as many as the rows ask for. What is not so is read with care
(and slowly), or is an error that names the line.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from consilience.data.errors import ReadError
from consilience.data.sources.dialect import Dialect
from consilience.frames import pl

__all__ = ["tables"]

_NEWLINE, _RETURN = 10, 13


def tables(blocks: Iterable[bytes], dialect: Dialect, name: str, only: list[int] | None = None) -> Iterator[pl.DataFrame]:
    r"""The rows as text, some at a time; columns are called by their number.

    Parameters
    ----------
    blocks : iterable of bytes
        The file in UTF-8.
    dialect : Dialect
        How it is laid out.
    name : str
        What it is called, for messages.
    only : list of int, optional
        Columns that are wanted; by default all.

    Yields
    ------
    polars.DataFrame

    Raises
    ------
    ReadError
        Where a row has more or fewer fields than the header, or a quote is not closed.

    Examples
    --------
    >>> layout = Dialect(",", '"', ("A", "B"), 1, ())
    >>> [table.rows() for table in tables([b"A,B\n1,x\n2", b",y\n"], layout, "site.csv")]
    [[('1', 'x')], [('2', 'y')]]
    """
    line, rest = dialect.lines + 1, b""
    quote, separator = dialect.quote.encode(), dialect.separator.encode()
    pending = _below(blocks, dialect.lines)
    for block in pending:
        data = rest + block
        form = _Form(data, quote, separator)
        if not form.proper:  # what is quoted is not known: the rest of the file is read with care
            yield from _carefully(data + b"".join(pending), dialect, name, line, only)
            return
        rest = data[form.cut :]
        if form.cut:
            yield _rows(data[: form.cut], form, dialect, name, line, only)
            line += form.lines
    if rest:  # a quote without end
        yield from _carefully(rest, dialect, name, line, only)


def _below(blocks: Iterable[bytes], lines: int) -> Iterator[bytes]:
    """The file below its first lines, with an end to its last line."""
    last = b""
    for block in blocks:
        place = 0
        while lines and (end := block.find(b"\n", place)) >= 0:
            place, lines = end + 1, lines - 1
        last = b"" if lines else block[place:]
        if last:
            yield last
    if last and not last.endswith(b"\n"):
        yield b"\n"


class _Form:
    """What the marks of some bytes say: whether quotes are in order, where the last row ends, and how many marks are outside quotes."""

    def __init__(self, data: bytes, quote: bytes, separator: bytes) -> None:
        self.proper = True
        bytes_ = np.frombuffer(data, dtype=np.uint8)  # bytes.count() takes ten times as long where there is much to count
        if not quote or quote not in data:
            self.cut = data.rfind(b"\n") + 1
            self.rows = self.lines = int(np.count_nonzero(bytes_ == _NEWLINE))
            self.separators = int(np.count_nonzero(bytes_[: self.cut] == ord(separator)))
            return
        marks = bytes_ == ord(quote)
        self.proper = _quotes_in_order(bytes_, np.flatnonzero(marks), ord(quote), ord(separator))
        inside = np.bitwise_xor.accumulate(marks.view(np.uint8)).view(np.bool_)
        newlines = bytes_ == _NEWLINE
        ends = np.flatnonzero(newlines & ~inside)
        self.cut = int(ends[-1]) + 1 if ends.size else 0
        self.lines = int(np.count_nonzero(newlines[: self.cut]))
        self.rows = int(ends.size)
        self.separators = int(np.count_nonzero((bytes_[: self.cut] == ord(separator)) & ~inside[: self.cut]))


def _quotes_in_order(data: npt.NDArray[np.uint8], places: npt.NDArray[np.int64], quote: int, separator: int) -> bool:
    """Every second quote begins a field or follows a quote; every other ends one or is followed by one, or by what is not read yet."""
    borders = (separator, _NEWLINE, _RETURN, quote)
    opening, closing = places[0::2], places[1::2]
    before = data[opening[opening > 0] - 1]
    behind = data[closing[closing < data.size - 1] + 1]
    return bool(np.isin(before, borders).all() and np.isin(behind, borders).all())


def _rows(data: bytes, form: _Form, dialect: Dialect, name: str, line: int, only: list[int] | None) -> pl.DataFrame:
    """Rows from bytes that end with a row."""
    # as many as there should be, and none too many in a row, which polars sees: then none are too few either
    if form.separators == form.rows * (len(dialect.names) - 1):
        try:
            return _parsed(data, dialect, only)
        except pl.exceptions.PolarsError:
            pass
    return pl.concat(_carefully(data, dialect, name, line, only))


def _parsed(body: bytes, dialect: Dialect, only: list[int] | None) -> pl.DataFrame:
    return pl.read_csv(
        body,
        has_header=False,
        schema={str(place): pl.String for place in range(len(dialect.names))},
        columns=only,
        separator=dialect.separator,
        quote_char=dialect.quote or None,
    )


def _carefully(data: bytes, dialect: Dialect, name: str, line: int, only: list[int] | None) -> Iterator[pl.DataFrame]:
    """Rows by Python's reader, which takes quotes within a field and spaces before one as they are, and knows its line."""
    options = {"quotechar": dialect.quote} if dialect.quote else {"quotechar": None, "quoting": csv.QUOTE_NONE}
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    reader = csv.reader(text, delimiter=dialect.separator, strict=True, skipinitialspace=dialect.separator != " ", **options)
    width, start = len(dialect.names), 0
    found: list[list[str]] = []
    try:
        for row in reader:
            if len(row) != width and (row or width == 1 < len(row)):
                raise ReadError(_ragged(name, line + start, len(row), width))
            start = reader.line_num
            if row or width == 1:  # a blank line is a value that is missing, in a table of one column; else it is nothing
                found.append(row or [""])
    except csv.Error as error:
        raise ReadError(
            f"Line {line + start} of {name!r} cannot be read: {error}. A quote within a quoted field is written twice, and every quote "
            f"that is opened is closed."
        ) from error
    columns = list(range(width)) if only is None else only
    yield pl.DataFrame(
        {str(place): [row[place] for row in found] for place in columns}, schema={str(place): pl.String for place in columns}
    )


def _ragged(name: str, line: int, fields: int, width: int) -> str:
    few = "few" if fields < width else "many"
    return (
        f"Line {line} of {name!r} has {fields} field{'s' if fields != 1 else ''}, and the header has {width}: too {few}. Give every row as "
        f"many fields as the header has, and put text that holds a separator or a line end in quotes."
    )
