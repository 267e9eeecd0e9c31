"""What a value of a text column looks like: a number, a number with a comma or a unit, a date, a word."""

from __future__ import annotations

import re

from consilience.data.numerals import COMMAS, PLAIN
from consilience.frames import pl

__all__ = ["CODES", "LOOKS", "look", "look_at", "unit_at", "unit_word"]

CODES = (
    0.0,
    -1.0,
    -7.0,
    -8.0,
    -9.0,
    *(float(f"{sign}{digit * width}") for width in (2, 3, 4, 5, 6) for digit in "789" for sign in ("", "-")),
)
"""Numbers that stand for "missing" in some code book: 0, -1, -9, and runs of sevens, eights and nines of either sign."""

_DATE = (
    r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})|\d{1,2}[. -]+[A-Za-zä]{3,9}\.?[ -]\d{2,4})"
    r"([T ]+\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?$"
    r"|^\d{1,2}:\d{2}(:\d{2})?$"
    r"|^(18|19|20|21)\d{2}[-/](0[1-9]|1[0-2])$"  # a month
)
_BOUND = r"^(<|>|≤|≥|<=|>=|~|≈)\s*[+-]?\d+([.,]\d+)?$"
# a word of letters and of what stands in units; what begins with a digit is no unit, so that "12A34" is a code and no quantity
_UNIT = r"^[+-]?\d+(?:[.,]\d+)?\s*([A-Za-zµμ%°‰][A-Za-zµμ%°‰²³/^*. ()]*(?:/[A-Za-zµμ0-9.,²³^]+)?)$"

LOOKS = {"numbers": f"^{PLAIN}$", "commas": f"^{COMMAS}$", "dates": _DATE, "units": _UNIT, "bounds": _BOUND}
"""Patterns by what they are; every value fits one of them, or none, and is a word. Both of Python's and of polars' dialect."""
_COMPILED = {name: re.compile(pattern) for name, pattern in LOOKS.items()}


def look(values: pl.Expr) -> dict[str, pl.Expr]:
    """Which values look like what, over a whole column.

    Parameters
    ----------
    values : polars.Expr
        Text without spaces around it.

    Returns
    -------
    dict of str to polars.Expr
        Booleans by ``numbers``, ``commas``, ``dates``, ``units`` and ``bounds``.

    Examples
    --------
    >>> frame = pl.DataFrame({"chol": ["233", "1,5", "2024-01-31", "233 mg/dl", "<5", "high"]})
    >>> {name: frame.filter(fits)["chol"].to_list() for name, fits in look(pl.col("chol")).items()}
    {'numbers': ['233'], 'commas': ['1,5'], 'dates': ['2024-01-31'], 'units': ['233 mg/dl'], 'bounds': ['<5']}
    """
    return {name: values.str.contains(pattern) for name, pattern in LOOKS.items()}


def look_at(value: str) -> str:
    """What one value looks like.

    Parameters
    ----------
    value : str

    Returns
    -------
    str
        One of the names in :data:`LOOKS`, or ``words``.

    Examples
    --------
    >>> [look_at(value) for value in (" 12 ", "12,5", "31.01.2024", "5 mmol/l", ">= 3", "NYHA II")]
    ['numbers', 'commas', 'dates', 'units', 'bounds', 'words']
    """
    value = value.strip()
    return next((name for name, pattern in _COMPILED.items() if pattern.search(value)), "words")


def unit_word(values: pl.Expr) -> pl.Expr:
    """The word behind a number; null where there is none.

    Parameters
    ----------
    values : polars.Expr
        Text without spaces around it.

    Returns
    -------
    polars.Expr

    Examples
    --------
    >>> pl.DataFrame({"chol": ["233 mg/dl", "high"]}).select(unit_word(pl.col("chol")))["chol"].to_list()
    ['mg/dl', None]
    """
    return values.str.extract(_UNIT, 1).str.strip_chars()


def unit_at(value: str) -> str:
    """The word behind a number; empty if there is none.

    Parameters
    ----------
    value : str

    Returns
    -------
    str

    Examples
    --------
    >>> unit_at("5.2 mmol/l"), unit_at("high")
    ('mmol/l', '')
    """
    found = _COMPILED["units"].search(value.strip())
    return found.group(1).strip() if found else ""
