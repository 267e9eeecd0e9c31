"""The agent's side without a network: what it consents to, what it refuses, what it remembers on disk."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Close

import consilience as cs
from consilience import errors
from consilience.citest.question import Question
from consilience.citest.requests import Evaluate, Products, Survey
from consilience.federation.ledger import Ledger
from consilience.federation.memory import Closed, Points, Present, Units
from consilience.federation.messages import Announced, RoundRequest
from consilience.federation.wire import Answer, Entered, KeyAsk, KeyOffer, KeySet, Refused, Round
from consilience.secagg import Identity, Roster
from consilience.secagg.identity import is_signed_by
from consilience.service.agent import Agent, Home, Site, StudyFolder
from consilience.service.agent.entry import check_url
from consilience.service.agent.home import DiskLedger, DiskMemory
from consilience.service.agent.link import FORBIDDEN, MOST_REFUSALS, _check_challenge
from consilience.service.agent.rehearsal import rehearse
from consilience.service.config import AgentConfig
from consilience.service.contract import Contract, Member
from consilience.service.invitation import Invitation, read_invitation
from consilience.service.session import Challenge, Consent, Declare, DeclareAsk, Declined, Proposal, Welcome, consent_context
from consilience.service.settings import Settings, VariableSpec, specs_of
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


def test_a_pinned_peer_must_be_there(tmp_path: Path) -> None:
    pins = {"site2": CLIENTS[2].identity.fingerprint_text}
    with pytest.raises(errors.ChangedIdentityError, match="'site2' is pinned"):
        site_in(tmp_path, peers=pins).handle(proposal(changed(members=MEMBERS[:2])))


TWICE = Member("site1", CLIENTS[0].identity.public_bytes)


@pytest.mark.parametrize(
    ("contract", "error"),
    [
        (changed(settings=Settings(min_contributors=1)), errors.WrongTermsError),
        (changed(settings=Settings(min_rows=0)), errors.WrongTermsError),
        (changed(settings=msgspec.convert({"site_effects": "joint"}, Settings)), errors.WrongTermsError),
        (changed(settings=Settings(tiers=(("A",), ("A",)))), errors.WrongTermsError),
        (changed(members=MEMBERS[:1]), errors.WrongRosterError),
        (changed(members=(MEMBERS[0], TWICE)), errors.WrongRosterError),
        (changed(members=(*MEMBERS, MEMBERS[1])), errors.WrongRosterError),
        (changed(settings=Settings(min_contributors=3), members=MEMBERS[:2]), errors.WrongRosterError),
    ],
)
def test_a_contract_that_no_server_may_propose_is_not_even_shown(tmp_path: Path, contract: Contract, error: type[Exception]) -> None:
    def never(_lines: list[str], _warnings: list[str]) -> bool:
        raise AssertionError("nobody may be asked for this")

    with pytest.raises(error, match="Nothing is sent"):
        site_in(tmp_path, never).handle(proposal(contract))
    assert not (tmp_path / "studies" / STUDY / "contract.msgpack").exists()


def test_over_a_network_no_run_is_without_masks() -> None:
    """Even if the contract's checks were passed: a site alone has nobody to mask with."""
    me = CLIENTS[0]
    for terms in (CONTRACT.terms, msgspec.structs.replace(CONTRACT.terms, network=False)):
        participant = me.join(STUDY, SCHEMA, terms, [me.identity.fingerprint], ledger=Ledger())
        key = participant.offer(b"one")
        if terms.network:
            with pytest.raises(errors.WrongRosterError, match="at least 2 sites"):
                participant.enter(b"one", [key])
        else:
            participant.enter(b"one", [key])


def test_what_is_shown_of_a_contract_moves_no_cursor() -> None:
    levels = VariableSpec("C", SCHEMA["C"].kind, ("0\x1b[2J", "1\u202e"))
    lines = changed(name="a\nb", variables=(levels,), members=(Member("s\r", OTHER),)).lines()
    assert all(line.isprintable() for line in lines)
    assert "0\\x1b[2J, 1\\u202e" in lines[1]


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
    (line,) = (tmp_path / "studies" / STUDY / "ledger.jsonl").read_text().splitlines()  # what was told, and only that
    assert "2 variables, in the open: A, C" in json.loads(line)["what"]
    assert json.loads(line)["bytes"] > 0


