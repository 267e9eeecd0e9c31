"""How many rows a weighted sum over rows is about, and whether they are enough to be told.

Score and information of a model are sums over all rows of a site, but rows do not count alike: a row whose probability is near 0 or 1 adds
next to nothing to the information. Where slopes are steep the model is a step, and the sums are about the few rows beside it. The
*effective number of rows* of weights v is (Σv)²/Σv² (Kish 1965): n where all are equal, k where k of them are and the others are zero.

Of a probability p of every row (with w = p(1 - p), and r what was observed less p) a sum is told only if it is about enough rows by each of
these weights (:func:`step_weights`):

=========  ============================================================================================================
w          the information, Σ w x xᵀ
|r|        the score, Σ r x
p, 1 - p   the score as well: Σ y x is known, so that Σ p x is
p w        where p is 1 or 0, Σ p x is the sum over the rows beyond a step. Scores on both sides of few rows would be these rows:
(1 - p) w  each side of a step must have enough rows next to it
=========  ============================================================================================================

Where x has an indicator of a level among its columns, the information has also Σ w x over the rows with the level. So there are *sets* of
rows: all of them, and those with each level of a predictor. A sum over a set must be about ``fewest`` effective rows, or, where the set is
small, about a third of its rows: rules on levels allow sets of ``fewest`` rows, and rows that count exactly alike are not to be had.
Where all sites share one intercept, there are also the rows with each two levels of two predictors: their entry has nothing else in it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.data.design import ModelSpec
from consilience.data.features import Levels, parted
from consilience.data.table import Rows, Table

__all__ = ["Crowd", "Crowds", "Weights", "sets_of_block", "step_weights"]

Floats = NDArray[np.float64]
EVERY = slice(None)
SHARE = 1 / 3
"""Of the rows of a small set, how many must count. In random studies with levels of five to fifteen rows fits that have a maximum stay
above it nearly always; a step is about one or two rows, whatever the set."""
SIDE = 1 / 4
"""The same for one side of a step, which has fewer of them."""
ROUNDING = 1e-3
"""By how much a sum may be about fewer rows: a search over intercepts ends a little before the shares of levels are met exactly."""
FAINT = 1e-8
"""Where all rows on one side of a step have less of w together, the step is as good as complete. A fit of a number with few values, one of
which predicts a level perfectly, ends above it."""
MIDDLE = ((0.2, 5), (0.05, 65))
"""Where p is between the first and one less it in so many times ``fewest`` rows, all weights above are enough: no sum of
:func:`step_weights` needs to be made."""


EVEN = (0.0125, 0.0625)
"""Rows with less of a weight are light; one with so much of it counts as a twentieth of one in the middle, or as a quarter: of small sets
most rows must not be light, of large ones many may."""


class Weights(NamedTuple):
    """With which weights rows count in something that is told: a row of ``values`` for each such thing, none above ``most``.

    Where nothing is known to be above all of them, ``most`` is None.

    ``by_level``: sums over the rows with each level of a predictor are told, too. Those that are not may not be zero: where rounding leaves
    nothing of w, the score is the sum over the rows beyond a step. ``rows`` are those of the kernel's rows that they are about;
    ``having`` says which of them have a say at all (None: all), and ``share`` how many of these are enough where they are few. Where it is
    ``faint`` that is asked for, and not whether there are enough: those that have a say must not have next to nothing together.
    ``label`` tells the weights of one kernel apart.
    """

    values: Floats
    most: float | None = 1.0
    by_level: bool = False
    rows: slice | NDArray[np.intp] = EVERY
    having: Floats | None = None
    share: float = SHARE
    faint: bool = False
    label: Hashable = None

    def scaled(self) -> Weights:
        """The same with one as the largest of each."""
        largest = np.maximum(self.values.max(axis=1, keepdims=True, initial=0.0), np.finfo(float).tiny)
        return self._replace(values=self.values / largest, most=1.0)


class Crowd:
    """Sets of a site's rows, a column of zeros and ones for each, the first with all of them; and how many rows a sum must be about.

    >>> crowd = Crowd(np.ones((100, 1)), 5)
    >>> steep, even = np.exp(-10.0 * np.arange(100.0)), np.full(100, 0.2)
    >>> crowd.is_enough([Weights(steep[None])]), crowd.is_enough([Weights(even[None])])
    (False, True)
    """

    def __init__(self, sets: Floats | Callable[[], Floats], fewest: float, smallest: float | None = None) -> None:
        self._made, self.fewest, self._known_smallest = sets, fewest, smallest

    @cached_property
    def sets(self) -> Floats:
        """The sets, made when they are first needed: most models never do."""
        return self._made() if callable(self._made) else self._made

    @cached_property
    def _smallest(self) -> float:
        """Rows of the smallest set."""
        return float(self.sets.sum(axis=0).min(initial=len(self.sets))) if self._known_smallest is None else self._known_smallest

    def ordered(self, order: NDArray[np.intp]) -> Crowd:
        """The same for a kernel that has its rows in another order."""
        return Crowd(lambda: self.sets[order], self.fewest, self._smallest)

    def is_enough(self, told: Iterable[Weights]) -> bool:
        """True if every sum with these weights is about enough rows. What is zero in all rows of a set tells nothing."""
        for each in told:
            values, most, by_level, rows, having, share, faint, _ = each if each.most is not None else each.scaled()
            assert most is not None
            if faint:
                if having is not None and (having.any(axis=1) & (values.sum(axis=1) < FAINT)).any():
                    return False
                continue
            # Σv² ≤ max v · Σv: mostly that settles it, and no row is squared
            if not by_level and values.sum(axis=1).min() >= self.fewest * most:
                continue
            sets = self.sets if rows is EVERY else self.sets[rows]
            sets = sets if by_level else sets[:, :1]
            sums = np.dot(values, sets)
            if sums.min() >= self.fewest * most:
                continue
            sizes = sets.sum(axis=0) if having is None else np.dot(having, sets)
            needed = np.minimum(self.fewest, share * np.where(sizes > 0, sizes, sets.sum(axis=0))) * (1.0 - ROUNDING)
            if (sums * sums < needed * (np.dot(values * values, sets))).any() or (not by_level and (sums == 0.0).any()):
                return False
        return True

    def is_even(self, weights: Floats, most: float = 0.25, label: Hashable = None) -> bool:
        """True if so many rows have a say in sums with these weights (as in :class:`Weights`) that no sum over a set needs to be made.

        However the rows that are light in one of them lie, enough of each set are not.

        >>> Crowd(np.ones((400, 1)), 5).is_even(np.full((2, 400), 0.2)), Crowd(np.ones((15, 1)), 5).is_even(np.full((2, 15), 0.2))
        (True, False)
        """
        del label  # for who looks at rows block by block
        for even in EVEN:
            light = weights.size - int(np.count_nonzero(weights >= even))
            if self._smallest - light >= self.fewest * most / even:
                return True
        return False

    def is_plenty(self, *sums: float, label: Hashable = None) -> bool:
        """True if weights of at most one, with these sums over some rows, are about enough of them whatever the others are."""
        del label
        return sum(sums) >= self.fewest

    def have_middle(self, probability: Floats) -> bool:
        """:meth:`has_middle` for each level, by what all of them lack together: if False, some may have it all the same.

        A row for each level. Where one is nearly certain, another is as improbable: it is enough to count what is below.
        """
        least, many = MIDDLE[-1]
        below = probability.size - int(np.count_nonzero(probability >= least))
        return bool(probability.shape[1] - below >= many * self.fewest)

    def all_have_middle(self, smallest: int, *weights: Floats) -> bool:
        """The same for steps of at least ``smallest`` rows each, by w of all of their rows."""
        least, many = MIDDLE[-1]
        light = sum(w.size - int(np.count_nonzero(w >= least * (1.0 - least))) for w in weights)
        return smallest - light >= many * self.fewest

    def has_middle(self, *weights: Floats, label: Hashable = None) -> bool:
        """True if so many rows are in the middle of a step that nothing else needs to be looked at: w of all rows, in one piece or more."""
        del label
        for least, many in MIDDLE:
            wanted, weight, found = many * self.fewest, least * (1.0 - least), 0
            for w in weights:
                found += int(np.count_nonzero(w >= weight))
                if found >= wanted:
                    return True
        return False


def step_weights(
    p: Floats, w: Floats, residual: Floats | None = None, rows: slice | NDArray[np.intp] = EVERY, label: Hashable = None
) -> Iterator[Weights]:
    """All weights of steps, with a row of each argument for each step; none above one.

    Without a ``residual`` only those of the information and of both sides: where the score is that of several steps together.
    """
    q = 1.0 - p
    yield Weights(w, 0.25, rows=rows, label=("step", label))
    for side, beyond in enumerate((p > 0.5, q > 0.5)):
        # beyond the step by so much that rounding leaves nothing: which rows are next to it, w does not say any more
        yield Weights(w * beyond, rows=rows, having=beyond.astype(np.float64), faint=True, label=("beyond", side, label))
    if residual is not None:
        yield Weights(np.concatenate([np.abs(residual), p, q]), rows=rows, label=("score", label))
    yield Weights(np.concatenate([p * w, q * w]), 4 / 27, rows=rows, share=SIDE, label=("sides", label))


class Crowds:
    """The crowds of a site's models, each made once: samples and predictors that differ elsewhere may be the same sets of rows here.

    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> schema = Schema({"A": "continuous", "B": "binary", "C": "binary"})
    >>> table = Table(pl.DataFrame({"A": [0.1, 0.2, 0.3], "B": [0, 1, 1], "C": [0, 1, 0]}), schema, "muenster")
    >>> Crowds(table, 5).of(ModelSpec("C", ("A", "B"), ("A", "B", "C"))).sets.sum(axis=0)
    array([3., 1., 2.])
    """

    def __init__(self, table: Table, fewest: float) -> None:
        self.table, self.fewest = table, fewest
        self._known: dict[tuple[object, ...], Crowd] = {}
        self._levels: dict[tuple[object, ...], Levels] = {}
        self._own: dict[tuple[object, str], NDArray[np.intp]] = {}
        self._pairs: dict[tuple[object, str, str], NDArray[np.bool_]] = {}

    def of(self, model: ModelSpec, *, crossed: bool = False) -> Crowd | None:
        """The sets of rows of a model: all of them, and those with each level of each discrete predictor.

        ``crossed``: and those with each two levels of two of them. Where all sites share one intercept, the entry of the two in the
        information is Σ w over these rows and nothing else.

        None where no rule is asked for, and where all predictors are discrete: rows of the same cell are then all alike, and what is told
        is a function of how many rows each cell has.
        """
        codes = self.table.codes
        if all(name in codes for name in model.predictors):
            return None
        return self.of_numbers(model, crossed=crossed)

    def of_numbers(self, model: ModelSpec, *, crossed: bool = False) -> Crowd | None:
        """The same for a response that is a number, whose rows differ also within a cell; None only where no rule is asked for."""
        codes = self.table.codes
        if self.fewest <= 1:
            return None
        discrete = tuple(name for name in model.predictors if name in codes)
        rows = self.table.complete(model.sample)
        key = (rows.key, discrete, crossed)
        if key not in self._known:
            own = [codes[name] if rows.index is None else codes[name][rows.index] for name in discrete]
            if crossed:  # two levels of two variables as one level of a third
                own += [one * len(levels) + other for (one, _), (other, levels) in combinations(self._with_levels(own, discrete), 2)]
            counts = [np.bincount(each) for each in own]
            smallest = min((int(each[each > 0].min(initial=rows.n)) for each in counts), default=rows.n)
            self._known[key] = Crowd(lambda: _sets(rows.n, own, counts), self.fewest, smallest)
        return self._known[key]

    def _with_levels(self, own: Sequence[NDArray[np.int32]], names: Sequence[str]) -> Iterator[tuple[NDArray[np.int32], Sequence[str]]]:
        return zip(own, (self.table.schema[name].levels for name in names), strict=True)

    def levels(self, model: ModelSpec, names: Sequence[tuple[str, int]]) -> Levels | None:
        """The levels among the columns ``names`` of a design; None where no rule is asked for.

        Of rows and not of distinct ones: where these are counted there are no numbers, and which rows have a level is not asked for. Of a
        table that has only distinct rows at hand there are counts, and no codes.
        """
        if self.fewest <= 1:
            return None
        codes, (table, often) = self.table.codes, self.table.distinct()
        rows = table.complete(model.sample)
        key = (rows.key, tuple(name if name[0] in codes else None for name in names))
        if key not in self._levels:
            places = {j: name for j, name in enumerate(names) if name[0] in codes}
            rare: dict[int, set[int]] = {j: set() for j in places}
            for (i, (one, a)), (j, (other, b)) in combinations(places.items(), 2):
                if self._parted(rows, one, other)[a, b]:
                    rare[i].add(j)
                    rare[j].add(i)
            own = {name: self._codes(rows, name) for name in dict.fromkeys(name for name, _ in places.values())}
            rows_with = {name: self.table.level_counts(name, model.sample) for name in own}
            counts = {j: float(rows_with[name][level]) for j, (name, level) in places.items()}
            of = [(found, [(j, level) for j, (name, level) in places.items() if name == each]) for each, found in own.items()]
            self._levels[key] = Levels(self.table.complete(model.sample).n, counts, rare, of if often is None else [])
        return self._levels[key]

    def _codes(self, rows: Rows, name: str) -> NDArray[np.intp]:
        if (rows.key, name) not in self._own:
            own = self.table.distinct()[0].codes[name]
            self._own[rows.key, name] = (own if rows.index is None else own[rows.index]).astype(np.intp)
        return self._own[rows.key, name]

    def _times(self, rows: Rows) -> Floats | None:
        """How often each of some distinct rows occurs; None where they are all rows."""
        often = self.table.distinct()[1]
        if often is None:
            return None
        return (often if rows.index is None else often[rows.index]).astype(np.float64)

    def _parted(self, rows: Rows, one: str, other: str) -> NDArray[np.bool_]:
        key = (rows.key, one, other)
        if key not in self._pairs:
            sizes = len(self.table.schema[one].levels), len(self.table.schema[other].levels)
            self._pairs[key] = parted(self._codes(rows, one), self._codes(rows, other), sizes, self._times(rows), self.fewest)
        return self._pairs[key]


def sets_of_block(model: ModelSpec, levels: Sequence[tuple[str, int]], block: Table, *, crossed: bool = False) -> Floats:
    """The sets of a model's rows in a block: all of them, and those with each of the ``levels`` that occur in some block."""
    rows = block.complete(model.sample)
    own = {name: block.codes[name] if rows.index is None else block.codes[name][rows.index] for name, _ in levels}
    found = [(name, (own[name] == level).astype(np.float64)) for name, level in levels]
    pairs = [a * b for (one, a), (other, b) in combinations(found, 2) if one != other] if crossed else []
    return np.stack([np.ones(rows.n), *(each for _, each in found), *pairs], axis=1)


def _sets(n: int, codes: Sequence[NDArray[np.int32]], counts: Sequence[NDArray[np.intp]]) -> Floats:
    """All of ``n`` rows, and those with each level that occurs, in columns."""
    levels = [(own == level).astype(np.float64) for own, count in zip(codes, counts, strict=True) for level in np.flatnonzero(count)]
    return np.stack([np.ones(n), *levels], axis=1)
