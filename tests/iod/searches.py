"""Adjacency searches to compare with, and graphs on which neighbours are not enough to separate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from random import Random

from consilience.citest import CIResult, CITest, Question
from consilience.graph import MarkSets, Separation, latent_projection_marks
from consilience.graph.marks import ARROW, TAIL
from consilience.graph.marksets import bits, mask_of
from consilience.iod import skeleton
from consilience.iod.answers import Answers, Key
from consilience.iod.skeleton import LocalSearch


class Numbered(CITest):
    """m-separation between numbered nodes, whatever ``always`` is given besides, as a CI test over nodes named by numbers."""

    def __init__(self, marks: MarkSets, observed: int, always: int = 0) -> None:
        self.variables = names(observed)
        self.datasets = (frozenset(self.variables),)
        self.separation, self.always = Separation(marks), always

    def answer(self, questions: Sequence[Question], progress: object = None) -> list[CIResult]:
        return [question.result(float(self.separated(key_of(question)))) for question in questions]

    def separated(self, key: Key) -> bool:
        x, y, given = key
        return self.separation.separated(x, y, given | self.always)


def names(n: int) -> tuple[str, ...]:
    return tuple(f"{v:02d}" for v in range(n))


def key_of(question: Question) -> Key:
    return int(question.x), int(question.y), mask_of(map(int, question.given))


def answers_of(test: CITest) -> Answers:
    return Answers(test, sorted(test.variables), 0.05)


def full_fci(n: int, datasets: Iterable[int], answers: Answers) -> list[LocalSearch]:
    """FCI as it is defined: every remaining pair is tested given all subsets of its possible-d-sep sets, each data set on its own."""
    searches = [LocalSearch(v, [v & ~(1 << i) if v >> i & 1 else 0 for i in range(n)]) for v in datasets]
    for local in searches:
        for what, pools in (("level", skeleton._neighbours), ("possible d-separation", skeleton._possible_separators)):
            skeleton.asked_of(answers, skeleton._levels([local], [local], answers, None, lambda *_: None, what, pools))
    return searches


def with_link(random: Random, most: int, least: int = 5) -> tuple[MarkSets, int]:
    """A DAG whose first n nodes are observed, and n: x <-> u --> y, y <-> v --> x and z --> u, v, with more nodes and edges.

    Without these, only {u, v, z} separates x and y, and z is a neighbour of neither. What comes on top often leaves it so; it never has
    both ends of the link in one edge.
    """
    n = random.randint(least, most)
    order = random.sample(range(n), n)
    z, u, v, x, y = sorted(random.sample(range(n), 5))
    caused, confounded = {(u, y), (v, x), (z, u), (z, v)}, {(u, x), (v, y)}
    share, latent = random.choice([0.05, 0.1, 0.15, 0.2, 0.3]), random.choice([0.2, 0.5, 0.8])
    for pair in combinations(range(n), 2):
        if pair not in caused | confounded | {(x, y)} and random.random() < share:
            (confounded if random.random() < latent else caused).add(pair)
    dag = MarkSets.empty(n + len(confounded))
    for i, j in caused:
        dag.add_edge(order[i], order[j], TAIL, ARROW)
    for common, pair in enumerate(sorted(confounded), start=n):
        for i in pair:
            dag.add_edge(common, order[i], TAIL, ARROW)
    return dag, n


def mag_with_link(random: Random, most: int) -> MarkSets:
    dag, n = with_link(random, most)
    return latent_projection_marks(dag, list(range(n)))


def some_datasets(random: Random, n: int) -> list[int]:
    """One to three data sets that lack two variables at most."""
    everything = (1 << n) - 1
    return [everything & ~mask_of(random.sample(range(n), random.randint(0, 2))) for _ in range(random.randint(1, 3))]


def separable(test: Numbered, x: int, y: int, held: int) -> bool:
    """Whether some set of these variables separates two of them, by trying all."""
    rest = [v for v in bits(held) if v not in (x, y)]
    return any(test.separated((x, y, mask_of(chosen))) for size in range(len(rest) + 1) for chosen in combinations(rest, size))
