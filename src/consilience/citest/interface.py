"""The interface of a conditional-independence test.

Algorithms that need CI decisions take any object with it: the federated test, Fisher's method, pooled data, an oracle, a user's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence

import polars as pl

from consilience.citest.question import Question, all_questions, ask
from consilience.citest.result import CIResult, to_frame

__all__ = ["CITest", "Progress"]

Progress = Callable[[int, int], None]
"""Called with (tests answered, tests asked) after every round; an exception it raises cancels the run."""


class CITest(ABC):
    """Answers questions of the form "is X independent of Y given Z?" over several data sets.

    A subclass says which variables there are, which of them each data set holds, and answers a batch of checked questions.

    >>> class Coin(CITest):
    ...     variables = ("A", "B")
    ...     datasets = (frozenset({"A", "B"}),)
    ...     def answer(self, questions, progress=None):
    ...         return [CIResult(q.x, q.y, q.given, 0.5, 10, 1, 0, True, "", True, ()) for q in questions]
    >>> Coin().test("A", "B").p_value
    0.5
    """

    variables: tuple[str, ...]
    datasets: tuple[frozenset[str], ...]

    @abstractmethod
    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Answer checked questions, in order."""

    def disclosed(self) -> pl.DataFrame | None:
        """What has left each site so far: one row a site, with messages, numbers, bytes and refusals. None if there are no ledgers."""
        return None

    def test(self, x: str, y: str, given: Iterable[str] = ()) -> CIResult:
        """Test X ⫫ Y | given."""
        return self.test_many([(x, y, given)])[0]

    def test_many(
        self, questions: Iterable[tuple[str, str] | tuple[str, str, Iterable[str]]], progress: Progress | None = None
    ) -> list[CIResult]:
        """Test many questions as one batch. Every question is checked before the first is answered."""
        checked = [ask(q[0], q[1], q[2] if len(q) > 2 else (), self.variables) for q in questions]
        return self.answer(checked, progress) if checked else []

    def test_all(self, max_given: int | None = None, progress: Progress | None = None) -> pl.DataFrame:
        """Test every pair given every set of at most ``max_given`` other variables; a frame with one row a test."""
        return to_frame(self.answer(all_questions(self.variables, max_given), progress))
