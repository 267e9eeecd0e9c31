"""What a step has changed, before and after, for the owner of the data to look at. It stays at the site."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from consilience.data.kinds import level_label
from consilience.frames import pl

__all__ = ["Change", "Summary", "change_of", "measures"]

MOST_SHOWN = 12
"""Levels of a summary; a column of more is told by how many there are."""
EXAMPLES, LOOKED_AT = 3, 200
"""Values that are shown before and after, all different, among the first that changed."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A column in a few words: least, median and greatest of numbers, or the commonest levels with their rows; and what is missing.

    >>> Summary((61.0, 70.0, 88.0), (), 0, 2).said()
    '61 – 70 – 88 (least, median, greatest), 2 missing'
    """

    numbers: tuple[float, float, float] | None
    levels: tuple[tuple[str, int], ...]
    n_levels: int
    missing: int
    present: int = 0

    def said(self) -> str:
        """In words."""
        gone = f", {self.missing} missing" if self.missing else ""
        if self.numbers is not None:
            return " – ".join(f"{number:.6g}" for number in self.numbers) + f" (least, median, greatest){gone}"
        shown = ", ".join(f"{level!r} {rows}" for level, rows in self.levels)
        more = f", … ({self.n_levels} in all)" if self.n_levels > len(self.levels) else ""
        return f"{shown or 'no values'}{more}{gone}"


@dataclass(frozen=True, slots=True)
class Change:
    """One step with one column.

    Attributes
    ----------
    column : str
        As the site's table has it; of a derived variable, its name.
    step : str
        ``"missing"``, ``"strip"``, ``"decimal"``, ``"date"``, ``"recode"``, ``"unit"``, ``"range"``, ``"rename"``,
        ``"derived"`` or ``"drop"``.
    words : str
        What was done: ``"mg/dl -> mmol/l, cholesterol: × 0.0258626"``.
    rows : int
        How many values changed.
    emptied : int
        How many of them became missing.
    before, after : Summary, optional
        The column before and after, where its values changed.
    examples : tuple of pairs of str
        Some values, before and after; an empty text is a missing value.
    """

    column: str
    step: str
    words: str
    rows: int = 0
    emptied: int = 0
    before: Summary | None = None
    after: Summary | None = None
    examples: tuple[tuple[str, str], ...] = ()

    def said(self) -> list[str]:
        """Lines for the owner: what was done, and before and after.

        >>> Change("ward", "drop", "left out").said()
        ['ward: left out']
        """
        gone = "" if not self.emptied else " to missing" if self.emptied == self.rows else f", {self.emptied} of them to missing"
        rows = (
            ""
            if self.before is None and self.after is None
            else f"; {self.rows} {'value' if self.rows == 1 else 'values'}{'' if self.before is None else ' changed'}{gone}"
        )
        lines = [f"{self.column}: {self.words}{rows}"]
        if self.before is not None and self.rows:
            lines.append(f"  before: {self.before.said()}")
        if self.after is not None and (self.rows or self.before is None):
            lines.append(f"  after:  {self.after.said()}")
        if self.examples:
            lines.append("  " + ", ".join(f"{old or 'missing'} -> {new or 'missing'}" for old, new in self.examples))
        return lines


def measures(
    key: str,
    before: pl.Expr | None,
    after: pl.Expr,
    changed: pl.Expr,
    dtypes: tuple[pl.DataType | None, pl.DataType],
    *,
    summed: bool = False,
) -> list[pl.Expr]:
    """Sums over one pass of the table from which :func:`change_of` makes a change; ``key`` marks them as one step's.

    ``summed`` says that what the column was before is summed already, as what it was after an earlier step.
    """
    found = [changed.sum().alias(f"{key} rows"), *_summary(f"{key} after", after, dtypes[1])]
    if before is not None and dtypes[0] is not None:
        # the first few, and only then as text: a million numbers take seconds to be written
        sides = (_shown(side.filter(changed).head(LOOKED_AT), dtype) for side, dtype in zip((before, after), dtypes, strict=True) if dtype)
        found += [
            (changed & after.is_null()).sum().alias(f"{key} emptied"),
            *(side.implode().alias(f"{key} {what}") for side, what in zip(sides, ("olds", "news"), strict=True)),
            *([] if summed else _summary(f"{key} before", before, dtypes[0])),
        ]
    return found


def _shown(values: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    return values.cast(pl.Float64).round_sig_figs(6).cast(pl.String) if dtype.is_float() else values.cast(pl.String)


def _summary(key: str, values: pl.Expr, dtype: pl.DataType) -> list[pl.Expr]:
    counts = [values.is_null().sum().alias(f"{key} missing"), values.count().alias(f"{key} present")]
    if dtype.is_numeric():
        number = values.cast(pl.Float64).drop_nulls()  # polars finds a median much faster where there are no gaps
        return [*counts, *(getattr(number, what)().alias(f"{key} {what}") for what in ("min", "median", "max"))]
    # days and truths are counted as such: a million of them take long to be written
    labels = values if dtype.is_temporal() or dtype == pl.Boolean else values.cast(pl.String)
    labels = labels.drop_nulls().alias("level")  # a column may be called "count", which the counts are
    counted = labels.value_counts(sort=True).head(MOST_SHOWN)
    return [*counts, labels.n_unique().alias(f"{key} levels"), counted.implode().alias(f"{key} counts")]


def change_of(column: str, step: str, words: str, key: str, found: dict[str, Any], before: str | None = None) -> Change:
    """The change that sums of :func:`measures` tell of; ``before`` is the key of the sums of what the column was, if not this step's."""
    pairs = dict.fromkeys(zip(found.get(f"{key} olds") or (), found.get(f"{key} news") or (), strict=True))
    examples = tuple((_plain(old), _plain(new)) for old, new in pairs)[:EXAMPLES]
    return Change(
        column,
        step,
        words,
        int(found[f"{key} rows"] or 0),
        int(found.get(f"{key} emptied") or 0),
        _read(before or f"{key} before", found),
        _read(f"{key} after", found),
        examples,
    )


def _plain(text: str | None) -> str:
    """A number without a needless point, anything else as it is."""
    if text is None:
        return ""
    try:
        return level_label(float(text)) if float(text).is_integer() and abs(float(text)) < 1e15 else text
    except (ValueError, OverflowError):
        return text


def _level(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(key: str, found: dict[str, Any]) -> Summary | None:
    if f"{key} missing" not in found:
        return None
    missing, present = int(found[f"{key} missing"]), int(found[f"{key} present"])
    if f"{key} levels" in found:
        counted = ((_level(row["level"]), int(row["count"])) for row in found[f"{key} counts"])
        rows = tuple(sorted(counted, key=lambda row: (-row[1], row[0])))
        return Summary(None, rows, int(found[f"{key} levels"]), missing, present)
    ends = tuple(found[f"{key} {what}"] for what in ("min", "median", "max"))
    return Summary(None if ends[0] is None else ends, (), 0, missing, present)
