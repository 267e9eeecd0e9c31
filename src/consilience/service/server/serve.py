"""The application behind a socket: uvicorn, with bounds on everything that comes from outside."""

from __future__ import annotations

import asyncio
import logging
import os
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, ClassVar

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from consilience.frames import load
from consilience.protocol.framing import FRAME_BYTES
from consilience.secagg import Identity
from consilience.service.config import ServerConfig
from consilience.service.errors import ConfigurationError
from consilience.service.lock import lock_folder
from consilience.service.memory import settle
from consilience.service.server.app import create_app
from consilience.service.server.door import Door, listen, neighbourhood

__all__ = ["door_of", "options_of", "serve"]


GOODBYE_SECONDS = 1.0
"""For the closing frame of a connection whose frame was too long to reach it, and no longer."""
REQUEST_SECONDS = 30.0
"""A megabyte, the longest body by default, in 30 seconds is 35 kB/s: a slow line manages that. uvicorn bounds idle connections in time, and
not a request under way."""
IDLE_SECONDS = 20
"""For a connection between two requests, and well over the five seconds after which httpx, our own client too, no longer uses one again.
Where both give it up at the same moment, as with uvicorn's five seconds, a request now and then meets a connection that just ends."""
SHUTDOWN_SECONDS = 3
"""For requests under way when the server stops; runs are interrupted and need none of it."""
HANDSHAKE_SECONDS = 10.0
"""For TLS: two round trips, with room for a line that is slow and a server that is busy."""
FAREWELL_SECONDS = 5.0
"""For TLS's good-bye, which the other side may owe for ever."""
BUFFER_BYTES = 1 << 15
"""A record of TLS has 16 kB at the most."""
RESERVED, LEAST = 128, 8
"""Descriptors that are not for connections: the database, logs, modules that are loaded late. And connections that there always are."""
_log = logging.getLogger("consilience.server")


class _Impatient(WebSocketsSansIOProtocol):
    """A TLS connection waits half a minute for the other side's good-bye. Not for a site that misses a heartbeat, which is gone now,
    and not for somebody whose frame is too long, who would go on sending it.
    """

    def keepalive_timeout(self) -> None:
        # abort, not close: closing TLS waits for the peer, and a study waits for the loss to be noticed
        super().keepalive_timeout()
        self.transport.abort()

    def handle_parser_exception(self) -> None:
        super().handle_parser_exception()
        self.loop.call_later(GOODBYE_SECONDS, self.transport.abort)


