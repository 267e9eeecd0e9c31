"""Levels that may be one, levels of few rows, and columns of which little can be said: what is used, and somebody should look at."""

from __future__ import annotations

from consilience.data.checking.spelling import spelled_twice
from consilience.data.facts import Holds
from consilience.data.finding import Finding, Grade, Step
from consilience.data.judging.case import Case, named
from consilience.data.judging.limits import ENOUGH_ROWS, FEW_NUMBERS, MANY_LEVELS, MOSTLY_MISSING
from consilience.wording import counted

__all__ = ["constant", "few_numbers", "many_levels", "mostly_missing", "rare_levels", "spellings"]


def constant(case: Case) -> Finding | None:
    """One value in every row, which can be related to nothing.

    >>> from consilience.data.facts import facts_of
    >>> import polars as pl
    >>> constant(Case(facts_of(pl.DataFrame({"ward": ["A"] * 9}))["ward"])).words
    "'ward' is 'A' in every row that has a value: it can be related to nothing here."
    """
    facts = case.facts
    if facts.distinct != 1:
        return None
    value = repr(facts.top[0][0]) if facts.holds is Holds.TEXT else facts.top[0][0]
    words = f"is {value} in every row that has a value: it can be related to nothing here."
    return case.finding("constant", Grade.NOTICE, words, case.remedy(Step.DROP))


def spellings(case: Case) -> Finding | None:
    """Levels that differ by case, space or punctuation only.

    >>> from consilience.data.facts import facts_of
    >>> import polars as pl
    >>> spellings(Case(facts_of(pl.DataFrame({"smoker": ["yes", "Yes ", "no"]}))["smoker"])).words
    "'smoker' has levels that may be one, spelled in several ways: 'Yes ' and 'yes'."
    """
    if case.facts.text is None:
        return None
    groups = spelled_twice(sorted(case.facts.counts))
    if not groups:
        return None
    shown = "; ".join(" and ".join(repr(level) for level in group) for group in groups[:3])
    most = max(groups[0], key=lambda level: case.facts.counts[level])
    recoded = ", ".join(f"{level!r} = {most!r}" for level in groups[0] if level != most)
    words = f"has levels that may be one, spelled in several ways: {shown}."
    return case.finding("spelling", Grade.DOUBTFUL, words, case.remedy(Step.RECODE, recoded))


def rare_levels(case: Case) -> Finding | None:
    """Levels that occur in few rows."""
    rare = sorted(label for label, count in case.facts.top if count < case.min_cell)
    if not rare or case.facts.present < ENOUGH_ROWS:
        return None
    words = f"has {counted(len(rare), 'level')} in fewer than {case.min_cell} rows: {named(rare)}."
    return case.finding("rare", Grade.NOTICE, words, case.remedy(Step.RECODE, f"{rare[0]!r} = 'another level'"))


def many_levels(case: Case) -> Finding | None:
    """So many levels that models with them become large."""
    facts = case.facts
    if facts.distinct <= MANY_LEVELS:
        return None
    words = f"has {facts.distinct} levels: models with it become large and need many rows."
    return case.finding("many", Grade.NOTICE, words, case.remedy(Step.RECODE, "'old' = 'new', …"), case.remedy(Step.DROP))


def few_numbers(case: Case) -> Finding | None:
    """Decimal numbers of few different values, which may be grades or groups."""
    facts = case.facts
    if facts.distinct > FEW_NUMBERS or facts.present < ENOUGH_ROWS:
        return None
    words = f"has only {facts.distinct} different numbers. If they stand for grades or groups, it is no continuous variable."
    return case.finding("few", Grade.NOTICE, words, case.remedy(Step.KIND, "ordinal"), case.remedy(Step.KIND, "multinomial"))


def mostly_missing(case: Case) -> Finding | None:
    """More gaps than values."""
    share = case.facts.missing_share
    if share <= MOSTLY_MISSING:
        return None
    words = f"has no value in {share:.0%} of the rows; a test uses the rows that have all of its variables."
    return case.finding("mostly-missing", Grade.NOTICE, words)
