"""Ctrl-C while graphs are sought: the first time it stops the search and keeps what was found, the second time it ends the program."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

__all__ = ["Interruptible"]


class Interruptible:
    """Asks a search to stop at the first Ctrl-C. Before the search began there is nothing to keep, and Ctrl-C ends the program at once.

    ``heard`` is called at the first Ctrl-C, so that somebody can say that it was heard.

    >>> with Interruptible() as interrupt:
    ...     interrupt.stop()
    False
    """

    def __init__(self, heard: Callable[[], None] | None = None) -> None:
        self._heard = heard or (lambda: None)
        self.searching = self._asked = False  # who hears first that graphs are sought may say so
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # no other thread may say what happens at a signal
            self._before = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def stop(self) -> bool:
        """True once somebody has asked to stop; for ``discover``, which asks while graphs are sought and at no other time."""
        self.searching = True
        return self._asked

    @property
    def stopped(self) -> bool:
        """True if somebody has asked to stop."""
        return self._asked

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._asked or not self.searching:
            raise KeyboardInterrupt
        self._asked = True
        self._heard()
