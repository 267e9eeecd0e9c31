"""SIGTERM and Ctrl-C while graphs are sought: the process is gone within seconds, with all that it started, and nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from consilience.iod.solver.program import MANY_VARIABLES
from tests.system.processes import Agent, Server, declaration, enrol, environment, running, until
from tests.system.test_equality import assert_same, connected, frames_of, in_process
from tests.system.test_memory import chains

pytestmark = pytest.mark.slow
SECONDS = 8.0
"""For open connections (three seconds), runs (two) and a busy machine; a server that made the search itself took a minute and more."""


def children(pid: int) -> list[int]:
    """The processes that a process has started and that are still there."""
    return [int(one) for path in Path(f"/proc/{pid}/task").glob("*/children") for one in path.read_text(encoding="utf-8").split()]


def there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def is_worker(pid: int) -> bool:
    """Not before it runs its own program: who stops a process between its fork and that stops the thread that started it as well."""
    with suppress(OSError):  # it has just ended
        return b"consilience.service.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def held(server: Server) -> list[int]:
    """The workers of a server, stopped (SIGSTOP): a search that they are given takes for ever."""
    assert server.process is not None
    pid = server.process.pid
    found: list[int] = until(lambda: [one for one in children(pid) if is_worker(one)], 30)
    for worker in found:
        os.kill(worker, signal.SIGSTOP)
    return found


def queued(server: Server, study: str) -> None:
    """Until all tests of a study are made, and its graphs are sought."""
    until(lambda: server.sql("select 1 from searches where study = ?", study), 60, 0.05)
    until(lambda: "consilience_searches_under_way 1" in server.http.get("/metrics").text, 30)


def test_a_server_that_is_stopped_or_killed_among_graphs_goes_on_without_its_sites(tmp_path: Path, agents: list[Agent]) -> None:
    frames = frames_of(3, rows=80)
    with running(tmp_path, search_workers="1") as server:
        study, joined = enrol(server, tmp_path, frames, declaration(frames))
        wanted, rounds, _ = in_process(frames)
        agents += [agent.start() for agent in joined]
        connected(server, study, 3)  # a worker is started when a study may begin any moment
        workers = held(server)
        server.do("POST", f"/studies/{study}/start")
        queued(server, study)
        assert server.process is not None
        begin = time.monotonic()
        server.process.terminate()
        server.process.wait(60)
        assert time.monotonic() - begin < SECONDS
        assert not any(map(there, workers))
        assert server.state(study)[0] == "running"
        server.start()
        workers = held(server)
        server.kill()
        for worker in workers:
            os.kill(worker, signal.SIGCONT)
        until(lambda: not any(map(there, workers)), 20)
        server.start()
        if server.wait(study, 60) != "finished":
            raise AssertionError(server.state(study))
        assert_same(server.result(study), wanted)
        assert server.do("GET", f"/studies/{study}")["rounds"] == rounds
        assert [agent.wait(60) for agent in agents] == [0, 0, 0]


def test_a_study_that_is_cancelled_among_graphs_ends_its_worker_at_once(server: Server, folder: Path, agents: list[Agent]) -> None:
    frames = frames_of(2, rows=80)
    study, joined = enrol(server, folder, frames, declaration(frames))
    agents += [agent.start() for agent in joined]
    connected(server, study, 2)
    workers = held(server)
    server.do("POST", f"/studies/{study}/start")
    queued(server, study)
    server.do("POST", f"/studies/{study}/cancel")
    until(lambda: not any(map(there, workers)), 15)  # a process that is stopped never ends by itself
    assert server.state(study)[0] == "cancelled"
    assert server.sql("select count(*) from results where study = ?", study)[0][0] > 0
    until(lambda: "consilience_searches_under_way 0" in server.http.get("/metrics").text, 15)


INTERRUPTED = """
import os, signal, sys, threading, time
from consilience.cli import main
from consilience.cli.interrupt import Interruptible
from consilience.iod.solver import patience

def press():
    print(f"pressed {time.monotonic()}", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGINT)

def interrupt():
    while not patience.under_way():
        time.sleep(0.01)
    press()

def stretched(self, call, *undo, before=patience.Step.__init__):
    def longer():
        found, end = call(), time.monotonic() + 120
        while time.monotonic() < end:
            time.sleep(0.01)
            sum(range(10_000))
        return found

    before(self, longer, *undo)

def heard(self, number, frame, before=Interruptible._interrupted):
    first = not self.stopped
    before(self, number, frame)
    if first and times == 2:  # not before it was heard: of two signals that wait, a system keeps one
        press()

times = int(sys.argv.pop())
Interruptible._interrupted = heard
patience.Step.__init__ = stretched
threading.Thread(target=interrupt, daemon=True).start()
main()
"""
"""The command, with somebody who presses Ctrl-C as soon as a step of the solver is under way, and perhaps at once again.

The step goes on for two minutes after that, and takes the interpreter's lock now and then: a real one depends on the machine."""


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_a_discovery_without_waiting_for_the_solver(tmp_path: Path, times: int) -> None:
    """Once shows what was found, twice nothing; a step that cannot be interrupted goes on for two minutes, and nobody waits for it."""
    paths = []
    for name, frame in chains(MANY_VARIABLES + 1).items():
        paths.append(str(tmp_path / f"{name}.csv"))
        frame.write_csv(paths[-1])
    words = ["discover", *paths, "--max-given", "0", "--alpha", "0.3", "--time-limit", "600", str(times)]
    command = [sys.executable, "-c", INTERRUPTED, *words]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=170, check=False)
    end = time.monotonic()
    assert done.returncode == 130, done.stderr
    assert ("When the search was stopped" in done.stdout) == (times == 1)
    pressed = max(float(line.split()[1]) for line in done.stderr.splitlines() if line.startswith("pressed"))
    assert end - pressed < SECONDS
