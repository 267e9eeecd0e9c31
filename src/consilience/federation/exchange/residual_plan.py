"""Which columns of two variables a test of residuals multiplies: levels merged where they are rare, features in order, parts of a test.

Any function of X may stand for X, so rare levels may be merged: a column of three rows says nothing about independence, and spoils the law
that the statistic is compared with.
"""

from __future__ import annotations

import math
from itertools import product
from typing import NamedTuple

import numpy as np

from consilience.data.kinds import Kind, Variable
from consilience.data.responses import feature_spline
from consilience.data.spline import Knots
from consilience.glm.kernel import Floats

__all__ = ["Columns", "Part", "columns_for", "fewest_rows", "parts_of"]

FEWEST = 5
"""Rows that a level needs, whatever the other variable is."""
CLUSTERED = 5.0
"""Where both variables have levels, a pair of levels needs one row on average, or so many where rows come in clusters."""
PARALLEL = 1e-8
"""What is left of a feature besides those before it, as a share: below this it is none."""


class Columns(NamedTuple):
    """How a variable's columns are combined: first those that stand for it, then its features.

    ``squares`` are the cross-products of what is left of those that stand for it. ``sign`` is 1 where more of the one that does is more of
    the variable, -1 where it is less, 0 where there is no more or less; ``levels`` the higher and the lower of two, where it has two.
    """

    combine: Floats
    plain: int
    squares: Floats = np.empty((0, 0))
    sign: float = 0.0
    levels: tuple[str, str] = ("", "")


class Part(NamedTuple):
    """Some of the products, tested together, and how much their p-value counts among the parts'."""

    products: tuple[int, ...]
    weight: float


def fewest_rows(x: Variable, y: Variable, n: float, *, clustered: bool) -> float:
    """Rows that a level of either variable must have to count as one of its own.

    >>> fewest_rows(Variable("C", Kind.BINARY, ("0", "1")), Variable("A", Kind.CONTINUOUS), 400, clustered=False)
    5.0
    """
    if not (x.kind.is_discrete and y.kind.is_discrete):
        return float(FEWEST)
    return max(float(FEWEST), math.sqrt((CLUSTERED if clustered else 1.0) * n))


def columns_for(variable: Variable, counts: Floats, least: float, left: Floats, units: Floats, knots: Knots | None) -> Columns | None:
    """How the columns of a variable are combined; None where no level is frequent enough.

    ``left`` are the cross-products of its residuals, ``units`` the exponents they are divided by; ``knots`` are given for features.
    """
    made = _combined(variable, counts, least, left, units, knots)
    if made is None:
        return None
    scale = np.ldexp(1.0, -units.astype(np.int64))
    plain = made.combine[:, : made.plain]
    squares = plain.T @ (left * np.outer(scale, scale)) @ plain
    if variable.kind.is_discrete and variable.kind is not Kind.ORDINAL:
        high_low = (variable.levels[1], variable.levels[0]) if len(variable.levels) == 2 else ("", "")
        return made._replace(squares=squares, sign=float(np.sign(plain[0, 0])) if any(high_low) else 0.0, levels=high_low)
    return made._replace(squares=squares, sign=1.0)


def _combined(variable: Variable, counts: Floats, least: float, left: Floats, units: Floats, knots: Knots | None) -> Columns | None:
    if not variable.kind.is_discrete:
        if knots is None:
            return Columns(np.eye(1), 1)
        rough = feature_spline(knots).roughness
        turn = np.eye(len(left))
        if len(rough):
            values, vectors = np.linalg.eigh(rough)
            turn[1 : 1 + len(rough), 1 : 1 + len(rough)] = vectors / np.sqrt(values)
        return Columns(_in_order(turn, left, units), 1)
    if variable.kind is Kind.ORDINAL:
        if counts.sum() - counts.max(initial=0.0) < least:
            return None
        if len(left) == 1:
            return Columns(np.eye(1), 1)
        frequent = [1 + j for j in range(len(left) - 1) if counts[1 + j] >= least]
        return Columns(_in_order(np.eye(len(left))[:, [0, *frequent]], left, units), 1)
    merged = _merged(counts, least, units)
    return None if merged is None else Columns(merged, merged.shape[1])


def _merged(counts: Floats, least: float, units: Floats) -> Floats | None:
    """Indicators of frequent levels; the others are the reference, or join the most frequent level in it if they are too few."""
    kept = np.flatnonzero(counts >= least)
    rest = float(counts[counts < least].sum())
    if len(kept) and rest < least:
        kept = kept[kept != kept[np.argmax(counts[kept])]]
    if not len(kept):
        return None
    scale = np.ldexp(1.0, (units - units.max()).astype(np.int64))
    columns = np.zeros((len(units), len(kept)))
    for j, level in enumerate(kept.tolist()):
        if level:
            columns[level - 1, j] = 1.0
        else:  # the first level has no column: it is what the others leave
            columns[:, j] = -scale
    return columns


def _in_order(turn: Floats, left: Floats, units: Floats) -> Floats:
    """Columns of ``turn``, each without what those before it say; what they leave of residuals is orthonormal."""
    scale = np.ldexp(1.0, -units.astype(np.int64))
    gram = left * np.outer(scale, scale)
    found: list[Floats] = []
    for column in (turn / scale[:, None]).T:
        size = float(column @ gram @ column)
        rest = column
        for _ in range(2):  # twice is enough: rounding of the first pass is taken out by the second
            for other in found:
                rest = rest - other * float(other @ gram @ rest)
        length = float(rest @ gram @ rest)
        if size > 0.0 and length > PARALLEL * size:
            found.append(rest / math.sqrt(length))
    return np.array(found).T.reshape(len(left), -1)


def parts_of(x: Columns, y: Columns, *, numbers: bool) -> tuple[Part, ...]:
    """The parts of a test: plain columns with each other, features of either with the other's, and the first features of two numbers.

    >>> [part.products for part in parts_of(Columns(np.eye(2), 1), Columns(np.eye(2), 1), numbers=True)]
    [(0,), (2,), (1,), (3,)]
    """
    width = y.combine.shape[1]
    plain_x, plain_y = range(x.plain), range(y.plain)
    more_x, more_y = range(x.plain, x.combine.shape[1]), range(y.plain, width)

    def of(rows: range, columns: range) -> tuple[int, ...]:
        return tuple(i * width + j for i, j in product(rows, columns))

    parts = [Part(of(plain_x, plain_y), 1.0), Part(of(more_x, plain_y), 1.0), Part(of(plain_x, more_y), 1.0)]
    if numbers:
        parts.append(Part(of(more_x[:1], more_y[:1]), 0.5))
    return tuple(part for part in parts if part.products)
