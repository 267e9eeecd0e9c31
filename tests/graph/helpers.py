"""Slow definitions to compare with, enumerations of small graphs, and random graphs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, pairwise, permutations, product
from random import Random

from hypothesis import strategies as st

from consilience.graph import MarkSets, Separation, is_mag_marks, latent_projection_marks
from consilience.graph.marks import ARROW, TAIL

LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIRECTED = [None, (TAIL, ARROW), (ARROW, TAIL), (ARROW, ARROW)]
"""No edge, -->, <--, <->."""
ANY = [*DIRECTED, (TAIL, TAIL)]


def graph_of(n: int, states: list[tuple[int, int] | None] | tuple[tuple[int, int] | None, ...]) -> MarkSets:
    marks = MarkSets.empty(n)
    for (i, j), state in zip(combinations(range(n), 2), states, strict=True):
        if state is not None:
            marks.add_edge(i, j, *state)
    return marks


@cache
def all_mags(n: int, undirected: bool = False) -> tuple[MarkSets, ...]:
    """Every MAG with n nodes, found by trying every graph."""
    graphs = (graph_of(n, states) for states in product(ANY if undirected else DIRECTED, repeat=n * (n - 1) // 2))
    return tuple(graph for graph in graphs if is_mag_marks(graph))


def independence_model(marks: MarkSets) -> tuple[int, ...]:
    """For every node and every set of other nodes, which nodes are m-connected with it given the set."""
    separation = Separation(marks)
    return tuple(separation.connected(i, given) for i in range(marks.n) for given in range(1 << marks.n) if not given >> i & 1)


@cache
def all_classes(n: int, undirected: bool = False) -> tuple[tuple[MarkSets, ...], ...]:
    """All MAGs with n nodes, grouped by their independence models."""
    classes: dict[tuple[int, ...], list[MarkSets]] = {}
    for mag in all_mags(n, undirected):
        classes.setdefault(independence_model(mag), []).append(mag)
    return tuple(map(tuple, classes.values()))


@st.composite
def mixed_graphs(draw: st.DrawFn, most: int = 5, undirected: bool = False) -> MarkSets:
    """Any graph with arrowheads and tails, directed cycles and all."""
    n = draw(st.integers(2, most))
    pairs = n * (n - 1) // 2
    return graph_of(n, draw(st.lists(st.sampled_from(ANY if undirected else DIRECTED), min_size=pairs, max_size=pairs)))


@st.composite
def random_dags(draw: st.DrawFn, least: int = 2, most: int = 8) -> MarkSets:
    n = draw(st.integers(least, most))
    return random_dag(n, draw(st.sampled_from([0.2, 0.35, 0.5, 0.8])), Random(draw(st.integers(0, 2**32))))


@st.composite
def random_mags(draw: st.DrawFn, observed: int = 6, latent: int = 4) -> MarkSets:
    """The MAG over some of the variables of a random DAG."""
    dag = draw(random_dags(least=2, most=observed + latent))
    return latent_projection_marks(dag, list(range(min(dag.n, max(2, dag.n - latent)))))


def random_dag(n: int, share: float, random: Random) -> MarkSets:
    order = random.sample(range(n), n)
    dag = MarkSets.empty(n)
    for a, b in combinations(order, 2):
        if random.random() < share:
            dag.add_edge(a, b, TAIL, ARROW)
    return dag


def paths(marks: MarkSets, x: int, y: int) -> Iterator[tuple[int, ...]]:
    """Every path between x and y, by trying every sequence of nodes."""
    others = [v for v in range(marks.n) if v not in (x, y)]
    for length in range(len(others) + 1):
        for inner in permutations(others, length):
            path = (x, *inner, y)
            if all(marks.adjacent[a] >> b & 1 for a, b in pairwise(path)):
                yield path


def ancestors_by_definition(marks: MarkSets, nodes: set[int]) -> set[int]:
    """The nodes with a directed path into ``nodes``, these among them."""
    found = set(nodes)
    while True:
        more = {v for v in range(marks.n) if any(marks.children(v) >> w & 1 for w in found)} - found
        if not more:
            return found
        found |= more


def separated_by_definition(marks: MarkSets, x: int, y: int, given: set[int]) -> bool:
    """Richardson & Spirtes 2002, definition of m-separation, path by path."""
    above = ancestors_by_definition(marks, given)
    return not any(
        all((b in above) if marks.is_collider(a, b, c) else (b not in given) for a, b, c in zip(path, path[1:], path[2:], strict=False))
        for path in paths(marks, x, y)
    )


def inducing_by_definition(marks: MarkSets, x: int, y: int, latent: set[int]) -> bool:
    """Richardson & Spirtes 2002, definition of inducing paths relative to L, path by path."""
    above = ancestors_by_definition(marks, {x, y})
    return any(
        all((b in above) if marks.is_collider(a, b, c) else (b in latent) for a, b, c in zip(path, path[1:], path[2:], strict=False))
        for path in paths(marks, x, y)
    )


def subsets(nodes: list[int]) -> Iterator[set[int]]:
    for size in range(len(nodes) + 1):
        yield from map(set, combinations(nodes, size))
