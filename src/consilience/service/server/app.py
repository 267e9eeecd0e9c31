"""The FastAPI factory."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request, WebSocket
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from consilience.errors import AccessError, ConsilienceError, DataError, KnowledgeError, OptionError, SchemaError, StudyError
from consilience.protocol.handshake import propose
from consilience.secagg import Identity
from consilience.service.config import ServerConfig
from consilience.service.errors import LifeCycleError, LoginError, RateLimitError, TokenError
from consilience.service.server.expiry import Expiry
from consilience.service.server.following import Following
from consilience.service.server.guardrail import Guardrail
from consilience.service.server.hub import Hub
from consilience.service.server.limits import RateLimit
from consilience.service.server.metrics import Metrics
from consilience.service.server.models import Problem
from consilience.service.server.passwords import Passwords
from consilience.service.server.pulse import Pulse
from consilience.service.server.routes import accounts, documentation, links, members, operations, results, sessions, studies
from consilience.service.server.runner import Bell, Runner
from consilience.service.server.services import RETRY_SECONDS, Services
from consilience.service.server.socket import SiteSockets
from consilience.service.store import Database, Store
from consilience.service.tls import certificate_digest, is_self_signed
from consilience.service.worker.limits import Limits

__all__ = ["busy_words", "create_app", "status_of"]

# From the particular to the general: the first that fits is taken, and RateLimitError and TokenError are AccessErrors, too.
_STATUS: tuple[tuple[type[ConsilienceError], int], ...] = (
    (TokenError, 401),
    (LoginError, 401),
    (RateLimitError, 429),
    (AccessError, 403),
    (LifeCycleError, 409),
    (OptionError, 422),
    (SchemaError, 422),
    (KnowledgeError, 422),
    (DataError, 422),
    (StudyError, 409),
)
MOST_MISFITS = 5
"""A body of a megabyte can be wrong in a hundred thousand places; five are enough to correct it by."""
ACCOUNT_FACTOR = 10
"""So many times as many failed logins are allowed for an account from anywhere as from one address. A limit per address alone lets many
addresses guess one password; the same limit per account would let anybody lock its owner out."""
REMIND_SECONDS = 86400.0
_log = logging.getLogger("consilience.server")
DESCRIPTION = """
Federated causal discovery: studies, their sites, their runs and their results.

An **owner** logs in, declares a study (its variables, which sets of them sites measure, its settings), invites **sites** and starts it.
Sites dial in with the agent (`consilience client`), show their owners what the study asks for, and answer with masked sums. The server
never sees a row, nor one site's numbers. An owner may share a study with **co-owners**, and show it to **observers**, who change nothing.

