"""The adjacency search of FCI in every data set at once.

Levels as in PC-stable: at level k every pair still adjacent in a data set's graph is tested given every k of its neighbours there, the
neighbours being those at the beginning of the level. All tests of a level, over all data sets, are one batch. Then the same with
possible-d-sep sets, after unshielded colliders are oriented; of these, only nodes on paths between the two count (D. Colombo,
M. H. Maathuis, M. Kalisch, T. S. Richardson, Learning high-dimensional directed acyclic graphs with latent and selection variables, Annals
of Statistics 40, 2012). Of several sets that separate a pair, the smallest are found first, and of these the one with the largest p-value
is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from consilience.graph.blocks import blocks
from consilience.graph.marks import ARROW
from consilience.graph.marksets import MarkSets, bits, mask_of
from consilience.iod.answers import Answers, Key

__all__ = ["LocalSearch", "Pair", "orient_colliders", "possible_d_sep", "reached_through", "search"]

Pair = tuple[int, int]
Step = Callable[[str, int, int], None]


@dataclass(slots=True, eq=False)
class LocalSearch:
    """The state of one data set: its variables, who is still adjacent, what separated whom, and pairs that were not tested to the end."""

    variables: int
    adjacent: list[int]
    sepsets: dict[Pair, int] = field(default_factory=dict)
    unknown: set[Pair] = field(default_factory=set)

    def pairs(self) -> Iterator[Pair]:
        """The adjacent pairs."""
        for x in bits(self.variables):
            for y in bits(self.adjacent[x] >> (x + 1) << (x + 1)):
                yield x, y

    def inseparable(self) -> set[Pair]:
        """The adjacent pairs that every test has shown to be dependent."""
        return set(self.pairs()) - self.unknown

    def all_tests(self, max_given: int | None) -> Iterator[Key]:
        """Every pair given every set of at most ``max_given`` other variables."""
        for x, y in combinations(bits(self.variables), 2):
            others = [v for v in bits(self.variables) if v not in (x, y)]
            for size in range(len(others) + 1 if max_given is None else min(max_given, len(others)) + 1):
                for chosen in combinations(others, size):
                    yield x, y, mask_of(chosen)

    def separate(self, x: int, y: int, given: int) -> None:
        """Record a separating set and take the edge out."""
        self.sepsets[x, y] = given
        self.adjacent[x] &= ~(1 << y)
        self.adjacent[y] &= ~(1 << x)
        self.unknown.discard((x, y))


def search(n: int, datasets: Iterable[int], answers: Answers, max_given: int | None, step: Step) -> list[LocalSearch]:
    """Run the search; ``datasets`` are sets of variables as bits, ``step`` is told (what, level, tests so far) before each batch."""
    searches = [LocalSearch(v, [v & ~(1 << i) if v >> i & 1 else 0 for i in range(n)]) for v in datasets]
    _levels(searches, answers, max_given, step, "level", _neighbours)
    _levels(searches, answers, max_given, step, "possible d-separation", _possible_separators)
    return searches


def _neighbours(local: LocalSearch) -> dict[Pair, tuple[int, int]]:
    """Per adjacent pair, the variables that may separate it: neighbours of x, neighbours of y."""
    return {(x, y): (local.adjacent[x] & ~(1 << y), local.adjacent[y] & ~(1 << x)) for x, y in local.pairs()}


def _possible_separators(local: LocalSearch) -> dict[Pair, tuple[int, int]]:
    marks = MarkSets.skeleton(local.adjacent.copy())
    orient_colliders(marks, local.sepsets)
    reach = [possible_d_sep(marks, x) for x in range(marks.n)]
    # All subsets of these sets are tested, and a dozen nodes are easily reached. A node that lies on no path between the two separates
    # nothing: cut to the block of the edge there are 3 to 18 times fewer tests, and the skeletons of 9,073 random MAGs stayed right.
    between = blocks(local.adjacent)
    return {(x, y): (reach[x] & between[x, y] & ~(1 << y), reach[y] & between[x, y] & ~(1 << x)) for x, y in local.pairs()}


def _levels(
    searches: list[LocalSearch],
    answers: Answers,
    max_given: int | None,
    step: Step,
    what: str,
    separators: Callable[[LocalSearch], dict[Pair, tuple[int, int]]],
) -> None:
    # Possible-d-sep sets are found once, before the first of their levels, as FCI defines them; neighbours anew for every level. Within a
    # level nothing changes: the order of the pairs then has no effect (PC-stable), and all tests of a level fit into one batch of rounds.
    fixed = None if separators is _neighbours else [separators(local) for local in searches]
    size = 0
    while True:
        asked: list[dict[Pair, list[int]]] = []
        for i, local in enumerate(searches):
            pools = separators(local) if fixed is None else {p: fixed[i][p] for p in local.pairs()}
            asked.append({pair: _subsets(pool, size) for pair, pool in pools.items()})
        if not any(sets for per_pair in asked for sets in per_pair.values()):
            return
        if max_given is not None and size > max_given:
            for local, per_pair in zip(searches, asked, strict=True):
                local.unknown |= {pair for pair, sets in per_pair.items() if sets}
            return
        step(what, size, len(answers.results))
        answers.ask((x, y, given) for per_pair in asked for (x, y), sets in per_pair.items() for given in sets)
        for local, per_pair in zip(searches, asked, strict=True):
            for (x, y), sets in per_pair.items():
                _decide(local, x, y, sets, answers)
        size += 1


def _subsets(pools: tuple[int, int], size: int) -> list[int]:
    found = (mask_of(chosen) for pool in pools for chosen in combinations(bits(pool), size))
    return list(dict.fromkeys(found))


def _decide(local: LocalSearch, x: int, y: int, sets: list[int], answers: Answers) -> None:
    keys: list[Key] = [(x, y, given) for given in sets]
    separating = [key for key in keys if answers.independent(key)]
    if separating:
        # not the first that separates: which one that is depends on the order of the variables; the largest p-value is least likely wrong
        local.separate(x, y, max(separating, key=answers.p_value)[2])
    elif any(answers.unknown(key) for key in keys):
        local.unknown.add((x, y))


def orient_colliders(marks: MarkSets, sepsets: dict[Pair, int]) -> None:
    """R0: x *-> z <-* y for every unshielded triple whose middle is not in the separating set of its ends."""
    for (x, y), given in sepsets.items():
        for z in bits(marks.adjacent[x] & marks.adjacent[y] & ~given):
            marks.put(x, z, ARROW)
            marks.put(y, z, ARROW)


def possible_d_sep(marks: MarkSets, x: int) -> int:
    """The nodes reached from x along paths on which every inner node is a collider or in a triangle with its neighbours.

    >>> marks = MarkSets.skeleton([0b010, 0b101, 0b010])  # 0 o-o 1 o-o 2
    >>> bin(possible_d_sep(marks, 0))
    '0b10'
    """
    return reached_through(marks, x, marks.is_collider)


def reached_through(marks: MarkSets, x: int, passes: Callable[[int, int, int], bool]) -> int:
    """The nodes reached from x along paths whose inner triples ⟨a, b, c⟩ all pass or have a and c adjacent."""
    reached = marks.adjacent[x]
    seen = {(x, v) for v in bits(reached)}
    queue = list(seen)
    while queue:
        a, b = queue.pop()
        for c in bits(marks.adjacent[b] & ~(1 << a) & ~(1 << x)):
            if (b, c) not in seen and (marks.adjacent[a] >> c & 1 or passes(a, b, c)):
                seen.add((b, c))
                queue.append((b, c))
                reached |= 1 << c
    return reached & ~(1 << x)
