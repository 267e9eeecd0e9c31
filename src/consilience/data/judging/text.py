"""Text that is no list of levels: numbers that could not be read, and too many different words."""

from __future__ import annotations

from consilience.data.facts import TextFacts
from consilience.data.finding import Finding, Grade, Remedy, Step
from consilience.data.judging.case import Case, named
from consilience.data.judging.limits import MOST_INTEGER_LEVELS, MOST_LEVELS, MOSTLY, ROWS_PER_LEVEL
from consilience.wording import counted

__all__ = ["mostly_numbers", "no_numbers", "too_many_levels"]


def mostly_numbers(case: Case) -> Finding | None:
    """Numbers that could not be read as such: commas, units, bounds, or words among them.

    Few values that are numbers one and all are levels that somebody wrote as text, and so are few quantities ("<5", "5 years").

    >>> from consilience.data.facts import facts_of
    >>> import polars as pl
    >>> mostly_numbers(Case(facts_of(pl.DataFrame({"chol": ["233", "180", "k.A.", "201"]}))["chol"])).words
    "'chol' is text, and 3 of its 4 values are numbers: 'k.A.' (1 row) is none."
    """
    facts, text = case.facts, case.facts.text
    if text is None or facts.categories or text.numeric <= MOSTLY * facts.present:
        return None
    clean = text.numbers == facts.present or text.numbers + text.commas == 0
    if clean and facts.distinct <= MOST_INTEGER_LEVELS:
        return None
    if text.numbers == facts.present:
        words = f"is text, and all of its {facts.distinct} different values are numbers."
        return case.finding("mostly-numbers", Grade.REFUSED, words, *_kinds(case))
    code, remedies = _remedies(case, text)
    return case.finding(
        code, Grade.REFUSED, f"is text, and {text.numeric} of its {facts.present} values are numbers: {_odd(text)}.", *remedies
    )


def _odd(text: TextFacts) -> str:
    shown = [f"{value!r} ({counted(count, 'row')})" for value, count in text.odd[:3]]
    return f"{', '.join(shown)} {'is none' if len(text.odd) == 1 else 'are none that can be read' if len(text.odd) > 3 else 'are none'}"


def _remedies(case: Case, text: TextFacts) -> tuple[str, list[Remedy]]:
    """What kind of trouble it is, and the ways out, the likeliest first."""
    words = [value for value, _ in text.odd]
    if text.commas >= max(text.units, text.words, text.bounds, 1):
        both = [Remedy(Step.DECIMAL, case.facts.name, ","), Remedy(Step.THOUSANDS, case.facts.name, ",")]
        return "decimal-comma", both
    if text.units > max(text.words, text.bounds):
        return "units", [case.remedy(Step.STRIP, text.unit_words[0] if text.unit_words else "")]
    return "mostly-numbers", [*(case.remedy(Step.MISSING, word) for word in words[:3]), case.remedy(Step.KIND, "multinomial")]


def _kinds(case: Case) -> list[Remedy]:
    return [case.remedy(Step.KIND, "continuous"), case.remedy(Step.KIND, "multinomial")]


def no_numbers(case: Case, kind: str) -> Finding | None:
    """Text that is declared to be numbers, and is not."""
    text = case.facts.text
    if text is None or text.numbers == case.facts.present:
        return None
    words = [value for value, _ in text.odd]
    said = f"is declared {kind} but holds {named(words)}."
    return case.finding(
        "no-number", Grade.REFUSED, said, *dict.fromkeys((*_remedies(case, text)[1], case.remedy(Step.KIND, "multinomial")))
    )


def too_many_levels(case: Case) -> Finding | None:
    """More levels than a model can have, or than the rows can tell apart.

    >>> from consilience.data.facts import facts_of
    >>> import polars as pl
    >>> too_many_levels(Case(facts_of(pl.DataFrame({"code": [f"c{i % 30}" for i in range(90)]}))["code"])).words
    "'code' has 30 levels in 90 rows: at least 5 rows for each are needed."
    """
    facts = case.facts
    if facts.text is None or facts.categories:
        return None
    remedies = case.remedy(Step.RECODE, "'old' = 'new', …"), case.remedy(Step.VARIABLES, "…"), case.remedy(Step.KIND, "multinomial")
    about = "" if facts.exact else "about "
    if facts.distinct > MOST_LEVELS:
        words = f"has {about}{facts.distinct} levels; more than {MOST_LEVELS} are no variable unless somebody declares it."
        return case.finding("too-many-levels", Grade.REFUSED, words, *remedies)
    if facts.distinct > MOST_INTEGER_LEVELS and facts.present < ROWS_PER_LEVEL * facts.distinct:
        words = f"has {facts.distinct} levels in {facts.present} rows: at least {ROWS_PER_LEVEL} rows for each are needed."
        return case.finding("too-many-levels", Grade.REFUSED, words, *remedies[:2])
    return None
