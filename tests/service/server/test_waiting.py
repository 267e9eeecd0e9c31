"""Everybody is told whom a study waits for, and sites say whether their tables fit when they connect."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from consilience.protocol.handshake import Checked, Preview, Waiting, verify_preview
from consilience.service.contract import decode_contract
from tests.service.helpers import Hand, closed_with, connected, invited, joined, new_study


def heard(hand: Hand, words: str) -> None:
    """The next word on whom the study waits for, until it is this."""
    while not (isinstance(message := hand.hear(), Waiting) and message.said() == words):
        assert isinstance(message, Waiting | Preview), message


def events(client: TestClient, ada: dict[str, str], study: str, kind: str) -> list[dict[str, Any]]:
    return [event["body"] for event in client.get(f"/api/v1/studies/{study}/log", headers=ada).json() if event["kind"] == kind]


def test_sites_and_owner_hear_who_is_missing_and_why(client: TestClient, ada: dict[str, str]) -> None:
    study = new_study(client, ada)
    one, two = joined(client, ada, study, "one"), joined(client, ada, study, "two")
    invited(client, ada, study, "three")
    client.post(f"/api/v1/studies/{study}/open", headers=ada)
    with connected(client, study) as first:
        first.prove(one)
        shown = first.hear()
        assert isinstance(shown, Preview)
        server = client.app.state.services.identity  # type: ignore[attr-defined]
        verify_preview(shown, study, server.public_bytes)
        contract = decode_contract(shown.contract)
        assert contract.members == ()
        heard(first, "waiting for 1 of 2 sites to connect, 1 more is invited: two (not connected)")
        first.send(Checked(contract.declaration, fits=True))
        with connected(client, study) as second:
            second.prove(two)
            heard(first, "all 2 sites are there, 1 more is invited; the study begins when its owner starts it")
            second.send(Checked(contract.declaration, fits=False))
            heard(first, "waiting for 1 of 2 sites to connect, 1 more is invited: two (its table does not fit)")
        sites = {site["name"]: site["fits"] for site in client.get(f"/api/v1/studies/{study}", headers=ada).json()["sites"]}
        assert sites == {"one": True, "two": False}
        client.post(f"/api/v1/studies/{study}/start", headers=ada)
        heard_at = [body["words"] for body in events(client, ada, study, "waiting")]
        assert heard_at[-1] == "waiting for 2 of 2 sites to agree: one (it has not agreed yet), two (its table does not fit)"
    assert events(client, ada, study, "checked") == [{"site": "one", "fits": True}, {"site": "two", "fits": False}]


def test_a_draft_is_shown_when_it_is_opened_and_not_before(client: TestClient, ada: dict[str, str]) -> None:
    """A draft can be changed, and each change would be another question to the table."""
    study = new_study(client, ada)
    one = joined(client, ada, study, "one")
    with connected(client, study) as hand:
        hand.prove(one)
        client.post(f"/api/v1/studies/{study}/open", headers=ada)
        assert isinstance(hand.hear(), Waiting | Preview)
        assert isinstance(hand.hear(), Waiting | Preview)
    assert events(client, ada, study, "checked") == []


def test_an_answer_to_what_was_not_shown_ends_the_connection(client: TestClient, ada: dict[str, str]) -> None:
    study = new_study(client, ada)
    one = joined(client, ada, study, "one")
    client.post(f"/api/v1/studies/{study}/open", headers=ada)
    with connected(client, study) as hand:
        hand.prove(one)
        hand.send(Checked(bytes(32), fits=True))
        assert closed_with(hand) == 4400
    assert client.get(f"/api/v1/studies/{study}", headers=ada).json()["sites"][0]["fits"] is None
