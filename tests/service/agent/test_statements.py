"""What an agent's site states of itself, shows its owner before that, and remembers on disk; and keys that are bound to one contract."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import consilience as cs
from consilience.disclosure.statement import decode_statement
from consilience.protocol.messages import KeyAsk, KeyOffer, KeySet, Refused
from consilience.service.agent import Site
from consilience.service.agent.home import DiskHistory
from consilience.settings import NetworkSettings
from tests.service.agent import sites as agents
from tests.service.agent.sites import CLIENTS, SCHEMA, STUDY, changed, proposal, run_of, site_in


def consented(path: Path, names: tuple[int, ...] = (0, 1, 2)) -> list[Site]:
    found = [site_in(path / str(i), which=i) for i in names]
    for site in found:
        site.handle(proposal())
    return found


def test_sites_that_were_given_different_contracts_refuse_each_other_by_name(tmp_path: Path) -> None:
    """On the old code masks cancelled between them, and each thought that the other had agreed to the same."""
    sites = [site_in(tmp_path / str(i), which=i) for i in range(3)]
    other = changed(settings=msgspec.convert({"min_rows": 1}, NetworkSettings))
    for site, contract in zip(sites, (agents.CONTRACT, agents.CONTRACT, other), strict=True):
        site.handle(proposal(contract))
    keys = tuple(site.handle(KeyAsk(b"one")) for site in sites)
    for site, stranger in zip(sites, (2, 2, 0), strict=True):
        reply = site.handle(KeySet(b"one", keys))
        assert isinstance(reply, Refused)
        assert reply.error == "WrongContractError"
        assert CLIENTS[stranger].identity.fingerprint_text in reply.message


def test_keys_are_bound_to_what_was_consented_to(tmp_path: Path) -> None:
    (site,) = consented(tmp_path, (0,))
    offer = site.handle(KeyAsk(b"one"))
    assert isinstance(offer, KeyOffer)
    assert (offer.study, offer.contract) == (STUDY.encode(), agents.CONTRACT.digest)
    assert decode_statement(offer.statement, SCHEMA).variables == ("A", "C")


def test_statements_are_on_disk_before_anything_is_answered(tmp_path: Path) -> None:
    run_of(consented(tmp_path), b"one")
    history = DiskHistory(tmp_path / "0" / "studies" / STUDY / "memory.log")
    assert set(history.stated) == {client.identity.fingerprint for client in CLIENTS}
    run_of(consented(tmp_path), b"two")  # all three started again, with the same tables


@pytest.mark.parametrize("which", [0, 1], ids=["its own", "another's"])
def test_another_statement_is_refused_after_a_restart(tmp_path: Path, which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    run_of(consented(tmp_path), b"one")
    client = CLIENTS[which]
    fewer = cs.Client(client.name, client.frame.head(4), identity=client.identity)
    monkeypatch.setattr(agents, "CLIENTS", [fewer if i == which else c for i, c in enumerate(CLIENTS)])
    if which:  # with another folder: it remembers nothing of what it stated
        (tmp_path / "1" / "studies" / STUDY / "memory.log").unlink()
    sites = consented(tmp_path)
    keys = [site.handle(KeyAsk(b"two")) for site in sites]
    reply = keys[0] if which == 0 else sites[0].handle(KeySet(b"two", tuple(keys)))
    assert isinstance(reply, Refused)
    assert reply.error == "ChangedStatementError"
    assert ("Use the same table" if which == 0 else client.identity.fingerprint_text) in reply.message


def test_an_owner_sees_what_can_be_worked_out_about_the_site(tmp_path: Path) -> None:
    shown = list[str]()
    site_in(tmp_path, lambda lines, _warnings: bool(shown.extend(lines)) or True).handle(proposal())
    text = "\n".join(shown)
    assert "min_cell=5" in text
    assert "sums over all 40 rows that this site contributes may be worked out" in text
    assert "everybody in the study sees that this site contributes A, C" in text


def test_a_site_may_ask_for_more_than_the_study(tmp_path: Path) -> None:
    """Its own least level count counts, in its own table."""
    client = CLIENTS[0]
    counts = client.frame["C"].value_counts().sort("count")
    least = int(counts["count"][0]) + 1
    more = cs.Client(client.name, client.frame, identity=client.identity, min_cell=least)
    half = more.join(STUDY, SCHEMA, agents.CONTRACT.terms, agents.CONTRACT.fingerprints.values())
    assert half.min_cell == least
    kept = half.shielded.table
    assert "C" not in kept.names or kept.complete(["C"]).n < client.frame.drop_nulls("C").height
