"""The study server's pages, beside its REST interface: the same process, the same store, the same rules.

Paths of the REST interface (``/api``, ``/health``, ``/metrics``) go where they always went; all others are pages.
"""

from __future__ import annotations

from functools import partial
from sqlite3 import OperationalError
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from consilience.errors import ConsilienceError
from consilience.secagg.context import sha256
from consilience.service.config import ServerConfig
from consilience.service.server.app import busy_words, status_of
from consilience.service.server.openid.settings import CALLBACK, provider_of
from consilience.service.server.services import RETRY_SECONDS, Services
from consilience.web.live import Streams
from consilience.web.pages.result import Desk, result_routes
from consilience.web.pages.server import (
    account,
    audit,
    declaring,
    links,
    lobby,
    login,
    openid,
    people,
    progress,
    records,
    result,
    studies,
    study,
)
from consilience.web.pages.server.board import Boards
from consilience.web.pages.server.feed import Feeds
from consilience.web.pages.server.follow import may_look
from consilience.web.pages.server.visit import Pages, Visit, go
from consilience.web.rendering import prepare, static_mount
from consilience.web.security import Csrf, Shield

__all__ = ["hosts_of", "with_pages"]

PROGRAMS = ("/api/", "/health", "/metrics")
"""Beginnings of paths that are no pages."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_STREAMS = 500
_CSRF = b"consilience/pages/csrf/1"
_ONE = "/studies/{study}"


def with_pages(app: FastAPI) -> FastAPI:
    """Add the pages to a study server's application, and return it."""
    services = app.state.services
    assert isinstance(services, Services)
    pages = Starlette(
        routes=_routes(services), exception_handlers={HTTPException: _missing, ConsilienceError: _refused, OperationalError: _not_now}
    )
    secure = services.config.public_url.startswith("https://")
    # A cookie belongs to a host and not to a port, so the name says which server it is of. The prefix makes browsers refuse one that was
    # set without TLS or by a neighbouring host.
    cookie = f"{'__Host-' if secure else ''}consilience-{services.identity.fingerprint.hex()[:8]}"
    # a signature under a label that nothing else signs: a secret that is the same after a restart, so that open forms stay good
    secret = sha256(services.identity.sign(_CSRF))
    pages.state.pages = Pages(services, Csrf(secret), Streams(MOST_STREAMS), cookie, secure, provider_of(services.config, services.clock))
    pages.state.boards = boards = Boards(services)
    pages.state.feeds = Feeds(boards, services.bell, partial(may_look, services.store), partial(may_look, services.store, bare=True))
    prepare("result")  # the largest pages: the first who looks at one does not wait for its templates
    # innermost: the bound on bodies and the log of requests are around pages, too
    app.user_middleware.append(Middleware(_Fork, pages=Shield(pages, hosts=hosts_of(services.config), links=True)))
    return app


def hosts_of(config: ServerConfig) -> frozenset[str]:
    """The values of ``Host`` under which pages are served: the public address, and this machine's own where it listens on that.

    >>> sorted(hosts_of(ServerConfig(public_url="https://study.example", port=8443)))
    ['127.0.0.1:8443', '[::1]:8443', 'localhost:8443', 'study.example']
    """
    public = urlsplit(config.public_url)
    usual = {"https": 443, "http": 80}.get(public.scheme)
    found = {public.netloc.removesuffix(f":{usual}").lower()} if public.netloc else set()
    if config.host in LOOPBACK:
        found |= {f"127.0.0.1:{config.port}", f"localhost:{config.port}", f"[::1]:{config.port}"}
    return frozenset(found)


