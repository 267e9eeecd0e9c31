"""Studies: create, change, invite, open, start, cancel, delete."""

from __future__ import annotations

import time
from typing import Annotated

import msgspec
from fastapi import APIRouter, HTTPException, Path

from consilience.secagg import fingerprint_of, fingerprint_text
from consilience.service.deleting import GOES, STAYS
from consilience.service.server import actions, again, withdrawing
from consilience.service.server.models import (
    AgainOut,
    AskedOut,
    CopyIn,
    DeletionOut,
    InvitationIn,
    InvitationOut,
    InvitationPending,
    RerunIn,
    SettingsModel,
    SiteIn,
    SiteOut,
    StudyIn,
    StudyOut,
    VariableModel,
    WithdrawIn,
    WithdrawnOut,
)
from consilience.service.server.pace import Pace
from consilience.service.server.services import Account, HeldStudy, Owner, OwnStudy, Parts, Services, SharedStudy, Who, access_to
from consilience.service.store import Access, Principal, StudyRow
from consilience.settings import NetworkSettings
from consilience.typed import from_plain

__all__ = ["router", "study_out"]

router = APIRouter(prefix="/api/v1/studies", tags=["studies"])
SitePath = Annotated[str, Path(max_length=64, description="The site's name in the study.")]


def _declared(body: StudyIn) -> actions.Declared:
    variables = None if body.variables is None else [v.spec() for v in body.variables]
    return actions.declare(body.name, variables, body.datasets, from_plain(body.settings.model_dump(), NetworkSettings))


def study_out(row: StudyRow, services: Services, access: Access) -> StudyOut:
    """A study, for somebody who may so much with it."""
    connected = {c.site for c in services.hub.of(row.id)}
    sites = [
        SiteOut(
            name=site.name,
            fingerprint=fingerprint_text(fingerprint_of(site.identity)),
            identity=site.identity.hex(),
            connected=site.name in connected,
            declared=site.declarations is not None,
            consented=site.consented,
            fits=site.fits,
            declined=site.declined,
            withdrew=site.withdrew,
            withdrew_reason=site.withdrew_reason,
        )
        for site in services.store.studies.sites(row.id)
    ]
    pending = services.store.studies.invitations(row.id) if access.inside else []
    variables, datasets = (row.contract.variables, row.contract.datasets) if row.contract else (row.variables, row.datasets)
    return StudyOut(
        id=row.id,
        name=row.name,
        owner=row.owner if access.inside else "",
        role=access.role.value,
        state=row.state.value,
        message=row.message,
        variables=None if variables is None else [VariableModel.of(v) for v in variables],
        datasets=None if datasets is None else [list(names) for names in datasets],
        settings=SettingsModel.model_validate(msgspec.to_builtins(row.settings)),
        sites=sites,
        invitations=[InvitationPending(site=i.site, expires=i.expires) for i in pending],
        rounds=row.rounds,
        bytes=row.bytes,
        tests=services.store.runs.count_results(row.id),
        asked=_asked(services.runner.asked(row.id)),
        queried=row.contract is not None and row.contract.queried,
        contract=actions.digest_now(row, services.store.studies.sites(row.id)),
        created=row.created,
        changed=row.changed,
        origin=row.origin,
    )


def _asked(pace: Pace | None) -> AskedOut | None:
    return None if pace is None else AskedOut(done=pace.done, total=pace.total, seconds_left=pace.left(time.monotonic()))


def _again(services: Services, study: str, account: str) -> StudyOut:
    row, access = access_to(study, Principal(owner=account), services)
    return study_out(row, services, access)


@router.post("", status_code=201, summary="Create a study")
def create(body: StudyIn, owner: Owner, services: Parts) -> StudyOut:
    """A draft: it can be changed until it is opened."""
    return _again(services, actions.create(services, owner, _declared(body)), owner)


@router.get("", summary="List your studies")
def listing(account: Account, services: Parts) -> list[StudyOut]:
    """Newest first: your own, those that are shared with you, and for an observer of all of the server's, all."""
    who = Principal(owner=account)
    found = ((row, services.store.members.access(row.id, who)) for row in services.store.studies.seen_by(account))
    return [study_out(row, services, access) for row, access in found if access is not None]


@router.get("/{study}", summary="Show a study")
def show(row: SharedStudy, who: Who, services: Parts) -> StudyOut:
    """For its owners, its observers and its sites."""
    return study_out(row, services, access_to(row.id, who, services)[1])


@router.put("/{study}", summary="Change a draft")
def edit(body: StudyIn, row: OwnStudy, services: Parts) -> StudyOut:
    """Replace a draft's name, variables, variable sets and settings."""
    actions.edit(services, row, _declared(body))
    return _again(services, row.id, row.by)


