"""A forgotten password: a link that works once, for an hour, and tells nobody which accounts there are."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from consilience.service.server.linked import make_reset_link
from consilience.service.store import Store, TokenKind
from consilience.service.store.accounts import Principal
from tests.service.helpers import PASSWORD, Clock, bearer, new_study, serving

NEW = "another horse, another battery"
URL = "/api/v1/password-reset"


def store_of(client: TestClient) -> Store:
    return client.app.state.services.store  # type: ignore[attr-defined, no-any-return]


def key_for(client: TestClient, name: str = "ada") -> str:
    link, _ = make_reset_link(store_of(client), "https://study.example", name)
    assert link.startswith("https://study.example/reset#")
    return link.rpartition("#")[2]


def use(client: TestClient, key: str, password: str = NEW) -> tuple[int, Any]:
    reply = client.post(URL, json={"key": key, "password": password})
    return reply.status_code, reply.json() if reply.content else None


def test_a_link_sets_the_password_once_and_ends_sessions_and_tokens(client: TestClient, ada: dict[str, str]) -> None:
    accounts, bob = store_of(client).accounts, bearer(client, "bob")
    accounts.issue(Principal(owner="ada"), 3600.0, TokenKind.PAGES)
    key = key_for(client)
    assert client.get("/api/v1/studies", headers=ada).status_code == 200  # until it is used, nothing is changed
    assert use(client, key)[0] == 204
    assert accounts.sessions("ada") == []
    assert client.get("/api/v1/studies", headers=ada).status_code == 401
    assert client.get("/api/v1/studies", headers=bob).status_code == 200
    assert client.post("/api/v1/login", json={"name": "ada", "password": PASSWORD}).status_code == 401
    assert client.post("/api/v1/login", json={"name": "ada", "password": NEW}).status_code == 200
    status, problem = use(client, key, "a third horse altogether")
    assert (status, problem["error"]) == (403, "LinkError")
    assert client.post("/api/v1/login", json={"name": "ada", "password": NEW}).status_code == 200
    said = [row.action for row in store_of(client).audit.of_account("ada")]
    assert "set another password with a link" in said
    assert "a link for another password was made" in said


def test_whatever_is_wrong_with_a_link_is_said_alike(tmp_path: Path) -> None:
    clock = Clock()
    with serving(tmp_path, clock, join_burst=1000) as client:
        older, newer = key_for(client), key_for(client)
        used = key_for(client, "bob")
        assert use(client, used)[0] == 204
        site = store_of(client).accounts.issue(Principal(owner="ada"), 3600.0)[0]
        answers = [use(client, key) for key in (older, used, "A" * 43, site, "ada")]
        assert {status for status, _ in answers} == {403}
        assert len({problem["message"] for _, problem in answers}) == 1
        assert "ada" not in answers[0][1]["message"]
        clock.now += 3601
        assert use(client, newer) == answers[0]


def test_a_link_ends_with_the_hour(tmp_path: Path) -> None:
    clock = Clock()
    with serving(tmp_path, clock) as client:
        key = key_for(client)
        clock.now += 3599
        assert use(client, key)[0] == 204


@pytest.mark.parametrize("password", ["short", "x" * 1024 + "y"])
def test_a_password_that_cannot_be_leaves_the_link_good(client: TestClient, password: str) -> None:
    key = key_for(client)
    assert use(client, key, password)[0] == 422
    assert use(client, key)[0] == 204


def test_what_is_wrong_with_a_password_is_said_whatever_the_link_is(client: TestClient) -> None:
    """Else a short password would tell good links from others without using them."""
    assert use(client, key_for(client), "short") == use(client, "A" * 43, "short")


def test_a_password_that_is_changed_ends_the_link(client: TestClient) -> None:
    key = key_for(client)
    accounts = store_of(client).accounts
    accounts.change_password("ada", accounts.password_of("bob"))
    assert use(client, key)[0] == 403


def test_links_are_tried_so_often_and_no_more(tmp_path: Path) -> None:
    with serving(tmp_path, join_burst=3) as client:
        key = key_for(client)
        assert [use(client, "A" * 43)[0] for _ in range(4)] == [403, 403, 403, 429]
        assert use(client, key)[0] == 429
        assert "consilience_links_failed_total 3" in client.get("/metrics").text


def test_of_two_who_use_a_link_at_once_one_does(client: TestClient) -> None:
    key, found = key_for(client), list[int]()
    both = [threading.Thread(target=lambda i=i: found.append(use(client, key, f"{NEW} {i}")[0])) for i in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert sorted(found) == [204, 403]


def test_the_key_is_kept_nowhere(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        key = key_for(client)
    assert key.encode() not in b"".join(file.read_bytes() for file in tmp_path.glob("studies.sqlite*"))


def test_a_stream_of_events_ends_with_its_token(client: TestClient, ada: dict[str, str]) -> None:
    """It would else go on for as long as the study lives, whoever has lost the account."""
    study = new_study(client, ada)
    done = threading.Event()
    services = client.app.state.services  # type: ignore[attr-defined]

    def follow() -> None:
        with client.stream("GET", f"/api/v1/studies/{study}/events", headers=ada) as reply:
            assert reply.status_code == 200
            for _ in reply.iter_lines():
                pass
        done.set()

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    while not services.bell._waiting.get(study):
        assert thread.is_alive()
    assert use(client, key_for(client))[0] == 204
    services.bell.ring(study)
    assert done.wait(20)
