"""One column's way through its plan, as expressions of polars: missing, strip and decimal, date, recode, unit, range.

Every stage takes what the one before gives, and says which values it changes. Nothing is computed here: the stages of all columns are
looked at in one pass over the table, and applied in another, so that the table need not be in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import zip_longest

from consilience.data.errors import HarmoniseError, nearest
from consilience.data.harmonise.columns import ColumnPlan, Dated, recoded
from consilience.data.harmonise.texts import MINUS, as_number, date_of, finite, labels, read_number
from consilience.frames import pl

__all__ = ["Stage", "Way", "along", "way_of"]

DAYS_A_YEAR = 365.25
DIGITS = 12
"""Of converted numbers: what was converted there and back is what it was, and no laboratory knows more."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One step with one column: what its values were, what they are, which change, and which could not be read.

    What they are is a column of its own, from which the next stage goes on: written out, an expression in an expression in an expression
    would be looked at dozens of times.
    """

    step: str
    words: str
    before: pl.Expr
    after: pl.Expr
    changed: pl.Expr
    dtypes: tuple[pl.DataType, pl.DataType]
    unread: pl.Expr | None = None
    recoded: tuple[pl.Expr, tuple[str, ...]] | None = None
    """The labels as they were, and those that were to be recoded."""


@dataclass(slots=True)
class Way:
    """A column on its way: what it is now, and the stages behind it."""

    plan: ColumnPlan
    key: str
    now: pl.Expr
    dtype: pl.DataType
    stages: list[Stage] = field(default_factory=list)
    steps: list[tuple[str, pl.Expr]] = field(default_factory=list)
    """Columns that are made on the way, in their order: one for each stage, and what several expressions of a stage need."""

    def made(self, value: pl.Expr) -> pl.Expr:
        """A value as a column of its own, which is computed once, however many expressions ask for it."""
        name = f"\x1f{self.key}.{len(self.steps)}"  # which no column is called
        self.steps.append((name, value))
        return pl.col(name)

    def add(self, step: str, words: str, after: pl.Expr, dtype: pl.DataType, changed: pl.Expr, **more: object) -> None:
        """Go one stage on."""
        before, self.now = self.now, self.made(after)
        self.stages.append(Stage(step, words, before, self.now, changed, (self.dtype, dtype), **more))  # type: ignore[arg-type]
        self.dtype = dtype


def along(lazy: pl.LazyFrame, ways: Iterable[Way]) -> pl.LazyFrame:
    """The table with the columns of the ways: the first of every way side by side, then the second, and so on."""
    for steps in zip_longest(*(way.steps for way in ways)):
        lazy = lazy.with_columns([value.alias(name) for name, value in filter(None, steps)])
    return lazy


def way_of(plan: ColumnPlan, key: str, schema: Mapping[str, pl.DataType], all_numbers: Callable[[Way], bool]) -> Way:
    """The stages of one column.

    Parameters
    ----------
    plan : ColumnPlan
    key : str
        What marks this column's stages.
    schema : mapping of str to polars type
        The table's columns.
    all_numbers : callable
        Whether every value of a text, as far as it has come, is a number:
        what is left of a text when its codes are taken out may be numbers.

    Returns
    -------
    Way

    Raises
    ------
    HarmoniseError
        If a step cannot be done with a column of this type.
    """
    dtype, now = schema[plan.name], pl.col(plan.name)
    if dtype.is_float():
        now = now.fill_nan(None)
    if dtype == pl.Categorical or isinstance(dtype, pl.Enum):
        now, dtype = now.cast(pl.String), pl.String()
    way = Way(plan, key, now, dtype)
    _missing(way)
    _numbers(way)
    _dates(way, schema)
    _recoded(way)
    if way.dtype == pl.String and (plan.missing or plan.recode) and not plan.levels and all_numbers(way):
        way.add("numbers", "what is left are numbers", as_number(way.now), pl.Float64(), pl.lit(value=False))
    _converted(way)
    _ranged(way)
    return way


def _missing(way: Way) -> None:
    codes = way.plan.missing
    if not codes:
        return
    values = [number for code in codes if (number := read_number(code)) is not None]
    if way.dtype.is_numeric():
        hit = way.now.cast(pl.Float64).is_in(values)
    else:
        text = way.now.cast(pl.String).str.strip_chars()
        hit = text.is_in(list(codes)) | text.cast(pl.Float64, strict=False).is_in(values).fill_null(value=False)
    hit = way.made(hit.fill_null(value=False))
    way.add("missing", f"{', '.join(map(repr, codes))} made missing", pl.when(~hit).then(way.now), way.dtype, hit)


def _numbers(way: Way) -> None:
    """Text with a unit behind it, or with a decimal mark of its own, as numbers."""
    plan = way.plan
    needed = plan.unit or plan.factor is not None or plan.offset is not None or plan.range is not None
    if not (plan.strip or plan.decimal or needed):
        return
    if way.dtype.is_numeric():
        return
    if plan.date and not (plan.strip or plan.decimal):
        return
    if way.dtype != pl.String:
        raise HarmoniseError(f"Numbers are wanted of {plan.name!r}, which has the type {way.dtype}. Take the step out of its plan.")
    text = way.now.str.strip_chars()
    if plan.strip:
        text = text.str.replace(f"(?i)\\s*{_escaped(plan.strip)}$", "")
    if plan.decimal:
        other = "." if plan.decimal == "," else ","
        text = text.str.replace_all(f"[{other}\\s]", "").str.replace(plan.decimal, ".", literal=True)
    text = text.str.replace_many(MINUS)
    number = way.made(finite(way.made(as_number(text))))
    behind = f" behind which {plan.strip!r} stands" if plan.strip else ""
    mark = f" with the decimal mark {plan.decimal!r}" if plan.decimal else ""
    words = f"text{behind}{mark} read as numbers"
    unread = way.now.filter(way.now.is_not_null() & number.is_null())
    step = "strip" if plan.strip else "decimal" if plan.decimal else "numbers"
    way.add(step, words, number, pl.Float64(), way.now.is_not_null(), unread=unread)


def _escaped(text: str) -> str:
    """A text as a pattern that matches it alone, spaces as people vary them."""
    return r"\s*".join(f"\\{c}" if not c.isalnum() and ord(c) < 128 else c for c in "".join(text.split()))


def _dates(way: Way, schema: Mapping[str, pl.DataType]) -> None:
    dated = way.plan.dated
    if dated is None:
        return
    day = date_of(way.now, way.dtype)
    if day is None:
        raise HarmoniseError(f"{way.plan.name!r} is to be read as dates, and has the type {way.dtype}. Take the date out of its plan.")
    value = way.made(day)
    made, words, dtype = _from_date(value, dated, schema, way.plan.name)
    unread = way.now.filter(way.now.is_not_null() & value.is_null()).cast(pl.String)
    way.add("date", words, made, dtype, way.now.is_not_null(), unread=unread)


def _from_date(value: pl.Expr, dated: Dated, schema: Mapping[str, pl.DataType], name: str) -> tuple[pl.Expr, str, pl.DataType]:
    if dated.what == "year":
        return value.dt.year().cast(pl.Int64), "dates became years", pl.Int64()
    if dated.what == "since":
        try:
            start = date.fromisoformat(dated.of)
        except ValueError:
            raise HarmoniseError(f"There is no day {dated.of!r}; see date of [columns.{name}].") from None
        return (value - pl.lit(start)).dt.total_days(), f"dates became days since {dated.of}", pl.Int64()
    if dated.of in schema:
        other = date_of(pl.col(dated.of), schema[dated.of])
    else:
        try:
            other = pl.lit(date.fromisoformat(dated.of))
        except ValueError:
            raise HarmoniseError(f"There is no column {dated.of!r} for date of [columns.{name}].{nearest(dated.of, schema)}") from None
    if other is None:
        raise HarmoniseError(f"{dated.of!r} is no date; see date of [columns.{name}].")
    return (other - value).dt.total_days() / DAYS_A_YEAR, f"dates became ages in years at {dated.of}", pl.Float64()


def _recoded(way: Way) -> None:
    plan = way.plan
    if not plan.recode:
        return
    label = way.made(labels(way.now, way.dtype))
    old, new = [pair[0] for pair in plan.recode], [pair[1] or None for pair in plan.recode]
    after = way.made(label.replace_strict(old, new, default=label, return_dtype=pl.String))
    way.add("recode", f"levels: {recoded(plan)}", after, pl.String(), after.ne_missing(label), recoded=(label, tuple(old)))


def _converted(way: Way) -> None:
    plan, line = way.plan, way.plan.conversion
    if line is None:
        return
    if not way.dtype.is_numeric():
        raise HarmoniseError(f"{plan.name!r} is to be converted, and is no column of numbers. Take the unit out of its plan.")
    after = way.now.cast(pl.Float64) * line.factor + line.offset
    # near 0, where an offset cancels what was there, digits that count are those behind the point
    after = after.round(DIGITS - 3) if line.offset else after.round_sig_figs(DIGITS)
    old, new = plan.units
    units = f"{old} -> {new}" if old != new else "converted"
    of = f", {plan.substance}" if old != new and plan.substance else ""
    shift = f" {'+' if line.offset > 0 else '−'} {abs(line.offset):.6g}" if line.offset else ""
    way.add("unit", f"{units}{of}: × {line.factor:.6g}{shift}", after, pl.Float64(), way.now.is_not_null())


def _ranged(way: Way) -> None:
    plan = way.plan
    if plan.range is None:
        return
    if not way.dtype.is_numeric():
        raise HarmoniseError(f"{plan.name!r} is given a range, and is no column of numbers. Take the range out of its plan.")
    low, high = plan.range
    outside = way.made((~way.now.is_between(low, high)).fill_null(value=False))
    way.add("range", f"outside {low:g} to {high:g} made missing", pl.when(~outside).then(way.now), way.dtype, outside)
