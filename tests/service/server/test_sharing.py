"""Sharing a study, taking it back, handing it over; accounts that are made with a link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from consilience.service.server.linked import make_account_link
from consilience.service.store import AccountRole
from tests.service.helpers import PASSWORD, Clock, bearer, new_study, serving
from tests.service.server.roles import populate, services_of


def put(client: TestClient, headers: dict[str, str], study: str, name: str, **body: Any) -> Any:
    return client.put(f"/api/v1/studies/{study}/members/{name}", json={"role": "co-owner", **body}, headers=headers)


def test_a_study_is_shared_and_taken_back(client: TestClient, ada: dict[str, str]) -> None:
    study, bob = new_study(client, ada), bearer(client, "bob")
    base = f"/api/v1/studies/{study}"
    (member,) = put(client, ada, study, "bob").json()
    assert (member["account"], member["role"], member["result"]) == ("bob", "co-owner", True)
    shown = client.get(base, headers=bob).json()
    assert (shown["owner"], shown["role"]) == ("ada", "co-owner")
    assert client.post(f"{base}/open", headers=bob).status_code == 200
    (member,) = put(client, ada, study, "bob", role="observer").json()  # as something else, from now on
    assert (member["role"], member["result"]) == ("observer", False)
    assert client.post(f"{base}/cancel", headers=bob).status_code == 403
    assert client.delete(f"{base}/members/bob", headers=ada).status_code == 204
    assert client.delete(f"{base}/members/bob", headers=ada).status_code == 404
    assert client.get(base, headers=bob).status_code == 404
    done = [(row["account"], row["action"], row["detail"]) for row in client.get(f"{base}/audit", headers=ada).json()]
    assert done == [
        ("ada", "created", ""),
        ("ada", "shared the study", "bob is a co-owner"),
        ("bob", "opened", ""),
        ("ada", "shared the study", "bob is an observer without the result"),
        ("ada", "took the study back", "from bob"),
    ]


def test_a_study_is_handed_over(client: TestClient, ada: dict[str, str]) -> None:
    study, bob = new_study(client, ada), bearer(client, "bob")
    base = f"/api/v1/studies/{study}"
    reply = client.post(f"{base}/transfer", json={"account": "bob"}, headers=ada).json()
    assert (reply["owner"], reply["role"]) == ("bob", "co-owner")
    assert [m["account"] for m in client.get(f"{base}/members", headers=ada).json()] == ["ada"]
    assert client.post(f"{base}/transfer", json={"account": "ada"}, headers=ada).status_code == 403
    assert client.delete(base, headers=ada).status_code == 403
    assert client.delete(f"{base}/members/ada", headers=ada).status_code == 204  # gives it up
    assert client.get(base, headers=ada).status_code == 404
    assert client.delete(base, headers=bob).status_code == 200


@pytest.mark.parametrize(
    ("name", "role", "said"),
    [
        ("nobody", "observer", "There is no account 'nobody' on this server."),
        ("ada", "observer", "ada owns this study."),
        ("olga", "co-owner", "is an observer's and cannot own a study"),
    ],
)
def test_with_whom_a_study_cannot_be_shared(client: TestClient, ada: dict[str, str], name: str, role: str, said: str) -> None:
    study = populate(client, ada)
    reply = put(client, ada, study, name, role=role)
    assert reply.status_code == 422
    assert said in reply.json()["message"]
    if role == "co-owner":
        assert client.post(f"/api/v1/studies/{study}/transfer", json={"account": name}, headers=ada).status_code == 422


def test_names_of_accounts_are_not_learnt_by_trying(tmp_path: Path) -> None:
    with serving(tmp_path, join_burst=3) as client:
        ada = bearer(client)
        study = new_study(client, ada)
        assert [put(client, ada, study, f"try-{i}").status_code for i in range(4)] == [422, 422, 422, 429]
        assert put(client, ada, study, "bob").status_code == 429


def account(client: TestClient, key: str, name: str = "cleo", password: str = PASSWORD) -> Any:
    return client.post("/api/v1/accounts", json={"key": key, "name": name, "password": password})


def key_for(client: TestClient, role: AccountRole = AccountRole.OWNER) -> str:
    return make_account_link(services_of(client).store, "https://study.example", role)[0].rpartition("#")[2]


@pytest.mark.parametrize("role", AccountRole)
def test_an_account_is_made_with_a_link_once(client: TestClient, role: AccountRole) -> None:
    key = key_for(client, role)
    reply = account(client, key)
    assert (reply.status_code, reply.json()) == (201, {"name": "cleo", "role": role.value})
    assert account(client, key, "cleo2").status_code == 403
    assert services_of(client).store.accounts.role_of("cleo") is role
    created = client.post("/api/v1/studies", json={"name": "hers"}, headers=bearer(client, "cleo"))
    assert created.status_code == (201 if role is AccountRole.OWNER else 403)


@pytest.mark.parametrize(("name", "password"), [("ada", PASSWORD), ("a b", PASSWORD), ("<b>", PASSWORD), ("cleo", "short")])
def test_a_name_or_a_password_that_cannot_be_leaves_the_link_good(client: TestClient, name: str, password: str) -> None:
    key = key_for(client)
    assert account(client, key, name, password).status_code == 422
    assert client.post("/api/v1/login", json={"name": "ada", "password": PASSWORD}).status_code == 200  # and nobody's password is changed
    assert account(client, key).status_code == 201


def test_a_link_is_good_for_what_it_was_made_for_and_for_its_time(tmp_path: Path) -> None:
    clock = Clock()
    with serving(tmp_path, clock, join_burst=1000) as client:
        services, key = services_of(client), key_for(client)
        body = {"key": key, "password": "another horse, another battery"}
        assert client.post("/api/v1/password-reset", json=body).status_code == 403
        reset = services.store.links.make("reset", 3600.0, account="ada")[0]  # type: ignore[arg-type]
        assert account(client, reset).status_code == 403
        other = key_for(client)  # one does not replace another: each is for somebody else
        clock.now += 7 * 86400 - 1
        assert account(client, key).status_code == 201
        clock.now += 2
        assert account(client, other, "dora").status_code == 403


def test_names_that_are_taken_are_not_learnt_with_a_link(tmp_path: Path) -> None:
    with serving(tmp_path, join_burst=3) as client:
        key = key_for(client)
        assert [account(client, key, "ada").status_code for _ in range(4)] == [422, 422, 422, 429]
