"""The conformance suite on the local transport, on the remote one over links that carry bytes only, and with a journal; and their own ways.

``tests/service/server/test_sockets.py`` runs the suite over real sockets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

import consilience as cs
from consilience import errors
from consilience.federation.site.half import SiteHalf
from consilience.federation.transport import (
    JournalEntry,
    Journalled,
    Links,
    ListJournal,
    LocalTransport,
    Lost,
    RemoteTransport,
    Transport,
)
from consilience.protocol.framing import Assembler, decode, encode, frames
from consilience.protocol.messages import Answer, Entered, KeyAsk, KeyOffer, KeySet, Refused, RunMessage, RunReply
from consilience.protocol.survey import Survey
from consilience.settings.choices import Dropout
from tests.federation.transport.conformance import (
    CLIENTS,
    MEMBERS,
    SCHEMA,
    CarriedConformance,
    TransportConformance,
    federated,
    local,
    participants,
)

to_site = msgspec.msgpack.Decoder(RunMessage)
to_server = msgspec.msgpack.Decoder(RunReply)


class LoopLinks(Links):
    """Participants behind links that carry bytes only. ``broken`` sites answer with what a function makes of their answer."""

    def __init__(self, participants: Sequence[SiteHalf]) -> None:
        self.participants = {p.name: p for p in participants}
        self.broken: dict[str, Callable[[RunReply], RunReply | Lost]] = {}
        self.gone: set[str] = set()
        self.cuts: list[str] = []
        self.gathered = 0

    def gather(self, names: Sequence[str]) -> None:
        self.gathered += 1
        for name in names:
            if name in self.gone:
                raise errors.ClientGoneError(name)

    def call(self, messages: Mapping[str, RunMessage], limit: int) -> dict[str, RunReply | Lost]:
        return {name: self.one(name, message, limit) for name, message in messages.items()}

    def one(self, name: str, message: RunMessage, limit: int) -> RunReply | Lost:
        if name in self.gone:
            return Lost("gone")
        reply: RunReply | Lost = self.answer(self.participants[name], decode(carried(encode(message), 1 << 26), to_site))
        if name in self.broken:
            reply = self.broken[name](reply)
        if isinstance(reply, Lost):
            return reply
        found: RunReply = decode(carried(encode(reply), limit), to_server)
        return found

    def answer(self, participant: SiteHalf, message: Any) -> RunReply:
        try:
            return participant.respond(message)
        except errors.ClientGoneError:
            raise
        except errors.ConsilienceError as error:
            return Refused(type(error).__name__, str(error))

    def cut(self, name: str, why: str) -> None:
        self.cuts.append(name)


def carried(data: bytes, limit: int) -> bytes:
    """Through frames, as on a socket."""
    assembler, whole = Assembler(limit), None
    for frame in frames(data):
        whole = assembler.feed(frame)
    assert whole is not None
    return whole


def remote(**terms: Any) -> Transport:
    return RemoteTransport(LoopLinks(participants(**terms)), MEMBERS, SCHEMA)


class TestLocal(TransportConformance):
    def make(self, **terms: Any) -> Transport:
        return local(**terms)


@pytest.mark.slow
class TestRemote(CarriedConformance):
    def make(self, **terms: Any) -> Transport:
        return remote(**terms)


@pytest.mark.slow
class TestJournalled(CarriedConformance):
    def make(self, **terms: Any) -> Transport:
        return Journalled(remote(**terms), ListJournal())


def links_of(**terms: Any) -> tuple[LoopLinks, RemoteTransport]:
    links = LoopLinks(participants(**terms))
    return links, RemoteTransport(links, MEMBERS, SCHEMA)


@pytest.mark.slow
def test_a_site_that_is_lost_and_back_costs_a_run_and_no_bit() -> None:
    wanted = federated(local()).test_all(max_given=1)
    for at in range(1, 9):
        links, transport = links_of()
        left = [at]

        def once(reply: RunReply, left: list[int] = left) -> RunReply | Lost:
            left[0] -= 1
            return Lost("cable") if left[0] == 0 else reply

        links.broken["site1"] = once
        assert federated(transport).test_all(max_given=1).equals(wanted)
        assert links.gathered == 2


def test_a_site_that_is_lost_again_and_again_is_gone() -> None:
    links, transport = links_of()
    links.broken["site2"] = lambda reply: Lost("again") if isinstance(reply, Answer) else reply
    with pytest.raises(errors.ClientGoneError) as caught:
        transport.ask(Survey((("A",),)), [])
    assert caught.value.client == "site2"


@pytest.mark.parametrize(
    "change",
    [
        lambda r: msgspec.structs.replace(r, data=r.data[:-16]),
        lambda r: msgspec.structs.replace(r, data=r.data + bytes(16)),
        lambda r: msgspec.structs.replace(r, round=r.round + 1),
        lambda r: msgspec.structs.replace(r, run=bytes(16)),
        lambda r: Entered(r.run),
    ],
)
def test_an_answer_that_does_not_fit_costs_the_connection(change: Callable[[Any], RunReply]) -> None:
    links, transport = links_of()
    links.broken["site3"] = lambda reply: change(reply) if isinstance(reply, Answer) else reply
    with pytest.raises(errors.ClientGoneError):
        transport.ask(Survey((("A",),)), [])
    assert set(links.cuts) == {"site3"}


def test_a_key_of_another_identity_stops_the_run() -> None:
    links, transport = links_of()
    other = links.participants["site0"]
    links.broken["site3"] = lambda reply: links.answer(other, KeyAsk(reply.run + b"x")) if isinstance(reply, KeyOffer) else reply
    with pytest.raises(errors.ProtocolError, match="its own identity"):
        transport.ask(Survey((("A",),)), [])


def test_an_answer_longer_than_the_question_allows_is_not_read() -> None:
    links, transport = links_of()
    links.broken["site3"] = lambda r: msgspec.structs.replace(r, data=bytes(1 << 20)) if isinstance(r, Answer) else r
    with pytest.raises(errors.MessageSizeError):
        transport.ask(Survey((("A",),)), [])


class Crash(Exception):
    pass


class CrashingJournal(ListJournal):
    """A journal whose server dies after a number of entries."""

    def __init__(self, past: ListJournal, left: int) -> None:
        super().__init__()
        self._entries = list(past.entries())
        self._left = left

    def append(self, entry: JournalEntry) -> None:
        super().append(entry)
        self._left -= 1
        if self._left < 0:
            raise Crash


def test_a_run_that_crashes_after_any_round_goes_on_to_the_same_bits_and_asks_nothing_twice() -> None:
    """The sites live on, the server begins anew with its journal: in every round once."""
    undisturbed = federated(remote())
    wanted = undisturbed.test_all(max_given=1)
    links = LoopLinks(participants())
    journal: ListJournal = ListJournal()
    asked = []
    answer = links.answer
    links.answer = lambda p, m: (asked.append(m) if p.name == "site0" and not isinstance(m, KeyAsk | KeySet) else None) or answer(p, m)  # type: ignore[func-returns-value,method-assign,assignment]
    for _ in range(undisturbed.rounds):
        journal = CrashingJournal(journal, 0)
        with pytest.raises(Crash):
            federated(Journalled(RemoteTransport(links, MEMBERS, SCHEMA), journal)).test_all(max_given=1)
    last = federated(Journalled(RemoteTransport(links, MEMBERS, SCHEMA), ListJournalOf(journal)))
    assert last.test_all(max_given=1).equals(wanted)
    assert len(asked) == undisturbed.rounds == last.rounds


class ListJournalOf(ListJournal):
    def __init__(self, past: ListJournal) -> None:
        super().__init__()
        self._entries = list(past.entries())


@pytest.mark.slow
def test_a_round_that_was_answered_and_not_written_down_is_asked_again_with_the_same_bits() -> None:
    """The server dies after every other answer, before it has written the answer down."""
    wanted = federated(remote()).test_all(max_given=1)
    links, journal, crashes = LoopLinks(participants()), ListJournal(), 0
    while True:
        transport = RemoteTransport(links, MEMBERS, SCHEMA)
        calls, ask = [0], transport.ask

        def crashing(request: Any, announced: Any, calls: list[int] = calls, ask: Any = ask) -> Any:
            total = ask(request, announced)
            calls[0] += 1
            if calls[0] == 2:
                raise Crash
            return total

        transport.ask = crashing  # type: ignore[method-assign]
        try:
            found = federated(Journalled(transport, journal)).test_all(max_given=1)
        except Crash:
            crashes += 1
        else:
            break
    assert crashes >= 4
    assert found.equals(wanted)


def test_a_journal_of_other_settings_is_not_used() -> None:
    journal = ListJournal()
    federated(Journalled(remote(), journal)).test("A", "B")
    with pytest.raises(errors.JournalError, match="start it anew"):
        federated(Journalled(remote(), journal)).test("A", "C")


def test_a_drop_out_is_in_the_journal_too() -> None:
    links = LoopLinks(participants(on_dropout=Dropout.RESTART))
    journal = ListJournal()
    transport = RemoteTransport(links, MEMBERS, SCHEMA)
    test = federated(Journalled(transport, journal), on_dropout=Dropout.RESTART)
    test.test("A", "B")
    links.gone.add("site1")
    wanted = test.test("A", "C")
    assert wanted.participants == ("site0", "site2", "site3")
    again = federated(Journalled(RemoteTransport(LoopLinks([]), MEMBERS, SCHEMA), journal), on_dropout=Dropout.RESTART)
    again.test("A", "B")
    assert again.test("A", "C") == wanted


def test_numbers_do_not_depend_on_the_order_of_sites() -> None:
    one = federated(LocalTransport(participants())).test_all(max_given=1)
    other = federated(LocalTransport(participants()[::-1])).test_all(max_given=1)
    assert one.equals(other)
    np.testing.assert_array_equal(one["p_value"].to_numpy(), other["p_value"].to_numpy())


def test_a_server_over_a_remote_transport_is_the_server() -> None:
    """The whole discovery, not only the tests."""
    wanted = cs.discover(cs.Server(CLIENTS), max_given=1)
    found = cs.discover(federated(remote()), max_given=1)
    assert found.tests.equals(wanted.tests)
    assert found.pags == wanted.pags
