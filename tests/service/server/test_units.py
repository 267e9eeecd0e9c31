"""A study's units and ranges over HTTP: sent, kept, given back, in the contract; and what is no unit or range."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from consilience.protocol.handshake import Proposal, Welcome
from consilience.service.contract import decode_contract
from tests.service.helpers import STUDY, connected, joined, new_study

CHOL = {"name": "chol", "kind": "continuous", "unit": "mmol/l", "range": [0.5, 30.0]}
OPEN = {"name": "crp", "kind": "continuous", "unit": "mg/l", "range": [0.0, None]}
SEX = {"name": "sex", "kind": "binary"}


def with_units(*variables: dict[str, Any]) -> dict[str, Any]:
    return {**STUDY, "variables": list(variables), "datasets": [[str(one["name"]) for one in variables]]}


def test_units_and_ranges_come_back_as_they_were_sent(client: TestClient, ada: dict[str, str]) -> None:
    base = f"/api/v1/studies/{new_study(client, ada, **with_units(CHOL, OPEN, SEX))}"
    found = {one["name"]: one for one in client.get(base, headers=ada).json()["variables"]}
    assert {name: (one["unit"], one["range"]) for name, one in found.items()} == {
        "chol": ("mmol/l", [0.5, 30.0]),
        "crp": ("mg/l", [0.0, None]),
        "sex": ("", None),
    }
    changed = client.put(base, json=with_units({**CHOL, "unit": "mg/dl", "range": [20, 1200]}, SEX), headers=ada)
    assert changed.status_code == 200
    assert client.get(base, headers=ada).json()["variables"][0]["unit"] == "mg/dl"


def test_a_site_reads_them_in_the_contract_that_is_proposed(client: TestClient, ada: dict[str, str]) -> None:
    study = new_study(client, ada, **with_units(CHOL, SEX))
    identity, _ = (joined(client, ada, study, name) for name in ("one", "two"))
    assert client.post(f"/api/v1/studies/{study}/open", headers=ada).status_code == 200
    with connected(client, study) as hand:
        assert isinstance(hand.prove(identity), Welcome)
        assert client.post(f"/api/v1/studies/{study}/start", headers=ada).status_code == 200
        proposal = hand.receive()
        assert isinstance(proposal, Proposal)
        variables = decode_contract(proposal.contract).variables
        found = [(one.name, one.unit, one.low, one.high) for one in variables]
        assert found == [("chol", "mmol/l", 0.5, 30.0), ("sex", "", None, None)]


@pytest.mark.parametrize(
    "wrong",
    [
        {**CHOL, "unit": "x" * 41},
        {**CHOL, "unit": "mmol\n/l"},
        {**CHOL, "range": [30.0, 0.5]},
        {**CHOL, "range": [0.5]},
        {**CHOL, "range": "0.5 to 30"},
        {**SEX, "unit": "mmol/l"},
        {**SEX, "range": [0, 1]},
    ],
)
def test_what_is_no_unit_or_range_is_refused_and_nothing_is_kept(client: TestClient, ada: dict[str, str], wrong: dict[str, Any]) -> None:
    reply = client.post("/api/v1/studies", json=with_units(wrong, {"name": "B", "kind": "continuous"}), headers=ada)
    assert reply.status_code == 422, reply.text
    assert client.get("/api/v1/studies", headers=ada).json() == []
