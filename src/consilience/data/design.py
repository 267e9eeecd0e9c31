"""Design matrices of one site: treatment coding over the study's levels, centred, compressed where that loses nothing.

*Centring.* With site effects every column is centred at the site, over the rows of the test. That moves each site's intercept to the
site's own centre and changes no likelihood; it makes results independent of shifts of any size and the intercept nearly orthogonal
to the slopes. Without site effects columns are moved by a location common to all sites instead.

*Scaling.* Columns of numbers (continuous variables and counts) are divided by a power of two agreed for the study, which is exact in
floating point, so that sums of squares stay in range whatever the unit. A count that is the response stays what it is: it has no unit.

*Compression.* Rows of a model with discrete predictors only are counted, where the response is discrete or a count that is not large: a
million rows of a few categorical variables are a few hundred distinct ones with weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from consilience.data.counts import count_sums
from consilience.data.kinds import Kind
from consilience.data.schema import Schema
from consilience.data.table import Rows, Table

__all__ = [
    "Coding",
    "CrossProducts",
    "Design",
    "ModelSpec",
    "build",
    "centre",
    "coded_columns",
    "column_names",
    "compress",
    "counts_rows",
    "cross_products",
    "n_columns",
    "null_loglik",
    "residual_sums",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
_T = TypeVar("_T", bound=np.generic)
SMALL_COUNT = 1 << 10
"""Counts below this are compressed together with discrete predictors. Of larger ones hardly two rows are the same."""
CHUNK = 1 << 15
"""Rows coded at a time in cross-products, so that wide matrices never exist as a whole: ten columns of a million rows are 80 MB, ten of
these 2.6 MB."""
MOST_CODED = 24
"""Columns of a block that are kept while it is worked on: 12 MB."""
FEW_ROWS = 8
"""Rows that are looked at first where a column may be constant."""
MOST_CELLS = 1 << 62
"""Combinations of levels that one int64 key can tell apart, with a bit to spare; beyond that rows are compared as they are."""
CELLS_PER_ROW, FREE_CELLS = 4, 4096
"""Cells are counted in one array while there are at most so many (``CELLS_PER_ROW`` · rows + ``FREE_CELLS``). Counting takes time in cells,
sorting in rows: between one and four cells per row they are even, well below that counting is five to seven times faster."""


@dataclass(frozen=True, slots=True)
class Coding:
    """How numbers become columns: exponents of two to divide by, and locations to subtract (None: centre at the site)."""

    exponents: Mapping[str, int]
    locations: Mapping[str, float] | None = None

    @property
    def centre_at_site(self) -> bool:
        """True if every column is centred over the site's own rows."""
        return self.locations is None

    def about(self, name: str) -> float | None:
        """A count's mean over all sites, or one if it is not known; None where every site has its own."""
        return None if self.locations is None else self.locations.get(name, 0.0) or 1.0


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model: the response, the predictors, and the variables whose complete rows are its sample (all sorted)."""

    response: str
    predictors: tuple[str, ...]
    sample: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """The matrix of a model at one site: columns, response (codes, or counts), and weights (None: every row counts once)."""

    columns: Floats
    response: Codes | Floats
    weights: Floats | None

    @property
    def nbytes(self) -> int:
        """Memory held, for caches."""
        return self.columns.nbytes + self.response.nbytes + (0 if self.weights is None else self.weights.nbytes)


def n_columns(schema: Schema, variables: Sequence[str]) -> int:
    """How many columns the variables have together.

    >>> n_columns(Schema({"A": "continuous", "E": ("multinomial", "pqr")}), ["A", "E"])
    3
    """
    return sum(schema[name].n_columns for name in variables)


def column_names(schema: Schema, variables: Sequence[str]) -> list[tuple[str, int]]:
    """The variable and the level (0 for a number) behind every column.

    >>> column_names(Schema({"A": "continuous", "E": ("multinomial", "pqr")}), ["A", "E"])
    [('A', 0), ('E', 1), ('E', 2)]
    """
    return [column for name in variables for column in _columns_of(name, len(schema[name].levels))]


@lru_cache(maxsize=4096)
def _columns_of(name: str, levels: int) -> tuple[tuple[str, int], ...]:
    """Those of one variable; a number has no levels."""
    return tuple((name, level) for level in (range(1, levels) if levels else range(1)))


def build(table: Table, model: ModelSpec, keep: Sequence[int], coding: Coding, means: Floats | None = None) -> Design:
    """The design of a model that is fitted in steps: the columns ``keep`` of its predictors, over the complete rows.

    ``means`` are those of the columns where the table is a block of one: its rows are centred with all others.

    >>> import polars as pl
    >>> schema = Schema({"C": "binary", "E": ("multinomial", "pqr")})
    >>> table = Table(pl.DataFrame({"C": [0, 1, 1, 1], "E": ["p", "q", "q", "q"]}), schema, "muenster")
    >>> design = build(table, ModelSpec("C", ("E",), ("C", "E")), [0], Coding({}))
    >>> design.columns, design.response, design.weights
    (array([[-0.75],
           [ 0.25]]), array([0, 1], dtype=int32), array([1., 3.]))
    """
    rows = table.complete(model.sample)
    names = column_names(table.schema, model.predictors)
    wanted = [names[i] for i in keep]
    response: Codes | Floats
    if counts_rows(table, model) and _is_small(table, model.response, rows):
        # compressed before it is coded: distinct rows are few, so the columns are made for hundreds instead of a million
        codes, weights = compress(table, (model.response, *model.predictors), rows)
        columns = np.empty((len(weights), len(wanted)))
        for j, (name, level) in enumerate(wanted):
            columns[:, j] = codes[name] == level
        response = codes[model.response]
    else:
        weights = None
        columns = coded_columns(table, wanted, rows, coding) if means is None else _centred(table, wanted, rows, coding, means)
        name = model.response
        response = _take(table.codes[name], rows.index) if name in table.codes else _take(table.numbers[name], rows.index)
    # After the choice of rows and columns, never once for the whole table: the centre is that of the rows of this test, and only that
    # one makes the intercept nearly orthogonal to the slopes.
    if means is not None:
        if weights is not None:  # the others were centred as they were made
            columns -= means
    elif coding.centre_at_site:
        columns = centre(columns, weights)
    return Design(columns, response, weights)


def counts_rows(table: Table, model: ModelSpec) -> bool:
    """True if all predictors of a model are discrete, so that its rows may be counted."""
    return all(name in table.codes for name in model.predictors)


def _is_small(table: Table, name: str, rows: Rows) -> bool:
    """True for a discrete variable, and for a count whose values are small enough to be codes."""
    if name in table.codes:
        return True
    return table.schema[name].kind is Kind.COUNT and float(_take(table.numbers[name], rows.index).max(initial=0.0)) < SMALL_COUNT


def compress(table: Table, names: Sequence[str], rows: Rows) -> tuple[dict[str, Codes], Floats]:
    """The distinct rows of discrete variables and small counts, as codes by name, and how often each occurs.

    >>> import polars as pl
    >>> schema = Schema({"C": "binary"})
    >>> table = Table(pl.DataFrame({"C": [1, 0, 1]}), schema, "muenster")
    >>> compress(table, ["C"], table.complete(["C"]))
    ({'C': array([0, 1], dtype=int32)}, array([1., 2.]))
    """
    table, often = table.distinct()
    times = None
    if often is not None:
        rows = table.complete(rows.key)
        times = _take(often, rows.index)
    columns: list[Codes] = [
        _take(table.codes[name], rows.index) if name in table.codes else _take(table.numbers[name], rows.index).astype(np.int32)
        for name in names
    ]
    sizes = [len(table.schema[name].levels) or int(column.max(initial=0)) + 1 for name, column in zip(names, columns, strict=True)]
    cells = 1
    for size in sizes:
        cells *= size
    if cells >= MOST_CELLS:
        matrix = np.stack(columns)
        distinct, where = np.unique(matrix, axis=1, return_inverse=True)
        return {name: distinct[i] for i, name in enumerate(names)}, np.bincount(where.ravel(), times).astype(np.float64)
    key = columns[0].astype(np.int64) if columns else np.zeros(rows.n, dtype=np.int64)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        key *= size
        key += column
    if cells <= CELLS_PER_ROW * rows.n + FREE_CELLS:
        counts = np.bincount(key, times, minlength=cells)
        present = np.flatnonzero(counts)
        counts = counts[present]
    elif times is None:
        present, counts = np.unique(key, return_counts=True)
    else:
        present, where = np.unique(key, return_inverse=True)
        counts = np.bincount(where, times)
    codes: dict[str, Codes] = {}
    # the key is a number in mixed radix; its digits come back last first
    for name, size in zip(reversed(names), reversed(sizes), strict=True):
        present, code = np.divmod(present, size)
        codes[name] = code.astype(np.int32)
    return codes, counts.astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class CrossProducts:
    """Sums over the complete rows of some variables at one site.

    ``levels`` counts the levels of the discrete variables, one after the other; ``nulls`` holds, per discrete variable, the
    log-likelihood of its own level shares at this site (a model without predictors needs no fit); ``counted`` has for each count what
    :func:`consilience.data.counts.count_sums` says; ``gram`` holds the cross-products of all columns, centred at the site or about the
    common locations; ``sums`` the column sums about those.
    """

    n: int
    levels: Floats
    nulls: Floats
    counted: Floats
    sums: Floats
    gram: Floats


def cross_products(table: Table, variables: Sequence[str], coding: Coding) -> CrossProducts:
    """Counts, sums and cross-products of all columns of ``variables`` over the rows complete on them.

    >>> import polars as pl
    >>> schema = Schema({"A": "continuous", "C": "binary"})
    >>> table = Table(pl.DataFrame({"A": [1.0, 3.0], "C": [0, 1]}), schema, "muenster")
    >>> cross_products(table, ["A", "C"], Coding({})).gram
    array([[2. , 1. ],
           [1. , 0.5]])
    """
    rows = table.complete(variables)
    schema = table.schema
    names = column_names(schema, variables)
    discrete = [name for name in variables if name in table.codes]
    counts = {name: table.level_counts(name, variables) for name in discrete}
    levels = np.concatenate([counts[name] for name in discrete] or [np.empty(0, dtype=np.intp)]).astype(np.float64)
    nulls = np.array([null_loglik(counts[name]) for name in discrete])
    sites = None if table.site is None else _take(table.codes[table.site], rows.index)
    counted = np.array(
        [
            number
            for name in variables
            if schema[name].kind is Kind.COUNT
            for number in count_sums(_take(table.numbers[name], rows.index), sites, coding.about(name))
        ]
    )
    if len(discrete) == len(variables):
        codes, weights = compress(table, variables, rows)
        columns = np.empty((len(weights), len(names)))
        for j, (name, level) in enumerate(names):
            columns[:, j] = codes[name] == level
        if coding.centre_at_site:
            columns = centre(columns, weights)
        weighted = columns * weights[:, None]
        return CrossProducts(rows.n, levels, nulls, counted, weighted.sum(axis=0), np.dot(weighted.T, columns))
    # Means first, in a pass of their own, then products of what is left. Σxy - nx̄ȳ in one pass would lose all digits of a column whose
    # mean is 10⁸ standard deviations from zero: a time stamp is one.
    gram, sums = np.zeros((len(names), len(names))), np.zeros(len(names))
    means = _means(table, names, rows, coding, counts) if coding.centre_at_site else np.zeros(len(names))
    index = np.arange(rows.n) if rows.index is None else rows.index
    for start in range(0, rows.n, CHUNK):
        part = index[start : start + CHUNK]
        columns = np.empty((len(part), len(names)), order="F")
        for j, (name, level) in enumerate(names):
            np.subtract(_column(table, name, level, part, coding), means[j], out=columns[:, j])
        gram += np.dot(columns.T, columns)
        sums += columns.sum(axis=0)
    if coding.centre_at_site and rows.n:  # what rounding left of the means: second order, so the digits are still there
        gram -= np.outer(sums, sums) / rows.n
    return CrossProducts(rows.n, levels, nulls, counted, sums, gram)


def residual_sums(table: Table, model: ModelSpec, keep: Sequence[int], slopes: Floats, coding: Coding) -> Floats:
    """Of a continuous response at given slopes: Σr², Σr, X'r and ΣX over the complete rows.

    >>> import polars as pl
    >>> schema = Schema({"A": "continuous", "B": "continuous"})
    >>> table = Table(pl.DataFrame({"A": [1.0, 0.0, -1.0], "B": [1.0, 1.0, -2.0]}), schema, "muenster")
    >>> residual_sums(table, ModelSpec("B", ("A",), ("A", "B")), [0], np.array([1.0]), Coding({}))
    array([2., 0., 1., 0.])
    """
    rows = table.complete(model.sample)
    names = column_names(table.schema, model.predictors)
    columns = coded_columns(table, [*(names[i] for i in keep), (model.response, 0)], rows, coding)
    if coding.centre_at_site:
        columns = centre(columns, None)
    X = columns[:, :-1]
    residual = columns[:, -1] - np.dot(X, slopes)
    if coding.centre_at_site and rows.n:
        residual = residual - residual.mean()  # what rounding left of the means
    return np.concatenate([[np.dot(residual, residual), residual.sum()], np.dot(residual, X), X.sum(axis=0)])


def null_loglik(counts: NDArray[np.intp] | Floats) -> float:
    """The log-likelihood of level counts under their own shares.

    >>> round(null_loglik(np.array([1.0, 3.0])), 6)
    -2.249341
    """
    present = counts[counts > 0].astype(np.float64)  # 0 log 0 is 0
    return float(np.dot(present, np.log(present / present.sum())))


def _means(table: Table, names: list[tuple[str, int]], rows: Rows, coding: Coding, counts: Mapping[str, NDArray[np.intp]]) -> Floats:
    means = np.zeros(len(names))
    for j, (name, level) in enumerate(names):
        if rows.n == 0:
            break
        if name in counts:
            means[j] = counts[name][level] / rows.n
        else:
            column = _column(table, name, level, rows.index, coding)
            # the mean of three times 0.1 is not 0.1: a constant column would keep a spread of 1e-17, and count as a predictor
            means[j] = column[0] if column.min() == column.max() else column.mean()
    return means


def _take(values: NDArray[_T], index: NDArray[np.intp] | None) -> NDArray[_T]:
    return values if index is None else values[index]


def coded_columns(table: Table, names: Sequence[tuple[str, int]], rows: Rows, coding: Coding) -> Floats:
    """Columns by variable and level over some rows, in their units and not centred."""
    columns = np.empty((rows.n, len(names)), order="F")  # columns are filled, centred and used one by one
    for j, (name, level) in enumerate(names):
        columns[:, j] = _column(table, name, level, rows.index, coding)
    return columns


def _centred(block: Table, names: Sequence[tuple[str, int]], rows: Rows, coding: Coding, means: Floats) -> Floats:
    """The same less their means, where the table is a block of one: hundreds of models share a few columns, which are made once."""
    columns = np.empty((rows.n, len(names)), order="F")
    known = {} if block.coded is None else block.coded
    for j, (name, level) in enumerate(names):
        key = (rows.key, name, level, float(means[j]), coding.exponents.get(name, 0))
        column = known.get(key)
        if column is not None:
            columns[:, j] = column
            continue
        np.subtract(_column(block, name, level, rows.index, coding), means[j], out=columns[:, j])
        if len(known) < MOST_CODED:
            known[key] = columns[:, j].copy()  # a view would keep the columns beside it
    return columns


def _column(table: Table, name: str, level: int, index: NDArray[np.intp] | None, coding: Coding) -> Floats:
    if name in table.codes:
        indicator: Floats = (_take(table.codes[name], index) == level).astype(np.float64)
        return indicator
    column = _take(table.numbers[name], index)
    # the location is subtracted before scaling, in the variable's own unit, which is the one it was agreed in
    if coding.locations is not None:
        column = column - coding.locations.get(name, 0.0)
    # a power of two: division by it is exact, so no digit depends on the exponent. A standard deviation would round every value, and
    # would have to be told to the others
    scaled: Floats = np.ldexp(column, -coding.exponents.get(name, 0))
    return scaled


def centre(columns: Floats, weights: Floats | None) -> Floats:
    """Columns minus their weighted means, in place; a constant column becomes exactly zero.

    >>> centre(np.array([[1.0], [3.0]]), np.array([3.0, 1.0]))
    array([[-0.5],
           [ 1.5]])
    """
    if len(columns) == 0:
        return columns
    if weights is None:
        means = columns.mean(axis=0)
    else:
        means = np.dot(weights, columns) / weights.sum()
    # as in _means: exactly zero, so that its variance is zero too and the rank does not count it. Few rows tell of most columns
    doubtful = np.flatnonzero((columns[:FEW_ROWS] == columns[0]).all(axis=0))
    if len(doubtful):
        some = columns[:, doubtful]
        constant = doubtful[(some == some[0]).all(axis=0)]
        means[constant] = columns[0, constant]
    columns -= means
    return columns
