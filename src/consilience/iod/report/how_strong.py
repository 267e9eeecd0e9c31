"""How strong two variables go together: which of their tests says it, and in which words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from consilience.citest.size_words import sentence
from consilience.iod.report.reasons import Asked
from consilience.iod.report.sentences import isolated

__all__ = ["Strong", "how_strong"]


class Strong(NamedTuple):
    """The test that stands for a pair, what it says, and what the test given nothing says if that is another."""

    test: Asked
    words: str
    plain: str = ""

    @property
    def all_words(self) -> str:
        """Both, one after the other."""
        return f"{self.words} Given nothing: {self.plain}" if self.plain else self.words


def how_strong(x: str, y: str, tests: Sequence[Asked]) -> Strong | None:
    """What is said of a pair, from its tests; None if no test says how strong.

    Of a pair that some test found independent, the test that did, given the fewest variables and with the largest p-value: the one that
    takes the edge away. Of others the weakest, the one with the largest p-value: the edge stands or falls with it. Beside either, the
    test given nothing.

    >>> tests = [Asked((), 0.001, "dependent", 300, 2, strength=0.2), Asked(("C",), 0.6, "independent", 300, 2, strength=0.03)]
    >>> how_strong("A", "B", tests).all_words
    'Where a test finds them independent: A and B: strength 0.03 of 1, given C. Given nothing: A and B: strength 0.20 of 1.'
    """
    telling = [test for test in tests if test.strength is not None and test.decision != "uninformative"]
    if not telling:
        return None
    apart = [test for test in telling if test.decision == "independent"]
    if apart:
        chosen = max(apart, key=lambda test: (-len(test.given), test.p_value or 0.0))
        before = "Where a test finds them independent: " if len(telling) > 1 else ""
    else:
        chosen = max(telling, key=lambda test: (test.p_value or 0.0, -(test.strength or 0.0)))
        before = f"Weakest of {len(telling):,} tests: " if len(telling) > 1 else ""
    plain = next((test for test in telling if not test.given), None)
    also = plain is not None and plain is not chosen
    return Strong(chosen, _ended(before + _told(x, y, chosen)), _ended(_told(x, y, plain)) if also and plain is not None else "")


def _ended(one: str) -> str:
    """As a sentence; a name that it begins with stays as it is."""
    return f"{one[0].upper()}{one[1:]}." if one.startswith(("higher ", "no clear ")) else f"{one}."


def _told(x: str, y: str, test: Asked) -> str:
    size = test.size
    if size is not None:
        size = replace(size, response=isolated(size.response), predictor=isolated(size.predictor))
    return sentence(isolated(x), isolated(y), [isolated(name) for name in test.given], size, test.strength, test.levels)
