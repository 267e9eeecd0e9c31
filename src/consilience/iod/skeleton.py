"""The adjacency search of FCI in every data set at once.

Levels as in PC-stable: at level k every pair still adjacent in a data set's graph is tested given every k of its neighbours there, the
neighbours being those at the beginning of the level. All tests of a level, over all data sets, are one batch. Of several sets that
separate a pair, the smallest are found first, and of these the one with the largest p-value is kept, in every data set that holds it: a
separation is a fact of the distribution, and a data set that went on to call the pair inseparable would contradict it.

Then the pairs that can be separated, but not by neighbours. FCI tests all subsets of possible-d-sep sets, millions with thirty variables;
here arrowheads tell first which edges can be such links (:mod:`~consilience.iod.d_sep_links`), and few sets need be tried. With a perfect
test the local graphs are the same. With data, fewer tests are asked, and fewer edges are lost to tests that fail to reject.

The telling arrowheads come from separations, so they need every pair to be decided. In a data set where a test has no answer, or was not
allowed, possible-d-sep sets are tested as FCI does; of these, only nodes on paths between the two count (D. Colombo, M. H. Maathuis,
M. Kalisch, T. S. Richardson, Learning high-dimensional directed acyclic graphs with latent and selection variables, Annals of Statistics
40, 2012). Pairs that a larger set than allowed might separate are *assumed* to be inseparable, as in FCI with a bound on its depth
(P. Spirtes, An anytime algorithm for causal inference, AISTATS 2001).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeVar

from consilience.graph.blocks import blocks
from consilience.graph.marks import ARROW
from consilience.graph.marksets import MarkSets, bits, mask_of
from consilience.iod.answers import Answers, Key
from consilience.iod.d_sep_links import NonAncestors, hierarchies, possible_links, telling_tests

__all__ = ["Asking", "LocalSearch", "Pair", "asked_of", "orient_colliders", "possible_d_sep", "reached_through", "search", "searching"]

T = TypeVar("T")
Pair = tuple[int, int]
Step = Callable[[str, int, int], None]
Asking = Generator[Iterable[Key], None, T]
"""A search that yields what it has to know before it can go on, as batches of questions; who drives it has them answered."""


@dataclass(slots=True, eq=False)
class LocalSearch:
    """The state of one data set: its variables, who is still adjacent, and what separated whom.

    ``unknown`` are adjacent pairs with a test that has no answer, ``assumed`` those that a larger set than was allowed might separate.
    """

    variables: int
    adjacent: list[int]
    sepsets: dict[Pair, int] = field(default_factory=dict)
    unknown: set[Pair] = field(default_factory=set)
    assumed: set[Pair] = field(default_factory=set)

    def pairs(self) -> Iterator[Pair]:
        """The adjacent pairs."""
        for x in bits(self.variables):
            for y in bits(self.adjacent[x] >> (x + 1) << (x + 1)):
                yield x, y

    def inseparable(self) -> set[Pair]:
        """The adjacent pairs that every test has shown to be dependent; tests that were not allowed count as if they had."""
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
        self.assumed.discard((x, y))


def search(n: int, datasets: Iterable[int], answers: Answers, max_given: int | None, step: Step) -> list[LocalSearch]:
    """Run the search; ``datasets`` are sets of variables as bits, ``step`` is told (what, level, tests so far) before each batch."""
    return asked_of(answers, searching(n, datasets, answers, max_given, step))


def asked_of(answers: Answers, steps: Asking[T]) -> T:
    """What comes of a search whose questions are asked as soon as it has them."""
    while True:
        try:
            answers.ask(next(steps))
        except StopIteration as stop:
            found: T = stop.value
            return found


def searching(n: int, datasets: Iterable[int], answers: Answers, max_given: int | None, step: Step) -> Asking[list[LocalSearch]]:
    """:func:`search`, one batch at a time: what it yields must be in ``answers`` when it is resumed.

    Several searches, each with answers of its own, can so be asked in the same rounds.
    """
    searches = [LocalSearch(v, [v & ~(1 << i) if v >> i & 1 else 0 for i in range(n)]) for v in datasets]
    yield from _levels(searches, searches, answers, max_given, step, "level", _neighbours)
    yield from _links(searches, answers, max_given, step)
    # Where a pair is not tested to the end, what is known of separations does not show where links may be.
    cut = [local for local in searches if local.unknown or local.assumed]
    yield from _levels(cut, searches, answers, max_given, step, "possible d-separation", _possible_separators)
    return searches


Pools = Callable[[LocalSearch], dict[Pair, tuple[int, int]]]
Asked = list[tuple[LocalSearch, dict[Pair, list[int]]]]
"""For each data set the sets that each pair is tested given."""


def _neighbours(local: LocalSearch) -> dict[Pair, tuple[int, int]]:
    """Per adjacent pair, the variables that may separate it: neighbours of x, neighbours of y."""
    return {(x, y): (local.adjacent[x] & ~(1 << y), local.adjacent[y] & ~(1 << x)) for x, y in local.pairs()}


def _possible_separators(local: LocalSearch) -> dict[Pair, tuple[int, int]]:
    marks = MarkSets.skeleton(local.adjacent.copy())
    orient_colliders(marks, local.sepsets)
    reach = [possible_d_sep(marks, x) for x in range(marks.n)]
    # A node that lies on no path between the two separates nothing (Colombo et al.): only the block of the edge counts.
    between = blocks(local.adjacent)
    return {(x, y): (reach[x] & between[x, y] & ~(1 << y), reach[y] & between[x, y] & ~(1 << x)) for x, y in local.pairs()}


def _levels(
    testing: list[LocalSearch],
    searches: list[LocalSearch],
    answers: Answers,
    max_given: int | None,
    step: Step,
    what: str,
    separators: Pools,
) -> Asking[None]:
    """Test the pairs of ``testing`` given sets of growing size; what separates in one data set separates in all that hold the set."""
    # Possible-d-sep sets are found once, before the first of their levels, as FCI defines them; neighbours anew for every level. Within a
    # level nothing changes: the order of the pairs then has no effect (PC-stable), and all tests of a level fit into one batch of rounds.
    fixed = None if separators is _neighbours else [separators(local) for local in testing]
    size = 0
    while True:
        asked: Asked = []
        for i, local in enumerate(testing):
            pools = separators(local) if fixed is None else {p: fixed[i][p] for p in local.pairs()}
            asked.append((local, {pair: _subsets(pool, size) for pair, pool in pools.items()}))
        if not any(sets for _, per_pair in asked for sets in per_pair.values()):
            return
        if max_given is not None and size > max_given:
            for local, per_pair in asked:
                local.assumed |= {pair for pair, sets in per_pair.items() if sets}
            return
        step(what, size, len(answers.results))
        yield from _test(asked, searches, answers)
        size += 1


def _subsets(pools: tuple[int, int], size: int) -> list[int]:
    found = (sum(chosen) for pool in pools for chosen in combinations([1 << v for v in bits(pool)], size))
    return list(dict.fromkeys(found))


def _test(asked: Asked, searches: list[LocalSearch], answers: Answers) -> Asking[set[Pair]]:
    """Ask in one batch and take out, in every data set, the edges of pairs that a set it holds separates; the pairs that were separated."""
    yield ((x, y, given) for _, per_pair in asked for (x, y), sets in per_pair.items() for given in sets)
    separating: dict[Pair, dict[int, None]] = {}
    for local, per_pair in asked:
        for (x, y), sets in per_pair.items():
            found = [given for given in sets if answers.independent((x, y, given))]
            if found:
                separating.setdefault((x, y), {}).update(dict.fromkeys(found))
            elif any(answers.unknown((x, y, given)) for given in sets):
                local.unknown.add((x, y))
    for (x, y), sets_found in separating.items():
        for local in searches:
            held = [(x, y, given) for given in sets_found if given & ~local.variables == 0]
            if held and local.adjacent[x] >> y & 1:
                # not the first that separates: which one that is depends on the order of the variables; the largest p-value is least
                # likely wrong
                local.separate(x, y, max(held, key=answers.p_value)[2])
    return set(separating)


def _links(searches: list[LocalSearch], answers: Answers, max_given: int | None, step: Step) -> Asking[None]:
    """Find and take out the edges that no set of neighbours takes out (:mod:`~consilience.iod.d_sep_links`)."""
    turn = 0
    testing = searches
    while testing := [local for local in testing if not local.unknown and not local.assumed]:
        doubtful = [(local, pairs, _around(local, pairs)) for local in testing if (pairs := _doubtful(local))]
        if not doubtful:
            return
        step("possible d-separation", turn, len(answers.results))
        telling = (key for local, _, among in doubtful for key, _ in telling_tests(local.adjacent, local.sepsets, among))
        yield (key for key in telling if max_given is None or key[2].bit_count() <= max_given)
        sets: Asked = []
        for local, pairs, among in doubtful:
            known = NonAncestors.read(local.adjacent, local.sepsets, among, answers)
            links = possible_links(local.adjacent, pairs, known)
            sets.append((local, {pair: hierarchies(local.adjacent, local.sepsets, pair, known) for pair in links}))
        separated = yield from _by_size(sets, searches, answers, max_given)
        # what was separated may show where more links are; a data set in which nothing was stays as it is
        testing = [local for local in testing if any(pair in local.sepsets for pair in separated)]
        turn += 1


def _doubtful(local: LocalSearch) -> list[Pair]:
    """The adjacent pairs that FCI would test beyond their neighbours, from either end.

    If x and y can be separated, then by a subset of the possible-d-sep set of x and by one of that of y; had either been among the
    neighbours, it would have been found.
    """
    around = local.adjacent
    return [(x, y) for (x, y), (one, other) in _possible_separators(local).items() if one & ~around[x] and other & ~around[y]]


def _around(local: LocalSearch, pairs: Iterable[Pair]) -> int:
    """The nodes of some pairs and their neighbours: those whose arrowheads tell whether a pair may be a link."""
    found = 0
    for x, y in pairs:
        found |= 1 << x | 1 << y | local.adjacent[x] | local.adjacent[y]
    return found


def _by_size(sets: Asked, searches: list[LocalSearch], answers: Answers, max_given: int | None) -> Asking[set[Pair]]:
    """Test pairs given some sets, small ones first, until one separates; the pairs that were separated, with least sets."""
    separated: set[Pair] = set()
    for size in sorted({given.bit_count() for _, per_pair in sets for some in per_pair.values() for given in some}):
        asked: Asked = [
            (local, {(x, y): fits for (x, y), some in per_pair.items() if local.adjacent[x] >> y & 1 and (fits := _of_size(some, size))})
            for local, per_pair in sets
        ]
        if max_given is not None and size > max_given:
            for local, rest in asked:
                local.assumed |= rest.keys()
        else:
            separated |= yield from _test(asked, searches, answers)
    yield from _least(separated, searches, answers)
    return separated


def _of_size(sets: Iterable[int], size: int) -> list[int]:
    return [given for given in sets if given.bit_count() == size]


def _least(pairs: set[Pair], searches: list[LocalSearch], answers: Answers) -> Asking[None]:
    """Leave out of the separating sets of some pairs what is not needed, one variable after another, the one with the largest p-value."""
    held = [(local, pair) for local in searches for pair in sorted(pairs) if pair in local.sepsets]
    while held:
        smaller = {key: [key[2] & ~(1 << z) for z in bits(key[2])] for local, pair in held if (key := (*pair, local.sepsets[pair]))}
        yield ((x, y, given) for (x, y, _), sets in smaller.items() for given in sets)
        still = []
        for local, (x, y) in held:
            keys = [(x, y, given) for given in smaller[x, y, local.sepsets[x, y]]]
            enough = [key for key in keys if answers.independent(key)]
            if enough:
                local.sepsets[x, y] = max(enough, key=answers.p_value)[2]
                still.append((local, (x, y)))
        held = still


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
