"""A table's columns, each with what its owner should know of it before taking part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from consilience.data.errors import UnknownVariableError
from consilience.data.facts import ColumnFacts, Holds, facts_of
from consilience.data.finding import Asker, Finding, Grade
from consilience.data.infer import present
from consilience.data.judging import Standing, Verdict, judge
from consilience.data.kinds import Kind, as_kind, level_label
from consilience.data.profile.bins import Bin, histogram
from consilience.errors import ConsilienceError
from consilience.frames import pl

__all__ = ["ColumnProfile", "LevelCount", "TableProfile", "profile_column", "profile_table"]

MOST_LEVELS = 200
"""More levels than this are not listed: such a column is free text or an identifier."""
FREE_TEXT = 1000
"""Text with more different values is not looked at value by value; its most frequent ones are."""


@dataclass(frozen=True, slots=True)
class LevelCount:
    """A level and the rows that have it.

    Attributes
    ----------
    label : str
    count : int
        Zero for a level that was declared and that no row has.
    rare : bool
        True if it has rows, but fewer than the owner's bound.

    Examples
    --------
    >>> LevelCount("III", 2, True).rare
    True
    """

    label: str
    count: int
    rare: bool


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What can be said of one column.

    Attributes
    ----------
    name : str
    holds : str
        The type of its values in plain words: ``whole numbers``, ``decimal numbers``, ``text``, ``yes or no``, ``dates or times`` or
        ``other``.
    kind : Kind or None
        What it is taken for; None if it cannot be a variable as it is, and ``trouble`` says why.
    reason : str
        Why this kind.
    declared : bool
        True if the owner chose the kind.
    rows, missing, distinct : int
        Rows in all, rows without a value, different values.
    levels : tuple of LevelCount
        Of a discrete kind, in the kind's order; the first 200 only (``unlisted`` are not shown).
    unlisted : int
        Levels that are not in ``levels``.
    bins : tuple of Bin
        The histogram of a continuous kind or a count.
    low, high, median : float or None
        Of a continuous kind or a count.
    signs : tuple of Finding
        What was noticed.
    trouble : str
        Why it cannot be used as it is, with the way out; empty if it can.
    standing : Standing
        The verdict. What is excluded (an identifier, a date) is no variable until its owner chooses a kind.
    refused : tuple of Finding
        What ``trouble`` is made of.

    Examples
    --------
    >>> profile_column(pl.Series("stage", [1, 2, 2, None])).missing_share
    0.25
    """

    name: str
    holds: str
    kind: Kind | None
    reason: str
    declared: bool
    rows: int
    missing: int
    distinct: int
    levels: tuple[LevelCount, ...] = ()
    unlisted: int = 0
    bins: tuple[Bin, ...] = ()
    low: float | None = None
    high: float | None = None
    median: float | None = None
    signs: tuple[Finding, ...] = ()
    trouble: str = ""
    standing: Standing = Standing.SURE
    refused: tuple[Finding, ...] = ()

    @property
    def missing_share(self) -> float:
        """Rows without a value, as a part of all."""
        return self.missing / self.rows if self.rows else 0.0

    @property
    def usable(self) -> bool:
        """True if it can be a variable as it is."""
        return self.kind is not None and not self.trouble and self.standing.usable

    @property
    def most(self) -> int:
        """The largest count of a level or a bin, which a drawing needs for its scale."""
        return max([*(level.count for level in self.levels), *(one.count for one in self.bins)], default=0)


@dataclass(frozen=True, slots=True)
class TableProfile:
    """What can be said of all columns, in the table's order.

    Attributes
    ----------
    rows : int
    columns : tuple of ColumnProfile

    Examples
    --------
    >>> profile_table(pl.DataFrame({"age": [61.5, 70.0], "sex": ["f", "m"]}))["sex"].kind
    <Kind.MULTINOMIAL: 'multinomial'>
    """

    rows: int
    columns: tuple[ColumnProfile, ...]

    def __getitem__(self, name: str) -> ColumnProfile:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    @property
    def usable(self) -> tuple[str, ...]:
        """Columns that can be variables as they are."""
        return tuple(column.name for column in self.columns if column.usable)


def profile_table(
    frame: pl.DataFrame,
    kinds: Mapping[str, str | Kind] | None = None,
    levels: Mapping[str, Iterable[Any]] | None = None,
    *,
    min_cell: int = 5,
) -> TableProfile:
    """Look at every column of a table. A column that cannot be used is described, with the reason; it does not stop the others.

    Parameters
    ----------
    frame : polars.DataFrame
        What the site holds, as :func:`consilience.data.sources.load` reads it.
    kinds : mapping of str to str or Kind, optional
        Kinds by column, where the owner chose them.
    levels : mapping of str to iterable, optional
        Levels by column, in order, where the owner chose them.
    min_cell : int, default 5
        Levels with fewer rows are rare.

    Returns
    -------
    TableProfile

    Raises
    ------
    UnknownVariableError
        If a kind or levels are given for a column that is not there.

    Examples
    --------
    >>> frame = pl.DataFrame({"id": range(100), "age": [i / 2 for i in range(100)], "sex": ["f", "m"] * 50})
    >>> for column in profile_table(frame).columns:
    ...     print(column.name, column.kind, [sign.code for sign in column.signs])
    id continuous ['identifier']
    age continuous []
    sex multinomial []
    """
    kinds, levels = kinds or {}, levels or {}
    for name in (*kinds, *levels):
        if name not in frame.columns:
            raise UnknownVariableError(f"The table has no column {name!r}. It has: {', '.join(frame.columns)}.")
    facts = facts_of(frame)  # of all columns at once: a query takes longer than a short column
    orders = {name: list(given) for name, given in levels.items()}
    return TableProfile(frame.height, tuple(_profiled(c, facts[c.name], kinds.get(c.name), orders.get(c.name), min_cell) for c in frame))


