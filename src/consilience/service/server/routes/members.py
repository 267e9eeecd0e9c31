"""Who has a study: sharing it, taking it back, handing it over; and what each of them did."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path

from consilience.service.server import sharing
from consilience.service.server.models import AuditOut, MemberIn, MemberOut, StudyOut, TransferIn
from consilience.service.server.routes.studies import study_out
from consilience.service.server.services import HeldStudy, OwnStudy, Parts, SeenStudy, Services, Who, access_to, held_study
from consilience.service.store import Role

__all__ = ["router"]

router = APIRouter(prefix="/api/v1/studies/{study}", tags=["members"])
AccountPath = Annotated[str, Path(max_length=64, description="The account's name.")]


def _all(services: Services, study: str) -> list[MemberOut]:
    return [
        MemberOut(account=m.account, role="co-owner" if m.role is Role.CO_OWNER else "observer", result=m.result, since=m.since)
        for m in services.store.members.of(study)
    ]


@router.get("/members", summary="Who has a study")
def members(row: SeenStudy, services: Parts) -> list[MemberOut]:
    """The accounts that its owner shares it with. Observers of all of the server's studies are not among them unless it is."""
    return _all(services, row.id)


@router.put("/members/{account}", summary="Share a study")
def share(account: AccountPath, body: MemberIn, row: HeldStudy, services: Parts) -> list[MemberOut]:
    """With a co-owner, who may do what you may but share, hand over and delete; or with an observer, who changes nothing."""
    sharing.share(services, row, account, Role(body.role), result=body.result)
    return _all(services, row.id)


@router.delete("/members/{account}", status_code=204, summary="Take a study back")
def take_back(account: AccountPath, row: OwnStudy, who: Who, services: Parts) -> None:
    """From an account that it is shared with. A co-owner can give it up in the same way, by its own name."""
    if account == who.owner != row.owner:
        sharing.leave(services, row)
    elif not sharing.take_back(services, held_study(row.id, who, services), account):
        raise HTTPException(404, "The study is not shared with this account.")


@router.post("/transfer", summary="Hand a study over")
def transfer(body: TransferIn, row: HeldStudy, who: Who, services: Parts) -> StudyOut:
    """Another account owns it. You are a co-owner from then on, whom the new owner may take the study back from."""
    sharing.hand_over(services, row, body.account)
    now, access = access_to(row.id, who, services)
    return study_out(now, services, access)


@router.get("/audit", summary="What was done to a study")
def audit(row: SeenStudy, services: Parts) -> list[AuditOut]:
    """By its owners, oldest first; what its sites and its run did are its events."""
    found = services.store.audit.of_study(row.id)
    return [AuditOut(time=one.time, account=one.account, action=one.action, detail=one.detail) for one in found]
