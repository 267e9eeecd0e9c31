"""How a text file is laid out: separator, quotes, header; found out from its first rows, with the reason.

A separator fits if the header has it and every row of the sample has as many fields as the header. One that fits is taken; where two fit,
none is, and the ways out are named. What the file says itself (``sep=;``), and what its owner gives, comes first.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from consilience.data.errors import EmptyDataError, ReadError
from consilience.data.finding import Finding, Grade, Remedy, Step
from consilience.data.sources.options import Reading
from consilience.errors import OptionError

__all__ = ["NONE", "Dialect", "dialect_of"]

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
NONE = "\x1f"
"""What separates the fields of a table that has one column: nothing that occurs in a text."""
RECORDS = 400
"""Rows of the sample that are looked at."""
_PREAMBLE = re.compile(r'"?sep=(.)"?[ \t]*(?:\r\n|\n|\r|$)', re.IGNORECASE)


_NUMBERS = re.compile(r"[^\n]*\n(?:[ \t]*[+-]?[\d., ']*\r?(?:\n|$))*[^\n]*")


@dataclass(frozen=True, slots=True)
class Dialect:
    """A layout.

    Attributes
    ----------
    separator : str
        What stands between fields.
    quote : str
        What stands around fields that hold a separator or a line end; empty if nothing does.
    names : tuple of str
        The header, one name a column.
    lines : int
        Lines above the first row.
    about : tuple of str
        What was found out, in words.
    """

    separator: str
    quote: str
    names: tuple[str, ...]
    lines: int
    about: tuple[str, ...]


def dialect_of(sample: str, name: str, reading: Reading, *, whole: bool = True) -> Dialect:
    r"""The layout of a text.

    Parameters
    ----------
    sample : str
        The text, or its beginning.
    name : str
        What the file is called: the ending ``.tsv`` says tabs, where they fit.
    reading : Reading
        Separator and quote, if the owner gives them.
    whole : bool
        True if the sample is all of the text; else its last row may be cut off.

    Returns
    -------
    Dialect

    Raises
    ------
    ReadError
        If two layouts fit, or none.
    EmptyDataError
        If there is no header.

    Examples
    --------
    >>> found = dialect_of("age;sex\n61,5;m\n", "site.csv", Reading())
    >>> found.separator, found.names, found.about
    (';', ('age', 'sex'), ('separated by semicolons',))
    """
    preamble = _PREAMBLE.match(sample)
    body = sample[preamble.end() :] if preamble else sample
    if not body.strip():
        raise EmptyDataError(f"{name!r} is empty; a header line and at least one row are needed.")
    if body.lstrip()[:9].lower().startswith(("<!doctype", "<html", "<?xml")):
        raise ReadError(f"{name!r} is a page (HTML or XML), and no table with a line for each row. Save the table itself, as CSV.")
    quote = _quote(body) if reading.quote is None else _one("quote", reading.quote)
    if reading.separator is not None:
        separator, why = _one("separator", reading.separator), "as given"
    elif preamble:
        separator, why = preamble[1], "as its first line says"
    else:
        separator, why = _separator(body, quote, name, whole=whole), ""
    rows, lines = _records(body, separator, quote, whole=whole)
    names = [field.strip() for field in rows[0]]
    about = [
        f"separated by {SEPARATORS.get(separator, repr(separator))}" + (f", {why}" if why else "") if separator != NONE else "one column"
    ]
    if len(rows) > 1 and all(len(row) == len(names) + 1 and not row[-1].strip() for row in rows[1:]):
        names.append("")
        about.append("a separator at the end of every row")
    if quote == "'":
        about.append("fields in single quotes")
    _check_names(names, name)
    return Dialect(separator, quote, tuple(names), lines + bool(preamble), tuple(about))


def _one(option: str, mark: str) -> str:
    """One character, which polars can take; a tab may be written as a word."""
    mark = "\t" if mark in ("\\t", "tab") else mark
    if len(mark.encode()) != 1 and not (option == "quote" and not mark):
        raise OptionError(f"{option} must be one character of ASCII; got {mark!r}.")
    return mark


def _quote(body: str) -> str:
    """Double quotes, unless fields begin and end with single ones and none with a double one."""
    if re.search(r'(?:^|[,;\t|])[ ]*"', body, re.MULTILINE):
        return '"'
    begun = len(re.findall(r"(?:^|[,;\t|])'", body, re.MULTILINE))
    ended = len(re.findall(r"(?:^|(?<=[,;\t|]))'(?:[^']|'')*'(?=[,;\t|\r\n]|$)", body, re.MULTILINE))
    return "'" if begun and begun == ended else '"'


def _records(body: str, separator: str, quote: str, *, whole: bool) -> tuple[list[list[str]], int]:
    """The first rows, the header included and blank lines not; and the lines that the header ends at."""
    options = {"quotechar": quote} if quote else {"quotechar": None, "quoting": csv.QUOTE_NONE}
    lines = _Counted(body)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=separator != " ", **options)
    rows: list[list[str]] = []
    above = 0
    for row in islice(reader, RECORDS):
        if row:
            above = above or lines.ends
            rows.append(row)
    cut_off = not whole and len(rows) > 1 and next(reader, None) is None
    return (rows[:-1] if cut_off else rows), above


class _Counted:
    """The lines of a text, and how many line ends were handed out: a return alone, in a quoted name, ends no line of the file."""

    def __init__(self, body: str) -> None:
        self.lines, self.ends = io.StringIO(body, newline=""), 0

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.ends += not line.endswith("\r")  # the last line may have no end
            yield line


def _separator(body: str, quote: str, name: str, *, whole: bool) -> str:
    widths: dict[str, list[int]] = {}
    for separator in SEPARATORS:
        try:
            widths[separator] = [len(row) for row in _records(body, separator, quote, whole=whole)[0]]
        except csv.Error:  # a field without end: a quote that is not closed in this layout
            continue
    wide = [separator for separator, found in widths.items() if found and found[0] > 1]
    fitting = [separator for separator in wide if _even(widths[separator])]
    if name.lower().removesuffix(".gz").endswith((".tsv", ".tab")) and "\t" in fitting:
        return "\t"
    if len(fitting) == 1 or len(wide) == 1:
        return (fitting or wide)[0]
    if wide:
        raise ReadError(_two_fit(name, body, fitting or wide))
    _check_one_column(name, body, widths)
    return NONE


def _even(widths: list[int]) -> bool:
    """Every row has as many fields as the header, or every row one more: a separator at its end."""
    return set(widths[1:]) <= {widths[0]} or set(widths[1:]) == {widths[0] + 1}


def _two_fit(name: str, body: str, separators: list[str]) -> Finding:
    header = body.splitlines()[0]
    kinds = " or ".join(SEPARATORS[separator] for separator in separators)
    words = f"{name!r} may be separated by {kinds}: its first line is {header[:80]!r}."
    return Finding("separator", Grade.REFUSED, words, remedies=tuple(Remedy(Step.SEPARATOR, value=mark) for mark in separators))


def _check_one_column(name: str, body: str, widths: dict[str, list[int]]) -> None:
    """A header without a separator may be a title above the header, or separated by spaces; else the table has one column."""
    for separator, found in widths.items():
        later = found[1:]
        # numbers with decimal commas are one column
        if later and max(later) > 1 and not (separator == "," and _NUMBERS.fullmatch(body)):
            at = 2 + next(i for i, width in enumerate(later) if width > 1)
            raise ReadError(
                f"The first line of {name!r} has one field, and line {at} has {found[at - 1]}, separated by {SEPARATORS[separator]}: the "
                f"first line should be the names of the columns. Take out what stands above them."
            )
    lines = [line.split() for line in body.splitlines() if line.strip()]
    rows = {len(line) for line in lines[1:-1] or lines[1:]}  # the last one may be cut off
    if len(lines) > 1 and len(lines[0]) > 1 and rows in ({len(lines[0])}, {len(lines[0]) + 1}):  # R writes a name before each row
        words = f"{name!r} may be separated by spaces, or have one column: its first line is {body.splitlines()[0][:80]!r}."
        raise ReadError(
            Finding("separator", Grade.REFUSED, words, remedies=(Remedy(Step.SEPARATOR, value=" "), Remedy(Step.SEPARATOR, value=",")))
        )


def _check_names(names: list[str], called: str) -> None:
    """Names that are there twice are an error; columns without a name are looked at when their values are known."""
    for name in names:
        if name and names.count(name) > 1:
            raise ReadError(f"{called!r} has two columns named {name!r}; every column needs a name of its own.")
