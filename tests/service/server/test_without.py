"""Sites that do not fit or do not agree: the study waits, or goes on without them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from starlette.testclient import TestClient

from consilience.protocol.handshake import Consent, Declined, Proposal, consent_context
from consilience.protocol.messages import KeyAsk
from consilience.secagg import Identity
from consilience.service.contract import Contract, decode_contract
from tests.service.helpers import Hand, closed_with, connected, joined, new_study

NAMES = ("one", "three", "two")


class Study:
    """An open study with three sites, whose ends are moved by hand."""

    def __init__(self, client: TestClient, ada: dict[str, str], stack: ExitStack, **changes: Any) -> None:
        self.client, self.ada, self._stack = client, ada, stack
        self.id = new_study(client, ada, **changes)
        self.keys: dict[str, Identity] = {name: joined(client, ada, self.id, name) for name in NAMES}
        self.do("open")

    def do(self, what: str, body: Any = None) -> Any:
        return self.client.post(f"/api/v1/studies/{self.id}/{what}", headers=self.ada, json=body)

    @property
    def now(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get(f"/api/v1/studies/{self.id}", headers=self.ada).json()
        return found | {"by_name": {site["name"]: site for site in found["sites"]}}

    def until(self, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        end = time.monotonic() + 10.0
        while not true(found := self.now):
            assert time.monotonic() < end, found
            time.sleep(0.01)
        return found

    def connect(self, name: str) -> tuple[Hand, Contract]:
        hand = self._stack.enter_context(connected(self.client, self.id))
        hand.prove(self.keys[name])
        return hand, self.asked(hand)

    @staticmethod
    def asked(hand: Hand) -> Contract:
        message = hand.receive()
        assert isinstance(message, Proposal), message
        return decode_contract(message.contract)

    def agree(self, name: str, hand: Hand, contract: Contract) -> None:
        hand.send(Consent(contract.digest, self.keys[name].sign(consent_context(self.id, contract.digest))))


@pytest.fixture
def study(client: TestClient, ada: dict[str, str]) -> Iterator[Study]:
    with ExitStack() as stack:
        found = Study(client, ada, stack)
        assert found.do("start").status_code == 200
        yield found


def test_a_no_ends_nothing_and_a_yes_after_it_counts(study: Study) -> None:
    one, contract = study.connect("one")
    study.agree("one", one, contract)
    two, _ = study.connect("two")
    two.send(Declined("The site's data do not fit the study's schema."))
    found = study.until(lambda now: bool(now["by_name"]["two"]["declined"]))
    assert found["state"] == "running"
    assert found["by_name"]["one"]["consented"]
    again, same = study.connect("two")
    assert same == contract, "nobody who has agreed need be asked again"
    study.agree("two", again, same)
    found = study.until(lambda now: now["by_name"]["two"]["consented"])
    assert found["by_name"]["two"]["declined"] == ""
    three, _ = study.connect("three")
    study.agree("three", three, contract)
    assert all(isinstance(hand.receive(), KeyAsk) for hand in (one, again, three)), "the run begins"


def test_without_a_site_all_others_are_asked_again(study: Study) -> None:
    one, contract = study.connect("one")
    study.agree("one", one, contract)
    study.until(lambda now: now["by_name"]["one"]["consented"])
    reply = study.do("without", {"site": "two"})
    assert reply.status_code == 200, reply.text
    assert [site["name"] for site in reply.json()["sites"]] == ["one", "three"]
    assert not any(site["consented"] for site in reply.json()["sites"])
    fewer = study.asked(one)
    assert fewer == contract.without("two")
    assert fewer.digest.hex() == reply.json()["contract"]
    three, same = study.connect("three")
    assert same == fewer
    study.agree("three", three, fewer)
    study.until(lambda now: now["by_name"]["three"]["consented"])
    study.agree("one", one, fewer)
    assert all(isinstance(hand.receive(), KeyAsk) for hand in (one, three))
    kinds = [event["kind"] for event in study.client.get(f"/api/v1/studies/{study.id}/log", headers=study.ada).json()]
    assert kinds.count("consented") == 3
    assert "left out" in kinds


def test_a_consent_to_the_contract_of_before_lets_no_run_begin(study: Study) -> None:
    """It may be on its way while the owner goes on without a site."""
    one, contract = study.connect("one")
    study.do("without", {"site": "two"})
    fewer = study.asked(one)
    three, _ = study.connect("three")
    study.agree("three", three, fewer)
    study.until(lambda now: now["by_name"]["three"]["consented"])
    study.agree("one", one, contract)
    assert closed_with(one) == 4400
    assert not study.now["by_name"]["one"]["consented"]


def test_too_late_or_too_few(study: Study) -> None:
    assert study.do("without", {"site": "nobody"}).status_code == 404
    assert study.do("without", {"site": "two"}).status_code == 200
    reply = study.do("without", {"site": "one"})
    assert (reply.status_code, reply.json()["error"]) == (409, "TooFewClientsError")
    assert "Wait for it, or cancel the study" in reply.json()["message"]


def test_once_all_have_agreed_it_is_too_late(client: TestClient, ada: dict[str, str]) -> None:
    with ExitStack() as stack:
        study = Study(client, ada, stack)
        study.do("start")
        for name in NAMES:
            hand, contract = study.connect(name)
            study.agree(name, hand, contract)
        study.until(lambda now: all(site["consented"] for site in now["sites"]))
        reply = study.do("without", {"site": "two"})
        assert (reply.status_code, reply.json()["error"]) == (409, "LifeCycleError")
        assert "has begun" in reply.json()["message"]


def test_before_the_start_a_site_is_removed(client: TestClient, ada: dict[str, str]) -> None:
    with ExitStack() as stack:
        study = Study(client, ada, stack)
        assert study.do("without", {"site": "two"}).json()["state"] == "open"
        assert set(study.now["by_name"]) == {"one", "three"}
