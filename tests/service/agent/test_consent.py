"""What a site consents to, and what it does not even show to its owner."""

from __future__ import annotations

from pathlib import Path

import msgspec
import polars as pl
import pytest

import consilience as cs
from consilience import errors
from consilience.federation.site.ledger import Ledger
from consilience.protocol.handshake import Consent, DeclareAsk, Declined, Welcome, consent_context
from consilience.protocol.messages import KeyAsk, Refused
from consilience.protocol.states import Standing
from consilience.secagg.identity import is_signed_by
from consilience.service.agent import Site
from consilience.service.contract import Contract, Member
from consilience.service.settings import VariableSpec
from consilience.settings import NetworkSettings
from tests.service.agent.sites import (
    CLIENTS,
    CONTRACT,
    MEMBERS,
    OTHER,
    SCHEMA,
    STUDY,
    changed,
    folder_of,
    proposal,
    proved,
    site_in,
    yes,
)


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

    settings = msgspec.convert({"site_effects": "joint", "allow_joint": True, "on_dropout": "restart"}, NetworkSettings)
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
    assert reply.error == "OutOfTurnError"
    assert (tmp_path / "studies" / STUDY / "ledger.jsonl").read_text() == ""


SWAPPED = (MEMBERS[0], Member("site1", OTHER), MEMBERS[2])


@pytest.mark.parametrize(
    ("contract", "error"),
    [
        (changed(members=SWAPPED), errors.ChangedIdentityError),
        (changed(members=(Member("site0", OTHER), *MEMBERS[1:])), errors.ChangedIdentityError),
        (changed(members=MEMBERS[1:]), errors.ChangedIdentityError),
        (changed(settings=NetworkSettings(min_rows=1)), errors.WrongTermsError),
        (changed(members=MEMBERS[:2], settings=NetworkSettings(min_rows=1)), errors.WrongTermsError),
        (changed(study="ffffffffffffffff"), errors.WrongTermsError),
        (changed(version=1), errors.WrongTermsError),
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
        (changed(settings=NetworkSettings(min_contributors=1)), errors.WrongTermsError),
        (changed(settings=NetworkSettings(min_rows=0)), errors.WrongTermsError),
        (changed(settings=msgspec.convert({"site_effects": "joint"}, NetworkSettings)), errors.WrongTermsError),
        (changed(settings=NetworkSettings(tiers=(("A",), ("A",)))), errors.WrongTermsError),
        (changed(members=MEMBERS[:1]), errors.WrongRosterError),
        (changed(members=(MEMBERS[0], TWICE)), errors.WrongRosterError),
        (changed(members=(*MEMBERS, MEMBERS[1])), errors.WrongRosterError),
        (changed(settings=NetworkSettings(min_contributors=3), members=MEMBERS[:2]), errors.WrongRosterError),
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
    site.state.now = Standing.WELCOMED
    reply = site.handle(proposal())
    assert isinstance(reply, Declined)
    assert "secret" not in reply.reason
    assert "secret" in str(site.failure) or "other" in str(site.failure)


def test_a_welcome_for_somebody_else_ends_the_agent(tmp_path: Path) -> None:
    with pytest.raises(errors.ProtocolError, match="welcomes 'site1'"):
        proved(tmp_path).handle(Welcome("site1", STUDY, "trial", "open"))
    with pytest.raises(errors.ProtocolError, match="no place here"):
        site_in(tmp_path).handle(Welcome("site0", STUDY, "trial", "open"))  # once is enough


def test_variables_are_not_told_once_there_is_a_contract(tmp_path: Path) -> None:
    site_in(tmp_path).handle(proposal())
    for site in (site_in(tmp_path), site_in(tmp_path)):
        with pytest.raises(errors.WrongTermsError, match="variables again"):
            site.handle(DeclareAsk())
    assert (tmp_path / "studies" / STUDY / "ledger.jsonl").read_text() == ""
