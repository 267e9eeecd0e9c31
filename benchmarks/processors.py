"""What a site takes of its computer, with the processes that help it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from consilience.data.helpers import helpers

__all__ = ["held", "seconds_of_processors"]


def seconds_of_processors() -> float:
    """Those of this process and of its helpers."""
    ticks = 0
    for helper in helpers.there:
        ticks += sum(map(int, Path(f"/proc/{helper.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]))
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def held(what: str) -> int:
    """Bytes that they have now (VmRSS), or have had at most (VmHWM). Not from getrusage, which counts what a parent had."""
    return sum(_held(pid, what) for pid in ("self", *(helper.pid for helper in helpers.there)))


def _held(pid: int | str, what: str) -> int:
    for text in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if text.startswith(f"{what}:"):
            return int(text.split()[1]) * 1024
    raise OSError(f"No {what} in /proc/{pid}/status.")