def profile_column(
    column: pl.Series, kind: str | Kind | None = None, levels: Iterable[Any] | None = None, *, min_cell: int = 5
) -> ColumnProfile:
    """Look at one column.

    Parameters
    ----------
    column : polars.Series
    kind : str or Kind, optional
        If the owner chose one.
    levels : iterable, optional
        In order, if the owner chose them.
    min_cell : int, default 5
        Levels with fewer rows are rare.

    Returns
    -------
    ColumnProfile

    Examples
    --------
    >>> found = profile_column(pl.Series("stage", ["I", "II", "I", None]), "ordinal", ["I", "II", "III"])
    >>> [(level.label, level.count) for level in found.levels], found.missing_share
    ([('I', 2), ('II', 1), ('III', 0)], 0.25)
    """
    facts = facts_of(column.to_frame())[column.name]
    return _profiled(column, facts, kind, None if levels is None else list(levels), min_cell)


def _profiled(column: pl.Series, facts: ColumnFacts, kind: str | Kind | None, levels: list[Any] | None, min_cell: int) -> ColumnProfile:
    verdict = _judged(facts, kind, levels, min_cell)
    chosen = verdict.kind or (as_kind(kind, facts.name) if kind is not None else None)
    known = verdict.kind is not None or verdict.standing is Standing.EXCLUDED
    reason = verdict.reason if known else "declared" if kind is not None else ""
    trouble = "" if verdict.standing is not Standing.REFUSED else " ".join(f.said(Asker.PAGE) for f in verdict.findings)
    if not trouble and verdict.kind is None:
        trouble = verdict.findings[0].words
    found = ColumnProfile(
        facts.name,
        facts.holds.value,
        chosen,
        reason,
        kind is not None,
        facts.rows,
        facts.missing,
        facts.distinct,
        signs=() if verdict.standing is Standing.REFUSED else verdict.findings,
        trouble=trouble,
        standing=verdict.standing,
        refused=verdict.findings if verdict.standing is Standing.REFUSED else (),
    )
    if chosen is not None and not chosen.is_discrete and not trouble:
        numbers = present(column).cast(pl.Float64).to_numpy()
        bins = histogram(numbers, whole=facts.whole or chosen is Kind.COUNT)
        return replace(found, bins=bins, low=float(numbers.min()), high=float(numbers.max()), median=float(np.median(numbers)))
    if (chosen is not None and chosen.is_discrete) or facts.holds is Holds.TEXT:
        return _with_levels(found, column, verdict, levels, min_cell)
    return found


def _with_levels(found: ColumnProfile, column: pl.Series, verdict: Verdict, levels: list[Any] | None, min_cell: int) -> ColumnProfile:
    free = found.distinct > FREE_TEXT and found.holds == Holds.TEXT.value and not found.declared and levels is None
    counts = _counts(present(column), FREE_TEXT if free else None)
    declared = tuple(level_label(level) for level in levels or ())
    order = verdict.declaration.variable.levels if verdict.declaration is not None else declared
    shown = list(counts) if free else list(order) + sorted(counts.keys() - set(order))
    listed = tuple(LevelCount(label, counts.get(label, 0), 0 < counts.get(label, 0) < min_cell) for label in shown[:MOST_LEVELS])
    return replace(found, levels=listed, unlisted=(found.distinct if free else len(shown)) - len(listed))


def _judged(facts: ColumnFacts, kind: str | Kind | None, levels: list[Any] | None, min_cell: int) -> Verdict:
    try:
        return judge(facts, kind, levels, min_cell=min_cell)
    except ConsilienceError as error:
        stop = Finding("declared", Grade.REFUSED, str(error), (facts.name,))
        return Verdict(facts.name, Standing.REFUSED, str(error), findings=(stop,))


def _counts(values: pl.Series, most: int | None) -> dict[str, int]:
    """Rows by level, of the ``most`` frequent; labels are made once per different value."""
    counts: dict[str, int] = {}
    found = values.alias("value").value_counts()
    if most is not None:
        rows = found.sort("count", "value", descending=[True, False]).head(most).rows()
    else:  # by Python: of a table with thousands of columns, a query each is what takes longest
        rows = sorted(found.iter_rows(), key=lambda row: (-row[1], row[0]))
    for value, count in rows:
        label = level_label(value)
        counts[label] = counts.get(label, 0) + count
    return counts
