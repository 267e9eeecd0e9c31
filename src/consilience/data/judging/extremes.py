"""Numbers that lie so far from all others that a finger may have slipped."""

from __future__ import annotations

from consilience.data.facts.measure import FAR_OUT
from consilience.data.finding import Finding, Grade, Step
from consilience.data.judging.case import Case, seen
from consilience.data.judging.limits import ENOUGH_ROWS

__all__ = ["outlier"]


def outlier(case: Case) -> Finding | None:
    """A smallest or largest number far from the middle half.

    >>> from consilience.data.facts import facts_of
    >>> import polars as pl
    >>> outlier(Case(facts_of(pl.DataFrame({"chol": [*range(180, 220), 2_050_000]}))["chol"])).words
    "'chol' goes to 2.05e+06, while half of its values lie between 190 and 210: is that a slip, or another unit?"
    """
    facts = case.facts
    if facts.present < ENOUGH_ROWS or None in (facts.low, facts.high, facts.lower, facts.upper):
        return None
    assert facts.low is not None
    assert facts.high is not None
    assert facts.lower is not None
    assert facts.upper is not None
    width = facts.upper - facts.lower
    far = [end for end, gap in ((facts.low, facts.lower - facts.low), (facts.high, facts.high - facts.upper)) if gap > FAR_OUT * width > 0]
    if not far:
        return None
    ends = " and ".join(f"{end:g}" for end in far)
    words = f"goes to {ends}, while half of its values lie between {facts.lower:g} and {facts.upper:g}: is that a slip, or another unit?"
    return case.finding("outlier", Grade.NOTICE, words, case.remedy(Step.RANGE, seen(case)))
