"""The sites' connections, by study and name, and the bridge from the threads of runs to the event loop that holds them."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from threading import Lock
from typing import Any, TypeVar, cast

from consilience.errors import ConsilienceError
from consilience.federation.errors import ClientGoneError
from consilience.federation.transport.remote import Links, Lost
from consilience.protocol.framing import Assembler, encode, frames
from consilience.protocol.messages import RunMessage, RunReply
from consilience.service.errors import RunInterruptedError

__all__ = ["IDLE_BYTES", "Connection", "Hub", "SocketLinks", "SocketWriter"]

IDLE_BYTES = 1 << 20
"""The longest message of a site that nothing was asked of: a declaration of its variables."""
LATE, REPLACED, BAD, LEFT = 4408, 4409, 4400, 4410
"""Closing codes, from the range that RFC 6455 leaves to applications; the last three digits are those of the HTTP status they are like."""
TELL_SECONDS = 10.0
"""How long one site may take to accept a message that all are told: a site that reads nothing must not keep the others from it."""
REASON_CHARACTERS = 100
"""A closing frame has room for 123 bytes."""
T = TypeVar("T")


class SocketWriter(ABC):
    """What a connection needs of a socket: two methods, so that the hub knows no web framework and tests need no socket."""

    @abstractmethod
    async def send(self, frame: bytes) -> None:
        """Send one frame; any error means that the connection is gone."""

    @abstractmethod
    async def close(self, code: int, reason: str) -> None:
        """End the connection."""


class Connection:
    """A site that has proved who it is. ``greeted``: it has been welcomed; ``ready``: its owner consents, to the contract ``agreed``."""

    def __init__(self, study: str, site: str, writer: SocketWriter) -> None:
        self.study, self.site = study, site
        self.ready = self.greeted = False
        self.agreed = b""
        self.assembler = Assembler(IDLE_BYTES)
        self._writer = writer
        self._pending: asyncio.Future[RunReply | Lost] | None = None
        self._sending = asyncio.Lock()

    async def send(self, data: bytes) -> None:
        """Send a whole message; messages do not mix."""
        # a proposal and a round may be sent at the same moment, from two tasks; frames of two messages in turn would be neither
        async with self._sending:
            for frame in frames(data):
                await self._writer.send(frame)

    async def close(self, code: int, reason: str) -> None:
        """End it; whoever waits for an answer learns that it is lost."""
        self.lose(reason)
        await self._writer.close(code, reason)

    def lose(self, why: str) -> None:
        """Tell whoever waits."""
        # a result and no exception: one lost site must not cancel the wait for the others, whose answers the run takes or waits out
        self.ready = False
        if self._pending is not None and not self._pending.done():
            self._pending.set_result(Lost(why))

    def answered(self, reply: RunReply) -> bool:
        """Take the answer to the question that is open; False if there is none."""
        if self._pending is None or self._pending.done():
            return False
        self._pending.set_result(reply)
        return True

    async def exchange(self, data: bytes, limit: int, seconds: float) -> RunReply | Lost:
        """Send a question and wait for its answer. A site that is late is cut off."""
        if not self.ready:
            return Lost("not connected")
        # One question at a time: the future is the question, and an answer without one is out of turn. The limit is raised for just as
        # long, so that a site can make the server hold no more than what it was asked for.
        self._pending = asyncio.get_running_loop().create_future()
        self.assembler.limit = limit
        try:
            async with asyncio.timeout(seconds):
                await self.send(data)
                return await self._pending
        except TimeoutError:
            # cut off, not left alone: its answer might still come, when the next question is open
            await self.close(LATE, "no answer in time")
            return Lost("no answer in time")
        except (OSError, RuntimeError) as error:  # what a socket says when the other side is gone
            return Lost(f"the connection ended: {error}")
        finally:
            self._pending = None
            self.assembler.limit = IDLE_BYTES


class Hub:
    """All connections. Everything here happens in the event loop's thread."""

    # So there is no lock: between two awaits nothing else runs. Threads come in by SocketLinks alone.

    def __init__(self) -> None:
        self._connections: dict[tuple[str, str], Connection] = {}
        self._waiting: dict[str, set[asyncio.Event]] = {}

    def __len__(self) -> int:
        return len(self._connections)

    async def register(self, connection: Connection) -> None:
        """A site's newest connection is the one that counts: the older may be dead without knowing it."""
        key = (connection.study, connection.site)
        old = self._connections.get(key)
        self._connections[key] = connection
        if old is not None:
            await old.close(REPLACED, "the site has connected again")

    def unregister(self, connection: Connection, why: str) -> None:
        """A connection has ended."""
        connection.lose(why)
        key = (connection.study, connection.site)
        # a connection that was replaced ends after its successor is there, and must not take that out
        if self._connections.get(key) is connection:
            del self._connections[key]

    def of(self, study: str) -> list[Connection]:
        """The connections of a study's sites."""
        return [c for (s, _), c in list(self._connections.items()) if s == study]

    def mark_ready(self, connection: Connection, contract: bytes = b"") -> None:
        """A site's owner has consented to the contract with this digest."""
        connection.ready, connection.agreed = True, contract
        for event in self._waiting.get(connection.study, ()):
            event.set()

    def missing(self, study: str, names: Sequence[str], contract: bytes = b"") -> list[str]:
        """Those of ``names`` that are not ready, by consent to the contract with this digest (if one is given)."""
        found = {c.site for c in self.of(study) if c.ready and (not contract or c.agreed == contract)}
        return [name for name in names if name not in found]

    async def gather(self, study: str, names: Sequence[str], seconds: float, contract: bytes = b"") -> None:
        """Wait until all of ``names`` are ready; ``ClientGoneError`` with the first that is not in time."""
        event = asyncio.Event()
        self._waiting.setdefault(study, set()).add(event)
        try:
            async with asyncio.timeout(seconds):
                # a loop: who was ready may be gone again by the time the last one comes. Cleared after the look and before the wait,
                # without an await in between, so no arrival is missed
                while self.missing(study, names, contract):
                    event.clear()
                    await event.wait()
        except TimeoutError:
            raise ClientGoneError(next(iter(self.missing(study, names, contract)), names[0])) from None
        finally:
            self._waiting[study].discard(event)
            if not self._waiting[study]:
                del self._waiting[study]

    async def call(self, study: str, messages: Mapping[str, RunMessage], limit: int, seconds: float) -> dict[str, RunReply | Lost]:
        """Ask all sites at once; one answer or loss of each. A message for many sites is encoded once."""
        encoded: dict[int, bytes] = {}  # by identity: one object goes to many sites, and comparing contents would cost what encoding does
        for message in messages.values():
            if id(message) not in encoded:
                encoded[id(message)] = encode(message)

        async def one(name: str, message: RunMessage) -> RunReply | Lost:
            connection = self._connections.get((study, name))
            if connection is None:
                return Lost("not connected")
            return await connection.exchange(encoded[id(message)], limit, seconds)

        replies = await asyncio.gather(*(one(name, message) for name, message in messages.items()))
        return dict(zip(messages, replies, strict=True))

    async def cut(self, study: str, name: str, why: str) -> None:
        """End a site's connection."""
        connection = self._connections.get((study, name))
        if connection is not None:
            await connection.close(BAD, why[:REASON_CHARACTERS])

    async def tell(self, study: str, data: bytes) -> None:
        """Send all sites of a study a message; one that is gone learns it when it is back."""
        for connection in self.of(study):
            if not connection.greeted:  # its greeting, which is on the way, reads the study again after the welcome
                continue
            try:
                async with asyncio.timeout(TELL_SECONDS):
                    await connection.send(data)
            except (OSError, RuntimeError, TimeoutError):
                connection.lose("the connection ended")


