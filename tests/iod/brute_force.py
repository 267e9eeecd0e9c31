"""What a discovery should return, by definition, over all classes there are; and CI tests that err or are silent, to try it on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations
from math import log

import numpy as np

from consilience.citest.interface import CITest
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.graph import MAG, PAG, MixedGraph, Oracle
from consilience.graph.marksets import mask_of
from consilience.iod.answers import Answers
from consilience.iod.evidence import Decision, Ruling, rulings
from consilience.iod.knowledge import Knowledge
from consilience.iod.local import read_local
from consilience.iod.skeleton import search
from tests.iod.mag_enumeration import CIRCLE, Bools, Enumeration, load, load_with_selection, questions

ALPHA = 0.05
PRICE = 1000
"""Weights count in whole numbers of this fraction of one."""

Asked = tuple[str, str, tuple[str, ...]]
Datasets = Sequence[tuple[int, ...]]


class Erring(Oracle):
    """An oracle that turns round a share of its answers, and is silent on another; the same question gets the same answer every time.

    With ``graded``, p-values spread over their side of α; else they are 0 and 1.
    """

    def __init__(
        self,
        graph: MixedGraph,
        datasets: Iterable[Iterable[str]] | None = None,
        *,
        seed: int = 0,
        flips: float = 0.0,
        silent: float = 0.0,
        graded: bool = False,
    ) -> None:
        super().__init__(graph, datasets)
        self.seed, self.flips, self.silent, self.graded = seed, flips, silent, graded

    def _answer(self, question: Question) -> CIResult:
        right = super()._answer(question)
        x, y = sorted(self.graph.index(name) for name in (question.x, question.y))
        rng = np.random.default_rng([self.seed, x, y, mask_of(self.graph.index(name) for name in question.given)])
        flip, quiet, strength = rng.uniform(size=3).tolist()
        if not right.informative:
            return right
        if quiet < self.silent:
            return replace(right, p_value=1.0, informative=False, reason="not told")
        independent = (right.p_value > ALPHA) != (flip < self.flips)
        spread = ALPHA + (1 - ALPHA) * strength if independent else ALPHA * strength**4
        return replace(right, p_value=spread if self.graded else float(independent))


def random_datasets(rng: np.random.Generator, n: int, least: int = 2) -> list[tuple[int, ...]]:
    """Two or three data sets of ``least`` variables or more that cover all of them."""
    while True:
        sizes = rng.integers(least, n + 1, size=int(rng.integers(2, 4)))
        datasets = [tuple(sorted(rng.choice(n, size, replace=False).tolist())) for size in sizes]
        if len(set().union(*datasets)) == n:
            return datasets


@cache
def _mags_of(n: int, selection_bias: bool) -> list[MAG]:
    """All MAGs, made and checked once for all the worlds that modules have."""
    every = load_with_selection(n) if selection_bias else load(n)
    return [MAG.from_matrix(marks, tuple("ABCDE"[:n])) for marks in every.mags]


_OBEYING: dict[tuple[int, bool, str], Bools] = {}


def _obeying(n: int, selection_bias: bool, known: Knowledge) -> Bools:
    """Which of all MAGs agree with what is known; the same few statements are asked about again and again."""
    key = n, selection_bias, repr(known)
    if key not in _OBEYING:
        _OBEYING[key] = np.array([known.allows(mag) for mag in _mags_of(n, selection_bias)])
    return _OBEYING[key]


@dataclass(frozen=True, eq=False)
class World:
    """All MAGs and classes over n nodes, named A, B, …; ``selection_bias`` adds those with undirected edges."""

    n: int
    selection_bias: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple("ABCDE"[: self.n])

    @cached_property
    def every(self) -> Enumeration:
        return load_with_selection(self.n) if self.selection_bias else load(self.n)

    @property
    def mags(self) -> list[MAG]:
        return _mags_of(self.n, self.selection_bias)

    @cached_property
    def _members(self) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of all MAGs, class by class, and where each class begins."""
        order = np.argsort(self.every.class_of, kind="stable")
        return order, np.searchsorted(self.every.class_of[order], np.arange(len(self.every.pags) + 1))

    def members(self, classes: Iterable[int]) -> np.ndarray:
        """The numbers of the MAGs of these classes."""
        order, begin = self._members
        return np.concatenate([np.empty(0, dtype=order.dtype), *(order[begin[c] : begin[c + 1]] for c in classes)])

    def some_class(self, rng: np.random.Generator) -> int:
        return int(rng.integers(len(self.every.pags)))

    def test(self, truth: int, datasets: Datasets, **errors: float) -> Erring:
        """What data sets say, or err in saying, of a class."""
        mag = MAG.from_matrix(self.every.mags[self.members([truth])[0]], self.names)
        return Erring(mag, [[self.names[i] for i in held] for held in datasets], **errors)  # type: ignore[arg-type]

    def pags(self, classes: Iterable[int]) -> set[PAG]:
        return {PAG.from_matrix(self.every.pags[c], self.names) for c in classes}

    def separated(self, x: int, y: int, given: int) -> Bools:
        """In which classes they are m-separated."""
        return self.every.models[:, self.every.index(x, y, given)]

    def inseparable(self, x: int, y: int, held: int) -> Bools:
        """In which classes no set of these variables separates them."""
        rest = [v for v in range(self.n) if held >> v & 1 and v not in (x, y)]
        sets = [mask_of(chosen) for size in range(len(rest) + 1) for chosen in combinations(rest, size)]
        return ~np.any([self.separated(x, y, given) for given in sets], axis=0)

    def agree(self, ruling: Ruling, held: Sequence[int]) -> Bools:
        """Which classes agree with a ruling; ``held`` are the variables of each data set, as bits."""
        found = np.ones(len(self.every.pags), dtype=bool)
        if ruling.separated is not None:
            found &= self.separated(*ruling.separated)
        for number, x, y in ruling.inseparable:
            found &= self.inseparable(x, y, held[number - 1])
        return found

    def obeying(self, known: Knowledge, classes: Iterable[int] | None = None) -> Bools:
        """Which MAGs, of all or of these classes, agree with what is known."""
        if classes is None:
            return _obeying(self.n, self.selection_bias, known)
        found = np.zeros(len(self.mags), dtype=bool)
        for number in self.members(classes):
            found[number] = known.allows(self.mags[number])
        return found

    def shown(self, classes: Iterable[int], obeying: Bools) -> set[PAG]:
        """For each class with members that obey, the marks that all of these share."""
        found = set()
        for c in classes:
            numbers = self.members([c])
            members = self.every.mags[numbers[obeying[numbers]]]
            if len(members):
                same = (members == members[0]).all(axis=0)
                found.add(PAG.from_matrix(np.where(same, members[0], np.int8(CIRCLE)), self.names))
        return found


