"""Columns from tables of text that come some rows at a time, without holding all of the text.

The first rows give a hint at which columns are numbers; as long as all values are such numbers or missing, they are kept as numbers, and
the text is let go. A column for which the hint was wrong is read once more, as text. The result is that of
:func:`consilience.data.sources.columns.type_column` on the whole column, whatever the hint was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from consilience.data.sources.columns import TypedColumn, type_column, united
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.missing import codes_of, is_missing
from consilience.data.sources.noticed import said_missing
from consilience.data.sources.numbers import Marks, as_numbers, as_whole
from consilience.data.sources.options import Reading
from consilience.frames import pl

__all__ = ["gathered"]

HINTED = 1000
"""Rows that the hint is taken from."""
Tables = Callable[[list[int] | None], Iterator[pl.DataFrame]]


@dataclass(slots=True, eq=False)
class _Gathering:
    """A column on its way: its parts so far, as numbers if ``marks`` says how, else as text."""

    marks: Marks | None
    whole: bool
    comma: bool
    parts: list[pl.Series] = field(default_factory=list)
    emptied: dict[str, int] = field(default_factory=dict)
    zeros: bool = False
    failed: bool = False

    def expressions(self, place: str) -> list[pl.Expr]:
        """What is asked of a table for this column."""
        if self.marks is None or self.failed:
            return []
        text = pl.col(place)
        numbers = (as_whole if self.whole else as_numbers)(text, self.marks).alias(place)
        if not self.whole:
            return [numbers]
        # digits behind a zero are a code; looked at closely only if there are any
        return [numbers, (text.str.starts_with("0") & (text.str.len_bytes() > 1)).any().alias(f"{place} zeros")]


def gathered(tables: Tables, names: list[str], reading: Reading) -> Loaded:
    """The typed table.

    Parameters
    ----------
    tables : callable
        Gives the tables of text from the beginning, as often as it is called; of the columns it is given, or of all.
    names : list of str
        What the columns are called.
    reading : Reading
        Marks and words that the owner gives.

    Returns
    -------
    Loaded

    Examples
    --------
    >>> def tables(only):
    ...     for text in (["1", "2"], ["3.5", "k.A."]):
    ...         yield pl.DataFrame({"0": text})
    >>> gathered(tables, ["age"], Reading()).frame["age"].to_list()
    [1.0, 2.0, 3.5, None]
    """
    columns: list[_Gathering] = []
    for table in tables(None):
        columns = columns or [_hinted(column.head(HINTED), reading) for column in table.iter_columns()]
        _gather(columns, table, reading)
    if not columns:
        return Loaded(pl.DataFrame(schema=dict.fromkeys(names, pl.String)))
    for column in columns:
        column.failed |= column.zeros and column.whole
    typed = {
        place: _finished(column, names[place]) for place, column in enumerate(columns) if column.marks is not None and not column.failed
    }
    texts = {place: _joined(column, names[place]) for place, column in enumerate(columns) if column.marks is None}
    again = [place for place in range(len(columns)) if place not in typed and place not in texts]
    texts |= _read_again(tables, again, names)
    points = [place for place, column in typed.items() if column.marks == Marks() and column.column.dtype == pl.Float64]
    for place in list(texts):
        typed[place] = type_column(texts[place], reading)
        if not typed[place].dotted:  # one at a time: the text is let go
            del texts[place]
    if any(column.comma for column in typed.values()):  # then points may stand between thousands: those columns are looked at as text
        texts |= _read_again(tables, points, names)
        typed |= {place: type_column(texts[place], reading) for place in points}
    places = range(len(columns))
    return united([typed[place] for place in places], [texts.get(place, typed[place].column) for place in places], reading)


def _hinted(head: pl.Series, reading: Reading) -> _Gathering:
    found = type_column(head, reading)
    if found.marks is None or found.marks.thousands:
        return _Gathering(None, whole=False, comma=False)
    return _Gathering(found.marks, whole=found.column.dtype == pl.Int64, comma=found.comma)


def _gather(columns: list[_Gathering], table: pl.DataFrame, reading: Reading) -> None:
    """Add the rows of a table."""
    asked = table.select(expression for place, column in enumerate(columns) for expression in column.expressions(str(place)))
    for place, column in enumerate(columns):
        text = table[str(place)]
        if column.marks is None:
            column.parts.append(text)
        elif not column.failed:
            numbers = asked[str(place)]
            column.zeros |= column.whole and bool(asked[f"{place} zeros"][0])
            sure = numbers.null_count() == text.null_count() and not (numbers.dtype == pl.Float64 and numbers.is_nan().any())
            if (sure and not reading.missing) or (sure and not numbers.cast(pl.Float64).is_in(codes_of(reading.missing)).any()):
                column.parts.append(numbers)
            else:
                _look(column, text, reading)


def _look(column: _Gathering, text: pl.Series, reading: Reading) -> None:
    """Add rows that are not all numbers as they stand: missing, with spaces, with a decimal mark for the first time, or no numbers."""
    found = type_column(text, reading)
    empty = found.column.null_count() == found.column.len() and found.marks is None and found.column.dtype == pl.Int64
    whole = found.marks is not None and found.column.dtype == pl.Int64 and not found.marks.thousands
    if found.marks != column.marks and not whole and not empty:
        column.failed = True
        column.parts.clear()
        return
    column.whole &= found.column.dtype == pl.Int64
    column.parts.append(found.column)
    for word, count in found.emptied.items():
        column.emptied[word] = column.emptied.get(word, 0) + count


def _joined(column: _Gathering, name: str) -> pl.Series:
    """The parts as one column. They stay where they are: to put them side by side would hold everything twice."""
    joined = pl.concat(column.parts, rechunk=False).alias(name)
    column.parts.clear()
    return joined


def _read_again(tables: Tables, places: list[int], names: list[str]) -> dict[int, pl.Series]:
    if not places:
        return {}
    table = pl.concat(tables(places), rechunk=False)
    return {place: table[str(place)].alias(names[place]) for place in places}


def _finished(column: _Gathering, name: str) -> TypedColumn:
    dtype = pl.Int64 if all(part.dtype == pl.Int64 for part in column.parts) else pl.Float64
    column.parts = [part.cast(dtype) for part in column.parts]
    joined = _joined(column, name)
    words = pl.DataFrame({"word": list(column.emptied)}, schema={"word": pl.String})
    said = set(words.filter(~is_missing(pl.col("word")))["word"])
    findings = (said_missing(name, {word: n for word, n in column.emptied.items() if word in said}),) if said else ()
    return TypedColumn(joined, column.marks, column.emptied, findings, comma=column.comma)
