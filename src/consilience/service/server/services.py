"""What the routes need: the parts of one server, and who asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, HTTPException, Path, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from consilience.secagg import Identity
from consilience.service.config import ServerConfig
from consilience.service.errors import TokenError
from consilience.service.server.expiry import Expiry
from consilience.service.server.following import Following
from consilience.service.server.hub import Hub
from consilience.service.server.limits import RateLimit
from consilience.service.server.metrics import Metrics
from consilience.service.server.passwords import Passwords
from consilience.service.server.pulse import Pulse
from consilience.service.server.runner import Bell, Runner
from consilience.service.server.socket import SiteSockets
from consilience.service.store import Access, AccountRole, Principal, Role, Store, StudyRow

__all__ = [
    "RETRY_SECONDS",
    "Account",
    "HeldStudy",
    "OwnStudy",
    "Owner",
    "Parts",
    "SeenStudy",
    "Services",
    "SharedStudy",
    "Token",
    "ToldStudy",
    "Who",
    "WholeStudy",
    "access_to",
    "held_study",
    "may_create",
    "own_study",
    "seen_study",
    "shared_study",
    "told_study",
    "whole_study",
]

RETRY_SECONDS = "5"
"""After which a request that the database did not let through may be made again."""
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
    pulse: Pulse
    expiry: Expiry
    following: Following


async def parts(request: Request) -> Services:
    """The parts of the server that serves this request."""
    # not in a thread, which a plain function would be called in: all threads may be waiting
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


def _account(who: Who) -> str:
    if not who.owner:
        raise HTTPException(403, "Only an owner of studies may do this.")
    return who.owner


Account = Annotated[str, Depends(_account)]


def may_create(account: str, services: Services) -> str:
    """The account, if it may create studies; else 403."""
    if services.store.accounts.role_of(account) is not AccountRole.OWNER:
        raise HTTPException(403, "Your account is an observer's: it sees studies that are shown to it, and neither makes nor changes any.")
    return account


def _owner(account: Account, services: Parts) -> str:
    return may_create(account, services)


Owner = Annotated[str, Depends(_owner)]
StudyPath = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="The study's id.")]
NO_SUCH = "You have no such study."
OBSERVES = "You are an observer of this study: you see it, and change nothing in it. Ask one of its owners."


def access_to(study: str, who: Principal, services: Services) -> tuple[StudyRow, Access]:
    """A study and what who asks may with it. Whether others exist is not told: 404 for both, never 403."""
    # A site is looked up again although its token names it: a site that was removed has none, but a request may be under way.
    row, access = services.store.studies.get(study), services.store.members.access(study, who)
    if row is None or access is None:
        raise HTTPException(404, NO_SUCH)
    return replace(row, actor=who.owner), access


def own_study(study: StudyPath, who: Who, services: Parts) -> StudyRow:
    """A study that the owner who asks may change: 403 for its observers, 404 for all others."""
    row, access = access_to(study, who, services)
    if access.role is Role.OBSERVER:
        raise HTTPException(403, OBSERVES)
    if not access.changes:
        raise HTTPException(404, NO_SUCH)
    return row


def held_study(study: StudyPath, who: Who, services: Parts) -> StudyRow:
    """A study of which who asks is the owner, and not one of those with whom it is shared."""
    row = own_study(study, who, services)
    if row.owner != who.owner:
        raise HTTPException(403, f"Only the study's owner, {row.owner}, may share it, hand it over and delete it. Ask them.")
    return row


def seen_study(study: StudyPath, who: Who, services: Parts) -> StudyRow:
    """A study that who asks owns or observes."""
    row, access = access_to(study, who, services)
    if not access.inside:
        raise HTTPException(404, NO_SUCH)
    return row


def shared_study(study: StudyPath, who: Who, services: Parts) -> StudyRow:
    """A study that who asks owns or observes, or the one that the site who asks has joined."""
    return access_to(study, who, services)[0]


def told_study(study: StudyPath, who: Who, services: Parts) -> StudyRow:
    """The same, where what it has found is shown: 403 for an observer to whom its owner does not show that."""
    row, access = access_to(study, who, services)
    if not access.result:
        raise HTTPException(403, f"The result of this study is not shown to you. Its owner, {row.owner}, can allow it.")
    return row


def whole_study(study: StudyPath, who: Who, services: Parts) -> StudyRow:
    """The same, for owners and observers, and not for sites: what the server knows of it, all of it."""
    return told_study(seen_study(study, who, services).id, who, services)


OwnStudy = Annotated[StudyRow, Depends(own_study)]
HeldStudy = Annotated[StudyRow, Depends(held_study)]
SeenStudy = Annotated[StudyRow, Depends(seen_study)]
SharedStudy = Annotated[StudyRow, Depends(shared_study)]
ToldStudy = Annotated[StudyRow, Depends(told_study)]
WholeStudy = Annotated[StudyRow, Depends(whole_study)]
