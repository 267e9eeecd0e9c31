"""The life of a study over REST, and what cannot be asked for."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from consilience.protocol.handshake import Closing, Consent, Declare, DeclareAsk, DeclaredVariable, Declined, Proposal, Welcome
from consilience.service.contract import Contract, decode_contract
from consilience.service.errors import LifeCycleError
from consilience.service.server.actions import contract_of
from consilience.service.store import SiteRow, StudyRow
from tests.service.helpers import STUDY, bearer, closed_with, connected, invited, joined, new_study, serving


def test_from_draft_to_cancelled(client: TestClient, ada: dict[str, str]) -> None:
    study = new_study(client, ada)
    base = f"/api/v1/studies/{study}"
    assert client.put(base, json={**STUDY, "name": "renamed"}, headers=ada).json()["name"] == "renamed"
    assert client.post(f"{base}/start", headers=ada).status_code == 409
    assert client.post(f"{base}/open", headers=ada).json()["state"] == "open"
    assert client.put(base, json=STUDY, headers=ada).status_code == 409
    reply = client.post(f"{base}/start", headers=ada)
    assert (reply.status_code, reply.json()["error"]) == (409, "TooFewClientsError")
    joined(client, ada, study, "one")
    joined(client, ada, study, "two")
    assert [s["name"] for s in client.get(base, headers=ada).json()["sites"]] == ["one", "two"]
    assert client.delete(f"{base}/sites/two", headers=ada).status_code == 204
    joined(client, ada, study, "two")
    assert client.post(f"{base}/start", headers=ada).json()["state"] == "running"
    assert client.post(f"{base}/invitations", json={"site": "three"}, headers=ada).status_code == 409
    assert client.delete(f"{base}/sites/two", headers=ada).status_code == 409
    assert client.delete(base, headers=ada).status_code == 409
    assert client.get(f"{base}/documents/result.json", headers=ada).status_code == 404
    assert client.post(f"{base}/cancel", headers=ada).json()["state"] == "cancelled"
    assert client.post(f"{base}/cancel", headers=ada).status_code == 409
    kinds = [event["kind"] for event in client.get(f"{base}/log", headers=ada).json()]
    assert [kind for kind in kinds if kind != "waiting"][:3] == ["created", "opened", "joined"]
    assert "cancelled" in kinds
    assert client.delete(base, headers=ada).status_code == 200
    assert client.get(base, headers=ada).status_code == 404


def test_who_joins_or_leaves_while_a_study_starts_is_in_it_or_not(
    client: TestClient, ada: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the contract is made, another thread removes a site: it waits, and comes too late."""
    study = new_study(client, ada)
    for name in ("one", "two", "three"):
        joined(client, ada, study, name)
    client.post(f"/api/v1/studies/{study}/open", headers=ada)
    store = client.app.state.services.store  # type: ignore[attr-defined]
    outcome: list[object] = []

    def remove() -> None:
        try:
            outcome.append(store.studies.remove_site(study, "three"))
        except LifeCycleError as error:
            outcome.append(error)

    thread = threading.Thread(target=remove)

    def slow(row: StudyRow, sites: list[SiteRow]) -> Contract:
        thread.start()
        thread.join(0.2)
        return contract_of(row, sites)

    monkeypatch.setattr("consilience.service.server.actions.contract_of", slow)
    assert client.post(f"/api/v1/studies/{study}/start", headers=ada).status_code == 200
    thread.join(10)
    assert isinstance(outcome[0], LifeCycleError)
    row = store.studies.get(study)
    assert [m.name for m in row.contract.members] == [s.name for s in store.studies.sites(study)] == ["one", "three", "two"]


NAMES = [f"V{i}" for i in range(20)]
WIDE: dict[str, Any] = {"variables": [{"name": name, "kind": "continuous"} for name in NAMES], "datasets": [NAMES]}


def test_all_tests_at_once_where_they_are_few(client: TestClient, ada: dict[str, str]) -> None:
    new_study(client, ada, **WIDE, settings={"batching": "all", "max_given": 2})
    new_study(client, ada, **WIDE, settings={"batching": "levels"})


