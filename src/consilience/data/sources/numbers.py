r"""Decimal marks and marks between thousands: which of them make numbers of a column's values, and whether only one way does.

Whole parts are digits, or groups of three behind one to three digits of which the first is no zero (``1.234.567``). A way of reading is a
decimal mark and a mark between thousands; it fits a column if every value is a number in it. Where two ways fit and give other numbers
(``12,345``), none is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

from consilience.data.numerals import GROUPING, in_way
from consilience.data.sources.options import Reading
from consilience.frames import pl

__all__ = ["Marks", "as_numbers", "as_whole", "fitting", "is_code"]

_HEAD = 1000
"""Values that are looked at first: a way of reading that does not fit is most often seen not to fit early."""


@dataclass(frozen=True, slots=True)
class Marks:
    """A way to read numbers.

    Attributes
    ----------
    decimal : str
        The decimal mark.
    thousands : str
        The mark between thousands; empty if there is none.

    Examples
    --------
    >>> Marks(",", ".").said
    "decimal mark ',', thousands mark '.'"
    """

    decimal: str = "."
    thousands: str = ""

    @property
    def said(self) -> str:
        """The way in words."""
        return f"decimal mark {self.decimal!r}" + (f", thousands mark {self.thousands!r}" if self.thousands else "")


def as_numbers(text: pl.Expr, marks: Marks) -> pl.Expr:
    """Text as floats, where it is a number in the given way; the groups of three are not checked.

    >>> pl.Series(["1.234,5", "x"]).to_frame("v").select(as_numbers(pl.col("v"), Marks(",", "."))).to_series().to_list()
    [1234.5, None]
    """
    return _spelled(text, marks).cast(pl.Float64, strict=False)


def _spelled(text: pl.Expr, marks: Marks) -> pl.Expr:
    """Numbers as everybody's machine writes them."""
    if marks.thousands:
        text = text.str.replace_all(marks.thousands, "", literal=True)
    if marks.decimal == ",":
        # a point that is no mark between thousands would be read as the decimal mark it is not
        text = pl.when(text.str.contains(".", literal=True)).then(None).otherwise(text.str.replace(",", ".", literal=True))
    return text


def as_whole(text: pl.Expr, marks: Marks) -> pl.Expr:
    """Text as integers, where it is a whole number in the given way.

    >>> pl.Series(["1'234", "1.0"]).to_frame("v").select(as_whole(pl.col("v"), Marks(".", "'"))).to_series().to_list()
    [1234, None]
    """
    return _spelled(text, marks).cast(pl.Int64, strict=False)


def fitting(values: pl.Series, reading: Reading) -> list[Marks]:
    """The ways in which every value is a number, those without a mark between thousands first; of ways that give the same, one.

    Parameters
    ----------
    values : polars.Series
        Different values of a column, without spaces around them and without what is missing.
    reading : Reading
        Marks that the owner gives are the only ones.

    Returns
    -------
    list of Marks
        None: not numbers. One: numbers. Two: it cannot be told which numbers.

    Examples
    --------
    >>> fitting(pl.Series(["1,5", "12,25"]), Reading())
    [Marks(decimal=',', thousands='')]
    >>> len(fitting(pl.Series(["12,345"]), Reading())), fitting(pl.Series(["12,345", "0,5"]), Reading())
    (2, [Marks(decimal=',', thousands='')])
    """
    present = {mark for mark in GROUPING if values.str.contains(mark, literal=True).any()}
    decimals = [reading.decimal] if reading.decimal else [mark for mark in (".", ",") if mark != reading.thousands]
    grouping = GROUPING if reading.thousands is None else (reading.thousands,)
    ways = [Marks(d) for d in decimals if present <= {d}]
    ways += [Marks(d, t) for d in decimals for t in grouping if t in present and t != d and present <= {d, t}]
    if not present:  # whole numbers are the same in every way
        ways = ways[:1]
    found = [way for way in ways if _fits(values, way)]
    # where the decimal mark does not occur, a mark between thousands means the same with either
    return [way for i, way in enumerate(found) if not any(_same(way, other, present) for other in found[:i])]


def _same(way: Marks, other: Marks, present: set[str]) -> bool:
    return way.thousands == other.thousands and not {way.decimal, other.decimal} & present


def _fits(values: pl.Series, way: Marks) -> bool:
    return _all_numbers(values.head(_HEAD), way) and (values.len() <= _HEAD or _all_numbers(values, way))


def _all_numbers(values: pl.Series, way: Marks) -> bool:
    frame = values.alias("value").to_frame()
    if way.thousands:
        return bool(values.str.contains(f"^{in_way(way.decimal, way.thousands)}$").all())
    return frame.select(as_numbers(pl.col("value"), way).is_not_nan().fill_null(value=False).all()).item() is True


def is_code(text: pl.Expr) -> pl.Expr:
    """True where text is digits behind a zero: a code (``007``), since nobody writes a number so.

    >>> pl.Series(["007", "0", "0.5", "70"]).to_frame("v").select(is_code(pl.col("v"))).to_series().to_list()
    [True, False, False, False]
    """
    return text.str.starts_with("0") & text.str.contains(r"^\d{2,}$")
