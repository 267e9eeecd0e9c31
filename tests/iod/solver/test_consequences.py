"""What all answers share: against all MAGs over four nodes, under assumptions, and when time runs out in between."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import combinations, permutations

import numpy as np
import pytest

from consilience.graph.marksets import MarkSets
from consilience.iod.clock import Clock, TimeIsUp
from consilience.iod.solver import program as solver
from consilience.iod.solver.consequences import Consequences
from consilience.iod.solver.deduction import Deduced
from consilience.iod.solver.program import Feature, Program
from tests.graph.test_ancestry import ancestors_of
from tests.iod.mag_enumeration import ARROW, NONE, TAIL, Bools, load

MAGS = load(4).mags
FEATURES: list[Feature] = [("edge", x, y) for x, y in combinations(range(4), 2)]
FEATURES += [(what, x, y) for what in ("arrow", "tail", "cause") for x, y in permutations(range(4), 2)]


def having(mags: np.ndarray) -> dict[Feature, Bools]:
    """Which of these MAGs have each feature."""
    ancestors = ancestors_of(mags)
    arrays = {"edge": mags != NONE, "arrow": mags == ARROW, "tail": mags == TAIL, "cause": ancestors}
    return {(what, x, y): arrays[what][:, x, y] for what, x, y in FEATURES}


EVERY = having(MAGS)
CASES: dict[str, Callable[[], Bools]] = {
    "": lambda: np.ones(len(MAGS), dtype=bool),
    ":- not adj(0,1).": lambda: EVERY["edge", 0, 1],
    ":- adj(X,Y).": lambda: ~(MAGS != NONE).any(axis=(1, 2)),
    ":- not arc(0,1). :- not anc(1,2). :- adj(0,2).": lambda: (
        EVERY["arrow", 0, 1] & EVERY["tail", 1, 0] & EVERY["cause", 1, 2] & ~EVERY["edge", 0, 2]
    ),
    ":- not collider(0,1,2). :- adj(0,3). :- not anc(1,3).": lambda: (
        EVERY["arrow", 0, 1] & EVERY["arrow", 2, 1] & ~EVERY["edge", 0, 3] & EVERY["cause", 1, 3]
    ),
}


class Looks(Clock):
    """Time is up after so many looks at the clock."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def part(self, share: float) -> Looks:
        """There is no share of looks."""
        return self

    def tick(self) -> None:
        self.looks -= 1
        if self.looks < 0:
            raise TimeIsUp


class Hurried(Clock):
    """Whose parts are over at once, a few times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def part(self, share: float) -> Clock:
        self.times -= 1
        return Clock(0.0 if self.times >= 0 else None)


def check(found: Consequences, mags: np.ndarray) -> int:
    """Nothing that is said is wrong; how much is left open."""
    left = 0
    for feature, has in having(mags).items():
        for said, so in ((found.occurs(feature), has.any()), (found.lacks(feature), not has.all())):
            assert said is None or said == so, feature
            left += said is None
    return left


@pytest.mark.parametrize("rules", CASES)
def test_all_is_settled_and_right(rules: str) -> None:
    found = Consequences(Program(Deduced(4), rules))
    assert check(found, MAGS[CASES[rules]()]) == 2 * len(FEATURES)
    found.ask(Clock())
    assert check(found, MAGS[CASES[rules]()]) == 0


@pytest.mark.parametrize("rules", CASES)
def test_what_is_settled_stays_when_time_is_up(rules: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "TICK", 0.0)
    program, mags = Program(Deduced(4), rules), MAGS[CASES[rules]()]
    left = []
    for looks in (0, 1, 2, 4, 8, 16, 32, 64, 128, 10**9):  # the last are never used up, however long a busy machine lets the solver wait
        found = Consequences(program)
        with suppress(TimeIsUp):
            found.ask(Looks(looks))
        left.append(check(found, mags))
    assert left[-1] == 0
    # and asked again it goes on from there
    found = Consequences(program)
    for _ in range(10_000):
        with suppress(TimeIsUp):
            found.ask(Looks(5_000))
            break
    assert check(found, mags) == 0


def test_a_question_that_takes_long_is_put_off_and_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "TICK", 0.0)
    found = Consequences(Program(Deduced(4), ""))
    clock = Hurried(8)
    found.ask(clock)
    assert clock.times < 0
    assert check(found, MAGS) == 0


def test_an_answer_that_is_at_hand_need_not_be_asked_for() -> None:
    found = Consequences(Program(Deduced(4), ""))
    found.see(MarkSets.from_matrix(MAGS[1000]))
    found.see(MarkSets.from_matrix(MAGS[2000]))
    assert 0 < check(found, MAGS) < 2 * len(FEATURES)
    for feature, has in having(MAGS[[1000, 2000]]).items():
        assert found.occurs(feature) is (True if has.any() else None)
        assert found.lacks(feature) is (True if not has.all() else None)


def test_under_assumptions() -> None:
    program = Program(Deduced(4), "")
    literal = program.head(0, 1)
    assert literal is not None
    found = Consequences(program, [literal, -program.features()["edge", 2, 3]])
    found.ask(Clock())
    assert check(found, MAGS[EVERY["arrow", 0, 1] & ~EVERY["edge", 2, 3]]) == 0
    # what was asked leaves no trace in the program
    assert sum(1 for _ in program.classes(Clock())) == 248


def test_without_an_answer_nothing_is_said() -> None:
    found = Consequences(Program(Deduced(4), ":- not adj(0,1). :- adj(0,1)."))
    found.ask(Clock())
    assert not found.any_answer
    assert {found.occurs(feature) for feature in FEATURES} == {found.lacks(feature) for feature in FEATURES} == {None}
