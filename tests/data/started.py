"""Processes that help with blocks of rows, begun and ready, for tests of what they make."""

from __future__ import annotations

import time
from collections.abc import Callable

from consilience.data.helpers import Helpers


def wait_for(true: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)


def started(found: Helpers, count: int = 1) -> list[int]:
    """Have so many helpers begin; their processes."""
    found.are_there(count)
    wait_for(lambda: sum(helper.is_ready() for helper in found.there) == count)
    return [helper.pid for helper in found.there]
