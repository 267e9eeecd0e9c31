"""How much memory and time a piece of work may take, and how much it has taken."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Limits", "cores", "resident"]

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one piece of work: seconds in all, and memory in MiB."""

    seconds: float
    memory: int

    def broken(self, seconds: float, size: int) -> str:
        """What was exceeded, in words with the setting that says so; empty if nothing was.

        >>> Limits(60.0, 100).broken(61.0, 0)
        'took longer than 1 minute (search_seconds)'
        >>> Limits(60.0, 100).broken(1.0, 101 << 20), Limits(60.0, 100).broken(1.0, 0)
        ('needed more than 100 MiB of memory (search_memory)', '')
        """
        if seconds > self.seconds:
            return f"took longer than {_duration(self.seconds)} (search_seconds)"
        if size > self.memory * MIB:
            return f"needed more than {self.memory:,} MiB of memory (search_memory)"
        return ""


def _duration(seconds: float) -> str:
    for unit, length in (("hour", 3600.0), ("minute", 60.0)):
        if seconds >= length and seconds % length == 0:
            count = round(seconds / length)
            return f"{count:,} {unit}{'' if count == 1 else 's'}"
    return f"{seconds:g} second{'' if seconds == 1 else 's'}"


def resident(pid: int) -> int:
    """The memory of a process in bytes; 0 where the system does not say (only Linux does), or the process is gone.

    >>> resident(os.getpid()) > 0 or sys.platform != "linux"
    True
    """
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


def cores() -> int:
    """Processors that this process may use.

    >>> cores() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
