"""Streams of events: in order, with signs of life, and never more than are allowed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from consilience.web.live import RETRY, Event, Streams, last_event


def run(streams: Streams, events: AsyncIterator[Event], most: int = 100) -> list[bytes]:
    async def collect() -> list[bytes]:
        found: list[bytes] = []
        async for part in streams.respond(events).body_iterator:
            assert isinstance(part, bytes)
            found.append(part)
            if len(found) == most:
                streams.close()
        return found

    return asyncio.run(collect())


async def three() -> AsyncIterator[Event]:
    for n in range(1, 4):
        yield Event("append", "ledger", f"<tr>{n}\n", n)


async def silent() -> AsyncIterator[Event]:
    await asyncio.Event().wait()
    yield Event("go", "/")


def check_retry(part: bytes) -> None:
    """Pages that lost their server at the same moment do not all come back at the same moment."""
    word, milliseconds = part.decode().split()
    assert word == "retry:"
    assert RETRY[0] <= int(milliseconds) <= RETRY[1]


def test_events_come_in_order_and_the_stream_ends_with_them() -> None:
    streams = Streams()
    parts = run(streams, three())
    check_retry(parts[0])
    assert [part.split(b"\n")[0] for part in parts[1:]] == [b"id: 1", b"id: 2", b"id: 3"]
    assert all(part.count(b"\n\n") == 1 and part.endswith(b"\n\n") for part in parts)
    assert streams.open == 0


def test_silence_has_signs_of_life_and_closing_ends_it() -> None:
    streams = Streams(heartbeat=0.01)
    first, *others = run(streams, silent(), most=3)
    check_retry(first)
    assert others == [b": here\n\n", b": here\n\n"]
    assert streams.open == 0


def test_there_are_no_more_streams_than_allowed() -> None:
    async def two() -> None:
        streams = Streams(most=1)
        first = streams.respond(silent()).body_iterator
        await anext(aiter(first))
        with pytest.raises(HTTPException):
            streams.respond(silent())
        await first.aclose()  # type: ignore[attr-defined]
        assert streams.open == 0

    asyncio.run(two())


@pytest.mark.parametrize(("given", "number"), [(b"17", 17), (b"-1", 0), (b"x", 0), (b"9" * 40, 0)])
def test_what_the_browser_has_seen(given: bytes, number: int) -> None:
    scope = {"type": "http", "headers": [(b"last-event-id", given)], "query_string": b"after=0"}
    assert last_event(Request(scope)) == number
