"""The agent's side without a network: what it consents to, what it refuses, what it remembers on disk."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

import consilience as cs
from consilience import errors
from consilience.citest.requests import Evaluate, Survey
from consilience.federation.memory import Closed, Points, Present, Units
from consilience.federation.messages import Announced, RoundRequest
from consilience.federation.wire import Answer, Entered, KeyAsk, KeyOffer, KeySet, Refused, Round
from consilience.secagg import Identity, Roster
from consilience.secagg.identity import is_signed_by
from consilience.service.agent import Home, Site, StudyFolder
from consilience.service.agent.entry import check_url
from consilience.service.agent.home import DiskLedger, DiskMemory
from consilience.service.agent.rehearsal import rehearse
from consilience.service.contract import Contract, Member
from consilience.service.invitation import Invitation, read_invitation
from consilience.service.session import Consent, Declare, DeclareAsk, Declined, Proposal, Welcome, consent_context
from consilience.service.settings import Settings, specs_of
from tests.federation.helpers import LOGIT, mixed_clients

STUDY = "00112233aabbccdd"
CLIENTS = mixed_clients(3, columns="AC")
SCHEMA = cs.Server(CLIENTS).schema
MEMBERS = tuple(Member(c.name, c.identity.public_bytes) for c in CLIENTS)
CONTRACT = Contract(STUDY, "trial", specs_of(SCHEMA), (("A", "C"),), Settings(), MEMBERS)
SERVER = Identity.generate()


def folder_of(path: Path, site: str = "site0") -> StudyFolder:
    return Home(path).enter(Invitation("https://study.example", STUDY, site, bytes(32), SERVER.public_bytes))


def yes(_lines: list[str], _warnings: list[str]) -> bool:
    return True


def site_in(path: Path, ask: Any = yes, which: int = 0, **options: Any) -> Site:
    return Site(CLIENTS[which], folder_of(path, CLIENTS[which].name), ask, **options)


def proposal(contract: Contract = CONTRACT) -> Proposal:
    return Proposal(contract.encoded())


def test_consent_is_a_signature_over_the_contract(tmp_path: Path) -> None:
    reply = site_in(tmp_path).handle(proposal())
    assert isinstance(reply, Consent)
    assert reply.digest == CONTRACT.digest
    assert is_signed_by(CLIENTS[0].identity.public_bytes, consent_context(STUDY, CONTRACT.digest), reply.signature)


def test_the_owner_sees_settings_fingerprints_and_warnings_once(tmp_path: Path) -> None:
    seen: list[tuple[list[str], list[str]]] = []

    def ask(lines: list[str], warnings: list[str]) -> bool:
        seen.append((lines, warnings))
        return True

    settings = msgspec.convert({"site_effects": "joint", "allow_joint": True, "on_dropout": "restart"}, Settings)
    contract = msgspec.structs.replace(CONTRACT, settings=settings, queried=True, members=MEMBERS[:2])
    site_in(tmp_path, ask).handle(proposal(contract))
    site_in(tmp_path, ask).handle(proposal(contract))  # started again: it is on disk
    ((lines, warnings),) = seen
    text = "\n".join(lines)
    assert CLIENTS[1].identity.fingerprint_text in text
    assert "joint" in text
    assert len(warnings) == 4
    assert any("each site's number of rows" in w for w in warnings)
    assert any("the difference of the two sums" in w for w in warnings)


def test_without_consent_nothing_is_answered(tmp_path: Path) -> None:
    site = site_in(tmp_path, lambda _lines, _warnings: False)
    assert isinstance(site.handle(proposal()), Declined)
    reply = site.handle(KeyAsk(b"run"))
    assert isinstance(reply, Refused)
    assert reply.error == "DeclinedError"
    assert (tmp_path / "studies" / STUDY / "ledger.jsonl").read_text() == ""


def changed(**what: Any) -> Contract:
    return msgspec.structs.replace(CONTRACT, **what)


OTHER = Identity.generate().public_bytes
SWAPPED = (MEMBERS[0], Member("site1", OTHER), MEMBERS[2])


@pytest.mark.parametrize(
    ("contract", "error"),
    [
        (changed(members=SWAPPED), errors.ChangedIdentityError),
        (changed(members=(Member("site0", OTHER), *MEMBERS[1:])), errors.ChangedIdentityError),
        (changed(members=MEMBERS[1:]), errors.ChangedIdentityError),
        (changed(settings=Settings(min_rows=1)), errors.WrongTermsError),
        (changed(members=MEMBERS[:2]), errors.WrongTermsError),
        (changed(study="ffffffffffffffff"), errors.WrongTermsError),
        (changed(version=2), errors.WrongTermsError),
    ],
)
def test_another_contract_than_the_one_agreed_to_stops_the_agent(tmp_path: Path, contract: Contract, error: type[Exception]) -> None:
    site_in(tmp_path).handle(proposal())
    with pytest.raises(error):
        site_in(tmp_path).handle(proposal(contract))


def test_a_pinned_peer_must_be_who_it_was(tmp_path: Path) -> None:
    pins = {"site1": CLIENTS[1].identity.fingerprint_text.upper()}
    assert isinstance(site_in(tmp_path, peers=pins).handle(proposal()), Consent)
    with pytest.raises(errors.ChangedIdentityError, match="pinned fingerprint"):
        site_in(tmp_path / "other", peers=pins).handle(proposal(changed(members=SWAPPED)))


def test_data_that_do_not_fit_the_schema_are_declined_without_details(tmp_path: Path) -> None:
    client = cs.Client("site0", pl.DataFrame({"A": [1.0, 2.0], "C": ["secret", "other"]}), identity=CLIENTS[0].identity)
    site = Site(client, folder_of(tmp_path), yes)
    reply = site.handle(proposal())
    assert isinstance(reply, Declined)
    assert "secret" not in reply.reason
    assert "secret" in str(site.failure) or "other" in str(site.failure)


def test_a_welcome_for_somebody_else_ends_the_agent(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    assert site.handle(Welcome("site0", STUDY, "trial", "open")) is None
    with pytest.raises(errors.ProtocolError):
        site.handle(Welcome("site1", STUDY, "trial", "open"))


def test_variables_are_told_only_with_consent(tmp_path: Path) -> None:
    told = site_in(tmp_path).handle(DeclareAsk())
    assert isinstance(told, Declare)
    assert [(d.name, d.kind) for d in told.variables] == [("A", "continuous"), ("C", "binary")]
    seen: list[list[str]] = []
    refused = site_in(tmp_path, lambda _lines, warnings: seen.append(warnings) or False).handle(DeclareAsk())  # type: ignore[func-returns-value]
    assert isinstance(refused, Declined)
    assert "which site measures what" in seen[0][0]


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


def test_a_site_started_again_remembers_what_it_answered_and_with_whom(tmp_path: Path) -> None:
    """Otherwise a point could be asked for again with one site fewer."""
    restart = changed(settings=msgspec.convert({"on_dropout": "restart"}, Settings))
    sites = [site_in(tmp_path / str(i), which=i) for i in range(3)]
    for site in sites:
        site.handle(proposal(restart))
    digest = run_of(sites, b"one")
    counts = (Announced(("A", "C"), 3, 120),)
    body = Evaluate(1, (LOGIT,), restart.terms.effects, restart.terms.ordinal, 3, {})
    assert isinstance(ask(sites[0], b"one", digest, 0, body, counts), Answer)
    again = [site_in(tmp_path / str(i), which=i) for i in range(3)]
    for site in again:
        assert isinstance(site.handle(proposal(restart)), Consent)
    digest = run_of(again, b"two", [0, 1])
    counts = (Announced(("A", "C"), 2, 80),)
    reply = ask(again[0], b"two", digest, 0, msgspec.structs.replace(body, n_sites=2), counts)
    assert isinstance(reply, Refused)
    assert reply.error == "RepeatedQuestionError"
    keys = [again[i].handle(KeyAsk(b"three")) for i in range(3)]
    reply = again[0].handle(KeySet(b"three", tuple(keys)))  # who left may not come back
    assert isinstance(reply, Refused)
    assert reply.error == "WrongRosterError"


def test_without_consent_to_restarts_a_smaller_run_is_refused(tmp_path: Path) -> None:
    sites = [site_in(tmp_path / str(i), which=i) for i in range(3)]
    for site in sites:
        site.handle(proposal())
    run_of(sites, b"one")
    keys = [sites[i].handle(KeyAsk(b"two")) for i in range(2)]
    reply = sites[0].handle(KeySet(b"two", tuple(keys)))
    assert isinstance(reply, Refused)
    assert reply.error == "WrongRosterError"
    assert isinstance(ask(sites[0], b"two", bytes(32), 0, Survey((("A",),))), Refused)


def test_the_ledger_is_on_disk_line_by_line_and_survives_a_torn_end(tmp_path: Path) -> None:
    sites = [site_in(tmp_path / str(i), which=i) for i in range(3)]
    for site in sites:
        site.handle(proposal())
    digest = run_of(sites, b"one")
    ask(sites[0], b"one", digest, 0, Survey((("A",),)))
    file = tmp_path / "0" / "studies" / STUDY / "ledger.jsonl"
    assert json.loads(file.read_text())["masked_with"] == 2
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with file.open("a") as f:
        f.write('{"time": "torn')
    ledger = DiskLedger(file)
    assert ledger.totals()["messages"] == 1
    ledger.add("s", "r", 1, "more", 1, 16, masked_with=2)
    assert [json.loads(line)["what"][:4] for line in file.read_text().splitlines()] == ["whet", "more"]


def test_memory_is_read_back_and_survives_a_torn_end(tmp_path: Path) -> None:
    file = tmp_path / "memory.log"
    memory = DiskMemory(file)
    memory.take(Present((b"a", b"b")))
    memory.take(Points((b"p",), (b"a", b"b")))
    memory.take(Units({"A": 8}))
    with file.open("ab") as f:
        f.write(b"\x00\x00\x00\x10torn")
    again = DiskMemory(file)
    assert (again.present, again.answered, again.exponents, again.closed) == ({b"a", b"b"}, {b"p": {b"a", b"b"}}, {"A": 8}, False)
    again.take(Closed())
    assert DiskMemory(file).closed


def test_identity_is_made_once_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", "a password")
    first = home.identity()
    assert home.identity().fingerprint == first.fingerprint
    assert stat.S_IMODE((tmp_path / "home" / "identity.pem").stat().st_mode) == 0o600
    with pytest.raises(errors.IdentityFileError):
        Home(tmp_path / "home", "another").identity()


@pytest.mark.parametrize("study", ["../../../etc", "..", "0011", "00112233AABBCCDD", "00112233aabbccdd/..", ""])
def test_a_studys_id_cannot_be_a_path(tmp_path: Path, study: str) -> None:
    text = Invitation("https://study.example", study, "site", bytes(32), bytes(32)).text()
    with pytest.raises(errors.InvitationError):
        read_invitation(text)
    with pytest.raises(errors.InvitationError):
        Home(tmp_path).enter(Invitation("https://study.example", study, "site", bytes(32), bytes(32)))
    assert list(tmp_path.iterdir()) == []


def test_only_tls_unless_asked_otherwise() -> None:
    assert check_url("http://127.0.0.1:1", insecure=True) == "http://127.0.0.1:1"
    for url in ("http://study.example", "ftp://x", "file:///etc/passwd"):
        with pytest.raises(errors.ConfigurationError):
            check_url(url, insecure=False)


def test_a_rehearsal_lists_what_would_leave_and_leaves_no_trace(tmp_path: Path) -> None:
    study = {
        "id": STUDY,
        "variables": [{"name": v.name, "kind": v.kind.value, "levels": list(v.levels)} for v in SCHEMA.values()],
        "datasets": [["A", "C"]],
        "sites": [1, 2, 3],
        "settings": msgspec.to_builtins(Settings()),
    }
    before = CLIENTS[0].record.entries
    ledger = rehearse(CLIENTS[0], study)
    assert ledger.totals()["messages"] >= 2
    assert all(entry.masked_with == 2 for entry in ledger.entries)
    assert CLIENTS[0].record.entries == before
    with pytest.raises(errors.StudyError, match="no schema"):
        rehearse(CLIENTS[0], {**study, "variables": None})
