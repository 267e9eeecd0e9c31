"""A CI test of one's own in five lines, and what every CI test refuses before it asks anybody anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import consilience as cs
from consilience import errors


class Coin(cs.CITest):
    """Answers every question with the same p-value, and remembers what it was asked."""

    variables = ("A", "B", "C", "AB")
    datasets = (frozenset(variables),)

    def __init__(self) -> None:
        self.asked: list[cs.Question] = []

    def answer(self, questions: Sequence[cs.Question], progress: Any = None) -> list[cs.CIResult]:
        self.asked += questions
        return [question.result(0.5, n=10) for question in questions]


def test_a_test_of_ones_own_drives_discovery() -> None:
    found = cs.discover(Coin())
    assert [pag.edges for pag in found.pags] == [()]
    assert found.tests["n"].unique().to_list() == [10]


def test_a_question_is_a_pair_a_triple_or_a_question() -> None:
    coin = Coin()
    coin.test_many([("A", "B"), ["A", "B", "C"], ("A", "B", ["C", "AB"]), cs.Question("B", "C", ("A",))])
    wanted = [("A", "B", ()), ("A", "B", ("C",)), ("A", "B", ("C", "AB")), ("B", "C", ("A",))]
    assert [(q.x, q.y, q.given) for q in coin.asked] == wanted


@pytest.mark.parametrize(
    "question",
    [
        "AB",
        b"AB",
        ("A",),
        (),
        ("A", "B", "C", "AB"),
        {"A", "B"},
        {"A": "B"},
        None,
        7,
        ("A", 1),
        (None, "B"),
        ("A", "B", [1]),
        ("A", "B", 1),
        ("A", ["B"]),
    ],
    ids=lambda one: "a set" if isinstance(one, set) else repr(one),  # sets are in another order in every process
)
def test_what_is_no_question_is_refused_before_any_is_answered(question: Any) -> None:
    coin = Coin()
    with pytest.raises(errors.QuestionError, match="got"):
        coin.test_many([("A", "B"), question])
    assert coin.asked == []


def test_a_question_object_is_checked_too() -> None:
    with pytest.raises(errors.UnknownVariableError, match="'Z'"):
        Coin().test_many([cs.Question("A", "Z")])
    with pytest.raises(errors.QuestionError, match="leave it out"):
        Coin().test("A", "B", None)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-1, 1.5, "2", True])
def test_max_given_is_a_whole_number(value: Any) -> None:
    with pytest.raises(errors.OptionError, match="max_given must be a whole number of at least 0"):
        Coin().test_all(max_given=value)


def test_no_conditioning_at_all_is_a_choice() -> None:
    table = Coin().test_all(max_given=0)
    assert table.height == 6
    assert table["given"].list.len().max() == 0
