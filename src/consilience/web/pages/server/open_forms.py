"""Forms for who is not logged in. There is no session that a form's token could be tied to, so it is tied to a cookie of its own."""

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
from consilience.web.forms import Form, Trouble, read_form
from consilience.web.pages.server.visit import Visit

__all__ = ["PASTED", "drop_form_cookie", "open_form", "patient", "read_open_form", "set_cookie"]

PASTED = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


def open_form(visit: Visit, template: str, title: str, troubles: Sequence[Trouble], status: int, **values: Any) -> Response:
    """A page with such a form; its template has the token as ``form_csrf``."""
    known = visit.request.cookies.get(_form_cookie(visit), "")
    planted = known if len(known) == 43 else secrets.token_urlsafe(32)
    token = visit.pages.csrf.token(f"form {planted}")
    fingerprint = fingerprint_text(visit.services.identity.fingerprint)
    response = visit.show(template, title, status=status, troubles=troubles, form_csrf=token, fingerprint=fingerprint, **values)
    set_cookie(visit, response, _form_cookie(visit), planted)
    return response


async def read_open_form(request: Request) -> tuple[Visit, Form]:
    """What was sent with such a form; 403 without its token."""
    visit = await run_in_threadpool(Visit.of, request)
    form = await read_form(request)
    visit.pages.csrf.check(f"form {request.cookies.get(_form_cookie(visit), '')}", form.text("csrf"))
    return visit, form


def _form_cookie(visit: Visit) -> str:
    return f"{visit.pages.cookie}-form"


def set_cookie(visit: Visit, response: Response, name: str, value: str) -> None:
    """A cookie for this server alone."""
    # no Max-Age: it ends with the browser; the server ends a session after token_hours in any case
    response.set_cookie(name, value, path="/", secure=visit.pages.secure, httponly=True, samesite="strict")


def drop_form_cookie(visit: Visit, response: Response) -> None:
    """The form has done what it is for."""
    response.delete_cookie(_form_cookie(visit), path="/", secure=visit.pages.secure, httponly=True, samesite="strict")


def patient(error: ConsilienceError, response: Response) -> Response:
    """With the seconds to wait, where an attempt was one too many."""
    if isinstance(error, RateLimitError):
        response.headers["Retry-After"] = str(int(error.wait) + 1)
    return response
