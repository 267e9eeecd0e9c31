"""Columns with the features that straight lines lack (:mod:`consilience.data.features`), over more rows than are looked at at once.

Features are products of centred columns, and are centred themselves: that takes the means of columns, which were found before, and a pass
for those of the features. What that pass sums says also which features are about enough rows; only where they are hardly spread at all,
further passes find their medians.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from consilience.data.blocks import over_blocks
from consilience.data.design import Coding, Design, Floats, ModelSpec, build
from consilience.data.features import Levels, bounded_columns, multiply, told_features
from consilience.data.quartiles import lengthy
from consilience.data.table import Table

__all__ = ["Wide", "find_features"]

_Found = tuple[float, Floats, Floats, Floats, Floats, list[Floats]]
"""Of features in some rows: how many rows, their sums, sums of squares, least and greatest; and of numbers within levels."""


class Wide:
    """A model's columns with features, a block of rows at a time: to be used when :func:`find_features` has looked at all rows.

    ``means`` are those of the columns, ``scales`` as in :func:`~consilience.data.features.widen`. With ``levels``, features that are about
    fewer than ``least`` rows are zero. ``middle`` is the mean of a response that is a number, in its unit; zero of another.
    """

    def __init__(
        self,
        model: ModelSpec,
        keep: Sequence[int],
        coding: Coding,
        means: Floats,
        plan: Sequence[tuple[int, ...]],
        scales: Sequence[int | None],
        middle: float = 0.0,
        levels: Levels | None = None,
        least: float = 1.0,
    ) -> None:
        self.model, self.keep, self.coding, self.means, self.middle = model, keep, coding, means, middle
        self.plan, self.scales, self.levels, self.least = plan, scales, levels, least
        self.p = len(keep)
        self.off, self.about = np.zeros(self.p), np.zeros(len(plan))
        self.told = [True] * len(plan)

    def __getstate__(self) -> dict[str, Any]:
        # what another process is told of it: which features may be told is found here
        return {**self.__dict__, "levels": None}

    def design(self, block: Table) -> Design:
        """A block's rows of the model, all columns centred with those of the other blocks."""
        made, features, _ = self.raw(block)
        columns = np.empty((len(features), self.p + len(self.plan)), order="F")
        columns[:, : self.p] = made.columns
        np.subtract(features, self.about, out=columns[:, self.p :])
        for k, told in enumerate(self.told):
            if not told:
                columns[:, self.p + k] = 0.0
        return Design(columns, made.response, made.weights)

    def numbers(self, response: Floats) -> Floats:
        """A continuous response in its unit, less its mean."""
        return np.ldexp(response.astype(np.float64), -self.coding.exponents.get(self.model.response, 0)) - self.middle

    def raw(self, block: Table) -> tuple[Design, Floats, Mapping[int, Floats]]:
        """The design of a block without features, the features, which are not centred, and what they are products of."""
        made = build(block, self.model, self.keep, self.coding, self.means)
        made.columns[:] -= self.off  # its own: what blocks keep for other models is copied
        bounded = bounded_columns(made.columns, self.plan, self.scales)
        features = np.empty((len(made.response), len(self.plan)), order="F")
        multiply(bounded, self.plan, features)
        return made, features, bounded


