"""How many rows of a variable lie between given values: knots of curves are taken from the sums of such counts."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from consilience.data.kinds import Kind
from consilience.data.schema import Schema
from consilience.glm.kernel import Floats
from consilience.protocol.desk import Desk
from consilience.protocol.errors import OutsideSchemaError
from consilience.protocol.guard import Guard
from consilience.protocol.place import centres_of
from consilience.protocol.request import MANY, Request, VariableSet
from consilience.settings.choices import Method
from consilience.wording import counted

__all__ = ["COARSE_CELLS", "Cells", "Grid", "fold_cells"]

COARSE_CELLS = 16
"""Cells of the first look at a variable."""


class Cells(msgspec.Struct, frozen=True):
    """Cells of one variable: ``edges`` are the bounds between them (doubles, ascending); the first and the last cell are open.

    ``centred``: every site subtracts its own centre first.
    """

    variable: str
    edges: bytes
    centred: bool = False

    @staticmethod
    def of(variable: str, edges: Floats, *, centred: bool) -> Cells:
        """Cells between the given bounds."""
        return Cells(variable, np.ascontiguousarray(edges, dtype="<f8").tobytes(), centred)

    @property
    def bounds(self) -> Floats:
        """The bounds as an array."""
        return np.frombuffer(self.edges, dtype="<f8")

    @property
    def n(self) -> int:
        """How many cells."""
        return len(self.edges) // 8 + 1


class Counted(NamedTuple):
    """Counts per cell, in the order they were asked for, and counts per level."""

    cells: list[Floats]
    levels: dict[str, Floats]


def fold_cells(counts: NDArray[np.integer], least: int) -> NDArray[np.integer]:
    """Counts of neighbouring cells of which none is from 1 to ``least`` - 1: rows of such a cell count in the next one towards the middle.

    >>> fold_cells(np.array([2, 0, 9, 9, 3, 1]), 5)
    array([ 0,  0, 11, 13,  0,  0])
    """
    folded, n = counts.copy(), int(counts.sum())
    middle = int(np.searchsorted(np.cumsum(counts), 0.5 * n)) if n else 0
    for cells, step in ((range(middle), 1), (range(len(counts) - 1, middle, -1), -1)):
        for i in cells:
            if 0 < folded[i] < least:
                folded[i + step] += folded[i]
                folded[i] = 0
    if 0 < folded[middle] < least:  # the others are none, or many enough
        others = np.where(np.arange(len(folded)) == middle, 0, folded)
        into = int(others.argmax())
        if others[into]:
            folded[into], folded[middle] = folded[into] + folded[middle], 0
    return folded


class Grid(Request, frozen=True, tag="grid"):
    """Counts per cell, one variable after the other; then counts of the levels of ordinal variables, from which their scores are made.

    ``fine`` is False for the first look at a variable, a few cells that widen outwards, and True for the second, whose cells hold at least
    ``min_rows`` rows on average. A site counts once for each, and no other way for the whole study: counts between values of a server's
    choice, as often as it likes, would single out rows.
    """

    cells: Annotated[tuple[Cells, ...], MANY]
    fine: bool
    levels: Annotated[tuple[str, ...], MANY] = ()

    def length(self, schema: Schema) -> int:
        """A number a cell, then a number a level."""
        return sum(cells.n for cells in self.cells) + sum(len(schema[name].levels) for name in self.levels)

    def samples(self) -> tuple[VariableSet, ...]:
        """Each variable alone."""
        return tuple(dict.fromkeys((name,) for name in (*(cells.variable for cells in self.cells), *self.levels)))

    def check(self, guard: Guard) -> None:
        """Ascending bounds of continuous variables, few enough for the rows, and those of the first time."""
        guard.knows_numbers({cells.variable for cells in self.cells})
        guard.knows(self.levels)
        for name in self.levels:
            if guard.table.schema[name].kind is not Kind.ORDINAL:
                raise OutsideSchemaError(f"Levels are counted of ordinal variables; {name!r} is {guard.table.schema[name].kind.value}.")
        guard.is_method(Method.RESIDUAL)
        for variables in self.samples():
            guard.allows_sum(variables)
        for cells in self.cells:
            guard.not_too_fine(cells.variable, cells.edges, None if self.fine else COARSE_CELLS)
        for cells in self.cells:
            guard.keeps_cells(cells.variable, cells.edges, centred=cells.centred, fine=self.fine)

    def answer(self, desk: Desk, site: int) -> Floats:
        """The site's own counts, none of them of a few rows; zeros where it does not hold the variable."""
        parts: list[Floats] = [np.empty(0)]
        centres = centres_of(desk)
        for cells in self.cells:
            values = desk.table.numbers.get(cells.variable, np.empty(0))
            values = values[~np.isnan(values)]
            if cells.centred and len(values):
                values = values - centres[cells.variable]
            counts = np.bincount(np.searchsorted(cells.bounds, values, side="right"), minlength=cells.n)
            parts.append(fold_cells(counts, desk.fewest).astype(np.float64))
        for name in self.levels:
            codes = desk.table.codes.get(name, np.empty(0, dtype=np.int32))
            parts.append(np.bincount(codes[codes >= 0], minlength=len(desk.table.schema[name].levels)).astype(np.float64))
        return np.concatenate(parts)

    def read(self, total: Floats, schema: Schema) -> Counted:
        """The counts again, whole numbers.

        >>> Grid((Cells.of("A", np.array([0.0]), centred=False),), True).read(np.array([3.0, 4.0]), Schema({"A": "continuous"})).cells
        [array([3., 4.])]
        """
        found, at, whole = Counted([], {}), 0, np.rint(total)
        for cells in self.cells:
            found.cells.append(whole[at : at + cells.n])
            at += cells.n
        for name in self.levels:
            size = len(schema[name].levels)
            found.levels[name] = whole[at : at + size]
            at += size
        return found

    def words(self) -> str:
        """What is asked for, in words.

        >>> Grid((Cells.of("A", np.array([0.0]), centred=False),), True).words()
        'how many rows lie between 1 value of 1 continuous variable: A'
        """
        names = list(dict.fromkeys(cells.variable for cells in self.cells))
        bounds = sum(cells.n - 1 for cells in self.cells)
        words = f"how many rows lie between {counted(bounds, 'value')} of {counted(len(names), 'continuous variable')}: {', '.join(names)}"
        levels = f"counts of the levels of {counted(len(self.levels), 'ordinal variable')}: {', '.join(self.levels)}"
        return "; ".join(part for part, there in ((words, names), (levels, self.levels)) if there) or "nothing"
