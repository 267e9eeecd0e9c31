"""A site's residuals from given means, and sums of their products over rows or clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import msgspec
import numpy as np

from consilience.data.basis import Expansion
from consilience.data.responses import Coded
from consilience.data.table import Rows
from consilience.glm.kernel import Floats
from consilience.protocol.clusters import clusters_of
from consilience.protocol.desk import Desk, Smoothing
from consilience.protocol.errors import WrongShapeError
from consilience.protocol.expanded import Bench, Maps, Piece, bench_of
from consilience.protocol.products_of import Moments, Residuals, SumOfProducts, fourth_root
from consilience.protocol.request import VariableSet

__all__ = ["BasisAsk", "MeanAsk", "Tested", "moments"]


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
        if len(self.coefficients) != 8 * rank * size or len(self.shrink) != 8 * rank or len(self.units) != size:
            raise WrongShapeError(f"The mean of {self.response} has {rank} coefficients for each of {size} columns.")
        beta, shrink = np.frombuffer(self.coefficients, dtype="<f8"), np.frombuffer(self.shrink, dtype="<f8")
        if not np.isfinite(beta).all() or not np.isfinite(shrink).all() or (shrink < 0).any():
            raise WrongShapeError(f"The coefficients of the mean of {self.response} must be finite.")
        if any(abs(unit) > most_unit for unit in self.units):
            raise WrongShapeError(f"A unit's exponent must lie within ±{most_unit}.")


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """A test to be done here: its number, its two models and what columns of theirs are combined, its sample, what is wanted.

    ``halves`` are roots of inverses where fourth moments are wanted; ``known`` says that variances follow from the means.
    """

    number: int
    x: int
    y: int
    sample: VariableSet
    maps: tuple[Floats, Floats]
    halves: tuple[Floats, ...]
    known: bool


@dataclass(slots=True, eq=False)
class _Turned:
    """Turned columns over a sample at this site, the rows in pieces, and sums by cluster."""

    basis: BasisAsk
    rows: Rows
    pieces: tuple[Piece, ...]
    maps: Maps
    by_cluster: list[tuple[Floats, Floats]] = field(default_factory=list)

    def turn(self, p: int) -> Floats:
        """What makes turned columns of own curves and ``p`` common columns, about their means, and takes out what own ones explain."""
        extra, own = self.maps.extra, self.maps.swept.own
        turn = np.frombuffer(self.basis.turn, dtype="<f8").reshape(p, -1) if p else np.empty((0, 0))
        whole = np.concatenate([np.zeros((extra, turn.shape[1])), turn])
        whole[:own] -= self.maps.swept.maps[:, extra : extra + p] @ turn
        return whole


@dataclass(frozen=True, slots=True, eq=False)
class _Mean:
    """A model at this site."""

    turned: _Turned
    coefficients: Floats
    centre: Floats
    own: Floats
    shrink: Floats
    units: tuple[int, ...]
    response: str

    def key(self, number: int, how: Smoothing) -> tuple[object, ...]:
        """Names its residuals in a piece of the rows."""
        return (self.turned.rows.key, number, self.turned.basis, self.response, self.coefficients.tobytes(), how)


def moments(
    desk: Desk, bases: Sequence[BasisAsk], models: Sequence[MeanAsk], tests: Sequence[Tested], coded: Coded, how: Smoothing
) -> dict[int, Moments]:
    """The sums of tests that share their conditioning variables, by the tests' numbers."""
    bench = bench_of(desk, coded)
    means = _means(bench, bases, models, {i for test in tests for i in (test.x, test.y)}, how)
    tests = [test for test in tests if test.x in means and test.y in means and _same_rows(desk, test, means)]
    sums = {test.number: SumOfProducts(test.maps, test.halves, known=test.known) for test in tests}
    pieces = max((len(mean.turned.pieces) for mean in means.values()), default=0)
    cluster = desk.table.cluster
    keep = cluster is None and any(each.d > 1 and not each.known and not each.halves for each in sums.values())
    again = cluster is None and any(each.halves for each in sums.values())
    for number in range(pieces):
        residuals = _residuals(bench, means, number, how, clustered=cluster is not None, keep=keep, again=again)
        for test in tests:
            if test.x in residuals and test.y in residuals:
                turned = means[test.x].turned
                sums[test.number].add(residuals[test.x], residuals[test.y], clusters_of(desk, turned.rows, turned.pieces[number].index))
    found = {}
    for test in tests:
        leverages = None
        if cluster is not None:
            leverages = _by_cluster(means[test.x]), _by_cluster(means[test.y])
        found[test.number] = sums[test.number].done(leverages)
    return found


def _same_rows(desk: Desk, test: Tested, means: dict[int, _Mean]) -> bool:
    """By the counts that were summed both models have the rows of the test; where they have not, there is nothing to sum."""
    table = desk.table
    rows = {table.complete(test.sample).n}
    for mean in (means[test.x], means[test.y]):
        rows |= {mean.turned.rows.n, table.complete({*test.sample, *mean.turned.basis.sample}).n}
    return len(rows) == 1


