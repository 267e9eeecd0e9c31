"""Columns for the mean of a variable given others: lines and level indicators, curves, and products of pairs.

===========  ==========================================================================  ===========================
columns      what they are                                                               penalty
===========  ==========================================================================  ===========================
lines        one per continuous variable, first of all: sites may have slopes of own     none
levels       an indicator per level of a discrete variable but the first                 none
plain pairs  products of two lines                                                       none
curves       B-splines of a continuous variable (:mod:`consilience.data.spline`)         roughness
pairs        products of two short curves (two continuous variables only), of lines and  squares of coefficients, in
             levels, of levels and levels                                                units of the columns' spreads
===========  ==========================================================================  ===========================
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import msgspec
import numpy as np
from numpy.typing import NDArray

from consilience.data.schema import Schema
from consilience.data.spline import Knots, spline
from consilience.data.table import Table

__all__ = ["Expansion", "Widths", "columns", "roughness", "widths"]

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
SHORT = 2
"""Pieces of the curves in products of pairs: with the line four columns a variable."""
SURFACES = 2
"""Curves are multiplied with each other where there are just so many continuous variables; among more of them only lines are: three
surfaces of fifteen columns each would cost more than they find."""


class Expansion(msgspec.Struct, frozen=True):
    """How conditioning variables become columns: ``pieces`` of each curve (0: lines only), and whether pairs are multiplied."""

    given: tuple[str, ...]
    pieces: int = 0
    pairs: bool = True


class Widths(msgspec.Struct, frozen=True):
    """How many columns there are: lines, all without a penalty (lines included), curves, pairs."""

    lines: int
    free: int
    curves: int
    pairs: int

    @property
    def all(self) -> int:
        """All columns."""
        return self.free + self.curves + self.pairs


def _split(schema: Schema, given: tuple[str, ...]) -> tuple[list[str], list[str]]:
    numbers = [name for name in given if not schema[name].kind.is_discrete]
    return numbers, [name for name in given if schema[name].kind.is_discrete]


def widths(schema: Schema, expansion: Expansion, knots: Mapping[str, Knots]) -> Widths:
    """How many columns the expansion has.

    >>> ladder = Knots(tuple(float(i) for i in range(49)))
    >>> schema = Schema({"A": "continuous", "B": "continuous", "E": ("multinomial", "pqr")})
    >>> widths(schema, Expansion(("A", "B", "E"), 8), {"A": ladder, "B": ladder})
    Widths(lines=2, free=5, curves=18, pairs=19)
    """
    numbers, factors = _split(schema, expansion.given)
    levels = [schema[name].n_columns for name in factors]
    curves = [spline(knots[name], expansion.pieces).n_curved for name in numbers] if expansion.pieces else []
    free, pairs = len(numbers) + sum(levels), 0
    if expansion.pairs:
        free += len(numbers) * (len(numbers) - 1) // 2
        pairs = len(numbers) * sum(levels) + sum(a * b for a, b in combinations(levels, 2))
        if len(numbers) == SURFACES and expansion.pieces:
            short = [1 + spline(knots[name], SHORT).n_curved for name in numbers]
            pairs += short[0] * short[1] - 1
    return Widths(len(numbers), free, sum(curves), pairs)


def columns(table: Table, expansion: Expansion, index: Index | None, knots: Mapping[str, Knots], centres: Mapping[str, float]) -> Floats:
    """The columns of the rows ``index`` (None: all rows), in the order of the table above.

    ``centres`` are the site's own, for variables whose knots are centred.

    >>> import polars as pl
    >>> table = Table(pl.DataFrame({"C": [0, 1], "E": ["p", "q"]}), Schema({"C": "binary", "E": ("multinomial", "pqr")}), "muenster")
    >>> columns(table, Expansion(("C", "E")), None, {}, {})
    array([[0., 0., 0., 0., 0.],
           [1., 1., 0., 1., 0.]])
    """
    numbers, factors = _split(table.schema, expansion.given)
    lines: list[Floats] = []
    curves: list[Floats] = []
    short: list[Floats] = []
    for name in numbers:
        values = table.numbers[name] if index is None else table.numbers[name][index]
        if knots[name].centred:
            values = values - centres[name]
        shape = spline(knots[name], max(expansion.pieces, 1))
        lines.append(shape.straight(values)[:, None])
        if expansion.pieces:
            curves.append(shape.curved(lines[-1][:, 0]))
            if expansion.pairs and len(numbers) == SURFACES:
                short.append(np.column_stack([lines[-1], spline(knots[name], SHORT).curved(lines[-1][:, 0])]))
    levels: list[Floats] = []
    for name in factors:
        codes = table.codes[name] if index is None else table.codes[name][index]
        levels.append((codes[:, None] == np.arange(1, len(table.schema[name].levels))).astype(np.float64))
    plain, pairs = list[Floats](), list[Floats]()
    if expansion.pairs:
        plain = [a * b for a, b in combinations(lines, 2)]
        pairs = [_product(short[0], short[1])[:, 1:]] if short else []
        pairs += [_product(line, level) for line in lines for level in levels]
        pairs += [_product(a, b) for a, b in combinations(levels, 2)]
    n = table.n_rows if index is None else len(index)
    return np.concatenate([np.empty((n, 0)), *lines, *levels, *plain, *curves, *pairs], axis=1)


def _product(a: Floats, b: Floats) -> Floats:
    return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)


def roughness(schema: Schema, expansion: Expansion, knots: Mapping[str, Knots]) -> Floats:
    """The roughness of the curves, as a matrix over their columns: a block for each variable."""
    numbers, _ = _split(schema, expansion.given)
    blocks = [spline(knots[name], expansion.pieces).roughness for name in numbers] if expansion.pieces else []
    size, at = sum(map(len, blocks)), 0
    whole = np.zeros((size, size))
    for block in blocks:
        whole[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    return whole
