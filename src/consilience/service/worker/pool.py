"""Workers that wait for work: to start one takes a second, and most work less. None stays for ever, and none that has grown."""

from __future__ import annotations

import threading

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
        self._closed = False

    def __len__(self) -> int:
        with self._lock:
            return len(self._idle) + len(self._taken)

    def warm(self) -> None:
        """Somebody will want a worker soon: see that there is one."""
        with self._lock:
            if not self._closed and not self._idle and not self._taken:
                self._put(WorkerProcess())

    def take(self) -> WorkerProcess:
        """A worker that has nothing to do."""
        while True:
            with self._lock:
                if not self._idle:
                    worker = WorkerProcess()
                    self._taken.add(worker)
                    if self._closed:
                        worker.kill()
                    return worker
                worker, timer = self._idle.pop()
                timer.cancel()
                if worker.alive:
                    self._taken.add(worker)
                    return worker
            worker.end()

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
