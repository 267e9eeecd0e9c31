"""What a site keeps on disk: its ledger, its memory, its identity; torn ends, full disks and starting again."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

import msgspec
import pytest

from consilience import errors
from consilience.protocol.evaluate import Evaluate
from consilience.protocol.handshake import Consent
from consilience.protocol.history import Closed, Points, Present, Units
from consilience.protocol.messages import Announced, Answer, KeyAsk, KeySet, Refused
from consilience.protocol.survey import Survey
from consilience.secagg import Identity
from consilience.service.agent import Home
from consilience.service.agent.home import DiskHistory, DiskLedger
from consilience.service.invitation import Invitation, read_invitation
from consilience.settings import NetworkSettings
from tests.federation.helpers import LOGIT
from tests.service.agent.sites import (
    CLIENTS,
    OTHER,
    SERVER,
    STUDY,
    ask,
    changed,
    proposal,
    run_of,
    site_in,
)

ME = Identity.generate()


def test_a_site_started_again_remembers_what_it_answered_and_with_whom(tmp_path: Path) -> None:
    """Otherwise a point could be asked for again with one site fewer."""
    restart = changed(settings=msgspec.convert({"on_dropout": "restart"}, NetworkSettings))
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


def test_the_ledger_is_on_disk_line_by_line_and_survives_a_torn_end(tmp_path: Path) -> None:
    sites = [site_in(tmp_path / str(i), which=i) for i in range(3)]
    for site in sites:
        site.handle(proposal())
    digest = run_of(sites, b"one")
    ask(sites[0], b"one", digest, 0, Survey((("A",),)))
    file = tmp_path / "0" / "studies" / STUDY / "ledger.jsonl"
    assert [json.loads(line)["masked_with"] for line in file.read_text().splitlines()] == [0, 2]  # a statement in the open, and a sum
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with file.open("a") as f:
        f.write('{"time": "torn')
    ledger = DiskLedger(file, CLIENTS[0].identity)
    assert ledger.totals()["messages"] == 2
    ledger.add("s", "r", 1, "more", 1, 16, masked_with=2)
    assert [json.loads(line)["what"][:4] for line in file.read_text().splitlines()] == ["in t", "whet", "more"]


def test_names_in_the_ledger_end_no_line(tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"
    DiskLedger(file, ME).add("s", "r", 0, "sums of A\u2028B\x85\x1b[2J", 1, 16, masked_with=2, refused="got 'x\u2029'")
    assert file.read_bytes().isascii()
    (entry,) = DiskLedger(file).entries
    assert entry.what == "sums of A\\u2028B\\x85\\x1b[2J"
    assert entry.refused == "got 'x\\u2029'"
    file.write_bytes(json.dumps(msgspec.to_builtins(entry) | {"what": "a\u2028b"}, ensure_ascii=False).encode() + b"\n")
    assert [e.what for e in DiskLedger(file).entries] == ["a\u2028b"]  # as former versions wrote it


def test_damage_that_is_not_at_the_end_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"
    for number in range(3):
        DiskLedger(file, ME).add("s", "r", number, "sums", 1, 16, masked_with=2)
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
        DiskHistory(file).take(record)
        sizes.append(file.stat().st_size)
    data = file.read_bytes()
    for size in (0, 5, 200, 2**31):  # a length that reaches beyond the end is not a torn end: whole records follow
        whole = data[: sizes[1]] + size.to_bytes(4, "big") + data[sizes[1] + 4 :]
        file.write_bytes(whole)
        with pytest.raises(errors.RecordsError, match=f"byte {sizes[1]} is damaged"):
            DiskHistory(file)
        assert file.read_bytes() == whole
    file.write_bytes(data[: sizes[2]] + (200).to_bytes(4, "big") + data[sizes[2] + 4 :])  # the last is whole, its length is not: not torn
    with pytest.raises(errors.RecordsError, match=f"byte {sizes[2]} is damaged"):
        DiskHistory(file)


@pytest.mark.parametrize("kind", [DiskLedger, DiskHistory])
def test_a_full_disk_leaves_no_half_record_and_ends_the_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[DiskLedger | DiskHistory]
) -> None:
    def add(to: DiskLedger | DiskHistory) -> None:
        to.add("s", "r", 0, "sums", 1, 16, masked_with=2) if isinstance(to, DiskLedger) else to.take(Present((b"a", b"b")))

    def opened() -> DiskLedger | DiskHistory:
        return DiskLedger(file, ME) if kind is DiskLedger else DiskHistory(file)

    file = tmp_path / "file"
    kept = opened()
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
    add(opened())
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
    memory = DiskHistory(file)
    memory.take(Present((b"a", b"b")))
    memory.take(Points((b"p",), (b"a", b"b")))
    memory.take(Units({"A": 8}))
    whole = file.read_bytes()
    memory.take(Points((b"q", b"r"), (b"a", b"b")))
    more = file.read_bytes()
    for cut in range(len(whole) + 1, len(more)):
        file.write_bytes(more[:cut])
        again = DiskHistory(file)
    assert (again.present, again.answered, again.exponents, again.closed) == ({b"a", b"b"}, {b"p": {b"a", b"b"}}, {"A": 8}, False)
    again.take(Closed())
    assert DiskHistory(file).closed


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
