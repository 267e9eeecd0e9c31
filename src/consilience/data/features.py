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

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from consilience.data.clumps import effective_rows
from consilience.data.design import Floats, centre
from consilience.data.schema import Schema

__all__ = ["MOST_FEATURES", "MOST_SCALE", "feature_plan", "widen"]

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
    columns: Floats, plan: Sequence[tuple[int, ...]], scales: Sequence[int | None], weights: Floats | None, least: float = 1.0
) -> Floats:
    """Centred ``columns`` with their features, centred too. ``scales`` has the exponent of a number's scale, None for a level.

    With ``least`` above one, features that are about fewer rows are zero, and those for which there are too few rows.

    >>> widen(np.array([[-1.0], [0.0], [1.0]]), [(0, 0)], [0], None).round(3)
    array([[-1.   ,  0.267],
           [ 0.   , -0.533],
           [ 1.   ,  0.267]])
    """
    p = columns.shape[1]
    made = np.empty((len(columns), p + len(plan)), order="F")
    made[:, :p] = columns
    bounded: dict[int, Floats] = {}
    for j in {j for product in plan for j in product}:
        scale = scales[j]
        if scale is None:
            bounded[j] = columns[:, j]
            continue
        half = np.ldexp(columns[:, j], -scale - 1)
        bounded[j] = 2.0 * half / np.sqrt(1.0 + half * half)
    for k, product in enumerate(plan, start=p):
        np.multiply(bounded[product[0]], bounded[product[1]], out=made[:, k])
        for j in product[2:]:
            made[:, k] *= bounded[j]
    centre(made[:, p:], weights)
    if least > 1:
        rows = np.ones(len(columns)) if weights is None else weights
        left = round(float(rows.sum())) // least - 1 - p
        for k, few in enumerate(_few(made[:, p:], bounded, plan, _Levels.of(columns, scales, rows, least), rows, least), start=p):
            if few or left <= 0:
                made[:, k] = 0.0
            else:
                left -= 1
    return made


class _Levels(NamedTuple):
    """The columns of levels: which rows have each, with their weights, and with which others it parts 1 to ``least`` - 1 rows."""

    here: dict[int, Floats]
    rare: dict[int, set[int]]

    @classmethod
    def of(cls, columns: Floats, scales: Sequence[int | None], weights: Floats, least: float) -> _Levels:
        places = [j for j, scale in enumerate(scales) if scale is None]
        has = (columns[:, places] > 0).astype(np.float64)
        here = has * weights[:, None]
        both = here.T @ has
        counts = both.diagonal()
        one, other = counts[:, None] - both, counts[None] - both
        cells = np.rint([both, one, other, weights.sum() - both - one - other])
        few = np.count_nonzero((cells > 0) & (cells < least), axis=0) * (1 - np.eye(len(places), dtype=np.int64))
        rare = {j: {places[i] for i in np.flatnonzero(row).tolist()} for j, row in zip(places, few, strict=True)}
        return cls(dict(zip(places, here.T, strict=True)), rare)


def _few(
    features: Floats, bounded: dict[int, Floats], plan: Sequence[tuple[int, ...]], levels: _Levels, weights: Floats, least: float
) -> Iterator[bool]:
    """Which of the centred features are about too few rows.

    Two levels must not part few rows from the others. Within a level a number needs twice as many rows, as a line has two ends, and the
    level must not part few rows of another: the information has the product of the feature with that one's column, which is the sum of the
    number over the rows with both. The product of numbers is judged by its effective rows about the value that most rows have.

    Bounds that cost next to nothing come first. Numbers lie within ±2, so that m of them multiplied are within ±2^m, and 2·2^m from any of
    their values. By Σb² ≤ M Σ|b| what is at most M is about Σ|b|/M rows or more, so Σb²/M² or more; and Σb² is least about the mean.
    """
    for feature, product in zip(features.T, plan, strict=True):
        inside, numbers = [j for j in product if j in levels.here], [bounded[j] for j in product if j not in levels.here]
        if not numbers:
            yield inside[1] in levels.rare[inside[0]]
        elif not inside:
            plain = float(feature @ (weights * feature)) >= 4.0 ** (1 + len(numbers)) * least
            yield not plain and _about_few(np.prod(numbers, axis=0), weights, least, median=True)
        else:
            here, made = levels.here[inside[0]], np.prod(numbers, axis=0)
            plain = float(here @ (made * made)) >= 4.0 ** len(numbers) * least
            short = bool(levels.rare[inside[0]]) or 0 < float(here.sum()) < 2 * least
            yield short or (not plain and _about_few(made, here, least, median=False))


def _about_few(column: Floats, weights: Floats, least: float, *, median: bool) -> bool:
    """True if a column is about fewer rows, besides its median or zero; a row stands for as many as its weight says."""
    rows = np.repeat(column, np.rint(weights).astype(np.int64))[:, None]
    about = np.median(rows, axis=0) if median else np.zeros(1)
    return bool(0 < effective_rows(rows, about)[0] < least)