class _Punctual(H11Protocol):
    """A request must be there, whole, ``REQUEST_SECONDS`` after its first byte, and the first byte so long after the connection: else
    half-sent requests would take all connections. And ``limit_concurrency`` holds for connections of every kind, also for WebSockets.
    """

    door: ClassVar[Door | None] = None
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.door is not None:  # after the handshake, where there is TLS
            self.door.heard(transport.get_extra_info("socket").fileno())
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency:
            transport.abort()  # without an answer: writing one to each of a flood is what the flood wants
            return
        self._deadline = self.loop.call_later(REQUEST_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # h11's own state says whether a request is half there: bytes that begin one (IDLE with data left over), or its body
        state = self.conn.their_state
        unfinished = state is h11.SEND_BODY or (state is h11.IDLE and bool(self.conn.trailing_data[0]))
        if not unfinished or self.transport.get_protocol() is not self:  # it is a WebSocket now, and has a time-out of its own
            self._cancel()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def send_400_response(self, msg: str) -> None:
        # A body that turns out to be malformed while the application has the request already: uvicorn answers it, and the application's own
        # answer would then be a defect. So it is told that nobody listens any more.
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
            if cycle.response_started:
                self.transport.close()
                return
        super().send_400_response(msg)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        super().connection_lost(exc)
        # uvicorn leaves both after an abort. The request and this know each other, and this knows the buffers of TLS:
        # a circle that stays until Python next looks for old garbage, which it does by the number of things and not by their size.
        self._unset_keepalive_if_required()
        self.cycle = None  # type: ignore[assignment]

    def _cancel(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class _Loop(asyncio.SelectorEventLoop):
    """asyncio gives a TLS handshake a minute and a good-bye half of one, and uvicorn has no setting for it."""

    async def create_server(self, *args: Any, **options: Any) -> asyncio.Server:
        if options.get("ssl") is not None:
            options |= {"ssl_handshake_timeout": HANDSHAKE_SECONDS, "ssl_shutdown_timeout": FAREWELL_SECONDS}
        return await super().create_server(*args, **options)


def serve(config: ServerConfig, identity: Identity, dress: Callable[[FastAPI], FastAPI] = lambda app: app) -> None:
    """Serve until stopped; one process per folder. ``dress`` may add to the application, such as pages."""
    with lock_folder(Path(config.home)):
        load()
        app = dress(create_app(config, identity))
        settle()
        try:
            _run(config, app)
        finally:
            if app.state.services.runner.computing:  # the interpreter would wait for it, and nothing that it does is needed
                logging.shutdown()
                os._exit(0)


def _run(config: ServerConfig, app: FastAPI) -> None:
    _lean_buffers()
    door = door_of(config)
    try:
        listeners = listen(config.host, config.port, door)
    except OSError as error:
        raise ConfigurationError(
            f"The server must be able to listen on {config.host} port {config.port}; it cannot: {error.strerror or error}. "
            f"Stop what listens there, or choose another with --host and --port."
        ) from None
    server = uvicorn.Server(uvicorn.Config(app, **options_of(config, door)))
    try:
        with asyncio.Runner(loop_factory=_Loop) as runner:
            runner.run(server.serve(list(listeners)))
    except KeyboardInterrupt:
        return
    finally:
        for one in listeners:
            one.close()


def _lean_buffers() -> None:
    """Two records are enough: asyncio reads TLS into a buffer of a quarter of a megabyte for each connection, from its first moment on."""
    if hasattr(SSLProtocol, "max_size"):
        SSLProtocol.max_size = BUFFER_BYTES


def door_of(config: ServerConfig) -> Door:
    """As many connections as the settings say, if there are descriptors for them. Those of a trusted proxy are not one guest's."""
    room = _descriptors(config.max_connections + RESERVED) - RESERVED
    if room < config.max_connections:
        words = "fewer connections than max_connections: the system allows too few open files"
        _log.warning(words, extra={"connections": max(LEAST, room), "max_connections": config.max_connections})
    proxies = [ip_network(one.strip()) for one in config.trusted_proxies.split(",")] if config.behind_proxy else []

    def counted(address: str) -> bool:
        try:
            found = ip_address(neighbourhood(address))
        except ValueError:
            return True
        return not any(found in network for network in proxies if network.version == found.version)

    return Door(max(LEAST, min(room, config.max_connections)), config.max_connections_per_address, counted)


def _descriptors(wanted: int) -> int:
    """How many files this process may have open, after asking for as many as are wanted."""
    try:
        import resource  # noqa: PLC0415  not on Windows, which has no such limit
    except ImportError:
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    more = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
        return more
    return soft


def options_of(config: ServerConfig, door: Door | None = None) -> dict[str, Any]:
    """What uvicorn is told."""
    return {
        "ssl_certfile": config.tls_cert or None,
        "ssl_keyfile": config.tls_key or None,
        "http": type("Punctual", (_Punctual,), {"door": door}),
        "ws": _Impatient,
        "ws_max_size": FRAME_BYTES + 1,  # a frame of ours and its leading byte; messages are put together from frames, under a limit each
        "ws_ping_interval": config.heartbeat_seconds,
        "ws_ping_timeout": config.heartbeat_seconds,
        "ws_per_message_deflate": False,  # masked numbers do not compress, and bombs do
        "limit_concurrency": config.max_connections,
        "proxy_headers": config.behind_proxy,
        "forwarded_allow_ips": config.trusted_proxies if config.behind_proxy else None,
        "server_header": False,
        "access_log": False,
        "log_config": None,  # set_up_logs has set up all of them
        "timeout_keep_alive": IDLE_SECONDS,
        "timeout_graceful_shutdown": SHUTDOWN_SECONDS,
    }
