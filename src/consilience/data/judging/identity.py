"""Columns that tell who or when, and so are no variables: identifiers, numbers of rows, dates."""

from __future__ import annotations

from consilience.data.facts import ColumnFacts, Holds
from consilience.data.finding import Finding, Grade, Step
from consilience.data.judging.case import Case
from consilience.data.judging.limits import ENOUGH_ROWS, IDENTIFIER, MOSTLY, NAMED_UNIQUE, NAMELESS, NEAR_UNIQUE, YEAR

__all__ = ["date", "identifier", "years"]


def identifier(case: Case) -> Finding | None:
    """A column that tells who somebody is, and nothing about them.

    >>> from consilience.data.facts import facts_of
    >>> import polars as pl
    >>> identifier(Case(facts_of(pl.DataFrame({"row": range(40)}))["row"])).words
    "'row' counts the rows, from 0 to 39: an identifier, left out."
    """
    facts = case.facts
    words = _why(facts)
    if not words:
        return None
    kind = case.remedy(Step.KIND, "multinomial" if facts.holds is Holds.TEXT else "continuous")
    return case.finding("identifier", Grade.NOTICE, f"{words}: an identifier, left out.", kind)


def _why(facts: ColumnFacts) -> str:
    """What makes it an identifier, in words; empty if nothing does."""
    if not (facts.whole or facts.holds is Holds.TEXT) or facts.categories:
        return ""
    share = facts.distinct / facts.present
    # an index is one in the smallest table, as no person gave it its name
    if NAMELESS.match(facts.name) and facts.distinct == facts.present > 1:
        return "has a value of its own in every row, and a name that programs give to numbers of rows"
    if facts.present < ENOUGH_ROWS:
        return ""
    if facts.consecutive and not _are_years(facts):
        return f"counts the rows, from {facts.low:.0f} to {facts.high:.0f}"
    if IDENTIFIER.search(facts.name) and share > NAMED_UNIQUE:
        return f"has the name of an identifier and {facts.distinct} different values in {facts.present} rows"
    if facts.text is not None and share >= NEAR_UNIQUE and facts.text.numeric <= MOSTLY * facts.present:
        return f"has {facts.distinct} different words in {facts.present} rows, as names, numbers of patients and free text have"
    return ""


def date(case: Case) -> Finding | None:
    """Dates and times, of a type of their own, as text, or as numbers like 20240131.

    >>> from consilience.data.facts import facts_of
    >>> import polars as pl
    >>> date(Case(facts_of(pl.DataFrame({"visit": ["2024-01-31", "2024-02-01"]}))["visit"])).words
    "'visit' holds dates or times, such as 2024-01-31: no variable as it is, left out."
    """
    facts = case.facts
    if facts.holds is Holds.DATE:
        example = facts.earliest
    elif facts.text is not None and facts.text.dates > MOSTLY * facts.present:
        example = facts.text.odd[0][0]
    elif facts.calendar == facts.present > 0 and facts.low is not None:
        example = f"{facts.low:.0f}"
    else:
        return None
    words = f"holds dates or times, such as {example}: no variable as it is, left out."
    return case.finding("date", Grade.NOTICE, words, case.remedy(Step.DATE, "days since 2000-01-01"))


def years(case: Case) -> Finding | None:
    """Calendar years, by name and by range: a variable if somebody wants it."""
    if not _are_years(case.facts):
        return None
    words = "looks like calendar years. Keep it only if the year itself is of interest."
    return case.finding("years", Grade.NOTICE, words, case.remedy(Step.DROP))


def _are_years(facts: ColumnFacts) -> bool:
    if not facts.whole or not YEAR.search(facts.name) or facts.low is None or facts.high is None:
        return False
    return 1900 <= facts.low <= facts.high <= 2100
