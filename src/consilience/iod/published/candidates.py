"""Candidate graphs of the published algorithm, generated lazily.

For every set of removable edges, and for every set of open unshielded triples made colliders, rules R1–R10 are applied; where R4 meets a
discriminating path whose separating set nobody knows, both ways are followed. What cannot become a solution is dropped as early as it
shows: a graph without some removed edge in which an inseparable pair is not even connected as an inducing path must be; a triple that must
be a collider because its ends were separated without its middle; marks that contradict each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from consilience.graph.marks import ARROW
from consilience.graph.marksets import MarkSets, bits
from consilience.graph.paths import discriminating_paths
from consilience.graph.rules import decide, orient
from consilience.iod.local import Local
from consilience.iod.skeleton import Pair

__all__ = ["Pause", "Triple", "close", "open_triples", "orientations", "skeletons"]

Triple = tuple[int, int, int]
Pause = Callable[[], None]
"""Called before every graph that is looked at, also of those that are dropped, which may be millions in a row. It may raise."""


def skeletons(union: MarkSets, removable: Sequence[Pair], locals_: Sequence[Local], pause: Pause) -> Iterator[MarkSets]:
    """The union graph without each set of removable edges, few edges first, where every inseparable pair may still be connected."""
    for size in range(len(removable) + 1):
        for chosen in combinations(removable, size):
            pause()
            graph = union.copy()
            for x, y in chosen:
                graph.remove_edge(x, y)
            if all(_may_be_connected(graph, local) for local in locals_):
                yield graph


def _may_be_connected(marks: MarkSets, local: Local) -> bool:
    """True if every inseparable pair is adjacent, or joined by a path whose inner nodes of this data set may all be colliders."""
    return all(marks.adjacent[x] >> y & 1 or _may_induce(marks, x, y, local.variables) for x, y in local.inseparable)


def _may_induce(marks: MarkSets, x: int, y: int, observed: int) -> bool:
    # Necessary, not sufficient: that colliders are ancestors of x or y is left out, since the marks that decide it come later. What is
    # dropped here spares every orientation of the skeleton.
    seen = {(x, v) for v in bits(marks.adjacent[x])}
    queue = list(seen)
    while queue:
        a, b = queue.pop()
        if b == y:
            return True
        blocked = observed >> b & 1
        if blocked and marks.tail[b] >> a & 1:
            continue
        onward = marks.adjacent[b] & ~(1 << a) & ~(1 << x)
        for c in bits(onward & ~marks.tail[b] if blocked else onward):
            if (b, c) not in seen:
                seen.add((b, c))
                queue.append((b, c))
    return False


def open_triples(marks: MarkSets, locals_: Sequence[Local]) -> tuple[list[Triple], list[Triple]]:
    """Unshielded triples of a skeleton that may be colliders and about which no data set has spoken; and those that must be.

    A data set that has separated the ends has spoken: with the middle in the separating set it is no collider; with the middle outside
    (be it that the data set does not hold it) only as a collider does it not connect them.
    """
    maybe, must = [], []
    around = marks.adjacent
    for b in range(marks.n):
        for a in bits(around[b]):
            for c in bits(around[b] & ~around[a] & -2 << a):
                if marks.is_collider(a, b, c):
                    continue
                spoken = [(local.variables >> b & 1, local.sepsets[a, c] >> b & 1) for local in locals_ if (a, c) in local.sepsets]
                if any(held and inside for held, inside in spoken):
                    continue
                if spoken:
                    must.append((a, b, c))
                elif not (marks.tail[b] >> a | marks.tail[b] >> c) & 1:
                    maybe.append((a, b, c))
    return maybe, must


def orientations(skeleton: MarkSets, locals_: Sequence[Local], pause: Pause) -> Iterator[MarkSets]:
    """A skeleton with each set of its open triples made colliders."""
    maybe, must = open_triples(skeleton, locals_)
    base = skeleton.copy()
    if not _collide(base, must):
        return
    for size in range(len(maybe) + 1):
        for chosen in combinations(maybe, size):
            pause()
            graph = base.copy()
            if _collide(graph, chosen):
                yield graph


def _collide(marks: MarkSets, triples: Sequence[Triple]) -> bool:
    for a, b, c in triples:
        marks.resolve(a, b, ARROW)
        marks.resolve(c, b, ARROW)
    return not marks.contradicted


def close(marks: MarkSets, pause: Pause) -> Iterator[MarkSets]:
    """Every closure of a graph under R1–R10: one, or more where R4 has to guess."""
    stack = [marks]
    while stack:
        pause()
        graph = stack.pop()
        orient(graph)
        if graph.contradicted:
            continue
        path = next(discriminating_paths(graph), None)
        if path is None:
            yield graph
            continue
        for collider in (False, True):
            branch = graph.copy()
            decide(branch, path, collider=collider)
            if not branch.contradicted:
                stack.append(branch)
