"""What one data set says: its local PAG, separating sets, inseparable pairs, and triples with order."""

from __future__ import annotations

from dataclasses import dataclass

from consilience.graph.marksets import MarkSets, bits
from consilience.graph.rules import by_separating_sets, orient
from consilience.graph.triples import triples_with_order_marks
from consilience.iod.skeleton import LocalSearch, Pair, orient_colliders

__all__ = ["Local", "read_local"]


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """One data set after its tests. Nodes are those of the whole study; ``marks`` has edges among ``variables`` only.

    ``unshielded`` are the colliders of order 0, ``triples`` all triples with order, (a, b, c) with True for a collider. Where some pair is
    neither separated nor known to be inseparable, only colliders between inseparable pairs are taken as facts. ``assumed`` are the pairs
    that count as inseparable although a larger set than was allowed might separate them.
    """

    variables: int
    sepsets: dict[Pair, int]
    inseparable: frozenset[Pair]
    marks: MarkSets
    unshielded: tuple[tuple[int, int, int], ...]
    triples: dict[tuple[int, int, int], bool]
    assumed: frozenset[Pair] = frozenset()

    @property
    def complete(self) -> bool:
        """True if every pair is either separated or known to be inseparable."""
        size = self.variables.bit_count()
        return len(self.sepsets) + len(self.inseparable) == size * (size - 1) // 2


def read_local(search: LocalSearch, *, selection_bias: bool = False) -> Local:
    """Orient a data set's skeleton: R0 from its separating sets, then R1–R10 (R5–R7 only if there may be selection bias)."""
    marks = MarkSets.skeleton(search.adjacent.copy())
    orient_colliders(marks, search.sepsets)
    inseparable = frozenset(search.inseparable())
    unshielded = tuple(t for t in _unshielded_colliders(marks) if _is_known(t, inseparable))
    sets = {frozenset(pair): tuple(bits(given)) for pair, given in search.sepsets.items()}
    orient(marks, by_separating_sets(sets), selection_bias=selection_bias)
    # A triple with order rests on a path of edges and gaps; each of them must be a fact.
    if search.unknown:  # rules that reason over an edge that nobody knows to be there prove nothing
        triples = dict.fromkeys(unshielded, True)
    else:
        triples = {triple: collider for triple, (collider, _) in triples_with_order_marks(marks).items()}
    return Local(search.variables, dict(search.sepsets), inseparable, marks, unshielded, triples, frozenset(search.assumed))


def _is_known(triple: tuple[int, int, int], inseparable: frozenset[Pair]) -> bool:
    a, b, c = triple
    return all((min(v, b), max(v, b)) in inseparable for v in (a, c))


def _unshielded_colliders(marks: MarkSets) -> list[tuple[int, int, int]]:
    around = marks.adjacent
    return [
        (a, b, c)
        for b in range(marks.n)
        for a in bits(around[b])
        for c in bits(around[b] & ~around[a] & -2 << a)
        if marks.is_collider(a, b, c)
    ]
