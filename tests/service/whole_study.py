"""A study in a server's store from its first draft to its end: real sites, real sums, real signatures, and no network."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import consilience as cs
from consilience.federation.site.ledger import Ledger
from consilience.protocol.handshake import consent_context
from consilience.service.contract import Contract, Member
from consilience.service.invitation import SECRET_BYTES
from consilience.service.server import actions
from consilience.service.server.services import Services
from consilience.service.settings import specs_of
from consilience.service.store import State
from consilience.settings import NetworkSettings
from tests.federation.helpers import mixed_clients
from tests.service.run_links import RunLinks, run

CLIENTS = mixed_clients(3, columns="ABC")
SCHEMA = cs.Server(CLIENTS).schema
NAME = "Schlaganfall in fünf Häusern"


def finished_study(services: Services, name: str = NAME, **settings: Any) -> tuple[Contract, dict[str, Ledger]]:
    """A study of ada's that has finished; its contract, and the ledgers of its sites."""
    contract, ledgers, links = running_study(services, name, **settings)
    run(services.runner, contract, links)
    return contract, ledgers


def running_study(
    services: Services, name: str = NAME, clients: Sequence[cs.Client] = CLIENTS, **settings: Any
) -> tuple[Contract, dict[str, Ledger], RunLinks]:
    """A study that all sites have consented to, before its first round."""
    store, schema = services.store, cs.Server(clients).schema
    held = (tuple(schema),)
    declared = actions.declare(name, specs_of(schema), held, NetworkSettings(**settings))
    study = actions.create(services, "ada", declared)
    for client in clients:
        secret = secrets.token_bytes(SECRET_BYTES)
        store.studies.invite(study, client.name, secret, 60.0)
        store.audit.add("ada", "invited a site", study=study, detail=client.name)
        store.studies.redeem(study, secret, client.identity.public_bytes)
        services.runner.event(study, "joined", site=client.name)
    members = tuple(Member(c.name, c.identity.public_bytes) for c in clients)
    contract = Contract(study, name, specs_of(schema), held, NetworkSettings(**settings), members)
    store.studies.move(study, [State.DRAFT], State.RUNNING, contract=contract)
    ledgers = {client.name: Ledger() for client in clients}
    halves = []
    for client in clients:
        store.studies.consent(study, client.name, client.identity.sign(consent_context(study, contract.digest)))
        joined = client.join(study, schema, contract.terms, contract.fingerprints.values(), ledger=ledgers[client.name])
        halves.append(joined)
    return contract, ledgers, RunLinks(halves)
