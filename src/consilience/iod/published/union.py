"""The union graph: what all data sets together leave open.

G is complete over all variables, without the edges that some data set separated. It takes over marks of the local graphs that hold
globally (a mark of a MAG's edge is an ancestral relation, and those of a local PAG hold in every consistent graph):

``original``
    arrowheads of unshielded colliders
``colliders``
    arrowheads of all colliders with order
``triples``
    those, and what definite non-colliders with order say: tails that the local PAG has at their middle node; and where one side of such a
    non-collider has an arrowhead at the middle in G, a tail on the other side

Where local graphs contradict each other on a mark, it stays open, and both ways are followed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from consilience.graph.marks import ARROW, CIRCLE, TAIL
from consilience.graph.marksets import MarkSets, bits
from consilience.iod.local import Local
from consilience.iod.skeleton import Pair, reached_through
from consilience.settings.choices import Variant

__all__ = ["Variant", "removable_edges", "unite"]


def unite(n: int, locals_: Sequence[Local], variant: Variant) -> MarkSets:
    """The union graph with the marks that ``variant`` takes over."""
    marks = MarkSets.complete(n)
    for local in locals_:
        for x, y in local.sepsets:
            marks.remove_edge(x, y)
    # Local graphs with wrong tests may ask for different marks. Either could be right, and the rules never question a mark.
    wanted = _wanted(locals_, variant)
    for (i, j), kinds in wanted.items():
        if len(kinds) == 1 and marks.adjacent[i] >> j & 1:
            marks.put(i, j, next(iter(kinds)))
    if variant is Variant.TRIPLES:
        _other_sides(marks, locals_, {pair for pair, kinds in wanted.items() if len(kinds) > 1})
    return marks


def _wanted(locals_: Sequence[Local], variant: Variant) -> dict[Pair, set[int]]:
    """Per (i, j), the marks at j on the edge i–j that local graphs ask for."""
    wanted: dict[Pair, set[int]] = defaultdict(set)
    for local in locals_:
        for a, b, c in local.unshielded if variant is Variant.ORIGINAL else [t for t, c in local.triples.items() if c]:
            wanted[a, b].add(ARROW)
            wanted[c, b].add(ARROW)
        if variant is Variant.TRIPLES:
            for a, b, c in (t for t, collider in local.triples.items() if not collider):
                for end in bits(local.marks.tail[b] & (1 << a | 1 << c)):
                    wanted[end, b].add(TAIL)
                    wanted[b, end].add(ARROW)  # b is an ancestor of the end, so the end is none of b
    return wanted


def _other_sides(marks: MarkSets, locals_: Sequence[Local], disputed: set[Pair]) -> None:
    changed = True
    while changed:
        changed = False
        for local in locals_:
            for (a, b, c), collider in local.triples.items():
                for one, other in ((a, c), (c, a)) if not collider else ():
                    open_end = marks.mark(other, b) == CIRCLE and (other, b) not in disputed
                    if open_end and marks.arrow[b] >> one & 1:
                        marks.put(other, b, TAIL)
                        if (b, other) not in disputed:
                            marks.resolve(b, other, ARROW)
                        changed = True


def removable_edges(marks: MarkSets, locals_: Sequence[Local]) -> list[Pair]:
    """Edges of G that may be absent from the global graph.

    An edge x–y stays if some data set holds x, y, all neighbours of x (or of y) in G and all that may separate them: its separating
    sets have then all been tried, in vain.
    """
    found = []
    for x in range(marks.n):
        for y in bits(marks.adjacent[x] >> (x + 1) << (x + 1)):
            separators = possible_separators(marks, x, y)
            sides = [marks.adjacent[v] | separators | 1 << x | 1 << y for v in (x, y)]
            tried = any((x, y) in local.inseparable and any(side & ~local.variables == 0 for side in sides) for local in locals_)
            if not tried:
                found.append((x, y))
    return found


def possible_separators(marks: MarkSets, x: int, y: int) -> int:
    """Nodes on which a separating set of x and y may draw: reached from either along paths whose inner nodes may be colliders."""

    def may_collide(a: int, b: int, c: int) -> bool:
        return not (marks.tail[b] >> a | marks.tail[b] >> c) & 1

    found = reached_through(marks, x, may_collide) | reached_through(marks, y, may_collide)
    return found & ~(1 << x) & ~(1 << y)
