"""Sites that are reached by tasks: the conformance suite of transports, consent before everything, and answers that are not in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from consilience.errors import ConsilienceError, ProtocolError
from consilience.federation.errors import ClientGoneError
from consilience.federation.site.half import SiteHalf
from consilience.federation.transport import RemoteTransport, Transport
from consilience.federation.transport.remote import Lost
from consilience.flare.links import Post, TaskLinks
from consilience.protocol.errors import code_of
from consilience.protocol.framing import decode, encode
from consilience.protocol.handshake import Consent, Declined, Proposal, consent_context, from_server
from consilience.protocol.messages import KeyAsk, Refused
from consilience.protocol.survey import Survey
from consilience.service.contract import Contract, Member, decode_contract
from consilience.service.errors import DeclinedError
from consilience.service.settings import specs_of
from consilience.settings import NetworkSettings
from tests.federation.transport.conformance import CLIENTS, DATASETS, MEMBERS, SCHEMA, CarriedConformance, participants
from tests.flare.trial import SITES, Trial

CONTRACT = Contract(
    "00112233aabbccdd",
    "trial",
    specs_of(SCHEMA),
    tuple(tuple(sorted(held)) for held in dict.fromkeys(DATASETS)),
    NetworkSettings(),
    tuple(Member(client.name, client.identity.public_bytes) for client in CLIENTS),
)


class HalfPost(Post):
    """Bytes to the sites' halves of the conformance suite, which is on terms of its own; each consents to whatever comes."""

    def __init__(self, halves: Sequence[SiteHalf]) -> None:
        self.halves = {half.name: half for half in halves}
        self.identities = {client.name: client.identity for client in CLIENTS}

    def send(self, names: Sequence[str], data: bytes, seconds: float) -> dict[str, bytes | Lost]:
        message = decode(data, from_server)
        return {name: encode(self.reply(name, message)) for name in names}

    def reply(self, name: str, message: Any) -> msgspec.Struct:
        if isinstance(message, Proposal):
            contract = decode_contract(message.contract)
            return Consent(contract.digest, self.identities[name].sign(consent_context(contract.study, contract.digest)))
        try:
            return self.halves[name].respond(message)
        except ConsilienceError as error:
            return Refused(code_of(error), str(error))

    def is_gone(self, name: str) -> bool:
        return False


@pytest.mark.slow
class TestTasks(CarriedConformance):
    def make(self, **terms: Any) -> Transport:
        return RemoteTransport(TaskLinks(HalfPost(participants(**terms)), CONTRACT, lambda _: None), MEMBERS, SCHEMA)


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    found = Trial.at(tmp_path)
    yield found
    found.restart()


def links_of(trial: Trial) -> TaskLinks:
    return TaskLinks(trial, trial.contract, trial.said.append)


def test_consent_is_asked_for_once_in_a_job_and_has_the_sites_signatures(trial: Trial) -> None:
    links = links_of(trial.agree())
    links.gather(SITES)
    links.gather(SITES)
    assert len(trial.messages) == 1
    assert set(links.consents) == set(SITES)


def test_a_site_that_does_not_agree_ends_the_study_with_its_name(trial: Trial) -> None:
    with pytest.raises(DeclinedError, match="'marburg' does not take part: The site's owner does not agree"):
        links_of(trial.agree("mainz", "muenster")).gather(SITES)


def test_a_site_that_is_gone_is_not_waited_for(trial: Trial) -> None:
    trial.gone.add("muenster")
    with pytest.raises(ClientGoneError) as caught:
        links_of(trial.agree()).gather(SITES)
    assert (caught.value.client, trial.messages) == ("muenster", [])


@pytest.mark.parametrize(
    "reply",
    [
        lambda trial: Consent(trial.contract.digest, bytes(64)),
        lambda trial: Consent(bytes(32), bytes(64)),
        lambda _: Refused("RefusalError", "no"),
    ],
)
def test_a_consent_is_signed_by_the_site_itself(trial: Trial, reply: Any) -> None:
    trial.agree().changed["mainz"] = encode(reply(trial))
    with pytest.raises(ProtocolError, match="signature of its own identity"):
        links_of(trial).gather(SITES)


@pytest.mark.parametrize("reply", [b"\xc1", bytes(100_000), Lost("no answer in time")])
def test_what_is_no_message_too_long_or_missing_is_a_loss(trial: Trial, reply: bytes | Lost) -> None:
    links = links_of(trial.agree())
    links.gather(SITES)
    trial.changed["mainz"] = reply
    found = links.call(dict.fromkeys(SITES, KeyAsk(bytes(16))), 10_000)
    assert [isinstance(found[name], Lost) for name in SITES] == [True, False, False]
    if isinstance(reply, bytes):  # and what was not in order is the last that is heard of it
        with pytest.raises(ClientGoneError, match="'mainz'"):
            links.gather(SITES)
    assert any("'mainz'" in words for words in trial.said)


def test_a_site_that_was_late_may_be_asked_again(trial: Trial) -> None:
    links = links_of(trial.agree())
    transport = RemoteTransport(links, trial.contract.fingerprints, trial.contract.schema)
    transport.ask(Survey((("A", "B"),)), [])
    trial.changed["mainz"], once = Lost("no answer in time"), trial.send

    def send(names: Sequence[str], data: bytes, seconds: float) -> dict[str, bytes | Lost]:
        found = once(names, data, seconds)
        trial.changed.clear()
        return found

    trial.send = send  # type: ignore[method-assign]
    assert transport.ask(Survey((("A", "B"),)), [])[:2].tolist() == [3.0, 180.0]


def test_words_of_a_refusal_are_printable_and_short(trial: Trial) -> None:
    trial.agree().changed["mainz"] = encode(Declined("\x1b[31m" + "x" * 5000))
    with pytest.raises(DeclinedError) as caught:
        links_of(trial).gather(SITES)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000
