"""Numbers that may stand for "missing": they lie outside the bulk, and are on a list of usual codes."""

from __future__ import annotations

import math

from consilience.data.facts import ColumnFacts
from consilience.data.facts.patterns import CODES
from consilience.data.finding import Finding, Grade, Remedy, Step
from consilience.data.judging.case import Case, seen
from consilience.data.judging.limits import ENOUGH_ROWS, FAR, OFTEN
from consilience.data.kinds import level_label
from consilience.wording import counted

__all__ = ["missing_codes"]

_SMALL = (7.0, 8.0, 9.0)
"""Codes of items with few answers: 1 yes, 2 no, 8 refused, 9 not known."""

NEAR = 0.5
"""A zero that is not so far from the smallest of the others as half of the way from there to the lower quartile is one of them."""
FEW_VALUES = 12
"""Up to so many different numbers are answers or grades, and codes among them stand apart rather than far out."""


def missing_codes(case: Case) -> Finding | None:
    """Suspected codes for "missing" among the numbers of a column, with their rows.

    >>> from consilience.data.facts import facts_of
    >>> import polars as pl
    >>> facts = facts_of(pl.DataFrame({"chol": [*range(180, 260), 0, 0, 0]}))
    >>> missing_codes(Case(facts["chol"])).words
    "'chol' has 0 in 3 rows, outside all other values (180 to 259): does it stand for 'missing'?"
    """
    facts = case.facts
    if not facts.holds.is_number or facts.present < ENOUGH_ROWS or facts.low is None:
        return None
    found, bulk = _listed(facts) if facts.listed else _spikes(facts)
    found = [(code, rows) for code, rows in found if code or not _one_of_them(facts)]
    if not found:
        return None
    shown = ", ".join(f"{code:g} in {counted(rows, 'row')}" for code, rows in found)
    words = f"has {shown}, {bulk}: {'does it' if len(found) == 1 else 'do they'} stand for 'missing'?"
    return case.finding("missing-code", Grade.DOUBTFUL, words, *(_remedy(case, code) for code, _ in found))


def _remedy(case: Case, code: float) -> Remedy:
    # a zero is a value of other columns, so it is not made missing everywhere
    return case.remedy(Step.RANGE, seen(case)) if code == 0 else case.remedy(Step.MISSING, f"{code:g}")


def _one_of_them(facts: ColumnFacts) -> bool:
    """Whether a zero is where the tail of the others goes, as a percentage or an income, or the logarithm of 1 among those of others."""
    if facts.inner is None or facts.lower is None:
        return False
    low = facts.inner[0]
    if 0 < low < NEAR * (facts.lower - low):
        return True
    others = [number for label in facts.counts if (number := float(label))]
    return facts.listed and not facts.whole and all(_is_logarithm(number) for number in others)


def _is_logarithm(number: float) -> bool:
    """Of a whole number, to the digits that tables have; those of large numbers are too near to each other to be known."""
    return 0 < number < 7 and abs(math.exp(number) - round(math.exp(number))) < 2e-3


def _listed(facts: ColumnFacts) -> tuple[list[tuple[float, int]], str]:
    """Where every value was counted: codes that lie further from all other values than these are wide, or stick out of a tail."""
    # a zero among few values is a grade or a no; among many it may be a measurement that was not made
    usual = {level_label(code) for code in (*CODES, *_SMALL) if code or facts.distinct > FEW_VALUES}
    others = sorted(float(label) for label in facts.counts if label not in usual)
    if not others:
        return [], ""
    low, high = others[0], others[-1]
    found = [(code, rows) for code, rows in _counted(facts) if _apart(facts, code, rows, low, high)]
    return found, f"outside all other values ({low:g} to {high:g})"


def _counted(facts: ColumnFacts) -> list[tuple[float, int]]:
    small = [(code, facts.counts[level_label(code)]) for code in _SMALL if level_label(code) in facts.counts]
    return [*facts.spikes, *(small if facts.whole else [])]


def _apart(facts: ColumnFacts, code: float, rows: int, low: float, high: float) -> bool:
    if low <= code <= high:
        return False
    if code < 0 <= low:  # all others are positive: what cannot be negative has a code that is
        return rows > 1
    gap = low - code if code < low else code - high
    if code in _SMALL or facts.distinct <= FEW_VALUES:  # one row with a 9 may be a count that went far
        return gap >= max(high - low, 2.0) and (rows > 1 or code not in _SMALL)
    if gap >= high - low:  # further from all others than these are from each other, however they lie
        return rows > 1
    return rows > 1 and _far(facts, code) and (gap >= 0.25 * (high - low) or rows >= OFTEN * facts.present / facts.distinct)


def _spikes(facts: ColumnFacts) -> tuple[list[tuple[float, int]], str]:
    """Where values are too many to be counted: codes that are far, and much more frequent than a value is."""
    often = max(2.0, OFTEN * facts.present / facts.distinct)
    found = [(code, rows) for code, rows in facts.spikes if rows >= often and _far(facts, code)]
    return found, f"far from the median ({facts.median:g})"


def _far(facts: ColumnFacts, code: float) -> bool:
    """On the other side of the median than the code, the quartiles do not know of it, up to half of the rows."""
    assert facts.median is not None
    assert facts.lower is not None
    assert facts.upper is not None
    if code < facts.median:
        return facts.median - code > FAR * (facts.upper - facts.median) > 0
    return code - facts.median > FAR * (facts.median - facts.lower) > 0
