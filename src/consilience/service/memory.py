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
from functools import cache

__all__ = ["give_back"]

_log = logging.getLogger("consilience.server")


def give_back() -> None:
    """Free what nobody refers to any more, and hand free memory to the machine. Takes some tenths of a second after a long search.

    >>> give_back()
    """
    gc.collect()
    if (trim := _trim()) is not None:
        trim(0)


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
