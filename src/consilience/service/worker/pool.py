"""Workers that wait for work: to start one takes a second, and most work less. None stays for ever, and none that has grown."""

from __future__ import annotations

import threading
from contextlib import suppress

from consilience.service.worker.process import WorkerProcess

__all__ = ["Pool"]

IDLE_SECONDS = 300.0
"""So long a worker waits for more work before it is ended."""
GROWN = 320 << 20
"""A worker that is larger than this after its work is not kept: the next would begin with less room."""


class Pool:
    """Workers for whoever takes one; who has one gives it back, or ends it.

    >>> pool = Pool()
    >>> pool.close()
    """

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._idle: list[tuple[WorkerProcess, threading.Timer]] = []
        self._taken: set[WorkerProcess] = set()
        self._starting = self._closed = False

    def __len__(self) -> int:
        with self._lock:
            return len(self._idle) + len(self._taken)

    def warm(self) -> None:
        """Somebody will want a worker soon: see that there is one. If none can be started now, whoever takes one is told."""
        with self._lock:
            if self._closed or self._idle or self._taken or self._starting:
                return
            self._starting = True
        # Outside the lock, here and below: on a machine that has no room a start takes long, and all who only ask for a number would wait.
        worker = None
        try:
            with suppress(OSError):
                worker = WorkerProcess()
        finally:
            with self._lock:
                self._starting = False
                kept = worker is not None and not self._closed
                if worker is not None and kept:
                    self._put(worker)
        if worker is not None and not kept:
            worker.end()

    def take(self) -> WorkerProcess:
        """A worker that has nothing to do. OSError if there is none and none can be started."""
        while (idle := self._waiting()) is not None:
            if idle.alive:
                return idle
            with self._lock:
                self._taken.discard(idle)
            idle.end()
        worker = WorkerProcess()
        with self._lock:
            self._taken.add(worker)
            if self._closed:
                worker.kill()
        return worker

    def _waiting(self) -> WorkerProcess | None:
        """One that waits, taken; None if none does."""
        with self._lock:
            if not self._idle:
                return None
            worker, timer = self._idle.pop()
            timer.cancel()
            self._taken.add(worker)
            return worker

    def give(self, worker: WorkerProcess, *, tired: bool = False) -> None:
        """Its work is done: keep it for the next, unless it has grown or something still goes on in it."""
        with self._lock:
            self._taken.discard(worker)
            if not self._closed and not tired and worker.alive and worker.size <= GROWN:
                self._put(worker)
                return
        worker.end()

    def _put(self, worker: WorkerProcess) -> None:
        timer = threading.Timer(self._idle_seconds, self._retire, args=(worker,))
        timer.daemon = True
        timer.start()
        self._idle.append((worker, timer))

    def _retire(self, worker: WorkerProcess) -> None:
        with self._lock:
            kept = [one for one in self._idle if one[0] is not worker]
            if len(kept) == len(self._idle):  # it has just been taken
                return
            self._idle = kept
        worker.end()

    def close(self) -> None:
        """End all of them, those at work too."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            taken = list(self._taken)
        for worker in taken:
            worker.kill()  # whoever has it ends it
        for worker, timer in idle:
            timer.cancel()
            worker.end()
            timer.join()
