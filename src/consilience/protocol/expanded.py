"""A site's columns for smooth means, kept from one round to the next where there is room.

Besides the columns that all sites have, a site with enough rows has *own* ones, whose coefficients never leave it: an intercept always;
the columns without a penalty, so that slopes may differ between sites; and, with more rows, curves on knots of its own, so that shapes may.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.data.altered import Alterations, altered_columns
from consilience.data.basis import Expansion, Widths, columns, curves_of, widths
from consilience.data.coarse import Coarse
from consilience.data.coarsening import alterations
from consilience.data.responses import Coded, altered_features, n_responses, response_columns
from consilience.data.spline import curves_on, own_knots
from consilience.data.table import Rows
from consilience.glm.kernel import Floats
from consilience.glm.swept import Swept, sweep
from consilience.protocol.desk import Desk, Smoothing
from consilience.protocol.place import centres_of
from consilience.protocol.request import VariableSet

__all__ = ["Bench", "Maps", "Piece", "bench_of", "n_own_curves", "own_curves", "own_lines", "own_main"]

Index = NDArray[np.intp]
PIECE = 1 << 15
"""Rows worked on at a time, so that wide matrices never exist as a whole."""
OWN_ROWS = 7.5
"""A site has slopes of its own if it has so many rows for each local parameter; with fewer they would take up too much of what it has."""
CURVE_ROWS, MOST_OWN_CURVES = 20, 10
"""Rows for each local parameter from which on a site has curves of its own, and how many columns a variable's may have."""


def own_main(wide: Widths, rows: int, *, slopes: bool) -> int:
    """How many columns without a penalty have coefficients of the site's own: all, the main ones, or none.

    The product of two lines is among them. A curve of X = ZW + a has the mean Z²W² + 2aZW + ... with an intercept a of the site, and so a
    slope along ZW that differs between sites wherever intercepts do.

    >>> wide = Widths(lines=2, main=2, free=3, curves=18, pairs=8)
    >>> [own_main(wide, rows, slopes=True) for rows in (20, 25, 30)]
    [0, 2, 3]
    """
    return next((own for own in (wide.free, wide.main) if slopes and rows >= OWN_ROWS * (1 + own)), 0)


def own_lines(wide: Widths, rows: int, how: Smoothing) -> list[int]:
    """The columns that a site may have curves of its own along: lines and, for features, the product of two.

    A curve f of X = ZW + a has the mean f(ZW + a), as smoothed by the noise: another curve along ZW at every site, by as much as f bends
    otherwise about one site's intercept a than about another's. The mean of X itself needs none.

    >>> wide = Widths(lines=2, main=2, free=3, curves=82, pairs=48)
    >>> [own_lines(wide, 2500, Smoothing(slopes=True, features=features)) for features in (False, True)]
    [[0, 1], [0, 1, 2]]
    """
    product = how.features and own_main(wide, rows, slopes=how.slopes) > wide.main
    return [*range(wide.lines), *range(wide.main, wide.free if product else wide.main)]


