"""A column before its judge: its statistics, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from consilience.data.facts import ColumnFacts
from consilience.data.finding import Finding, Grade, Remedy, Step

__all__ = ["Case", "named", "seen"]

NAMED = 4
"""Values that a message names."""


def named(values: Iterable[str]) -> str:
    """Some values, for a sentence.

    >>> named(["a", "b"]), named("abcdef")
    ("'a', 'b'", "'a', 'b', 'c', 'd' and 2 others")
    """
    values = list(values)
    shown = ", ".join(repr(value) for value in values[:NAMED])
    return shown if len(values) <= NAMED else f"{shown} and {len(values) - NAMED} others"


@dataclass(frozen=True, slots=True)
class Case:
    """A column before its judge.

    Attributes
    ----------
    facts : ColumnFacts
    owner : str
        The site, for messages; may be empty where there is only one.
    min_cell : int
        Levels with fewer rows are rare.

    Examples
    --------
    >>> from consilience.data.facts import Holds
    >>> Case(ColumnFacts("age", Holds.WHOLE, rows=3), "muenster").subject
    "'age' of 'muenster'"
    """

    facts: ColumnFacts
    owner: str = ""
    min_cell: int = 5

    @property
    def subject(self) -> str:
        """What a sentence about it begins with."""
        return f"{self.facts.name!r} of {self.owner!r}" if self.owner else repr(self.facts.name)

    def finding(self, code: str, grade: Grade, words: str, *remedies: Remedy) -> Finding:
        """Something noticed about the column; ``words`` go on where :attr:`subject` ends."""
        sites = (self.owner,) if self.owner else ()
        return Finding(code, grade, f"{self.subject} {words}", (self.facts.name,), sites, remedies)

    def remedy(self, step: Step, value: str = "") -> Remedy:
        """A way out for this column."""
        return Remedy(step, self.facts.name, value)


def seen(case: Case) -> str:
    """The range of the numbers that are neither codes nor far out, as a plan has it.

    >>> from consilience.data.facts import facts_of
    >>> import polars as pl
    >>> seen(Case(facts_of(pl.DataFrame({"chol": [*range(180, 260), 0, 0, 99999]}))["chol"]))
    '180, 259'
    """
    low, high = case.facts.inner or (case.facts.low, case.facts.high)
    return f"{low:.15g}, {high:.15g}"
