"""Logging in and out; taking an invitation."""

from __future__ import annotations

from fastapi import APIRouter, Request

from consilience.protocol.handshake import join_context
from consilience.secagg.identity import is_signed_by
from consilience.service.errors import InvitationError
from consilience.service.server.entry import log_in
from consilience.service.server.models import JoinIn, JoinOut, LoginIn, LoginOut
from consilience.service.server.services import Parts, Token, Who

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", tags=["entry"])


@router.post("/login", summary="Log in")
def login(body: LoginIn, request: Request, services: Parts) -> LoginOut:
    """A token for an owner's name and password. Failed attempts are counted per address, per address and name, and per name."""
    address, agent = request.client.host if request.client else "", request.headers.get("user-agent", "")
    token, expires = log_in(services, address, body.name, body.password, agent=agent)
    return LoginOut(token=token, expires=expires)


@router.post("/logout", status_code=204, summary="Log out")
def logout(_who: Who, services: Parts, token: Token) -> None:
    """End the token that this request carries."""
    services.store.accounts.revoke(token)


@router.post("/join", summary="Take an invitation")
def join(body: JoinIn, request: Request, services: Parts) -> JoinOut:
    """Bind a site's identity to its invitation. It works once; nothing secret comes back, so there is nothing to gain by repeating it."""
    address = request.client.host if request.client else ""
    services.joins.take(address)
    identity, secret = bytes.fromhex(body.identity), bytes.fromhex(body.secret)
    try:
        if not is_signed_by(identity, join_context(body.study, secret, services.identity.public_bytes), bytes.fromhex(body.signature)):
            raise InvitationError("The invitation must be signed by the identity that takes it, for this server.")
        site = services.store.studies.redeem(body.study, secret, identity)
    except InvitationError:
        services.metrics.add("joins_failed")
        raise
    services.joins.give_back(address)
    services.runner.event(body.study, "joined", site=site)
    return JoinOut(site=site)
