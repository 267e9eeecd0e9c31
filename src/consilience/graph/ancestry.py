"""Who is an ancestor of whom in every MAG of a class, and in some: read off the class's PAG.

X is an ancestor of Y in *some* member iff a potentially directed path leads from X to Y. It is one in *every* member iff a directed path
does, or two uncovered potentially directed paths whose nodes next to X are distinct and not adjacent: one of the two must then leave X by a
tail, since X is no collider between these nodes (Roumpelaki, Borboudakis, Triantafillou & Tsamardinos, Marginal causal consistency in
constraint-based causal learning, 2016). With selection bias X may be an ancestor of a selection variable instead, and the second half of
the criterion does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from consilience.graph.marksets import MarkSets, bits
from consilience.graph.paths import potential_children, uncovered_path

__all__ = ["descendants", "possible_descendants", "sure_descendants"]


def descendants(marks: MarkSets) -> list[int]:
    """For each node those that a directed path leads to.

    >>> descendants(MarkSets.from_matrix([[0, 2, 0], [3, 0, 2], [0, 3, 0]]))  # 0 --> 1 --> 2
    [6, 4, 0]
    """
    return _reach([marks.tail[v] & marks.far_arrow[v] for v in range(marks.n)])


def possible_descendants(marks: MarkSets) -> list[int]:
    """For each node those that it is an ancestor of in some member of the class.

    >>> possible_descendants(MarkSets.from_matrix([[0, 2, 0], [1, 0, 1], [0, 2, 0]]))  # 0 o-> 1 <-o 2
    [2, 0, 2]
    """
    found = _reach([potential_children(marks, v) for v in range(marks.n)])
    return [row & ~(1 << v) for v, row in enumerate(found)]


def sure_descendants(marks: MarkSets, among: Sequence[int]) -> list[int]:
    """For each node those that it is an ancestor of in every member of the class, ``among`` those that are asked about.

    >>> square = MarkSets.skeleton([0b0110, 0b1001, 0b1001, 0b0110])  # 0 o-o 1 o-> 3 <-o 2 o-o 0
    >>> square.put(1, 3, 2)
    >>> square.put(2, 3, 2)
    >>> sure_descendants(square, among=[0b1000, 0, 0, 0])  # 0 leads to 3 by 1 or by 2
    [8, 0, 0, 0]
    """
    found = [row & asked for row, asked in zip(descendants(marks), among, strict=True)]
    for x, asked in enumerate(among):
        for y in bits(asked & ~found[x]):
            found[x] |= _two_ways(marks, x, y) << y
    return found


def _two_ways(marks: MarkSets, x: int, y: int) -> bool:
    """True if two ways lead from x to y of which every member of the class has at least one."""
    leading = 0
    for first in bits(potential_children(marks, x)):
        if uncovered_path(marks, x, first, lambda v: potential_children(marks, v), lambda _, v: v == y) is not None:
            if leading & ~marks.adjacent[first]:
                return True
            leading |= 1 << first
    return False


def _reach(steps: Sequence[int]) -> list[int]:
    """For each node the nodes that a way of at least one step leads to."""
    found = list(steps)
    for middle, _ in enumerate(found):
        onward = found[middle]
        if onward:
            for v, row in enumerate(found):
                if row >> middle & 1:
                    found[v] = row | onward
    return found
