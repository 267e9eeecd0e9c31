"""A CI test that answers from a table: nothing is fitted, so that every method's decisions can be taken to graphs at no cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from consilience.citest.interface import CITest, Progress
from consilience.citest.question import Question
from consilience.citest.result import CIResult

__all__ = ["TabledTest", "testable"]


class TabledTest(CITest):
    """P-values that are there already, for data sets with these variables. What is not in the table is not informative.

    >>> known = TabledTest({Question("A", "B"): 0.6}, datasets=["AB", "BC"])
    >>> known.test("A", "B").p_value, known.test("A", "C").informative
    (0.6, False)
    """

    def __init__(self, p_values: Mapping[Question, float], datasets: Iterable[Iterable[str]]) -> None:
        self.datasets = tuple(dict.fromkeys(frozenset(names) for names in datasets))
        self.variables = tuple(sorted(frozenset().union(*self.datasets)))
        self._p = {_key(question): p for question, p in p_values.items()}

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Look the questions up."""
        results = [self._answer(question) for question in questions]
        if progress is not None:
            progress(len(results), len(results))
        return results

    def _answer(self, question: Question) -> CIResult:
        p = self._p.get(_key(question))
        reason = "" if p is not None else "the table has no answer"
        shown = 1.0 if p is None else p
        return CIResult(question.x, question.y, question.given, shown, 0, 0, 0, not reason, reason, True, ())


def _key(question: Question) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset((question.x, question.y)), frozenset(question.given)


def testable(questions: Iterable[Question], datasets: Iterable[Iterable[str]]) -> list[Question]:
    """The questions whose variables some data set holds together.

    >>> from consilience.citest.question import all_questions
    >>> len(testable(all_questions("ABCDE"), ["ABCD", "BCDE"]))
    42
    """
    held = [frozenset(names) for names in datasets]
    return [question for question in questions if any(names.issuperset(question.variables) for names in held)]
