"""The site's app: one data holder, on the data holder's own machine.

Three things keep others out. The app listens on 127.0.0.1 only; the launch token, which works once, becomes a cookie that scripts cannot
read and that no other site's page can send; and every request must name this address as its host, and no other origin.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from consilience.errors import ConsilienceError
from consilience.web.desk import SiteDesk
from consilience.web.desk.words import page_words
from consilience.web.live import Streams
from consilience.web.pages.site import check, columns, consent, data, fit, harmonise, join, leaving, reading, result, run, start
from consilience.web.pages.site.common import page
from consilience.web.rendering import Shell, render, static_mount
from consilience.web.security import Csrf, Shield

__all__ = ["Launch", "create_site_app"]

MOST_STREAMS = 200


class Launch:
    """Tokens that let a browser in, each once.

    >>> launch = Launch()
    >>> token = launch.token()
    >>> launch.take(token), launch.take(token), launch.take("")
    (True, False, False)
    """

    def __init__(self) -> None:
        self._tokens: set[str] = set()

    def token(self) -> str:
        """A new token. Those before it end: a link that was lost is of no use to whoever finds it."""
        self._tokens = {secrets.token_urlsafe(32)}
        return next(iter(self._tokens))

    def take(self, given: str) -> bool:
        """Whether this is the token; it is none afterwards."""
        found = [token for token in self._tokens if hmac.compare_digest(token.encode(), given.encode())]
        self._tokens.difference_update(found)
        return bool(found)


class _Gate:
    """Nobody passes without the cookie, but for the launch itself and our style sheets."""

    def __init__(self, app: ASGIApp, cookie: str, session: str) -> None:
        self._app, self._cookie, self._session = app, cookie, session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith("/static/") and scope["path"] != "/launch":
            given = Request(scope).cookies.get(self._cookie, "")
            if not hmac.compare_digest(given.encode(), self._session.encode()):
                await render("site/locked.html", 403, shell=Shell("consilience"), title="This app is locked")(scope, receive, send)
                return
        await self._app(scope, receive, send)


def create_site_app(desk: SiteDesk, *, port: int, launch: Launch) -> Starlette:
    """The app over a desk, to be served on 127.0.0.1 at ``port``."""
    session, cookie = secrets.token_urlsafe(32), f"consilience-{port}"  # cookies know hosts and no ports: two apps must not share one
    streams = Streams(MOST_STREAMS)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        streams.close()
        await desk.close()

    async def enter(request: Request) -> Response:
        if not launch.take(request.query_params.get("token", "")):
            return render("site/locked.html", 403, shell=Shell("consilience"), title="This app is locked")
        # a page and not a redirect: a redirect would still count as coming from where the link was, and the cookie would stay behind
        answer = render("site/launched.html", shell=Shell("consilience"), title="Welcome")
        answer.set_cookie(cookie, session, httponly=True, samesite="strict", path="/")
        return answer

    app = Starlette(
        routes=[Route("/launch", enter), *_routes(), static_mount()],
        middleware=[
            Middleware(Shield, hosts=[f"127.0.0.1:{port}"], doors=("/launch",)),
            Middleware(_Gate, cookie=cookie, session=session),
        ],
        exception_handlers={HTTPException: _problem, ConsilienceError: _refused},
        lifespan=lifespan,
    )
    app.state.desk, app.state.session, app.state.csrf, app.state.streams = desk, session, Csrf(secrets.token_bytes(32)), streams
    return app


Handler = Callable[[Request], Awaitable[Response]]


def _routes() -> list[Route]:
    def both(path: str, shown: Handler, sent: Handler) -> list[Route]:
        return [Route(path, shown), Route(path, sent, methods=["POST"])]

    return [
        Route("/", start.show),
        *both("/data", data.show, data.choose),
        Route("/data/upload", data.upload, methods=["POST"]),
        Route("/data/forget", data.forget, methods=["POST"]),
        Route("/data/database", data.ask, methods=["POST"]),
        *both("/reading", reading.show, reading.change),
        *both("/columns", columns.show, columns.review),
        *both("/columns/{number:int}", columns.one, columns.change),
        Route("/columns/{number:int}/remedy", columns.remedy, methods=["POST"]),
        *both("/harmonise", harmonise.show, harmonise.change),
        Route("/harmonise/derive", harmonise.derive, methods=["POST"]),
        Route("/harmonise/upload", harmonise.upload, methods=["POST"]),
        Route("/harmonise/site.toml", harmonise.download),
        Route("/check", check.show),
        *both("/join", join.show, join.pasted),
        Route("/join/file", join.opened, methods=["POST"]),
        Route("/join/study", join.select, methods=["POST"]),
        *both("/fit", fit.show, fit.change),
        *both("/leaving", leaving.show, leaving.rehearse),
        Route("/leaving/events", leaving.events),
        Route("/leaving/document", leaving.download),
        *both("/consent", consent.show, consent.answer),
        Route("/consent/given", consent.given),
        *both("/run", run.show, run.go_on),
        Route("/run/leave", run.leave, methods=["POST"]),
        Route("/run/withdraw", run.withdraw, methods=["POST"]),
        Route("/run/events", run.events),
        Route("/run/ledger.jsonl", run.ledger),
        *result.routes(),
    ]


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    title = {404: "There is no such page", 403: "Not allowed"}.get(error.status_code, "That did not work")
    return page(request, "problem.html", title, status=error.status_code, words=str(error.detail))


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, ConsilienceError)
    return page(request, "problem.html", "That did not work", status=409, words=page_words(error))
