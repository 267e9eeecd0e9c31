"""The labels of a column that its owner may want to spell otherwise."""

from __future__ import annotations

from consilience.data.kinds import level_label, sort_levels
from consilience.frames import pl

__all__ = ["labels_in"]

MOST_LABELS, MOST_ODD = 200, 60
"""Labels that a form has a line for; and where a column is nearly all numbers, those that are none."""
MOST_NUMBERS = 20
"""More numbers than this are no levels to spell, and two fields for each would stand between a keyboard and the next button."""


def labels_in(column: pl.Series) -> dict[str, int]:
    """The labels with their rows: all of few, or what is no number among many.

    >>> labels_in(pl.Series(["a", "b", "a", None]))
    {'a': 2, 'b': 1}
    >>> labels_in(pl.Series([str(n) for n in range(1000)] + ["unknown"]))
    {'unknown': 1}
    """
    if column.dtype.is_temporal() or column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object, pl.Null):
        return {}
    present = (column.fill_nan(None) if column.dtype.is_float() else column).drop_nulls()
    counts = present.alias("value").value_counts()
    most = MOST_NUMBERS if column.dtype.is_numeric() else MOST_LABELS
    if counts.height > most and column.dtype == pl.String:
        numbers = pl.col("value").str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        counts, most = counts.filter(numbers.is_null()), MOST_ODD
    if counts.height > most:
        return {}
    found: dict[str, int] = {}
    for value, count in counts.iter_rows():
        found[level_label(value)] = found.get(level_label(value), 0) + count
    return {label: found[label] for label in sort_levels(found)}
