"""Web sockets over TLS for tests that go step by step: plain calls, behind which one event loop in a thread of its own does all the work.

There are websockets' own for threads, with one thread that reads and another that writes. Over TLS that is two threads in one object of
OpenSSL, which is made for one: on a busy machine, once in some hundred connections, a handshake was never answered or ended with an
internal error, and it was the server that seemed to hang. Agents of the program have an event loop, as this has.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Thread
from typing import Any, TypeVar

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as dial
from websockets.asyncio.server import ServerConnection, serve

OPEN_SECONDS = 60.0
CLOSE_SECONDS = 10.0
T = TypeVar("T")


@lru_cache(maxsize=1)
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, daemon=True).start()
    return loop


def _done(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run_coroutine_threadsafe(work, _loop()).result()


class Wire:
    """One end of a connection."""

    def __init__(self, connection: ClientConnection | ServerConnection) -> None:
        self._connection = connection

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, data: bytes) -> None:
        _done(self._connection.send(data))

    def recv(self, seconds: float | None = None) -> bytes:
        """The next message; TimeoutError if there is none in time, ConnectionClosed if none will come."""
        found = _done(asyncio.wait_for(self._connection.recv(), seconds))
        assert isinstance(found, bytes)
        return found

    def close(self, code: int = 1000, reason: str = "") -> None:
        _done(self._connection.close(code, reason))

    def abort(self) -> None:
        """Gone without a word, as a machine that is switched off."""
        _loop().call_soon_threadsafe(self._connection.transport.abort)


def connect(url: str, context: ssl.SSLContext | None, **options: Any) -> Wire:
    """A connection to whoever listens at an address."""

    async def connected() -> ClientConnection:
        options.setdefault("close_timeout", CLOSE_SECONDS)
        return await dial(url, ssl=context, proxy=None, compression=None, open_timeout=OPEN_SECONDS, **options)

    return Wire(_done(connected()))


@contextmanager
def listening(handle: Callable[[Wire], None], context: ssl.SSLContext) -> Iterator[int]:
    """Somebody who listens on loopback, and handles every connection in a thread of its own; the port."""

    async def handled(connection: ServerConnection) -> None:
        await asyncio.to_thread(handle, Wire(connection))

    async def begun() -> Any:
        return await serve(handled, "127.0.0.1", 0, ssl=context, compression=None, max_size=None, close_timeout=CLOSE_SECONDS)

    server = _done(begun())
    try:
        yield int(next(iter(server.sockets)).getsockname()[1])
    finally:
        _loop().call_soon_threadsafe(server.close)
