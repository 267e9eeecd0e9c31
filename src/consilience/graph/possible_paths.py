"""Possibly directed paths between two nodes: where an effect may flow, and which of its edges hide no common cause.

* A path from x to y is *possibly directed* if each of its edges is potentially directed towards y: some member of the class may have it
  as x --> … --> y. Without such a path x is an ancestor of y in no member, and its effect on y is zero.
* A directed edge a --> b is *visible* if no unmeasured variable can be a common cause of a and b: there is a node c not adjacent to b with
  an edge into a, or with a collider path into a every inner node of which is a parent of b (Zhang, Causal reasoning with ancestral
  graphs, JMLR 9, 2008). In a DAG there are no unmeasured variables, and every edge is visible.

Paths are never enumerated: where a walk leads from x to y without returning to x, a path does, along some of its edges.
"""

from __future__ import annotations

from consilience.graph.marksets import MarkSets, bits
from consilience.graph.paths import Path, potential_children, simple_path

__all__ = ["first_steps", "is_visible", "on_the_way", "possible_path", "reached"]


def reached(marks: MarkSets, start: int, avoid: int = 0) -> int:
    """The nodes that possibly directed paths outside ``avoid`` lead to from a set of nodes, these among them.

    >>> chain = MarkSets.from_matrix([[0, 2, 0], [3, 0, 2], [0, 3, 0]])  # 0 --> 1 --> 2
    >>> bits(reached(chain, 0b010)), bits(reached(chain, 0b001, avoid=0b010))
    ((1, 2), (0,))
    """
    found = new = start & ~avoid
    while new:
        onward = 0
        for v in bits(new):
            onward |= potential_children(marks, v)
        new = onward & ~found & ~avoid
        found |= new
    return found


def _reaching(marks: MarkSets, goal: int, avoid: int) -> int:
    """The nodes from which possibly directed paths outside ``avoid`` lead to a node, itself among them."""
    found = new = 1 << goal
    while new:
        before = 0
        for v in bits(new):
            before |= marks.adjacent[v] & ~marks.tail[v] & ~marks.far_arrow[v]
        new = before & ~found & ~avoid
        found |= new
    return found


def first_steps(marks: MarkSets, x: int, y: int) -> int:
    """The nodes that come next to x on possibly directed paths from x to y; none if its effect on y is zero.

    >>> chain = MarkSets.from_matrix([[0, 2, 0], [3, 0, 2], [0, 3, 0]])  # 0 --> 1 --> 2
    >>> bits(first_steps(chain, 0, 2)), bits(first_steps(chain, 2, 0))
    ((1,), ())
    """
    return potential_children(marks, x) & _reaching(marks, y, avoid=1 << x)


def on_the_way(marks: MarkSets, x: int, y: int) -> int:
    """The nodes on possibly directed walks from x to y that do not return to x, without x.

    Those on *paths* are among them, and all others are possible descendants of these: a walk that is no path is one with loops.
    """
    return reached(marks, first_steps(marks, x, y), avoid=1 << x) & _reaching(marks, y, avoid=1 << x)


def possible_path(marks: MarkSets, x: int, first: int, y: int) -> Path:
    """A shortest possibly directed path from x to y that begins with the edge x–``first``, one of :func:`first_steps`."""

    def step(_: int, current: int) -> int:
        return potential_children(marks, current) & ~(1 << x)

    path = simple_path(x, first, step, lambda _, v: v == y)
    assert path is not None
    return path


def is_visible(marks: MarkSets, a: int, b: int) -> bool:
    """True if the edge between a and b is a --> b, and no unmeasured variable can be a common cause of the two.

    >>> is_visible(MarkSets.from_matrix([[0, 2, 0], [1, 0, 2], [0, 3, 0]]), 1, 2)  # 0 o-> 1 --> 2
    True
    >>> is_visible(MarkSets.from_matrix([[0, 2, 2], [1, 0, 2], [3, 3, 0]]), 1, 2)  # and 0 --> 2
    False
    """
    if not marks.children(a) >> b & 1:
        return False
    beyond = ~(marks.adjacent[b] | 1 << b)
    inner = new = 1 << a
    while new:
        onward = 0
        for v in bits(new):
            if marks.arrow[v] & beyond:
                return True
            onward |= marks.spouses(v)
        new = onward & marks.parents(b) & ~inner
        inner |= new
    return False
