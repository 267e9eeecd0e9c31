"""Using a one-time link that whoever operates the server has made."""

from __future__ import annotations

from fastapi import APIRouter, Request

from consilience.service.server.linked import make_account, reset_password
from consilience.service.server.models import AccountIn, AccountOut, ResetIn
from consilience.service.server.services import Parts

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", tags=["accounts"])


@router.post("/password-reset", status_code=204, summary="Set another password with a link")
def reset(body: ResetIn, request: Request, services: Parts) -> None:
    """The link works once, for the account that it was made for; all tokens and sessions of that account end."""
    reset_password(services, request.client.host if request.client else "", body.key, body.password)


@router.post("/accounts", status_code=201, summary="Make an account with a link")
def account(body: AccountIn, request: Request, services: Parts) -> AccountOut:
    """The link works once; name and password are yours to choose. Without a link there is no account to be had over the network."""
    role = make_account(services, request.client.host if request.client else "", body.key, body.name, body.password)
    return AccountOut(name=body.name, role=role.value)
