"""One look at a study for all of its open pages, however many they are.

While a run computes, every step from the event loop into a thread and back waits for the interpreter some milliseconds. Two hundred pages
that each look for themselves would have news every four seconds; so one task looks, and all of them hear of it. The same task asks whether
those who look still may: two hundred pages that ask for themselves, in as many threads, keep everybody from the interpreter for a second.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import islice, takewhile

from starlette.concurrency import run_in_threadpool

from consilience.service.server.runner import Bell
from consilience.web.pages.server.board import Boards, Standing

__all__ = ["Feed", "Feeds"]

PAUSE_SECONDS = 0.2
"""Between two looks: a run has many rounds a second, and people read one."""
LOOK_SECONDS = 0.05
"""After the pause, at the latest; the bell is for being earlier, and may ring between a look and the wait for it."""
ASK_SECONDS = 10.0
"""Between checks that whoever looks still may: the session may have ended, the site been removed."""
MOST_ASKED = 16
"""Sessions that are checked between two looks: as many as there may be open pages get their turn in ``ASK_SECONDS``."""
MayLook = Callable[[str, str], bool]
"""Whether a session, the first, may still look at a study."""


class Feed:
    """The looks at one study, as long as somebody waits for them."""

    def __init__(self, study: str, boards: Boards, bell: Bell, may_look: MayLook, *, bare: bool = False) -> None:
        self._study, self._bell, self._may_look = study, bell, may_look
        self._standing = partial(boards.standing, study, bare=True) if bare else partial(boards.standing, study)
        self._next: asyncio.Future[Standing | None] = asyncio.get_running_loop().create_future()
        self._readers = Counter[str]()
        self._asked: dict[str, float] = {}  # sessions that may look, and when they were asked for: the one that waits longest first
        self.task = asyncio.create_task(self._look())

    def enter(self, session: str) -> None:
        """One page more of a session that may look, as was seen just now."""
        self._readers[session] += 1
        self._asked.setdefault(session, time.monotonic())

    def leave(self, session: str) -> None:
        """One page less."""
        self._readers[session] -= 1
        if not self._readers[session]:
            del self._readers[session]
            self._asked.pop(session, None)

    def __len__(self) -> int:
        """Open pages."""
        return self._readers.total()

    def allows(self, session: str) -> bool:
        """Whether pages of this session may go on, as it was when they were last asked for."""
        return session in self._asked

    async def next(self) -> Standing | None:
        """How the study stands at the next look; None if it is gone."""
        return await asyncio.shield(self._next)  # who stops waiting does not stop the others

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(PAUSE_SECONDS)
            try:
                await self._ask()
                await self._bell.wait(self._study, LOOK_SECONDS)
                found = await run_in_threadpool(self._standing)
            except Exception as error:  # noqa: BLE001  every page ends with it, and a browser connects again
                self._next.set_exception(error)
                self._next.exception()  # looked at: not every feed has a reader at this moment
            else:
                self._next.set_result(found)
            self._next = asyncio.get_running_loop().create_future()

    async def _ask(self) -> None:
        """Whether sessions that were not asked for in a while may still look; one step into a thread for all of them."""
        late = time.monotonic() - ASK_SECONDS
        due = list(islice(takewhile(lambda one: self._asked[one] <= late, self._asked), MOST_ASKED))
        if not due:
            return
        refused = await run_in_threadpool(self._refused, due)
        now = time.monotonic()
        for session in due:
            known = self._asked.pop(session, None)
            if known is not None and session not in refused:  # who has left meanwhile is not to come back
                self._asked[session] = now

    def _refused(self, sessions: Sequence[str]) -> set[str]:
        return {session for session in sessions if not self._may_look(session, self._study)}


class Feeds:
    """The feeds of all studies that somebody follows."""

    def __init__(self, boards: Boards, bell: Bell, may_look: MayLook, may_look_bare: MayLook | None = None) -> None:
        self._boards, self._bell = boards, bell
        self._may_look = {False: may_look, True: may_look_bare or may_look}
        self._feeds: dict[tuple[str, bool], Feed] = {}

    def __len__(self) -> int:
        return len(self._feeds)

    @asynccontextmanager
    async def following(self, study: str, session: str, *, bare: bool = False) -> AsyncIterator[Feed]:
        """The feed of a study, for a page of a session that may look; the last who leaves ends it. ``bare``: without what was found."""
        feed = self._feeds.get((study, bare))
        if feed is None:
            feed = self._feeds[study, bare] = Feed(study, self._boards, self._bell, self._may_look[bare], bare=bare)
        feed.enter(session)
        try:
            yield feed
        finally:
            feed.leave(session)
            if not len(feed):
                feed.task.cancel()
                self._feeds.pop((study, bare), None)
