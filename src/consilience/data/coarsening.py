"""What a site alters in its columns for smooth means, so that they are about clumps of enough rows and not about single ones.

Along each number there are at most as many columns as clumps of ``least`` rows, and in all half as many as rows. Lines and levels, which
sums of other tests have as well, come first, then products of them, then curves, and products with curves last:

=====================  =================================================================================================================
curves                 coarser (:mod:`consilience.data.coarse`) where knots part few rows, or where there are too few rows for so many;
                       the outermost rows are not told apart
level times level      none where one of the four cells of the two has 1 to ``least`` - 1 rows
level times number     none where the level has fewer than two clumps, or another variable's level parts few of its rows; the line alone
                       where short curves do
number times number    of lines alone where there are too few rows for short curves
any product            none if it is about fewer rows than ``least``, by its :func:`~consilience.data.clumps.effective_rows`
a line                 none where a unit is so small that the number is a step, and few rows lie on one side of it
=====================  =================================================================================================================

Everything follows from the site's own rows and from what is asked for; nothing is refused, and nobody is told what was altered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from consilience.data.altered import Alterations, altered_columns
from consilience.data.basis import Expansion, split, straight_of, widths
from consilience.data.clumps import rare
from consilience.data.coarse import BLOCK, STRAIGHT, Coarse, clipped_few, coarse_curves, ladder_of, parts_few, space_of
from consilience.data.spline import Knots, spline
from consilience.data.table import Rows, Table

__all__ = ["alterations"]

Flags = NDArray[np.bool_]
TWO_CLUMPS = 2
"""What a line needs."""
ROWS_PER_COLUMN = 2
"""Rows of the site for each of its columns: of as many columns as rows the cross-products would be the rows themselves, turned."""


def alterations(
    table: Table,
    expansion: Expansion,
    rows: Rows,
    knots: Mapping[str, Knots],
    centres: Mapping[str, float],
    least: int,
    spaces: dict[str, Coarse] | None = None,
) -> Alterations:
    """What is altered in the columns of an expansion over some rows of a site, where nothing may be about fewer than ``least`` of them.

    ``spaces`` keeps those of the numbers over these rows, for who asks again (None: nobody does).

    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> table = Table(pl.DataFrame({"A": [0.5 * i for i in range(40)]}), Schema({"A": "continuous"}), "muenster")
    >>> ladder = Knots(tuple(0.5 * i for i in range(49)))
    >>> found = [alterations(table, Expansion(("A",), pieces, -1), table.complete(["A"]), {"A": ladder}, {}, 5) for pieces in (3, 12)]
    >>> [one.curves["A"].knots == found[0].curves["A"].knots for one in found]  # one space for both
    [True, True]
    """
    return _Site(table, expansion, rows, knots, centres, least, {} if spaces is None else spaces).altered()


@dataclass(eq=False)
class _Site:
    table: Table
    expansion: Expansion
    rows: Rows
    knots: Mapping[str, Knots]
    centres: Mapping[str, float]
    least: int
    spaces: dict[str, Coarse]

    def __post_init__(self) -> None:
        self.numbers, self.factors = split(self.table.schema, self.expansion.given)
        self.wide = widths(self.table.schema, self.expansion, self.knots)
        index, centres = self.rows.index, self.centres
        self.straight = {name: straight_of(self.table, name, index, self.knots[name], centres.get(name, 0.0)) for name in self.numbers}
        for name, u in self.straight.items():
            if name not in self.spaces:
                self.spaces[name] = space_of(u, ladder_of(self.knots[name]), self.least)
        self.silent = frozenset(name for name, u in self.straight.items() if clipped_few(u, self.least))
        self.straight |= {name: np.zeros(self.rows.n) for name in self.silent}

    @cached_property
    def codes(self) -> dict[str, NDArray[np.int32]]:
        """Levels of the discrete variables in the rows."""
        codes, index = self.table.codes, self.rows.index
        return {name: codes[name] if index is None else codes[name][index] for name in self.factors}

    def altered(self) -> Alterations:
        """Curves get what lines, levels and products of these leave; products with curves what is left then."""
        found, wide, expansion = Alterations(self.silent), self.wide, self.expansion
        lines = widths(self.table.schema, Expansion(expansion.given, 0, min(expansion.short, 0)), self.knots).pairs
        left = self.rows.n // ROWS_PER_COLUMN - 1 - wide.free
        multiplied = wide.pairs > 0 and left - lines >= len(self.numbers)
        each = max(0, left - lines * multiplied) // max(len(self.numbers), 1)
        if expansion.pieces:
            found.curves.update(self._coarser(expansion.pieces, STRAIGHT + each))
        if wide.pairs and not multiplied:
            found.kept = np.zeros(wide.pairs, dtype=np.bool_)
        elif wide.pairs:
            if expansion.short > 0:
                rest = left - lines - sum(min(each, self._knots(name, expansion.pieces)[1]) for name in self.numbers)
                few = wide.pairs - lines > rest
                found.short.update(self._coarser(expansion.short, STRAIGHT if few else STRAIGHT + each))
                found.within.update(self._within(found.short))
            found.kept = self._frequent() & self._about_many(found)
        return found

    def _knots(self, name: str, pieces: int) -> tuple[tuple[float, ...], int]:
        """Knots of a curve, and how many curved columns it has."""
        shape = spline(self.knots[name], pieces)
        return tuple(shape.knots.tolist()), shape.n_curved

    def _coarser(self, pieces: int, most: int) -> Iterator[tuple[str, Coarse]]:
        for name, u in self.straight.items():
            made = coarse_curves(u, self._knots(name, pieces)[0], self.least, most, self.spaces[name])
            if made is not None:
                yield name, made

    def _within(self, short: Mapping[str, Coarse]) -> Iterator[tuple[tuple[str, str, int], Coarse]]:
        """Short curves in the rows of a level: in the space that the site has for these, or the line alone."""
        for factor, codes in self.codes.items():
            for level in range(1, len(self.table.schema[factor].levels)):
                here = codes == level
                for name, u in self.straight.items() if here.any() else ():
                    fine, _ = self._knots(name, self.expansion.short)
                    coarser = name in short and short[name].turn is not None
                    few = coarser or here.sum() < self.least * (len(fine) + STRAIGHT) or parts_few(u[here], fine, self.least)
                    space = space_of(u[here], () if few else ladder_of(self.knots[name]), self.least)
                    made = coarse_curves(u[here], fine, self.least, STRAIGHT if few else STRAIGHT + len(fine), space)
                    if made is not None:
                        yield (name, factor, level - 1), made

    def _frequent(self) -> Flags:
        """Of products: those with levels that are frequent enough for a line, and those of levels that part no few rows."""
        schema, short = self.table.schema, self.expansion.short
        width = [1 + (self._knots(name, short)[1] if short > 0 else 0) for name in self.numbers]
        levels = {name: [codes == level for level in range(1, len(schema[name].levels))] for name, codes in self.codes.items()}
        parts = [np.ones(a * b, dtype=np.bool_) for a, b in combinations(width, 2)]
        for each in width:
            parts += [np.tile([self._many(name, level) for level in of], each) for name, of in levels.items()]
        for a, b in combinations(levels.values(), 2):
            parts.append(np.array([not rare(_cells(one, other), self.least) for one in a for other in b], dtype=np.bool_))
        found: Flags = np.concatenate(parts)[self.wide.free - self.wide.main :]
        return found

    def _many(self, name: str, level: Flags) -> bool:
        """Has a level rows enough for a line, and does it part no few rows of another variable's levels?

        A product with it is multiplied with indicators of these, given or responses: that is a sum over the rows with both.
        """
        if level.sum() < TWO_CLUMPS * self.least:
            return False
        index = self.rows.index
        for other, codes in self.table.codes.items():
            here = codes if index is None else codes[index]
            if other == name or (here < 0).any():  # a variable with gaps in these rows is no response over them
                continue
            if rare(np.bincount(here[level]), self.least) or rare(np.bincount(here[~level]), self.least):
                return False
        return True

    def _about_many(self, found: Alterations) -> Flags:
        """By effective rows, some rows at a time; a column of zeros is about none, and may stay."""
        wide, rows = self.wide, self.rows
        index = np.arange(rows.n) if rows.index is None else rows.index
        about, sums, squares = np.empty(0), np.zeros(wide.pairs), np.zeros(wide.pairs)
        for start in range(0, rows.n, BLOCK):
            part = index[start : start + BLOCK]
            made = altered_columns(self.table, self.expansion, part, self.knots, self.centres, found)[:, wide.all - wide.pairs :]
            about = about if start else np.median(made, axis=0)
            off = np.abs(made - about)
            sums, squares = sums + off.sum(axis=0), squares + (off * off).sum(axis=0)
        enough: Flags = (squares == 0.0) | (sums**2 >= self.least * squares)
        return enough


def _cells(a: Flags, b: Flags) -> NDArray[np.intp]:
    return np.bincount(2 * a.astype(np.int64) + b, minlength=4)
