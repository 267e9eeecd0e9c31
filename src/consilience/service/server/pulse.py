"""Whether the database answers, told at once: who asks for the server's health does not wait for what is ill."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["Pulse"]

SECONDS, TICKS = 0.5, 10
"""That the database may take for a small transaction before it counts as one that does not answer, counted in looks of the event loop.
Where the machine gives this process little, or thousands want something of it, looks are late, and so is the transaction: that is not the
database's trouble, and nobody should restart a server for it."""


class Pulse:
    """Asks ``check`` in a thread of its own: the others may all be waiting for the database.

    ``answers`` says how often it has answered anybody. While that goes up, whoever asks is only behind others in the queue.
    """

    def __init__(self, check: Callable[[], None], answers: Callable[[], int] = lambda: 0, seconds: float = SECONDS) -> None:
        self._check, self._answers, self._seconds = check, answers, seconds
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pulse")
        self._asked: asyncio.Future[None] | None = None

    async def problem(self) -> str:
        """What is wrong with the database; empty if nothing is."""
        if self._asked is None or self._asked.done():
            self._asked = asyncio.get_running_loop().run_in_executor(self._thread, self._check)
            self._asked.add_done_callback(lambda asked: asked.cancelled() or asked.exception())  # looked at: nobody may ask again
        asked, before = self._asked, self._answers()  # the next who asks waits for the same
        for _ in range(TICKS):
            await asyncio.wait([asked], timeout=self._seconds / TICKS)
            if asked.done() or self._answers() != before:
                break
        else:
            return f"the database has not answered for {self._seconds:g} seconds"
        try:
            if asked.done():
                asked.result()
        except sqlite3.Error as error:
            return f"the database does not answer: {error}"
        return ""

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)
