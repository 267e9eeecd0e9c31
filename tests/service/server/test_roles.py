"""Role by action: what each of those who can have to do with a study may over REST, and what they follow of it."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from consilience.service.server import sharing
from consilience.service.server.services import held_study
from consilience.service.store import Principal, Role
from tests.service.helpers import STUDY, bearer, joined, new_study
from tests.service.server.roles import ACCOUNTS, NO_RESULT, OBSERVERS, OWNERS, STRANGERS, finish, populate, services_of

BASE = "/api/v1/studies/{study}"
DECIDES = {("DELETE", BASE), ("GET", f"{BASE}/deletion"), ("PUT", f"{BASE}/members/{{account}}"), ("POST", f"{BASE}/transfer")}
"""What the study's owner may, and co-owners may not."""
OF_SITES = {("POST", f"{BASE}/withdraw")}
"""What a site does for itself, and nobody for it."""
INSIDE = {f"{BASE}/members", f"{BASE}/audit", f"{BASE}/tests", f"{BASE}/archive"}
"""What owners and observers see, and sites do not."""
RESULT = {f"{BASE}/tests", f"{BASE}/archive", f"{BASE}/documents/{{name}}"}
"""What an observer sees if the owner allows it."""
BODIES: dict[str, Any] = {
    "invitations": {"site": "four"},
    "without": {"site": "one"},
    "withdraw": {"reason": ""},
    "copy": {},
    "rerun": {},
    "transfer": {"account": "bob"},
    "{account}": {"role": "observer"},
}
OBSERVES = "You are an observer of this study: you see it, and change nothing in it. Ask one of its owners."


def routes(app: FastAPI) -> list[tuple[str, str]]:
    """Those of a study, with what each of them is asked with; a stream is for as long as the study lives, and has a test of its own."""
    found = [(method.upper(), path) for path, methods in app.openapi()["paths"].items() for method in methods]
    return [(method, path) for method, path in found if path.startswith(BASE) and path != f"{BASE}/events"]


def ask(client: TestClient, method: str, path: str, study: str, headers: dict[str, str]) -> tuple[int, str]:
    url = path.replace("{study}", study).replace("{site}", "one").replace("{name}", "result.json").replace("{account}", "olga")
    body = {"json": BODIES.get(path.rpartition("/")[2], STUDY)} if method in ("POST", "PUT") else {}
    reply = client.request(method, url, headers=headers, **body)
    return reply.status_code, reply.json().get("message", "") if reply.status_code >= 400 else ""


def heads(client: TestClient) -> dict[str, dict[str, str]]:
    return {name: bearer(client, name) for name in ACCOUNTS}


@pytest.mark.slow
def test_a_change_is_for_owners_alone_and_everybody_else_is_told_so(client: TestClient, ada: dict[str, str]) -> None:
    study = populate(client, ada)
    before = client.get(f"/api/v1/studies/{study}", headers=ada).json()
    changing = [(method, path) for method, path in routes(client.app) if method != "GET" or (method, path) in DECIDES]  # type: ignore[arg-type]
    assert len(changing) >= 11
    tokens = heads(client)
    site = {"Authorization": f"Bearer {services_of(client).store.accounts.issue(Principal(study=study, site='one'), 60.0)[0]}"}
    for method, path in OF_SITES:
        for name in (*OWNERS, *OBSERVERS):
            assert ask(client, method, path, study, tokens[name])[0] == 403, (name, path)
        for name in STRANGERS:
            assert ask(client, method, path, study, tokens[name])[0] == 404, (name, path)
    for method, path in changing:
        if (method, path) in OF_SITES:
            continue
        for name in OBSERVERS:
            assert ask(client, method, path, study, tokens[name]) == (403, OBSERVES), (name, method, path)
        for name in STRANGERS:
            assert ask(client, method, path, study, tokens[name]) == (404, "You have no such study."), (name, method, path)
        assert ask(client, method, path, study, site)[0] == 404, (method, path)
        assert ask(client, method, path, study, {})[0] == 401, (method, path)
        if (method, path) in DECIDES:
            status, words = ask(client, method, path, study, tokens["cleo"])
            assert (status, "Only the study's owner, ada, may" in words) == (403, True), (method, path)
    assert client.get(f"/api/v1/studies/{study}", headers=ada).json() == before


@pytest.mark.slow
def test_owners_are_never_refused_for_who_they_are_and_answer_for_what_they_did(client: TestClient, ada: dict[str, str]) -> None:
    """Each change on a study of its own; it may be too early or too late for one, but 401, 403 and 404 are about persons."""
    populate(client, ada)
    services, tokens, wrote = services_of(client), {name: bearer(client, name) for name in OWNERS}, Counter[str]()
    for method, path in routes(client.app):  # type: ignore[arg-type]
        if (
            method == "GET" or (method, path) in OF_SITES or path == f"{BASE}/invitations/{{site}}"
        ):  # for a site that has joined there is none to take back
            continue
        for name in OWNERS:
            if (method, path) in DECIDES and name != "ada":
                continue
            study = new_study(client, ada)
            joined(client, ada, study, "one")
            for member, role in (("cleo", "co-owner"), ("olga", "observer")):
                assert client.put(f"/api/v1/studies/{study}/members/{member}", json={"role": role}, headers=ada).status_code == 200
            known = len(services.store.audit.of_study(study))
            assert ask(client, method, path, study, tokens[name])[0] in (200, 201, 204, 409, 422) or (
                name == "cleo" and path.endswith("{account}")  # a co-owner takes nothing back from others
            ), (name, method, path)
            written = {row.account for row in services.store.audit.of_study(study)[known:]}
            assert written <= {name}, (name, method, path)
            wrote.update(written)
    assert min(wrote["ada"], wrote["cleo"]) >= 5


