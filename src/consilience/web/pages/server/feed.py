"""One look at a study for all of its open pages, however many they are.

While a run computes, every step from the event loop into a thread and back waits for the interpreter some milliseconds. Two hundred pages
that each look for themselves would have news every four seconds; so one task looks, and all of them hear of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.concurrency import run_in_threadpool

from consilience.service.server.runner import Bell
from consilience.web.pages.server.board import Boards, Standing

__all__ = ["Feed", "Feeds"]

PAUSE_SECONDS = 0.2
"""Between two looks: a run has many rounds a second, and people read one."""
LOOK_SECONDS = 0.15
"""After the pause, at the latest; the bell is for being earlier, and may ring between a look and the wait for it."""


class Feed:
    """The looks at one study, as long as somebody waits for them."""

    def __init__(self, study: str, boards: Boards, bell: Bell) -> None:
        self._study, self._boards, self._bell = study, boards, bell
        self._next: asyncio.Future[Standing | None] = asyncio.get_running_loop().create_future()
        self.readers = 0
        self.task = asyncio.create_task(self._look())

    async def next(self) -> Standing | None:
        """How the study stands at the next look; None if it is gone."""
        return await asyncio.shield(self._next)  # who stops waiting does not stop the others

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(PAUSE_SECONDS)
            await self._bell.wait(self._study, LOOK_SECONDS)
            try:
                found = await run_in_threadpool(self._boards.standing, self._study)
            except Exception as error:  # noqa: BLE001  every page ends with it, and a browser connects again
                self._next.set_exception(error)
                self._next.exception()  # looked at: not every feed has a reader at this moment
            else:
                self._next.set_result(found)
            self._next = asyncio.get_running_loop().create_future()


class Feeds:
    """The feeds of all studies that somebody follows."""

    def __init__(self, boards: Boards, bell: Bell) -> None:
        self._boards, self._bell = boards, bell
        self._feeds: dict[str, Feed] = {}

    def __len__(self) -> int:
        return len(self._feeds)

    @asynccontextmanager
    async def following(self, study: str) -> AsyncIterator[Feed]:
        """The feed of a study; the last who leaves ends it."""
        feed = self._feeds.get(study)
        if feed is None:
            feed = self._feeds[study] = Feed(study, self._boards, self._bell)
        feed.readers += 1
        try:
            yield feed
        finally:
            feed.readers -= 1
            if not feed.readers:
                feed.task.cancel()
                self._feeds.pop(study, None)
