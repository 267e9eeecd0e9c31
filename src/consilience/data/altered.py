"""Columns for smooth means as a site has them that must not tell of few rows: some coarser, some none.

What is altered, :mod:`consilience.data.coarsening` decides; here the columns are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from consilience.data.basis import JUST_TWO, Expansion, Floats, Index, multiplied, split, straight_of
from consilience.data.coarse import Coarse
from consilience.data.spline import Knots, spline
from consilience.data.table import Table

__all__ = ["Alterations", "altered_columns"]


@dataclass(slots=True, eq=False)
class Alterations:
    """What a site alters in the columns of an expansion, over the rows of one sample.

    ``silent`` numbers have a line of zeros, ``curves`` and ``short`` ones are coarser, ``within`` the rows of a level, too; ``kept`` says
    which products of pairs are there (None: all), without the product of two lines that has no penalty.
    """

    silent: frozenset[str] = frozenset()
    curves: dict[str, Coarse] = field(default_factory=dict)
    short: dict[str, Coarse] = field(default_factory=dict)
    within: dict[tuple[str, str, int], Coarse] = field(default_factory=dict)
    kept: NDArray[np.bool_] | None = None


def altered_columns(
    table: Table,
    expansion: Expansion,
    index: Index | None,
    knots: Mapping[str, Knots],
    centres: Mapping[str, float],
    how: Alterations,
) -> Floats:
    """The columns of the rows ``index`` (None: all rows) as the site has altered them, in the order of
    :func:`~consilience.data.basis.columns`, which they are where nothing is.

    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> table = Table(pl.DataFrame({"C": [0, 1], "E": ["p", "q"]}), Schema({"C": "binary", "E": ("multinomial", "pqr")}), "muenster")
    >>> altered_columns(table, Expansion(("C", "E")), None, {}, {}, Alterations(kept=np.array([False, True])))
    array([[0., 0., 0., 0., 0.],
           [1., 1., 0., 0., 0.]])
    """
    numbers, factors = split(table.schema, expansion.given)
    lines: list[Floats] = []
    curves: list[Floats] = []
    short: list[Floats] = []
    for name in numbers:
        u = straight_of(table, name, index, knots[name], centres.get(name, 0.0))
        if name in how.silent:
            u = np.zeros_like(u)
        lines.append(u[:, None])
        if expansion.pieces:
            curves.append(_curves(knots[name], expansion.pieces, u, how.curves.get(name)))
        short.append(_short(knots[name], expansion.short, u, how.short.get(name)))
    levels: list[Floats] = []
    for name in factors:
        codes = table.codes[name] if index is None else table.codes[name][index]
        levels.append((codes[:, None] == np.arange(1, len(table.schema[name].levels))).astype(np.float64))
    plain, pairs = list[Floats](), list[Floats]()
    if expansion.short >= 0:
        pairs = [multiplied(a, b) for a, b in combinations(short, 2)]
        for (i, number), (j, factor) in product(enumerate(numbers), enumerate(factors)):
            each = [how.within.get((number, factor, level)) for level in range(levels[j].shape[1])]
            own = [short[i] if one is None else _short(knots[number], expansion.short, lines[i][:, 0], one) for one in each]
            pairs.append(_by_level(own, levels[j]) if any(each) else multiplied(short[i], levels[j]))
        pairs += [multiplied(a, b) for a, b in combinations(levels, 2)]
        if len(numbers) == len(expansion.given) == JUST_TWO:
            plain, pairs = [pairs[0][:, :1]], [pairs[0][:, 1:]]
        if how.kept is not None:
            pairs = [np.concatenate(pairs, axis=1) * how.kept]
    n = table.n_rows if index is None else len(index)
    return np.concatenate([np.empty((n, 0)), *lines, *levels, *plain, *curves, *pairs], axis=1)


def _curves(knots: Knots, pieces: int, u: Floats, coarse: Coarse | None) -> Floats:
    return spline(knots, pieces).curved(u) if coarse is None else coarse.columns(u)


def _short(knots: Knots, pieces: int, u: Floats, coarse: Coarse | None) -> Floats:
    """A line and short curves, which are multiplied with others."""
    return np.column_stack([u, _curves(knots, pieces, u, coarse)]) if pieces > 0 else u[:, None]


def _by_level(own: list[Floats], levels: Floats) -> Floats:
    """Products with levels of columns that are each level's own, in the order of :func:`_product`."""
    return np.stack([columns * levels[:, [j]] for j, columns in enumerate(own)], axis=2).reshape(len(levels), -1)
