"""Who is logged in: listed and ended over REST, sessions and tokens alike."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from consilience.service.store import Principal, TokenKind
from tests.service.helpers import PASSWORD, Clock, bearer, joined, make_app, new_study, serving
from tests.service.server.roles import services_of

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
NEW = "another horse, another battery"


def test_sessions_say_when_from_where_and_with_what(tmp_path: Path) -> None:
    clock = Clock()
    with TestClient(make_app(tmp_path, clock), client=("10.1.2.3", 1)) as client:
        body = {"name": "ada", "password": PASSWORD}
        token = client.post("/api/v1/login", json=body, headers={"User-Agent": "analysis/1.0 " + "x" * 500}).json()["token"]
        first = {"Authorization": f"Bearer {token}"}
        clock.now += 100
        services_of(client).store.accounts.issue(Principal(owner="ada"), 3600.0, TokenKind.PAGES, FIREFOX, "192.0.2.9")
        bearer(client, "bob")
        browser, program = client.get("/api/v1/sessions", headers=first).json()
        assert (browser["kind"], browser["agent"], browser["address"], browser["this"]) == (
            "browser",
            "Firefox 140 on Linux",
            "192.0.2.9",
            False,
        )
        assert (program["kind"], program["address"], program["this"]) == ("program", "10.1.2.3", True)
        assert program["agent"].startswith("analysis/1.0 xxx")
        assert len(program["agent"]) == 80
        assert (program["created"], program["seen"]) == (1_000_000.0, 1_000_100.0)
        assert token not in client.get("/api/v1/sessions", headers=first).text


def test_one_session_is_ended_or_all_others(client: TestClient, ada: dict[str, str]) -> None:
    second, third = bearer(client), bearer(client)
    handle = services_of(client).store.accounts.handle(second["Authorization"][7:])
    assert client.delete(f"/api/v1/sessions/{handle}", headers=ada).status_code == 204
    assert client.delete(f"/api/v1/sessions/{handle}", headers=ada).status_code == 404
    assert [client.get("/api/v1/sessions", headers=h).status_code for h in (ada, second, third)] == [200, 401, 200]
    services_of(client).store.accounts.issue(Principal(owner="ada"), 3600.0, TokenKind.PAGES)
    assert client.delete("/api/v1/sessions", headers=ada).json() == {"ended": 2}
    assert [client.get("/api/v1/sessions", headers=h).status_code for h in (ada, third)] == [200, 401]
    assert len(client.get("/api/v1/sessions", headers=ada).json()) == 1
    assert "ended all other sessions" in [row.action for row in services_of(client).store.audit.of_account("ada")]


def test_nobody_ends_sessions_of_others(client: TestClient, ada: dict[str, str]) -> None:
    bob, accounts = bearer(client, "bob"), services_of(client).store.accounts
    handle = accounts.handle(ada["Authorization"][7:])
    assert client.delete(f"/api/v1/sessions/{handle}", headers=bob).status_code == 404
    assert client.delete("/api/v1/sessions", headers=bob).json() == {"ended": 0}
    assert client.get("/api/v1/account", headers=ada).json() == {"name": "ada", "role": "owner"}
    study = new_study(client, ada)
    joined(client, ada, study, "one")
    site = {"Authorization": f"Bearer {accounts.issue(Principal(study=study, site='one'), 60.0)[0]}"}
    for method, path in (("GET", "/account"), ("GET", "/sessions"), ("DELETE", "/sessions"), ("DELETE", f"/sessions/{handle}")):
        assert client.request(method, f"/api/v1{path}", headers=site).status_code == 403, path
    assert client.post("/api/v1/account/password", json={"old": PASSWORD, "new": NEW}, headers=site).status_code == 403


def test_a_password_is_changed_by_who_knows_it_and_others_are_logged_out(tmp_path: Path) -> None:
    with serving(tmp_path, login_burst=3) as client:
        ada, elsewhere = bearer(client), bearer(client)
        url = "/api/v1/account/password"
        assert client.post(url, json={"old": PASSWORD, "new": "short"}, headers=ada).status_code == 422
        assert client.post(url, json={"old": PASSWORD, "new": NEW}, headers=ada).status_code == 204
        assert [client.get("/api/v1/sessions", headers=h).status_code for h in (ada, elsewhere)] == [200, 401]
        wrong = [client.post(url, json={"old": PASSWORD, "new": NEW + "!"}, headers=ada).status_code for _ in range(4)]
        assert wrong == [401, 401, 401, 429]  # a stolen token guesses no passwords
