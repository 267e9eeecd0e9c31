"""Logging in and out: owners with a password, sites with the token that they got on joining.

A login makes a new session, so one that somebody had planted is worth nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from consilience.errors import ConsilienceError
from consilience.service.server.app import status_of
from consilience.service.server.entry import exchange_token, log_in
from consilience.service.store import TokenKind
from consilience.web.forms import Form, Trouble
from consilience.web.pages.server.open_forms import PASTED, drop_form_cookie, open_form, patient, read_open_form, set_cookie
from consilience.web.pages.server.visit import HOME, Visit, acts, go, local_path, shows

__all__ = ["begin_session", "front", "login_form", "login_page", "login_sent", "logout", "token_form", "token_sent"]


def _front(visit: Visit) -> Response:
    if visit.who.site:
        return go(f"{HOME}/{visit.who.study}")
    return go(HOME if visit.owner else "/login")


def login_page(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200, name: str = "") -> Response:
    """The form, with what is wrong; who is logged in is led on."""
    if visit.owner and not troubles:
        return go(local_path(visit.request.query_params.get("next", "")))
    after = local_path(visit.request.query_params.get("next", ""))
    openid = visit.pages.openid.settings.name if visit.pages.openid else ""
    done = visit.request.query_params.get("done", "")
    return open_form(visit, "login.html", "Log in", troubles, status, name=name, after=after, done=done, openid=openid)


def _token(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200) -> Response:
    return open_form(visit, "token.html", "See a study as one of its sites", troubles, status, attributes=PASTED)


def begin_session(visit: Visit, session: str, response: Response) -> Response:
    """The answer with the cookie of a new session; the one before ends."""
    if visit.session:
        visit.services.store.accounts.revoke(visit.session)
    set_cookie(visit, response, visit.pages.cookie, session)
    drop_form_cookie(visit, response)
    return response


async def login_sent(request: Request) -> Response:
    """A name and a password: a new session, or the form again. The limits are those of the REST interface, and shared with it."""
    visit, form = await read_open_form(request)
    name = form.text("name", 64)

    def attempt() -> Response:
        try:
            session, _ = log_in(visit.services, visit.address, name, form.raw("password")[:1024], TokenKind.PAGES, visit.agent)
        except ConsilienceError as error:
            return patient(error, login_page(visit, [Trouble("name", str(error))], status_of(error), name))
        return begin_session(visit, session, go(local_path(form.text("next"))))

    return await run_in_threadpool(attempt)


async def token_sent(request: Request) -> Response:
    """A site's token: a session that sees one study."""
    visit, form = await read_open_form(request)

    def attempt() -> Response:
        try:
            session, who = exchange_token(visit.services, visit.address, form.text("token", 200), visit.agent)
        except ConsilienceError as error:
            return patient(error, _token(visit, [Trouble("token", str(error))], status_of(error)))
        return begin_session(visit, session, go(f"{HOME}/{who.study}"))

    return await run_in_threadpool(attempt)


def _logout(visit: Visit, _form: Form) -> Response:
    visit.services.store.accounts.revoke(visit.session)
    response = go("/login")
    response.delete_cookie(visit.pages.cookie, path="/", secure=visit.pages.secure, httponly=True, samesite="strict")
    return response


front = shows(_front, anyone=True)
login_form = shows(login_page, anyone=True)
token_form = shows(_token, anyone=True)
logout = acts(_logout, login_page, owner=False)
