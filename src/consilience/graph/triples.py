"""Triples with order: what a Markov equivalence class says beyond its adjacencies.

Order 0 are the unshielded triples. ⟨a, b, c⟩ has order k + 1 if it has no lower order and there is a path ⟨x, q₁, …, qₚ = a, b, c⟩
discriminating for b whose inner colliders ⟨x, q₁, q₂⟩, …, ⟨qₚ₋₁, a, b⟩ all have order k at most. Two MAGs are Markov equivalent iff they
have the same adjacencies and the same colliders with order; they then have the same non-colliders with order, too.

References: R. A. Ali, T. S. Richardson, P. Spirtes, Markov equivalence for ancestral graphs, Annals of Statistics 37, 2009. T. Claassen,
I. G. Bucur, Greedy equivalence search in the presence of latent confounders, UAI 2022.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from consilience.graph.marksets import MarkSets, bits
from consilience.graph.mixed import MixedGraph
from consilience.graph.paths import simple_path

__all__ = ["OrderedTriple", "triples_with_order", "triples_with_order_marks"]


class OrderedTriple(NamedTuple):
    """A triple ⟨left, middle, right⟩ with order; ``left`` comes before ``right`` in the alphabet."""

    left: str
    middle: str
    right: str
    collider: bool
    order: int


def triples_with_order(graph: MixedGraph) -> tuple[OrderedTriple, ...]:
    """All colliders and non-colliders with order of a MAG, or those shared by all members of a valid PAG; sorted by order, then by label.

    >>> mag = MixedGraph.parse("X --> A, A <-> B, A --> C, B <-> C")
    >>> for triple in triples_with_order(mag):
    ...     print(*triple)
    B A X True 0
    C A X False 0
    A B C True 1
    """
    labels = graph.labels
    found = []
    for (i, b, j), (collider, order) in triples_with_order_marks(graph.working()).items():
        left, right = sorted((labels[i], labels[j]))
        found.append(OrderedTriple(left, labels[b], right, collider, order))
    return tuple(sorted(found, key=lambda t: (t.order, t.left, t.middle, t.right)))


def triples_with_order_marks(marks: MarkSets) -> dict[tuple[int, int, int], tuple[bool, int]]:
    """For each triple (a, b, c) with order, a < c: whether it is a collider, and its order.

    In a valid PAG a triple with order that does not show two arrowheads at b is a non-collider in every member: the discriminating path
    that gives the order consists of marks that all members share.
    """
    orders: dict[tuple[int, int, int], tuple[bool, int]] = {}
    colliders: dict[tuple[int, int], int] = {}
    around = marks.adjacent
    fresh = [(a, b, c) for b in range(marks.n) for a in bits(around[b]) for c in bits(around[b] & ~around[a] & -2 << a)]
    candidates = _discriminable(marks)
    for order in count():
        for a, b, c in fresh:
            collider = marks.is_collider(a, b, c)
            orders[a, b, c] = (collider, order)
            if collider:
                colliders[a, b] = colliders.get((a, b), 0) | 1 << c
                colliders[c, b] = colliders.get((c, b), 0) | 1 << a
        # Only colliders of lower orders may be on a path, so what is found in one round waits for the next.
        candidates = [triple for triple in candidates if _sorted(*triple) not in orders]
        fresh = sorted({_sorted(a, b, c) for a, b, c in candidates if _has_path(marks, colliders, a, b, c)})
        if not fresh:
            return orders
    raise AssertionError  # count() never ends


def _sorted(a: int, b: int, c: int) -> tuple[int, int, int]:
    return (a, b, c) if a < c else (c, b, a)


def _discriminable(marks: MarkSets) -> list[tuple[int, int, int]]:
    """Triples that a path can discriminate: a --> c, a <-* b, and b adjacent to c."""
    return [
        (a, b, c) for c in range(marks.n) for b in bits(marks.adjacent[c]) for a in bits(marks.parents(c) & marks.far_arrow[b] & ~(1 << b))
    ]


def _has_path(marks: MarkSets, colliders: dict[tuple[int, int], int], a: int, b: int, c: int) -> bool:
    """True if a path discriminating for b ends in ⟨a, b, c⟩ and all its inner triples are among ``colliders``.

    The path is followed from its end: ``colliders[u, v]`` is the set of w for which ⟨u, v, w⟩ is a collider with order.
    """
    inner = marks.parents(c)
    beyond = ~(marks.adjacent[c] | 1 << c)

    def step(previous: int, current: int) -> int:
        return colliders.get((previous, current), 0) if inner >> current & 1 else 0

    return simple_path(b, a, step, lambda _, node: bool(beyond >> node & 1)) is not None