WRONG: list[dict[str, Any]] = [
    {"settings": {"site_effects": "joint"}},
    {"settings": {"alpha": 1.0}},
    {"settings": {"min_contributors": 1}},
    {"settings": {"engine": "guess"}},
    {"settings": {"engine": "iod", "resolve": "optimal"}},
    {"settings": {"tiers": [["A"], ["A"]]}},
    {"settings": {"required": ["A => Z"]}},
    {"settings": {"unknown": 1}},
    {"variables": None},
    {"datasets": [["A", "Z"]]},
    {"datasets": [["A"]]},
    {"datasets": []},
    {"variables": [{"name": "A", "kind": "continuous"}, {"name": "A", "kind": "continuous"}]},
    {"variables": [{"name": "A", "kind": "continuous"}, {"name": "C", "kind": "ordinal"}]},
    {"variables": [{"name": "A", "kind": "continuous"}, {"name": "C", "kind": "binary", "levels": ["a", "b", "c"]}]},
    {"name": ""},
    {"name": "two\nlines"},
    {"variables": [{"name": "A", "kind": "continuous"}, {"name": "C", "kind": "binary", "levels": ["0", "1\nmin_rows: 1000"]}]},
    {"variables": [{"name": "A", "kind": "continuous"}, {"name": "C", "kind": "binary", "levels": ["0", "\u202e1"]}]},
    {"variables": [{"name": "A\r", "kind": "continuous"}], "datasets": [["A\r"]]},
    {"variables": None, "datasets": None, "settings": {"tiers": [["A"], ["B\nmin_rows: 1000"]]}},
    {"variables": None, "datasets": None, "settings": {"required": ["A => B\x1b[2K"]}},
    {**WIDE, "settings": {"batching": "all"}},
    {**WIDE, "settings": {"batching": "all", "max_given": 6}},
]


@pytest.mark.parametrize("change", WRONG, ids=range(len(WRONG)))
def test_what_makes_no_sense_is_refused_with_the_way_out(client: TestClient, ada: dict[str, str], change: dict[str, Any]) -> None:
    reply = client.post("/api/v1/studies", json={**STUDY, **change}, headers=ada)
    assert reply.status_code == 422, reply.text
    assert client.get("/api/v1/studies", headers=ada).json() == []


def test_joint_effects_need_to_be_meant(client: TestClient, ada: dict[str, str]) -> None:
    study = new_study(client, ada, settings={"site_effects": "joint", "allow_joint": True})
    assert client.get(f"/api/v1/studies/{study}", headers=ada).json()["settings"]["site_effects"] == "joint"


@pytest.mark.slow
def test_over_a_network_a_drop_out_stops_the_study_by_default(client: TestClient, ada: dict[str, str]) -> None:
    study = new_study(client, ada)
    assert client.get(f"/api/v1/studies/{study}", headers=ada).json()["settings"]["on_dropout"] == "stop"


def test_a_site_is_asked_for_its_variables_only_where_none_are_declared(client: TestClient, ada: dict[str, str]) -> None:
    study = new_study(client, ada, variables=None, datasets=None)
    one, two = joined(client, ada, study, "one"), joined(client, ada, study, "two")
    client.post(f"/api/v1/studies/{study}/open", headers=ada)
    told = {"one": ("A", "B"), "two": ("B", "C")}
    for identity, names in ((one, told["one"]), (two, told["two"])):
        with connected(client, study) as hand:
            assert isinstance(hand.prove(identity), Welcome)
            assert isinstance(hand.receive(), DeclareAsk)
            hand.send(Declare(tuple(DeclaredVariable(n, "continuous", (), False, False, "", "") for n in names)))
            while not _site(client, ada, study, identity.fingerprint_text)["declared"]:
                pass
    with connected(client, study) as hand:
        hand.prove(one)
        hand.receive()
        assert client.post(f"/api/v1/studies/{study}/start", headers=ada).status_code == 200
        proposal = hand.receive()
        assert isinstance(proposal, Proposal)
        contract = decode_contract(proposal.contract)
        assert contract.datasets == (("A", "B"), ("B", "C"))
        assert contract.queried
        hand.send(Declined("no"))
        while not _site(client, ada, study, one.fingerprint_text)["declined"]:
            pass
    assert client.get(f"/api/v1/studies/{study}", headers=ada).json()["state"] == "running", "it waits for another answer"
    with connected(client, study) as hand:  # who comes later is asked at once
        hand.prove(two)
        assert isinstance(hand.receive(), Proposal)


def test_a_site_that_tells_nothing_leaves_the_study_open_and_its_owner_is_told(client: TestClient, ada: dict[str, str]) -> None:
    study = new_study(client, ada, variables=None, datasets=None)
    one = joined(client, ada, study, "one")
    client.post(f"/api/v1/studies/{study}/open", headers=ada)
    with connected(client, study) as hand:
        hand.prove(one)
        assert isinstance(hand.receive(), DeclareAsk)
        hand.send(Declined("The site's owner does not tell its variables."))
        while not (found := [e for e in client.get(f"/api/v1/studies/{study}/log", headers=ada).json() if e["kind"] == "declined"]):
            pass
    assert found[0]["body"] == {"site": "one", "reason": "The site's owner does not tell its variables."}
    assert client.get(f"/api/v1/studies/{study}", headers=ada).json()["state"] == "open"


def _site(client: TestClient, ada: dict[str, str], study: str, fingerprint: str) -> dict[str, Any]:
    sites = client.get(f"/api/v1/studies/{study}", headers=ada).json()["sites"]
    found: dict[str, Any] = next(s for s in sites if s["fingerprint"] == fingerprint)
    return found


