"""The generalised adjustment criterion word by word: every path, every set. Nothing here comes from the package, so that it can judge it.

A graph is a matrix of marks as nested lists, coded as in pcalg: m[i][j] is the mark at j of the edge between i and j. Definitions from
Perković, Textor, Kalisch & Maathuis 2018 (criterion, forbidden set, definite status) and Zhang 2008 (visible edges).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, permutations

NONE, CIRCLE, ARROW, TAIL = 0, 1, 2, 3
Matrix = Sequence[Sequence[int]]
Path = tuple[int, ...]


def all_paths(m: Matrix, x: int, y: int) -> list[Path]:
    """Every path between two nodes, by trying every sequence of others."""
    others = [v for v in range(len(m)) if v not in (x, y)]
    tried = ((x, *inner, y) for length in range(len(others) + 1) for inner in permutations(others, length))
    return [path for path in tried if all(m[a][b] for a, b in pairwise(path))]


def directed(m: Matrix, path: Path) -> bool:
    return all(m[b][a] == TAIL and m[a][b] == ARROW for a, b in pairwise(path))


def possibly_directed(m: Matrix, path: Path) -> bool:
    """No edge is into the node nearer to the beginning, or out of the other one."""
    return all(m[b][a] != ARROW and m[a][b] != TAIL for a, b in pairwise(path))


def leads(m: Matrix, way: object, a: int, b: int) -> bool:
    return a == b or any(way(m, path) for path in all_paths(m, a, b))  # type: ignore[operator]


def descendants(m: Matrix, a: int) -> set[int]:
    return {b for b in range(len(m)) if leads(m, directed, a, b)}


def possible_descendants(m: Matrix, a: int) -> set[int]:
    return {b for b in range(len(m)) if leads(m, possibly_directed, a, b)}


def visible(m: Matrix, a: int, b: int) -> bool:
    """a --> b, and some c not adjacent to b has a collider path into a, of one edge or more, whose inner nodes are parents of b."""
    if not directed(m, (a, b)):
        return False
    return any(
        m[path[-2]][a] == ARROW
        and all(m[p][q] == ARROW == m[r][q] and directed(m, (q, b)) for p, q, r in zip(path, path[1:], path[2:], strict=False))
        for c in range(len(m))
        if c not in (a, b) and not m[c][b]
        for path in all_paths(m, c, a)
    )


def status(m: Matrix, a: int, b: int, c: int) -> str | None:
    """What b is between a and c in every graph of the class: a collider, a non-collider, or None where that is open."""
    if m[a][b] == ARROW == m[c][b]:
        return "collider"
    if TAIL in (m[a][b], m[c][b]) or (m[a][b] == CIRCLE == m[c][b] and not m[a][c]):
        return "non-collider"
    return None


class Criterion:
    """The criterion for one graph and one pair. ``causal_sufficiency`` as in a DAG: then every directed edge is visible."""

    def __init__(self, m: Matrix, x: int, y: int, *, causal_sufficiency: bool = False) -> None:
        paths = all_paths(m, x, y)
        possible = [path for path in paths if possibly_directed(m, path)]
        self.possible = bool(possible)
        self.others = [v for v in range(len(m)) if v not in (x, y)]
        self.amenable = all(directed(m, path[:2]) and (causal_sufficiency or visible(m, *path[:2])) for path in possible)
        self.forbidden = {v for w in {w for path in possible for w in path[1:]} for v in possible_descendants(m, w)}
        self.not_causal = []
        for path in paths:
            inner = {b: status(m, a, b, c) for a, b, c in zip(path, path[1:], path[2:], strict=False)}
            if path not in possible and None not in inner.values():
                self.not_causal.append([(b, what == "collider", descendants(m, b)) for b, what in inner.items()])

    def blocks(self, z: set[int]) -> bool:
        return not any(
            all((below & z) if collider else (b not in z) for b, collider, below in path)  # open at every node
            for path in self.not_causal
        )

    def holds(self, z: set[int]) -> bool:
        return self.amenable and not z & self.forbidden and self.blocks(z)

    def sets(self) -> Iterator[set[int]]:
        """All sets that fulfil the criterion, the smallest first."""
        tried = (set(some) for size in range(len(self.others) + 1) for some in combinations(self.others, size))
        return (z for z in tried if self.holds(z))


def minimal(sets: list[set[int]]) -> list[set[int]]:
    return [z for z in sets if not any(smaller < z for smaller in sets)]