def test_variables_are_not_told_once_there_is_a_contract(tmp_path: Path) -> None:
    site_in(tmp_path).handle(proposal())
    for site in (site_in(tmp_path), site_in(tmp_path)):
        with pytest.raises(errors.WrongTermsError, match="variables again"):
            site.handle(DeclareAsk())
    assert (tmp_path / "studies" / STUDY / "ledger.jsonl").read_text() == ""


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


@pytest.mark.parametrize("most", [0, None])
def test_conditioning_sets_are_no_larger_than_agreed(tmp_path: Path, most: int | None) -> None:
    clients = mixed_clients(2, columns="ABC")
    schema = cs.Server(clients).schema
    members = tuple(Member(c.name, c.identity.public_bytes) for c in clients)
    contract = Contract(STUDY, "trial", specs_of(schema), (("A", "B", "C"),), Settings(max_given=most), members)
    sites = [Site(c, folder_of(tmp_path / c.name, c.name), yes) for c in clients]
    for site in sites:
        site.handle(proposal(contract))
    digest = run_of(sites, b"one")
    assert isinstance(ask(sites[0], b"one", digest, 0, Survey((("A", "B"),))), Answer)
    counts = (Announced(("A", "B", "C"), 2, 80),)
    bodies = (Survey((("A",), ("A", "B", "C"))), Products((("A", "B", "C"),), {}), Products((), {}, alone=(Question("A", "B", ("C",)),)))
    for number, body in enumerate(bodies, start=1):
        reply = ask(sites[0], b"one", digest, number, body, counts)
        told = isinstance(reply, Refused) and reply.error == "WrongTermsError" and "at most 0 variables" in reply.message
        assert told == (most == 0)


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


def test_names_in_the_ledger_end_no_line(tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"
    DiskLedger(file).add("s", "r", 0, "sums of A\u2028B\x85\x1b[2J", 1, 16, masked_with=2, refused="got 'x\u2029'")
    assert file.read_bytes().isascii()
    (entry,) = DiskLedger(file).entries
    assert entry.what == "sums of A\\u2028B\\x85\\x1b[2J"
    assert entry.refused == "got 'x\\u2029'"
    file.write_bytes(file.read_bytes() + json.dumps(msgspec.to_builtins(entry) | {"what": "a\u2028b"}, ensure_ascii=False).encode() + b"\n")
    assert [e.what for e in DiskLedger(file).entries][1:] == ["a\u2028b"]  # as former versions wrote it


def test_damage_that_is_not_at_the_end_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"
    for number in range(3):
        DiskLedger(file).add("s", "r", number, "sums", 1, 16, masked_with=2)
    lines = file.read_bytes().splitlines(keepends=True)
    for bad in (b'{"time": "torn', lines[1][:-5] + b"\n", b"\n", b"\xff\n", b'{"time": 1}\n'):
        whole = lines[0] + bad + lines[2]
        file.write_bytes(whole)
        with pytest.raises(errors.RecordsError, match="line 2 is damaged"):
            DiskLedger(file)
        assert file.read_bytes() == whole
    file = tmp_path / "memory.log"
    sizes = [0]
    for record in (Present((b"a", b"b")), Points((b"p",), (b"a", b"b")), Closed()):
        DiskMemory(file).take(record)
        sizes.append(file.stat().st_size)
    data = file.read_bytes()
    for size in (0, 5, 200, 2**31):  # a length that reaches beyond the end is not a torn end: whole records follow
        whole = data[: sizes[1]] + size.to_bytes(4, "big") + data[sizes[1] + 4 :]
        file.write_bytes(whole)
        with pytest.raises(errors.RecordsError, match=f"byte {sizes[1]} is damaged"):
            DiskMemory(file)
        assert file.read_bytes() == whole
    file.write_bytes(data[: sizes[2]] + (200).to_bytes(4, "big") + data[sizes[2] + 4 :])  # the last is whole, its length is not: not torn
    with pytest.raises(errors.RecordsError, match=f"byte {sizes[2]} is damaged"):
        DiskMemory(file)


@pytest.mark.parametrize("kind", [DiskLedger, DiskMemory])
def test_a_full_disk_leaves_no_half_record_and_ends_the_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[DiskLedger | DiskMemory]
) -> None:
    def add(to: DiskLedger | DiskMemory) -> None:
        to.add("s", "r", 0, "sums", 1, 16, masked_with=2) if isinstance(to, DiskLedger) else to.take(Present((b"a", b"b")))

    file = tmp_path / "file"
    kept = kind(file)
    add(kept)
    before, write = file.read_bytes(), os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) > 7:
            return write(descriptor, data[: len(data) - 7])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(errors.RecordsError, match="No space left"):
            add(kept)
    assert file.read_bytes() == before
    with pytest.raises(errors.RecordsError, match="Start this site again"):
        add(kept)
    assert file.read_bytes() == before
    add(kind(file))
    assert len(file.read_bytes()) > len(before)


