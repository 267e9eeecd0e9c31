"""Pages that one-time links lead to. The key of a link stands behind its ``#``, which browsers keep: a script puts it into the form."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from consilience.errors import ConsilienceError
from consilience.service.errors import LinkError, RateLimitError
from consilience.service.server.app import status_of
from consilience.service.server.linked import make_account, reset_password
from consilience.service.server.passwords import LEAST, MOST
from consilience.web.forms import Form, Trouble
from consilience.web.pages.server.open_forms import PASTED, drop_form_cookie, open_form, patient, read_open_form
from consilience.web.pages.server.visit import Visit, go, shows

__all__ = ["reset_form", "reset_sent", "welcome_form", "welcome_sent"]

MOST_KEY = 100


def _reset(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200, key: str = "") -> Response:
    values = {"key": key, "least": LEAST, "attributes": PASTED}
    return open_form(visit, "reset.html", "Set another password", troubles, status, **values)


async def reset_sent(request: Request) -> Response:
    """A link's key and a new password."""
    visit, form = await read_open_form(request)
    key = key_of(form)

    def attempt() -> Response:
        if trouble := _differs(form):
            return _reset(visit, [trouble], 422, key)
        try:
            reset_password(visit.services, visit.address, key, form.raw("new")[: MOST + 1])
        except ConsilienceError as error:
            return patient(error, _reset(visit, [Trouble(_field(error), str(error))], status_of(error), key))
        response = go("/login?done=reset")
        drop_form_cookie(visit, response)
        return response

    return await run_in_threadpool(attempt)


def _welcome(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200, key: str = "", name: str = "") -> Response:
    values = {"key": key, "name": name, "least": LEAST, "attributes": PASTED}
    return open_form(visit, "welcome.html", "Make an account", troubles, status, **values)


async def welcome_sent(request: Request) -> Response:
    """A link's key, a name and a password."""
    visit, form = await read_open_form(request)
    key, name = key_of(form), form.text("name", 65)

    def attempt() -> Response:
        if trouble := _differs(form):
            return _welcome(visit, [trouble], 422, key, name)
        try:
            visit.services.passwords.check(form.raw("new"))
        except ConsilienceError as error:
            return _welcome(visit, [Trouble("new", str(error))], status_of(error), key, name)
        try:
            make_account(visit.services, visit.address, key, name, form.raw("new"))
        except ConsilienceError as error:
            return patient(error, _welcome(visit, [Trouble(_field(error, "name"), str(error))], status_of(error), key, name))
        response = go("/login?done=account")
        drop_form_cookie(visit, response)
        return response

    return await run_in_threadpool(attempt)


def key_of(form: Form) -> str:
    """The key, also where somebody has pasted the whole link.

    >>> key_of(Form([("key", " https://study.example/reset#KEY ")])), key_of(Form([("key", "KEY")]))
    ('KEY', 'KEY')
    """
    return form.text("key", 1000).rpartition("#")[2][:MOST_KEY]


def _differs(form: Form) -> Trouble | None:
    return None if form.raw("new") == form.raw("again") else Trouble("again", "The new password was not the same both times.")


def _field(error: ConsilienceError, other: str = "new") -> str:
    return "key" if isinstance(error, LinkError) else "" if isinstance(error, RateLimitError) else other


reset_form = shows(_reset, anyone=True)
welcome_form = shows(_welcome, anyone=True)
