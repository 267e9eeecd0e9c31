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
from consilience.service.result_files import result_json
from consilience.service.worker import pool as pools
from consilience.service.worker.limits import resident
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


def test_what_is_not_recorded_is_asked_for_or_unknown() -> None:
    known = CIResult("A", "B", (), 0.25)
    asking = RecordedTests([known], "ABC", [frozenset("ABC")], asking=True)
    assert asking.test("A", "B").p_value == 0.25
    with pytest.raises(MissingTests, match="1 tests are missing"):
        asking.test("A", "C")
