"""An owner's account: the password, who is logged in, what was done of late."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from consilience.service.server.entry import change_password, end_others, end_session, make_token
from consilience.service.server.passwords import LEAST
from consilience.web.forms import Form, Trouble
from consilience.web.pages.server.visit import Visit, acts, go, shows

__all__ = ["account_page", "password_sent", "session_ended", "token_made"]


def _account(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200, token: tuple[str, float] | None = None) -> Response:
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
        token=token,
        has_password=bool(accounts.password_of(visit.owner)),
        role=accounts.role_of(visit.owner),
        done=visit.request.query_params.get("done", ""),
    )


def _password(visit: Visit, form: Form) -> Response:
    new = form.raw("new")
    if new != form.raw("again"):
        return _account(visit, [Trouble("again", "The new password was not the same both times.")], 422)
    change_password(visit.services, visit.address, visit.owner, form.raw("old")[:1024], new, keep=visit.session)
    return go("/account?done=password")


def _end(visit: Visit, form: Form) -> Response:
    handle = form.text("session", 16)
    if handle == "others":
        end_others(visit.services, visit.owner, visit.session)
    else:
        end_session(visit.services, visit.owner, handle)
    return go("/account?done=session")


def _token(visit: Visit, _form: Form) -> Response:
    # shown in the answer to the form and kept nowhere: a redirect would have to keep it
    return _account(visit, token=make_token(visit.services, visit.owner, visit.address))


account_page = shows(_account)
password_sent = acts(_password, _account)
session_ended = acts(_end, _account)
token_made = acts(_token, _account)
