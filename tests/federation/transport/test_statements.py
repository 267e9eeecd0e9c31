"""What sites state of themselves, as transports carry it and a journal keeps it: no round more, and the same bits after a crash."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from consilience import errors
from consilience.disclosure.statement import Statement
from consilience.federation.transport import JournalEntry, Journalled, ListJournal, RemoteTransport, Transport
from consilience.protocol.messages import KeyAsk, KeyOffer, KeySet
from consilience.settings.choices import Dropout, Isolation, SingleSite
from tests.federation.transport.conformance import CLIENTS, MEMBERS, SCHEMA, federated, local, participants
from tests.federation.transport.test_transports import Crash, CrashingJournal, ListJournalOf, LoopLinks, remote

RULES: dict[str, Any] = {"min_cell": 5, "on_dropout": Dropout.STOP, "single_site": SingleSite.REFUSE}
STRICT: dict[str, Any] = RULES | {"isolation": Isolation.STRICT}
BOTH = pytest.mark.parametrize("terms", [RULES, STRICT], ids=["aggregate", "strict"])


def made(kind: str, **terms: Any) -> Transport:
    if kind == "local":
        return local(**terms)
    return remote(**terms) if kind == "remote" else Journalled(remote(**terms), ListJournal())


@pytest.mark.parametrize("kind", ["local", "remote", "journalled"])
def test_statements_come_with_the_keys_and_cost_no_round(kind: str) -> None:
    transport = made(kind, **RULES | {"on_dropout": Dropout.RESTART})
    found = transport.statements()
    assert [stated.name for stated in found] == list(transport.names)
    assert [stated.site for stated in found] == list(MEMBERS.values())
    assert all(stated.statement for stated in found)
    assert found == transport.statements()
    assert (transport.rounds, transport.bytes) == (0, 0)
    transport.drop("site2")
    assert [stated.name for stated in transport.statements()] == ["site0", "site1", "site3"]


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("kind", ["remote", "journalled"])
def test_other_transports_give_the_bits_of_the_local_one(terms: dict[str, Any], kind: str) -> None:
    test, wanted = federated(made(kind, **terms), **terms), federated(local(**terms), **terms)
    assert test.test_all(max_given=1).equals(wanted.test_all(max_given=1))
    assert test.rounds == wanted.rounds


@BOTH
def test_a_server_that_is_killed_after_any_round_goes_on_to_the_same_bits(terms: dict[str, Any]) -> None:
    """The sites live on and remember what they stated; the server reads it in its journal, and asks nobody again."""
    undisturbed = federated(remote(**terms), **terms)
    wanted = undisturbed.test_all(max_given=1)
    links, journal = LoopLinks(participants(**terms)), ListJournal()
    for _ in range(undisturbed.rounds):
        journal = CrashingJournal(journal, 0)
        with pytest.raises(Crash):
            federated(Journalled(RemoteTransport(links, MEMBERS, SCHEMA), journal), **terms).test_all(max_given=1)
    entries = list(journal.entries())
    assert [stated.name for stated in entries[0].statements] == list(MEMBERS)
    assert not any(entry.statements for entry in entries[1:])
    nobody = RemoteTransport(LoopLinks([]), MEMBERS, SCHEMA)
    last = federated(Journalled(nobody, ListJournalOf(journal)), **terms)
    assert last.test_all(max_given=1).equals(wanted)
    assert last.rounds == undisturbed.rounds


def test_a_server_that_is_killed_between_statements_and_the_first_round_asks_again() -> None:
    links, journal = LoopLinks(participants(**RULES)), ListJournal()
    first = Journalled(RemoteTransport(links, MEMBERS, SCHEMA), journal).statements()
    assert list(journal.entries()) == []
    assert Journalled(RemoteTransport(links, MEMBERS, SCHEMA), journal).statements() == first


def test_an_entry_of_a_journal_is_read_back_with_its_statements() -> None:
    journal = ListJournal()
    federated(Journalled(remote(**RULES), journal), **RULES).test("A", "B")
    for entry in journal.entries():
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(entry), type=JournalEntry) == entry


def test_a_drop_out_leaves_the_statements_of_the_others() -> None:
    terms = {"min_cell": 5, "on_dropout": Dropout.RESTART}
    links, journal = LoopLinks(participants(**terms)), ListJournal()
    test = federated(Journalled(RemoteTransport(links, MEMBERS, SCHEMA), journal), **terms)
    test.test("A", "B")
    assert test.census is not None
    links.gone.add("site1")
    wanted = test.test("A", "C")
    assert wanted.participants == ("site0", "site2", "site3")
    assert test.census is not None
    assert set(test.census.statements) == {MEMBERS[name] for name in wanted.participants}
    again = federated(Journalled(RemoteTransport(LoopLinks([]), MEMBERS, SCHEMA), journal), **terms)
    again.test("A", "B")
    assert again.test("A", "C") == wanted


@pytest.mark.parametrize("whose", [0, 1], ids=["the first site's, to itself", "another's"])
def test_a_server_that_relays_another_statement_is_found_out(whose: int) -> None:
    """It would make sites leave out other rows than they said; the signature is over the statement."""
    links = LoopLinks(participants(**RULES))
    answer = links.answer

    def forged(participant: Any, message: Any) -> Any:
        if isinstance(message, KeySet):
            keys = list(message.keys)
            keys[whose] = msgspec.structs.replace(keys[whose], statement=Statement(("A",), True, 10).encoded())
            message = KeySet(message.run, tuple(keys))
        return answer(participant, message)

    links.answer = forged  # type: ignore[method-assign]
    with pytest.raises(errors.BadSignatureError):
        federated(RemoteTransport(links, MEMBERS, SCHEMA), **RULES).test("A", "B")


def test_an_offer_that_is_too_long_is_not_read() -> None:
    links = LoopLinks(participants(**RULES))
    answer = links.answer

    def long(participant: Any, message: Any) -> Any:
        reply = answer(participant, message)
        return msgspec.structs.replace(reply, statement=bytes(1 << 17)) if isinstance(message, KeyAsk) else reply

    links.answer = long  # type: ignore[method-assign]
    with pytest.raises(errors.MessageSizeError):
        RemoteTransport(links, MEMBERS, SCHEMA).statements()
    offer = participants()[0].respond(KeyAsk(b"run"))
    assert isinstance(offer, KeyOffer)
    with pytest.raises(errors.KeyFormatError, match="statement"):
        msgspec.structs.replace(offer, statement=bytes((1 << 16) + 1)).signed()


def test_what_the_sites_state_is_of_their_tables() -> None:
    """These have gaps: some rows are left out, and every site says that it lacks values, or is whole after all."""
    test = federated(local(**RULES), **RULES)
    test.test("A", "B")
    assert test.census is not None
    for client in CLIENTS:
        stated = test.census.statements[client.identity.fingerprint]
        assert set(stated.variables) <= set(client.declarations)
        assert stated.rows == 10
