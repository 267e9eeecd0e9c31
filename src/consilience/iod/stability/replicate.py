"""One replicate of a discovery: the questions that its search asks, and the graphs that come of the answers."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from consilience.citest.interface import CITest, Progress
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.graph.marksets import mask_of
from consilience.iod.answers import Answers, Key
from consilience.iod.clock import Clock
from consilience.iod.evidence import rulings
from consilience.iod.local import read_local
from consilience.iod.search_problem import Rule, SearchProblem
from consilience.iod.skeleton import LocalSearch, search, searching
from consilience.iod.solution import solve_exact
from consilience.iod.weighing import every_test, to_weigh
from consilience.settings.choices import Resolve

__all__ = ["Asked", "Graphs", "Lists", "Plan", "ask_replicate", "first_questions", "search_again"]

MOST_LISTED = 1000
"""Graphs of one replicate that are listed: shares among more of them are the same to two digits."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How the study was searched, and how each of its replicates is. ``seconds`` are for the graphs of one replicate,
    and ``digits`` of numbers count where results are published with so many.
    """

    names: tuple[str, ...]
    datasets: tuple[tuple[str, ...], ...]
    alpha: float
    max_given: int | None
    selection_bias: bool
    resolve: Resolve
    rules: Sequence[Rule] = ()
    seconds: float = 5.0
    digits: int | None = None

    @property
    def held(self) -> list[int]:
        """The variables of each data set as bits."""
        index = {name: i for i, name in enumerate(self.names)}
        return [mask_of(index[name] for name in names) for names in self.datasets]


class _Known(CITest):
    """Answers that are there, as a test."""

    def __init__(self, known: Answers) -> None:
        self.variables, self.datasets = known.names, ()
        self._known = known
        self._index = {name: i for i, name in enumerate(known.names)}

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """From what is known."""
        found = ((question, self._known.results.get(self._key(question))) for question in questions)
        return [result or question.result(1.0, contributors=0, reason="nobody has asked this") for question, result in found]

    def _key(self, question: Question) -> Key:
        x, y = sorted((self._index[question.x], self._index[question.y]))
        return x, y, mask_of(self._index[name] for name in question.given)


@dataclass(slots=True, eq=False)
class Asked:
    """What was asked of a replicate: every answer, those that its own search used, and how the search ended.

    ``every`` has the tests of the plain search as well, whether or not this one came by them: they are compared one by one.
    """

    every: Answers
    answers: Answers
    searches: list[LocalSearch] = field(default_factory=list)


def ask_replicate(plan: Plan, first: Iterable[Key]) -> Generator[Sequence[Question], list[CIResult], Asked]:
    """The search in one replicate, as questions to be answered: those of ``first`` at once, then what else it comes to."""
    every = Answers(None, plan.names, plan.alpha)
    asked = Asked(every, Answers(_Known(every), plan.names, plan.alpha))
    yield from _asked(every, first, plan.digits)
    steps = searching(len(plan.names), plan.held, asked.answers, plan.max_given, lambda *_: None)
    while True:
        try:
            keys = list(next(steps))
        except StopIteration as stop:
            asked.searches = stop.value
            return asked
        yield from _asked(every, keys, plan.digits)
        asked.answers.ask(keys)


def _asked(every: Answers, keys: Iterable[Key], digits: int | None) -> Generator[Sequence[Question], list[CIResult], None]:
    new = every.new(keys)
    if new:
        results = yield [every.question(key) for key in new]
        every.take(new, results if digits is None else [result.rounded(digits) for result in results])


def search_again(plan: Plan, every: Answers) -> Asked:
    """The search in a replicate whose answers are there."""
    answers = Answers(_Known(every), plan.names, plan.alpha)
    return Asked(every, answers, search(len(plan.names), plan.held, answers, plan.max_given, lambda *_: None))


def first_questions(plan: Plan, plain: Iterable[Key]) -> list[Key]:
    """What every replicate is asked at once: what the plain search asked; and all tests there are, where they may be weighed."""
    keys = dict.fromkeys(plain)
    if plan.resolve is not Resolve.STRICT:
        whole = [LocalSearch(held, []) for held in plan.held]
        keys |= dict.fromkeys(every_test(whole, plan.max_given) or ())
    return list(keys)


@dataclass(frozen=True, slots=True, eq=False)
class Graphs:
    """The list of a replicate: how many graphs, how many have each edge, and each mark at each end; whether the list is complete.

    ``marks[i, j, m]`` counts graphs with mark m (1 circle, 2 arrowhead, 3 tail) at j on the edge i–j, and m = 0 those without the edge.
    """

    count: int
    marks: NDArray[np.int64]
    complete: bool

    @property
    def shares(self) -> NDArray[np.float64]:
        """The same as shares of the list."""
        return self.marks / max(self.count, 1)


class Lists:
    """The graphs of replicates. Where decisions agree, the list follows from them alone, and the same decisions need be solved once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._known: dict[object, Graphs] = {}

    def of(self, asked: Asked) -> Graphs:
        """The list of a replicate."""
        key = tuple(_decided(local) for local in asked.searches)
        found = self._known.get(key)
        if found is None:
            found, agreed = self._solved(asked)
            if agreed:
                self._known[key] = found
        return found

    def _solved(self, asked: Asked) -> tuple[Graphs, bool]:
        plan, answers = self.plan, asked.answers
        locals_ = [read_local(search, selection_bias=plan.selection_bias) for search in asked.searches]
        findings = rulings(locals_, answers)
        problem = SearchProblem(len(plan.names), locals_, findings, (), plan.rules, plan.selection_bias)
        clock = Clock(plan.seconds, lambda _: None, None)
        solution = solve_exact(
            problem,
            plan.names,
            clock,
            MOST_LISTED,
            plan.resolve,
            lambda: to_weigh(answers, findings, asked.searches, plan.max_given),
            explain=False,
        )
        n = len(plan.names)
        marks = np.zeros((n, n, 4), dtype=np.int64)
        here = np.arange(n)
        for pag in solution.graphs:
            marks[here[:, None], here[None, :], pag.to_matrix()] += 1
        found = Graphs(len(solution.graphs), marks, solution.listing.complete)
        return found, solution.strict and solution.listing.complete


def _decided(local: LocalSearch) -> tuple[object, ...]:
    """What a data set's search has decided, without the p-values."""
    separated = tuple(sorted(local.sepsets.items()))
    return local.variables, tuple(local.adjacent), separated, frozenset(local.unknown), frozenset(local.assumed)
