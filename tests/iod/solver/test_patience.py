"""Steps that cannot be interrupted are not waited for when time is up, and what comes late is undone."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from queue import Queue
from threading import Event, get_native_id

import clingo
import pytest

from consilience.iod.clock import Clock, TimeIsUp
from consilience.iod.solver.deduction import Deduced
from consilience.iod.solver.patience import Step, under_way
from consilience.iod.solver.program import MANY_VARIABLES, Program


def test_a_result_that_comes_in_time_is_handed_over_and_not_undone() -> None:
    undone: list[int] = []
    assert Step(lambda: 42, undone.append).result(Clock(5.0)) == 42
    assert undone == []


def test_what_comes_late_is_undone_and_nobody_waits_for_it() -> None:
    go = Event()
    undone: list[int] = []

    def call() -> int:
        go.wait(10.0)
        return 42

    step = Step(call, undone.append)
    begun = time.monotonic()
    with pytest.raises(TimeIsUp):
        step.result(Clock(0.0))
    assert time.monotonic() - begun < 5.0
    assert undone == []
    assert under_way()
    go.set()
    step.wait(Clock())
    assert undone == [42]
    assert not under_way()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads share the priority of their process")
def test_what_was_left_keeps_its_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    """Last among others while it holds the interpreter's lock, it lets everybody wait: Ctrl-C took 27 seconds on a busy machine."""
    go, found, ground = Event(), Queue[int](), clingo.Control.ground

    def slow(self: clingo.Control, parts: Sequence[tuple[str, Sequence[clingo.Symbol]]]) -> None:
        go.wait(10.0)
        ground(self, parts)
        found.put(os.getpriority(os.PRIO_PROCESS, get_native_id()))

    monkeypatch.setattr(clingo.Control, "ground", slow)
    with pytest.raises(TimeIsUp):
        Program(Deduced(MANY_VARIABLES + 1), ":- not adj(0,1).", clock=Clock(0.0))
    go.set()
    assert found.get(timeout=60.0) == os.getpriority(os.PRIO_PROCESS, get_native_id())


def test_an_error_is_raised_where_it_is_waited_for() -> None:
    def call() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        Step(call).result(Clock())


def test_who_cancels_is_heard_while_a_step_goes_on() -> None:
    go = Event()

    class CancelledError(Exception):
        pass

    def tell(_: str) -> None:
        raise CancelledError

    with pytest.raises(CancelledError):
        Step(lambda: go.wait(10.0)).result(Clock(None, tell))
    go.set()


def test_a_question_that_was_left_does_not_spoil_the_next() -> None:
    program = Program(Deduced(MANY_VARIABLES + 1), ":- not adj(0,1).", clock=Clock())
    go = Event()
    solve = program._control.solve

    class Slow:
        """The solver, which takes its time with the first question."""

        configuration = program._control.configuration

        def solve(self, **options: object) -> object:
            go.wait(10.0)
            return solve(**options)

    program._control, control = Slow(), program._control  # type: ignore[assignment]
    with pytest.raises(TimeIsUp):
        program.first(Clock(0.0), ())
    program._control = control
    with pytest.raises(TimeIsUp):  # it is still being prepared
        program.first(Clock(0.0), ())
    go.set()
    mag = program.first(Clock(), ())
    assert mag is not None
    assert mag.adjacent[0] >> 1 & 1
