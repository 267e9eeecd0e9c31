"""From a column's type to a variable's kind, and the reason in words.

Float is continuous, boolean binary, integer ordinal, text multinomial, as the paper has it; and as users need it: an integer column
of zeros and ones is binary, one with more than ten distinct values continuous. What a site's owner declares always wins. A count is never
inferred: an age in years is an integer too, and no count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from consilience.data.counts import check_counts
from consilience.data.errors import InfiniteValueError, KindError, NullColumnError, UnknownLevelError, UnknownVariableError
from consilience.data.kinds import Kind, Variable, as_kind, have_natural_order, level_label, sort_levels
from consilience.data.schema import Declaration

__all__ = ["declare", "labels_of", "present"]

MOST_INTEGER_LEVELS = 10
"""An integer column with more distinct values than this is continuous unless declared otherwise.

Grades, stages and classes have fewer; ages, counts and readings of instruments have more. Ordinal for all integers, as the paper has it,
would give an age fifty columns as a predictor and fifty thresholds as a response. An eleven-point scale (0 to 10) falls on the other
side, and has to be declared; so has a count, whatever its values.
"""

ONE_VALUE = "one integer only: as at the other sites, if they have more"
"""The reason that marks a guess. A site with a single value cannot know whether it is a grade or a yes; its kind gives way in ``unite``."""


def declare(
    frame: pl.DataFrame,
    owner: str,
    kinds: Mapping[str, str | Kind] | None = None,
    levels: Mapping[str, Iterable[Any]] | None = None,
    ordered: Collection[str] = (),
) -> dict[str, Declaration]:
    """One declaration per column of ``frame``.

    Parameters
    ----------
    frame : polars.DataFrame
        What the site holds.
    owner : str
        The site's name, for messages.
    kinds : mapping of str to str or Kind, optional
        Kinds by column; the others are inferred.
    levels : mapping of str to iterable, optional
        Levels by column, in order. Without a kind, two levels are binary; more are ordinal if all are numbers, else multinomial.
    ordered : collection of str, optional
        Columns of ordered categories, which are ordinal.

    Returns
    -------
    dict of str to Declaration
        By column, with the reason for each kind in words.

    Raises
    ------
    UnknownVariableError
        If a kind or levels are declared for a column that is not there.
    NullColumnError, KindError, InfiniteValueError
        If a column has no values, or none that fit its kind.
    UnknownLevelError
        If a value is not among the levels declared.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [61.5, 70.0], "sex": ["f", "m"], "stage": [1, 3]})
    >>> {name: d.variable.kind.value for name, d in declare(frame, "muenster").items()}
    {'age': 'continuous', 'sex': 'multinomial', 'stage': 'ordinal'}
    """
    kinds = kinds or {}
    labels = {name: tuple(level_label(v) for v in values) for name, values in (levels or {}).items()}
    for name in (*kinds, *labels):
        if name not in frame.columns:
            raise UnknownVariableError(f"{owner!r} has no column {name!r} to declare. It has: {', '.join(frame.columns)}.")
    return {
        column.name: _declare_one(column, owner, kinds.get(column.name), labels.get(column.name), is_ordered=column.name in ordered)
        for column in frame
    }


def _declare_one(
    column: pl.Series, owner: str, kind: str | Kind | None, levels: tuple[str, ...] | None, *, is_ordered: bool
) -> Declaration:
    # From what is wrong whatever the kind to what is wrong with this kind: no values, no type that can be a variable, then the kind, then
    # its numbers or levels. So the first message is the one to act on.
    name, values = column.name, present(column)
    if len(values) == 0:
        raise NullColumnError(
            f"Column {name!r} of {owner!r} has no values at all. Drop the column: the site then counts as not measuring {name!r}."
        )
    _check_type(values, owner)
    chosen, reason = _choose_kind(values, owner, kind, levels, is_ordered=is_ordered)
    if not chosen.is_discrete:
        if levels is not None:
            raise KindError(f"{name!r} of {owner!r} is declared {chosen.value} and given levels {list(levels)}; give one or the other.")
        _check_numbers(column, owner, chosen)
        return Declaration(Variable(name, chosen), declared_kind=kind is not None, reason=reason)
    # an Enum declares its categories, also those that no row has here: another site may have them
    if levels is None and isinstance(column.dtype, pl.Enum):
        levels = tuple(column.dtype.categories.to_list())
    found = labels_of(values)
    strange = found - set(levels or found)
    if strange:
        raise UnknownLevelError(
            f"{owner!r} has {name!r} = {min(strange)!r}, which is not among its declared levels {list(levels or ())}. "
            f"Correct the value or declare the level."
        )
    variable = Variable(name, chosen, levels or _infer_levels(name, owner, chosen, found))
    only = next(iter(found)) if reason == ONE_VALUE else ""
    return Declaration(variable, kind is not None, levels is not None, reason, only)


def _choose_kind(
    values: pl.Series, owner: str, kind: str | Kind | None, levels: tuple[str, ...] | None, *, is_ordered: bool
) -> tuple[Kind, str]:
    """What the owner declared, or what type and levels say."""
    # What people said comes before what types say, and the plainest word first: a kind, an order, levels.
    if kind is not None:
        return as_kind(kind, values.name), "declared"
    if is_ordered:
        return Kind.ORDINAL, "ordered categories"
    if levels is None:
        return _infer(values)
    if len(levels) == 2:
        return Kind.BINARY, "two levels declared"
    return (Kind.ORDINAL if have_natural_order(levels) else Kind.MULTINOMIAL), "levels declared"


def _infer_levels(name: str, owner: str, kind: Kind, found: set[str]) -> tuple[str, ...]:
    if kind is Kind.ORDINAL and not have_natural_order(found):
        raise KindError(
            f"{name!r} of {owner!r} is declared ordinal, but the order of {list(sort_levels(found))} is not known. "
            f"Give it with levels={{{name!r}: [lowest, ..., highest]}}."
        )
    # both levels, also where a site has seen one: whether the other occurs is the study's question, not the site's
    return ("0", "1") if kind is Kind.BINARY and found <= {"0", "1"} else sort_levels(found)


def present(column: pl.Series) -> pl.Series:
    """The values of a column that are there, NaN not among them.

    Parameters
    ----------
    column : polars.Series

    Returns
    -------
    polars.Series

    Examples
    --------
    >>> present(pl.Series([1.0, float("nan"), None])).to_list()
    [1.0]
    """
    # asked first, as it costs nothing: a query takes longer than a short column
    values = column.drop_nulls() if column.null_count() else column
    return values.drop_nans() if values.dtype.is_float() and np.isnan(values.to_numpy()).any() else values


def labels_of(values: pl.Series) -> set[str]:
    """The level labels among the values of a column.

    Parameters
    ----------
    values : polars.Series
        Missing ones are left out.

    Returns
    -------
    set of str

    Examples
    --------
    >>> sorted(labels_of(pl.Series([1.0, 2.0, None])))
    ['1', '2']
    """
    return {level_label(value) for value in present(values).unique().to_list()}


def _infer(values: pl.Series) -> tuple[Kind, str]:
    # By type where the type says something: 1.0, 2.0, 3.0 were written with a point by somebody. An integer says less, so for it the
    # values decide, and a kind that was inferred may change when rows are added: the reason names what was seen.
    dtype = values.dtype
    if dtype == pl.Boolean:
        return Kind.BINARY, "boolean"
    if dtype.is_float() or dtype.is_decimal():
        return Kind.CONTINUOUS, "decimal numbers"
    if dtype.is_integer():
        distinct = values.n_unique()
        if distinct == 1:
            return (Kind.BINARY if values[0] in (0, 1) else Kind.ORDINAL), ONE_VALUE
        # 1 and 2 stay ordinal: with two levels that is the same model, and no guess is needed
        if values.min() == 0 and values.max() == 1:
            return Kind.BINARY, "integers 0 and 1"
        if distinct > MOST_INTEGER_LEVELS:
            return Kind.CONTINUOUS, f"integers, {distinct} distinct"
        return Kind.ORDINAL, f"integers, {distinct} distinct"
    return Kind.MULTINOMIAL, "text"  # never ordinal: alphabetical order is not an order of "low", "high", "medium"


def _check_type(values: pl.Series, owner: str) -> None:
    dtype = values.dtype
    if dtype.is_numeric() or dtype in (pl.Boolean, pl.String, pl.Categorical) or isinstance(dtype, pl.Enum):
        return
    raise KindError(
        f"Column {values.name!r} of {owner!r} has the type {dtype}, which is no kind of variable. "
        f"Turn it into numbers, text or booleans, or drop it."
    )


def _check_numbers(column: pl.Series, owner: str, kind: Kind) -> None:
    name = column.name
    try:
        numbers = column.cast(pl.Float64, strict=True)
    except pl.exceptions.PolarsError:
        raise KindError(
            f"{name!r} of {owner!r} is declared {kind.value} but holds {first_non_number(column)!r}. "
            f"Declare another kind or convert the column to numbers."
        ) from None
    n_infinite = int(np.isinf(numbers.to_numpy()).sum())
    if n_infinite:
        raise InfiniteValueError(infinite_message(name, owner, n_infinite))
    if kind is Kind.COUNT:
        check_counts(numbers.to_numpy(), name, owner)


def first_non_number(column: pl.Series) -> object:
    """The first value that is no number, to be named in a message."""
    broken = column.is_not_null() & column.cast(pl.Float64, strict=False).is_null()
    return column.filter(broken)[0] if broken.any() else column.drop_nulls()[0]


def infinite_message(name: str, owner: str, count: int) -> str:
    """What to say of infinite values."""
    return f"{name!r} of {owner!r} is infinite in {count} rows. Replace infinite values by numbers or leave them empty (missing)."  # noqa: S608  (a sentence)
