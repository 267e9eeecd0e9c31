"""Steps of the solver that cannot be interrupted, and a search that does not wait for them longer than it may.

The solver grounds a program and prepares a search in one step each, which take seconds with thirty variables. They release the
interpreter, so they are done in a thread and waited for with an eye on the clock. A step that was left goes on to its end; if nobody will
ever want it, behind everybody who has something to do.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread
from typing import Generic, TypeVar

from consilience.iod.clock import Clock

__all__ = ["TICK", "Step", "under_way"]

LAST = 19
"""The priority of work that nobody waits for; 0 is that of others, and 19 is the least."""
TICK = 0.2
"""Seconds between looks at the clock while the solver works: soon enough for a person who cancels."""

NAME = "solver step"

Found = TypeVar("Found")


def under_way() -> bool:
    """True while a step is at work, whether or not anybody still waits for it: until it ends, it has its memory.

    >>> Step(lambda: None).result(Clock())
    >>> under_way()
    False
    """
    return any(thread.name == NAME for thread in threading.enumerate())


class Step(Generic[Found]):
    """A call in a thread of its own. What it returns after its caller has left is handed to ``undo``.

    Parameters
    ----------
    call : callable
        The step.
    undo : callable
        What to do with a result that nobody waits for.
    dispensable : bool
        True if nobody will wait for it again, once it was left.

    Examples
    --------
    >>> Step(lambda: 6 * 7).result(Clock())
    42
    """

    def __init__(self, call: Callable[[], Found], undo: Callable[[Found], object] = lambda _: None, *, dispensable: bool = False) -> None:
        self._call, self._undo, self._lock, self._dispensable = call, undo, Lock(), dispensable
        self._left = False
        self._found: list[Found] = []
        self._error: BaseException | None = None
        # no daemon: the interpreter waits at its end for a step that nobody wants, since it must not go while the solver works
        self._thread = Thread(target=self._run, name=NAME)
        self._thread.start()

    def _run(self) -> None:
        try:
            found = self._call()
        except BaseException as error:  # noqa: BLE001  it is raised again where it is waited for
            self._error = error
            return
        with self._lock:
            if not self._left:
                self._found.append(found)
                return
        self._undo(found)

    def result(self, clock: Clock) -> Found:
        """What the call returned.

        Raises
        ------
        TimeIsUp
            If time is up before: the caller has left then, and gets no result any more.
        """
        try:
            self.wait(clock)
        except BaseException:
            with self._lock:
                self._left = True
                late, self._found = self._found, []
            if self._dispensable:
                self._yield()
            for found in late:
                self._undo(found)
            raise
        if self._error is not None:
            raise self._error
        return self._found[0]

    def _yield(self) -> None:
        """Whoever else wants the processor comes first. On Linux a thread has a priority of its own; elsewhere it would be the process."""
        if sys.platform == "linux" and self._thread.is_alive() and self._thread.native_id is not None:
            with suppress(OSError):  # it has just ended
                os.setpriority(os.PRIO_PROCESS, self._thread.native_id, LAST)

    def wait(self, clock: Clock) -> None:
        """Until the call has ended, whether or not anybody has left."""
        self._thread.join(TICK)
        while self._thread.is_alive():
            clock.tick()
            self._thread.join(TICK)
