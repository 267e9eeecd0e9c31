"""Streams of events: in order, with signs of life, and never more than are allowed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from consilience.web.live import MOST_TOGETHER, RETRY, Event, Streams, last_event


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
    first, *others = run(streams, three())
    check_retry(first)
    told = b"".join(others).split(b"\n\n")
    assert [part.split(b"\n")[0] for part in told] == [b"id: 1", b"id: 2", b"id: 3", b""]
    assert len(others) == 1, "what is there at once is sent at once"
    assert streams.open == 0


def test_what_has_to_be_waited_for_does_not_keep_what_is_there() -> None:
    async def slow() -> AsyncIterator[Event]:
        yield Event("append", "ledger", "<tr>1", 1)
        yield Event("append", "ledger", "<tr>2", 2)
        await asyncio.sleep(0.02)
        yield Event("append", "ledger", "<tr>3", 3)
        raise OSError("the disk is gone")

    async def collect() -> None:
        async for part in streams.respond(slow()).body_iterator:
            found.append(bytes(part).count(b"id: "))

    streams, found = Streams(), list[int]()
    with pytest.raises(OSError, match="disk"):
        asyncio.run(collect())
    assert found == [0, 2, 1], "and an error comes after what was told before it"
    assert streams.open == 0


def test_many_events_are_sent_in_pieces_that_have_an_end() -> None:
    async def many() -> AsyncIterator[Event]:
        for n in range(1, 2 * MOST_TOGETHER + 2):
            yield Event("append", "ledger", "<tr>", n)

    _, *others = run(Streams(), many())
    assert [part.count(b"id: ") for part in others] == [MOST_TOGETHER, MOST_TOGETHER, 1]


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