class Evidence:
    """What a test's decisions come to.

    ``agree`` has a row for each decision that local graphs rest on, of the classes that agree with it; ``right`` one for each test of each
    data set that was answered, of the classes in which its decision is right; ``asked`` are the x, y, given of these tests.
    """

    def __init__(self, world: World, test: CITest, max_given: int | None = None) -> None:
        names, self.classes = tuple(sorted(test.variables)), len(world.every.pags)
        assert names == world.names
        held = [mask_of(names.index(name) for name in names_held) for names_held in test.datasets]
        decisions = Answers(test, names, ALPHA)
        found = search(world.n, held, decisions, max_given, lambda *_: None)
        self.locals_ = [read_local(local, selection_bias=world.selection_bias) for local in found]
        self.rulings = rulings(self.locals_, decisions)
        self.agree = np.array([world.agree(ruling, held) for ruling in self.rulings]).reshape(-1, self.classes)
        most = world.n if max_given is None else max_given
        decisions.ask(key for key in questions(world.n) if within(key, held) and key[2].bit_count() <= most)
        answers = {key: result for key, result in decisions.results.items() if result.informative}
        self.asked = [(result.x, result.y, result.given) for result in answers.values()]
        self.right = np.array([world.separated(*key) == (answer.p_value > ALPHA) for key, answer in answers.items()])
        self._weights = [weight(answer.p_value) for answer in answers.values()]

    @property
    def consistent(self) -> list[int]:
        """The classes that agree with all data sets."""
        return np.flatnonzero(self.agree.all(axis=0)).tolist()

    @property
    def cost(self) -> np.ndarray:
        """For each class the weight of the tests that it contradicts."""
        return prices(self._weights) @ ~self.right

    @property
    def cost_of_findings(self) -> np.ndarray:
        """For each class the weight of the decisions of local graphs that it contradicts, and of the tests without conditioning."""
        cost = prices(ruling.decision.weight or 0.0 for ruling in self.rulings) @ ~self.agree
        for (x, y, given), price, right in zip(self.asked, prices(self._weights), self.right, strict=True):
            if not given and (x, y, given) not in self.said:
                cost = cost + price * ~right
        return cost

    @property
    def said(self) -> set[Asked]:
        """The tests that the decisions of local graphs are told by."""
        return {(ruling.decision.x, ruling.decision.y, ruling.decision.given) for ruling in self.rulings}

    def contradicted(self, classes: Iterable[int]) -> set[Asked]:
        """The tests that at least one of these classes contradicts."""
        return {asked for asked, row in zip(self.asked, self.right, strict=True) if not row[list(classes)].all()}

    def of(self, decisions: Iterable[Decision]) -> Bools:
        """For each of these decisions, the classes that agree with it."""
        rows = {ruling.decision: row for ruling, row in zip(self.rulings, self.agree, strict=True)}
        return np.array([rows[decision] for decision in decisions]).reshape(-1, self.classes)


def within(key: tuple[int, int, int], held: Iterable[int]) -> bool:
    """Whether some data set holds all variables of a question."""
    x, y, given = key
    return any((given | 1 << x | 1 << y) & ~variables == 0 for variables in held)


def prices(weights: Iterable[float]) -> np.ndarray:
    """Weights as whole numbers, none of them nothing."""
    return np.array([max(1, round(PRICE * weight)) for weight in weights])


def weight(p_value: float) -> float:
    """How strongly a p-value speaks for its decision."""
    return abs(log(max(p_value, 1e-300) / ALPHA))
