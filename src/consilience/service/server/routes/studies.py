"""Studies: create, change, invite, open, start, cancel, delete."""

from __future__ import annotations

import secrets
from typing import Annotated

import msgspec
from fastapi import APIRouter, HTTPException, Path

from consilience.data.kinds import Kind, Variable
from consilience.data.schema import Declaration, unite
from consilience.errors import OptionError
from consilience.federation.errors import TooFewClientsError
from consilience.secagg import fingerprint_of, fingerprint_text
from consilience.service.contract import Contract
from consilience.service.errors import LifeCycleError
from consilience.service.invitation import SECRET_BYTES, Invitation
from consilience.service.server.models import (
    InvitationIn,
    InvitationOut,
    InvitationPending,
    SettingsModel,
    SiteOut,
    StudyIn,
    StudyOut,
    VariableModel,
)
from consilience.service.server.services import Owner, OwnStudy, Parts, Services, SharedStudy, Who
from consilience.service.settings import VariableSpec, check_batch, check_datasets, check_knowledge, checked, schema_of, specs_of
from consilience.service.store import SiteRow, State, StudyRow
from consilience.settings import NetworkSettings

__all__ = ["contract_of", "router"]

router = APIRouter(prefix="/api/v1/studies", tags=["studies"])
SitePath = Annotated[str, Path(max_length=64, description="The site's name in the study.")]
Parsed = tuple[tuple[VariableSpec, ...] | None, tuple[tuple[str, ...], ...] | None, NetworkSettings]


def _parse(body: StudyIn) -> Parsed:
    """The library's own checks, before anything is stored."""
    if not body.name.isprintable():
        raise OptionError("A study's name is printable text on one line.")
    settings = checked(msgspec.convert(body.settings.model_dump(), NetworkSettings))
    if (body.variables is None) != (body.datasets is None):
        raise OptionError("Declare the variables and the variable sets, or neither: the sites are then asked for theirs.")
    if body.variables is None or body.datasets is None:
        return None, None, settings
    schema = schema_of(tuple(VariableSpec(v.name, Kind(v.kind), tuple(v.levels)) for v in body.variables))
    check_knowledge(settings, schema)
    datasets = check_datasets(tuple(tuple(names) for names in body.datasets), schema)
    check_batch(settings, datasets)
    return specs_of(schema), datasets, settings


def _out(row: StudyRow, services: Services, *, is_owner: bool) -> StudyOut:
    connected = {c.site for c in services.hub.of(row.id)}
    sites = [
        SiteOut(
            name=site.name,
            fingerprint=fingerprint_text(fingerprint_of(site.identity)),
            connected=site.name in connected,
            declared=site.declarations is not None,
            consented=site.consented,
        )
        for site in services.store.studies.sites(row.id)
    ]
    pending = services.store.studies.invitations(row.id) if is_owner else []
    variables, datasets = (row.contract.variables, row.contract.datasets) if row.contract else (row.variables, row.datasets)
    return StudyOut(
        id=row.id,
        name=row.name,
        state=row.state.value,
        message=row.message,
        variables=None if variables is None else [VariableModel(name=v.name, kind=v.kind, levels=list(v.levels)) for v in variables],
        datasets=None if datasets is None else [list(names) for names in datasets],
        settings=SettingsModel.model_validate(msgspec.to_builtins(row.settings)),
        sites=sites,
        invitations=[InvitationPending(site=i.site, expires=i.expires) for i in pending],
        rounds=row.rounds,
        bytes=row.bytes,
        tests=services.store.runs.count_results(row.id),
        created=row.created,
        changed=row.changed,
    )


def _again(services: Services, study: str) -> StudyOut:
    row = services.store.studies.get(study)
    if row is None:
        raise HTTPException(404, "You have no such study.")
    return _out(row, services, is_owner=True)


@router.post("", status_code=201, summary="Create a study")
def create(body: StudyIn, owner: Owner, services: Parts) -> StudyOut:
    """A draft: it can be changed until it is opened."""
    study = services.store.studies.create(owner, body.name, *_parse(body))
    services.runner.event(study, "created")
    return _again(services, study)


@router.get("", summary="List your studies")
def listing(owner: Owner, services: Parts) -> list[StudyOut]:
    """Newest first."""
    return [_out(row, services, is_owner=True) for row in services.store.studies.of_owner(owner)]


@router.get("/{study}", summary="Show a study")
def show(row: SharedStudy, who: Who, services: Parts) -> StudyOut:
    """For its owner and for its sites."""
    return _out(row, services, is_owner=bool(who.owner))


