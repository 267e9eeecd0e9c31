"""What an owner does with a study, each as a function: the REST interface and the pages call the same. Every one is in the audit log."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from consilience.data.kinds import Kind, Variable
from consilience.data.schema import Declaration, unite
from consilience.errors import ConsilienceError, OptionError
from consilience.federation.errors import TooFewClientsError
from consilience.protocol.handshake import preview
from consilience.service.contract import Contract, bounded
from consilience.service.deleting import MARK
from consilience.service.errors import LifeCycleError
from consilience.service.invitation import SECRET_BYTES, Invitation
from consilience.service.server.services import Services
from consilience.service.settings import (
    MOST_NAME,
    VariableSpec,
    check_batch,
    check_cluster,
    check_datasets,
    check_knowledge,
    checked,
    schema_of,
    specs_of,
)
from consilience.service.store import SiteRow, State, StudyRow
from consilience.settings import NetworkSettings

__all__ = [
    "Declared",
    "cancel",
    "contract_of",
    "create",
    "declare",
    "declared_by",
    "delete",
    "digest_now",
    "edit",
    "invite",
    "open_study",
    "remove_site",
    "search_again",
    "start",
    "withdraw",
    "without",
]

INVITATION_SECONDS = 7 * 86400.0


@dataclass(frozen=True, slots=True)
class Declared:
    """What a draft says, checked. Without variables the sites are asked for theirs."""

    name: str
    variables: tuple[VariableSpec, ...] | None
    datasets: tuple[tuple[str, ...], ...] | None
    settings: NetworkSettings

    @classmethod
    def of(cls, row: StudyRow) -> Declared:
        """What a study says that is there."""
        return cls(row.name, row.variables, row.datasets, row.settings)


def declare(
    name: str,
    variables: Iterable[VariableSpec] | None = None,
    datasets: Iterable[Sequence[str]] | None = None,
    settings: NetworkSettings | None = None,
) -> Declared:
    """The library's own checks, before anything is stored.

    >>> declare("trial", [VariableSpec("C", Kind.BINARY)], [["C"]]).variables
    (VariableSpec(name='C', kind=<Kind.BINARY: 'binary'>, levels=('0', '1'), unit='', low=None, high=None),)
    >>> declare("trial", None, [["C"]])
    Traceback (most recent call last):
    consilience.errors.OptionError: Declare the variables and the variable sets, or neither: the sites are then asked for theirs.
    """
    if not name.strip() or len(name) > MOST_NAME or not name.isprintable():
        raise OptionError(f"A study's name is printable text on one line, of 1 to {MOST_NAME} characters.")
    found = checked(settings or NetworkSettings())
    if (variables is None) != (datasets is None):
        raise OptionError("Declare the variables and the variable sets, or neither: the sites are then asked for theirs.")
    if variables is None or datasets is None:
        check_cluster(found, None)
        return Declared(name, None, None, found)
    schema = schema_of(tuple(variables))
    check_cluster(found, schema)
    check_knowledge(found, schema)
    sets = check_datasets(tuple(tuple(names) for names in datasets), schema)
    check_batch(found, sets)
    return Declared(name, specs_of(schema), sets, found)


def create(services: Services, owner: str, declared: Declared, *, origin: str = "") -> str:
    """A draft; its id. ``origin`` is the study that it is made from."""
    study = services.store.studies.create(owner, declared.name, declared.variables, declared.datasets, declared.settings, origin=origin)
    services.runner.event(study, "created")
    services.store.audit.add(owner, "created", study=study)
    return study


def edit(services: Services, row: StudyRow, declared: Declared) -> None:
    """Replace what a draft says."""
    services.store.studies.edit(row.id, declared.name, declared.variables, declared.datasets, declared.settings)
    services.store.audit.add(row.by, "changed the declaration", study=row.id)


def delete(services: Services, row: StudyRow) -> None:
    """Forget a study with its results, unless it runs; :mod:`consilience.service.deleting` says what goes and what stays."""
    with services.store.database.writing():  # all of it, or nothing; the files are cut when it is over
        services.store.studies.delete(row.id)
        services.store.audit.forget(row.id)
        services.store.audit.add(row.by, MARK, study=row.id)
    services.runner.say_over(row.id, State.CANCELLED, "deleted by its owner")


def invite(services: Services, row: StudyRow, site: str, seconds: float = INVITATION_SECONDS) -> tuple[str, float]:
    """The text of a new invitation, which is kept nowhere, and when it ends. An older one for the same site ends now."""
    if row.state not in (State.DRAFT, State.OPEN):
        raise LifeCycleError(f"Sites are invited before a study runs; this one is {row.state.value}.")
    secret = secrets.token_bytes(SECRET_BYTES)
    expires = services.store.studies.invite(row.id, site, secret, seconds)
    services.store.audit.add(row.by, "invited a site", study=row.id, detail=site)
    url, server = services.config.public_url, services.identity.public_bytes
    return Invitation(url, row.id, site, secret, server, services.certificate).text(), expires


def withdraw(services: Services, row: StudyRow, site: str) -> bool:
    """Take an invitation back; False if there is none."""
    found = services.store.studies.withdraw(row.id, site)
    if found:
        services.store.audit.add(row.by, "took an invitation back", study=row.id, detail=site)
    return found


def remove_site(services: Services, row: StudyRow, site: str) -> bool:
    """Take a site out before the study runs; its tokens and its connection end. False if there is none."""
    found = services.store.studies.remove_site(row.id, site)
    if found:
        services.runner.event(row.id, "removed", site=site)
        services.runner.dismiss(row.id, site)
        services.store.audit.add(row.by, "removed a site", study=row.id, detail=site)
    return found


def without(services: Services, row: StudyRow, site: str) -> bool:
    """Go on without a site. Before the start it is removed; between the start and the first round the contract is another one then, and
    every other site is asked for consent anew: who takes part is what sums are over. Once all have agreed, the run has begun, and it
    is too late: sums with the site and without it would differ by its part. False if there is no such site.
    """
    if row.state is not State.RUNNING:
        return remove_site(services, row, site)
    with services.store.database.writing():
        now, sites = services.store.studies.get(row.id), services.store.studies.sites(row.id)
        if now is None or now.contract is None or site not in now.contract.fingerprints:
            return False
        left = [each for each in sites if each.name != site]
        needed = max(2, now.settings.min_contributors)
        if len(left) < needed:
            raise TooFewClientsError(
                f"A study needs at least {needed} sites; without {site!r} there are {len(left)}. Wait for it, or cancel the study."
            )
        services.store.studies.go_without(row.id, site, _narrowed(now.contract.without(site), left))
        services.store.audit.add(row.by, "goes on without a site", study=row.id, detail=site)
    services.runner.event(row.id, "left out", site=site, sites=[each.name for each in left])
    services.runner.dismiss(row.id, site)
    services.runner.ask_anew(row.id)
    return True


def _narrowed(contract: Contract, sites: list[SiteRow]) -> Contract:
    """Where the variables were asked from the sites: those that these have, as they were united."""
    if not contract.queried:
        return contract
    datasets = tuple(dict.fromkeys(tuple(sorted(d.name for d in site.declarations or ())) for site in sites))
    held = {name for names in datasets for name in names}
    variables = tuple(spec for spec in contract.variables if spec.name in held)
    check_knowledge(contract.settings, schema_of(variables))
    return msgspec.structs.replace(contract, variables=variables, datasets=datasets)


def open_study(services: Services, row: StudyRow) -> None:
    """From now on it cannot be changed; sites connect and wait."""
    services.store.studies.move(row.id, [State.DRAFT], State.OPEN)
    services.runner.event(row.id, "opened")
    if (declared := row.prospect) is not None:  # who has connected before looks now whether its table fits
        services.runner.tell(row.id, preview(services.identity, row.id, declared.encoded()))
    services.store.audit.add(row.by, "opened", study=row.id)


def start(services: Services, row: StudyRow) -> None:
    """Fix who takes part and ask every site's owner for consent; the run begins when all have agreed."""
    with services.store.database.writing():  # nobody joins, leaves or edits between reading and moving
        now = services.store.studies.get(row.id)
        if now is None or now.state is not State.OPEN:
            raise LifeCycleError(f"A study is started when it is open; this one is {now.state.value if now else 'gone'}.")
        contract = contract_of(now, services.store.studies.sites(row.id))
        services.store.studies.move(row.id, [State.OPEN], State.RUNNING, contract=contract)
        services.store.runs.add_event(row.id, "started", {"sites": [m.name for m in contract.members]})
        services.store.audit.add(row.by, "started", study=row.id)
    services.runner.begin(row.id)
    services.bell.ring(row.id)


