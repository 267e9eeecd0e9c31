"""A plan applied to what a source gave: the table with what the source said of it, by the new names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from consilience.data.finding import Finding
from consilience.data.harmonise.changes import Change
from consilience.data.harmonise.columns import ColumnPlan
from consilience.data.sources.loaded import Loaded

if TYPE_CHECKING:
    from consilience.data.harmonise.plan import Plan

__all__ = ["Applied", "after"]

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """A site's table after its plan.

    Attributes
    ----------
    loaded : Loaded
        The table and what its source said of it, by the new names; what the plan answered is no longer said.
    plan : Plan
    changes : tuple of Change
        Before and after, for the owner of the data.
    """

    loaded: Loaded
    plan: Plan
    changes: tuple[Change, ...] = ()


def after(plan: Plan, loaded: Loaded, owner: str) -> Applied:
    """What a source gave, after a plan.

    >>> import polars as pl
    >>> from consilience.data.harmonise.plan import Plan
    >>> plan = Plan.of({"Geschlecht": {"rename": "sex"}})
    >>> after(plan, Loaded(pl.DataFrame({"Geschlecht": ["m", "w"]}), levels={"Geschlecht": ("m", "w")}), "muenster").loaded.levels
    {'sex': ('m', 'w')}
    """
    if not plan.columns and not plan.derived:
        return Applied(loaded, plan)
    columns = {column.name: column for column in plan.columns}
    done = plan.apply(loaded.frame, owner)
    findings = (moved for finding in loaded.findings if (moved := _moved(finding, columns)) is not None)
    return Applied(
        Loaded(
            done.frame,
            frozenset(_by_new_names(dict.fromkeys(loaded.ordered, True), columns)),
            _by_new_names(loaded.levels, columns),
            loaded.about,
            _by_final(loaded.emptied, columns),
            (*findings, *done.findings),
        ),
        plan,
        done.changes,
    )


def _by_new_names(said: Mapping[str, Value], columns: Mapping[str, ColumnPlan]) -> dict[str, Value]:
    """What was said of levels and their order; of those that were recoded it is no longer true."""
    return _by_final({name: value for name, value in said.items() if name not in columns or not columns[name].recode}, columns)


def _by_final(said: Mapping[str, Value], columns: Mapping[str, ColumnPlan]) -> dict[str, Value]:
    kept = {name: value for name, value in said.items() if name not in columns or not columns[name].drop}
    return {(columns[name].final if name in columns else name): value for name, value in kept.items()}


def _moved(finding: Finding, columns: Mapping[str, ColumnPlan]) -> Finding | None:
    """The finding by the new names; None if the plan changes what it was about, which is then judged anew."""
    for name in finding.columns:
        if name in columns and columns[name].changes_values:
            return None
    return replace(finding, columns=tuple(columns[name].final if name in columns else name for name in finding.columns))
