"""A way out that a finding names, taken: what a column's plan is after it."""

from __future__ import annotations

import json
from dataclasses import replace

from consilience.data.finding import Remedy, Step
from consilience.data.harmonise.columns import ColumnPlan
from consilience.data.harmonise.scales import unit_named
from consilience.errors import OptionError

__all__ = ["taken"]

_OF_THE_FILE = (Step.THOUSANDS, Step.SEPARATOR, Step.ENCODING, Step.VARIABLES)


def taken(plan: ColumnPlan, remedy: Remedy) -> ColumnPlan | None:
    """The plan with the way out; None if that needs more than a click: a choice, or another reading of the whole file.

    >>> taken(ColumnPlan(name="chol"), Remedy(Step.MISSING, "chol", "-9")).missing
    ('-9',)
    >>> taken(ColumnPlan(name="chol"), Remedy(Step.STRIP, "chol", "mg/dl")).unit
    'mg/dl'
    """
    step, value = remedy.step, remedy.value
    if step in _OF_THE_FILE or "…" in value or "..." in value or "old ->" in value:
        return None
    if step is Step.MISSING:
        return replace(plan, missing=(*plan.missing, value)) if value and value not in plan.missing else None
    if step is Step.UNIT:
        return replace(plan, unit=value, factor=None)
    if step is Step.STRIP:  # "233 mg/dl": what was behind the numbers is their unit, if it is one
        return replace(plan, strip=value, unit=value if _is_unit(value) else plan.unit)
    if step is Step.RECODE:
        return _recoded(plan, value)
    if step is Step.RANGE:
        return _ranged(plan, value)
    if step is Step.LEVELS:
        return replace(plan, levels=tuple(value.split(",")))
    return _simple(plan, step, value)


def _is_unit(text: str) -> bool:
    try:
        unit_named(text)
    except OptionError:
        return False
    return True


def _simple(plan: ColumnPlan, step: Step, value: str) -> ColumnPlan | None:
    if step is Step.KIND:
        return replace(plan, kind=value)
    if step is Step.DECIMAL:
        return replace(plan, decimal=value)
    if step is Step.DATE:
        return replace(plan, date=value) if value.startswith("days since ") else None
    if step is Step.FACTOR:
        return replace(plan, factor=float(value), unit="")
    if step is Step.RENAME:
        return replace(plan, rename=value)
    return replace(plan, drop=True) if step is Step.DROP else None


def _recoded(plan: ColumnPlan, value: str) -> ColumnPlan | None:
    try:
        levels = json.loads(value)
    except ValueError:
        return None
    return replace(plan, recode=tuple(sorted({**dict(plan.recode), **levels}.items())))


def _ranged(plan: ColumnPlan, value: str) -> ColumnPlan | None:
    try:
        low, high = (float(end) for end in value.split(","))
    except ValueError:
        return None
    return replace(plan, range=(low, high))