@router.put("/{study}", summary="Change a draft")
def edit(body: StudyIn, row: OwnStudy, services: Parts) -> StudyOut:
    """Replace a draft's name, variables, variable sets and settings."""
    services.store.studies.edit(row.id, body.name, *_parse(body))
    return _again(services, row.id)


@router.delete("/{study}", status_code=204, summary="Delete a study")
def delete(row: OwnStudy, services: Parts) -> None:
    """With its results, unless it runs."""
    services.store.studies.delete(row.id)
    services.runner.say_over(row.id, State.CANCELLED, "deleted by its owner")


@router.post("/{study}/invitations", status_code=201, summary="Invite a site")
def invite(body: InvitationIn, row: OwnStudy, services: Parts) -> InvitationOut:
    """A new invitation replaces an older one for the same site. The text is shown this once: the server keeps a digest of it."""
    if row.state not in (State.DRAFT, State.OPEN):
        raise LifeCycleError(f"Sites are invited before a study runs; this one is {row.state.value}.")
    secret = secrets.token_bytes(SECRET_BYTES)
    expires = services.store.studies.invite(row.id, body.site, secret, body.seconds)
    config = services.config
    text = Invitation(config.public_url, row.id, body.site, secret, services.identity.public_bytes, services.certificate).text()
    return InvitationOut(invitation=text, expires=expires)


@router.delete("/{study}/invitations/{site}", status_code=204, summary="Take an invitation back")
def withdraw(site: SitePath, row: OwnStudy, services: Parts) -> None:
    """It cannot be used any more."""
    if not services.store.studies.withdraw(row.id, site):
        raise HTTPException(404, "There is no such invitation.")


@router.delete("/{study}/sites/{site}", status_code=204, summary="Remove a site")
def remove(site: SitePath, row: OwnStudy, services: Parts) -> None:
    """Before the study runs. Its tokens and its connection end."""
    if not services.store.studies.remove_site(row.id, site):
        raise HTTPException(404, "There is no such site.")
    services.runner.dismiss(row.id, site)


@router.post("/{study}/open", summary="Open a draft")
def open_(row: OwnStudy, services: Parts) -> StudyOut:
    """From now on it cannot be changed; sites connect and wait."""
    services.store.studies.move(row.id, [State.DRAFT], State.OPEN)
    services.runner.event(row.id, "opened")
    return _again(services, row.id)


@router.post("/{study}/start", summary="Start an open study")
def start(row: OwnStudy, services: Parts) -> StudyOut:
    """Fix who takes part and ask every site's owner for consent; the run begins when all have agreed."""
    with services.store.database.writing():  # nobody joins, leaves or edits between reading and moving
        now = services.store.studies.get(row.id)
        if now is None or now.state is not State.OPEN:
            raise LifeCycleError(f"A study is started when it is open; this one is {now.state.value if now else 'gone'}.")
        contract = contract_of(now, services.store.studies.sites(row.id))
        services.store.studies.move(row.id, [State.OPEN], State.RUNNING, contract=contract)
        services.store.runs.add_event(row.id, "started", {"sites": [m.name for m in contract.members]})
    services.runner.begin(row.id)
    services.bell.ring(row.id)
    return _again(services, row.id)


@router.post("/{study}/cancel", summary="Cancel a study")
def cancel(row: OwnStudy, services: Parts) -> StudyOut:
    """Results that are there are kept."""
    services.runner.cancel(row.id)
    return _again(services, row.id)


def contract_of(row: StudyRow, sites: list[SiteRow]) -> Contract:
    """What the sites of a study are asked to agree to."""
    needed = max(2, row.settings.min_contributors)
    if len(sites) < needed:
        raise TooFewClientsError(f"A study needs at least {needed} sites; {len(sites)} have joined. Invite more.")
    variables, datasets, queried = row.variables, row.datasets, False
    if variables is None or datasets is None:
        silent = [site.name for site in sites if site.declarations is None]
        if silent:
            raise LifeCycleError(
                f"The sites are asked for their variables, and {silent[0]!r} has not answered yet. Wait until it has connected."
            )
        schema = unite({site.name: _declared(site) for site in sites})
        check_knowledge(row.settings, schema)
        held = (tuple(sorted(d.name for d in site.declarations or ())) for site in sites)
        variables, datasets, queried = specs_of(schema), tuple(dict.fromkeys(held)), True
    check_batch(row.settings, datasets)
    return Contract(row.id, row.name, variables, datasets, row.settings, tuple(site.member for site in sites), queried)


def _declared(site: SiteRow) -> dict[str, Declaration]:
    return {
        d.name: Declaration(Variable(d.name, Kind(d.kind), d.levels), d.declared_kind, d.declared_levels, d.reason, d.only)
        for d in site.declarations or ()
    }
