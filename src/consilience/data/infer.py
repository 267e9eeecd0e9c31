"""From a table to declarations, and small questions about a column's values.

How a kind is found is in :mod:`consilience.data.judging`; what a site's owner declares always wins over a guess.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from consilience.data.facts import facts_of
from consilience.data.judging import Standing, judge_all
from consilience.data.kinds import Kind, level_label
from consilience.data.schema import Declaration
from consilience.frames import pl

__all__ = ["declare", "labels_of", "present"]


def declare(
    frame: pl.DataFrame,
    owner: str,
    kinds: Mapping[str, str | Kind] | None = None,
    levels: Mapping[str, Iterable[Any]] | None = None,
    ordered: Collection[str] = (),
) -> dict[str, Declaration]:
    """One declaration per column of ``frame`` that is a variable; identifiers, dates and columns without values are left out.

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
    KindError, InfiniteValueError
        If a column cannot be of its kind, or its kind would be a guess.
    UnknownLevelError
        If a value is not among the levels declared.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [61.5, 70.0], "sex": ["f", "m"], "stage": [1, 3]})
    >>> {name: d.variable.kind.value for name, d in declare(frame, "muenster").items()}
    {'age': 'continuous', 'sex': 'multinomial', 'stage': 'ordinal'}
    """
    verdicts = judge_all(facts_of(frame), kinds, levels, ordered=ordered, owner=owner)
    for verdict in verdicts.values():
        if verdict.standing is Standing.REFUSED:
            raise verdict.error()
    return {name: verdict.declaration for name, verdict in verdicts.items() if verdict.standing.usable and verdict.declaration}


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


def first_non_number(column: pl.Series) -> object:
    """The first value that is no number, to be named in a message."""
    broken = column.is_not_null() & column.cast(pl.Float64, strict=False).is_null()
    return column.filter(broken)[0] if broken.any() else column.drop_nulls()[0]


def infinite_message(name: str, owner: str, count: int) -> str:
    """What to say of infinite values."""
    return f"{name!r} of {owner!r} is infinite in {count} rows. Replace infinite values by numbers or leave them empty (missing)."  # noqa: S608  (a sentence)