class _Sums:
    """What a pass finds of one model, as blocks are added; and :class:`~consilience.data.features.FeatureSums` when all are."""

    def __init__(self, wide: Wide, table: Table) -> None:
        self.wide, self.table = wide, table
        f = len(wide.plan)
        self.n, self.sums, self.squares = 0.0, np.zeros(f), np.zeros(f)
        self.low, self.high = np.full(f, np.inf), np.full(f, -np.inf)
        pairs = {(a, b) for a, *others in wide.plan for b in others[-1:] if wide.scales[a] is not None and wide.scales[b] is None}
        self.inside: dict[tuple[int, int], Floats] = {pair: np.zeros(2) for pair in sorted(pairs)}
        """Of a number within a level: the sums of its squares, and of what it is without its sign."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "table"}

    def of_block(self, block: Table) -> _Found:
        """What one block adds."""
        made, features, bounded = self.wide.raw(block)
        weights = made.weights
        n = float(len(features) if weights is None else weights.sum())
        weighted = features if weights is None else features * weights[:, None]
        inside = list[Floats]()
        for number, level in self.inside:
            here = made.columns[:, level] > 0  # centred: above zero in the rows that have it
            own = bounded[number][here]
            often = np.ones(len(own)) if weights is None else weights[here]
            inside.append(np.array([float(np.dot(own * own, often)), float(np.dot(np.abs(own), often))]))
        low, high = features.min(axis=0, initial=np.inf), features.max(axis=0, initial=-np.inf)
        return n, weighted.sum(axis=0), np.einsum("ij,ij->j", weighted, features), low, high, inside

    def add(self, part: _Found) -> None:
        """The next block."""
        n, sums, squares, low, high, inside = part
        self.n, self.sums, self.squares = self.n + n, self.sums + sums, self.squares + squares
        self.low, self.high = np.minimum(self.low, low), np.maximum(self.high, high)
        for pair, more in zip(self.inside, inside, strict=True):
            self.inside[pair] = self.inside[pair] + more

    def end(self) -> None:
        """Say what was found to the model."""
        wide = self.wide
        if self.n:
            # a feature that is constant becomes exactly zero: see consilience.data.design
            wide.about = np.where(self.low == self.high, self.low, self.sums / self.n)
        if wide.levels is not None and wide.least > 1:
            wide.told = told_features(wide.plan, wide.p, wide.levels, wide.least, self)

    def square(self, k: int) -> float:
        return float(self.squares[k] - self.n * self.wide.about[k] ** 2) if self.low[k] < self.high[k] else 0.0

    def within(self, number: int, level: int) -> float:
        return float(self.inside[number, level][0])

    def is_about_few(self, k: int) -> bool:
        first, *others = self.wide.plan[k]
        if (first, others[-1]) in self.inside:
            inside = self.inside[first, others[-1]]
            return _is_few(float(inside[1]), float(inside[0]), self.wide.least)
        found = lengthy(lambda: self._passes(partial(self._column, k))).get("")
        if found is None:
            return False
        rows, squares = 0.0, 0.0
        for values in self._passes(partial(self._column, k)):
            off = np.abs(values[""] - found.quartiles[1])
            rows, squares = rows + float(off.sum()), squares + float(np.dot(off, off))
        return _is_few(rows, squares, self.wide.least)

    def _passes(self, work: Callable[[Table], dict[str, Floats]]) -> Iterable[dict[str, Floats]]:
        return over_blocks(self.table, self.wide.model.sample, work)

    def _column(self, k: int, block: Table) -> dict[str, Floats]:
        return {"": self.wide.raw(block)[1][:, k]}


def _is_few(sizes: float, squares: float, least: float) -> bool:
    """Whether (Σ|b|)²/Σb² rows are fewer, and some."""
    return squares > 0 and 0 < sizes * sizes / squares < least


def find_features(table: Table, wides: Sequence[Wide]) -> None:
    """Look at all rows of some models, in two passes: their features' means, and which of them may be told.

    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> schema = Schema({"A": "continuous", "B": "continuous"})
    >>> table = Table(pl.DataFrame({"A": [-1.0, 0.0, 1.0], "B": [0.0, 1.0, 5.0]}), schema, "muenster")
    >>> wide = Wide(ModelSpec("B", ("A",), ("A", "B")), [0], Coding({}), np.zeros(1), [(0, 0)], [0])
    >>> find_features(table, [wide])
    >>> wide.design(table).columns.round(3)
    array([[-1.   ,  0.267],
           [ 0.   , -0.533],
           [ 1.   ,  0.267]])
    """
    _refine(table, wides)
    sums = [_Sums(wide, table) for wide in wides]
    for parts in over_blocks(table, _names(wides), partial(_features_of_block, sums), portable=True):
        for each, part in zip(sums, parts, strict=True):
            each.add(part)
    for each in sums:
        each.end()


def _features_of_block(sums: Sequence[_Sums], block: Table) -> list[_Found]:
    return [each.of_block(block) for each in sums]


def _refine(table: Table, wides: Sequence[Wide]) -> None:
    """Take out what rounding left of means: of a number far from zero that is more than nothing, and fourth powers are made of it."""
    left = [(0.0, np.zeros(wide.p), 0.0) for wide in wides]
    for parts in over_blocks(table, _names(wides), partial(_left_in_block, wides), portable=True):
        left = [(n + m, off + more, middle + further) for (n, off, middle), (m, more, further) in zip(left, parts, strict=True)]
    for wide, (n, off, middle) in zip(wides, left, strict=True):
        if n:
            wide.off, wide.middle = off / n, wide.middle + middle / n


def _left_in_block(wides: Sequence[Wide], block: Table) -> list[tuple[float, Floats, float]]:
    return [_left(wide, block) for wide in wides]


def _left(wide: Wide, block: Table) -> tuple[float, Floats, float]:
    made = build(block, wide.model, wide.keep, wide.coding, wide.means)
    number = wide.model.response in block.numbers and made.weights is None
    middle = float(wide.numbers(made.response.astype(np.float64)).sum()) if number else 0.0
    if made.weights is None:
        return float(len(made.response)), made.columns.sum(axis=0), middle
    return float(made.weights.sum()), np.dot(made.weights, made.columns), middle


def _names(wides: Sequence[Wide]) -> set[str]:
    return {name for wide in wides for name in wide.model.sample}
