"""Logging in and out: owners with a password, sites with the token that they got on joining.

A login makes a new session, so one that somebody had planted is worth nothing. The form has a cookie of its own: there is no session yet
that its token could be tied to.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from consilience.errors import ConsilienceError
from consilience.secagg import fingerprint_text
from consilience.service.errors import RateLimitError
from consilience.service.server.app import status_of
from consilience.service.server.entry import exchange_token, log_in
from consilience.service.store import TokenKind
from consilience.web.forms import Form, Trouble, read_form
from consilience.web.pages.server.visit import HOME, Visit, acts, go, local_path, shows

__all__ = ["front", "login_form", "login_sent", "logout", "token_form", "token_sent"]

PASTED = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


def _front(visit: Visit) -> Response:
    if visit.who.site:
        return go(f"{HOME}/{visit.who.study}")
    return go(HOME if visit.owner else "/login")


def _login(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200, name: str = "") -> Response:
    if visit.owner and not troubles:
        return go(local_path(visit.request.query_params.get("next", "")))
    after = local_path(visit.request.query_params.get("next", ""))
    return _with_form_cookie(visit, "login.html", "Log in", troubles, status, name=name, after=after)


def _token(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200) -> Response:
    return _with_form_cookie(visit, "token.html", "See a study as one of its sites", troubles, status, attributes=PASTED)


def _with_form_cookie(visit: Visit, template: str, title: str, troubles: Sequence[Trouble], status: int, **values: Any) -> Response:
    known = visit.request.cookies.get(_form_cookie(visit), "")
    planted = known if len(known) == 43 else secrets.token_urlsafe(32)
    token = visit.pages.csrf.token(f"form {planted}")
    fingerprint = fingerprint_text(visit.services.identity.fingerprint)
    response = visit.show(template, title, status=status, troubles=troubles, form_csrf=token, fingerprint=fingerprint, **values)
    _set(visit, response, _form_cookie(visit), planted)
    return response


def _form_cookie(visit: Visit) -> str:
    return f"{visit.pages.cookie}-form"


def _set(visit: Visit, response: Response, name: str, value: str) -> None:
    # no Max-Age: it ends with the browser; the server ends it after token_hours in any case
    response.set_cookie(name, value, path="/", secure=visit.pages.secure, httponly=True, samesite="strict")


def _begin(visit: Visit, session: str, page: str) -> Response:
    if visit.session:
        visit.services.store.accounts.revoke(visit.session)
    response = go(page)
    _set(visit, response, visit.pages.cookie, session)
    response.delete_cookie(_form_cookie(visit), path="/", secure=visit.pages.secure, httponly=True, samesite="strict")
    return response


async def _checked(request: Request) -> tuple[Visit, Form]:
    visit = await run_in_threadpool(Visit.of, request)
    form = await read_form(request)
    visit.pages.csrf.check(f"form {request.cookies.get(_form_cookie(visit), '')}", form.text("csrf"))
    return visit, form


async def login_sent(request: Request) -> Response:
    """A name and a password: a new session, or the form again. The limits are those of the REST interface, and shared with it."""
    visit, form = await _checked(request)
    name = form.text("name", 64)

    def attempt() -> Response:
        try:
            session, _ = log_in(visit.services, visit.address, name, form.raw("password")[:1024], TokenKind.PAGES, visit.agent)
        except ConsilienceError as error:
            return _refused(error, _login(visit, [Trouble("name", str(error))], status_of(error), name))
        return _begin(visit, session, local_path(form.text("next")))

    return await run_in_threadpool(attempt)


async def token_sent(request: Request) -> Response:
    """A site's token: a session that sees one study."""
    visit, form = await _checked(request)

    def attempt() -> Response:
        try:
            session, who = exchange_token(visit.services, visit.address, form.text("token", 200), visit.agent)
        except ConsilienceError as error:
            return _refused(error, _token(visit, [Trouble("token", str(error))], status_of(error)))
        return _begin(visit, session, f"{HOME}/{who.study}")

    return await run_in_threadpool(attempt)


def _refused(error: ConsilienceError, response: Response) -> Response:
    if isinstance(error, RateLimitError):
        response.headers["Retry-After"] = str(int(error.wait) + 1)
    return response


def _logout(visit: Visit, _form: Form) -> Response:
    visit.services.store.accounts.revoke(visit.session)
    response = go("/login")
    response.delete_cookie(visit.pages.cookie, path="/", secure=visit.pages.secure, httponly=True, samesite="strict")
    return response


front = shows(_front, anyone=True)
login_form = shows(_login, anyone=True)
token_form = shows(_token, anyone=True)
logout = acts(_logout, _login, owner=False)
