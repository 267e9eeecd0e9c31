"""Processes of the program that need not load it: each is forked from one that has, and is otherwise as any other.

To load the program takes a processor longer than most of what is asked of it, and tests start a hundred of its processes. One process (the
template) loads it once and waits. Whoever is forked from it has a number, a memory, an environment, signals and files of their own, begins
in :func:`consilience.cli.main` with the words of a command line, and ends as the interpreter ends. What a start loads, and in which order,
is for tests that start ``python -m consilience`` itself: the server that tests share, the apps of the whole way, the trial, the commands.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import IO

__all__ = ["Forked", "fork"]

LOADED = (
    *("consilience.cli.commands", "consilience.cli.server", "consilience.cli.client", "consilience.cli.app_command"),
    *("consilience.service.agent", "consilience.service.agent.rehearsal", "consilience.service.config", "consilience.service.logs"),
    *("consilience.service.server.serve", "consilience.web.server_app", "consilience.web.desk", "consilience.web.site_app"),
    *("polars", "httpcore", "httpx", "uvicorn", "uvicorn.lifespan.on", "uvicorn.loops.auto", "uvicorn.protocols.http.auto"),
    *("uvicorn.protocols.websockets.websockets_sansio_impl", "websockets.asyncio.client"),
)
STDIO = 3


class Forked:
    """A process of the program, with what tests ask of a :class:`subprocess.Popen`."""

    def __init__(self, pid: int, report: IO[str]) -> None:
        self.pid, self.returncode = pid, None
        self._report = report

    returncode: int | None

    def poll(self) -> int | None:
        """Its exit code, if it has ended; the negative number of a signal, if one ended it."""
        return self._ended(0.0)

    def wait(self, timeout: float | None = None) -> int:
        found = self._ended(timeout)
        if found is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        return found

    def _ended(self, seconds: float | None) -> int | None:
        if self.returncode is None and _readable(self._report.fileno(), seconds):
            self.returncode = int(self._report.readline() or -signal.SIGKILL)
            self._report.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:  # who has ended is not signalled: its number may be another's
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def _readable(file: int, seconds: float | None) -> bool:
    news = select.poll()
    news.register(file, select.POLLIN)
    return bool(news.poll(None if seconds is None else 1000.0 * seconds))


def fork(words: Sequence[str], environment: Mapping[str, str], stdout: int, stderr: int) -> Forked:
    """``consilience`` with these words, in a process of its own that reads nothing and writes to these files."""
    ours, theirs = os.pipe()
    asked = json.dumps({"words": list(words), "environment": dict(environment), "cwd": str(Path.cwd())})
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123  a device
        socket.send_fds(_template(), [asked.encode()], [nothing.fileno(), stdout, stderr, theirs])
    os.close(theirs)
    report = os.fdopen(ours)
    return Forked(int(report.readline()), report)


@lru_cache(maxsize=1)
def _template() -> socket.socket:
    """The control of the process that has loaded the program; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    from tests.system.processes import environment  # noqa: PLC0415  which starts processes with this module

    command = [sys.executable, "-m", "tests.system.forking", str(theirs.fileno())]
    process = subprocess.Popen(command, env=environment(), pass_fds=[theirs.fileno()], cwd=Path(__file__).parents[2])
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _serve(control: socket.socket) -> list[str]:
    """Fork whoever is asked for, and report how they end, until the control is closed. Returns in the forked: their words."""
    for name in LOADED:
        import_module(name)
    import_module("consilience.web.rendering").prepare()
    gc.collect()
    gc.freeze()  # what is shared is not looked through, and so not copied
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the tests
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    reports: dict[int, int] = {}
    news = select.poll()  # which, unlike select, takes files of any number
    news.register(control, select.POLLIN)
    news.register(woken, select.POLLIN)
    while True:
        ready = [file for file, _ in news.poll()]
        if woken in ready:
            os.read(woken, 4096)
            _report(reports)
        if control.fileno() not in ready:
            continue
        asked, files, _, _ = socket.recv_fds(control, 1 << 18, STDIO + 1)
        if not asked:
            for pid in reports:
                os.kill(pid, signal.SIGKILL)
            sys.exit()
        pid = os.fork()
        if pid:
            reports[pid] = files[STDIO]
            os.write(files[STDIO], f"{pid}\n".encode())
            for file in files[:STDIO]:
                os.close(file)
            continue
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        control.close()
        for file in (woken, wake, files[STDIO], *reports.values()):
            os.close(file)
        return _become(json.loads(asked), files[:STDIO])


def _report(reports: dict[int, int]) -> None:
    for pid in list(reports):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            report = reports.pop(pid)
            with suppress(BrokenPipeError):  # where nobody asks any more
                os.write(report, f"{os.waitstatus_to_exitcode(status)}\n".encode())
            os.close(report)


def _become(asked: dict[str, object], files: list[int]) -> list[str]:
    """Take on the files, the environment and the folder of a process that somebody started."""
    for place, file in enumerate(files):
        os.dup2(file, place)
        os.close(file)
    sys.stdin = open(0)  # noqa: SIM115
    sys.stdout, sys.stderr = (open(number, "w", buffering=1) for number in (1, 2))  # noqa: PTH123, SIM115
    os.environ.clear()
    os.environ.update(asked["environment"])  # type: ignore[call-overload]
    os.chdir(str(asked["cwd"]))
    tempfile.tempdir = None  # asked for again, in the new environment
    time.tzset()
    return list(asked["words"])  # type: ignore[call-overload]


if __name__ == "__main__":
    words = _serve(socket.socket(fileno=int(sys.argv[1])))
    sys.argv[1:] = words
    import_module("consilience.cli").main()
