"""The queue of searches: who waits is told how many are before, who cancels is heard at once, and nothing is left when the server stops."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from consilience.service.errors import RunCancelledError, RunInterruptedError
from consilience.service.server.searching import Searching
from consilience.service.worker.limits import Limits
from consilience.service.worker.messages import Redecide
from consilience.service.worker.process import WorkerProcess
from tests.system.processes import until

LIMITS = Limits(seconds=60.0, memory=2048)
NOTHING = Redecide(b"{}", 0.1, 1.0)
"""An order that is answered at once, with the reason why it cannot be done."""


@pytest.fixture
def queue() -> Iterator[Searching]:
    found = Searching(1, LIMITS)
    yield found
    found.close()


class Stuck:
    """A search whose process has been stopped (SIGSTOP): it is at work, and never ends by itself."""

    def __init__(self, queue: Searching, study: str = "stuck") -> None:
        self.queue, self.study = queue, study
        self.ended: BaseException | None = None
        self.cancelled = False

    def __call__(self) -> None:
        try:
            self.queue.find(self.study, NOTHING, lambda _: None, self.check)
        except BaseException as error:  # noqa: BLE001  looked at below
            self.ended = error

    def check(self) -> None:
        worker = self.worker
        if worker is not None and not self.cancelled:
            os.kill(worker.pid, signal.SIGSTOP)
        if self.cancelled:
            raise RunCancelledError("cancelled")

    @property
    def worker(self) -> WorkerProcess | None:
        return self.queue._at_work.get(self.study)

    def begin(self) -> WorkerProcess:
        self.queue.put(self.study, self)
        return until(lambda: self.worker)  # type: ignore[no-any-return]


def test_who_waits_is_told_how_many_are_before_and_comes_to_its_turn() -> None:
    told: list[tuple[str, int]] = []
    queue = Searching(1, LIMITS, lambda study, before: told.append((study, before)))
    stuck = Stuck(queue)
    worker = stuck.begin()
    done: list[str] = []
    for name in "abcd":
        queue.put(name, lambda name=name: done.append(name))  # type: ignore[misc]
    assert told == [("a", 0), ("b", 1), ("c", 2), ("d", 3)]
    assert [queue.before(name) for name in ("stuck", *"abcd")] == [None, 0, 1, 2, 3]
    assert (queue.waiting, queue.under_way) == (4, 1)
    assert queue.end("b")
    assert told[4:] == [("c", 1)], "said again when they are half as many, not each time"
    assert queue.before("d") == 2
    stuck.cancelled = True
    assert not queue.end("stuck")
    until(lambda: done == ["a", "c", "d"], 10)
    assert not worker.alive
    assert told[5:] == [("c", 0), ("d", 1), ("d", 0)]
    queue.close()


def test_a_search_that_is_cancelled_ends_at_once_with_its_process(queue: Searching) -> None:
    stuck = Stuck(queue)
    worker = stuck.begin()
    stuck.cancelled = True
    begin = time.monotonic()
    queue.end("stuck")
    until(lambda: stuck.ended is not None, 5)
    assert time.monotonic() - begin < 2.0
    assert isinstance(stuck.ended, RunCancelledError)
    until(lambda: not worker.alive, 5)


def test_a_server_that_stops_leaves_no_process_and_no_thread() -> None:
    before = set(threading.enumerate())
    queue = Searching(2, LIMITS)
    queue.warm()
    stuck = [Stuck(queue, "one"), Stuck(queue, "two")]
    workers = [one.begin() for one in stuck]
    waited: list[str] = []
    queue.put("three", lambda: waited.append("three"))
    begin = time.monotonic()
    queue.close()
    assert time.monotonic() - begin < 3.0
    assert not any(worker.alive for worker in workers)
    assert all(isinstance(one.ended, RunInterruptedError) for one in stuck)
    assert waited == []
    until(lambda: set(threading.enumerate()) <= before, 5)
    queue.put("four", lambda: waited.append("four"))
    assert waited == []
