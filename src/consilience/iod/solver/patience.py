"""Steps of the solver that cannot be interrupted, and a search that does not wait for them longer than it may.

The solver grounds a program and prepares a search in one step each, which take seconds with thirty variables. They release the
interpreter, so they are done in a thread and waited for with an eye on the clock. A step that was left goes on to its end
at the priority of all others: it takes the interpreter's lock now and then, and whoever came last would let everybody wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from threading import Lock, Thread
from typing import Generic, TypeVar

from consilience.iod.clock import Clock

__all__ = ["TICK", "Step", "under_way"]

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

    Examples
    --------
    >>> Step(lambda: 6 * 7).result(Clock())
    42
    """

    def __init__(self, call: Callable[[], Found], undo: Callable[[Found], object] = lambda _: None) -> None:
        self._call, self._undo, self._lock = call, undo, Lock()
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
            for found in late:
                self._undo(found)
            raise
        if self._error is not None:
            raise self._error
        return self._found[0]

    def wait(self, clock: Clock) -> None:
        """Until the call has ended, whether or not anybody has left."""
        self._thread.join(TICK)
        while self._thread.is_alive():
            clock.tick()
            self._thread.join(TICK)
