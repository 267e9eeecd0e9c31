"""Whether sums over many rows are about enough of them, found block by block: see :mod:`consilience.glm.crowd` for what is enough.

All that a rule asks of weights are sums over rows, of theirs and of their squares, so that blocks of rows may be added. Some of what is
found of a few rows cannot be undone by others: once enough rows are in the middle of a step, or a sum of weights is large beside the
largest that one can be. That is *settled* then, and later blocks are not asked for it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

import numpy as np

from consilience.glm.crowd import EVERY, FAINT, ROUNDING, Crowd, Weights
from consilience.glm.kernel import Floats, Kernel, RowTerms

__all__ = ["Tally"]


class _Some(Crowd):
    """Sets of a block's rows, and what is settled of the weights of its kernel, by label. Steps are settled with all their weights."""

    def __init__(self, sets: Callable[[], Floats], fewest: float, settled: set[Hashable]) -> None:
        super().__init__(sets, fewest)
        self.settled = settled

    def is_even(self, weights: Floats, most: float = 0.25, label: Hashable = None) -> bool:
        del weights, most  # how many rows of a set are light, one block cannot tell
        return label in self.settled

    def is_plenty(self, *sums: float, label: Hashable = None) -> bool:
        return self._settles(label, label in self.settled or super().is_plenty(*sums))

    def have_middle(self, probability: Floats) -> bool:
        del probability  # each level is settled by itself
        return False

    def all_have_middle(self, smallest: int, *weights: Floats) -> bool:
        del smallest, weights
        return False

    def has_middle(self, *weights: Floats, label: Hashable = None) -> bool:
        return self._settles(label, label in self.settled or super().has_middle(*weights))

    def _settles(self, label: Hashable, found: bool) -> bool:  # noqa: FBT001
        if found:
            self.settled.add(label)
        return found


@dataclass(slots=True, eq=False)
class _Sums:
    """Of weights with one label: sums, sums of squares and of rows that have a say, by thing that is told and by set."""

    sums: Floats
    squares: Floats
    sizes: Floats
    rows: Floats
    told: Weights

    @staticmethod
    def of(told: Weights, sets: Floats) -> _Sums:
        """Those of one block."""
        sets = sets[told.rows]
        sets = sets if told.by_level else sets[:, :1]
        rows = sets.sum(axis=0)
        sizes = np.tile(rows, (len(told.values), 1)) if told.having is None else np.dot(told.having, sets)
        bare = told._replace(values=np.empty((0, 0)), having=None, rows=EVERY)  # without its rows, which are let go
        return _Sums(np.dot(told.values, sets), np.dot(told.values * told.values, sets), sizes, rows, bare)

    def add(self, other: _Sums) -> None:
        """Rows of another block."""
        self.sums = self.sums + other.sums
        self.squares = self.squares + other.squares
        self.sizes, self.rows = self.sizes + other.sizes, self.rows + other.rows

    def is_plenty(self, fewest: float) -> bool:
        """True if no rows that are added can change it: Σv² ≤ max v · Σv."""
        return not self.told.faint and self.told.most is not None and bool(self.sums.min() >= fewest * self.told.most)

    def is_enough(self, fewest: float) -> bool:
        """As :meth:`Crowd.is_enough`."""
        if self.told.faint:
            return not bool(((self.sizes[:, 0] > 0) & (self.sums[:, 0] < FAINT)).any())
        if self.is_plenty(fewest):
            return True
        needed = np.minimum(fewest, self.told.share * np.where(self.sizes > 0, self.sizes, self.rows)) * (1.0 - ROUNDING)
        few = bool((self.sums * self.sums < needed * self.squares).any())
        return not few and (self.told.by_level or not bool((self.sums == 0.0).any()))


@dataclass(slots=True, eq=False)
class Tally:
    """What the rule asks of one model at one point, over the blocks of rows that were added.

    >>> from consilience.glm.logit import Logit
    >>> x = np.linspace(-2.0, 2.0, 100)[:, None]
    >>> found = []
    >>> for slope in (0.5, 500.0):
    ...     tally = Tally(5)
    ...     for rows in (slice(0, 50), slice(50, 100)):
    ...         kernel = Logit(x[rows], (np.arange(100)[rows] % 2).astype(np.int32), None)
    ...         terms = kernel.rows(kernel.linear(np.array([slope])), np.array([slope]), np.zeros(1))
    ...         tally.add(tally.of_block(kernel, terms, lambda: np.ones((50, 1))))
    ...     found.append(tally.is_enough())
    >>> found
    [True, False]
    """

    fewest: float
    settled: set[Hashable] = field(default_factory=set)
    known: dict[Hashable, _Sums] = field(default_factory=dict)

    def of_block(self, kernel: Kernel, terms: RowTerms, sets: Callable[[], Floats]) -> dict[Hashable, _Sums]:
        """What one block has to say that is not settled; ``sets`` gives those of its rows, a column for each, the first with all."""
        order = kernel.order
        crowd = _Some(sets if order is None else lambda: sets()[order], self.fewest, self.settled)
        return {told.label: _Sums.of(told, crowd.sets) for told in kernel.weights(terms, crowd)}

    def add(self, block: dict[Hashable, _Sums], settled: Iterable[Hashable] = ()) -> None:
        """Rows of another block, and what was settled by then, where its sums were made in another process."""
        self.settled.update(settled)
        for label, sums in block.items():
            if label in self.known:
                self.known[label].add(sums)
            else:
                self.known[label] = sums
            if self.known[label].is_plenty(self.fewest):
                self.settled.add(label)

    def is_enough(self) -> bool:
        """True if every sum is about enough rows."""
        return all(self._is_settled(label) or sums.is_enough(self.fewest) for label, sums in self.known.items())

    def _is_settled(self, label: Hashable) -> bool:
        """By itself, or with the step that it is of, whose label ends its own."""
        return label in self.settled or (isinstance(label, tuple) and label[-1] in self.settled)
