"""What is weighed against each other where decisions contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from consilience.iod.answers import Answers, Key
from consilience.iod.evidence import Ruling, verdicts
from consilience.iod.skeleton import LocalSearch

__all__ = ["MOST_TESTS", "every_test", "to_weigh"]

MOST_TESTS = 100
"""With ``resolve="optimal"``, all tests of all data sets are asked and weighed if they are no more than these (five variables have 80);
otherwise the findings of the local searches, of which there are few, and the tests without conditioning."""


def every_test(searches: Sequence[LocalSearch], max_given: int | None) -> list[Key] | None:
    """All tests of all data sets, each once; None if they are too many to be weighed.

    >>> every_test([LocalSearch(0b111, [0b110, 0b101, 0b011])], None)
    [(0, 1, 0), (0, 1, 4), (0, 2, 0), (0, 2, 2), (1, 2, 0), (1, 2, 1)]
    """
    keys: dict[Key, None] = {}
    for key in chain.from_iterable(local.all_tests(max_given) for local in searches):
        keys[key] = None
        if len(keys) > MOST_TESTS:  # of twenty variables there are fifty million
            return None
    return list(keys)


def to_weigh(answers: Answers, findings: list[Ruling], searches: Sequence[LocalSearch], max_given: int | None) -> list[Ruling]:
    """What is weighed: every test of every data set, or, where these are too many, the findings and what else was found without
    conditioning. (An adjacency given up for its weakest test does not take the strong dependences of the pair with it.)
    """
    keys = every_test(searches, max_given)
    if keys is not None:
        answers.ask(keys)
        return verdicts(answers)
    said = {(ruling.decision.x, ruling.decision.y, ruling.decision.given) for ruling in findings}
    return findings + [
        ruling for ruling in verdicts(answers, max_given=0) if (ruling.decision.x, ruling.decision.y, ruling.decision.given) not in said
    ]
