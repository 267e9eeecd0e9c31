"""A site's residuals from given means, and sums of their products over rows or clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from consilience.data.basis import Expansion
from consilience.data.responses import Coded
from consilience.data.table import Rows
from consilience.glm.kernel import Floats
from consilience.protocol.desk import Desk
from consilience.protocol.errors import WrongShapeError
from consilience.protocol.expanded import Bench, Maps, Piece, bench_of
from consilience.protocol.request import VariableSet

__all__ = ["BasisAsk", "MeanAsk", "Moments", "Tested", "moments"]

MOST_LEVERAGE = 0.99
"""A row that a fit follows further than this counts as if it did so: what is left of it is rounding, and would be divided by it."""


class BasisAsk(msgspec.Struct, frozen=True):
    """Columns over a sample, and the change of columns (doubles, a row per column) that coefficients refer to."""

    sample: VariableSet
    expansion: Expansion
    turn: bytes


class MeanAsk(msgspec.Struct, frozen=True):
    """A mean: its columns by position, its response, coefficients and shrinkage on turned columns (doubles), units of residuals.

    ``units`` are exponents of two near the residuals' spreads: products of four of them then fit the ring whatever the variables' units.
    """

    basis: int
    response: str
    coefficients: bytes
    shrink: bytes
    units: tuple[int, ...]

    def check(self, rank: int, size: int, most_unit: int) -> None:
        """Raise unless the parts fit columns of this rank and a response of this size."""
        beta, shrink = np.frombuffer(self.coefficients, dtype="<f8"), np.frombuffer(self.shrink, dtype="<f8")
        fits = len(beta) == rank * size and len(shrink) == rank and len(self.units) == size
        if not fits or not np.isfinite(beta).all() or not np.isfinite(shrink).all() or (shrink < 0).any():
            raise WrongShapeError(f"The mean of {self.response} has {rank} coefficients for each of {size} columns, all finite.")
        if any(abs(unit) > most_unit for unit in self.units):
            raise WrongShapeError(f"A unit's exponent must lie within ±{most_unit}.")


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """A test to be done here: its number, its two models, its sample, and V^-1/2 where fourth moments are wanted."""

    number: int
    x: int
    y: int
    sample: VariableSet
    half: Floats | None


@dataclass(slots=True, eq=False)
class Moments:
    """Sums of one test at one site."""

    units: int
    sums: Floats
    squares: Floats
    fourth: float


@dataclass(frozen=True, slots=True, eq=False)
class _Mean:
    """A model at this site: which rows, how columns are turned after the site's own part is taken out."""

    basis: BasisAsk
    rows: Rows
    maps: Maps
    turned: Floats
    coefficients: Floats
    centre: Floats
    own: Floats
    shrink: Floats
    units: tuple[int, ...]
    response: str


def moments(
    desk: Desk,
    bases: Sequence[BasisAsk],
    models: Sequence[MeanAsk],
    tests: Sequence[Tested],
    coded: Coded,
    *,
    slopes: bool,
    features: bool,
) -> dict[int, Moments]:
    """The sums of tests that share their conditioning variables, by the tests' numbers.

    S sums r = r_x ⊗ r_y as they are. V sums w r rᵀ with w = ((1 - h_x)(1 - h_y))^-½, h the leverages: residuals are too small by what the
    fit has followed (MacKinnon and White's HC2).
    """
    table, bench = desk.table, bench_of(desk, coded)
    needed = {i for test in tests for i in (test.x, test.y)}
    means: dict[int, _Mean] = {}
    for j in sorted({models[i].basis for i in needed}):
        basis = bases[j]
        if not table.holds(basis.sample):
            continue
        rows = table.complete(basis.sample)
        mine = [i for i in sorted(needed) if models[i].basis == j and bench.has(models[i].response, basis.sample)]
        if not rows.n or not mine:
            continue
        names = tuple(models[i].response for i in mine)
        maps = bench.maps(basis.expansion, rows, names, features=features, slopes=slopes)
        means |= _means(basis, rows, maps, {i: models[i] for i in mine})
    tests = [test for test in tests if test.x in means and test.y in means]
    sums = {test.number: _Sums(desk, test, means[test.x], means[test.y]) for test in tests}
    pieces = max((len(list(bench.pieces(mean.rows))) for mean in means.values()), default=0)
    for number in range(pieces):
        residuals = _residuals(bench, means, number, features=features)
        for test in tests:
            if test.x in residuals and test.y in residuals:
                piece = next(each for each in bench.pieces(means[test.x].rows) if each.number == number)
                sums[test.number].add(residuals[test.x], residuals[test.y], piece)
    return {number: each.done() for number, each in sums.items()}


