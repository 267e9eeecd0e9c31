"""A plan applied to a table: two passes, one that looks at what would change, and one that changes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from consilience.data.errors import HarmoniseError, nearest
from consilience.data.finding import Finding, Grade, Remedy, Step
from consilience.data.harmonise.changes import Change, change_of, measures
from consilience.data.harmonise.columns import ColumnPlan
from consilience.data.harmonise.derived import Derived
from consilience.data.harmonise.stages import Stage, Way, along, way_of
from consilience.data.numerals import PLAIN
from consilience.frames import pl

__all__ = ["Frame", "Harmonised", "harmonise"]

Frame = TypeVar("Frame", "pl.DataFrame", "pl.LazyFrame")  # in words: polars is not loaded before it is used
FIRST = 1000
"""Rows that are looked at first, where one that does not fit decides."""
MANY = 0.5
"""A range that empties more than this share of a column's values is more likely wrong than the values."""


@dataclass(frozen=True, slots=True, eq=False)
class Harmonised(Generic[Frame]):
    """A table after its plan, what was changed, and what was noticed.

    ``changes`` show values of single rows: they are for the owner of the data, and stay at the site.
    """

    frame: Frame
    changes: tuple[Change, ...] = ()
    findings: tuple[Finding, ...] = ()

    def lines(self) -> list[str]:
        """Every change, before and after, in words."""
        return [line for change in self.changes for line in change.said()]


def harmonise(columns: Sequence[ColumnPlan], derived: Sequence[Derived], frame: Frame, owner: str = "") -> Harmonised[Frame]:
    """Apply a plan.

    Parameters
    ----------
    columns : sequence of ColumnPlan
        What is done with columns.
    derived : sequence of Derived
        Variables that are computed from them, in this order.
    frame : polars.DataFrame or polars.LazyFrame
        The site's table. A lazy one is read twice, and stays lazy.
    owner : str
        The site's name, for messages.

    Returns
    -------
    Harmonised
        The table in the same form, with what was changed.

    Raises
    ------
    HarmoniseError
        If the plan names a column that is not there, or a value cannot be read as the plan says.

    Examples
    --------
    >>> from consilience.data.harmonise import Plan
    >>> frame = pl.DataFrame({"chol": [201.0, -9.0], "sex": ["M", "F"]})
    >>> plan = Plan.of({"chol": {"missing": [-9], "unit": "mg/dl -> mmol/l"}, "sex": {"recode": {"M": "male", "F": "female"}}})
    >>> found = harmonise(plan.columns, plan.derived, frame)
    >>> found.frame.rows()
    [(5.19831171249, 'male'), (None, 'female')]
    >>> for line in found.changes[0].said():
    ...     print(line)
    chol: '-9' made missing; 1 value changed to missing
      before: -9 – 96 – 201 (least, median, greatest)
      after:  201 – 201 – 201 (least, median, greatest), 1 missing
      -9 -> missing
    """
    lazy = frame.lazy()
    schema = dict(lazy.collect_schema())
    _check_columns(columns, derived, list(schema), owner)
    try:
        ways = [way_of(column, str(i), schema, lambda way: _all_numbers(lazy, way)) for i, column in enumerate(columns)]
    except HarmoniseError as error:
        raise HarmoniseError(f"{_at(owner)}{error}") from None
    staged = along(lazy, ways)
    if isinstance(frame, pl.DataFrame):  # what is in memory is computed once, and looked at afterwards
        staged = staged.collect().lazy()
    changes, findings = _look(staged, ways, owner)
    lazy = staged.with_columns([way.now.alias(way.plan.name) for way in ways if way.stages]).select(list(schema))
    dropped = {c.name: _put_aside(c, columns) for c in columns if c.drop}
    lazy = lazy.rename({c.name: dropped.get(c.name, c.final) for c in columns})
    changes += [Change(c.name, "rename", f"renamed {c.rename!r}") for c in columns if c.rename]
    lazy, made = _derive(derived, lazy, owner, held=isinstance(frame, pl.DataFrame))
    changes += made
    lazy = lazy.drop(list(dropped.values()))
    changes += [Change(name, "drop", "left out") for name in dropped]
    result: Any = lazy.collect() if isinstance(frame, pl.DataFrame) else lazy
    return Harmonised(result, tuple(changes), findings)


def _at(owner: str) -> str:
    return f"At {owner!r}: " if owner else ""


def _check_columns(columns: Sequence[ColumnPlan], derived: Sequence[Derived], names: list[str], owner: str) -> None:
    for column in columns:
        if column.name not in names:
            raise HarmoniseError(
                f"{_at(owner)}the plan names a column {column.name!r}, which the table does not have.{nearest(column.name, names)}"
            )
    renamed = {c.name: _put_aside(c, columns) if c.drop else c.final for c in columns}
    after = [renamed.get(name, name) for name in names] + [d.name for d in derived]
    twice = sorted({name for name in after if after.count(name) > 1})
    if twice:
        raise HarmoniseError(
            f"{_at(owner)}two columns would be called {twice[0]!r} after renaming and deriving. "
            f"Choose another name, or rename the one that is there."
        )