def search_again(services: Services, row: StudyRow) -> None:
    """Look once more for the graphs of a study whose tests are all made, and whose search failed. No site is asked."""
    services.runner.search_again(row.id)
    services.store.audit.add(row.by, "had graphs sought again", study=row.id)


def cancel(services: Services, row: StudyRow) -> None:
    """End a study before its time. Results that are there are kept."""
    services.runner.cancel(row.id)
    services.store.audit.add(row.by, "cancelled", study=row.id)


def digest_now(row: StudyRow, sites: list[SiteRow]) -> str | None:
    """The digest of a study's contract; before its start, of the one that it would have with these sites. None while there can be none."""
    try:
        return (contract_of(row, sites) if row.contract is None else row.contract).digest.hex()
    except ConsilienceError:  # too few sites, or one has not said yet what it measures
        return None


def contract_of(row: StudyRow, sites: list[SiteRow]) -> Contract:
    """What the sites of a study are asked to agree to."""
    sites = [site for site in sites if site.withdrew is None]
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
        schema = unite({site.name: declared_by(site) for site in sites})
        check_knowledge(row.settings, schema)
        held = (tuple(sorted(d.name for d in site.declarations or ())) for site in sites)
        variables, datasets, queried = specs_of(schema), tuple(dict.fromkeys(held)), True
    check_batch(row.settings, datasets)
    return bounded(Contract(row.id, row.name, variables, datasets, row.settings, tuple(site.member for site in sites), queried))


def declared_by(site: SiteRow) -> dict[str, Declaration]:
    """What a site says that it holds, by name."""
    return {
        d.name: Declaration(Variable(d.name, Kind(d.kind), d.levels), d.declared_kind, d.declared_levels, d.reason, d.only)
        for d in site.declarations or ()
    }
