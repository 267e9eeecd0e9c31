"""What sites say they sent, against what the server says it received: from a run with real answers, changed on either side."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import consilience as cs
from consilience.federation.federated import FederatedTest
from consilience.federation.transport import Heard, RemoteTransport
from consilience.service.agent.home import DiskLedger
from consilience.service.reconcile import Comparison, audited
from tests.federation.helpers import mixed_clients
from tests.federation.transport.test_transports import LoopLinks

STUDY = "00112233aabbccdd"
CLIENTS = mixed_clients(3, columns="ABC")
Told = dict[str, Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Told, dict[str, bytes]]:
    """What the server tells, and the ledgers, after a discovery of three sites over links."""
    folder, heard = tmp_path_factory.mktemp("ledgers"), list[Heard]()
    server = cs.Server(CLIENTS)
    schema, terms = server.schema, server.terms
    fingerprints = {c.name: c.identity.fingerprint for c in CLIENTS}
    ledgers = {c.name: DiskLedger(folder / f"{c.name}.jsonl", c.identity) for c in CLIENTS}
    halves = [c.join(STUDY, schema, terms, fingerprints.values(), ledger=ledgers[c.name]) for c in CLIENTS]
    transport = RemoteTransport(LoopLinks(halves), fingerprints, schema, heard=heard.append)
    cs.discover(FederatedTest(schema, terms, server.datasets, transport))
    told = {
        "sites": [{"name": c.name, "identity": c.identity.public_bytes.hex()} for c in CLIENTS],
        "heard": [one._asdict() | {"digest": one.digest.hex()} for one in heard],
    }
    return told, {f"{name}.jsonl": ledger.lines().encode() for name, ledger in ledgers.items()}


def of(found: list[Comparison], site: str) -> Comparison:
    (one,) = (one for one in found if one.site == site)
    return one


def test_what_was_sent_and_received_agrees_to_the_digest(run: tuple[Told, dict[str, bytes]]) -> None:
    told, ledgers = run
    found = audited(STUDY, told, ledgers)
    assert [one.site for one in found] == ["site0", "site1", "site2"]
    for one in found:
        answers = sum(heard["site"] == one.site for heard in told["heard"])
        size = sum(heard["size"] for heard in told["heard"] if heard["site"] == one.site)
        assert answers > 3
        assert not one.differs
        assert not one.open
        assert f"{answers} answers sent and received alike: {size // 16:,} numbers, {size:,} bytes" in one.agrees
        assert "each signed by this site" in one.agrees[0]


def test_a_site_without_a_ledger_is_named(run: tuple[Told, dict[str, bytes]]) -> None:
    told, ledgers = run
    found = audited(STUDY, told, {"site1.jsonl": ledgers["site1.jsonl"]})
    assert not any(one.differs for one in found)
    assert "no ledger was given; the server says that it received" in of(found, "site0").open[0]


def first_of(told: Told, site: str = "site1") -> int:
    return next(i for i, heard in enumerate(told["heard"]) if heard["site"] == site)


def drop_received(told: Told, ledgers: dict[str, bytes]) -> None:
    del told["heard"][first_of(told)]


def change_received(told: Told, ledgers: dict[str, bytes]) -> None:
    told["heard"][first_of(told)]["digest"] = "00" * 32


def resize_received(told: Told, ledgers: dict[str, bytes]) -> None:
    told["heard"][first_of(told)]["size"] += 16


def invent_received(told: Told, ledgers: dict[str, bytes]) -> None:
    told["heard"].append(told["heard"][first_of(told)] | {"round": 4711})


def invent_refusal(told: Told, ledgers: dict[str, bytes]) -> None:
    told["heard"].append(told["heard"][first_of(told)] | {"round": 4711, "size": 0, "digest": "", "refused": "DisclosureError"})


def cut_ledger(told: Told, ledgers: dict[str, bytes]) -> None:
    """The one thing that no chain shows: its last lines are gone."""
    ledgers["site1.jsonl"] = b"".join(ledgers["site1.jsonl"].splitlines(keepends=True)[:-1])


def other_study(told: Told, ledgers: dict[str, bytes]) -> None:
    told["heard"] = [heard for heard in told["heard"] if heard["site"] != "site1"]


CHANGES: dict[str, tuple[Callable[[Told, dict[str, bytes]], None], str]] = {
    "not received": (drop_received, "1 answer sent, and not in the server's record"),
    "other bytes": (change_received, "1 answer received with other bytes than were sent"),
    "other length": (resize_received, "1 answer received with other bytes than were sent"),
    "invented": (invent_received, "1 answer received, and not in the site's ledger"),
    "refusal": (invent_refusal, "refused 1 request that its ledger does not have"),
    "cut": (cut_ledger, "1 answer received, and not in the site's ledger"),
    "silent": (other_study, "answers sent, and not in the server's record"),
}


@pytest.mark.parametrize(("change", "words"), CHANGES.values(), ids=CHANGES)
def test_what_differs_is_said_in_words(
    run: tuple[Told, dict[str, bytes]], change: Callable[[Told, dict[str, bytes]], None], words: str
) -> None:
    told, ledgers = json.loads(json.dumps(run[0])), dict(run[1])
    change(told, ledgers)
    found = audited(STUDY, told, ledgers)
    (said,) = of(found, "site1").differs
    assert words in said
    assert not of(found, "site0").differs


def test_the_last_answer_of_a_run_may_have_been_lost_with_it(run: tuple[Told, dict[str, bytes]]) -> None:
    """A server that is killed has not written down what it had just received. That is said, and is no difference."""
    told, ledgers = json.loads(json.dumps(run[0])), dict(run[1])
    last = max(heard["round"] for heard in told["heard"])
    told["heard"] = [heard for heard in told["heard"] if heard["round"] < last]
    found = audited(STUDY, told, ledgers)
    assert not any(one.differs for one in found)
    assert all("1 answer sent when its run ended" in one.open[0] for one in found)
    told["heard"] = [heard for heard in told["heard"] if heard["round"] < last - 1]
    assert all("2 answers sent, and not in the server's record" in one.differs[0] for one in audited(STUDY, told, ledgers))


def test_a_ledger_that_is_no_evidence_is_not_compared(run: tuple[Told, dict[str, bytes]], tmp_path: Path) -> None:
    told, ledgers = run
    changed = ledgers["site1.jsonl"].replace(b'"masked_with": 2', b'"masked_with": 0', 1)
    stranger = DiskLedger(tmp_path / "x.jsonl", mixed_clients(1)[0].identity)
    stranger.add(STUDY, "run", 0, "sums", 1, 16, masked_with=2)
    old = b"".join(
        json.dumps({k: v for k, v in json.loads(line).items() if k != "previous"}).encode() + b"\n" for line in changed.splitlines()
    )
    files = {"changed": changed, "stranger": stranger.lines().encode(), "old": old, "empty": b"", "text": b"no ledger\n"}
    found = audited(STUDY, told, files | {"a": ledgers["site0.jsonl"], "b": ledgers["site0.jsonl"]})
    assert "line 2 is damaged" in of(found, "changed").differs[0]
    assert "signed by none of site0, site1, site2" in of(found, "stranger").differs[0]
    assert "no signed line" in of(found, "old").differs[0]
    assert "no signed line" in of(found, "empty").differs[0]
    assert "line 1 is damaged" in of(found, "text").differs[0]
    assert "another ledger of site0" in of(found, "b").differs[0]


def test_what_was_told_beside_the_rounds_is_named_and_no_answer(run: tuple[Told, dict[str, bytes]], tmp_path: Path) -> None:
    told, ledgers = run
    file = tmp_path / "ledger.jsonl"
    file.write_bytes(ledgers["site0.jsonl"])
    again = DiskLedger(file, CLIENTS[0].identity)
    again.add(STUDY, told["heard"][0]["run"], 0, "in the open: names", 0, 40, masked_with=0, digest="00" * 32)
    one = of(audited(STUDY, told, {"a": again.lines().encode()}), "site0")
    assert not one.differs
    assert one.agrees[-1] == "also sent, beside the rounds: in the open: names (1 time)"


def test_a_ledger_of_another_study_is_found(run: tuple[Told, dict[str, bytes]]) -> None:
    told, ledgers = run
    found = audited("ffff2233aabbccdd", told, {"site1.jsonl": ledgers["site1.jsonl"]})
    assert "lines of another study: 00112233aabbccdd" in of(found, "site1").differs[0]
