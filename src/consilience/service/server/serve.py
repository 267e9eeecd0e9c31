"""The application behind a socket: uvicorn, with bounds on everything that comes from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from consilience.protocol.framing import FRAME_BYTES
from consilience.secagg import Identity
from consilience.service.config import ServerConfig
from consilience.service.lock import lock_folder
from consilience.service.memory import settle
from consilience.service.server.app import create_app

__all__ = ["serve"]


GOODBYE_SECONDS = 1.0
"""For the closing frame of a connection whose frame was too long to reach it, and no longer."""
REQUEST_SECONDS = 30.0
"""A megabyte, the longest body by default, in 30 seconds is 35 kB/s: a slow line manages that. uvicorn bounds idle connections in time, and
not a request under way."""
SHUTDOWN_SECONDS = 5
"""For requests under way when the server stops; runs are interrupted and need none of it."""


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

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
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

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        super().connection_lost(exc)

    def _cancel(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def serve(config: ServerConfig, identity: Identity, dress: Callable[[FastAPI], FastAPI] = lambda app: app) -> None:
    """Serve until stopped; one process per folder. ``dress`` may add to the application, such as pages."""
    with lock_folder(Path(config.home)):
        app = dress(create_app(config, identity))
        settle()
        _run(config, app)


def _run(config: ServerConfig, app: FastAPI) -> None:
    uvicorn.run(
        app,
        host=config.host,
        port=config.port,
        ssl_certfile=config.tls_cert or None,
        ssl_keyfile=config.tls_key or None,
        http=_Punctual,
        ws=_Impatient,
        ws_max_size=FRAME_BYTES + 1,  # a frame of ours and its leading byte; messages are put together from frames, under a limit each
        ws_ping_interval=config.heartbeat_seconds,
        ws_ping_timeout=config.heartbeat_seconds,
        ws_per_message_deflate=False,  # masked numbers do not compress, and bombs do
        limit_concurrency=config.max_connections,
        proxy_headers=config.behind_proxy,
        forwarded_allow_ips=config.trusted_proxies if config.behind_proxy else None,
        server_header=False,
        access_log=False,
        log_config=None,  # set_up_logs has set up all of them
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
