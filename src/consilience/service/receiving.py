"""Messages of a connection, put together from frames. Whoever says that more follows has to go on: a message that was begun has its time.

Between messages a connection may be silent for days: its heartbeats say that it is alive. In the middle of one that would keep the room for
it, and everything that waits for it, for as long as the other side likes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from consilience.protocol.errors import UnfinishedMessageError
from consilience.protocol.framing import Assembler

__all__ = ["LEAST_RATE", "MESSAGE_SECONDS", "next_message"]

MESSAGE_SECONDS = 60.0
"""From the first frame of a message to its last, and as much again as it takes at the slowest rate."""
LEAST_RATE = 1024.0
"""Bytes a second: a byte now and then does not count as going on."""


async def next_message(receive: Callable[[], Awaitable[bytes]], assembler: Assembler) -> bytes:
    r"""The next message of a connection; :class:`UnfinishedMessageError` if it is begun and not finished in time.

    >>> frames = iter([b"\x01hello ", b"\x00you"])
    >>> async def receive() -> bytes:
    ...     return next(frames)
    >>> asyncio.run(next_message(receive, Assembler(20)))
    b'hello you'
    """
    clock, began, came = asyncio.get_running_loop().time, None, 0
    while True:
        limit = None if began is None else max(0.0, began + MESSAGE_SECONDS + came / LEAST_RATE - clock())
        try:
            async with asyncio.timeout(limit) as waiting:
                frame = await receive()
        except TimeoutError:
            if not waiting.expired():  # not ours
                raise
            raise UnfinishedMessageError(
                f"A message that is begun must be finished within {MESSAGE_SECONDS:g} seconds, and at {LEAST_RATE:g} bytes a second; after "
                f"{came} bytes nothing more came in time."
            ) from None
        data = assembler.feed(frame)
        if data is not None:
            return data
        came += len(frame)
        began = clock() if began is None else began
