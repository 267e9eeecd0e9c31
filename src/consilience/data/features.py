"""Columns that straight lines lack: squares, cubes and products of the columns of a design.

If the mean of a response is linear in its predictors, none of these adds anything. A number enters as u = t/√(1 + t²/4), with t its
centred column in units of 2^scale, about a standard deviation: near the centre u is t, far out it tends to ±2. A square of the number
itself would hang on the few rows that lie furthest out, and so would every test with it.

An even bend shows in u², an odd one in u³ (sin 2z has no part along z², for z that are symmetric), and what two variables do only together
in their product. Where there are more than :data:`MOST_FEATURES`, products of numbers with levels are left out first; products of levels
are looked at only where all predictors are discrete.

A site that must not tell of fewer than some rows has zeros for features that are about fewer, and no more columns than
it has times so many rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from consilience.data.clumps import effective_rows
from consilience.data.design import Floats, centre
from consilience.data.schema import Schema

__all__ = [
    "MOST_FEATURES",
    "MOST_SCALE",
    "FeatureSums",
    "Levels",
    "bounded_columns",
    "feature_plan",
    "multiply",
    "parted",
    "told_features",
    "widen",
]

Codes = NDArray[np.intp]
MOST_FEATURES = 8
"""Features of one model. Their cross-products are most of what the check of a model costs."""
MOST_SCALE = 64
"""Exponents of scales lie within ±this: columns are in a unit within a factor of 2⁸ of their spread."""


def feature_plan(schema: Schema, columns: Sequence[tuple[str, int]]) -> list[tuple[int, ...]]:
    """Which columns are multiplied for each feature: squares, cubes, then pairs. ``columns`` are variables and levels.

    >>> schema = Schema({"A": "continuous", "B": "continuous", "E": ("multinomial", "pqr")})
    >>> feature_plan(schema, [("A", 0), ("B", 0), ("E", 1), ("E", 2)])
    [(0, 0), (1, 1), (0, 0, 0), (1, 1, 1), (0, 1), (0, 2), (0, 3), (1, 2)]
    """
    numbers, levels = list[int](), list[int]()
    for j, (name, _) in enumerate(columns):
        (levels if schema[name].kind.is_discrete else numbers).append(j)
    if not numbers:
        pairs: list[tuple[int, ...]] = [(i, j) for i in levels for j in levels if i < j and columns[i][0] != columns[j][0]]
        return pairs[:MOST_FEATURES]
    plan: list[tuple[int, ...]] = [(j, j) for j in numbers] + [(j, j, j) for j in numbers]
    plan += [(i, j) for i in numbers for j in numbers if i < j]
    plan += [(i, j) for i in numbers for j in levels]
    return plan[:MOST_FEATURES]


def widen(
    columns: Floats,
    plan: Sequence[tuple[int, ...]],
    scales: Sequence[int | None],
    weights: Floats | None,
    least: float = 1.0,
    levels: Levels | None = None,
) -> Floats:
    """Centred ``columns`` with their features, centred too. ``scales`` has the exponent of a number's scale, None for a level.

    With ``least`` above one, features that are about fewer rows are zero, and those for which there are too few rows. ``levels`` are
    :meth:`Levels.of` these columns, for who has them already.

    >>> widen(np.array([[-1.0], [0.0], [1.0]]), [(0, 0)], [0], None).round(3)
    array([[-1.   ,  0.267],
           [ 0.   , -0.533],
           [ 1.   ,  0.267]])
    """
    p = columns.shape[1]
    made = np.empty((len(columns), p + len(plan)), order="F")
    made[:, :p] = columns
    bounded = bounded_columns(columns, plan, scales)
    multiply(bounded, plan, made[:, p:])
    centre(made[:, p:], weights)
    if least > 1:
        levels = levels or Levels.of(columns, scales, weights, least)
        for k, told in enumerate(told_features(plan, p, levels, least, _OfRows(made[:, p:], bounded, plan, levels, weights, least))):
            if not told:
                made[:, p + k] = 0.0
    return made


def bounded_columns(columns: Floats, plan: Sequence[tuple[int, ...]], scales: Sequence[int | None]) -> dict[int, Floats]:
    """What is multiplied for the features of a plan: numbers within ±2, and columns of levels as they are."""
    bounded: dict[int, Floats] = {}
    for j in {j for product in plan for j in product}:
        scale = scales[j]
        if scale is None:
            bounded[j] = columns[:, j]
            continue
        half = np.ldexp(columns[:, j], -scale - 1)
        bounded[j] = 2.0 * half / np.sqrt(1.0 + half * half)
    return bounded


def multiply(bounded: Mapping[int, Floats], plan: Sequence[tuple[int, ...]], out: Floats) -> None:
    """The features of a plan, into the columns of ``out``; not centred."""
    for k, product in enumerate(plan):
        np.multiply(bounded[product[0]], bounded[product[1]], out=out[:, k])
        for j in product[2:]:
            out[:, k] *= bounded[j]


class Levels(NamedTuple):
    """The columns of levels among those of a design with ``n`` rows: the ``rows`` that have each, and with which others it parts 1 to
    ``least`` - 1 rows. ``codes`` has the levels of every row, a variable at a time, and which columns are of it, with their levels.
    """

    n: int
    rows: Mapping[int, float]
    rare: Mapping[int, set[int]]
    codes: Sequence[tuple[Codes, Sequence[tuple[int, int]]]]

    @classmethod
    def of(cls, columns: Floats, scales: Sequence[int | None], weights: Floats | None, least: float) -> Levels:
        """From centred columns, of which those of levels are above zero in the rows that have it."""
        places = [j for j, scale in enumerate(scales) if scale is None]
        codes = [(columns[:, j] > 0).astype(np.intp) for j in places]
        n = float(len(columns) if weights is None else weights.sum())
        rows = {j: float(np.bincount(own, weights, 2)[1]) for j, own in zip(places, codes, strict=True)}
        rare: dict[int, set[int]] = {j: set() for j in places}
        for (i, one), (j, other) in combinations(zip(places, codes, strict=True), 2):
            if parted(one, other, (2, 2), weights, least)[1, 1]:
                rare[i].add(j)
                rare[j].add(i)
        return cls(round(n), rows, rare, [(own, [(j, 1)]) for j, own in zip(places, codes, strict=True)])

    def within(self, values: Floats) -> dict[int, float]:
        """The sum of some values of rows over those with each level."""
        found = dict[int, float]()
        for codes, members in self.codes:
            sums = np.bincount(codes, values)
            found.update((j, float(sums[level]) if level < len(sums) else 0.0) for j, level in members)
        return found

    def here(self, column: int, weights: Floats | None) -> Floats:
        """How often each row that has the level of a column occurs; zero for the others."""
        codes, level = next((codes, level) for codes, members in self.codes for j, level in members if j == column)
        found: Floats = (codes == level).astype(np.float64)
        return found if weights is None else found * weights


def parted(one: Codes, other: Codes, sizes: tuple[int, int], weights: Floats | None, least: float) -> NDArray[np.bool_]:
    """Of every level of one variable and every level of another: do they part 1 to ``least`` - 1 rows, with both, one or none of them?

    >>> parted(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 1]), (2, 2), None, 2)
    array([[ True,  True],
           [ True,  True]])
    """
    both = np.bincount(one * sizes[1] + other, weights, sizes[0] * sizes[1]).reshape(sizes)
    a, b = both.sum(axis=1, keepdims=True), both.sum(axis=0)
    cells = np.rint([both, a - both, b - both, both.sum() - a - b + both])
    return np.asarray(((cells > 0) & (cells < least)).any(axis=0))


class FeatureSums(Protocol):
    """What is asked of the features of a plan to say which of them are about too few rows."""

    def square(self, k: int) -> float:
        """The sum of squares of a centred feature."""

    def within(self, number: int, level: int) -> float:
        """The sum of squares of a number, within ±2, over the rows with a level."""

    def is_about_few(self, k: int) -> bool:
        """True if a product of numbers is about fewer rows besides its median, or a number within a level besides zero."""


def told_features(plan: Sequence[tuple[int, ...]], p: int, levels: Levels, least: float, sums: FeatureSums) -> list[bool]:
    """Which of the features of ``p`` columns are told: those about enough rows, and no more than there are rows for."""
    left, found = levels.n // least - 1 - p, list[bool]()
    for few in _few(plan, levels, least, sums):
        found.append(not few and left > 0)
        left -= found[-1]
    return found


def _few(plan: Sequence[tuple[int, ...]], levels: Levels, least: float, sums: FeatureSums) -> Iterator[bool]:
    """Which of the centred features are about too few rows.

    Two levels must not part few rows from the others. Within a level a number needs twice as many rows, as a line has two ends, and the
    level must not part few rows of another: the information has the product of the feature with that one's column, which is the sum of the
    number over the rows with both. The product of numbers is judged by its effective rows about the value that most rows have.

    Bounds that cost next to nothing come first. Numbers lie within ±2, so that m of them multiplied are within ±2^m, and 2·2^m from any of
    their values. By Σb² ≤ M Σ|b| what is at most M is about Σ|b|/M rows or more, so Σb²/M² or more; and Σb² is least about the mean.
    """
    for k, (first, *others) in enumerate(plan):
        last = others[-1]
        if first in levels.rows:
            yield last in levels.rare[first]
        elif last not in levels.rows:
            yield sums.square(k) < 4.0 ** (2 + len(others)) * least and sums.is_about_few(k)
        elif levels.rare[last] or 0 < levels.rows[last] < 2 * least:
            yield True
        else:
            yield sums.within(first, last) < 4.0 * least and sums.is_about_few(k)


class _OfRows:
    """:class:`FeatureSums` of rows that are all at hand."""

    def __init__(
        self,
        features: Floats,
        bounded: dict[int, Floats],
        plan: Sequence[tuple[int, ...]],
        levels: Levels,
        weights: Floats | None,
        least: float,
    ) -> None:
        self.bounded, self.plan, self.levels, self.weights, self.least = bounded, plan, levels, weights, least
        self.squares = np.einsum("ij,ij->i", features.T, features.T if weights is None else features.T * weights).tolist()
        self._within = dict[int, dict[int, float]]()

    def square(self, k: int) -> float:
        found: float = self.squares[k]
        return found

    def within(self, number: int, level: int) -> float:
        if number not in self._within:
            squares = self.bounded[number] * self.bounded[number]
            self._within[number] = self.levels.within(squares if self.weights is None else squares * self.weights)
        return self._within[number][level]

    def is_about_few(self, k: int) -> bool:
        first, *others = self.plan[k]
        if others[-1] in self.levels.rows:
            return _about_few(self.bounded[first], self.levels.here(others[-1], self.weights), self.least, median=False)
        return _about_few(np.prod([self.bounded[j] for j in (first, *others)], axis=0), self.weights, self.least, median=True)


def _about_few(column: Floats, weights: Floats | None, least: float, *, median: bool) -> bool:
    """True if a column is about fewer rows, besides its median or zero; a row stands for as many as its weight says."""
    rows = (column if weights is None else np.repeat(column, np.rint(weights).astype(np.int64)))[:, None]
    about = np.median(rows, axis=0) if median else np.zeros(1)
    return bool(0 < effective_rows(rows, about)[0] < least)
