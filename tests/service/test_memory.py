"""Memory is given back when nobody is at work with it any more."""

from __future__ import annotations

import threading
import time

import pytest

from consilience.service import memory
from consilience.service.memory import Housekeeping


def test_memory_is_not_given_back_before_the_last_step_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, busy, done = list[bool](), [True, True, False], threading.Event()

    def still() -> bool:
        asked.append(busy[len(asked)])
        return asked[-1]

    monkeypatch.setattr(memory, "give_back", done.set)
    keeping = Housekeeping(0.01, still)
    keeping.soon()
    assert done.wait(10.0)
    assert asked == busy
    keeping.close()


def test_a_server_that_stops_does_not_wait_for_a_step() -> None:
    asked = list[bool]()

    def ever() -> bool:
        asked.append(True)
        return True

    keeping = Housekeeping(0.01, ever)
    keeping.soon()
    keeping.close()
    keeping.soon()
    time.sleep(0.1)
    before = len(asked)
    time.sleep(0.1)
    assert len(asked) == before
