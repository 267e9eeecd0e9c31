"""Logging in by OpenID Connect: to the provider, and back.

What ties the way back to the browser that went is a cookie, sealed by this server. It is ``SameSite=Lax``: browsers send no stricter one
with a navigation that another site began. For the same reason the session's own cookie, which is strict, is not there yet in the request
that follows a redirect from the provider; so the way back ends on a page of ours, which goes on by itself.
"""

from __future__ import annotations

import base64
import hmac
import logging
from typing import TYPE_CHECKING

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from consilience.errors import ConsilienceError
from consilience.service.errors import LoginError, UnreachableError
from consilience.service.server.app import status_of
from consilience.service.server.openid.entry import enter
from consilience.typed import from_json
from consilience.web.forms import Trouble
from consilience.web.pages.server.login import begin_session, login_page
from consilience.web.pages.server.open_forms import patient
from consilience.web.pages.server.visit import Visit, local_path

if TYPE_CHECKING:
    from consilience.service.server.openid.provider import Provider

__all__ = ["Sealed", "login_back", "login_there", "open_sealed", "seal"]

FLOW_SECONDS = 600
MOST_CODE = 4096
LOST = "This login was not begun in this browser, or too long ago. Begin again."
_log = logging.getLogger("consilience.web")


class Sealed(msgspec.Struct, frozen=True):
    """What the cookie holds while a browser is at the provider: see :class:`Flow`; where to go after, and until when it is good."""

    state: str
    nonce: str
    verifier: str
    after: str
    expires: float


def seal(visit: Visit, held: Sealed) -> str:
    """As a cookie's value that only this server can have made."""
    text = base64.urlsafe_b64encode(msgspec.json.encode(held)).decode()
    return f"{text}.{visit.pages.csrf.token(f'oidc {text}')}"


def open_sealed(visit: Visit, value: str) -> Sealed:
    """What a cookie holds; ``LoginError`` if this server has not made it, or it is over."""
    text, _, mac = value.rpartition(".")
    if not text or not visit.pages.csrf.valid(f"oidc {text}", mac):
        raise LoginError(LOST)
    held = from_json(base64.urlsafe_b64decode(text), Sealed)
    if held.expires <= visit.services.clock():
        raise LoginError(LOST)
    return held


def _cookie(visit: Visit) -> str:
    return f"{visit.pages.cookie}-oidc"


def _provider(visit: Visit) -> Provider:
    if visit.pages.openid is None:
        raise HTTPException(404, "There is no such page.")
    return visit.pages.openid


async def login_there(request: Request) -> Response:
    """To the provider."""

    def attempt() -> Response:
        from consilience.service.server.openid.provider import Flow  # noqa: PLC0415  the extra may not be installed

        visit = Visit.of(request)
        provider, flow = _provider(visit), Flow.new()
        try:
            response: Response = RedirectResponse(provider.address_for(flow), 303)
        except UnreachableError as error:
            return _unreachable(visit, error)
        after = local_path(request.query_params.get("next", ""))
        held = Sealed(flow.state, flow.nonce, flow.verifier, after, visit.services.clock() + FLOW_SECONDS)
        # lax: see the module's text
        response.set_cookie(
            _cookie(visit), seal(visit, held), max_age=FLOW_SECONDS, path="/", secure=visit.pages.secure, httponly=True, samesite="lax"
        )
        return response

    return await run_in_threadpool(attempt)


async def login_back(request: Request) -> Response:
    """From the provider, with a code: a session, or the login page with what is wrong. The cookie is good for one attempt."""

    def attempt() -> Response:
        visit = Visit.of(request)
        provider, limit = _provider(visit), visit.services.logins
        try:
            limit.take(visit.address)
            response = _entered(visit, provider)
            limit.give_back(visit.address)
        except UnreachableError as error:
            response = _unreachable(visit, error)
        except ConsilienceError as error:
            visit.services.metrics.add("logins_failed")
            _log.warning("a login was refused", extra={"reason": getattr(error, "reason", str(error))})
            response = patient(error, login_page(visit, [Trouble("", str(error))], status_of(error)))
        response.delete_cookie(_cookie(visit), path="/", secure=visit.pages.secure, httponly=True, samesite="lax")
        return response

    return await run_in_threadpool(attempt)


def _entered(visit: Visit, provider: Provider) -> Response:
    from consilience.service.server.openid.provider import Flow  # noqa: PLC0415

    query = visit.request.query_params
    held = open_sealed(visit, visit.request.cookies.get(_cookie(visit), ""))
    if not hmac.compare_digest(held.state.encode(), query.get("state", "").encode()):
        raise LoginError(LOST)
    if query.get("iss", provider.settings.issuer) != provider.settings.issuer:  # RFC 9207: an answer of another provider
        raise LoginError(LOST)
    code = query.get("code", "")
    if not 0 < len(code) <= MOST_CODE:
        raise LoginError(f"{provider.settings.name} has not let you in. Begin again, or ask there why.")
    claims = provider.claims_for(code, Flow(held.state, held.nonce, held.verifier))
    session, _ = enter(visit.services, provider.settings, claims, visit.address, visit.agent)
    return begin_session(visit, session, visit.show("entered.html", "Logged in", after=held.after))


def _unreachable(visit: Visit, error: UnreachableError) -> Response:
    _log.warning("the login service cannot be used", extra={"reason": str(error)})
    words = "The login service does not answer as it should. Try again later, or log in with a password if you have one."
    return login_page(visit, [Trouble("", words)], 503)
