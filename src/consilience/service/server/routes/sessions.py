"""One's own account: who it is, its password, and who is logged in to it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Request

from consilience.service.browsers import browser
from consilience.service.server.entry import change_password, end_others, end_session
from consilience.service.server.models import AccountOut, EndedOut, PasswordIn, SessionOut
from consilience.service.server.services import Account, Parts, Token
from consilience.service.store import TokenKind

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", tags=["accounts"])
SessionPath = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="The session's id, from the list.")]


@router.get("/account", summary="Who you are")
def account(name: Account, services: Parts) -> AccountOut:
    """The name of the account, and what it may."""
    role = services.store.accounts.role_of(name)
    assert role is not None  # its token is there, and would have gone with it
    return AccountOut(name=name, role=role.value)


@router.post("/account/password", status_code=204, summary="Change your password")
def password(body: PasswordIn, name: Account, token: Token, request: Request, services: Parts) -> None:
    """All other sessions and tokens of the account end; the one that this request carries goes on."""
    change_password(services, request.client.host if request.client else "", name, body.old, body.new, keep=token)


@router.get("/sessions", summary="Who is logged in")
def sessions(name: Account, token: Token, services: Parts) -> list[SessionOut]:
    """Sessions of browsers and tokens of programs of your account, the latest first."""
    accounts = services.store.accounts
    this = accounts.handle(token)
    return [
        SessionOut(
            id=one.handle,
            kind="browser" if one.kind is TokenKind.PAGES else "program",
            agent=browser(one.agent) if one.kind is TokenKind.PAGES else browser(one.agent or "a program"),
            address=one.address,
            created=one.created,
            seen=one.seen,
            expires=one.expires,
            this=one.handle == this,
        )
        for one in accounts.sessions(name)
    ]


@router.delete("/sessions/{session}", status_code=204, summary="End a session")
def end(session: SessionPath, name: Account, services: Parts) -> None:
    """Of a browser or a program, of your account."""
    if not end_session(services, name, session):
        raise HTTPException(404, "Your account has no such session.")


@router.delete("/sessions", summary="End all other sessions")
def end_all_others(name: Account, token: Token, services: Parts) -> EndedOut:
    """All but the one that this request carries."""
    return EndedOut(ended=end_others(services, name, token))
