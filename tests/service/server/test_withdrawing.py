"""A site withdraws: before a study runs, while it does, and after."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

import pytest
from starlette.testclient import TestClient

from consilience.citest.question import all_questions
from consilience.federation.transport import Heard
from consilience.protocol.handshake import Closing, Welcome
from consilience.service.store import Principal, State
from tests.service.helpers import connected
from tests.service.server.test_again import ended, over, rerun, store_of
from tests.service.server.test_without import NAMES, Study


def withdraws(client: TestClient, study: str, site: str, reason: str = "") -> Any:
    token, _ = store_of(client).accounts.issue(Principal(study=study, site=site), 60.0)
    return client.post(f"/api/v1/studies/{study}/withdraw", json={"reason": reason}, headers={"Authorization": f"Bearer {token}"})


def test_before_the_start_it_is_not_asked_and_its_owner_knows(client: TestClient, ada: dict[str, str]) -> None:
    with ExitStack() as stack:
        study = Study(client, ada, stack)
        told = withdraws(client, study.id, "two", "no  time").json()
        assert (told["answers"], told["words"][:32]) == (0, "Nothing of this site was summed.")
        assert withdraws(client, study.id, "two").status_code == 409
        found = study.do("start").json()
        assert found["state"] == "running"
        row = store_of(client).studies.get(study.id)
        assert row is not None
        assert row.contract is not None
        assert [member.name for member in row.contract.members] == ["one", "three"]
        events = client.get(f"/api/v1/studies/{study.id}/log", headers=ada).json()
        (body,) = [event["body"] for event in events if event["kind"] == "withdrew"]
        assert body == {"site": "two", "reason": "no time", "answers": 0, "bytes": 0}
        with connected(client, study.id) as hand:
            assert isinstance(hand.prove(study.keys["two"]), Welcome)
            closing = hand.receive()
            assert isinstance(closing, Closing)
            assert (closing.state, "two withdrew on" in closing.message) == ("withdrawn", True)


def test_between_start_and_run_the_owner_goes_on_without_it(client: TestClient, ada: dict[str, str]) -> None:
    with ExitStack() as stack:
        study = Study(client, ada, stack)
        study.do("start")
        assert "decides whether to go on without" in withdraws(client, study.id, "two").json()["words"]
        assert study.now["state"] == "running"
        assert study.do("without", {"site": "two"}).status_code == 200


def test_while_it_runs_the_run_ends_and_what_was_summed_is_listed(client: TestClient, ada: dict[str, str]) -> None:
    with ExitStack() as stack:
        study = Study(client, ada, stack)
        study.do("start")
        for name in NAMES:
            hand, contract = study.connect(name)
            study.agree(name, hand, contract)
        study.until(lambda now: all(site["consented"] for site in now["sites"]))
        store_of(client).runs.hear(study.id, [Heard("two", "run", 0, 160, bytes(32))])
        told = withdraws(client, study.id, "two", "a mistake in the table").json()
        assert (told["answers"], told["bytes"]) == (1, 160)
        assert "The run has ended. 1 answer of this site is part of sums" in told["words"]
        found = study.until(lambda now: now["state"] != "running")
        assert found["state"] == "failed"
        assert "two withdrew on" in found["message"]
        assert "a mistake in the table" in found["message"]
        assert found["by_name"]["two"]["withdrew"]
        again = study.do("rerun", {}).json()
        assert again["how"] == "copy"
        assert "two withdrew" in again["words"]


def test_afterwards_the_result_bears_it_and_so_does_what_was_made_of_its_tests(client: TestClient, ada: dict[str, str]) -> None:
    study, store = over(client, ada, list(all_questions(["A", "B", "C"], None))), store_of(client)
    rerun(client, ada, study)
    assert ended(client, ada, study)["state"] == "finished"
    other = rerun(client, ada, study, alpha=0.01)["study"]["id"]
    assert ended(client, ada, other)["state"] == "finished"
    assert withdraws(client, study, "two", "<b>why</b>").status_code == 200
    late = rerun(client, ada, study, alpha=0.001)["study"]["id"]
    assert ended(client, ada, late)["state"] == "finished"
    for one in (study, other, late):
        result = client.get(f"/api/v1/studies/{one}/documents/result.json", headers=ada).json()
        (words,) = result["study"]["withdrawn"]
        assert words.startswith("two withdrew on 1970")
        assert "<b>why</b>. What it had contributed before is part of the sums behind this result" in words
        page = client.get(f"/api/v1/studies/{one}/documents/report.html", headers=ada).text
        assert "two withdrew on 1970" in page
        assert "<b>why</b>" not in page
    assert withdraws(client, study, "one").status_code == 200
    page = store.runs.document(study, "report.html") or b""
    assert page.count(b'<p class="withdrawn">') == 1
    assert len(json.loads(store.runs.document(study, "result.json") or b"")["study"]["withdrawn"]) == 2


def test_nobody_withdraws_another(client: TestClient, ada: dict[str, str]) -> None:
    with ExitStack() as stack:
        study = Study(client, ada, stack)
        assert study.do("withdraw", {"reason": ""}).status_code == 403
        other = Study(client, ada, stack)
        token, _ = store_of(client).accounts.issue(Principal(study=other.id, site="two"), 60.0)
        reply = client.post(f"/api/v1/studies/{study.id}/withdraw", json={}, headers={"Authorization": f"Bearer {token}"})
        assert reply.status_code == 404


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED])
def test_a_study_that_has_no_result_keeps_the_word(client: TestClient, ada: dict[str, str], state: State) -> None:
    study = over(client, ada, [], state)
    assert withdraws(client, study, "one", "late").status_code == 200
    sites = {site["name"]: site for site in client.get(f"/api/v1/studies/{study}", headers=ada).json()["sites"]}
    assert (sites["one"]["withdrew_reason"], sites["two"]["withdrew"]) == ("late", None)