A study is *draft* → *open* → *running* → *finished*, *failed* or *cancelled*. Errors come as `{"error": …, "message": …}`: the cause's
name, and a sentence with the rule, what was received, and the way out.
"""


def create_app(
    config: ServerConfig,
    identity: Identity,
    *,
    passwords: Passwords | None = None,
    clock: Callable[[], float] = time.time,
    ticks: Callable[[], float] = time.monotonic,
) -> FastAPI:
    """A study server over the database in ``config.home``. ``clock`` gives seconds since 1970; ``ticks`` never go back."""
    # Two clocks: tokens and events need the time of day, which may be set back; limits need one that never is.
    store = Store(Database(Path(config.home) / "studies.sqlite", clock, create=False))
    store.origin.bind(identity.public_bytes)
    hub, bell, metrics = Hub(), Bell(), Metrics()
    runner = Runner(
        store,
        hub,
        bell,
        metrics,
        config.max_runs,
        lambda c: propose(identity, c.study, c.encoded()),
        workers=config.search_workers,
        limits=Limits(config.search_seconds, config.search_memory),
    )
    seen = config.proxy_cert or config.tls_cert  # what sites see at the other end of TLS, as far as this server knows
    certificate = Path(seen).read_text(encoding="ascii") if seen else ""
    channel = certificate_digest(certificate) if certificate else b""
    challenges = RateLimit("challenges", config.join_burst, config.join_rate, ticks)
    services = Services(
        config,
        identity,
        store,
        hub,
        bell,
        runner,
        metrics,
        passwords or Passwords(),
        SiteSockets(store, hub, runner, metrics, identity, channel, challenges, clock),
        RateLimit("logins", config.login_burst, config.login_rate, ticks),
        RateLimit("logins", ACCOUNT_FACTOR * config.login_burst, ACCOUNT_FACTOR * config.login_rate, ticks),
        RateLimit("invitations", config.join_burst, config.join_rate, ticks),
        RateLimit("attempts with links", config.join_burst, config.join_rate, ticks),
        clock,
        certificate if certificate and is_self_signed(certificate) else "",
        Pulse(store.database.check, lambda: store.database.commits),
        Expiry(certificate),
        Following(store, bell),
    )

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        bell.bind(loop)
        runner.bind(loop)  # the bell first: studies that go on ring it
        reminding = asyncio.create_task(_remind(services))
        yield
        reminding.cancel()
        # in a thread: closing waits for runs, and runs wait for this loop
        await asyncio.to_thread(runner.close)
        services.pulse.close()
        store.database.close()

    app = FastAPI(
        title="consilience study server",
        version="1",
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # the framework's own page loads scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses={code: {"model": Problem} for code in (401, 403, 404, 409, 413, 422, 429, 503)},
    )
    app.state.services = services
    for module in (accounts, links, sessions, studies, members, results, operations, documentation):
        app.include_router(module.router)

    @app.websocket("/api/v1/studies/{study}/site")
    async def site(socket: WebSocket, study: str) -> None:
        await services.sockets.serve(socket, study)

    app.add_exception_handler(ConsilienceError, _problem)
    app.add_exception_handler(HTTPException, _other_problem)
    app.add_exception_handler(RequestValidationError, _misfit)
    app.add_exception_handler(sqlite3.OperationalError, _not_now)
    # outermost: nothing of the application sees a request before its length is known to be bounded
    app.add_middleware(Guardrail, most=config.max_body_bytes)
    return app


async def _remind(services: Services) -> None:
    """Of a certificate that ends soon, at the start and every day."""
    while True:
        if words := services.expiry.warning(time.time()):
            _log.warning(words)
        await asyncio.sleep(REMIND_SECONDS)


def status_of(error: Exception) -> int:
    """The status with which an error is answered.

    >>> status_of(TokenError("no")), status_of(OptionError("no"))
    (401, 422)
    """
    return next((code for kind, code in _STATUS if isinstance(error, kind)), 400)


def _problem(_request: Request, error: Exception) -> JSONResponse:
    status = status_of(error)
    headers = {"Retry-After": str(int(error.wait) + 1)} if isinstance(error, RateLimitError) else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"error": type(error).__name__, "message": str(error)}, status, headers)


def busy_words(error: Exception) -> str:
    """What is said when the database does not answer; the transaction was not made, or taken back.

    >>> busy_words(sqlite3.OperationalError("database is locked"))
    'The server cannot use its database now: database is locked. Nothing was changed. Try again in a while.'
    """
    return f"The server cannot use its database now: {str(error).rstrip('.')}. Nothing was changed. Try again in a while."


def _not_now(_request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": "StoreError", "message": busy_words(error)}, 503, {"Retry-After": RETRY_SECONDS})


def _other_problem(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": "HTTPError", "message": str(error.detail)}, error.status_code, error.headers)


def _misfit(_request: Request, error: Exception) -> JSONResponse:
    """What does not fit the schema: where, and the rule. Nothing of what was sent comes back, not even the name of an unknown field."""
    assert isinstance(error, RequestValidationError)
    found = []
    for each in error.errors()[:MOST_MISFITS]:
        # an unknown field's name is what was sent, so it is left out: an answer that repeats its request can be made to carry anything
        place = each["loc"][:-1] if each["type"] == "extra_forbidden" else each["loc"]
        found.append(f"{'.'.join(map(str, place))}: {each['msg']}")
    words = f"The request must fit the schema in /api/docs. {'; '.join(found)}."
    return JSONResponse({"error": "RequestError", "message": words}, 422)
