"""Kernels over more rows than are looked at at once: sums over blocks, made in passes that many models share.

Log-likelihood, score and information are sums over rows. A :class:`Blocked` kernel has no rows: what depends on all of them (level counts,
means of columns) was found before, and a pass over the blocks of a table gives terms of every model that is asked for. All is made in that
one pass, since a block is not seen again: a search over intercepts makes as many passes as its longest has steps, whatever it is about.

The decoding of a file is little beside what hundreds of models make of its rows, as long as they share it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from consilience.data.blocks import over_blocks
from consilience.data.design import Design
from consilience.data.table import Table
from consilience.glm.crowd import Crowd, Weights
from consilience.glm.kernel import Evaluation, Floats, Kernel, RowTerms
from consilience.glm.site_effects import Ask, Steps
from consilience.glm.tally import Tally

__all__ = ["Blocked", "answer_together"]

T = TypeVar("T")
Shared = dict[Hashable, Kernel]
"""Kernels of a block's rows, one for each response and rows."""


class Blocked(Kernel):
    """A kernel over the blocks of a table.

    ``head`` is the same model over rows that have the response's totals and no predictors: what it found of them holds for all rows.
    ``design`` makes a block's part of the design, of the columns ``names``. Kernels with the same ``response`` and the same rows share what
    depends on these alone. ``sets`` makes the sets of a block's rows that sums with levels
    are over, where a sum must be about ``fewest`` rows; None: no such rule.
    """

    def __init__(
        self,
        table: Table,
        names: Sequence[str],
        head: Kernel,
        design: Callable[[Table], Design],
        response: Hashable,
        sets: Callable[[Table], Floats] | None = None,
        fewest: float = 1.0,
    ) -> None:
        self.table, self.names, self.head, self.design = table, names, head, design
        self.response, self.sets, self.fewest = response, sets, fewest
        self.n_shared, self.n_intercepts, self.reaches = head.n_shared, head.n_intercepts, head.reaches

    def __getstate__(self) -> dict[str, Any]:
        # what another process is told of it: blocks it is given, and the table stays here
        return {name: value for name, value in self.__dict__.items() if name != "table"}

    @property
    def places(self) -> NDArray[np.intp]:
        return self.head.places

    def of_block(self, block: Table, made: Shared) -> Kernel | None:
        """The kernel of a block's rows; None if it has none. ``made`` are those of other models."""
        design = self.design(block)
        if not len(design.response):
            return None
        key = type(self.head), self.response, block.complete(self.names).key, design.weights is None
        kernel = self.head.over(design.columns, design.response, design.weights, made.get(key) if design.weights is None else None)
        made.setdefault(key, kernel)
        return kernel

    def over(self, X: Floats, y: NDArray[np.int32] | Floats, w: Floats | None, like: Kernel | None = None) -> Kernel:
        return self.head.over(X, y, w, like)

    def start(self, shared: Floats, reach: Floats | None = None) -> Floats:
        return self.head.start(shared, self.reach(shared) if reach is None and self.reaches else reach)

    def joined(self, one: Floats, other: Floats) -> Floats:
        return self.head.joined(one, other)

    def closed(self, reach: Floats) -> Floats | None:
        return self.head.closed(reach)

    def repair(self, reach: Floats, intercepts: Floats) -> Floats:
        return self.head.repair(reach, intercepts)

    def softer(self) -> list[Kernel]:
        path: list[Kernel] = []
        for head in self.head.softer():
            soft = copy(self)
            soft.head = head
            path.append(soft)
        return path

    def linear(self, shared: Floats) -> Floats:
        return shared  # rows are not at hand: a pass makes what it needs

    def reach(self, eta: Floats) -> Floats:
        found: Floats = _look(self.table, [Ask(self, eta)])[0]
        return found

    def rows(self, eta: Floats, shared: Floats, intercepts: Floats) -> RowTerms:
        del eta
        found: RowTerms = _look(self.table, [Ask(self, shared, intercepts)])[0]
        return found

    def intercept_terms(self, terms: RowTerms) -> tuple[Floats, Floats]:
        whole, own = self.full(terms), slice(self.n_shared, None)
        return whole.score[own], whole.info[own, own]

    def full(self, terms: RowTerms) -> Evaluation:
        evaluation: Evaluation = terms.arrays[0]
        return evaluation

    def is_steep(self, terms: RowTerms) -> bool:
        return not terms.arrays[1]

    def weights(self, terms: RowTerms, crowd: Crowd) -> Iterator[Weights]:
        raise TypeError("A kernel over blocks has looked at its weights by the time that its terms are known.")


def answer_together(table: Table, runs: Sequence[Steps[T]]) -> list[T]:
    """The ends of many computations (:func:`consilience.glm.site_effects.steps`), which look at the rows of a table in the same passes."""
    found: dict[int, T] = {}
    asked: dict[int, Ask] = {}

    def send(i: int, what: object) -> None:
        try:
            asked[i] = runs[i].send(what)
            while not isinstance(asked[i].kernel, Blocked):  # rows that were counted: no pass is needed
                asked[i] = runs[i].send(_at_once(asked[i]))
        except StopIteration as end:
            asked.pop(i, None)
            found[i] = end.value

    for i in range(len(runs)):
        send(i, None)
    while asked:
        for i, terms in zip(list(asked), _look(table, list(asked.values())), strict=True):
            send(i, terms)
    return [found[i] for i in range(len(runs))]


