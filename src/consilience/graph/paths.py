"""Paths that orientation rules look for.

* A path is *uncovered* if every three nodes in a row on it are unshielded: the outer two are not adjacent.
* An edge u–v is *potentially directed* from u to v if it is neither into u nor out of v: orienting circles can make it u --> v.
* A path ⟨θ, q₁, …, qₚ = α, β, γ⟩ is *discriminating* for β if p ≥ 1, θ is not adjacent to γ, and every node between θ and β is a collider
  on the path and a parent of γ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from consilience.graph.marksets import MarkSets, bits

__all__ = ["Path", "discriminating_paths", "paths_discriminating", "potential_children", "simple_path", "uncovered_path"]

Path: TypeAlias = tuple[int, ...]


def simple_path(first: int, second: int, step: Callable[[int, int], int], goal: Callable[[int, int], bool]) -> Path | None:
    """A path that begins ``first, second``, goes on to members of ``step(previous, current)`` and ends where ``goal(previous, current)``.

    What may come next depends on the last two nodes, so a breadth-first search over such pairs finds the shortest *walk*. It is almost
    always a path already (in a valid PAG an uncovered circle walk must be, because circle components are chordal). If it visits a node
    twice, a depth-first search over paths decides.
    """
    origin: dict[tuple[int, int], tuple[int, int] | None] = {(first, second): None}
    queue = [(first, second)]
    for state in queue:
        previous, current = state
        if goal(previous, current):
            walk = _trace(state, origin)
            return walk if len(set(walk)) == len(walk) else _depth_first([first, second], step, goal)
        for following in bits(step(previous, current)):
            if (current, following) not in origin:
                origin[current, following] = state
                queue.append((current, following))
    return None


def _trace(state: tuple[int, int], origin: dict[tuple[int, int], tuple[int, int] | None]) -> Path:
    walk = [state[1], state[0]]
    before = origin[state]
    while before is not None:
        walk.append(before[0])
        before = origin[before]
    return tuple(reversed(walk))


def _depth_first(path: list[int], step: Callable[[int, int], int], goal: Callable[[int, int], bool]) -> Path | None:
    if goal(path[-2], path[-1]):
        return tuple(path)
    for following in bits(step(path[-2], path[-1])):
        if following not in path:
            found = _depth_first([*path, following], step, goal)
            if found is not None:
                return found
    return None


def potential_children(marks: MarkSets, u: int) -> int:
    """The nodes v with an edge potentially directed from u to v."""
    return marks.adjacent[u] & ~marks.arrow[u] & ~marks.far_tail[u]


def uncovered_path(
    marks: MarkSets, first: int, second: int, steps: Callable[[int], int], goal: Callable[[int, int], bool], avoid: int = 0
) -> Path | None:
    """An uncovered path that begins ``first, second``, goes from u to members of ``steps(u)`` outside ``avoid`` and ends at ``goal``."""
    adjacent = marks.adjacent
    closed = avoid | 1 << first

    def step(previous: int, current: int) -> int:
        return steps(current) & ~adjacent[previous] & ~closed & ~(1 << previous)

    return simple_path(first, second, step, goal)


def paths_discriminating(marks: MarkSets, beta: int, gamma: int) -> Iterator[Path]:
    """Discriminating paths ⟨θ, …, α, β, γ⟩ for β on its edge with γ: for every θ and α that have one, a shortest one.

    >>> marks = MarkSets.skeleton([0b0010, 0b1101, 0b1010, 0b0110])
    >>> for i, j, mark in [(0, 1, 2), (2, 1, 2), (1, 3, 2), (3, 1, 3)]:
    ...     marks.put(i, j, mark)  # 0 o-> 1 <-o 2 o-o 3, 1 --> 3
    >>> list(paths_discriminating(marks, beta=2, gamma=3))
    [(0, 1, 2, 3)]
    """
    # Followed from its end: β and γ fix what may come before, while from θ on almost every path would have to be tried. An inner node has
    # arrowheads on both sides, so a walk need not remember how it came to one, and a shortest walk visits none twice.
    parents = marks.parents(gamma)
    closed = marks.adjacent[gamma] | 1 << gamma
    for alpha in bits(marks.far_arrow[beta] & parents):
        tails: dict[int, Path] = {alpha: (alpha, beta, gamma)}
        queue = [alpha]
        for q in queue:
            before = marks.arrow[q] & ~(1 << beta)
            for theta in bits(before & ~closed):
                if theta not in tails:
                    tails[theta] = (theta, *tails[q])
                    yield tails[theta]
            for inner in bits(before & marks.far_arrow[q] & parents):
                if inner not in tails:
                    tails[inner] = (inner, *tails[q])
                    queue.append(inner)


def discriminating_paths(marks: MarkSets) -> Iterator[Path]:
    """Discriminating paths ⟨θ, …, α, β, γ⟩ whose β has a circle from γ: those that rule R4 has still to decide."""
    for beta in range(marks.n):
        for gamma in bits(marks.circle[beta]):
            yield from paths_discriminating(marks, beta, gamma)
