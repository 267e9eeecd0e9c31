"""Columns for the mean of a variable given others: lines and level indicators, curves, and products of pairs.

===========  ==========================================================================  ===========================
columns      what they are                                                               penalty
===========  ==========================================================================  ===========================
main         a line per continuous variable, an indicator per level of a discrete one    none
             but the first: sites may have coefficients of their own for them
plain pair   the product of two lines, where there are just two conditioning variables   none
curves       B-splines of a continuous variable (:mod:`consilience.data.spline`)         roughness
pairs        products of a line and short curves of one variable with those of another,  squares of coefficients, in
             or with levels; of levels and levels                                        units of the columns' spreads
===========  ==========================================================================  ===========================

A site that must not tell of few rows alters some of them (:mod:`consilience.data.altered`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations, product

import msgspec
import numpy as np
from numpy.typing import NDArray

from consilience.data.schema import Schema
from consilience.data.spline import Knots, spline
from consilience.data.table import Table

__all__ = ["JUST_TWO", "Expansion", "Widths", "columns", "curves_of", "multiplied", "roughness", "split", "straight_of", "widths"]

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
JUST_TWO = 2
"""Conditioning variables whose lines are multiplied without a penalty."""


class Expansion(msgspec.Struct, frozen=True):
    """How conditioning variables become columns.

    ``pieces`` of each curve (0: lines only); ``short``, the pieces of those in products of pairs (0: only lines and levels are multiplied,
    -1: nothing is).
    """

    given: tuple[str, ...]
    pieces: int = 0
    short: int = 0


class Widths(msgspec.Struct, frozen=True):
    """How many columns there are: main ones (of which the first ``lines`` are lines), all without a penalty, curves, pairs."""

    lines: int
    main: int
    free: int
    curves: int
    pairs: int

    @property
    def all(self) -> int:
        """All columns."""
        return self.free + self.curves + self.pairs


def split(schema: Schema, given: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The numbers and the discrete variables among those given.

    >>> split(Schema({"A": "continuous", "C": "binary"}), ("A", "C"))
    (['A'], ['C'])
    """
    numbers = [name for name in given if not schema[name].kind.is_discrete]
    return numbers, [name for name in given if schema[name].kind.is_discrete]


def widths(schema: Schema, expansion: Expansion, knots: Mapping[str, Knots]) -> Widths:
    """How many columns the expansion has.

    >>> ladder = Knots(tuple(float(i) for i in range(49)))
    >>> schema = Schema({"A": "continuous", "B": "continuous", "E": ("multinomial", "pqr")})
    >>> widths(schema, Expansion(("A", "B", "E"), 8, 1), {"A": ladder, "B": ladder})
    Widths(lines=2, main=4, free=4, curves=18, pairs=21)
    """
    numbers, factors = split(schema, expansion.given)
    levels = [schema[name].n_columns for name in factors]
    curves = [spline(knots[name], expansion.pieces).n_curved for name in numbers] if expansion.pieces else []
    main = len(numbers) + sum(levels)
    if expansion.short < 0:
        return Widths(len(numbers), main, main, sum(curves), 0)
    short = [1 + (spline(knots[name], expansion.short).n_curved if expansion.short else 0) for name in numbers]
    plain = len(numbers) == len(expansion.given) == JUST_TWO
    pairs = sum(a * b for a, b in (*combinations(short, 2), *product(short, levels), *combinations(levels, 2))) - plain
    return Widths(len(numbers), main, main + plain, sum(curves), pairs)


def straight_of(table: Table, name: str, index: Index | None, knots: Knots, centre: float) -> Floats:
    """A continuous variable in the rows ``index`` (None: all rows), in units of its knots' width.

    >>> import polars as pl
    >>> table = Table(pl.DataFrame({"A": [12.0, 24.0]}), Schema({"A": "continuous"}), "muenster")
    >>> straight_of(table, "A", None, Knots(tuple(float(i) for i in range(49))), 0.0)
    array([-1.,  0.])
    """
    values = table.numbers[name] if index is None else table.numbers[name][index]
    return spline(knots, 1).straight(values - centre if knots.centred else values)


