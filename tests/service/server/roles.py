"""A study with everybody who can have to do with it, for the tests that go through who may what."""

from __future__ import annotations

from starlette.testclient import TestClient

from consilience.service.server import sharing
from consilience.service.server.services import Services, held_study
from consilience.service.store import AccountRole, Principal, Role, State
from tests.service.helpers import CHEAP, PASSWORD, joined, new_study

ACCOUNTS = {
    "ada": AccountRole.OWNER,  # owns the study
    "cleo": AccountRole.OWNER,  # a co-owner
    "olga": AccountRole.OBSERVER,  # an observer without the result
    "rita": AccountRole.OBSERVER,  # an observer who sees the result
    "wim": AccountRole.OWNER,  # an observer whose account could own studies
    "otto": AccountRole.OVERSEER,  # sees all studies of the server
    "demi": AccountRole.OBSERVER,  # a co-owner before her account became an observer's
    "fred": AccountRole.OWNER,  # a co-owner from whom the study was taken back
    "bob": AccountRole.OWNER,  # has nothing to do with it
    "nils": AccountRole.OBSERVER,  # nor has this observer
}
OWNERS = ("ada", "cleo")
OBSERVERS = ("olga", "rita", "wim", "otto", "demi")
NO_RESULT = ("olga", "wim", "otto")
STRANGERS = ("fred", "bob", "nils")


def services_of(client: TestClient) -> Services:
    return client.app.state.services  # type: ignore[attr-defined, no-any-return]


def populate(client: TestClient, ada: dict[str, str], *, sites: int = 1) -> str:
    """A study with all of them, and its sites ``one``, ``two`` …"""
    services = services_of(client)
    for name, role in ACCOUNTS.items():
        if not services.store.accounts.exists(name):
            services.store.accounts.add(name, CHEAP.hash(PASSWORD), role)
    study = new_study(client, ada, name="a secret name")
    for site in ("one", "two", "three")[:sites]:
        joined(client, ada, study, site)
    row = held_study(study, Principal(owner="ada"), services)
    services.store.accounts.set_role("demi", AccountRole.OWNER)
    for name in ("cleo", "demi", "fred"):
        sharing.share(services, row, name, Role.CO_OWNER)
    services.store.accounts.set_role("demi", AccountRole.OBSERVER)
    sharing.share(services, row, "olga", Role.OBSERVER)
    sharing.share(services, row, "rita", Role.OBSERVER, result=True)
    sharing.share(services, row, "wim", Role.OBSERVER)
    assert sharing.take_back(services, row, "fred")
    return study


def finish(client: TestClient, study: str) -> None:
    """As a run would: with documents, and an event that says what was found."""
    services = services_of(client)
    services.store.studies.move(study, [State.DRAFT], State.FINISHED)
    services.store.runs.put_documents(study, [("result.json", b'{"found": 1}'), ("tests.csv", b"x,y\n"), ("report.html", b"<p>found</p>")])
    services.store.runs.add_event(study, "stage", {"words": "solving: 3 PAGs so far"})
    services.store.runs.add_event(study, "finished", {"pags": 2, "rounds": 7, "headline": "A causes B, as it seems."})
    services.bell.ring(study)
