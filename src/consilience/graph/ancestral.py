"""What makes a mixed graph a maximal ancestral graph (Richardson & Spirtes 2002).

A graph with arrowheads and tails is *ancestral* if its marks tell the truth about ancestors:

1. there is no directed cycle;
2. where a <-> b, neither is an ancestor of the other;
3. where a --- b, no edge has an arrowhead at a or at b.

It is *maximal* if every two non-adjacent nodes are separated by some set: there is no inducing path between them.
"""

from __future__ import annotations

from consilience.graph.marksets import MarkSets, bits
from consilience.graph.mixed import MixedGraph
from consilience.graph.separation import Separation

__all__ = [
    "ancestral_fault",
    "directed_cycle",
    "inseparable_pair",
    "is_ancestral",
    "is_mag",
    "is_mag_marks",
    "is_maximal",
]


def directed_cycle(marks: MarkSets, separation: Separation) -> tuple[int, int] | None:
    """An edge a --> b of which b is an ancestor of a, if there is one."""
    for b in range(marks.n):
        for a in bits(marks.parents(b)):
            if separation.ancestors[a] >> b & 1:
                return a, b
    return None


def ancestral_fault(marks: MarkSets, separation: Separation) -> tuple[int, int, str] | None:
    """An edge a–b that no ancestral graph has, and what is wrong with it; None if the graph is ancestral."""
    cycle = directed_cycle(marks, separation)
    if cycle is not None:
        return *cycle, "closes a directed cycle"
    for v in range(marks.n):
        for u in bits(marks.spouses(v) & separation.ancestors[v]):
            return u, v, "joins an ancestor and its descendant"
        if marks.arrow[v]:
            for u in bits(marks.undirected(v)):
                return u, v, "is undirected, yet an arrowhead stands at one of its ends"
    return None


def inseparable_pair(marks: MarkSets, separation: Separation) -> tuple[int, int] | None:
    """Two non-adjacent nodes that no set separates, if there are any."""
    everyone = (1 << marks.n) - 1
    for i in range(marks.n):
        for j in bits(everyone & ~marks.adjacent[i] & -2 << i):
            if separation.inducing(i, j):
                return i, j
    return None


def is_mag_marks(marks: MarkSets) -> bool:
    """True if the marks are those of a maximal ancestral graph."""
    if marks.has_circles():
        return False
    separation = Separation(marks)
    return ancestral_fault(marks, separation) is None and inseparable_pair(marks, separation) is None


def is_ancestral(graph: MixedGraph) -> bool:
    """True if the graph has arrowheads and tails only and they agree with its ancestral relations.

    >>> is_ancestral(MixedGraph.parse("A --> B, B <-> C")), is_ancestral(MixedGraph.parse("A --> B, B --> C, A <-> C"))
    (True, False)
    """
    marks = graph.working()
    return not marks.has_circles() and ancestral_fault(marks, Separation(marks)) is None


def is_maximal(graph: MixedGraph) -> bool:
    """True if some set separates any two non-adjacent nodes. Raises ``CircleMarkError`` on a graph with circles.

    >>> is_maximal(MixedGraph.parse("A <-> B, B <-> C, C <-> D"))
    True
    >>> is_maximal(MixedGraph.parse("A <-> B, B <-> C, C <-> D, B --> D, C --> A"))
    False
    """
    marks = graph.working()
    return inseparable_pair(marks, Separation(marks)) is None


def is_mag(graph: MixedGraph) -> bool:
    """True if the graph is a maximal ancestral graph, of whatever class the object is.

    >>> is_mag(MixedGraph.parse("A --> B, B --- C"))
    False
    """
    return is_mag_marks(graph.working())