def n_own_curves(wide: Widths, rows: int, how: Smoothing) -> int:
    """How many curved columns a site with so many rows has along each of its lines, besides the common ones.

    The first, a square, comes with as few rows as slopes do: a curve of X = bZ + e has the mean b²Z² + ..., so that where slopes differ
    between sites, bends of such curves do.

    >>> [n_own_curves(Widths(1, 1, 1, 9, 0), rows, Smoothing(slopes=True, features=False)) for rows in (20, 40, 100, 10_000)]
    [0, 1, 3, 10]
    """
    own, lines = own_main(wide, rows, slopes=how.slopes), len(own_lines(wide, rows, how))
    if not wide.lines or not own:
        return 0
    squares = rows >= OWN_ROWS * (1 + own + lines)
    return max(int(squares), min(MOST_OWN_CURVES, int((rows / CURVE_ROWS - 1 - own) // lines)))


def own_curves(straight: Floats, knots: tuple[float, ...], count: int) -> Floats:
    """A site's own curves of one variable: a square, or B-splines on its own quantiles."""
    return straight[:, None] ** 2 if count == 1 else curves_on(knots, straight)


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of a sample: ``index`` is None for all rows of the table. ``number`` counts the pieces."""

    number: int
    index: Index | None


@dataclass(frozen=True, slots=True, eq=False)
class Maps:
    """What residuals need of a sweep: means and maps of the common columns and of each response; ``extra`` own curves stand first."""

    swept: Swept
    extra: int
    responses: dict[str, tuple[Floats, Floats]]


@dataclass(slots=True, eq=False)
class Bench:
    """What a site keeps: columns by expansion and rows, curves and responses by name and rows. What does not fit is made anew.

    ``latest`` are the columns made last, with or without room: lines, own curves and the sweep of one piece ask for them in turn.
    """

    desk: Desk
    room: int
    coded: Coded | None = None
    kept: dict[Any, Floats] = field(default_factory=dict)
    known: dict[Any, Maps] = field(default_factory=dict)
    knots: dict[Any, tuple[float, ...]] = field(default_factory=dict)
    sizes: dict[Expansion, Widths] = field(default_factory=dict)
    altered: dict[Any, Alterations] = field(default_factory=dict)
    features: dict[Any, Coarse | None] = field(default_factory=dict)
    spaces: dict[Any, dict[str, Coarse]] = field(default_factory=dict)
    used: int = 0
    latest: tuple[Any, Floats] | None = None

    def begin(self, coded: Coded) -> Bench:
        """Forget columns in other units or on other knots, and make room if little is left."""
        if coded != self.coded or self.used > self.room // 2:
            self.coded, self.kept, self.known, self.knots, self.sizes = coded, {}, {}, {}, {}
            self.altered, self.features, self.spaces, self.used, self.latest = {}, {}, {}, 0, None
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
        """The common columns of an expansion in some rows, as this site tells them."""
        assert self.coded is not None
        key = (expansion, rows.key, piece.number)
        if key in self.kept:
            return self.kept[key]
        if self.latest is None or self.latest[0] != key:
            knots, centres = self.coded.knots, centres_of(self.desk)
            if self.desk.fewest > 1:
                made = altered_columns(self.desk.table, expansion, piece.index, knots, centres, self._altered(expansion, rows))
                self.latest = key, self.keep(key, made)
                return made
            curves = partial(self._curves, rows, piece)
            made = columns(self.desk.table, expansion, piece.index, knots, centres, curves)
            alone = len(expansion.given) == self.widths(expansion).lines == 1  # then they are its curves, which are kept
            self.latest = key, made if alone else self.keep(key, made)
        return self.latest[1]

    def _curves(self, rows: Rows, piece: Piece, name: str, pieces: int) -> Floats:
        """A variable's line and curves in some rows, which many expansions share."""
        assert self.coded is not None
        key = ("curves", name, pieces, rows.key, piece.number)
        if key in self.kept:
            return self.kept[key]
        knots, centre = self.coded.knots[name], centres_of(self.desk)[name]
        return self.keep(key, curves_of(self.desk.table, name, pieces, piece.index, knots, centre))

    def _altered(self, expansion: Expansion, rows: Rows) -> Alterations:
        """What the site alters, over all rows of the sample, so that no column is about few of them."""
        assert self.coded is not None
        key = (expansion, rows.key)
        if key not in self.altered:
            knots, centres = self.coded.knots, centres_of(self.desk)
            spaces = self.spaces.setdefault(rows.key, {})
            self.altered[key] = alterations(self.desk.table, expansion, rows, knots, centres, self.desk.fewest, spaces)
        return self.altered[key]

    def extras(self, expansion: Expansion, rows: Rows, piece: Piece, how: Smoothing) -> Floats:
        """The site's own curves in some rows."""
        wide = self.widths(expansion)
        count = n_own_curves(wide, rows.n, how)
        common = self.columns(expansion, rows, piece)
        if not count:
            return common[:, :0]
        return np.concatenate([self._own_curves(expansion, rows, piece, j, count) for j in own_lines(wide, rows.n, how)], axis=1)

    def _own_curves(self, expansion: Expansion, rows: Rows, piece: Piece, j: int, count: int) -> Floats:
        """The site's own curves along the ``j``-th column, which is a variable's line or the product of two."""
        line = self._line(expansion, j)
        key = ("own", line, count, rows.key, piece.number)
        if key in self.kept:
            return self.kept[key]
        knots = self._own_knots(expansion, rows, j, count)
        return self.keep(key, own_curves(self.columns(expansion, rows, piece)[:, j], knots, count))

    def _line(self, expansion: Expansion, j: int) -> VariableSet:
        """The variables whose product the ``j``-th column is."""
        numbers = [name for name in expansion.given if name in self.desk.table.numbers]
        return tuple(numbers[j : j + 1]) if j < len(numbers) else tuple(numbers)

    def _own_knots(self, expansion: Expansion, rows: Rows, j: int, count: int) -> tuple[float, ...]:
        """Quantiles of the site's own values of the ``j``-th column, over all rows of the sample."""
        if count == 1:
            return ()
        key = (self._line(expansion, j), rows.key, count)
        if key not in self.knots:
            values = np.concatenate([self.columns(expansion, rows, piece)[:, j] for piece in self.pieces(rows)])
            self.knots[key] = own_knots(values, count)
        return self.knots[key]

    def responses(self, name: str, rows: Rows, piece: Piece, *, features: bool) -> Floats:
        """The columns of a response in some rows."""
        assert self.coded is not None
        key = (name, features, rows.key, piece.number)
        if key in self.kept:
            return self.kept[key]
        centres = centres_of(self.desk)
        altered = self._altered_features(name, rows) if features else None
        return self.keep(key, response_columns(self.desk.table, name, piece.index, self.coded, centres, features=features, altered=altered))

    def _altered_features(self, name: str, rows: Rows) -> Coarse | None:
        """The same of the curves of a response."""
        if self.desk.fewest <= 1 or name not in self.desk.table.numbers:
            return None
        assert self.coded is not None
        key = (name, rows.key)
        if key not in self.features:
            spaces, centres = self.spaces.setdefault(rows.key, {}), centres_of(self.desk)
            self.features[key] = altered_features(self.desk.table, name, rows.index, self.coded, centres, self.desk.fewest, spaces)
        return self.features[key]

    def widths(self, expansion: Expansion) -> Widths:
        """How many columns there are."""
        assert self.coded is not None
        if expansion not in self.sizes:
            self.sizes[expansion] = widths(self.desk.table.schema, expansion, self.coded.knots)
        return self.sizes[expansion]

    def has(self, response: str, sample: VariableSet) -> bool:
        """True if all rows of a sample have a value of the response."""
        table = self.desk.table
        return table.holds({*sample, response}) and table.complete({*sample, response}).n == table.complete(sample).n

    def swept(self, expansion: Expansion, rows: Rows, names: tuple[str, ...], how: Smoothing, *, full: bool = True) -> tuple[Swept, int]:
        """Columns and responses, less what the site's own ones make of them, after so many own curves; maps are kept for residuals."""
        wide = self.widths(expansion)
        own = own_main(wide, rows.n, slopes=how.slopes)
        extra = self.extras(expansion, rows, next(self.pieces(rows)), how).shape[1]
        sizes = [n_responses(self.desk.table.schema, name, features=how.features) for name in names]

        def made() -> Iterator[list[Floats]]:
            for piece in self.pieces(rows):
                parts = [self.extras(expansion, rows, piece, how), self.columns(expansion, rows, piece)]
                yield [*parts, *(self.responses(n, rows, piece, features=how.features) for n in names)]

        found = sweep(made, extra + wide.all + sum(sizes), extra + own, full=full)
        kept = self.known.setdefault((expansion, rows.key, how), Maps(found, extra, {}))
        at = extra + wide.all
        for name, size in zip(names, sizes, strict=True):
            kept.responses[name] = found.means[at : at + size].copy(), found.maps[:, at : at + size].copy()
            at += size
        return found, extra

    def maps(self, expansion: Expansion, rows: Rows, names: tuple[str, ...], how: Smoothing) -> Maps:
        """Means of columns and responses, and what own columns make of them."""
        key = (expansion, rows.key, how)
        if key not in self.known or not set(names) <= self.known[key].responses.keys():
            self.swept(expansion, rows, names, how, full=False)
        return self.known[key]


def bench_of(desk: Desk, coded: Coded) -> Bench:
    """The bench of a desk, for columns made in this way."""
    return desk.keep(Bench, lambda: Bench(desk, desk.cache_bytes)).begin(coded)
