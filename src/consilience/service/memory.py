"""Memory that a long piece of work has used, given back to the machine.

A search for graphs takes hundreds of megabytes for some seconds, in small pieces and with references that go round in circles. Python frees
the circles when it next happens to look for them, and the C library keeps what was freed for later. A server that waits for days between
two studies should not.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import sys
import threading
from collections.abc import Callable
from functools import cache

__all__ = ["Broom", "Housekeeping", "give_back", "settle"]

_log = logging.getLogger("consilience.server")


def settle() -> None:
    """The program is complete: what there is now stays to its end, and is not looked through for garbage any more.

    Half a million things are there when a server has started. To look at all of them stops every thread for a tenth of a second or two,
    each time that Python looks for old garbage, and a run makes it look.

    >>> settle()
    >>> gc.get_freeze_count() > 0
    True
    """
    gc.collect()
    gc.freeze()


def give_back() -> None:
    """Free what nobody refers to any more, and hand free memory to the machine. Takes some tenths of a second after a long search.

    >>> give_back()
    """
    gc.collect()
    if (trim := _trim()) is not None:
        trim(0)


class Housekeeping:
    """Gives memory back some ``seconds`` after it was asked to, once for all who asked meanwhile.

    Not at once: it holds Python's lock for a moment, in which whoever waits for the work would not hear that it is done. And not while
    somebody is ``busy``, such as with a step of a search that nobody waits for any more: its memory can be given back when it has ended.

    >>> keeping = Housekeeping(0.0)
    >>> keeping.soon()
    >>> keeping.close()
    """

    def __init__(self, seconds: float, busy: Callable[[], bool] = lambda: False) -> None:
        self._seconds, self._busy, self._lock = seconds, busy, threading.Lock()
        self._timer: threading.Timer | None = None
        self._closed = False

    def soon(self) -> None:
        """Work that took memory is done. From any thread."""
        with self._lock:
            if self._timer is None and not self._closed:
                self._timer = threading.Timer(self._seconds, self._work)
                self._timer.daemon = True
                self._timer.start()

    def _work(self) -> None:
        with self._lock:
            self._timer = None
        if self._busy():
            self.soon()
        else:
            give_back()

    def close(self) -> None:
        """The process ends: nothing is to be given back any more."""
        with self._lock:
            self._closed, timer = True, self._timer
        if timer is not None:
            timer.cancel()
            timer.join()


class Broom:
    """Looks for garbage after every ``every`` things that were dropped.

    For what is small in number and large in memory: Python looks for old garbage by the number of things, and a connection that was broken
    off is a few of them, with large buffers. Not by time: what takes time is to free what there is, and later there is more of it.

    >>> broom = Broom(2)
    >>> broom.dropped(), broom.dropped(), broom.dropped()
    (False, True, False)
    """

    def __init__(self, every: int) -> None:
        self._every, self._count = every, 0

    def dropped(self) -> bool:
        """One thing more was dropped; True if that made this look."""
        self._count += 1
        if self._count < self._every:
            return False
        self._count = 0
        gc.collect()
        return True


@cache
def _trim() -> ctypes._NamedFuncPointer | None:
    """The C library's ``malloc_trim``; None where it has none, as on other systems than Linux with glibc."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        _log.debug("the C library keeps what was freed")
        return None
