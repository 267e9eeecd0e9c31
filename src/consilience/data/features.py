"""Columns that straight lines lack: squares, cubes and products of the columns of a design.

If the mean of a response is linear in its predictors, none of these adds anything. A number enters as u = t/√(1 + t²/4), with t its
centred column in units of 2^scale, about a standard deviation: near the centre u is t, far out it tends to ±2. A square of the number
itself would hang on the few rows that lie furthest out, and so would every test with it.

An even bend shows in u², an odd one in u³ (sin 2z has no part along z², for z that are symmetric), and what two variables do only together
in their product. Where there are more than :data:`MOST_FEATURES`, products of numbers with levels are left out first; products of levels
are looked at only where all predictors are discrete.

A site that must not tell of fewer than some rows has zeros for features that are about fewer (:func:`few_rows`), and no more columns than
it has times so many rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from consilience.data.clumps import effective_rows, rare
from consilience.data.design import Floats, centre
from consilience.data.schema import Schema

__all__ = ["MOST_FEATURES", "MOST_SCALE", "feature_plan", "few_rows", "widen"]

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


def few_rows(factors: Sequence[Floats], levels: Sequence[bool], weights: Floats | None, least: float) -> bool:
    """True if the product of two or three centred columns is about fewer than ``least`` rows. ``levels`` says which are of a level.

    Two levels must not part fewer rows from the others; a number within a level needs twice as many, as a line has two ends; the product of
    numbers is judged by its effective rows about the value that most rows have.

    >>> a, b = np.array([0.5] * 6 + [-0.5] * 6), np.array([0.75] + [-0.25] * 11)
    >>> few_rows([a, b], [True, True], None, 5), few_rows([a, a], [False, False], None, 5)
    (True, False)
    """
    ones = np.ones(len(factors[0])) if weights is None else weights
    cells = np.zeros(len(ones), dtype=np.int64)
    for factor, level in zip(factors, levels, strict=True):
        cells = 2 * cells + (level & (factor > 0))
    counts = np.bincount(cells, weights=ones, minlength=2)
    if all(levels):
        return rare(np.rint(counts).astype(np.int64), least)
    if any(levels):
        here = cells > 0
        numbers = np.prod([factor for factor, level in zip(factors, levels, strict=True) if not level], axis=0)
        return 0 < ones[here].sum() < 2 * least or bool(0 < effective_rows(numbers[here, None], np.zeros(1))[0] < least)
    made = np.prod(factors, axis=0)[:, None]
    return bool(0 < effective_rows(made, np.median(made, axis=0))[0] < least)


def _crossed(columns: Floats, scales: Sequence[int | None], least: float) -> set[int]:
    """The levels that part few rows of another level: a number within such a one must not be told.

    The information has the product of the feature with the other level's column: the sum of the number over the rows with both, or with the
    other alone.
    """
    levels = [j for j, scale in enumerate(scales) if scale is None]
    here = (columns[:, levels] > 0).astype(np.float64)
    both = here.T @ here
    counts = both.diagonal()
    one, other = counts[:, None] - both, counts[None] - both
    cells = np.stack([both, one, other, len(columns) - both - one - other])
    few = np.count_nonzero((cells > 0) & (cells < least), axis=0) * (1 - np.eye(len(levels), dtype=np.int64))
    return {levels[i] for i in np.flatnonzero(few.any(axis=1)).tolist()}


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
        rows = len(columns) if weights is None else round(float(weights.sum()))
        left = rows // least - 1 - p
        crossed = _crossed(columns, scales, least) if weights is None else set[int]()  # with weights all columns are of levels
        for k, few in enumerate(_few(made[:, p:], bounded, plan, scales, weights, least), start=p):
            numbered = any(scales[j] is not None for j in plan[k - p])
            if few or left <= 0 or (numbered and crossed.intersection(plan[k - p])):
                made[:, k] = 0.0
            else:
                left -= 1
    return made


def _few(
    features: Floats,
    bounded: dict[int, Floats],
    plan: Sequence[tuple[int, ...]],
    scales: Sequence[int | None],
    weights: Floats | None,
    least: float,
) -> list[bool]:
    """Which of the centred features are about too few rows: those of which bounds that cost next to nothing do not say so are looked at.

    Numbers lie within ±2, so that m of them multiplied, less any value of theirs, are at most M = 2·2^m. By Σb² ≤ M Σ|b| a feature is about
    Σ|b|/M rows at least, which is at least Σb²/M², and Σb² is least about the mean. A number in the rows of a level has M = 2.
    """
    squares = {j: column * column for j, column in bounded.items() if scales[j] is not None}
    here = {j: (column > 0).astype(np.float64) for j, column in bounded.items() if scales[j] is None}
    if weights is not None:
        here = {j: column * weights for j, column in here.items()}
    counts = {j: float(column.sum()) for j, column in here.items()}
    found = list[bool]()
    for feature, product in zip(features.T, plan, strict=True):
        inside, numbers = [j for j in product if j in here], [j for j in product if j in squares]
        if weights is None and not inside:
            many = float(feature @ feature) >= 4.0 ** (1 + len(product)) * least
        elif weights is None and len(inside) == len(numbers) == 1:
            many = counts[inside[0]] >= 2 * least and float(here[inside[0]] @ squares[numbers[0]]) >= 4.0 * least
        elif len(inside) == len(product) == 2:
            first, second = inside
            both = float(here[first] @ (bounded[second] > 0))
            total = float(len(feature)) if weights is None else float(weights.sum())
            one, other = counts[first] - both, counts[second] - both
            many = min(both, one, other, total - both - one - other) >= least
        else:
            many = False
        found.append(not many and few_rows([bounded[j] for j in product], [scales[j] is None for j in product], weights, least))
    return found