@pytest.mark.slow
def test_who_sees_what(client: TestClient, ada: dict[str, str]) -> None:
    study = populate(client, ada)
    finish(client, study)
    tokens = heads(client)
    token, _ = services_of(client).store.accounts.issue(Principal(study=study, site="one"), 60.0)
    everybody = {**tokens, "site": {"Authorization": f"Bearer {token}"}, "nobody": {}}
    looking = [(method, path) for method, path in routes(client.app) if method == "GET" and (method, path) not in DECIDES]  # type: ignore[arg-type]
    assert {path for _, path in looking} >= INSIDE | RESULT | {BASE, f"{BASE}/log", f"{BASE}/received"}
    for method, path in looking:
        for name, headers in everybody.items():
            status, words = ask(client, method, path, study, headers)
            if name == "nobody":
                expected = 401
            elif name in STRANGERS or (name == "site" and path in INSIDE):
                expected = 404
            else:
                expected = 403 if path in RESULT and name in NO_RESULT else 200
            assert status == expected, (name, path, status)
            if status == 403:
                assert words == "The result of this study is not shown to you. Its owner, ada, can allow it."


@pytest.mark.slow
def test_what_a_study_found_is_in_no_event_for_who_does_not_see_it(client: TestClient, ada: dict[str, str]) -> None:
    study = populate(client, ada)
    finish(client, study)
    for name in (*OWNERS, *OBSERVERS):
        headers = bearer(client, name)
        told = client.get(f"/api/v1/studies/{study}/log", headers=headers).text
        with client.stream("GET", f"/api/v1/studies/{study}/events", headers=headers) as reply:
            followed = "".join(reply.iter_text())
        for text in (told, followed):
            assert "finished" in text
            assert ("A causes B" in text, "3 PAGs" in text, '"pags"' in text) == (name not in NO_RESULT,) * 3, name


@pytest.mark.slow
@pytest.mark.parametrize("name", [*STRANGERS, "nobody"])
def test_a_stream_is_not_opened_for_strangers(client: TestClient, ada: dict[str, str], name: str) -> None:
    study = populate(client, ada)
    reply = client.get(f"/api/v1/studies/{study}/events", headers=bearer(client, name) if name != "nobody" else {})
    assert reply.status_code == (401 if name == "nobody" else 404)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["taken back", "result hidden", "role", "handed over and taken back"])
def test_a_stream_ends_when_its_reader_may_not_look_any_more(client: TestClient, ada: dict[str, str], how: str) -> None:
    study, services, done = populate(client, ada), services_of(client), threading.Event()
    name = {"role": "otto", "handed over and taken back": "ada"}.get(how, "rita")
    headers = bearer(client, name)

    def follow() -> None:
        with client.stream("GET", f"/api/v1/studies/{study}/events", headers=headers) as reply:
            for _ in reply.iter_lines():
                pass
        done.set()

    threading.Thread(target=follow, daemon=True).start()
    while not services.bell._waiting.get(study):
        pass
    row = held_study(study, Principal(owner="ada"), services)
    if how == "taken back":
        sharing.take_back(services, row, "rita")
    elif how == "result hidden":
        sharing.share(services, row, "rita", Role.OBSERVER)
    elif how == "role":
        services.store.accounts.set_role("otto", ACCOUNTS["olga"])
        services.bell.ring(study)
    else:
        sharing.hand_over(services, row, "bob")
        sharing.take_back(services, held_study(study, Principal(owner="bob"), services), "ada")
    assert done.wait(20)


@pytest.mark.slow
def test_lists_have_what_an_account_may_look_at(client: TestClient, ada: dict[str, str]) -> None:
    study = populate(client, ada)
    other = new_study(client, bearer(client, "bob"))
    for name in ACCOUNTS:
        found = {one["id"]: one["role"] for one in client.get("/api/v1/studies", headers=bearer(client, name)).json()}
        expected = {study: "observer"} if name in OBSERVERS else {study: "owner" if name == "ada" else "co-owner"} if name in OWNERS else {}
        if name in ("otto", "bob"):
            expected[other] = "observer" if name == "otto" else "owner"
        assert found == expected, name


@pytest.mark.parametrize("name", ["olga", "otto"])
def test_an_observers_account_makes_no_studies(client: TestClient, ada: dict[str, str], name: str) -> None:
    populate(client, ada)
    reply = client.post("/api/v1/studies", json=STUDY, headers=bearer(client, name))
    assert reply.status_code == 403
    assert "Your account is an observer's" in reply.json()["message"]


def test_an_owner_whose_account_becomes_an_observers_changes_nothing_more(client: TestClient, ada: dict[str, str]) -> None:
    study = populate(client, ada)
    services_of(client).store.accounts.set_role("ada", ACCOUNTS["olga"])
    assert client.post(f"/api/v1/studies/{study}/open", headers=ada).json()["message"] == OBSERVES
    assert client.get(f"/api/v1/studies/{study}", headers=ada).json()["role"] == "observer"
    finish(client, study)
    assert client.get(f"/api/v1/studies/{study}/documents/result.json", headers=ada).status_code == 200
