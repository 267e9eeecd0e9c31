"""An owner's account: the password, who is logged in, what was done of late."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from consilience.service.server.entry import change_password
from consilience.service.server.passwords import LEAST
from consilience.web.forms import Form, Trouble
from consilience.web.pages.server.visit import Visit, acts, go, shows

__all__ = ["account_page", "password_sent", "session_ended"]


def _account(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200) -> Response:
    accounts = visit.services.store.accounts
    return visit.show(
        "account.html",
        "Account",
        status=status,
        troubles=troubles,
        sessions=accounts.sessions(visit.owner),
        this=accounts.handle(visit.session),
        audit=visit.services.store.audit.of_account(visit.owner),
        least=LEAST,
        done=visit.request.query_params.get("done", ""),
    )


def _password(visit: Visit, form: Form) -> Response:
    new = form.raw("new")
    if new != form.raw("again"):
        return _account(visit, [Trouble("again", "The new password was not the same both times.")], 422)
    change_password(visit.services, visit.address, visit.owner, form.raw("old")[:1024], new, keep=visit.session)
    return go("/account?done=password")


def _end(visit: Visit, form: Form) -> Response:
    accounts, this = visit.services.store.accounts, visit.pages.services.store.accounts.handle(visit.session)
    handle = form.text("session", 16)
    gone = [s.handle for s in accounts.sessions(visit.owner) if s.handle != this] if handle == "others" else [handle]
    ended = sum(accounts.end_session(visit.owner, each) for each in gone)
    if ended:
        visit.services.store.audit.add(visit.owner, "ended sessions", detail=str(ended))
    return go("/account?done=session")


account_page = shows(_account)
password_sent = acts(_password, _account)
session_ended = acts(_end, _account)
