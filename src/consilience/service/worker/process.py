"""A worker, as the server sees it: a process that is started, given orders, listened to, and ended at any moment."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Thread
from typing import IO

from consilience.parallel import environment_of_own
from consilience.service.worker.limits import resident
from consilience.service.worker.messages import Order, Told, read, write

__all__ = ["WorkerProcess"]

TICK = 0.2
"""Seconds between two looks at limits while a worker works."""
GOODBYE_SECONDS = 2.0
"""For a process whose output has ended to be gone."""


class WorkerProcess:
    """One process. It ends when :meth:`end` is called, or when this process does, however that ends."""

    def __init__(self) -> None:
        self.since = time.monotonic()
        theirs, orders = os.pipe()  # no other process inherits an end of ours: who holds it would keep a worker alive
        told, also_theirs = os.pipe()
        try:
            # the server's log is lines of JSON, so nothing else may write there: what a worker has to say, it tells
            command = [sys.executable, "-m", "consilience.service.worker"]
            self._process = subprocess.Popen(  # noqa: S603  our own program
                command, stdin=theirs, stdout=also_theirs, stderr=subprocess.DEVNULL, env=environment_of_own()
            )
        finally:
            os.close(theirs)
            os.close(also_theirs)
        self._orders = os.fdopen(orders, "wb")
        self._told: queue.SimpleQueue[Told | None] = queue.SimpleQueue()
        self._reader = Thread(target=self._listen, args=(os.fdopen(told, "rb"),), name="worker", daemon=True)
        self._reader.start()

    def _listen(self, stream: IO[bytes]) -> None:
        with stream:
            while (told := read(stream)) is not None:
                self._told.put(told)  # type: ignore[arg-type]
        self._told.put(None)

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """True until it has ended."""
        return self._process.poll() is None

    @property
    def size(self) -> int:
        """Its memory in bytes; 0 where the system does not say."""
        return resident(self.pid)

    def order(self, order: Order) -> None:
        """Ask for something. A process that has ended says so in :meth:`told`."""
        try:
            write(self._orders, order)
        except (OSError, ValueError):  # a closed pipe
            self._process.kill()

    def told(self, look: Callable[[], None]) -> Iterator[Told]:
        """What it tells, until it ends. Meanwhile ``look`` is called now and then, and may raise."""
        while True:
            look()
            try:
                told = self._told.get(timeout=TICK)
            except queue.Empty:
                continue
            if told is None:
                return
            yield told

    def kill(self) -> None:
        """End it now, from any thread; whoever listens hears that it has ended."""
        self._process.kill()

    def ended(self) -> int:
        """How it ended by itself: a signal's negative number, or an exit code."""
        try:
            return self._process.wait(GOODBYE_SECONDS)
        except subprocess.TimeoutExpired:  # it has closed its output, and is still there
            return self.end()

    def end(self) -> int:
        """End it and wait until it is gone; the same number."""
        self._process.kill()
        code = self._process.wait()
        self._reader.join()
        with suppress(OSError):  # what was still to be written is for nobody
            self._orders.close()
        return code
