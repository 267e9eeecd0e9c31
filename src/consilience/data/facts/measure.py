"""Measuring a table's columns in three passes over it, none of which needs the table in memory.

The first pass gives what every column has: rows, gaps, extremes, quartiles, about how many values differ. The second counts values where
there are few, and asks what only some columns need. The third looks at text that has too many different values to be counted one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from consilience.data.facts.column import ColumnFacts, Holds, TextFacts
from consilience.data.facts.patterns import CODES, LOOKS, look, look_at, unit_at, unit_word
from consilience.data.kinds import level_label
from consilience.data.quartiles import Floats, Lengthy, lengthy
from consilience.frames import pl

__all__ = ["FAR_OUT", "facts_of"]

LISTED = 1000
"""Values are counted one by one where not more than this differ: more are no levels of anything."""
SHOWN = 50
"""Of a column with more different values, so many of the most frequent are kept."""
EXACT_ROWS = 2_000_000
"""Up to this many rows the number of different values is exact; beyond, counting them would hold them all, and it is estimated."""
ABOUT = 1.1
"""How far an estimate of the number of different values may be off."""
QUARTILES = (0.25, 0.5, 0.75)
NO_QUARTILES = (None, None, None)
FAR_OUT = 25.0
"""Widths of the middle half beyond its ends where a number is far out. A normal law goes to 3 in a million rows, and skewed ones as
laboratories have them to some ten: what is further is a slip, a code or another unit more often than a patient."""
FIRST_DAY, LAST_DAY = 19000101, 21001231
BATCH_ROWS = 1 << 17
"""Rows that are looked at at a time where a table is not in memory."""
ODD = 8
"""Values named as examples."""


def facts_of(table: pl.DataFrame | pl.LazyFrame) -> dict[str, ColumnFacts]:
    """The statistics of every column.

    Parameters
    ----------
    table : polars.DataFrame or polars.LazyFrame
        What a site holds. A lazy table is read in passes and never collected.

    Returns
    -------
    dict of str to ColumnFacts
        By column, in the table's order.

    Examples
    --------
    >>> facts = facts_of(pl.DataFrame({"age": [61.5, 70.0, None], "sex": ["f", "m", "f"]}))
    >>> facts["age"].median, facts["sex"].top
    (65.75, (('f', 2), ('m', 1)))
    """
    lazy, held = table.lazy(), isinstance(table, pl.DataFrame)
    schema = lazy.collect_schema()
    # by place: to polars, a column named "*" or "^A.*$" is a pattern
    lazy = lazy.select(pl.nth(i).alias(str(i)) for i in range(len(schema)))
    holds = [_holds(dtype) for dtype in schema.dtypes()]
    collected = _collected if held else _collected_apart
    first = collected(lazy, [e for i, h in enumerate(holds) for e in _first(str(i), h, schema.dtypes()[i])] + [pl.len().alias("rows")])
    second = collected(lazy, [e for i, h in enumerate(holds) for e in _second(str(i), h, first, held=held)])
    if not held:
        few = [i for i, h in enumerate(holds) if _is_listed(str(i), h, first)]
        second |= {f"{i} counts": _counted(lazy, _present(str(i), holds[i])) for i in few}
        second |= _quartiles_in_passes(lazy, [str(i) for i, h in enumerate(holds) if h.is_number and i not in few])
    third = collected(lazy, [e for i, h in enumerate(holds) for e in _third(str(i), h, first, second)])
    found = first | second | third
    return {name: _facts(name, _Found(str(i), found), holds[i], dtype) for i, (name, dtype) in enumerate(schema.items())}


def _collected(lazy: pl.LazyFrame, expressions: list[pl.Expr]) -> dict[str, Any]:
    if not expressions:
        return {}
    return lazy.select(expressions).collect(engine="streaming").row(0, named=True)


def _collected_apart(lazy: pl.LazyFrame, expressions: list[pl.Expr]) -> dict[str, Any]:
    """The same, a column at a time: of a table that is not in memory polars reads ahead, and of all columns that would be much."""
    found: dict[str, Any] = {}
    by_column: dict[tuple[str, ...], list[pl.Expr]] = {}
    for expression in expressions:
        by_column.setdefault(tuple(sorted(set(expression.meta.root_names()))), []).append(expression)
    for names, asked in by_column.items():
        found |= _collected(lazy.select(names) if names else lazy, asked)
    return found


def _is_listed(place: str, holds: Holds, first: dict[str, Any]) -> bool:
    """True if so few values differ that they are counted one by one."""
    about = first.get(f"{place} about") or 0
    return holds is not Holds.DATE and 0 < about <= ABOUT * LISTED


def _counted(lazy: pl.LazyFrame, values: pl.Expr) -> list[dict[str, Any]]:
    """The values of a column and their rows, counted as they are read: ``value_counts`` would hold the column."""
    counted = lazy.select(values.alias("value")).drop_nulls().group_by("value").len()
    return counted.collect(engine="streaming").to_dicts()


def _holds(dtype: pl.DataType) -> Holds:
    if dtype.is_integer():
        return Holds.WHOLE
    if dtype.is_float() or dtype.is_decimal():
        return Holds.DECIMAL
    if dtype == pl.Boolean:
        return Holds.BOOLEAN
    if dtype in (pl.String, pl.Categorical) or isinstance(dtype, pl.Enum):
        return Holds.TEXT
    if dtype == pl.Null:
        return Holds.NOTHING
    return Holds.DATE if dtype.is_temporal() else Holds.OTHER


def _present(place: str, holds: Holds) -> pl.Expr:
    """The column with its types made few: floats without NaN, categories as text."""
    column = pl.col(place)
    if holds is Holds.DECIMAL:
        return column.cast(pl.Float64).fill_nan(None)
    return column.cast(pl.String) if holds is Holds.TEXT else column


def _first(place: str, holds: Holds, dtype: pl.DataType) -> Iterable[pl.Expr]:
    values = _present(place, holds)
    yield values.null_count().alias(f"{place} missing")
    if holds in (Holds.NOTHING, Holds.OTHER):
        return
    yield (values.drop_nulls().n_unique() if dtype == pl.Boolean else values.drop_nulls().approx_n_unique()).alias(f"{place} about")
    if holds is Holds.DATE and dtype != pl.Duration:
        yield values.min().cast(pl.String).alias(f"{place} earliest")
        yield values.max().cast(pl.String).alias(f"{place} latest")
    if holds is Holds.TEXT:
        yield values.str.len_chars().mean().alias(f"{place} length")
    if not holds.is_number:
        return
    if holds is Holds.DECIMAL:
        yield (values == values.floor()).all().alias(f"{place} whole")
    yield from _ends(place, values.cast(pl.Float64))


def _ends(place: str, numbers: pl.Expr) -> Iterable[pl.Expr]:
    yield from (getattr(numbers, name)().alias(f"{place} {name}") for name in ("min", "max", "mean"))


def _second(place: str, holds: Holds, first: dict[str, Any], *, held: bool) -> Iterable[pl.Expr]:
    about, rows = first.get(f"{place} about"), first["rows"]
    if not about or holds is Holds.DATE:
        return
    values = _present(place, holds).drop_nulls()
    low, high = first.get(f"{place} min"), first.get(f"{place} max")
    if low is not None and high is not None and not np.isfinite([low, high]).all():  # rarely: then of the finite ones
        yield values.is_infinite().sum().alias(f"{place} infinite")
        yield from _ends(place, values.filter(values.is_finite()))
    if holds is Holds.WHOLE and low is not None and high is not None and FIRST_DAY <= low <= high <= LAST_DAY:
        yield ((values // 100 % 100).is_between(1, 12) & (values % 100).is_between(1, 31)).sum().alias(f"{place} calendar")
    if _is_listed(place, holds, first):
        if held:
            yield values.value_counts(sort=True).implode().alias(f"{place} counts")
        return
    # where about every row has a value of its own the question is whether each does; that nearly a million numbers differ tells no more
    if rows <= EXACT_ROWS and about * ABOUT >= 0.5 * rows and (holds is not Holds.DECIMAL or first[f"{place} whole"]):
        yield values.n_unique().alias(f"{place} distinct")
    if low is not None and high is not None:
        if held:
            yield values.map_batches(_quartiles_of, pl.List(pl.Float64), returns_scalar=True).alias(f"{place} quartiles")
        yield from ((values == code).sum().alias(f"{place} {code:g}") for code in CODES if low <= code <= high)


def _quartiles_in_passes(lazy: pl.LazyFrame, places: list[str]) -> dict[str, list[float]]:
    """The same without a column as a whole in memory."""
    if not places:
        return {}
    found: dict[str, Lengthy] = {}
    for place in places:  # one at a time, as above
        numbers = lazy.select(pl.col(place).cast(pl.Float64))
        found |= lengthy(partial(_columns, numbers, place))
    return {f"{place} quartiles": list(each.quartiles) for place, each in found.items()}


def _columns(numbers: pl.LazyFrame, place: str) -> Iterator[dict[str, Floats]]:
    for batch in numbers.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True, engine="streaming"):
        yield {place: batch[place].to_numpy()}


def _quartiles_of(values: pl.Series) -> pl.Series:
    """The quartiles of the finite ones. Side by side and one at a time: in parts, or asked for all three, polars would sort all values."""
    numbers = values.cast(pl.Float64).drop_nulls().rechunk()
    if numbers.is_infinite().any():
        numbers = numbers.filter(numbers.is_finite())
    return pl.Series([[numbers.quantile(q, "linear") for q in QUARTILES]], dtype=pl.List(pl.Float64))


def _third(place: str, holds: Holds, first: dict[str, Any], second: dict[str, Any]) -> Iterable[pl.Expr]:
    if not first.get(f"{place} about") or f"{place} counts" in second:
        return
    if holds.is_number and (quartiles := second.get(f"{place} quartiles")):
        found = first | second
        low, high = found[f"{place} min"], found[f"{place} max"]
        if low is not None and _inside(low, high, quartiles) != (low, high):
            numbers, (least, most) = _present(place, holds).cast(pl.Float64), _fence(quartiles)
            kept = numbers.filter(~numbers.is_in(CODES) & numbers.is_between(least, most))
            yield pl.concat_list(kept.min(), kept.max()).alias(f"{place} inner")
    if holds is not Holds.TEXT:
        return
    values = pl.col(place).cast(pl.String).drop_nulls().str.strip_chars()
    fits = look(values)
    yield from (found.sum().alias(f"{place} {name}") for name, found in fits.items())
    yield values.filter(~fits["numbers"]).head(100 * ODD).implode().alias(f"{place} odd")
    yield unit_word(values.head(100 * ODD)).implode().alias(f"{place} unit words")


def _fence(quartiles: Sequence[float]) -> tuple[float, float]:
    """From where to where numbers are not far out."""
    width = FAR_OUT * (quartiles[2] - quartiles[0]) or np.inf
    return quartiles[0] - width, quartiles[2] + width


def _inside(low: float, high: float, quartiles: Sequence[float]) -> tuple[float, float] | None:
    """The smallest and the largest number, if neither is a usual code nor far out."""
    least, most = _fence(quartiles)
    return (low, high) if least <= low <= high <= most and low not in CODES and high not in CODES else None


def _facts(name: str, found: _Found, holds: Holds, dtype: pl.DataType) -> ColumnFacts:
    counted = found("counts")
    top = () if counted is None else _labelled(counted)
    distinct = len(top) if counted is not None else found("distinct", found("about", 0))
    rows, missing, low, high = found.rows, found("missing", 0), found("min"), found("max")
    whole = low is not None and (holds is Holds.WHOLE or (found("whole", False) and not found("infinite", 0)))
    lower, median, upper = _quartiles(top) if top and low is not None else found("quartiles", NO_QUARTILES)
    return ColumnFacts(
        name,
        holds,
        rows,
        missing,
        distinct,
        exact=counted is not None or found("distinct") is not None or holds in (Holds.NOTHING, Holds.OTHER),
        top=top if len(top) <= LISTED else top[:SHOWN],
        low=low,
        high=high,
        lower=lower,
        median=median,
        upper=upper,
        mean=found("mean"),
        inner=_inner(top, found, (lower, median, upper)),
        whole=whole,
        consecutive=whole and distinct == rows - missing == high - low + 1,
        infinite=found("infinite", 0),
        spikes=_spikes(found, top),
        calendar=found("calendar", 0),
        earliest=found("earliest", ""),
        latest=found("latest", ""),
        text=_text(found, top) if holds is Holds.TEXT and missing < rows else None,
        categories=tuple(dtype.categories.to_list()) if isinstance(dtype, pl.Enum) else (),
    )


def _labelled(counted: list[dict[str, Any]]) -> tuple[tuple[str, int], ...]:
    """Rows by level label, the most frequent first, and then by label: the order must not depend on a hash."""
    found: dict[str, int] = {}
    for entry in counted:
        value, count = entry.values()
        label = level_label(value)
        found[label] = found.get(label, 0) + count
    return tuple(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def _quartiles(top: tuple[tuple[str, int], ...]) -> tuple[float | None, ...]:
    """The quartiles of numbers that were counted one by one, as a sort of all rows would give them."""
    found = sorted((number, count) for label, count in top if np.isfinite(number := float(label)))
    if not found:
        return NO_QUARTILES
    numbers, ends = np.array([number for number, _ in found]), np.cumsum([count for _, count in found])
    at = np.array(QUARTILES) * (ends[-1] - 1)
    below, above = (numbers[np.searchsorted(ends, place, side="right")] for place in (np.floor(at), np.ceil(at)))
    return tuple((below + (at - np.floor(at)) * (above - below)).tolist())


def _inner(top: tuple[tuple[str, int], ...], found: _Found, quartiles: Sequence[float | None]) -> tuple[float, float] | None:
    """The ends of what is no usual code and not far out."""
    low, high = found("min"), found("max")
    known = [quartile for quartile in quartiles if quartile is not None]
    if low is None or not known:
        return None
    if not top:
        ends = found("inner", (low, high))
        return None if ends[0] is None else (ends[0], ends[1])
    least, most = _fence(known)
    kept = [number for label, _ in top if least <= (number := float(label)) <= most and number not in CODES]
    return (min(kept), max(kept)) if kept else None


def _spikes(found: _Found, top: tuple[tuple[str, int], ...]) -> tuple[tuple[float, int], ...]:
    if found("min") is None:
        return ()
    counts = dict(top)
    times = {code: counts.get(level_label(code), 0) if top else found(f"{code:g}", 0) for code in CODES}
    return tuple((code, count) for code, count in times.items() if count)


def _text(found: _Found, top: tuple[tuple[str, int], ...]) -> TextFacts:
    length = found("length", 0.0)
    if not top:
        seen = {name: found(name, 0) for name in LOOKS}
        words = found.rows - found("missing", 0) - sum(seen.values())
        odd = Counter(found("odd", ())).most_common(ODD)
        units = Counter(word for word in found("unit words", ()) if word).most_common(ODD)
    else:
        looks = {value: look_at(value) for value, _ in top}
        rows = Counter[str]()
        for value, count in top:
            rows[looks[value]] += count
        seen, words = {name: rows[name] for name in LOOKS}, rows["words"]
        odd = [(value, count) for value, count in top if looks[value] != "numbers"][:ODD]
        units = Counter[str](word for value, _ in top if (word := unit_at(value))).most_common(ODD)
    return TextFacts(**seen, words=words, odd=tuple(odd), unit_words=tuple(word for word, _ in units), length=length)


@dataclass(frozen=True, slots=True)
class _Found:
    """What the passes found of the column at one place."""

    place: str
    of_all: dict[str, Any]

    def __call__(self, key: str, otherwise: Any = None) -> Any:
        value = self.of_all.get(f"{self.place} {key}")
        return otherwise if value is None else value

    @property
    def rows(self) -> int:
        return int(self.of_all["rows"])
