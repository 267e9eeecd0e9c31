"""Worker processes: they end with whoever started them, however that ends, and are not kept when they have grown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import consilience as cs
from consilience.citest.result import CIResult
from consilience.service.errors import SearchError
from consilience.service.result_files import result_json
from consilience.service.server.searching import Searching
from consilience.service.worker import pool as pools
from consilience.service.worker.limits import Limits, resident
from consilience.service.worker.messages import Problem, Redecide, Redecided, Told
from consilience.service.worker.pool import Pool
from consilience.service.worker.process import WorkerProcess
from consilience.service.worker.working import MissingTests, RecordedTests
from tests.system.processes import environment, until

STARTER = """
import sys, time
from consilience.service.worker.process import WorkerProcess
worker = WorkerProcess()
print(worker.pid, flush=True)
time.sleep(60)
"""


def gone(pid: int) -> bool:
    """True if there is no such process, or only what is left of it until somebody asks how it ended."""
    try:
        return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


def answer(worker: WorkerProcess, order: Redecide) -> Told:
    worker.order(order)
    return next(worker.told(lambda: None))


def test_a_worker_ends_with_a_server_that_was_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", STARTER], stdout=subprocess.PIPE, env=environment(), text=True) as starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        assert not gone(pid)
        starter.kill()
        starter.wait()
        until(lambda: gone(pid), 20)


def test_a_worker_does_its_work_again_and_again_and_signals_of_the_group_do_not_end_it() -> None:
    found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABC", "BCD"]))
    pool = Pool()
    try:
        worker = pool.take()
        for alpha in (0.05, 0.2):
            told = answer(worker, Redecide(result_json(found), alpha, 10.0))
            assert isinstance(told, Redecided)
            again = cs.Discovery.from_dict(json.loads(told.result))
            assert (again.alpha, again.pags) == (alpha, found.redecide(alpha=alpha).pags)
            os.kill(worker.pid, 15)
            os.kill(worker.pid, 2)
        assert isinstance(answer(worker, Redecide(b"[]", 0.1, 1.0)), Problem)
        pool.give(worker)
        assert pool.take() is worker
        pool.give(worker, tired=True)
        assert not worker.alive
    finally:
        pool.close()


def test_workers_that_have_grown_or_wait_too_long_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    before = threading.active_count()
    monkeypatch.setattr(pools, "GROWN", 1 << 20)
    pool = Pool(idle_seconds=0.3)
    worker = pool.take()
    until(lambda: resident(worker.pid) > 1 << 20)
    pool.give(worker)
    assert not worker.alive
    monkeypatch.setattr(pools, "GROWN", 1 << 40)
    pool.warm()
    pool.warm()
    assert len(pool) == 1
    until(lambda: len(pool) == 0, 10)
    pool.close()
    until(lambda: threading.active_count() <= before, 5)


def test_a_start_that_takes_long_holds_up_nobody_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that has no room a process is started when there is some; a server asks how many there are in every look at it."""
    begun, go = threading.Event(), threading.Event()

    class Slow(WorkerProcess):
        def __init__(self) -> None:
            begun.set()
            go.wait(60)
            super().__init__()

    monkeypatch.setattr(pools, "WorkerProcess", Slow)
    pool = Pool()
    warming = threading.Thread(target=pool.warm)
    warming.start()
    try:
        assert begun.wait(60)
        pool.warm()  # one is on its way
        assert len(pool) == 0
        pool.close()
    finally:
        go.set()
        warming.join()
    assert len(pool) == 0, "who comes after the end is ended"


def test_a_machine_without_room_for_a_process_is_said_to_whoever_needs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    searching = Searching(1, Limits(seconds=60.0, memory=1024))
    monkeypatch.setattr(sys, "executable", "/nobody/has/this")
    searching.warm()  # only to be early
    with pytest.raises(SearchError, match=r"No process could be started for the search: No such file or directory\. The tests are kept"):
        searching.decide_again(Redecide(b"{}", 0.1, 1.0))
    searching.close()


def test_what_is_not_recorded_is_asked_for_or_unknown() -> None:
    known = CIResult("A", "B", (), 0.25)
    asking = RecordedTests([known], "ABC", [frozenset("ABC")], asking=True)
    assert asking.test("A", "B").p_value == 0.25
    with pytest.raises(MissingTests, match="1 tests are missing"):
        asking.test("A", "C")