@router.get("/{study}/deletion", summary="What deleting would do")
def deletion(row: HeldStudy) -> DeletionOut:
    """What would go, and what would stay at the sites and elsewhere; nothing is done."""
    return DeletionOut(study=row.id, goes=list(GOES), stays=list(STAYS))


@router.delete("/{study}", summary="Delete a study")
def delete(row: HeldStudy, services: Parts) -> DeletionOut:
    """With its results, unless it runs. Its owner may, co-owners may not. The answer says what has gone, and what stays at the sites."""
    actions.delete(services, row)
    return DeletionOut(study=row.id, goes=list(GOES), stays=list(STAYS))


@router.post("/{study}/invitations", status_code=201, summary="Invite a site")
def invite(body: InvitationIn, row: OwnStudy, services: Parts) -> InvitationOut:
    """A new invitation replaces an older one for the same site. The text is shown this once: the server keeps a digest of it."""
    text, expires = actions.invite(services, row, body.site, body.seconds)
    return InvitationOut(invitation=text, expires=expires)


@router.delete("/{study}/invitations/{site}", status_code=204, summary="Take an invitation back")
def withdraw(site: SitePath, row: OwnStudy, services: Parts) -> None:
    """It cannot be used any more."""
    if not actions.withdraw(services, row, site):
        raise HTTPException(404, "There is no such invitation.")


@router.delete("/{study}/sites/{site}", status_code=204, summary="Remove a site")
def remove(site: SitePath, row: OwnStudy, services: Parts) -> None:
    """Before the study runs. Its tokens and its connection end."""
    if not actions.remove_site(services, row, site):
        raise HTTPException(404, "There is no such site.")


@router.post("/{study}/open", summary="Open a draft")
def open_(row: OwnStudy, services: Parts) -> StudyOut:
    """From now on it cannot be changed; sites connect and wait."""
    actions.open_study(services, row)
    return _again(services, row.id, row.by)


@router.post("/{study}/start", summary="Start an open study")
def start(row: OwnStudy, services: Parts) -> StudyOut:
    """Fix who takes part and ask every site's owner for consent; the run begins when all have agreed."""
    actions.start(services, row)
    return _again(services, row.id, row.by)


@router.post("/{study}/search", summary="Look for graphs again")
def search(row: OwnStudy, services: Parts) -> StudyOut:
    """Of a study that failed after all its tests were made, as when its search took more than the server gives one. No site is asked."""
    actions.search_again(services, row)
    return _again(services, row.id, row.by)


@router.post("/{study}/without", summary="Go on without a site")
def without(body: SiteIn, row: OwnStudy, services: Parts) -> StudyOut:
    """Before the start the site is removed. After it, until all have agreed, the contract is another one without this site, and every other
    site is asked for consent anew. Once all have agreed it is too late: sums with it and without it would differ by its part.
    """
    if not actions.without(services, row, body.site):
        raise HTTPException(404, "There is no such site.")
    return _again(services, row.id, row.by)


@router.post("/{study}/withdraw", summary="Withdraw a site")
def withdraw_site(body: WithdrawIn, row: SharedStudy, who: Who, services: Parts) -> WithdrawnOut:
    """For a site, with its own token. It is asked nothing more; a run that asks sites ends. What was summed stays, and results say so."""
    if not who.site:
        raise HTTPException(403, "A site withdraws itself. Its owner's study goes on without it: /without.")
    done = withdrawing.withdraw_site(services, row, who.site, body.reason)
    return WithdrawnOut(answers=done.answers, bytes=done.bytes, words=done.words)


@router.post("/{study}/copy", status_code=201, summary="Copy a study")
def copy(body: CopyIn, row: OwnStudy, services: Parts) -> StudyOut:
    """A draft with the same declaration, but for what is given. Its sites, these or others, are invited and asked for consent anew."""
    return _again(services, again.copy(services, row, body.name or "", body.settings.model_dump(exclude_unset=True)), row.by)


@router.post("/{study}/rerun", summary="Do a study once more")
def rerun(body: RerunIn, row: OwnStudy, services: Parts) -> AgainOut:
    """When it is over. With another alpha, resolution or knowledge: decided from the tests that were made, and no site is asked. As it was,
    if it failed or was cancelled: run again under the contract to which its sites have agreed. Else a copy.
    """
    found = again.rerun(services, row, body.settings.model_dump(exclude_unset=True))
    return AgainOut(how=found.how.value, words=found.words, study=_again(services, found.study, row.by))


@router.post("/{study}/cancel", summary="Cancel a study")
def cancel(row: OwnStudy, services: Parts) -> StudyOut:
    """Results that are there are kept."""
    actions.cancel(services, row)
    return _again(services, row.id, row.by)
