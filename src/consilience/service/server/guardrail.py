"""Around every HTTP request: a longest body, one line in the log, headers that keep answers out of caches."""

from __future__ import annotations

import json
import logging
import time

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guardrail"]

_log = logging.getLogger("consilience.server.http")
_TOO_LONG = json.dumps({"error": "MessageSizeError", "message": "The body of a request is longer than this server takes."}).encode()


class Guardrail:
    """ASGI middleware. Bodies over ``most`` bytes are refused with 413, read or not. The log has the path, never the query or a header."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # 500 until a response begins: an application that dies before that is logged as what the client sees
        begin, status, seen = time.perf_counter(), 500, 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            # Counted as it comes, since a chunked body declares no length, and a declared one may be a lie.
            if seen > self._most:  # the application answers with it: it has not begun to
                raise HTTPException(413, "The body of a request is longer than this server takes.")
            return message

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if seen > self._most:  # the rest of the body is not read: it has no end
                    message["headers"] = [*message.get("headers", []), (b"connection", b"close")]
                known = {name.lower() for name, _ in message.get("headers", [])}
                # answers hold tokens, results and other people's names: not in a cache, unless a route says otherwise
                if b"cache-control" not in known:
                    message["headers"] = [*message.get("headers", []), (b"cache-control", b"no-store")]
            await send(message)

        try:
            # a body that says it is too long is refused before the application is asked, and before a byte of it is read
            if _declared_length(scope) > self._most:
                headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
                await noted({"type": "http.response.start", "status": 413, "headers": headers})
                await send({"type": "http.response.body", "body": _TOO_LONG})
            else:
                await self._app(scope, counted, noted)
        finally:
            took = round(1000.0 * (time.perf_counter() - begin), 1)
            _log.info("request", extra={"method": scope["method"], "path": scope["path"], "status": status, "ms": took})


def _declared_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value[:20])  # 20 digits exceed any limit; int() of a megabyte of digits would take its time
    return 0