class _Fork:
    """Programs one way, browsers the other. Not a mount: one at the root would answer for the REST interface's refused methods, too."""

    def __init__(self, app: ASGIApp, pages: ASGIApp) -> None:
        self._app, self._pages = app, pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith(PROGRAMS):
            scope["app"] = None  # the pages' own application sets itself
            await self._pages(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _routes(services: Services) -> list[BaseRoute]:
    def page(path: str, show: object, do: object = None) -> list[BaseRoute]:
        found: list[BaseRoute] = [Route(path, show, methods=["GET"])] if show else []  # type: ignore[arg-type]
        return found + ([Route(path, do, methods=["POST"])] if do else [])  # type: ignore[arg-type]

    return [
        static_mount(),
        *page("/", login.front),
        *page("/login", login.login_form, login.login_sent),
        *page("/login/there", openid.login_there),
        *page(CALLBACK, openid.login_back),
        *page("/logout", None, login.logout),
        *page("/token", login.token_form, login.token_sent),
        *page("/reset", links.reset_form, links.reset_sent),
        *page("/welcome", links.welcome_form, links.welcome_sent),
        *page("/account", account.account_page),
        *page("/account/password", None, account.password_sent),
        *page("/account/sessions", None, account.session_ended),
        *page("/account/token", None, account.token_made),
        *page("/studies", studies.studies),
        *page("/studies/new", studies.new_study, studies.new_sent),
        *page(_ONE, study.study_page),
        *page(f"{_ONE}/name", None, study.renamed),
        *page(f"{_ONE}/open", None, study.opened),
        *page(f"{_ONE}/start", None, study.started),
        *page(f"{_ONE}/cancel", None, study.cancelled),
        *page(f"{_ONE}/search", None, study.searched),
        *page(f"{_ONE}/again", None, study.repeated),
        *page(f"{_ONE}/rerun", None, study.done_again),
        *page(f"{_ONE}/leave", None, study.left),
        *page(f"{_ONE}/delete", None, study.deleted),
        *page(f"{_ONE}/variables", declaring.variables, declaring.variables_sent),
        *page(f"{_ONE}/file", declaring.file_form, declaring.file_sent),
        *page(f"{_ONE}/declaration", declaring.declaration, declaring.declaration_sent),
        *page(f"{_ONE}/settings", declaring.settings, declaring.settings_sent),
        *page(f"{_ONE}/lobby", lobby.lobby),
        *page(f"{_ONE}/lobby/live", lobby.lobby_live),
        *page(f"{_ONE}/invite", None, lobby.invited),
        *page(f"{_ONE}/withdraw", None, lobby.withdrawn),
        *page(f"{_ONE}/remove", None, lobby.removed),
        *page(f"{_ONE}/progress", progress.progress),
        *page(f"{_ONE}/live", progress.live),
        *page(f"{_ONE}/people", people.people),
        *page(f"{_ONE}/share", None, people.shared),
        *page(f"{_ONE}/unshare", None, people.taken_back),
        *page(f"{_ONE}/transfer", None, people.handed_over),
        *page(f"{_ONE}/without", None, progress.left_out),
        *page(f"{_ONE}/audit", audit.audit_log),
        *page(f"{_ONE}/records", records.records),
        *page(f"{_ONE}/archive.zip", records.archive),
        *result_routes(f"{_ONE}/result", result.load, desk=Desk(again=partial(result.decide_again, services))),
    ]


async def _missing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 303 and error.headers:
        return go(error.headers["Location"])
    response = await _error_page(request, error.status_code, str(error.detail))
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response


async def _refused(request: Request, error: Exception) -> Response:
    return await _error_page(request, status_of(error), str(error))


async def _not_now(_request: Request, error: Exception) -> Response:
    # no template: what stands around a page asks the database who looks at it
    return PlainTextResponse(busy_words(error), 503, {"Retry-After": RETRY_SECONDS})


async def _error_page(request: Request, status: int, words: str) -> Response:
    titles = {401: "Log in again", 403: "Not allowed", 404: "Not found", 405: "Not so", 409: "Not in this state", 413: "Too long"}
    title = titles.get(status, "Something is wrong")
    said = "There is no such page, or it is not yours to see." if status == 404 else words
    study = request.path_params.get("study") if status == 409 else None

    def show() -> Response:
        return Visit.of(request).show("error.html", title, status=status, words=said, back=study and _ONE.format(study=study))

    return await run_in_threadpool(show)