def _at_once(ask: Ask) -> object:
    eta = ask.kernel.linear(ask.shared)
    return ask.kernel.reach(eta) if ask.intercepts is None else ask.kernel.rows(eta, ask.shared, ask.intercepts)


class _Part(NamedTuple):
    """What one block says of one model: its terms, and the sums that are made of them while they are there."""

    terms: RowTerms
    whole: Evaluation
    told: dict[Hashable, Any]
    settled: frozenset[Hashable] = frozenset()


def _bare(terms: RowTerms) -> RowTerms:
    """Terms without what they hold of every row: parts wait for the others, of hundreds of models at a time."""
    return RowTerms(terms.loglik, (), terms.barrier, terms.slack, terms.feasible, terms.squares)


class _Terms:
    """The terms of a model at a point, as blocks are added."""

    def __init__(self, kernel: Blocked, shared: Floats, intercepts: Floats, *, whole: bool = True) -> None:
        self.kernel, self.shared, self.intercepts, self.all = kernel, shared, intercepts, whole
        size = kernel.n_shared + kernel.n_intercepts
        self.terms = RowTerms(0.0)
        self.whole = Evaluation(np.zeros(size), np.zeros((size, size)))
        self.tally = Tally(kernel.fewest)

    def of_block(self, block: Table, others: Shared) -> _Part | None:
        """A block's part; None if it has no rows of the model."""
        made = self.kernel.of_block(block, others)
        if made is None:
            return None
        terms = made.rows(made.linear(self.shared), self.shared, self.intercepts)
        if not terms.feasible:
            return _Part(_bare(terms), self.whole, {})
        if not self.all:
            return _Part(_bare(terms), self._of_intercepts(made, terms), {})
        sets = self.kernel.sets
        if sets is None:
            return _Part(_bare(terms), made.full(terms), {})
        told = self.tally.of_block(made, terms, partial(sets, block))
        return _Part(_bare(terms), made.full(terms), told, frozenset(self.tally.settled))

    def _of_intercepts(self, made: Kernel, terms: RowTerms) -> Evaluation:
        """Score and information of the intercepts alone, in their places."""
        part = Evaluation(np.zeros_like(self.whole.score), np.zeros_like(self.whole.info))
        own = slice(self.kernel.n_shared, None)
        part.score[own], part.info[own, own] = made.intercept_terms(terms)
        return part

    def add(self, part: _Part | None) -> None:
        """The next block."""
        if part is None:
            return
        one, other = self.terms, part.terms
        self.terms = RowTerms(
            one.loglik + other.loglik,
            barrier=one.barrier + other.barrier,
            slack=one.slack + other.slack,
            feasible=one.feasible and other.feasible,
            squares=one.squares + other.squares,
        )
        pull = part.whole.pull if self.whole.pull is None or part.whole.pull is None else self.whole.pull + part.whole.pull
        self.whole = Evaluation(self.whole.score + part.whole.score, self.whole.info + part.whole.info, pull)
        self.tally.add(part.told, part.settled)

    def found(self) -> RowTerms:
        """The terms over all rows, with all that is made of them."""
        return replace(self.terms, arrays=(self.whole, self.tally.is_enough()))


class _Reach:
    """How far intercepts may go, as blocks are added."""

    def __init__(self, kernel: Blocked, shared: Floats) -> None:
        self.kernel, self.shared = kernel, shared
        self.reach: Floats | None = None

    def of_block(self, block: Table, others: Shared) -> Floats | None:
        """A block's part; None if it has no rows of the model."""
        made = self.kernel.of_block(block, others)
        return None if made is None else made.reach(made.linear(self.shared))

    def add(self, part: Floats | None) -> None:
        """The next block."""
        if part is not None:
            self.reach = part if self.reach is None else self.kernel.joined(self.reach, part)

    def found(self) -> Floats:
        """That of all rows, of which there are some: a site without any has no kernel."""
        assert self.reach is not None
        return self.reach


def _look(table: Table, asks: Sequence[Ask]) -> list[Any]:
    """What is asked for, in one pass over the rows."""
    sums: list[Any] = []
    for kernel, shared, intercepts, whole in asks:
        assert isinstance(kernel, Blocked)
        sums.append(_Reach(kernel, shared) if intercepts is None else _Terms(kernel, shared, intercepts, whole=whole))
    names = {name for one in sums for name in one.kernel.names}

    for parts in over_blocks(table, names, partial(_of_block, sums), portable=True):
        for one, part in zip(sums, parts, strict=True):
            one.add(part)
    return [one.found() for one in sums]


def _of_block(sums: Sequence[Any], block: Table) -> list[Any]:
    shared: Shared = {}
    return [one.of_block(block, shared) for one in sums]
