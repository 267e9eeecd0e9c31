"""What one site holds, encoded for a study: numbers and level codes as arrays, and the rows complete on a set of variables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from consilience.data.apart import Apart
from consilience.data.counts import check_counts
from consilience.data.errors import ClusterError, InfiniteValueError, KindError, OutOfRangeError, UnknownLevelError
from consilience.data.infer import first_non_number, infinite_message, labels_of
from consilience.data.kinds import Kind, Variable, level_label
from consilience.data.schema import Schema
from consilience.frames import pl

__all__ = ["Rows", "Table", "part_rows"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
_T = TypeVar("_T", bound=np.generic)
SHORT_NUMBERS, SHORT_TEXTS = 20_000, 5_000
"""Rows up to which levels are encoded without a query."""
MANY_ROWS = 1 << 19
"""Rows from which on sums are made block by block. At a million that takes a quarter less time in one thread; at 200,000 it took a sixth
more, since what is made of so few rows is kept from one round to the next."""
BLOCK_ROWS = 1 << 16
"""Rows of a block. A column of it takes 512 KB: what is made of one block stays near the processor, and what Python does for each call of
numpy, one thread at a time, is little beside it. With half as many rows one thread took as long, and two a tenth longer."""
PART_BLOCKS = 2
"""Blocks that one thread does one after the other."""


def part_rows(n: int) -> int:
    """How many rows a thread does one after the other, of so many: an even number of parts of one length, so that no thread of two is
    left alone with the last.

    >>> part_rows(1_000_000), -(-1_000_000 // part_rows(1_000_000))
    (125000, 8)
    """
    most = PART_BLOCKS * BLOCK_ROWS
    return min(max(-(-n // (2 * -(-n // (2 * most)))), 1), most) if n else most


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of a table that are complete on some variables.

    ``index`` is None when every row is. ``key`` names the selection: two variable sets with the same incomplete variables among
    them select the same rows and share whatever is cached for them.
    """

    key: frozenset[str]
    index: NDArray[np.intp] | None
    n: int


class Table:
    """One site's columns, encoded over the study's schema.

    ``site`` names the variable that says which site a row is of, where rows of several are in one table. ``apart`` are variables that it
    does not show together, if there are any (:meth:`keeping`).
    ``threads`` is in how many threads sums over many rows are made, and ``helpers`` how many other processes may take their place. Where it
    is a block of rows, ``coded`` has columns that some models made of it, for the others.

    >>> from consilience.data.schema import Schema
    >>> schema = Schema({"A": "continuous", "E": ("multinomial", ["p", "q", "r"])})
    >>> table = Table(pl.DataFrame({"A": [1.0, None, 3.0], "E": ["r", "p", "q"]}), schema, "muenster")
    >>> table.codes["E"], table.complete(["A", "E"]).n
    (array([2, 0, 1], dtype=int32), 2)
    """

    coded: dict[Hashable, Floats] | None = None

    def __init__(self, frame: pl.DataFrame, schema: Schema, owner: str, cluster: str | None = None, *, site: str | None = None) -> None:
        self.schema, self.site, self.threads, self.helpers = schema, site, 1, 0
        self.cluster = None if cluster is None else _encode_clusters(frame, schema, owner, cluster)
        self.n_rows = frame.height
        self.numbers: dict[str, Floats] = {}
        self.codes: dict[str, Codes] = {}
        self._missing: dict[str, NDArray[np.bool_]] = {}
        self._rows: dict[frozenset[str], Rows] = {}
        self.apart: Apart | None = None
        for name, variable in schema.items():
            if name not in frame.columns:
                continue
            if variable.kind.is_discrete:
                self.codes[name] = _encode_levels(frame[name], variable, owner)
                gone = self.codes[name] < 0
            else:
                self.numbers[name] = _encode_numbers(frame[name], variable, owner)
                gone = np.isnan(self.numbers[name])
            if gone.any():
                self._missing[name] = gone
        self.names = frozenset(self.numbers) | frozenset(self.codes)

    @staticmethod
    def of_arrays(schema: Schema, numbers: Mapping[str, Floats], codes: Mapping[str, Codes]) -> Table:
        """A table of columns that are encoded already, all of one length.

        >>> Table.of_arrays(Schema({"A": "continuous"}), {"A": np.array([1.0, np.nan])}, {}).complete(["A"]).n
        1
        """
        made = object.__new__(Table)
        made.schema, made.site, made.cluster, made.apart, made.threads, made.helpers = schema, None, None, None, 1, 0
        made.numbers, made.codes, made._rows = dict(numbers), dict(codes), {}
        made.names = frozenset(numbers) | frozenset(codes)
        made.n_rows = max((len(column) for columns in (numbers, codes) for column in columns.values()), default=0)
        gone = {name: np.isnan(column) for name, column in numbers.items()} | {name: column < 0 for name, column in codes.items()}
        made._missing = {name: gaps for name, gaps in gone.items() if gaps.any()}
        return made

    def distinct(self) -> tuple[Table, NDArray[np.int64] | None]:
        """Rows that have all levels and gaps that occur together, and how often each of them occurs. None: once, they are all rows."""
        return self, None

    def varies(self, name: str, rows: NDArray[np.intp]) -> bool:
        """True if a column has more than one value in some rows, of which there are some; by their places in :meth:`distinct`."""
        column = (self.codes[name] if name in self.codes else self.numbers[name])[rows]
        return bool((column != column[0]).any())

    def holds(self, variables: Iterable[str]) -> bool:
        """True if every one of ``variables`` is measured here, and they are not kept apart."""
        if self.apart is None:
            return self.names.issuperset(variables)
        wanted = frozenset(variables)
        return self.names >= wanted and not self.apart.parts(wanted)

    def complete(self, variables: Iterable[str]) -> Rows:
        """The rows that have a value for every one of ``variables`` (all of which must be held)."""
        # by the incomplete variables alone: where few columns have gaps, hundreds of variable sets share a handful of selections
        key = frozenset(name for name in variables if name in self._missing)
        found = self._rows.get(key)
        if found is None:
            found = self._rows[key] = self._select(key)
        return found

    @property
    def missing(self) -> Mapping[str, NDArray[np.bool_]]:
        """Of every column with gaps, which rows lack a value. Columns without gaps are not in it."""
        return self._missing

    @property
    def many(self) -> bool:
        """True if sums over its rows are made block by block. Rows of several sites in one table are not: they are for comparisons."""
        return self.n_rows >= MANY_ROWS and self.site is None

    def parts(self, names: Iterable[str]) -> Iterator[Callable[[], Table]]:
        """Stretches of the rows of some columns, in their order, each made when it is called for."""
        kept, step = list(names), part_rows(self.n_rows)
        for start in range(0, self.n_rows, step):
            yield partial(self._stretch, slice(start, start + step), kept)

    @property
    def block_rows(self) -> int:
        """Rows of a block: at most :data:`BLOCK_ROWS`, so that all are of about one length."""
        return max(-(-self.n_rows // max(-(-self.n_rows // BLOCK_ROWS), 1)), 1)

    def blocks(self, step: int) -> Iterator[Table]:
        """Stretches of so many rows, in their order."""
        for start in range(0, self.n_rows, step):
            yield self._stretch(slice(start, start + step), self.names)

    def _stretch(self, rows: slice, names: Iterable[str]) -> Table:
        """Some columns of some rows, shared and not copied."""
        made = object.__new__(Table)
        made.schema, made.site, made.cluster, made.apart, made.threads, made.helpers = self.schema, self.site, None, None, 1, 0
        made.n_rows = len(range(*rows.indices(self.n_rows)))
        made.numbers = {name: self.numbers[name][rows] for name in names if name in self.numbers}
        made.codes = {name: self.codes[name][rows] for name in names if name in self.codes}
        made.names = frozenset(made.numbers) | frozenset(made.codes)
        gone = {name: self._missing[name][rows] for name in made.names if name in self._missing}
        made._missing, made._rows, made.coded = {name: gaps for name, gaps in gone.items() if gaps.any()}, {}, {}
        return made

    def level_counts(self, name: str, sample: Iterable[str]) -> NDArray[np.intp]:
        """How many of the rows that are complete on ``sample`` have each level of a variable.

        >>> table = Table(pl.DataFrame({"B": [0, 1, 1, None]}), Schema({"B": "binary"}), "muenster")
        >>> table.level_counts("B", ["B"])
        array([1, 2])
        """
        rows, codes = self.complete(sample), self.codes[name]
        return np.bincount(codes if rows.index is None else codes[rows.index], minlength=len(self.schema[name].levels))

    def subset(self, rows: NDArray[np.intp] | None, hidden: Mapping[str, NDArray[np.bool_]] | None = None) -> Table:
        """A copy with fewer rows and fewer values, without encoding anything again.

        ``rows`` are the positions that stay (None: all), in the order in which they stand there. ``hidden`` says, of some columns, which
        rows of *this* table lose their value. A column that is left without any value is not held by the copy. What is not changed is
        shared, not copied.

        >>> table = Table(pl.DataFrame({"A": [1.0, 2.0, 3.0], "B": [0, 1, 0]}), Schema({"A": "continuous", "B": "binary"}), "muenster")
        >>> fewer = table.subset(np.array([0, 2]), {"B": np.array([True, False, False])})
        >>> fewer.numbers["A"], fewer.codes["B"], fewer.complete(["A", "B"]).n
        (array([1., 3.]), array([-1,  0], dtype=int32), 1)
        >>> sorted(table.subset(None, {"B": np.array([True, True, True])}).names)
        ['A']
        """
        made = object.__new__(Table)
        made.schema, made.site, made.apart, made.threads = self.schema, self.site, self.apart, self.threads
        made.helpers = self.helpers
        made.cluster = self.cluster if self.cluster is None or rows is None else self.cluster[rows]
        made.n_rows = self.n_rows if rows is None else len(rows)
        made.numbers, made.codes, made._missing, made._rows = {}, {}, {}, {}
        for name in (*self.numbers, *self.codes):
            mask = None if hidden is None else hidden.get(name)
            gone = self._missing.get(name)
            if mask is not None:
                gone = mask if gone is None else gone | mask
            if gone is not None and rows is not None:
                gone = gone[rows]
            if made.n_rows == 0 or (gone is not None and gone.all()):
                continue
            if gone is not None and gone.any():
                made._missing[name] = gone
            if name in self.codes:
                made.codes[name] = _without(self.codes[name], rows, mask, -1)
            else:
                made.numbers[name] = _without(self.numbers[name], rows, mask, np.nan)
        made.names = frozenset(made.numbers) | frozenset(made.codes)
        return made

    def keeping(self, apart: Apart | None) -> Table:
        """The same table, some of whose variables are not shown together: it does not hold sets that have them.

        >>> schema = Schema({"B": "binary", "C": "binary"})
        >>> table = Table(pl.DataFrame({"B": [0, 1], "C": [1, 0]}), schema, "muenster")
        >>> table.keeping(Apart(frozenset({frozenset("BC")}), frozenset("BC"))).holds(["B", "C"]), table.holds(["B", "C"])
        (False, True)
        """
        made = copy(self)
        made.apart = apart
        return made

    def repeated(self, times: NDArray[np.intp]) -> Table:
        """A copy in which each row stands as often as ``times`` says. Copies of a cluster are clusters of their own.

        Rows of one cluster must stand there equally often: what belongs together is drawn together.

        >>> table = Table(pl.DataFrame({"A": [1.0, 2.0, 3.0], "W": [7, 8, 8]}), Schema({"A": "continuous"}), "muenster", "W")
        >>> again = table.repeated(np.array([0, 2, 2]))
        >>> again.numbers["A"], again.cluster
        (array([2., 2., 3., 3.]), array([0, 1, 0, 1]))
        """
        rows = np.repeat(np.arange(self.n_rows), times)
        made = self.subset(rows)
        if made.cluster is not None and len(rows):
            copy = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)  # of a row: the first, the second, ...
            pairs = made.cluster * int(times.max()) + copy
            made.cluster = np.unique(pairs, return_inverse=True)[1].astype(np.intp)
        return made

    def _select(self, key: frozenset[str]) -> Rows:
        if not key:  # None and not all indices: taking every row would copy every column
            return Rows(key, None, self.n_rows)
        index = np.flatnonzero(~np.logical_or.reduce([self._missing[name] for name in sorted(key)]))
        return Rows(key, index, len(index))


def _without(column: NDArray[_T], rows: NDArray[np.intp] | None, hidden: NDArray[np.bool_] | None, gap: float) -> NDArray[_T]:
    if hidden is not None:
        column = np.where(hidden, np.array(gap, dtype=column.dtype), column)
    return column if rows is None else column[rows]


def _encode_clusters(frame: pl.DataFrame, schema: Schema, owner: str, cluster: str) -> NDArray[np.intp]:
    """A number for each cluster; a row without a value is a cluster of its own."""
    if cluster in schema:
        raise ClusterError(f"{cluster!r} marks clusters and cannot be a variable of the study as well. Take it out of the variables.")
    if cluster not in frame.columns:
        raise ClusterError(
            f"The study sums by {cluster!r}, and {owner!r} has no such column. Add it, with a value of its own for each row if rows are "
            f"independent there."
        )
    column = frame[cluster]
    if column.dtype.is_float():
        column = column.fill_nan(None)
    ranks = column.rank("dense").to_numpy()
    missing = np.isnan(ranks.astype(np.float64))
    codes = np.where(missing, 0, ranks).astype(np.intp)
    codes[missing] = codes.max(initial=0) + 1 + np.arange(int(missing.sum()))
    found: NDArray[np.intp] = np.unique(codes, return_inverse=True)[1].astype(np.intp)
    return found


def _encode_numbers(column: pl.Series, variable: Variable, owner: str) -> Floats:
    try:
        values = column.cast(pl.Float64, strict=True).to_numpy().astype(np.float64)
    except pl.exceptions.PolarsError:
        raise KindError(
            f"The study says that {column.name!r} is {variable.kind.in_words}, but {owner!r} holds {first_non_number(column)!r}. "
            f"Convert the column to numbers at {owner!r} or change the study's schema."
        ) from None
    if np.isinf(values).any():
        raise InfiniteValueError(infinite_message(column.name, owner, int(np.isinf(values).sum())))
    if variable.kind is Kind.COUNT:
        check_counts(values, column.name, owner)
    if variable.range is not None:
        _check_range(values, variable, owner)
    return values


def _check_range(values: Floats, variable: Variable, owner: str) -> None:
    low, high = variable.range or (-np.inf, np.inf)
    outside = (values < low) | (values > high)  # NaN is neither
    if outside.any():
        unit = f" {variable.unit}" if variable.unit else ""
        raise OutOfRangeError(
            f"The study says that {variable.name!r} is {low:g} to {high:g}{unit}; {owner!r} has {int(outside.sum())} of "
            f'{int(np.isfinite(values).sum())} values outside. Say in the site\'s plan what unit they are in (unit = "mg/dl" under '
            f"[columns.{variable.name}]), or make what is outside missing (range = [{low:g}, {high:g}])."
        )


def _encode_levels(column: pl.Series, variable: Variable, owner: str) -> Codes:
    code = {label: i for i, label in enumerate(variable.levels)}
    if len(column) <= SHORT_NUMBERS and column.dtype.is_numeric() and not column.dtype.is_decimal():
        return _encode_numbered(column.to_numpy(), code, variable, owner)
    if len(column) <= SHORT_TEXTS and column.dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum):
        return _encode_listed(column.to_list(), code, variable, owner)
    _check_levels(labels_of(column), variable, owner)
    if column.dtype.is_float():
        column = column.fill_nan(None)
    # labels are made per distinct value, not per row: they are Python calls
    values = column.unique().drop_nulls().to_list()
    mapping: Mapping[object, int] = {value: code[level_label(value)] for value in values}
    if column.dtype in (pl.Categorical,) or isinstance(column.dtype, pl.Enum):
        column = column.cast(pl.String)
    encoded = column.replace_strict(mapping, default=None, return_dtype=pl.Int32)
    # -1 for missing: no level has it, and counting levels (np.bincount) refuses it
    return encoded.fill_null(-1).to_numpy().astype(np.int32)


def _encode_numbered(column: NDArray[Any], code: Mapping[str, int], variable: Variable, owner: str) -> Codes:
    """Codes of numbers without a query: that takes longer than to sort a short column. What is missing is not a number here."""
    values, places = np.unique(column, return_inverse=True)
    labels = [level_label(value) for value in values.tolist() if value == value]  # noqa: PLR0124 - what is no number, at the end, is missing
    _check_levels(set(labels), variable, owner)
    return np.array([*(code[label] for label in labels), -1], dtype=np.int32)[places]


def _encode_listed(column: list[Any], code: Mapping[str, int], variable: Variable, owner: str) -> Codes:
    """Codes of texts without a query: that takes longer than to look up a few thousand of them one by one."""
    labels = {value: level_label(value) for value in set(column) if value is not None}
    _check_levels(set(labels.values()), variable, owner)
    codes = {value: code[label] for value, label in labels.items()}
    return np.array([codes.get(value, -1) for value in column], dtype=np.int32)


def _check_levels(labels: set[str], variable: Variable, owner: str) -> None:
    strange = labels - set(variable.levels)
    if strange:
        raise UnknownLevelError(
            f"{owner!r} has {variable.name!r} = {min(strange)!r}, which is not among the study's levels {list(variable.levels)}. "
            f"Correct the value at {owner!r} or add the level to the study's schema."
        )
