"""Search problems as a discovery makes them, to put to parts of the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from consilience.citest.interface import CITest
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.graph.marksets import mask_of
from consilience.iod.answers import Answers
from consilience.iod.discover import _rules
from consilience.iod.evidence import rulings, verdicts
from consilience.iod.knowledge import Knowledge
from consilience.iod.local import read_local
from consilience.iod.search_problem import SearchProblem
from consilience.iod.skeleton import search


def of(test: CITest, alpha: float = 0.05, knowledge: Knowledge | None = None) -> SearchProblem:
    """What the search finds and the tests without conditioning, to be weighed."""
    names = tuple(sorted(test.variables))
    answers = Answers(test, names, alpha)
    held = [mask_of(names.index(name) for name in one) for one in test.datasets]
    locals_ = [read_local(one) for one in search(len(names), held, answers, None, lambda *_: None)]
    findings = rulings(locals_, answers)
    said = {(r.decision.x, r.decision.y, r.decision.given) for r in findings}
    more = [r for r in verdicts(answers, max_given=0) if (r.decision.x, r.decision.y, r.decision.given) not in said]
    rules = [] if knowledge is None else _rules(knowledge, names)
    return SearchProblem(len(names), locals_, findings, findings + more, rules)


class Kept(CITest):
    """A test whose answers are kept: real data are asked once for several discoveries."""

    def __init__(self, test: CITest) -> None:
        self.variables, self.datasets = test.variables, test.datasets
        self._test = test
        self._answers: dict[tuple[str, str, tuple[str, ...]], CIResult] = {}

    def answer(self, asked: Sequence[Question], progress: Callable[[int, int], None] | None = None) -> list[CIResult]:
        new = [q for q in asked if (q.x, q.y, q.given) not in self._answers]
        for q, answer in zip(new, self._test.answer(new, progress) if new else [], strict=True):
            self._answers[q.x, q.y, q.given] = answer
        return [self._answers[q.x, q.y, q.given] for q in asked]
