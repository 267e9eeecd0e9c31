"""The answers of a CI test, asked in batches, remembered, and cut at one significance level.

What is decided is *independent*, *dependent* or *unknown*: a test that was not run, or that the data cannot answer, is unknown and is
never counted as independence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from consilience.citest.interface import CITest
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.graph.marksets import bits
from consilience.iod.errors import PValueError

__all__ = ["Answers", "Key"]

Key = tuple[int, int, int]
"""A question as numbers: x < y, and the conditioning set as bits."""


class Answers:
    """What a test says of questions over variables 0 … n-1, at one significance level."""

    def __init__(self, test: CITest, names: Sequence[str], alpha: float) -> None:
        self.names, self.alpha = tuple(names), alpha
        self.results: dict[Key, CIResult] = {}
        self._test = test

    def ask(self, keys: Iterable[Key]) -> None:
        """Ask, as one batch, what has not been asked yet."""
        new = [key for key in dict.fromkeys(keys) if key not in self.results]
        if new:
            answers = self._test.answer([self._question(key) for key in new])
            for answer in answers:  # a CI test may be anybody's; nan would pass every comparison below as "dependent"
                if not 0.0 <= answer.p_value <= 1.0:
                    raise PValueError(
                        f"A CI test answers with a p-value between 0 and 1; got {answer.p_value!r} for {answer.x} ⫫ {answer.y}."
                    )
            self.results |= dict(zip(new, answers, strict=True))

    def _question(self, key: Key) -> Question:
        x, y, given = key
        return Question(self.names[x], self.names[y], tuple(self.names[z] for z in bits(given)))

    def independent(self, key: Key) -> bool:
        """True if the test was informative and did not reject."""
        result = self.results[key]
        return result.informative and result.p_value > self.alpha

    def unknown(self, key: Key) -> bool:
        """True if the question was not asked or could not be answered."""
        return key not in self.results or not self.results[key].informative

    def p_value(self, key: Key) -> float:
        """The p-value of an answered question."""
        return self.results[key].p_value
