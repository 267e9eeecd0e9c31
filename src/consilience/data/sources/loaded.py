"""A table as a source gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from consilience.data.finding import Finding
from consilience.frames import pl

__all__ = ["Loaded"]


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A table as a source gives it, before anybody's harmonising.

    Attributes
    ----------
    frame : polars.DataFrame
        Typed: integers, floats, booleans, text, categories, dates and times.
    ordered : frozenset of str
        Columns of ordered categories.
    levels : mapping of str to tuple of str
        Levels that the file itself declares (value labels), in their order.
    about : tuple of str
        What was found out about the source, a short sentence each: separator, decimal mark, encoding, sheet, driver.
    emptied : mapping of str to mapping of str to int
        By column, the words and codes that were read as missing, with their rows; empty cells are not among them.
    findings : tuple of Finding
        What could not be read without guessing.

    Examples
    --------
    >>> Loaded(pl.DataFrame({"age": [61.5, 70.0]})).frame.height
    2
    """

    frame: pl.DataFrame
    ordered: frozenset[str] = frozenset()
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    about: tuple[str, ...] = ()
    emptied: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
