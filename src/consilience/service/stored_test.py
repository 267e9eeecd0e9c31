"""The CI test of a study over a network, whoever carries its messages: results are rounded as they are published, and kept before use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from consilience.citest.interface import CITest, Progress
from consilience.citest.question import Question, all_questions
from consilience.citest.result import CIResult
from consilience.citest.rounding import PUBLISHED_DIGITS

__all__ = ["StoredTest"]


class StoredTest(CITest):
    """A CI test whose results are rounded as they are published, and handed to ``keep`` before anybody else sees them.

    With ``ahead``, the first question brings all that the data sets could be asked (up to ``max_given`` conditions): more tests, but as
    few rounds as one batch takes, whatever the number of levels. ``check`` is called in every round with the tests that are done of those
    that were asked for together; it may raise to end the run. What is ``known`` is not asked again, and ``withheld`` is what was kept out
    of it.
    """

    def __init__(
        self,
        inner: CITest,
        keep: Callable[[Sequence[CIResult]], None],
        check: Callable[[int, int], None],
        *,
        ahead: bool = False,
        max_given: int | None = None,
        known: Sequence[CIResult] = (),
        withheld: Sequence[str] = (),
    ) -> None:
        self._before = tuple(withheld)
        self.variables, self.datasets = inner.variables, inner.datasets
        self._inner, self._keep, self._check, self._max_given = inner, keep, check, max_given
        self._ahead = ahead
        self._known = {Question(result.x, result.y, result.given): result for result in known}

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Answer checked questions, in order."""
        wanted = list(questions)
        if self._ahead:
            self._ahead = False  # once: what is asked later was in it, or depends on answers that nobody could foresee
            every = (q for held in self.datasets for q in all_questions(sorted(held), self._max_given))
            wanted = list(dict.fromkeys((*wanted, *every)))
        new = [q for q in dict.fromkeys(wanted) if q not in self._known]
        if new:
            exact = self._inner.answer(new, lambda done, total: self._tick(done, total, progress))
            # Rounded once, here: what is kept, published, drawn and decided by are the same numbers, and nobody finds a p-value in a table
            # on the other side of alpha than the graph has it.
            results = [result.rounded(PUBLISHED_DIGITS) for result in exact]
            self._keep(results)  # on disk before the engine sees them, so that no graph rests on a result that a crash can lose
            self._known |= dict(zip(new, results, strict=True))
        return [self._known[q] for q in questions]

    def withheld(self) -> tuple[str, ...]:
        """What the study's rules kept out of its sums."""
        return tuple(dict.fromkeys((*self._before, *self._inner.withheld())))

    def _tick(self, done: int, total: int, progress: Progress | None) -> None:
        self._check(done, total)
        if progress is not None:
            progress(done, total)