def _means(bench: Bench, bases: Sequence[BasisAsk], models: Sequence[MeanAsk], needed: set[int], how: Smoothing) -> dict[int, _Mean]:
    table, found = bench.desk.table, dict[int, _Mean]()
    for j in sorted({models[i].basis for i in needed}):
        basis = bases[j]
        if not table.holds(basis.sample) or not table.complete(basis.sample).n:
            continue
        rows = table.complete(basis.sample)
        mine = [i for i in sorted(needed) if models[i].basis == j and bench.has(models[i].response, basis.sample)]
        maps = bench.maps(basis.expansion, rows, tuple(models[i].response for i in mine), how)
        turned = _Turned(basis, rows, tuple(bench.pieces(rows)), maps)
        for i in mine:
            coefficients = np.frombuffer(models[i].coefficients, dtype="<f8").reshape(-1, len(models[i].units))
            shrink = np.frombuffer(models[i].shrink, dtype="<f8")
            centre, slopes = maps.responses[models[i].response]
            found[i] = _Mean(turned, coefficients, centre, slopes, shrink, models[i].units, models[i].response)
    return found


def _residuals(
    bench: Bench, means: dict[int, _Mean], number: int, how: Smoothing, *, clustered: bool, keep: bool, again: bool
) -> dict[int, Residuals]:
    """Residuals of every mean in one piece of the rows."""
    found: dict[int, Residuals] = {}
    for turned, group in groupby(means.items(), key=lambda item: item[1].turned):
        if number >= len(turned.pieces):
            continue
        new: dict[int, _Mean] = {}
        for i, mean in group:
            kept = bench.kept.get(mean.key(number, how)) if again else None  # fourth moments follow products, of the same residuals
            if kept is None:
                new[i] = mean
            else:
                found[i] = Residuals(kept[:, 1:], kept[:, 0], kept[:, :0], mean.units)
        if new:
            found |= dict(zip(new, _left(bench, turned, tuple(new.values()), number, how, clustered=clustered), strict=True))
        for i, mean in new.items() if keep else ():
            bench.keep(mean.key(number, how), np.column_stack([found[i].roots, found[i].values]))
    return found


def _left(bench: Bench, turned: _Turned, means: Sequence[_Mean], number: int, how: Smoothing, *, clustered: bool) -> Iterator[Residuals]:
    """What means on the same turned columns leave of their responses."""
    piece, swept = turned.pieces[number], turned.maps.swept
    own, columns = _turn(bench, turned, piece, how)
    if clustered:
        turned.by_cluster.append(_cluster_sums(bench, own, columns, turned.rows, piece))
    fitted = own @ np.concatenate([mean.own for mean in means], axis=1)
    fitted += columns @ np.concatenate([mean.coefficients for mean in means], axis=1)
    fitted += np.concatenate([mean.centre for mean in means])
    np.multiply(columns, columns, out=columns)
    leverage = columns @ np.stack([mean.shrink for mean in means], axis=1)
    roots, at = fourth_root(leverage + swept.leverage(own)[:, None]), 0
    for i, mean in enumerate(means):
        own_fitted, at = fitted[:, at : at + len(mean.units)], at + len(mean.units)
        response = bench.responses(mean.response, turned.rows, piece, features=how.features)
        yield Residuals(np.ldexp(response - own_fitted, -np.array(mean.units)), roots[:, i], own_fitted, mean.units)


def _turn(bench: Bench, turned: _Turned, piece: Piece, how: Smoothing) -> tuple[Floats, Floats]:
    """Own columns about their means, and turned columns without what own ones make of them."""
    expansion, rows, swept = turned.basis.expansion, turned.rows, turned.maps.swept
    columns = bench.columns(expansion, rows, piece)
    whole = np.concatenate([bench.extras(expansion, rows, piece, how), columns], axis=1)
    whole -= swept.means[: whole.shape[1]]
    return whole[:, : swept.own], whole @ turned.turn(columns.shape[1])


def _cluster_sums(bench: Bench, own: Floats, turned: Floats, rows: Rows, piece: Piece) -> tuple[Floats, Floats]:
    cluster, codes = bench.desk.table.cluster, clusters_of(bench.desk, rows, piece.index)
    assert cluster is not None
    assert codes is not None
    size = int(cluster.max(initial=-1)) + 1
    sums = np.zeros((size, 1 + own.shape[1])), np.zeros((size, turned.shape[1]))
    np.add.at(sums[0], codes, np.column_stack([np.ones(len(own)), own]))
    np.add.at(sums[1], codes, turned)
    return sums


def _by_cluster(mean: _Mean) -> Floats:
    """The leverage of each cluster's mean: 1ᵀH1/n over the cluster's rows. Zero for clusters without rows."""
    own = np.sum([part[0] for part in mean.turned.by_cluster], axis=0)
    turned = np.sum([part[1] for part in mean.turned.by_cluster], axis=0)
    swept, n = mean.turned.maps.swept, own[:, 0]
    total = n**2 / max(swept.n, 1) + ((own[:, 1:] @ swept.inverse) * own[:, 1:]).sum(axis=1) + turned**2 @ mean.shrink
    found: Floats = np.divide(total, n, out=np.zeros_like(total), where=n > 0)
    return found
