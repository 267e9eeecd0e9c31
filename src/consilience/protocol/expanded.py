"""A site's columns for smooth means, kept from one round to the next where there is room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.data.basis import Expansion, Widths, columns, widths
from consilience.data.responses import Coded, n_responses, response_columns
from consilience.data.table import Rows
from consilience.glm.kernel import Floats
from consilience.glm.swept import Swept, sweep
from consilience.protocol.desk import Desk
from consilience.protocol.place import centres_of
from consilience.protocol.request import VariableSet

__all__ = ["Bench", "Maps", "Piece", "bench_of"]

Index = NDArray[np.intp]
PIECE = 1 << 15
"""Rows worked on at a time, so that wide matrices never exist as a whole."""
OWN_ROWS = 7.5
"""A site has slopes of its own if it has so many rows for each local parameter; with fewer they would take up too much of what it has."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of a sample: ``index`` is None for all rows of the table. ``number`` counts the pieces."""

    number: int
    index: Index | None


@dataclass(frozen=True, slots=True, eq=False)
class Maps:
    """What residuals need of a sweep: means and maps of the columns, and of each response."""

    swept: Swept
    means: Floats
    columns: Floats
    responses: dict[str, tuple[Floats, Floats]]


@dataclass(slots=True, eq=False)
class Bench:
    """What a site keeps: columns by expansion and rows, responses by name and rows. What does not fit is made anew."""

    desk: Desk
    room: int
    coded: Coded | None = None
    kept: dict[Any, Floats] = field(default_factory=dict)
    known: dict[Any, Maps] = field(default_factory=dict)
    used: int = 0

    def begin(self, coded: Coded) -> Bench:
        """Forget columns in other units or on other knots, and make room if little is left."""
        if coded != self.coded or self.used > self.room // 2:
            self.coded, self.kept, self.known, self.used = coded, {}, {}, 0
        return self

    def keep(self, key: Any, made: Floats) -> Floats:
        """Keep an array if there is room."""
        if self.used + made.nbytes <= self.room:
            self.kept[key] = made
            self.used += made.nbytes
        return made

    def pieces(self, rows: Rows) -> Iterator[Piece]:
        """The rows of a sample, some at a time."""
        if rows.index is None and rows.n <= PIECE:
            yield Piece(0, None)
            return
        index = np.arange(rows.n) if rows.index is None else rows.index
        for number, start in enumerate(range(0, rows.n, PIECE)):
            yield Piece(number, index[start : start + PIECE])

    def columns(self, expansion: Expansion, rows: Rows, piece: Piece) -> Floats:
        """The columns of an expansion in some rows."""
        assert self.coded is not None
        key = (expansion, rows.key, piece.number)
        if key in self.kept:
            return self.kept[key]
        return self.keep(key, columns(self.desk.table, expansion, piece.index, self.coded.knots, centres_of(self.desk)))

    def responses(self, name: str, rows: Rows, piece: Piece, *, features: bool) -> Floats:
        """The columns of a response in some rows."""
        assert self.coded is not None
        key = (name, features, rows.key, piece.number)
        if key in self.kept:
            return self.kept[key]
        centres = centres_of(self.desk)
        return self.keep(key, response_columns(self.desk.table, name, piece.index, self.coded, centres, features=features))

    def widths(self, expansion: Expansion) -> Widths:
        """How many columns there are."""
        assert self.coded is not None
        return widths(self.desk.table.schema, expansion, self.coded.knots)

    def has(self, response: str, sample: VariableSet) -> bool:
        """True if all rows of a sample have a value of the response."""
        table = self.desk.table
        return table.holds((response,)) and table.complete({*sample, response}).n == table.complete(sample).n

    def swept(self, expansion: Expansion, rows: Rows, names: tuple[str, ...], *, features: bool, slopes: bool) -> Swept:
        """Columns and responses, less what the site's own intercept and slopes make of them; their maps are kept for residuals."""
        found = self._sweep(expansion, rows, names, features=features, slopes=slopes, full=True)
        self._remember(found, expansion, rows, names, features=features, slopes=slopes)
        return found

    def maps(self, expansion: Expansion, rows: Rows, names: tuple[str, ...], *, features: bool, slopes: bool) -> Maps:
        """Means of columns and responses, and what own columns make of them."""
        key = (expansion, rows.key, features, slopes)
        if key not in self.known or not set(names) <= self.known[key].responses.keys():
            found = self._sweep(expansion, rows, names, features=features, slopes=slopes, full=False)
            self._remember(found, expansion, rows, names, features=features, slopes=slopes)
        return self.known[key]

    def _sweep(self, expansion: Expansion, rows: Rows, names: tuple[str, ...], *, features: bool, slopes: bool, full: bool) -> Swept:
        wide = self.widths(expansion)
        own = wide.lines if slopes and rows.n >= OWN_ROWS * (1 + wide.lines) else 0
        width = wide.all + sum(n_responses(self.desk.table.schema, name, features=features) for name in names)

        def made() -> Iterator[Floats]:
            for piece in self.pieces(rows):
                parts = [self.columns(expansion, rows, piece), *(self.responses(n, rows, piece, features=features) for n in names)]
                yield np.concatenate(parts, axis=1)

        return sweep(made, width, own, full=full)

    def _remember(self, found: Swept, expansion: Expansion, rows: Rows, names: tuple[str, ...], *, features: bool, slopes: bool) -> None:
        p, key = self.widths(expansion).all, (expansion, rows.key, features, slopes)
        kept = self.known.get(key)
        if kept is None:
            kept = self.known[key] = Maps(found, found.means[:p], found.maps[:, :p], {})
        at = p
        for name in names:
            here = slice(at, at + n_responses(self.desk.table.schema, name, features=features))
            kept.responses[name] = found.means[here].copy(), found.maps[:, here].copy()
            at = here.stop


def bench_of(desk: Desk, coded: Coded) -> Bench:
    """The bench of a desk, for columns made in this way."""
    return desk.keep(Bench, lambda: Bench(desk, desk.cache_bytes)).begin(coded)
