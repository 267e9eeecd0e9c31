"""The graphs of the paper's study, and what a run is: graph, sample size, partitions, replication, and the seed that follows from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice

from consilience.citest.question import Question, all_questions
from consilience.graph import PAG, Oracle
from consilience.reproduction.tabled import testable
from consilience.simulate.example import EXAMPLE_PAG
from consilience.simulate.graphs import count_tails, discriminated_colliders, has_ordered_collider, random_pags
from consilience.simulate.randomness import generator

__all__ = ["ALPHA", "SEED", "Run", "StudyGraph", "study_graphs"]

ALPHA = 0.05
SEED = 2_026
DIRECTED, BIDIRECTED = 0.4, 0.4
"""Densities of the random graphs; the paper does not give its own. Three pairs in five then have an edge, and one graph in 100 is hard."""

TAILS = 3
VARIABLES = tuple("ABCDE")


@dataclass(frozen=True, slots=True, order=True)
class Run:
    """One simulated study. The order is that in which runs are done: all settings once, then all of them again.

    >>> Run(0, 3, 500, 12).key
    'g03-n00500-k12-r00'
    """

    replication: int
    graph: int
    n: int
    sites: int

    @property
    def key(self) -> str:
        """A name for files."""
        return f"g{self.graph:02d}-n{self.n:05d}-k{self.sites:02d}-r{self.replication:02d}"

    @property
    def seed(self) -> tuple[int, ...]:
        """What the run's random numbers start from."""
        return (SEED, 1, self.graph, self.n, self.sites, self.replication)


@dataclass(frozen=True, slots=True, eq=False)
class StudyGraph:
    """A graph of the study, the two variables that are exclusive to different partitions, and what can be asked of the data."""

    pag: PAG
    exclusive: tuple[str, str]

    @property
    def datasets(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The variables of the two kinds of partitions."""
        first, second = self.exclusive
        return tuple(v for v in VARIABLES if v != second), tuple(v for v in VARIABLES if v != first)

    @property
    def questions(self) -> list[Question]:
        """The 42 questions that some partition can answer."""
        return testable(all_questions(VARIABLES, 2), self.datasets)

    def truth(self) -> list[bool]:
        """For each question, whether the graph says independence."""
        return [result.p_value > ALPHA for result in Oracle(self.pag, self.datasets).answer(self.questions)]


@lru_cache(maxsize=4)
def study_graphs(count: int) -> tuple[StudyGraph, ...]:
    """The first ``count`` graphs of the study: that of the paper's first figure, then random ones that meet its two criteria.

    >>> graph = study_graphs(1)[0]
    >>> graph.exclusive, sum(graph.truth()), len(graph.questions)
    (('A', 'E'), 5, 42)
    """
    return tuple(islice(_draw_graphs(), count))


def _draw_graphs() -> Iterator[StudyGraph]:
    rng = generator((SEED, 0))

    def hard(pag: PAG) -> bool:
        return count_tails(pag) >= TAILS and any(len(path) < len(VARIABLES) for path in discriminated_colliders(pag))

    yield _with_partition(EXAMPLE_PAG, rng.random())
    for pag in random_pags(VARIABLES, rng, directed=DIRECTED, bidirected=BIDIRECTED, where=hard):
        if pag != EXAMPLE_PAG:
            yield _with_partition(pag, rng.random())


def _with_partition(pag: PAG, u: float) -> StudyGraph:
    """Two exclusive variables, chosen by ``u`` among the pairs with which a collider's discriminating path is seen as a whole."""
    pairs = [pair for pair in combinations(VARIABLES, 2) if has_ordered_collider(pag, StudyGraph(pag, pair).datasets)]
    return StudyGraph(pag, pairs[int(u * len(pairs))])
