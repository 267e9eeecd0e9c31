"""Answers are kept as columns, and read as the objects that the test gave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from polars.testing import assert_frame_equal

import consilience as cs
from consilience.citest import CIResult, Direction, Question
from consilience.citest.result import to_frame
from consilience.iod import answers as module
from consilience.iod.answers import Answers, Key
from consilience.iod.errors import PValueError


class Talkative(cs.CITest):
    """Answers with every field filled in, some of them unanswerable; keeps what it was asked and what it said."""

    variables = tuple("ABCDE")
    datasets = (frozenset("ABCDE"),)

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.said: list[CIResult] = []

    def answer(self, questions: Sequence[Question], progress: object = None) -> list[CIResult]:
        self.batches.append(len(questions))
        results = [self._result(question, len(self.said) + i) for i, question in enumerate(questions)]
        self.said += results
        return results

    def _result(self, question: Question, number: int) -> CIResult:
        p = float(np.random.default_rng(number).uniform())
        quiet = number % 5 == 0
        ways = tuple(Direction(a, b, 1.5, 1, p, -3.0, -2.25) for a, b in ((question.x, question.y), (question.y, question.x)))
        return CIResult(
            question.x,
            question.y,
            question.given,
            1.0 if quiet else p,
            number,
            number % 3,
            number % 7,
            informative=not quiet,
            reason="too few rows" if quiet else "",
            converged=number % 4 != 0,
            directions=() if number % 2 else ways,
            participants=("one", "two") if number % 3 else (),
        )


KEYS: list[Key] = [(x, y, given) for x in range(5) for y in range(x + 1, 5) for given in range(32) if not (given >> x | given >> y) & 1]


def test_every_result_comes_back_as_it_was_given() -> None:
    test = Talkative()
    answers = Answers(test, "ABCDE", 0.05)
    answers.ask(KEYS)
    answers.ask(reversed(KEYS))  # known by now
    assert test.batches == [80]
    assert list(answers.results) == KEYS
    assert len(answers.results) == 80
    assert [answers.results[key] for key in KEYS] == list(answers.results.values()) == test.said
    assert dict(answers.results.items()) == dict(zip(KEYS, test.said, strict=True))
    for key, result in zip(KEYS, test.said, strict=True):
        assert key in answers.results
        assert answers.p_value(key) == result.p_value
        speaks = result.informative and result.converged  # a fit that did not reach its maximum decides nothing
        assert answers.unknown(key) != speaks
        assert answers.independent(key) == (speaks and result.p_value > 0.05)


def test_what_was_not_asked_is_unknown() -> None:
    answers = Answers(Talkative(), "ABCDE", 0.05)
    assert answers.unknown((0, 1, 0))
    assert (0, 1, 0) not in answers.results
    assert answers.results.get((0, 1, 0)) is None
    with pytest.raises(KeyError):
        answers.results[0, 1, 0]
    with pytest.raises(KeyError):
        answers.independent((0, 1, 0))


@pytest.mark.parametrize("at_once", [1, 7, 80, 1000])
def test_the_table_does_not_depend_on_the_parts_it_is_made_of(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", at_once)
    test = Talkative()
    answers = Answers(test, "ABCDE", 0.05)
    assert_frame_equal(answers.frame(), to_frame([]))
    answers.ask(KEYS)
    assert max(test.batches) <= at_once
    assert_frame_equal(answers.frame(), to_frame(test.said))


def test_a_p_value_that_is_none_is_refused() -> None:
    class Wrong(Talkative):
        def _result(self, question: Question, number: int) -> CIResult:
            return CIResult(question.x, question.y, question.given, float("nan"))

    with pytest.raises(PValueError, match="between 0 and 1"):
        Answers(Wrong(), "ABCDE", 0.05).ask(KEYS)
