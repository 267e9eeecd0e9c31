"""One look at a study's events for all who follow it, however many they are.

Two thousand listeners who each look for themselves, at every event, would take more of the server than the study. So one task looks, and
they hear of it together: at once where they are few, and what has happened in up to a second where they are many.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from sqlite3 import OperationalError

from starlette.concurrency import run_in_threadpool

from consilience.service.server.redaction import without_result
from consilience.service.server.runner import Bell
from consilience.service.store import Event, Store

__all__ = ["Following", "Listener", "line_of"]

HEARTBEAT_SECONDS = 15.0
"""Between signs of life: a connection that is gone is noticed by writing to it."""
LOOK_SECONDS = 1.0
"""Between looks; the bell is for being earlier, and may ring between a look and the wait for it."""
PAUSE_SECONDS, PAUSE_EACH = 0.02, 0.0005
"""After a look, and for each listener: to tell one takes a tenth of a millisecond, so this leaves four fifths of a processor to others."""
MOST_KEPT = 1000
"""Events that are kept for listeners who are a little behind; the others read the store."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Who follows a study: a ``key`` that all with the same rights have, whether it ``still`` may, and whether it is ``shown`` results."""

    key: Hashable
    still: Callable[[], bool]
    shown: bool = True


def line_of(event: Event, *, shown: bool = True) -> str:
    r"""An event as it travels, with what belongs to the result or without.

    >>> line_of(Event(7, 1.5, "round", {"rounds": 3}))
    'id: 7\nevent: round\ndata: {"time": 1.5, "rounds": 3}\n\n'
    """
    event = event if shown else without_result(event)
    return f"id: {event.number}\nevent: {event.kind}\ndata: {json.dumps({'time': event.time, **event.body}, ensure_ascii=False)}\n\n"


class _Feed:
    """The looks at one study, as long as somebody follows it."""

    def __init__(self, store: Store, bell: Bell, study: str, after: int) -> None:
        self._store, self._bell, self._study = store, bell, study
        self.first = self.latest = after  # events above the first, up to the latest, are kept
        self._lines: dict[bool, list[str]] = {True: [], False: []}  # with what belongs to the result, and without
        self._told: dict[tuple[int, bool], str] = {}
        self.listeners: dict[Hashable, list[Listener]] = {}
        self.gone: frozenset[Hashable] = frozenset()
        self.over = self.failed = False
        self.next: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._follow())

    def since(self, after: int, *, shown: bool) -> str:
        """What has happened after an event, as it travels; the same text for all who are as far."""
        if (after, shown) not in self._told:
            self._told[after, shown] = "".join(self._lines[shown][after - self.first :])
        return self._told[after, shown]

    @property
    def total(self) -> int:
        """All listeners."""
        return sum(map(len, self.listeners.values()))

    async def _follow(self) -> None:
        while not self.over:
            try:
                over, gone, found = await run_in_threadpool(self._look, self.latest, [some[0] for some in self.listeners.values()])
            except OperationalError:  # all listeners end, and come back with the number of the last event that they have seen
                self.failed = self.over = True
            else:
                # without events at a look that saw the end: between the two there may be some, and the next look has them
                self.over, self.gone = over and not found, gone
                self._keep(found)
                if found or gone or self.over:
                    self._wake()
                if over:
                    continue
                await self._bell.wait(self._study, LOOK_SECONDS)
                await asyncio.sleep(PAUSE_SECONDS + PAUSE_EACH * self.total)
        self._wake()

    def _look(self, after: int, listeners: list[Listener]) -> tuple[bool, frozenset[Hashable], list[Event]]:
        # who may look and how the study stands, before the events: nobody hears of more than it may, and the last must not be missed
        gone = frozenset(one.key for one in listeners if not one.still())
        row = self._store.studies.get(self._study)
        return row is None or row.state.is_over, gone, self._store.runs.events(self._study, after)

    def _keep(self, found: list[Event]) -> None:
        if not found:
            return
        self.latest = found[-1].number
        late = len(self._lines[True]) + len(found) - MOST_KEPT
        for shown, lines in self._lines.items():
            lines.extend(line_of(event, shown=shown) for event in found)
            del lines[: max(0, late)]
        self.first += max(0, late)
        self._told.clear()

    def _wake(self) -> None:
        self.next.set_result(None)
        self.next = asyncio.get_running_loop().create_future()


class Following:
    """Those who follow studies, by study."""

    def __init__(self, store: Store, bell: Bell) -> None:
        self._store, self._bell = store, bell
        self._feeds: dict[str, _Feed] = {}

    def __len__(self) -> int:
        return len(self._feeds)

    async def lines(self, study: str, listener: Listener, after: int) -> AsyncIterator[str]:
        """Events after one, until the study is over or the listener may not look any more; signs of life in between."""
        try:
            async for number, told in self._caught_up(study, listener, after):
                after = number
                yield told
            if not await run_in_threadpool(listener.still):
                return
            async with self._feed(study, listener, after) as feed:
                async for told in self._heard(feed, study, listener, after):
                    yield told
        except OperationalError:  # the answer has begun: it ends, and whoever follows comes back with the number of the last event
            return

    async def _heard(self, feed: _Feed, study: str, listener: Listener, after: int) -> AsyncIterator[str]:
        while listener.key not in feed.gone and not feed.failed:
            if after < feed.first:  # too far behind: once more from the store
                async for number, told in self._caught_up(study, listener, after):
                    after = number
                    yield told
            elif after <= feed.latest and (told := feed.since(after, shown=listener.shown)):
                after = feed.latest
                yield told
            elif feed.over:
                return
            elif not await self._woken(feed):
                yield ": still here\n\n"

    async def _caught_up(self, study: str, listener: Listener, after: int) -> AsyncIterator[tuple[int, str]]:
        while await run_in_threadpool(listener.still) and (found := await run_in_threadpool(self._store.runs.events, study, after)):
            after = found[-1].number
            yield after, "".join(line_of(event, shown=listener.shown) for event in found)

    async def _woken(self, feed: _Feed) -> bool:
        """Wait for the next look that has something to say; False after a while without one."""
        done, _ = await asyncio.wait([feed.next], timeout=HEARTBEAT_SECONDS)
        return bool(done)

    @asynccontextmanager
    async def _feed(self, study: str, listener: Listener, after: int) -> AsyncIterator[_Feed]:
        feed = self._feeds.get(study)
        if feed is None or feed.over:
            feed = self._feeds[study] = _Feed(self._store, self._bell, study, after)
        alike = feed.listeners.setdefault(listener.key, [])
        alike.append(listener)
        try:
            yield feed
        finally:
            alike.remove(listener)
            if not alike and feed.listeners.get(listener.key) is alike:
                del feed.listeners[listener.key]
            if not feed.listeners:
                feed.task.cancel()
                if self._feeds.get(study) is feed:
                    del self._feeds[study]
