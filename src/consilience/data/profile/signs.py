"""What looks odd about a column, in words that say what to do. Signs are guesses: nothing is changed or refused because of one."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

import polars as pl

from consilience.data.infer import present as present_in
from consilience.data.kinds import Kind
from consilience.wording import counted

__all__ = ["Sign", "signs_of"]

MOSTLY = 0.8
"""Text is 'mostly numbers' or 'mostly dates' from this share of its values."""
MANY_LEVELS = 20
"""Every level but one is a column of each model that the variable is a predictor in."""
FEW_NUMBERS = 5
ENOUGH_ROWS = 20
"""With fewer rows, that all values differ says nothing."""
_IDENTIFIER = re.compile(
    r"(^|[_\W])(id|ids|mrn|uuid|guid|pid|key|ssn|barcode|record|case_?no|patient_?(no|nr|number))($|[_\W])", re.IGNORECASE
)
_ENDS_IN_ID = re.compile(r"[a-z](Id|ID|Nr|No)$")
_YEAR = re.compile(r"year|jahr|yr|date|datum", re.IGNORECASE)
_DATE = re.compile(
    r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})|\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{2,4})"
    r"([T ]+\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?\s*$"
)
_TIME = re.compile(r"^\s*\d{1,2}:\d{2}(:\d{2})?\s*$")
_SPACES = re.compile(r"(?<=\w)-(?=\w)|[\s_]+")
_STAND_INS = (-9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0, 99999.0)


@dataclass(frozen=True, slots=True)
class Sign:
    """Something about a column that its owner should look at.

    Attributes
    ----------
    code : str
        ``constant``, ``rare``, ``identifier``, ``date``, ``numbers``, ``comma``, ``spelling``, ``many``, ``few``, ``stand-in`` or
        ``missing``.
    words : str
        What was seen, and what can be done.

    Examples
    --------
    >>> Sign("constant", "The same value in every row.").code
    'constant'
    """

    code: str
    words: str


def signs_of(column: pl.Series, kind: Kind | None, counts: dict[str, int], *, min_cell: int = 5) -> tuple[Sign, ...]:
    """What looks odd about a column.

    Parameters
    ----------
    column : polars.Series
        With its name, which is a hint too.
    kind : Kind or None
        What the column is taken for; None if it cannot be a variable.
    counts : dict of str to int
        Rows by level, for discrete kinds; of free text the most frequent ones are enough.
    min_cell : int, default 5
        Levels with fewer rows are rare.

    Returns
    -------
    tuple of Sign
        The gravest first.

    Examples
    --------
    >>> [sign.code for sign in signs_of(pl.Series("smoker", ["yes", "Yes", "no"] * 9), Kind.MULTINOMIAL, {"yes": 9, "Yes": 9, "no": 9})]
    ['spelling']
    """
    present = present_in(column)
    if len(present) == 0:
        return ()
    distinct = present.n_unique()
    if distinct == 1:
        return (Sign("constant", "The same value in every row: it can be related to nothing. Exclude it, unless another value may come."),)
    found = [_identifier(present, distinct), _date(present), *_text(present, kind)]
    if kind is not None and kind.is_discrete:
        found += [_spelling(counts), _rare(counts, min_cell, distinct, len(present)), _many(distinct)]
    elif kind is Kind.CONTINUOUS:
        found += [_stand_in(present), _few(present, distinct)]
    elif kind is Kind.COUNT:
        found.append(_stand_in(present))
    gone = 1 - len(present) / len(column)
    if gone > 0.5:
        found.append(Sign("missing", f"{gone:.0%} of the rows have no value; a test uses the rows that have all of its variables."))
    return _once([sign for sign in found if sign])


def _once(signs: list[Sign]) -> tuple[Sign, ...]:
    """An identifier has many rare levels and a date is mostly numbers: what is explained by a graver sign is not said again."""
    codes = {sign.code for sign in signs}
    if "date" in codes:
        codes.discard("identifier")
        signs = [sign for sign in signs if sign.code != "identifier"]
    hidden = {"rare", "many", "spelling", "few", "numbers"} if codes & {"identifier", "date"} else set()
    hidden |= {"rare", "many"} if codes & {"numbers", "comma"} else set()
    return tuple(sign for sign in signs if sign.code not in hidden)


def _identifier(present: pl.Series, distinct: int) -> Sign | None:
    rows, name = len(present), present.name
    if rows < ENOUGH_ROWS or not (present.dtype.is_integer() or present.dtype == pl.String):
        return None
    named = bool(_IDENTIFIER.search(name) or _ENDS_IN_ID.search(name))
    words = "Exclude it: it tells who somebody is, and nothing about them."
    if present.dtype == pl.String:
        if distinct >= 0.9 * rows and not _share(present, _DATE) >= MOSTLY and not _numbers(present) >= MOSTLY:
            return Sign("identifier", f"{_nearly(distinct, rows)} of its own: a name, a number of a patient, or free text. {words}")
    elif distinct == rows:
        low, high = present.min(), present.max()
        assert isinstance(low, int)
        assert isinstance(high, int)
        if high - low == rows - 1:
            return Sign("identifier", f"It counts the rows, from {low} to {high}. {words}")
    if named and distinct > 0.5 * rows:
        return Sign("identifier", f"Its name and its {distinct} different values look like an identifier. {words}")
    return None


def _nearly(distinct: int, rows: int) -> str:
    return "Every row has a value" if distinct == rows else f"{distinct} of {rows} rows have a value"


def _date(present: pl.Series) -> Sign | None:
    way_out = "Exclude it, or turn it into a number before: an age, a time since a visit."
    if present.dtype.is_temporal():
        return Sign("date", f"Dates or times are no variable as they are. {way_out}")
    if present.dtype == pl.String and max(_share(present, _DATE), _share(present, _TIME)) >= MOSTLY:
        return Sign("date", f"It looks like dates or times, such as {present[0]!r}. {way_out}")
    if present.dtype.is_integer():
        low, high = present.min(), present.max()
        assert isinstance(low, int)
        assert isinstance(high, int)
        if low >= 19000101 and high <= 21001231 and _days(present):
            return Sign("date", f"It looks like dates written as numbers, such as {present[0]}. {way_out}")
        if _YEAR.search(present.name) and low >= 1900 and high <= 2100:
            return Sign("date", "It looks like calendar years. Keep it only if the year itself is of interest.")
    return None


def _days(present: pl.Series) -> bool:
    """Whether numbers end in a month and a day."""
    month, day = present // 100 % 100, present % 100
    return bool((month.is_between(1, 12) & day.is_between(1, 31)).all())


def _share(present: pl.Series, pattern: re.Pattern[str]) -> float:
    # of a sample, as a date is one in the first thousand rows or in none: matching every row is what would take time
    sample = Counter(present.head(1000).to_list())
    return sum(count for value, count in sample.items() if pattern.search(value)) / sample.total()


def _numbers(present: pl.Series) -> float:
    sample = present.head(1000).str.replace(",", ".", literal=True)
    return 1 - sample.cast(pl.Float64, strict=False).null_count() / len(sample)


def _text(present: pl.Series, kind: Kind | None) -> list[Sign | None]:
    if present.dtype != pl.String or kind in (Kind.CONTINUOUS, Kind.COUNT):
        return []
    as_number = present.cast(pl.Float64, strict=False)
    others = as_number.null_count()
    if 0 < others <= (1 - MOSTLY) * len(present):
        odd = sorted(set(present.filter(as_number.is_null()).unique().to_list()))
        named = ", ".join(repr(value) for value in odd[:3]) + (" and others" if len(odd) > 3 else "")
        return [Sign("numbers", f"Numbers, but for {counted(others, 'row')} with {named}. Correct or empty those to read it as numbers.")]
    points = others and (others < len(present) or "," in present[0])  # the first is asked: most text is no number, with or without points
    if points and present.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False).null_count() == 0:
        example = present.filter(as_number.is_null())[0]
        return [Sign("comma", f"Numbers with a decimal comma, such as {example!r}. Save the file with decimal points.")]
    return []


def _spelling(counts: dict[str, int]) -> Sign | None:
    groups: dict[str, list[str]] = defaultdict(list)
    for label in counts:
        groups[_SPACES.sub(" ", label.casefold()).strip()].append(label)
    same = [group for group in groups.values() if len(group) > 1]
    if not same:
        return None
    named = "; ".join(" and ".join(repr(label) for label in sorted(group)) for group in same[:3])
    return Sign("spelling", f"Levels that may be one, spelled in several ways: {named}. Give them one spelling.")


def _rare(counts: dict[str, int], min_cell: int, distinct: int, rows: int) -> Sign | None:
    rare = [label for label, count in counts.items() if 0 < count < min_cell]
    if not rare or distinct > 0.5 * rows:
        return None
    named = ", ".join(repr(label) for label in rare[:3]) + (" and others" if len(rare) > 3 else "")
    return Sign(
        "rare", f"{counted(len(rare), 'level')} in fewer than {min_cell} rows: {named}. Join them with others, or leave them empty."
    )


def _many(distinct: int) -> Sign | None:
    if distinct <= MANY_LEVELS:
        return None
    return Sign("many", f"{distinct} levels: models with it become large and need many rows. Group them, or exclude it.")


def _few(present: pl.Series, distinct: int) -> Sign | None:
    if distinct > FEW_NUMBERS or len(present) < ENOUGH_ROWS:
        return None
    return Sign("few", f"Only {distinct} different numbers. If they stand for grades or groups, choose ordinal or multinomial.")


def _stand_in(present: pl.Series) -> Sign | None:
    numbers = present_in(present.cast(pl.Float64, strict=False))
    if len(numbers) < ENOUGH_ROWS:
        return None
    low, high = numbers.min(), numbers.max()
    for value in (low, high):
        if value not in _STAND_INS:
            continue
        others = numbers.filter(numbers != value)
        times = len(numbers) - len(others)
        if times < 2 or len(others) < 2:
            continue
        near, far = others.min() if value == low else others.max(), others.quantile(0.75)
        spread = float(far or 0.0) - float(others.quantile(0.25) or 0.0)
        assert isinstance(near, float)
        if abs(near - float(value)) > 2 * spread:  # type: ignore[arg-type]
            words = f"{value:g} stands in {times} rows, far from all else: if it means 'not known', leave those empty."
            return Sign("stand-in", words)
    return None
