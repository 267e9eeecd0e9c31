"""D-sep links: edges that no set of neighbours takes away, although the two variables can be separated.

FCI looks for them by testing each remaining pair given all subsets of its possible-d-sep set, which can hold twenty variables. T. Claassen,
J. M. Mooij and T. Heskes (Learning sparse causal models is not NP-hard, UAI 2013) say where such a link can be, and what separates it:

* x ⫫ y given S, but not given S and z: then z is no ancestor of x, y or any of S. One test more for each such z shows arrowheads.
* A link x – y has arrowheads at both ends, and there are u <-> x and y <-> v, not adjacent to each other, such that u may be an ancestor of
  y and v of x (their lemma 4).
* It is separated by a hierarchy: x, y, some of their parents, and the separating sets of all pairs among these, of all pairs among the
  result, and so on, without x and y.

The functions here compute with sets of nodes as bits; who asks the questions is :mod:`~consilience.iod.skeleton`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from consilience.graph.marksets import bits, mask_of
from consilience.iod.answers import Answers, Key

__all__ = ["NonAncestors", "hierarchies", "possible_links", "telling_tests"]

Pair = tuple[int, int]


def telling_tests(adjacent: Sequence[int], sepsets: Mapping[Pair, int], among: int) -> Iterator[tuple[Key, int]]:
    """Questions whose answers show that a node of ``among`` is no ancestor of some neighbour, each with that node.

    >>> list(telling_tests([0b100, 0b100, 0b011], {(0, 1): 0}, 0b100))  # 0 – 2 – 1
    [((0, 1, 4), 2)]
    """
    for (x, y), given in sepsets.items():
        near = given | 1 << x | 1 << y
        around = 0
        for v in bits(near):
            around |= adjacent[v]
        for z in bits(around & among & ~near):
            yield (x, y, given | 1 << z), z


@dataclass(frozen=True, slots=True)
class NonAncestors:
    """For each node, of which nodes it is known to be no ancestor, and of which it may be none because a test has no answer."""

    known: list[int]
    unclear: list[int]

    @classmethod
    def read(cls, adjacent: Sequence[int], sepsets: Mapping[Pair, int], among: int, answers: Answers) -> NonAncestors:
        """What the answers to :func:`telling_tests` show."""
        found = cls([0] * len(adjacent), [0] * len(adjacent))
        for key, z in telling_tests(adjacent, sepsets, among):
            x, y, given = key
            said = found.unclear if answers.unknown(key) else None if answers.independent(key) else found.known
            if said is not None:
                said[z] |= (given | 1 << x | 1 << y) & ~(1 << z)
        return found

    def may_be_spouses(self, adjacent: Sequence[int], x: int) -> int:
        """The neighbours of x whose edge has, or for want of an answer may have, arrowheads at both ends."""
        at_x = adjacent[x] & (self.known[x] | self.unclear[x])
        return mask_of(v for v in bits(at_x) if (self.known[v] | self.unclear[v]) >> x & 1)

    def may_be_ancestors(self, adjacent: Sequence[int], x: int) -> int:
        """The nodes with a path to x on which no edge is known to point back."""
        found = new = 1 << x
        while new:
            reached = 0
            for w in bits(new):
                for v in bits(adjacent[w] & ~found & ~reached):
                    if not (self.known[v] >> w & 1 or self.known[v] >> x & 1):
                        reached |= 1 << v
            new = reached
            found |= new
        return found


def possible_links(adjacent: Sequence[int], pairs: Iterable[Pair], non_ancestors: NonAncestors) -> list[Pair]:
    """Of some adjacent pairs, those that may be D-sep links."""
    found = []
    for x, y in pairs:
        beside_x, beside_y = (non_ancestors.may_be_spouses(adjacent, v) for v in (x, y))
        if not beside_x >> y & 1:
            continue
        before_x, before_y = (non_ancestors.may_be_ancestors(adjacent, v) for v in (x, y))
        ends = beside_y & before_x & ~(1 << x)
        if any(ends & ~adjacent[u] & ~(1 << u) for u in bits(beside_x & before_y & ~(1 << y))):
            found.append((x, y))
    return found


def hierarchies(adjacent: Sequence[int], sepsets: Mapping[Pair, int], pair: Pair, non_ancestors: NonAncestors) -> list[int]:
    """The sets of which one separates the two if they are a D-sep link, small ones first."""
    x, y = pair
    ends = 1 << x | 1 << y
    known = non_ancestors.known
    parents = mask_of(z for v in pair for z in bits(adjacent[v] & ~ends) if not known[z] >> v & 1)
    found = {
        _closed(ends | mask_of(chosen), sepsets) & ~ends
        for size in range(parents.bit_count() + 1)
        for chosen in combinations(bits(parents), size)
    }
    return sorted(found, key=lambda given: (given.bit_count(), given))


def _closed(nodes: int, sepsets: Mapping[Pair, int]) -> int:
    """The nodes with the separating sets of all pairs among them, of all pairs among the result, and so on."""
    done, todo = 0, nodes
    while todo:
        new = 0
        for v in bits(todo):
            for w in bits(done | todo):
                if w != v:
                    new |= sepsets.get((v, w) if v < w else (w, v), 0)
        done |= todo
        todo = new & ~done
    return done