def test_a_site_that_cannot_write_its_ledger_stops_without_a_word_to_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sites = [site_in(tmp_path / str(i), which=i) for i in range(3)]
    for site in sites:
        site.handle(proposal())
    digest = run_of(sites, b"one")

    def full(_descriptor: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(errors.RecordsError):
        ask(sites[0], b"one", digest, 0, Survey((("A",),)))


def test_memory_is_read_back_and_survives_a_torn_end(tmp_path: Path) -> None:
    file = tmp_path / "memory.log"
    memory = DiskMemory(file)
    memory.take(Present((b"a", b"b")))
    memory.take(Points((b"p",), (b"a", b"b")))
    memory.take(Units({"A": 8}))
    whole = file.read_bytes()
    memory.take(Points((b"q", b"r"), (b"a", b"b")))
    more = file.read_bytes()
    for cut in range(len(whole) + 1, len(more)):
        file.write_bytes(more[:cut])
        again = DiskMemory(file)
    assert (again.present, again.answered, again.exponents, again.closed) == ({b"a", b"b"}, {b"p": {b"a", b"b"}}, {"A": 8}, False)
    again.take(Closed())
    assert DiskMemory(file).closed


def test_a_study_is_not_joined_again_elsewhere_or_as_another(tmp_path: Path) -> None:
    first = Invitation("https://study.example", STUDY, "site0", bytes(32), SERVER.public_bytes)
    kept = Home(tmp_path).enter(first).path / "study.json"
    before = kept.read_bytes()
    Home(tmp_path).enter(first)
    for url, site, server in (
        ("https://other.example", "site0", SERVER.public_bytes),
        ("https://study.example", "site1", SERVER.public_bytes),
        ("https://study.example", "site0", OTHER),
    ):
        with pytest.raises(errors.ChangedIdentityError, match="another --home"):
            Home(tmp_path).enter(Invitation(url, STUDY, site, bytes(32), server))
        assert kept.read_bytes() == before


@pytest.mark.parametrize("time", [-1, 2**41, 2**64])
def test_the_time_of_a_challenge_is_one(time: int) -> None:
    good = Challenge(bytes(32), bytes(32), 1_800_000_000, bytes(64))
    assert _check_challenge(good) is good
    with pytest.raises(errors.ProtocolError, match="seconds from 0"):
        _check_challenge(msgspec.structs.replace(good, time=time))


class _Refusing:
    """A connection on which the challenge goes well, and the proof is refused, before or after a welcome."""

    def __init__(self, *, welcome: bool) -> None:
        self.first = [Welcome("site0", STUDY, "trial", "open")] if welcome else []

    async def __aenter__(self) -> _Refusing:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    def next(self) -> Any:
        if self.first:
            return self.first.pop()
        raise ConnectionClosedError(Close(FORBIDDEN, "no\x1b"), None)


@pytest.mark.slow
@pytest.mark.parametrize("welcome", [False, True])
def test_a_site_whose_proof_is_refused_stops_after_five_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, welcome: bool) -> None:
    said: list[str] = []
    agent = Agent(folder_of(tmp_path).joined, CLIENTS[0].identity, AgentConfig(backoff_seconds=0.001), said.append)

    async def fine(_socket: Any) -> None:
        pass

    async def receive(socket: _Refusing, _assembler: Any) -> Any:
        return socket.next()

    monkeypatch.setattr(agent, "_connect", lambda: _Refusing(welcome=welcome))
    monkeypatch.setattr(agent, "_open", fine)
    monkeypatch.setattr(agent, "_receive", receive)

    async def run() -> None:
        await asyncio.wait_for(agent.run(site_in(tmp_path)), 1.0 if welcome else 30.0)

    with pytest.raises(TimeoutError if welcome else errors.AccessError):
        asyncio.run(run())
    assert len(said) >= MOST_REFUSALS if welcome else len(said) == MOST_REFUSALS - 1
    assert all(line.isprintable() for line in said)


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