def curves_of(table: Table, name: str, pieces: int, index: Index | None, knots: Knots, centre: float) -> Floats:
    """A continuous variable in the rows ``index`` (None: all rows): its line, then its curves on so many pieces (0: none).

    ``centre`` is the site's own, which counts where the knots are centred.

    >>> import polars as pl
    >>> table = Table(pl.DataFrame({"A": [12.0, 24.0]}), Schema({"A": "continuous"}), "muenster")
    >>> curves_of(table, "A", 2, None, Knots(tuple(float(i) for i in range(49))), 0.0).round(3)
    array([[-1.   ,  0.594,  0.25 ,  0.031],
           [ 0.   ,  0.25 ,  0.5  ,  0.25 ]])
    """
    u = straight_of(table, name, index, knots, centre)
    return np.column_stack([u, spline(knots, pieces).curved(u)]) if pieces else u[:, None]


def columns(
    table: Table,
    expansion: Expansion,
    index: Index | None,
    knots: Mapping[str, Knots],
    centres: Mapping[str, float],
    curved: Callable[[str, int], Floats] | None = None,
) -> Floats:
    """The columns of the rows ``index`` (None: all rows), in the order of the table above.

    ``centres`` are the site's own, for variables whose knots are centred. ``curved`` tells :func:`curves_of` a variable on so many pieces,
    for who has them already.

    >>> import polars as pl
    >>> table = Table(pl.DataFrame({"C": [0, 1], "E": ["p", "q"]}), Schema({"C": "binary", "E": ("multinomial", "pqr")}), "muenster")
    >>> columns(table, Expansion(("C", "E")), None, {}, {})
    array([[0., 0., 0., 0., 0.],
           [1., 1., 0., 1., 0.]])
    """
    numbers, factors = split(table.schema, expansion.given)

    def made(name: str, pieces: int) -> Floats:
        return curves_of(table, name, pieces, index, knots[name], centres.get(name, 0.0)) if curved is None else curved(name, pieces)

    whole = [made(name, expansion.pieces) for name in numbers]
    if len(whole) == len(expansion.given) == 1:
        return whole[0]
    lines, curves = [each[:, :1] for each in whole], [each[:, 1:] for each in whole]
    levels: list[Floats] = []
    for name in factors:
        codes = table.codes[name] if index is None else table.codes[name][index]
        levels.append((codes[:, None] == np.arange(1, len(table.schema[name].levels))).astype(np.float64))
    plain, pairs = list[Floats](), list[Floats]()
    if expansion.short >= 0:
        short = [made(name, expansion.short) for name in numbers] if expansion.short else lines
        pairs = [multiplied(a, b) for a, b in (*combinations(short, 2), *product(short, levels), *combinations(levels, 2))]
        if len(numbers) == len(expansion.given) == JUST_TWO:
            plain, pairs = [pairs[0][:, :1]], [pairs[0][:, 1:]]
    n = table.n_rows if index is None else len(index)
    return np.concatenate([np.empty((n, 0)), *lines, *levels, *plain, *curves, *pairs], axis=1)


def multiplied(a: Floats, b: Floats) -> Floats:
    """Every column of one matrix with every column of the other.

    >>> multiplied(np.array([[1.0, 2.0]]), np.array([[3.0, 5.0]]))
    array([[ 3.,  5.,  6., 10.]])
    """
    return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)


def roughness(schema: Schema, expansion: Expansion, knots: Mapping[str, Knots]) -> Floats:
    """The roughness of the curves, as a matrix over their columns: a block for each variable."""
    numbers, _ = split(schema, expansion.given)
    blocks = [spline(knots[name], expansion.pieces).roughness for name in numbers] if expansion.pieces else []
    size, at = sum(map(len, blocks)), 0
    whole = np.zeros((size, size))
    for block in blocks:
        whole[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    return whole
