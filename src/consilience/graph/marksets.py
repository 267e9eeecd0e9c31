"""A mutable copy of a graph's marks for algorithms: sets of nodes as the bits of one integer.

Nodes are numbers. For node v and each mark, ``arrow[v]`` is the set of nodes whose edge with v has an arrowhead *at v*, and
``far_arrow[v]`` those whose edge has it *at the other end*; likewise ``circle`` and ``tail``. A premise such as "β has an arrowhead
from α and a circle from a γ not adjacent to α" is then two ``&`` instead of a loop over nodes, and works for any number of nodes. In such
expressions ``1 << v`` is the set of v alone, and ``-2 << v`` that of all nodes after v, for loops that meet each pair once.

Every mark is kept twice, by either of its ends: rules ask from both sides all the time and set a mark seldom. Matrices would do
for the store, but on graphs of five to thirty nodes a call of numpy takes longer than what it computes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from consilience.graph.marks import ARROW, CIRCLE, NONE, TAIL, Mark, MarkMatrix, check_marks

__all__ = ["MarkSets", "bits", "mask_of"]

_FEW: Final = tuple(tuple(v for v in range(8) if mask >> v & 1) for mask in range(1 << 8))
"""The members of every set of the first eight nodes."""


def bits(mask: int) -> tuple[int, ...]:
    """The members of a set of nodes, in order.

    >>> bits(0b1011)
    (0, 1, 3)
    """
    # Looked up and not counted out: discovery asks this millions of times, mostly of few nodes, and of the same sets again and again.
    return _FEW[mask] if mask < len(_FEW) else _many(mask)


@lru_cache(maxsize=1 << 14)
def _many(mask: int) -> tuple[int, ...]:
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return tuple(found)


def mask_of(nodes: Iterable[int]) -> int:
    """The set of some nodes.

    >>> bin(mask_of([0, 1, 3]))
    '0b1011'
    """
    mask = 0
    for node in nodes:
        mask |= 1 << node
    return mask


class MarkSets:
    """Mutable marks over nodes 0 … n-1. Make one with :meth:`from_matrix`, :meth:`complete` or :meth:`copy`.

    ``contradicted`` becomes True when a rule wants an arrowhead where a tail stands, or the reverse: no equivalence class has
    these marks. The mark that was there first stays.

    >>> marks = MarkSets.complete(3)
    >>> marks.remove_edge(0, 2)
    >>> marks.resolve(0, 1, Mark.ARROW), marks.resolve(0, 1, Mark.ARROW)
    (True, False)
    >>> marks.to_matrix()
    array([[0, 2, 0],
           [1, 0, 1],
           [0, 1, 0]], dtype=int8)
    """

    __slots__ = ("_far", "_near", "adjacent", "arrow", "circle", "contradicted", "far_arrow", "far_circle", "far_tail", "n", "tail")

    def __init__(self, near: tuple[list[int], ...], far: tuple[list[int], ...], adjacent: list[int]) -> None:
        self._near = near
        self._far = far
        self.n = len(adjacent)
        self.adjacent = adjacent
        self.circle, self.arrow, self.tail = near
        self.far_circle, self.far_arrow, self.far_tail = far
        self.contradicted = False

    @classmethod
    def empty(cls, n: int) -> MarkSets:
        """No edge at all."""
        return cls(([0] * n, [0] * n, [0] * n), ([0] * n, [0] * n, [0] * n), [0] * n)

    @classmethod
    def complete(cls, n: int) -> MarkSets:
        """An edge o-o between any two nodes."""
        return cls.skeleton([((1 << n) - 1) ^ (1 << v) for v in range(n)])

    @classmethod
    def skeleton(cls, adjacent: Iterable[int]) -> MarkSets:
        """An edge o-o wherever the symmetric relation ``adjacent`` has one."""
        rows = list(adjacent)
        n = len(rows)
        return cls((rows.copy(), [0] * n, [0] * n), (rows.copy(), [0] * n, [0] * n), rows)

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> MarkSets:
        """The marks of a checked matrix: ``matrix[i][j]`` is the mark at j."""
        return cls._from_rows(check_marks(matrix).tolist())

    @classmethod
    def _from_rows(cls, rows: list[list[int]]) -> MarkSets:
        marks = cls.empty(len(rows))
        near, far, adjacent = marks._near, marks._far, marks.adjacent
        for i, row in enumerate(rows):
            bit = 1 << i
            for j, mark in enumerate(row):
                if mark:
                    near[mark - 1][j] |= bit
                    far[mark - 1][i] |= 1 << j
                    adjacent[j] |= bit
        return marks

    def copy(self) -> MarkSets:
        """A copy that changes on its own."""
        circle, arrow, tail = self._near
        far_circle, far_arrow, far_tail = self._far
        other = MarkSets(
            (circle.copy(), arrow.copy(), tail.copy()), (far_circle.copy(), far_arrow.copy(), far_tail.copy()), self.adjacent.copy()
        )
        other.contradicted = self.contradicted
        return other

    def to_matrix(self) -> MarkMatrix:
        """The marks as a matrix: entry (i, j) is the mark at j on the edge i–j."""
        rows = [[NONE] * self.n for _ in range(self.n)]  # lists: to set one number of an array takes longer than all the rest
        for mark, sets in zip((CIRCLE, ARROW, TAIL), self._near, strict=True):
            for j, mask in enumerate(sets):
                for i in bits(mask):
                    rows[i][j] = mark
        return np.array(rows, dtype=np.int8).reshape(self.n, self.n)

    def same_marks(self, other: MarkSets) -> bool:
        """True if both have the same marks at the same ends."""
        return self._near == other._near

    def mark(self, i: int, j: int) -> Mark:
        """The mark at j on the edge i–j."""
        for mark, sets in zip((CIRCLE, ARROW, TAIL), self._near, strict=True):
            if sets[j] >> i & 1:
                return Mark(mark)
        return Mark(NONE)

    def resolve(self, i: int, j: int, mark: int) -> bool:
        """Turn the circle at j on the edge i–j into ``mark``; True if there was one. Another mark stays and may be a contradiction."""
        bit_i, bit_j = 1 << i, 1 << j
        # A flag, and no exception: a contradiction is an everyday end of a candidate, and whoever follows it asks when a rule is through.
        if not self.circle[j] & bit_i:
            self.contradicted |= not self._near[mark - 1][j] & bit_i
            return False
        self.circle[j] ^= bit_i
        self.far_circle[i] ^= bit_j
        self._near[mark - 1][j] |= bit_i
        self._far[mark - 1][i] |= bit_j
        return True

    def put(self, i: int, j: int, mark: int) -> None:
        """Set the mark at j on the existing edge i–j, whatever it was."""
        self._clear(i, j)
        self._near[mark - 1][j] |= 1 << i
        self._far[mark - 1][i] |= 1 << j

    def add_edge(self, i: int, j: int, at_i: int, at_j: int) -> None:
        """Put an edge i–j with these marks at its ends."""
        self.adjacent[i] |= 1 << j
        self.adjacent[j] |= 1 << i
        self.put(j, i, at_i)
        self.put(i, j, at_j)

    def remove_edge(self, i: int, j: int) -> None:
        """Take the edge i–j out, if there is one."""
        self._clear(i, j)
        self._clear(j, i)
        self.adjacent[i] &= ~(1 << j)
        self.adjacent[j] &= ~(1 << i)

    def _clear(self, i: int, j: int) -> None:
        not_i, not_j = ~(1 << i), ~(1 << j)
        for near in self._near:
            near[j] &= not_i
        for far in self._far:
            far[i] &= not_j

    def parents(self, v: int) -> int:
        """The nodes u with u --> v."""
        return self.arrow[v] & self.far_tail[v]

    def children(self, v: int) -> int:
        """The nodes u with v --> u."""
        return self.tail[v] & self.far_arrow[v]

    def spouses(self, v: int) -> int:
        """The nodes u with v <-> u."""
        return self.arrow[v] & self.far_arrow[v]

    def undirected(self, v: int) -> int:
        """The nodes u with v --- u."""
        return self.tail[v] & self.far_tail[v]

    def has_circles(self) -> bool:
        """True if some end of some edge has a circle."""
        return any(self.circle)

    def has_undirected(self) -> bool:
        """True if there is an edge v --- u."""
        return any(map(self.undirected, range(self.n)))

    def is_collider(self, a: int, b: int, c: int) -> bool:
        """True if b has arrowheads from both a and c."""
        return bool(self.arrow[b] >> a & self.arrow[b] >> c & 1)
