"""A study once more: from its tests, under its contract, or as a copy."""

from __future__ import annotations

import time
from typing import Any

import pytest
from starlette.testclient import TestClient

from consilience.citest.question import Question, all_questions
from consilience.federation.transport import Heard
from consilience.service.contract import Contract
from consilience.service.server.actions import contract_of
from consilience.service.store import State, Store
from tests.service.helpers import joined, new_study

VARIABLES = [{"name": name, "kind": "continuous"} for name in "ABC"]


def store_of(client: TestClient) -> Store:
    found = client.app.state.services.store  # type: ignore[attr-defined]
    assert isinstance(found, Store)
    return found


def over(client: TestClient, ada: dict[str, str], tests: list[Question], state: State = State.FAILED, **settings: Any) -> str:
    """A study with two sites that is over, and of which these tests were made: what depends on B does."""
    study = new_study(client, ada, variables=VARIABLES, datasets=[["A", "B", "C"]], settings=settings)
    for name in ("one", "two"):
        joined(client, ada, study, name)
    store = store_of(client)
    row = store.studies.get(study)
    assert row is not None
    contract: Contract = contract_of(row, store.studies.sites(study))
    store.studies.move(study, [State.DRAFT], State.RUNNING, contract=contract)
    for site in contract.fingerprints:
        store.studies.consent(study, site, bytes(64))
    results = [q.result(0.001 if "B" in (q.x, q.y) else 0.02, n=100, contributors=2) for q in tests]
    store.runs.add_results(study, results, {})
    store.runs.hear(study, [Heard(site, "run", 0, 160, bytes(32)) for site in contract.fingerprints])
    store.runs.keep_withheld(study, ["One site sat out."])
    store.studies.move(study, [State.RUNNING], state, "one is gone")
    return study


def ended(client: TestClient, ada: dict[str, str], study: str) -> dict[str, Any]:
    end = time.monotonic() + 60.0  # a worker process begins first
    while (found := client.get(f"/api/v1/studies/{study}", headers=ada).json())["state"] == "running" and time.monotonic() < end:
        time.sleep(0.02)
    return dict(found)


def rerun(client: TestClient, ada: dict[str, str], study: str, **settings: Any) -> dict[str, Any]:
    reply = client.post(f"/api/v1/studies/{study}/rerun", headers=ada, json={"settings": settings})
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


ALL = list(all_questions(["A", "B", "C"], None))


def test_all_tests_are_there_so_nobody_is_asked(client: TestClient, ada: dict[str, str]) -> None:
    """Not even the sites' connections are waited for: the study failed, and finishes."""
    study = over(client, ada, ALL)
    found = rerun(client, ada, study)
    assert (found["how"], found["study"]["id"]) == ("run", study)
    assert ended(client, ada, study)["state"] == "finished"
    result = client.get(f"/api/v1/studies/{study}/documents/result.json", headers=ada).json()
    assert result["withheld"] == ["One site sat out."]
    assert len(result["tests"]) <= len(ALL)


def test_another_level_is_another_study_from_the_same_tests(client: TestClient, ada: dict[str, str]) -> None:
    study = over(client, ada, ALL)
    found = rerun(client, ada, study, alpha=0.01)
    assert found["how"] == "decided"
    assert found["study"]["origin"] == study
    other = ended(client, ada, found["study"]["id"])
    assert (other["state"], other["sites"], other["name"]) == ("finished", [], "trial (alpha 0.01)")
    result = client.get(f"/api/v1/studies/{other['id']}/documents/result.json", headers=ada).json()
    assert result["alpha"] == 0.01
    assert result["study"]["sites"] == ["one", "two"]
    assert result["study"]["origin"] == study
    assert result["withheld"] == ["One site sat out."]
    assert [(one["site"], one["messages"], one["numbers"]) for one in result["disclosed"]] == [("one", 1, 10), ("two", 1, 10)]
    assert client.get(f"/api/v1/studies/{study}", headers=ada).json()["state"] == "failed", "it stays as it was"


def test_other_knowledge_is_a_decision_too(client: TestClient, ada: dict[str, str]) -> None:
    found = rerun(client, ada, over(client, ada, ALL, State.FINISHED), tiers=[["A"], ["B", "C"]])
    assert found["how"] == "decided"
    assert ended(client, ada, found["study"]["id"])["state"] == "finished"


def test_tests_that_are_missing_make_it_a_copy(client: TestClient, ada: dict[str, str]) -> None:
    """At 0.05 all pairs depend; at 0.01 one does not, and its neighbours are looked at, which nobody has done."""
    pairs = [q for q in ALL if not q.given]
    found = rerun(client, ada, over(client, ada, pairs), alpha=0.01)
    copied = ended(client, ada, found["study"]["id"])
    assert copied["state"] == "draft"
    assert "tests that were not made" in copied["message"]
    assert (copied["settings"]["alpha"], copied["tests"]) == (0.01, 0)
    assert client.post(f"/api/v1/studies/{copied['id']}/open", headers=ada).status_code == 200


@pytest.mark.parametrize("settings", [{"min_rows": 30}, {"method": "fisher"}, {"min_rows": 30, "alpha": 0.2}])
def test_what_sites_are_asked_for_is_theirs_to_agree_to(client: TestClient, ada: dict[str, str], settings: dict[str, Any]) -> None:
    study = over(client, ada, ALL)
    found = rerun(client, ada, study, **settings)
    assert (found["how"], found["study"]["state"]) == ("copy", "draft")
    assert "asked for consent anew" in found["words"]
    assert settings.items() <= found["study"]["settings"].items()


def test_it_runs_again_when_it_is_over_and_has_not_finished(client: TestClient, ada: dict[str, str]) -> None:
    finished = over(client, ada, ALL, State.FINISHED)
    base = "/api/v1/studies"
    assert client.post(f"{base}/{finished}/rerun", headers=ada, json={}).status_code == 409
    assert client.post(f"{base}/{finished}/rerun", headers=ada, json={"settings": {"alpha": 7}}).status_code == 422
    draft = new_study(client, ada)
    assert client.post(f"{base}/{draft}/rerun", headers=ada, json={}).status_code == 409
    client.post(f"{base}/{draft}/cancel", headers=ada)
    assert rerun(client, ada, draft)["how"] == "copy", "nobody has agreed to anything"


def test_a_copy_says_the_same_but_for_what_is_given(client: TestClient, ada: dict[str, str]) -> None:
    study = over(client, ada, ALL)
    reply = client.post(f"/api/v1/studies/{study}/copy", headers=ada, json={"name": "four sites", "settings": {"alpha": 0.2}})
    assert reply.status_code == 201
    made = reply.json()
    assert (made["name"], made["origin"], made["state"], made["settings"]["alpha"]) == ("four sites", study, "draft", 0.2)
    assert (made["sites"], made["tests"], [v["name"] for v in made["variables"]]) == ([], 0, ["A", "B", "C"])


def test_a_run_that_is_one_again_begins_with_the_same_after_a_crash(client: TestClient, ada: dict[str, str]) -> None:
    """What has come in since must not be taken for known: the journal has the sums of these, in their order."""
    study, store = over(client, ada, ALL[:2]), store_of(client)
    store.runs.add_event(study, "rerun", {"tests": 2})
    store.runs.add_results(study, [q.result(0.5, n=100, contributors=2) for q in ALL[2:]], {})
    known, _ = store.runs.reused(study)
    assert [(r.x, r.y, r.given) for r in known] == [(q.x, q.y, q.given) for q in ALL[:2]]