class SocketLinks(Links):
    """The sites of one study, for the thread of its run. :meth:`interrupt` ends whatever the thread waits for, with an error."""

    # The bridge: the run's thread hands a coroutine to the loop and blocks on its future. Who wants to end the run (the owner, a site that
    # declines, the server that stops) leaves an error and cancels the future. The lock makes "is there an error?" and "now I wait" one
    # step; without it an interruption between the two would be seen by nobody until the wait is over by itself.

    def __init__(self, hub: Hub, loop: asyncio.AbstractEventLoop, study: str, round_seconds: float, contract: bytes = b"") -> None:
        self._hub, self._loop, self._study, self._round_seconds, self._contract = hub, loop, study, round_seconds, contract
        self.patience = round_seconds
        self._lock = Lock()
        self._future: Future[Any] | None = None
        self._error: ConsilienceError | None = None

    def interrupt(self, error: ConsilienceError) -> None:
        """From any thread: raise ``error`` in the run's thread, now if it waits, else when it next does."""
        with self._lock:
            self._error = self._error or error  # the first stays: a cancelled study is not to be told that the server stops
            future = self._future
        if future is not None:
            future.cancel()  # outside the lock: callbacks run here, and take it

    def check(self) -> None:
        """Raise the error that the run was interrupted with, if it was."""
        if self._error is not None:
            raise self._error

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        with self._lock:
            if self._error is not None:
                work.close()  # a coroutine that is never awaited is a warning, and warnings are errors in the tests
                raise self._error
            try:
                future = self._future = asyncio.run_coroutine_threadsafe(work, self._loop)
            except RuntimeError:  # the loop is closed: the server has stopped in a hurry
                work.close()
                raise RunInterruptedError("The server has stopped.") from None
        try:
            return cast("T", future.result())
        except CancelledError:
            self.check()
            raise RunInterruptedError("The server has stopped.") from None
        finally:
            with self._lock:
                self._future = None

    def gather(self, names: Sequence[str]) -> None:
        """Wait for the sites, as long as ``patience`` says."""
        self._wait(self._hub.gather(self._study, names, self.patience, self._contract))

    def when_ready(self, names: Sequence[str], done: Callable[[Future[None]], None]) -> None:
        """Wait like :meth:`gather`, without a thread; then ``done`` is told how it went. An interruption ends it too."""

        def told(future: Future[None]) -> None:
            with self._lock:
                self._future = None
            done(future)

        with self._lock:
            waiting = self._hub.gather(self._study, names, self.patience, self._contract)
            future = self._future = asyncio.run_coroutine_threadsafe(waiting, self._loop)
            interrupted = self._error is not None
        future.add_done_callback(told)
        if interrupted:  # before there was anything to cancel
            future.cancel()

    def call(self, messages: Mapping[str, RunMessage], limit: int) -> dict[str, RunReply | Lost]:
        """Ask all sites at once."""
        return self._wait(self._hub.call(self._study, messages, limit, self._round_seconds))

    def cut(self, name: str, why: str) -> None:
        """End a site's connection."""
        self._wait(self._hub.cut(self._study, name, why))
