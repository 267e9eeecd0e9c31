"""The judge: from a column's statistics, and what somebody declared, to a verdict.

Float is continuous, boolean binary, integer ordinal, text multinomial, as the paper has it; and as users need it: whole numbers are
integers whatever their type, zeros and ones are binary, and more than ten distinct integers continuous. A count is never inferred: an age
in years is an integer too, and no count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from consilience.data.counts import MOST_COUNT
from consilience.data.errors import UnknownVariableError, nearest
from consilience.data.facts import ColumnFacts, Holds
from consilience.data.finding import Finding, Grade, Step
from consilience.data.judging.case import Case
from consilience.data.judging.codes import missing_codes
from consilience.data.judging.extremes import outlier
from consilience.data.judging.identity import date, identifier, years
from consilience.data.judging.levels import constant, few_numbers, many_levels, mostly_missing, rare_levels, spellings
from consilience.data.judging.limits import MOST_INTEGER_LEVELS
from consilience.data.judging.text import mostly_numbers, no_numbers, too_many_levels
from consilience.data.judging.verdict import Standing, Verdict
from consilience.data.kinds import Kind, Variable, as_kind, have_natural_order, level_label, sort_levels
from consilience.data.schema import Declaration
from consilience.wording import counted

__all__ = ["ONE_VALUE", "judge", "judge_all"]

ONE_VALUE = "one integer only: as at the other sites, if they have more"
"""The reason that marks a guess. A site with a single value cannot know whether it is a grade or a yes; its kind gives way in ``unite``."""


def judge_all(
    facts: Mapping[str, ColumnFacts],
    kinds: Mapping[str, str | Kind] | None = None,
    levels: Mapping[str, Iterable[Any]] | None = None,
    *,
    ordered: Collection[str] = (),
    wanted: Collection[str] = (),
    owner: str = "",
    min_cell: int = 5,
) -> dict[str, Verdict]:
    """A verdict on every column of a table.

    Parameters
    ----------
    facts : mapping of str to ColumnFacts
    kinds, levels : mapping, optional
        What somebody declared, by column.
    ordered : collection of str, optional
        Columns of ordered categories, which are ordinal.
    wanted : collection of str, optional
        Columns that somebody asked for by name: they are not left out as identifiers.
    owner : str, optional
        The site's name, for messages.
    min_cell : int, default 5
        Levels with fewer rows are rare.

    Returns
    -------
    dict of str to Verdict

    Raises
    ------
    UnknownVariableError
        If something is declared for a column that is not there.
    OptionError
        If a declared kind does not exist.

    Examples
    --------
    >>> from consilience.data.facts import facts_of
    >>> import polars as pl
    >>> found = judge_all(facts_of(pl.DataFrame({"": [1, 2, 3], "age": [61.5, 70.0, 55.1], "smoker": [0.0, 1.0, None]})))
    >>> [(v.name, v.standing.value, str(v.kind)) for v in found.values()]
    [('', 'excluded', 'ordinal'), ('age', 'sure', 'continuous'), ('smoker', 'sure', 'binary')]
    """
    kinds, levels = kinds or {}, levels or {}
    for name in (*kinds, *levels):
        if name not in facts:
            whose = f"{owner!r}" if owner else "The table"
            raise UnknownVariableError(f"{whose} has no column {name!r} to declare.{nearest(name, facts)}")
    return {
        name: judge(one, kinds.get(name), levels.get(name), ordered=name in ordered, wanted=name in wanted, owner=owner, min_cell=min_cell)
        for name, one in facts.items()
    }


def judge(
    facts: ColumnFacts,
    kind: str | Kind | None = None,
    levels: Iterable[Any] | None = None,
    *,
    ordered: bool = False,
    wanted: bool = False,
    owner: str = "",
    min_cell: int = 5,
) -> Verdict:
    """A verdict on one column.

    Parameters
    ----------
    facts : ColumnFacts
    kind : str or Kind, optional
        The kind that somebody declared.
    levels : iterable, optional
        The levels that somebody declared, in order. Without a kind, two are binary; more are ordinal if all are numbers, else multinomial.
    ordered : bool, default False
        True if the column's own type has an order.
    wanted : bool, default False
        True if somebody asked for the column by name.
    owner : str, optional
        The site's name, for messages.
    min_cell : int, default 5
        Levels with fewer rows are rare.

    Returns
    -------
    Verdict

    Raises
    ------
    OptionError
        If the kind does not exist.
    LevelConflictError
        If a level is declared twice.

    Examples
    --------
    >>> from consilience.data.facts import facts_of
    >>> import polars as pl
    >>> facts = facts_of(pl.DataFrame({"stage": [1, 2, 2, 3]}))["stage"]
    >>> judge(facts).kind, judge(facts, "continuous").kind
    (<Kind.ORDINAL: 'ordinal'>, <Kind.CONTINUOUS: 'continuous'>)
    """
    case = Case(facts, owner, min_cell)
    labels = None if levels is None else tuple(level_label(level) for level in levels)
    said = None if kind is None else as_kind(kind, facts.name)
    declared = said is not None or labels is not None
    # From what is wrong whatever the kind to what is wrong with this kind: no values, no type that can be a variable, then the kind, then
    # its numbers or levels. So the first message is the one to act on.
    if facts.present == 0:
        return _verdict(case, Standing.EXCLUDED, "no values", None, _empty(case))
    if facts.holds is Holds.OTHER or (facts.holds is Holds.DATE and declared):
        return _verdict(case, Standing.REFUSED, facts.holds.value, None, _no_kind(case))
    if not declared and (found := date(case)):
        return _verdict(case, Standing.EXCLUDED, "dates or times", None, found)
    if not declared and not ordered and not wanted and (found := identifier(case)):
        return _verdict(case, Standing.EXCLUDED, "an identifier", _inferred(case), found)
    if not declared and not ordered and (found := mostly_numbers(case) or too_many_levels(case)):
        return _verdict(case, Standing.REFUSED, found.words.removeprefix(f"{case.subject} "), None, found)
    return _as_kind(case, said, labels, ordered=ordered)


def _verdict(case: Case, standing: Standing, reason: str, declaration: Declaration | None, *findings: Finding | None) -> Verdict:
    return Verdict(case.facts.name, standing, reason, declaration, tuple(found for found in findings if found))


def _empty(case: Case) -> Finding:
    return case.finding("empty", Grade.NOTICE, "has no values at all: the site counts as not measuring it.", case.remedy(Step.DROP))


def _no_kind(case: Case) -> Finding:
    words = f"holds {case.facts.holds.value if case.facts.holds is Holds.DATE else 'values that are no numbers, text or booleans'}"
    ways = (case.remedy(Step.DATE, "days since 2000-01-01"),) if case.facts.holds is Holds.DATE else ()
    return case.finding("no-kind", Grade.REFUSED, f"{words}, which is no kind of variable.", *ways, case.remedy(Step.DROP))


def _as_kind(case: Case, said: Kind | None, levels: tuple[str, ...] | None, *, ordered: bool) -> Verdict:
    """The verdict on a column that can be a variable: what was declared or what type and values say, and what speaks against it."""
    facts = case.facts
    kind, reason = _choose(case, said, levels, ordered=ordered)
    against = _against(case, kind, said, levels)
    if against:
        return _verdict(case, Standing.REFUSED, against.words.removeprefix(f"{case.subject} "), None, against)
    if not kind.is_discrete:
        declaration = Declaration(Variable(facts.name, kind), declared_kind=said is not None, reason=reason)
    else:
        order = levels or facts.categories
        variable = Variable(facts.name, kind, order or _levels(kind, facts))
        only = facts.top[0][0] if reason == ONE_VALUE else ""
        declaration = Declaration(variable, said is not None, bool(order), reason, only, whole=_is_whole_decimal(facts) and said is None)
    noticed = [found for found in _noticed(case, kind, declared=said is not None or levels is not None) if found]
    standing = Standing.DOUBTFUL if any(found.grade is Grade.DOUBTFUL for found in noticed) else Standing.SURE
    return _verdict(case, standing, reason, declaration, *noticed)


def _choose(case: Case, said: Kind | None, levels: tuple[str, ...] | None, *, ordered: bool) -> tuple[Kind, str]:
    # What people said comes before what types say, and the plainest word first: a kind, an order, levels.
    if said is not None:
        return said, "declared"
    if ordered:
        return Kind.ORDINAL, "ordered categories"
    if levels is None:
        return _infer(case.facts)
    if len(levels) == 2:
        return Kind.BINARY, "two levels declared"
    return (Kind.ORDINAL if have_natural_order(levels) else Kind.MULTINOMIAL), "levels declared"


def _infer(facts: ColumnFacts) -> tuple[Kind, str]:
    # A decimal says something by its fractions; whole numbers say less, whichever type a gap among them gave them. So for these the values
    # decide, and a kind that was inferred may change when rows are added: the reason names what was seen.
    if facts.holds is Holds.BOOLEAN:
        return Kind.BINARY, "boolean"
    if facts.holds is Holds.TEXT:
        return Kind.MULTINOMIAL, "text"  # never ordinal: alphabetical order is not an order of "low", "high", "medium"
    if not facts.whole:
        return Kind.CONTINUOUS, "decimal numbers"
    called = "integers" if facts.holds is Holds.WHOLE else "whole numbers"
    if facts.distinct == 1:
        return (Kind.BINARY if facts.low in (0, 1) else Kind.ORDINAL), ONE_VALUE
    # 1 and 2 stay ordinal: with two levels that is the same model, and no guess is needed
    if (facts.low, facts.high) == (0, 1):
        return Kind.BINARY, f"{called} 0 and 1"
    if facts.distinct > MOST_INTEGER_LEVELS:
        return Kind.CONTINUOUS, f"{called}, {'' if facts.exact else 'about '}{facts.distinct} distinct"
    return Kind.ORDINAL, f"{called}, {facts.distinct} distinct"


def _inferred(case: Case) -> Declaration | None:
    kind, reason = _infer(case.facts)
    if kind.is_discrete and not case.facts.listed:
        return None
    levels = _levels(kind, case.facts) if kind.is_discrete else ()
    return Declaration(Variable(case.facts.name, kind, levels), reason=reason)


def _is_whole_decimal(facts: ColumnFacts) -> bool:
    return facts.whole and facts.holds is Holds.DECIMAL


def _levels(kind: Kind, facts: ColumnFacts) -> tuple[str, ...]:
    # both levels, also where a site has seen one: whether the other occurs is the study's question, not the site's
    found = set(facts.counts)
    return ("0", "1") if kind is Kind.BINARY and found <= {"0", "1"} else sort_levels(found)


def _against(case: Case, kind: Kind, said: Kind | None, levels: tuple[str, ...] | None) -> Finding | None:
    """What cannot be, whoever declares it."""
    if not kind.is_discrete:
        return _against_numbers(case, kind, levels)
    facts, found = case.facts, sort_levels(case.facts.counts)
    order = levels or facts.categories
    if not order and not facts.listed:
        words = f"has {facts.distinct} different values; levels that are not declared may be {len(facts.top) or 'few'} at most."
        return case.finding("too-many-levels", Grade.REFUSED, words, case.remedy(Step.KIND, "continuous"))
    if order and (not facts.listed or not set(found) <= set(order)):
        strange = next((label for label in found if label not in order), "")
        words = f"= {strange!r} is not among its declared levels {list(order)}."
        return case.finding(
            "strange-level", Grade.REFUSED, words, case.remedy(Step.LEVELS, ",".join((*order, strange))), case.remedy(Step.MISSING, strange)
        )
    if kind is Kind.ORDINAL and not order and not have_natural_order(found):
        words = f"is declared ordinal, but the order of {list(found)} is not known."
        return case.finding("order", Grade.REFUSED, words, case.remedy(Step.LEVELS, "lowest,...,highest"))
    if kind is Kind.BINARY and len(order or found) > 2:
        words = f"is binary and may have two levels at most; it has {list(order or found)}."
        return case.finding(
            "level-conflict", Grade.REFUSED, words, case.remedy(Step.KIND, "multinomial"), case.remedy(Step.KIND, "ordinal")
        )
    return None


def _against_numbers(case: Case, kind: Kind, levels: tuple[str, ...] | None) -> Finding | None:
    facts = case.facts
    if levels is not None:
        words = f"is declared {kind.value} and given levels {list(levels)}; give one or the other."
        return case.finding("kind-and-levels", Grade.REFUSED, words)
    if found := no_numbers(case, kind.value):
        return found
    if facts.infinite:
        words = f"is infinite in {counted(facts.infinite, 'row')}. Replace infinite values by numbers or leave them empty (missing)."  # noqa: S608  (a sentence)
        return case.finding("infinite", Grade.REFUSED, words, case.remedy(Step.MISSING, "inf"))
    if (
        kind is Kind.COUNT
        and facts.low is not None
        and facts.high is not None
        and (facts.low < 0 or facts.high > MOST_COUNT or not facts.whole)
    ):
        value = facts.low if facts.low < 0 else facts.high if facts.high > MOST_COUNT else _fraction(facts)
        words = f"is declared a count and holds {value:.15g}; a count is a whole number from 0 to {MOST_COUNT}."
        return case.finding(
            "no-count", Grade.REFUSED, words, case.remedy(Step.KIND, "continuous"), case.remedy(Step.MISSING, f"{value:.15g}")
        )
    return None


def _fraction(facts: ColumnFacts) -> float:
    """A number with a fraction, if one is among those that are known by value."""
    numbers = (*(float(label) for label in facts.counts), facts.low or 0.0, facts.high or 0.0)
    return next((number for number in numbers if not number.is_integer()), numbers[0])


def _noticed(case: Case, kind: Kind, *, declared: bool) -> list[Finding | None]:
    """What is used as it is, and said."""
    if case.facts.distinct == 1:
        return [constant(case), mostly_missing(case)]
    codes = None if kind is Kind.BINARY and declared else missing_codes(case)
    found = [codes, spellings(case), years(case)]
    if kind.is_discrete:
        found += [rare_levels(case), many_levels(case)]
    else:
        # what is suspected to be a code is not named twice
        found.append(None if codes else outlier(case))
        if kind is Kind.CONTINUOUS and not declared:
            found.append(few_numbers(case))
    return [*found, mostly_missing(case)]
