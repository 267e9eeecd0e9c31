"""Who may do what: every route without a token, with another's, with a site's; invitations and challenges used twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from consilience.protocol.handshake import Hello, Proof, Token, TokenAsk, Welcome, prove
from consilience.secagg import Identity
from consilience.service.config import ServerConfig
from consilience.service.server import create_app
from consilience.service.server.serve import options_of
from consilience.service.store import Principal
from consilience.service.tls import certificate_digest, self_signed
from tests.service.helpers import (
    CHEAP,
    PASSWORD,
    SERVER,
    STUDY,
    Clock,
    bearer,
    closed_with,
    connected,
    invited,
    join_body,
    joined,
    make_app,
    new_study,
    serving,
)

CERTIFICATE = "/api/v1/certificate"
"""For everybody, as the certificate itself is; the server of these tests has none."""
PUBLIC = {"/health", "/metrics", "/api/v1/login", "/api/v1/join", "/api/v1/password-reset", "/api/v1/accounts"}


def routes(app: FastAPI) -> list[tuple[str, str]]:
    found = [(method, path) for path, methods in app.openapi()["paths"].items() for method in methods]
    assert len(found) > 15
    return [(method.upper(), path) for method, path in found]


def filled(path: str, study: str) -> str:
    return (
        path.replace("{study}", study)
        .replace("{site}", "one")
        .replace("{name}", "result.json")
        .replace("{account}", "bob")
        .replace("{session}", "0" * 16)
    )


def test_every_route_but_the_entrances_needs_a_token(client: TestClient, tmp_path: Path) -> None:
    for method, path in routes(client.app):  # type: ignore[arg-type]
        url = filled(path, "00112233aabbccdd")
        reply = client.request(method, url)
        if path in PUBLIC:
            assert reply.status_code in (200, 422)
        elif path == CERTIFICATE:
            assert reply.status_code == 404
        else:
            assert reply.status_code == 401, (method, path)
            assert reply.json()["error"] == "TokenError"
            assert client.request(method, url, headers={"Authorization": "Bearer wrong"}).status_code == 401
            assert client.request(method, url, headers={"Authorization": "Basic YTpi"}).status_code == 401


def test_the_owner_of_another_study_sees_nothing_and_changes_nothing(client: TestClient, ada: dict[str, str]) -> None:
    bob = bearer(client, "bob")
    study = new_study(client, ada)
    joined(client, ada, study, "one")
    for method, path in routes(client.app):  # type: ignore[arg-type]
        if "{study}" not in path:
            continue
        url = filled(path, study)
        body = {"json": {"site": "two"} if path.endswith("invitations") else STUDY} if method in ("POST", "PUT") else {}
        reply = client.request(method, url, headers=bob, **body)  # type: ignore[arg-type]
        assert reply.status_code == 404, (method, path)
        assert reply.json()["message"] == "You have no such study."
    assert client.get("/api/v1/studies", headers=bob).json() == []
    assert len(client.get(f"/api/v1/studies/{study}", headers=ada).json()["sites"]) == 1


def site_token(client: TestClient, study: str, identity: Identity) -> dict[str, str]:
    with connected(client, study) as hand:
        assert isinstance(hand.prove(identity), Welcome)
        hand.send(TokenAsk())
        reply = hand.receive()
        assert isinstance(reply, Token)
    return {"Authorization": f"Bearer {reply.token}"}


@pytest.mark.slow
def test_a_sites_token_opens_its_own_study_for_reading_only(client: TestClient, ada: dict[str, str]) -> None:
    own, other = new_study(client, ada), new_study(client, ada)
    token = site_token(client, own, joined(client, ada, own, "one"))
    assert client.get(f"/api/v1/studies/{own}", headers=token).json()["invitations"] == []
    allowed = {("GET", f"/api/v1/studies/{{study}}{what}") for what in ("", "/log", "/received", "/received/totals")}
    events = "/api/v1/studies/{study}/events"
    for method, path in routes(client.app):  # type: ignore[arg-type]
        if path in PUBLIC or path in (CERTIFICATE, "/api/v1/logout", "/api/v1/studies/{study}/withdraw"):
            continue
        body = {"json": {"site": "two"} if path.endswith("invitations") else STUDY} if method in ("POST", "PUT") else {}
        for study in (own, other):
            if path == events and study == own:
                continue  # it would follow the study for as long as that lives
            url = filled(path, study)
            reply = client.request(method, url, headers=token, **body)  # type: ignore[arg-type]
            expected = 200 if study == own and (method, path) in allowed else 404 if "{study}" in path else 403
            assert reply.status_code == expected, (method, path)


def test_a_site_that_was_removed_keeps_nothing(client: TestClient, ada: dict[str, str]) -> None:
    study = new_study(client, ada)
    one = joined(client, ada, study, "one")
    token = site_token(client, study, one)
    base = f"/api/v1/studies/{study}"
    store = client.app.state.services.store  # type: ignore[attr-defined]
    stray = store.accounts.issue(Principal(study=study, site="two"), 60.0)[0]  # of a site that is not there
    assert client.get(base, headers=token).status_code == 200
    assert client.get(base, headers={"Authorization": f"Bearer {stray}"}).status_code == 404
    with connected(client, study) as hand:
        assert isinstance(hand.prove(one), Welcome)
        assert client.delete(f"{base}/sites/one", headers=ada).status_code == 204
        assert closed_with(hand) == 4400
    assert client.get(base, headers=token).status_code == 401
    joined(client, ada, study, "one")  # somebody else, under the same name
    assert client.get(base, headers=token).status_code == 401
    with connected(client, study) as hand:
        hello = Hello(one.public_bytes, bytes(32))
        hand.send(hello)
        hand.send(prove(one, study, hello, hand.receive(), b""))
        assert closed_with(hand) == 4403


def test_an_invitation_works_once(client: TestClient, ada: dict[str, str]) -> None:
    study = new_study(client, ada)
    invitation, identity = invited(client, ada, study, "one"), Identity.generate()
    body = join_body(invitation, identity)
    assert client.post("/api/v1/join", json=body).json() == {"site": "one"}
    for again in (body, join_body(invitation, Identity.generate())):
        reply = client.post("/api/v1/join", json=again)
        assert (reply.status_code, reply.json()["error"]) == (403, "InvitationError")


def test_an_invitation_is_for_its_study_its_holder_and_its_time(tmp_path: Path) -> None:
    clock = Clock()
    with serving(tmp_path, clock) as client:
        ada = bearer(client)
        study, other = new_study(client, ada), new_study(client, ada)
        invitation, identity = invited(client, ada, study, "one"), Identity.generate()
        good = join_body(invitation, identity)
        wrong = [
            {**good, "study": other},
            {**good, "secret": "00" * 32},
            {**good, "identity": Identity.generate().public_bytes.hex()},
            {**good, "signature": "00" * 64},
        ]
        assert [client.post("/api/v1/join", json=body).status_code for body in wrong] == [403] * 4
        newer = invited(client, ada, study, "one")  # replaces the older
        assert client.post("/api/v1/join", json=good).status_code == 403
        clock.now += 8 * 86400
        assert client.post("/api/v1/join", json=join_body(newer, identity)).status_code == 403
        ada = bearer(client)
        last = invited(client, ada, study, "one")
        assert client.delete(f"/api/v1/studies/{study}/invitations/one", headers=ada).status_code == 204
        assert client.post("/api/v1/join", json=join_body(last, identity)).status_code == 403


def test_one_identity_joins_a_study_once(client: TestClient, ada: dict[str, str]) -> None:
    study, identity = new_study(client, ada), Identity.generate()
    assert client.post("/api/v1/join", json=join_body(invited(client, ada, study, "one"), identity)).status_code == 200
    assert client.post("/api/v1/join", json=join_body(invited(client, ada, study, "two"), identity)).status_code == 403


def test_a_proof_opens_one_connection(client: TestClient, ada: dict[str, str]) -> None:
    """The same hello and the same signature again, on another connection, and with the challenge of another."""
    study = new_study(client, ada)
    identity = joined(client, ada, study, "one")
    hello = Hello(identity.public_bytes, bytes(32))
    with connected(client, study) as hand:
        hand.send(hello)
        challenge = hand.receive()
        proof = prove(identity, study, hello, challenge, b"")
        hand.send(proof)
        assert isinstance(hand.receive(), Welcome)
        with connected(client, study) as second:
            second.send(hello)
            assert second.receive() != challenge
            second.send(proof)
            assert closed_with(second) == 4403


def test_a_site_cannot_be_another(client: TestClient, ada: dict[str, str]) -> None:
    study, other = new_study(client, ada), new_study(client, ada)
    one, two = joined(client, ada, study, "one"), joined(client, ada, study, "two")
    stranger = joined(client, ada, other, "three")
    for signer, claimed in ((one, two), (Identity.generate(), one)):
        with connected(client, study) as hand:
            hello = Hello(claimed.public_bytes, bytes(32))
            hand.send(hello)
            hand.send(prove(signer, study, hello, hand.receive(), b""))
            assert closed_with(hand) == 4403
    for identity in (stranger, Identity.generate()):
        with connected(client, study) as hand:
            hello = Hello(identity.public_bytes, bytes(32))
            hand.send(hello)
            hand.send(prove(identity, study, hello, hand.receive(), b""))
            assert closed_with(hand) == 4403
    with connected(client, "ffffffffffffffff") as hand:  # a study that does not exist looks the same
        hello = Hello(one.public_bytes, bytes(32))
        hand.send(hello)
        hand.send(prove(one, "ffffffffffffffff", hello, hand.receive(), b""))
        assert closed_with(hand) == 4403


def test_a_proof_through_another_certificate_is_refused(tmp_path: Path) -> None:
    certificate, key = self_signed(["study.example"])
    (tmp_path / "tls.crt").write_text(certificate)
    (tmp_path / "tls.key").write_text(key)
    with serving(tmp_path, tls_cert=str(tmp_path / "tls.crt"), tls_key=str(tmp_path / "tls.key")) as client:
        ada = bearer(client)
        study = new_study(client, ada)
        identity = joined(client, ada, study, "one")
        with connected(client, study) as hand:
            assert isinstance(hand.prove(identity, certificate_digest(certificate)), Welcome)
        with connected(client, study) as hand:
            hello = Hello(identity.public_bytes, bytes(32))
            hand.send(hello)
            hand.send(prove(identity, study, hello, hand.receive(), bytes(32)))
            assert closed_with(hand) == 4403


def test_a_signature_of_another_length_is_refused(client: TestClient, ada: dict[str, str]) -> None:
    study = new_study(client, ada)
    identity = joined(client, ada, study, "one")
    with connected(client, study) as hand:
        hand.send(Hello(identity.public_bytes, bytes(32)))
        hand.receive()
        hand.send(Proof(b"", b""))
        assert closed_with(hand) == 4403


def test_failed_logins_are_limited_per_address_and_name(tmp_path: Path) -> None:
    clock = Clock()
    with serving(tmp_path, clock, login_burst=3, login_rate=6.0) as client:
        wrong = {"name": "ada", "password": "not the password"}
        assert [client.post("/api/v1/login", json=wrong).status_code for _ in range(4)] == [401, 401, 401, 429]
        reply = client.post("/api/v1/login", json={"name": "ada", "password": PASSWORD})
        assert reply.status_code == 429
        assert 0 < int(reply.headers["Retry-After"]) <= 11
        clock.now += 10.0
        assert client.post("/api/v1/login", json={"name": "ada", "password": PASSWORD}).status_code == 200
        assert client.post("/api/v1/login", json={"name": "ada", "password": PASSWORD}).status_code == 200  # right ones are free


def test_guesses_at_one_account_are_limited_from_anywhere(tmp_path: Path) -> None:
    app = make_app(tmp_path, login_burst=2)
    wrong = {"name": "ada", "password": "not the password"}
    with TestClient(app):
        found = [TestClient(app, client=(f"10.0.0.{i}", 1)).post("/api/v1/login", json=wrong).status_code for i in range(21)]
        assert found == [401] * 20 + [429]
        other = TestClient(app, client=("10.0.1.1", 1)).post("/api/v1/login", json={"name": "bob", "password": PASSWORD})
        assert other.status_code == 200


@pytest.mark.slow
def test_only_a_trusted_proxy_says_where_a_request_is_from(tmp_path: Path) -> None:
    given = options_of(ServerConfig(home=str(tmp_path), behind_proxy=True, trusted_proxies="10.0.0.0/24"))
    app = make_app(tmp_path, login_burst=2)
    behind = ProxyHeadersMiddleware(app, given["forwarded_allow_ips"])

    def attempts(peer: str, before: str) -> list[int]:
        client = TestClient(behind, client=(peer, 1))
        body = {"name": f"nobody {peer}", "password": "not the password"}
        headers = [{"X-Forwarded-For": f"{before}1.2.3.{i}"} for i in range(4)]
        return [client.post("/api/v1/login", json=body, headers=h).status_code for h in headers]

    with TestClient(app):
        assert attempts("192.168.0.9", "") == [401, 401, 429, 429]
        assert attempts("10.0.0.9", "") == [401] * 4
    given = options_of(ServerConfig(home=str(tmp_path), behind_proxy=True))
    assert given["forwarded_allow_ips"] == "127.0.0.1"


def test_a_clock_that_is_set_forward_forgives_nothing(tmp_path: Path) -> None:
    make_app(tmp_path).state.services.store.database.close()
    clock = Clock()
    with TestClient(create_app(ServerConfig(home=str(tmp_path), login_burst=1), SERVER, passwords=CHEAP, clock=clock)) as client:
        wrong = {"name": "ada", "password": "not the password"}
        assert client.post("/api/v1/login", json=wrong).status_code == 401
        clock.now += 86400.0
        assert client.post("/api/v1/login", json=wrong).status_code == 429


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/login", '{"name": NaN, "password": "x"}'),
        ("/api/v1/login", '{"name": 1e999, "password": "x"}'),
        ("/api/v1/login", r'{"name": "\ud800", "password": "x"}'),
        ("/api/v1/login", r'{"name": "a", "password": "\ud800hunter2"}'),
        ("/api/v1/login", r'{"name": "a", "password": "x", "hunter2\ud800": 1}'),
        ("/api/v1/login", '["hunter2"]'),
        ("/api/v1/login", '{"name": "hunter2'),
        ("/api/v1/join", '{"study": NaN, "hunter2": 1}'),
        ("/api/v1/studies/STUDY/invitations", '{"site": "one", "seconds": NaN}'),
        ("/api/v1/studies/STUDY/invitations", '{"site": "one", "seconds": -1e999}'),
    ],
)
def test_what_does_not_fit_is_refused_in_one_shape_without_an_echo(client: TestClient, ada: dict[str, str], path: str, body: str) -> None:
    url = path.replace("STUDY", new_study(client, ada))
    reply = client.post(url, content=body, headers={**ada, "Content-Type": "application/json"})
    assert reply.status_code == 422
    assert set(reply.json()) == {"error", "message"}
    assert reply.json()["error"] == "RequestError"
    assert "hunter2" not in reply.text


def test_the_description_has_one_shape_for_errors(tmp_path: Path) -> None:
    described = make_app(tmp_path).openapi()
    assert "HTTPValidationError" not in described["components"]["schemas"]
    answer = described["paths"]["/api/v1/login"]["post"]["responses"]["422"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": "#/components/schemas/Problem"}


def test_failed_invitations_are_limited(tmp_path: Path) -> None:
    with serving(tmp_path, join_burst=2) as client:
        body = {"study": "0" * 16, "secret": "0" * 64, "identity": "0" * 64, "signature": "0" * 128}
        assert [client.post("/api/v1/join", json=body).status_code for _ in range(3)] == [403, 403, 429]


def test_tokens_end(tmp_path: Path) -> None:
    clock = Clock()
    with serving(tmp_path, clock, token_hours=1.0) as client:
        ada = bearer(client)
        assert client.get("/api/v1/studies", headers=ada).status_code == 200
        clock.now += 3601
        assert client.get("/api/v1/studies", headers=ada).status_code == 401
        ada = bearer(client)
        assert client.post("/api/v1/logout", headers=ada).status_code == 204
        assert client.get("/api/v1/studies", headers=ada).status_code == 401


def test_neither_passwords_nor_tokens_nor_secrets_are_kept_in_the_open(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        ada = bearer(client)
        study = new_study(client, ada)
        invitation = invited(client, ada, study, "one")
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("studies.sqlite*"))
    for secret in (PASSWORD.encode(), ada["Authorization"][7:].encode(), invitation.secret, invitation.secret.hex().encode()):
        assert secret not in stored
    assert b"$argon2id$" in stored


@pytest.mark.parametrize("name", ["../../etc/passwd", "..", "/root/.ssh", "a/b\\c", "%2e%2e%2f", "<script>alert(1)</script>"])
def test_a_studys_name_is_only_a_name(client: TestClient, ada: dict[str, str], tmp_path: Path, name: str) -> None:
    before = {str(p) for p in tmp_path.parent.rglob("*")}
    study = new_study(client, ada, name=name)
    assert client.get(f"/api/v1/studies/{study}", headers=ada).json()["name"] == name
    assert {str(p) for p in tmp_path.parent.rglob("*")} <= before  # pytest itself may tidy up after other tests meanwhile
    assert client.get(f"/api/v1/studies/{name}", headers=ada).status_code in (404, 422)
    assert client.get("/api/v1/studies/..%2f..%2fetc%2fpasswd", headers=ada).status_code in (404, 422)
    assert client.get(f"/api/v1/studies/{study}/documents/..%2f..%2fstudies.sqlite", headers=ada).status_code in (404, 422)


@pytest.mark.slow
def test_bodies_are_bounded_read_or_not(client: TestClient) -> None:
    huge = client.post("/api/v1/login", content=b"{}", headers={"Content-Length": str(10 << 30)})
    assert huge.status_code == 413

    def pieces(n: int = 64) -> object:
        for _ in range(n):
            yield b" " * 65536

    assert client.post("/api/v1/login", content=pieces()).status_code == 413  # type: ignore[arg-type]