@pytest.mark.parametrize(
    "wrong",
    [
        (DeclaredVariable("A", "strange", (), False, False, "", ""),),
        (DeclaredVariable("A", "ordinal", (), False, False, "", ""),),
        (DeclaredVariable("A", "continuous", (), False, False, "", ""),) * 2,
        tuple(DeclaredVariable(f"V{i}", "continuous", (), False, False, "", "") for i in range(65)),
        (),
    ],
)
def test_declarations_that_make_no_sense_end_the_connection(
    client: TestClient, ada: dict[str, str], wrong: tuple[DeclaredVariable, ...]
) -> None:
    study = new_study(client, ada, variables=None, datasets=None)
    one = joined(client, ada, study, "one")
    with connected(client, study) as hand:
        hand.prove(one)
        hand.receive()
        hand.send(Declare(wrong))
        assert closed_with(hand) == 4400


def test_a_declaration_is_not_taken_where_the_schema_is_fixed(client: TestClient, ada: dict[str, str]) -> None:
    study = new_study(client, ada)
    one = joined(client, ada, study, "one")
    with connected(client, study) as hand:
        hand.prove(one)
        hand.send(Declare((DeclaredVariable("A", "continuous", (), False, False, "", ""),)))
        assert closed_with(hand) == 4400


@pytest.mark.parametrize("name", ["../x", "", "a" * 65, "semi;colon", "new\nline", " leading"])
def test_names_of_sites_are_plain(client: TestClient, ada: dict[str, str], name: str) -> None:
    study = new_study(client, ada)
    assert client.post(f"/api/v1/studies/{study}/invitations", json={"site": name}, headers=ada).status_code == 422


def test_a_name_is_taken_once(client: TestClient, ada: dict[str, str]) -> None:
    study = new_study(client, ada)
    joined(client, ada, study, "one")
    assert client.post(f"/api/v1/studies/{study}/invitations", json={"site": "one"}, headers=ada).status_code == 403
    assert invited(client, ada, study, "two").site == "two"


def test_a_deleted_study_is_over_for_its_sites(client: TestClient, ada: dict[str, str]) -> None:
    study = new_study(client, ada)
    one = joined(client, ada, study, "one")
    with connected(client, study) as hand:
        assert isinstance(hand.prove(one), Welcome)
        assert client.delete(f"/api/v1/studies/{study}", headers=ada).status_code == 200
        closing = hand.receive()
        assert isinstance(closing, Closing)
        assert closing.message == "deleted by its owner"
        hand.send(Consent(bytes(32), bytes(64)))
        assert closed_with(hand) == 4400
    assert client.get("/health").status_code == 200


def _ended(client: TestClient, ada: dict[str, str], study: str) -> dict[str, Any]:
    end = time.monotonic() + 10.0
    while True:
        found: dict[str, Any] = client.get(f"/api/v1/studies/{study}", headers=ada).json()
        if found["state"] != "running" or time.monotonic() > end:
            return found
        time.sleep(0.02)


@pytest.mark.slow
def test_a_study_that_waits_for_consent_takes_no_turn(tmp_path: Path) -> None:
    with serving(tmp_path, max_runs=1) as client:
        ada = bearer(client)
        waiting, declined, late = (
            new_study(client, ada, settings={"consent_seconds": seconds, "on_dropout": way})
            for seconds, way in ((600, "stop"), (600, "stop"), (1, "restart"))
        )
        identities = {}
        for study in (waiting, declined, late):
            for name in ("one", "two"):
                identities[study, name] = joined(client, ada, study, name)
            client.post(f"/api/v1/studies/{study}/open", headers=ada)
            assert client.post(f"/api/v1/studies/{study}/start", headers=ada).status_code == 200
        with connected(client, declined) as hand:
            assert isinstance(hand.prove(identities[declined, "one"]), Welcome)
            assert isinstance(hand.receive(), Proposal)
            hand.send(Declined("no"))
        over = _ended(client, ada, late)
        assert over["state"] == "failed"
        assert "Not all sites have agreed in time: 'one' (no answer), 'two' (no answer) had not." in over["message"]
        assert client.get(f"/api/v1/studies/{declined}", headers=ada).json()["state"] == "running"
        assert client.get(f"/api/v1/studies/{waiting}", headers=ada).json()["state"] == "running"
        assert client.post(f"/api/v1/studies/{waiting}/cancel", headers=ada).json()["state"] == "cancelled"
        other = new_study(client, ada)
        for name in ("one", "two"):
            joined(client, ada, other, name)
        client.post(f"/api/v1/studies/{other}/open", headers=ada)
        assert client.post(f"/api/v1/studies/{other}/start", headers=ada).status_code == 200
    with serving(tmp_path, max_runs=1) as client:  # stopped and started again while it waits
        assert client.get(f"/api/v1/studies/{other}", headers=bearer(client)).json()["state"] == "running"
