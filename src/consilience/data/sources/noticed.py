"""What is said of a column of text that was typed, or that could not be typed without guessing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

from consilience.data.facts.patterns import LOOKS
from consilience.data.finding import Finding, Grade, Remedy, Step
from consilience.data.numerals import NUMBER, PLAIN
from consilience.data.sources.numbers import Marks
from consilience.frames import pl

__all__ = ["mostly_numbers", "no_header", "said_ambiguous", "said_codes", "said_dotted", "said_missing"]

SHOWN = 5
"""Values that a message names."""
FEW_UNITS, MANY_NUMBERS, NEARLY_ALL = 3, 10, 0.9
"""Numbers with a unit or a sign behind or before each are numbers if at most so many different ones do for more than so many numbers, and
so large a share of the rows; ``1 - mild``, ``2 - severe`` are levels."""
_DECORATED = rf"^([<>≤≥~≈=±€$£¥]*)\s*(?:{NUMBER})\s*([^\d\s].*)?$"


def _named(counts: Iterable[tuple[str, int]]) -> str:
    listed = [f"{value!r} ({count:,} row{'s' if count > 1 else ''})" for value, count in counts]
    return ", ".join(listed[:SHOWN]) + (f" and {len(listed) - SHOWN:,} more" if len(listed) > SHOWN else "")


def said_missing(column: str, words: Mapping[str, int]) -> Finding:
    """Words among numbers were read as missing.

    >>> said_missing("chol", {"k.A.": 2}).words
    "In 'chol', which holds numbers, these were read as missing: 'k.A.' (2 rows)."
    """
    return Finding(
        "missing-words",
        Grade.NOTICE,
        f"In {column!r}, which holds numbers, these were read as missing: {_named(words.items())}.",
        (column,),
    )


def said_codes(column: str, example: str) -> Finding:
    """Digits behind zeros were kept as text.

    >>> said_codes("ward", "007").words
    "'ward' has digits behind a zero, such as '007'; they are kept as text, since codes are written so and numbers are not."
    """
    words = (
        f"{column!r} has digits behind a zero, such as {example!r}; they are kept as text, since codes are written so and numbers are not."
    )
    return Finding("codes", Grade.NOTICE, words, (column,))


def said_ambiguous(column: str, examples: list[str]) -> Finding:
    """A comma that may be a decimal mark or stand between thousands.

    >>> said_ambiguous("cells", ["12,345"]).grade
    <Grade.REFUSED: 'refused'>
    """
    words = (
        f"{column!r} holds {_quoted(examples)}: every comma has exactly three digits behind it, so it may be the decimal mark or stand "
        f"between thousands. The column is left as text."
    )
    remedies = (Remedy(Step.DECIMAL, value=","), Remedy(Step.THOUSANDS, value=","))
    return Finding("decimal-mark", Grade.REFUSED, words, (column,), remedies=remedies)


def said_dotted(column: str, examples: list[str], others: list[str]) -> Finding:
    """A point that may stand between thousands, in a file that has decimal commas."""
    words = (
        f"{column!r} holds {_quoted(examples)}: every point has exactly three digits behind it, and {_quoted(others)} of the same file "
        f"{'has' if len(others) == 1 else 'have'} decimal commas, so the point may stand between thousands. The column is left as text."
    )
    remedies = (Remedy(Step.THOUSANDS, value="."), Remedy(Step.THOUSANDS, value=""))
    return Finding("decimal-mark", Grade.REFUSED, words, (column,), remedies=remedies)


def _quoted(values: list[str]) -> str:
    return ", ".join(repr(value) for value in values[:3])


def mostly_numbers(column: str, counts: pl.DataFrame, marks: Marks | None = None) -> Finding | None:
    """The finding that text is mostly numbers, or None if it is not.

    Parameters
    ----------
    column : str
        What it is called.
    counts : polars.DataFrame
        Its different values (``value``) with their rows (``count``), the most frequent first, without what is missing.
    marks : Marks, optional
        Marks that the owner gave, for the message.

    Returns
    -------
    Finding or None

    Examples
    --------
    >>> found = mostly_numbers("chol", pl.DataFrame({"value": ["233", "198", "<5"], "count": [2, 2, 1]}))
    >>> found.words
    "'chol' is mostly numbers (4 of 5 values), but not all: '<5' (1 row). The column is left as text."
    """
    plain = pl.col("value").str.contains(f"^(?:{NUMBER})$")
    total, numbers = int(counts["count"].sum()), int(counts.filter(plain)["count"].sum())
    odd = counts.filter(~plain)
    if numbers * 2 > total:
        if not odd.height:
            return _mixed(column, counts, marks)
        words = f"{column!r} is mostly numbers ({numbers:,} of {total:,} values), but not all: {_named(odd.iter_rows())}."
        return Finding("mostly-numbers", Grade.REFUSED, f"{words} The column is left as text.", (column,), remedies=_ways_out(column, odd))
    parts = counts.filter(pl.col("value").str.contains(_DECORATED) & ~pl.col("value").str.contains(LOOKS["dates"]))
    if parts.height <= MANY_NUMBERS or parts["count"].sum() < NEARLY_ALL * total or _units(parts).len() > FEW_UNITS:
        return None
    words = f"{column!r} holds numbers with a unit or a sign: {_named(odd.iter_rows())}. The column is left as text."
    return Finding("mostly-numbers", Grade.REFUSED, words, (column,), remedies=_ways_out(column, odd))


def _mixed(column: str, counts: pl.DataFrame, marks: Marks | None) -> Finding:
    """Every value is a number in some way, and no way is that of all."""
    comma = counts.filter(pl.col("value").str.contains(",", literal=True)).iter_rows()
    point = counts.filter(pl.col("value").str.contains(".", literal=True)).iter_rows()
    rule = f"not with {marks.said}" if marks else "not with the same decimal mark"
    words = f"{column!r} holds numbers, but {rule}: {_named([*list(comma)[:2], *list(point)[:2]] or counts.iter_rows())}."
    other = (Remedy(Step.DECIMAL, value="." if marks.decimal == "," else ","),) if marks else ()
    remedies = (*other, Remedy(Step.DROP, column))
    return Finding("mostly-numbers", Grade.REFUSED, f"{words} The column is left as text.", (column,), remedies=remedies)


def no_header(name: str, frame: pl.DataFrame) -> Finding | None:
    """The finding that columns of numbers are called by numbers, as where the first line is a row; None if one has a name.

    Whole numbers one after the other are names: of years, of days, or as programs count columns.

    >>> no_header("site.csv", pl.DataFrame({"61.5": [70.0, 55.1], "m": ["f", "m"]})).code
    'no-header'
    >>> no_header("site.csv", pl.DataFrame({"2019": [70.0, 55.1], "2020": [1.5, 2.5]})) is None
    True
    """
    names = [column.name for column in frame.iter_columns() if column.dtype.is_numeric() and column.name]
    numbers = [number for called in names if (number := _plain_number(called)) is not None]
    steps = {later - earlier for earlier, later in pairwise(numbers)}
    if not names or len(numbers) < len(names) or (all(called.isdigit() for called in names) and len(steps) < 2):
        return None
    words = f"The first line of {name!r} has numbers where columns of numbers have their names ({_quoted(names)}): is it a row?"
    return Finding("no-header", Grade.DOUBTFUL, f"{words} Then put a line with the names above it.")


def _plain_number(text: str) -> float | None:
    return float(text) if re.fullmatch(PLAIN, text) else None


def _units(decorated: pl.DataFrame) -> pl.Series:
    """What stands before and behind the numbers, each once."""
    sign = pl.col("value").str.extract(_DECORATED, 1).fill_null("")
    unit = pl.col("value").str.extract(_DECORATED, 2).fill_null("")
    return decorated.select(pl.concat_str([sign, unit], separator=" ").alias("unit")).to_series().unique()


def _ways_out(column: str, odd: pl.DataFrame) -> tuple[Remedy, ...]:
    """Words are made missing; units are converted; and what is levels after all is declared so."""
    unit = odd.select(pl.col("value").str.extract(_DECORATED, 2).drop_nulls().str.strip_chars().first()).item()
    kind = Remedy(Step.KIND, column, "multinomial")
    words = tuple(Remedy(Step.MISSING, column, value) for value in odd["value"].head(2)) if odd.height <= SHOWN else ()
    return (*((Remedy(Step.STRIP, column, unit),) if unit else ()), *words, kind)
