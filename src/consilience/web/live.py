"""Events for open pages: Server-Sent Events, in bounds.

An event says which element of the page gets which new content, as HTML that a template has made; ``static/live.js`` puts it there. A page
without scripts shows the same when it is loaded again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import StreamingResponse

__all__ = ["Event", "Streams", "last_event"]

HEARTBEAT_SECONDS = 10.0
"""Between signs of life: proxies close what is silent for a minute, and a connection that is gone is noticed by writing to it."""

MOST_TOGETHER = 32
"""Events that are there at once and travel in one piece: to send takes longer than to make them, and two hundred pages wait for it."""
RETRY = (1000, 3000)
"""Milliseconds after which a browser connects again, drawn for each."""


@dataclass(frozen=True, slots=True)
class Event:
    r"""``replace`` the content of the element ``target``, or ``append`` to it; or ``go``: load the page ``target``; or ``done``:
    nothing more will come, which a reader is told in the words ``html``.

    ``number`` comes back as ``Last-Event-ID`` when a browser connects again.

    >>> Event("replace", "progress", "<p>1 < 2", 7).encoded()
    b'id: 7\nevent: replace\ndata: {"target": "progress", "html": "<p>1 < 2"}\n\n'
    """

    kind: str
    target: str
    html: str = ""
    number: int = 0

    def encoded(self) -> bytes:
        """As it travels. JSON has no line ends in it, which would end the event."""
        return _encoded(self)


@lru_cache(maxsize=64)
def _encoded(event: Event) -> bytes:
    """Kept for a while: all open pages of a study get the same event."""
    data: dict[str, Any] = {"target": event.target, "html": event.html}
    return f"id: {event.number}\nevent: {event.kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def last_event(request: Request) -> int:
    """The number of the last event that the browser has seen, from its header or from ``?after=``; 0 if none."""
    for given in (request.headers.get("last-event-id", ""), request.query_params.get("after", "")):
        if given.isdecimal() and len(given) < 16:
            return int(given)
    return 0


class Streams:
    """All open streams of an app, at most ``most``."""

    def __init__(self, most: int = 500, heartbeat: float = HEARTBEAT_SECONDS) -> None:
        self._most, self._heartbeat = most, heartbeat
        self.open = 0
        self._closing = asyncio.Event()

    def close(self) -> None:
        """End all streams: a server that stops does not wait for pages that stay open."""
        self._closing.set()

    def respond(self, events: AsyncIterator[Event]) -> StreamingResponse:
        """A response that sends ``events`` as they come, and a sign of life where none do. It ends when they end or the browser is gone."""
        if self.open >= self._most:
            raise HTTPException(503, "Too many pages are open. Reload this one to see how things stand.", {"Retry-After": "10"})
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._lines(events), headers=headers, media_type="text/event-stream")

    async def _lines(self, events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
        self.open += 1
        stop = asyncio.ensure_future(self._closing.wait())
        upcoming: asyncio.Future[Event] | None = None
        try:
            # pages that have lost their connection together do not come back together
            yield f"retry: {random.randint(*RETRY)}\n\n".encode()  # noqa: S311  nothing secret
            while True:
                upcoming = upcoming or asyncio.ensure_future(anext(events))
                waited: list[asyncio.Future[Any]] = [upcoming, stop]
                await asyncio.wait(waited, timeout=self._heartbeat, return_when=asyncio.FIRST_COMPLETED)
                if stop.done():
                    return
                if not upcoming.done():
                    yield b": here\n\n"
                    continue
                told = list[bytes]()
                while upcoming.done() and upcoming.exception() is None and len(told) < MOST_TOGETHER:
                    told.append(upcoming.result().encoded())
                    upcoming = asyncio.ensure_future(anext(events))
                    await asyncio.sleep(0)  # what need not be waited for is there now
                if told:
                    yield b"".join(told)
                    continue
                try:
                    upcoming.result()
                except StopAsyncIteration:
                    return
        finally:
            self.open -= 1
            for task in (upcoming, stop):
                if task is not None:
                    task.cancel()
                    with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
                        await task
            if hasattr(events, "aclose"):
                await events.aclose()
