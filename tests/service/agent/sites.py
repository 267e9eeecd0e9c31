"""Three sites, a contract between them, and a site's side of a run without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

import consilience as cs
from consilience.protocol.handshake import Challenge, Proposal, Welcome
from consilience.protocol.messages import Entered, KeyAsk, KeyOffer, KeySet, Round, RoundRequest
from consilience.secagg import Identity, Roster, fingerprint_text
from consilience.service.agent import Home, Site, StudyFolder
from consilience.service.contract import Contract, Member
from consilience.service.invitation import Invitation
from consilience.service.settings import specs_of
from consilience.settings import NetworkSettings
from tests.federation.helpers import mixed_clients

STUDY = "00112233aabbccdd"
CLIENTS = mixed_clients(3, columns="AC")
SCHEMA = cs.Server(CLIENTS).schema
MEMBERS = tuple(Member(c.name, c.identity.public_bytes) for c in CLIENTS)
CONTRACT = Contract(STUDY, "trial", specs_of(SCHEMA), (("A", "C"),), NetworkSettings(), MEMBERS)
SERVER = Identity.generate()
OTHER = Identity.generate().public_bytes


def folder_of(path: Path, site: str = "site0") -> StudyFolder:
    return Home(path).enter(Invitation("https://study.example", STUDY, site, bytes(32), SERVER.public_bytes))


def yes(_lines: list[str], _warnings: list[str]) -> bool:
    return True


def proved(path: Path, ask: Any = yes, which: int = 0, **options: Any) -> Site:
    """A site that has answered the challenge."""
    site = Site(CLIENTS[which], folder_of(path, CLIENTS[which].name), ask, **options)
    site.state.moves(Challenge)
    return site


def site_in(path: Path, ask: Any = yes, which: int = 0, **options: Any) -> Site:
    """A site that is welcome in the study."""
    site = proved(path, ask, which, **options)
    assert site.handle(Welcome(CLIENTS[which].name, STUDY, "trial", "open")) is None
    return site


def proposal(contract: Contract = CONTRACT) -> Proposal:
    return Proposal(contract.encoded())


def shown_by_a_server(contract: Contract = CONTRACT) -> dict[str, Any]:
    """A study as the REST interface shows it."""
    return {
        "id": contract.study,
        "name": contract.name,
        "variables": [{"name": v.name, "kind": v.kind.value, "levels": list(v.levels)} for v in contract.schema.values()],
        "datasets": [list(names) for names in contract.datasets],
        "sites": [{"name": m.name, "identity": m.identity.hex(), "fingerprint": fingerprint_text(m.fingerprint)} for m in contract.members],
        "settings": msgspec.to_builtins(contract.settings),
    }


def changed(**what: Any) -> Contract:
    return msgspec.structs.replace(CONTRACT, **what)


def run_of(sites: list[Site], run: bytes, which: list[int] | None = None) -> bytes:
    """Exchange keys among some sites; the roster's digest."""
    present = [sites[i] for i in which or range(len(sites))]
    keys = [site.handle(KeyAsk(run)) for site in present]
    assert all(isinstance(key, KeyOffer) for key in keys)
    for site in present:
        assert isinstance(site.handle(KeySet(run, tuple(keys))), Entered)
    return Roster(run, [key.signed().fingerprint for key in keys]).digest


def ask(site: Site, run: bytes, digest: bytes, number: int, body: Any, announced: Any = ()) -> Any:
    return site.handle(Round(RoundRequest(run, number, digest, body, announced)))