def _means(basis: BasisAsk, rows: Rows, maps: Maps, models: dict[int, MeanAsk]) -> dict[int, _Mean]:
    p = len(maps.means)
    turn = np.frombuffer(basis.turn, dtype="<f8").reshape(p, -1) if p else np.empty((0, 0))
    turned = turn.copy()
    turned[: maps.swept.own] -= maps.columns @ turn
    found: dict[int, _Mean] = {}
    for i, model in models.items():
        coefficients = np.frombuffer(model.coefficients, dtype="<f8").reshape(-1, len(model.units))
        shrink = np.frombuffer(model.shrink, dtype="<f8")
        found[i] = _Mean(basis, rows, maps, turned, coefficients, *maps.responses[model.response], shrink, model.units, model.response)
    return found


def _residuals(bench: Bench, means: dict[int, _Mean], number: int, *, features: bool) -> dict[int, tuple[Floats, Floats]]:
    """Residuals and leverages of every mean in one piece of the rows."""
    found: dict[int, tuple[Floats, Floats]] = {}
    shared: dict[int, tuple[Floats, Floats, Floats, Floats]] = {}
    for i, mean in means.items():
        piece = next((each for each in bench.pieces(mean.rows) if each.number == number), None)
        if piece is None:
            continue
        key = id(mean.turned)
        if key not in shared:
            shared[key] = _turned(bench, mean, piece)
        lines, turned, squared, local = shared[key]
        response = bench.responses(mean.response, mean.rows, piece, features=features)
        residual = response - mean.centre - lines @ mean.own - turned @ mean.coefficients
        found[i] = np.ldexp(residual, -np.array(mean.units)), np.minimum(local + squared @ mean.shrink, MOST_LEVERAGE)
    return found


def _turned(bench: Bench, mean: _Mean, piece: Piece) -> tuple[Floats, Floats, Floats, Floats]:
    columns, maps = bench.columns(mean.basis.expansion, mean.rows, piece), mean.maps
    lines = columns[:, : maps.swept.own] - maps.means[: maps.swept.own]
    turned = columns @ mean.turned
    turned -= maps.means @ mean.turned
    return lines, turned, turned**2, maps.swept.leverage(lines)


class _Sums:
    """The sums of one test as its rows come in."""

    def __init__(self, desk: Desk, test: Tested, x: _Mean, y: _Mean) -> None:
        self.test = test
        self.d = len(x.units) * len(y.units)
        self.found = Moments(0, np.zeros(self.d), np.zeros((self.d, self.d)), 0.0)
        table = desk.table
        together = {table.complete({*test.sample, *mean.basis.sample}).n for mean in (x, y)}
        # by the counts that were summed both models have the rows of the test; where they have not, there is nothing to sum
        self.same = {*together, x.rows.n, y.rows.n} == {table.complete(test.sample).n}
        self.rows, self.cluster = x.rows, table.cluster
        self.by_cluster = None if table.cluster is None else np.zeros((int(table.cluster.max(initial=-1)) + 1, self.d))

    def add(self, x: tuple[Floats, Floats], y: tuple[Floats, Floats], piece: Piece) -> None:
        """Take some rows."""
        if not self.same:
            return
        products = (x[0][:, :, None] * y[0][:, None, :]).reshape(len(x[0]), -1)
        weighted = products * (((1.0 - x[1]) * (1.0 - y[1])) ** -0.25)[:, None]
        self.found.sums += products.sum(axis=0)
        if self.by_cluster is None or self.cluster is None:
            self._square(weighted)
            return
        codes = self.cluster if piece.index is None else self.cluster[piece.index]
        for j in range(self.d):
            self.by_cluster[:, j] += np.bincount(codes, weights=weighted[:, j], minlength=len(self.by_cluster))

    def _square(self, weighted: Floats) -> None:
        found, half = self.found, self.test.half
        found.units += len(weighted)
        if half is not None:
            found.fourth += float((((weighted @ half) ** 2).sum(axis=1) ** 2).sum())
            return
        found.squares += weighted.T @ weighted
        if self.d == 1:
            found.fourth += float((weighted**4).sum())

    def done(self) -> Moments:
        """The sums: over clusters, where there are some, each counting as one."""
        if self.by_cluster is not None and self.cluster is not None and self.same:
            present = self.cluster if self.rows.index is None else self.cluster[self.rows.index]
            self._square(self.by_cluster[np.unique(present)])
        return self.found
