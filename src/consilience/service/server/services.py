"""What the routes need: the parts of one server, and who asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, HTTPException, Path, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from consilience.secagg import Identity
from consilience.service.config import ServerConfig
from consilience.service.errors import TokenError
from consilience.service.server.hub import Hub
from consilience.service.server.limits import RateLimit
from consilience.service.server.metrics import Metrics
from consilience.service.server.passwords import Passwords
from consilience.service.server.runner import Bell, Runner
from consilience.service.server.socket import SiteSockets
from consilience.service.store import Principal, Store, StudyRow

__all__ = ["OwnStudy", "Owner", "Parts", "Services", "SharedStudy", "Token", "Who", "own_study", "shared_study"]

_bearer = HTTPBearer(auto_error=False, description="A token from `POST /api/v1/login`, or one that a site was given on its connection.")


@dataclass(frozen=True)
class Services:
    """The parts of one server."""

    config: ServerConfig
    identity: Identity
    store: Store
    hub: Hub
    bell: Bell
    runner: Runner
    metrics: Metrics
    passwords: Passwords
    sockets: SiteSockets
    logins: RateLimit
    account_logins: RateLimit
    joins: RateLimit
    links: RateLimit
    clock: Callable[[], float]
    certificate: str


def parts(request: Request) -> Services:
    """The parts of the server that serves this request."""
    found = request.app.state.services
    assert isinstance(found, Services)
    return found


Parts = Annotated[Services, Depends(parts)]


def _token(credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]) -> str:
    if credentials is None:
        raise TokenError("A token is needed: Authorization: Bearer TOKEN. Log in to get one.")
    return credentials.credentials


Token = Annotated[str, Depends(_token)]


def _who(services: Parts, token: Token) -> Principal:
    return services.store.accounts.who(token)


Who = Annotated[Principal, Depends(_who)]


def _owner(who: Who) -> str:
    if not who.owner:
        raise HTTPException(403, "Only an owner of studies may do this.")
    return who.owner


Owner = Annotated[str, Depends(_owner)]
StudyPath = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="The study's id.")]


def own_study(study: StudyPath, who: Who, services: Parts) -> StudyRow:
    """A study of the owner who asks. Whether others exist is not told: 404 for both, never 403."""
    row = services.store.studies.get(study)
    if row is None or not who.owner or row.owner != who.owner:
        raise HTTPException(404, "You have no such study.")
    return row


def shared_study(study: StudyPath, who: Who, services: Parts) -> StudyRow:
    """A study of the owner who asks, or the one that the site who asks has joined."""
    # The site is looked up again although its token names it: a site that was removed has none, but a request may be under way.
    row = services.store.studies.get(study)
    if row is None or not (
        row.owner == who.owner if who.owner else who.study == study and services.store.studies.has_site(study, who.site)
    ):
        raise HTTPException(404, "You have no such study.")
    return row


OwnStudy = Annotated[StudyRow, Depends(own_study)]
SharedStudy = Annotated[StudyRow, Depends(shared_study)]
