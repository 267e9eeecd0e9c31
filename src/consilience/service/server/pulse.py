"""Whether the database answers, told at once: who asks for the server's health does not wait for what is ill."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["Pulse"]

SECONDS = 0.5
"""That the database may take for a small transaction before it counts as one that does not answer."""


class Pulse:
    """Asks ``check`` in a thread of its own: the others may all be waiting for the database."""

    def __init__(self, check: Callable[[], None], seconds: float = SECONDS) -> None:
        self._check, self._seconds = check, seconds
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pulse")
        self._asked: asyncio.Future[None] | None = None

    async def problem(self) -> str:
        """What is wrong with the database; empty if nothing is."""
        if self._asked is None or self._asked.done():
            self._asked = asyncio.get_running_loop().run_in_executor(self._thread, self._check)
        try:
            async with asyncio.timeout(self._seconds):
                await asyncio.shield(self._asked)  # the next who asks waits for the same
        except TimeoutError:
            self._asked.add_done_callback(lambda asked: asked.cancelled() or asked.exception())  # looked at: nobody may ask again
            return f"the database has not answered for {self._seconds:g} seconds"
        except sqlite3.Error as error:
            return f"the database does not answer: {error}"
        return ""

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)
