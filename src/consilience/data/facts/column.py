"""The statistics of one column."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["ColumnFacts", "Holds", "TextFacts"]


class Holds(StrEnum):
    """What type of values a column holds, whatever its width in bits.

    >>> Holds.WHOLE.is_number, Holds.TEXT.is_number
    (True, False)
    """

    WHOLE = "whole numbers"
    DECIMAL = "decimal numbers"
    BOOLEAN = "yes or no"
    TEXT = "text"
    DATE = "dates or times"
    NOTHING = "nothing"
    OTHER = "other"

    @property
    def is_number(self) -> bool:
        """True of whole and decimal numbers."""
        return self in (Holds.WHOLE, Holds.DECIMAL)


@dataclass(frozen=True, slots=True)
class TextFacts:
    """What the values of a text column look like, in rows; a row is counted once, under the first that fits.

    Attributes
    ----------
    numbers : int
        Plain numbers: ``12``, ``-1.5``, ``1e3``.
    commas : int
        Numbers with commas: ``1,5``, ``12,345``.
    dates : int
        Dates or times.
    units : int
        A number and a word, as in ``233 mg/dl``.
    bounds : int
        A sign and a number, as in ``<5``.
    words : int
        All else.
    odd : tuple of (str, int)
        The most frequent values that are no plain numbers, with their rows.
    unit_words : tuple of str
        The most frequent words behind numbers.
    length : float
        Characters of a value, on average.

    Examples
    --------
    >>> TextFacts(numbers=3, words=1).rows
    4
    """

    numbers: int = 0
    commas: int = 0
    dates: int = 0
    units: int = 0
    bounds: int = 0
    words: int = 0
    odd: tuple[tuple[str, int], ...] = ()
    unit_words: tuple[str, ...] = ()
    length: float = 0.0

    @property
    def rows(self) -> int:
        """Rows that have a value."""
        return self.numbers + self.commas + self.dates + self.units + self.bounds + self.words

    @property
    def numeric(self) -> int:
        """Rows in which a number stands, however it is written."""
        return self.numbers + self.commas + self.units + self.bounds


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """The statistics of one column.

    Attributes
    ----------
    name : str
    holds : Holds
    rows, missing : int
        Rows in all, and those without a value (NaN is none).
    distinct : int
        Different values; estimated, to a per cent or two, where ``exact`` is False.
    exact : bool
    top : tuple of (str, int)
        The most frequent values as level labels, with their rows, the most frequent first; every value there is, if ``listed``.
    low, high, lower, median, upper, mean : float or None
        Of numbers: the smallest and the largest, the quartiles, the mean; over finite values.
    inner : pair of float or None
        Of numbers: the smallest and the largest of those that are no usual code for "missing" and not far out.
    whole : bool
        Numbers without a fraction, of whichever type.
    consecutive : bool
        Whole numbers of which every one from the smallest to the largest is there once.
    infinite : int
        Rows with an infinite number.
    spikes : tuple of (float, int)
        Usual codes for "missing" (0, -9, 99, 999, …) that occur, with their rows.
    calendar : int
        Rows with a whole number that reads as a day, as 20240131 does.
    earliest, latest : str
        Of dates and times.
    text : TextFacts or None
        Of text.
    categories : tuple of str
        The levels that the type itself declares, in order.

    Examples
    --------
    >>> facts = ColumnFacts("sex", Holds.TEXT, rows=10, missing=2, distinct=2, top=(("f", 5), ("m", 3)))
    >>> facts.present, facts.listed, facts.missing_share
    (8, True, 0.2)
    """

    name: str
    holds: Holds
    rows: int
    missing: int = 0
    distinct: int = 0
    exact: bool = True
    top: tuple[tuple[str, int], ...] = ()
    low: float | None = None
    high: float | None = None
    lower: float | None = None
    median: float | None = None
    upper: float | None = None
    mean: float | None = None
    inner: tuple[float, float] | None = None
    whole: bool = False
    consecutive: bool = False
    infinite: int = 0
    spikes: tuple[tuple[float, int], ...] = ()
    calendar: int = 0
    earliest: str = ""
    latest: str = ""
    text: TextFacts | None = None
    categories: tuple[str, ...] = ()

    @property
    def present(self) -> int:
        """Rows that have a value."""
        return self.rows - self.missing

    @property
    def missing_share(self) -> float:
        """Rows without a value, as a part of all."""
        return self.missing / self.rows if self.rows else 0.0

    @property
    def listed(self) -> bool:
        """True if every different value is in ``top``."""
        return self.exact and len(self.top) == self.distinct

    @property
    def counts(self) -> dict[str, int]:
        """Rows by label, of the values in ``top``."""
        return dict(self.top)