def _put_aside(dropped: ColumnPlan, columns: Sequence[ColumnPlan]) -> str:
    """What a column is called until it is dropped: as ever, for derived variables to use, unless another one is given its name."""
    taken = any(other.rename == dropped.final for other in columns if other is not dropped)
    return f"\x1fdropped {dropped.name}" if taken else dropped.final


def _all_numbers(lazy: pl.LazyFrame, way: Way) -> bool:
    present = way.now.str.strip_chars().drop_nulls()
    asked = present.str.contains(f"^{PLAIN}$").all().alias("all"), present.len().alias("n")
    for rows in (lazy.head(FIRST), lazy):  # what is no number is most often seen early
        numbers, n = along(rows, [way]).select(asked).collect().row(0)
        if not numbers:
            return False
    return bool(n)


def _look(lazy: pl.LazyFrame, ways: list[Way], owner: str) -> tuple[list[Change], tuple[Finding, ...]]:
    """What would change, in one pass; an error for what cannot be read, of all columns at once."""
    stages = [(f"{i}.{j}", way, stage) for i, way in enumerate(ways) for j, stage in enumerate(way.stages)]
    # what a column is before a stage is what it was after the one before
    earlier = {f"{i}.{j}": f"{i}.{j - 1} after" for i, way in enumerate(ways) for j in range(1, len(way.stages))}
    if not stages:
        return [], ()
    asked: list[pl.Expr] = []
    for key, _, stage in stages:
        asked += measures(key, stage.before, stage.after, stage.changed, stage.dtypes, summed=key in earlier)
        if stage.recoded is not None:
            levels = stage.recoded[0].unique()
            asked.append(levels.filter(levels.is_in(stage.recoded[1])).implode().alias(f"{key} there"))
        if stage.unread is not None:
            asked += [
                stage.unread.len().alias(f"{key} unread"),
                stage.unread.head(200).unique(maintain_order=True).head(4).implode().alias(f"{key} such"),
            ]
    found = lazy.select(asked).collect().row(0, named=True)
    unread = [
        _unread(way.plan.name, found[f"{key} such"], found[f"{key} unread"], stage.words)
        for key, way, stage in stages
        if found.get(f"{key} unread")
    ]
    if unread:
        raise HarmoniseError(_at(owner) + " ".join(unread))
    changes = [change_of(way.plan.name, stage.step, stage.words, key, found, earlier.get(key)) for key, way, stage in stages]
    return changes, tuple(_noticed(stages, changes, found))


def _unread(name: str, values: Iterable[str], count: int, words: str) -> str:
    shown = ", ".join(map(repr, values))
    return (
        f"{name!r} ({words}) has {count} {'value' if count == 1 else 'values'} that cannot be read so, such as {shown}. "
        f"Name them under missing in [columns.{name}], or correct them."
    )


def _noticed(stages: list[tuple[str, Way, Stage]], changes: list[Change], found: dict[str, Any]) -> Iterable[Finding]:
    for (key, way, stage), change in zip(stages, changes, strict=True):
        name = way.plan.name
        absent = [] if stage.recoded is None else [level for level in stage.recoded[1] if level not in found[f"{key} there"]]
        if absent:
            words = f"{', '.join(map(repr, absent))} of {name!r} is to be recoded, and no row has it."
            yield Finding("recode-absent", Grade.NOTICE, words, (way.plan.final,))
        values = 0 if change.before is None else change.before.present
        if change.step == "range" and change.rows > MANY * values:
            words = f"{change.rows} of {values} values of {name!r} are outside its range, and became missing: is its unit another?"
            yield Finding("range-empties", Grade.DOUBTFUL, words, (way.plan.final,), remedies=(Remedy(Step.UNIT, name, "old -> new"),))


def _derive(variables: Sequence[Derived], lazy: pl.LazyFrame, owner: str, *, held: bool) -> tuple[pl.LazyFrame, list[Change]]:
    asked: list[pl.Expr] = []
    for derived in variables:
        schema = dict(lazy.collect_schema())
        try:
            made = derived.expression.polars(schema)
        except HarmoniseError as error:
            raise HarmoniseError(f"{_at(owner)}{derived.name!r} of [derived]: {error}") from None
        lazy = lazy.with_columns(made.alias(derived.name))
        dtype = lazy.collect_schema()[derived.name]
        value = pl.col(derived.name)
        asked += measures(derived.name, None, value, value.is_not_null(), (None, dtype))
    if not asked:
        return lazy, []
    if held:
        lazy = lazy.collect().lazy()
    found = lazy.select(asked).collect().row(0, named=True)
    return lazy, [change_of(d.name, "derived", f"derived as {d.expression.text}", d.name, found) for d in variables]
