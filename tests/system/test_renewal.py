"""A certificate that ends, and its successor: said in time, made by one command, and believed by sites for the server's identity alone."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from consilience.errors import ConsilienceError
from consilience.protocol.succession import Succession, succession, verify_succession
from consilience.secagg import Identity
from consilience.secagg.errors import BadSignatureError
from consilience.service.agent import Home, succeeding
from consilience.service.agent import join as enter
from consilience.service.agent.succeeding import successor
from consilience.service.errors import ChangedIdentityError
from consilience.service.invitation import read_invitation
from consilience.service.tls import self_signed
from tests.system.processes import PROGRAM, Agent, Server, declaration, enrol, environment
from tests.system.test_equality import connected, frames_of


def consilience(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *words], env=environment(**more), capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_sites_go_on_by_themselves_after_a_renewal(folder: Path, agents: list[Agent]) -> None:
    """Agents at work, one that joins with an old invitation, and an owner, whose errors say what to do."""
    server = Server(folder)
    certificate, key = self_signed(["127.0.0.1"], days=5)
    (server.home / "tls.crt").write_text(certificate)
    (server.home / "tls.key").write_text(key)
    try:
        server.start()
        assert "in 4 days: then nobody can connect. Renew it: consilience server renew-certificate" in server.log.read_text()
        assert "in 4 days" in server.http.get("/health").json()["warning"]
        frames = frames_of(2)
        study, started = enrol(server, folder, frames, declaration(frames))
        other = server.do("POST", "/studies", declaration(frames))["id"]
        late = read_invitation(server.do("POST", f"/studies/{other}/invitations", {"site": "late"})["invitation"])
        agents += [agent.start() for agent in started]
        connected(server, study, 2)
        server.stop()
        shutil.copy(server.home / "tls.crt", folder / "old.crt")
        renewed = consilience("server", "renew-certificate", "--home", str(server.home))
        assert renewed.returncode == 0, renewed.stderr
        assert "Start the server again" in renewed.stdout
        server.start()
        assert "warning" not in server.http.get("/health").json()
        connected(server, study, 2)
        assert all("a new certificate, signed by the identity that this site has pinned" in one.log.read_text() for one in started)
        joined = enter(Home(folder / "late"), late).joined
        assert joined.certificate == (server.home / "tls.crt").read_text()
        server.do("POST", f"/studies/{study}/start")
        assert server.wait(study) == "finished"
        where = {"CONSILIENCE_SERVER_PUBLIC_URL": server.url, "CONSILIENCE_SERVER_TOKEN": server.token}
        for words in (["list"], ["watch", study], ["result", study]):
            refused = consilience("server", "study", *words, "--ca", str(folder / "old.crt"), **where)
            assert refused.returncode == 2
            assert "give it with --ca FILE or CONSILIENCE_SERVER_CA" in " ".join(refused.stderr.split())
    finally:
        server.kill()


@pytest.mark.slow
def test_nobody_else_can_name_a_successor(server: Server, folder: Path) -> None:
    """A site whose server has, it seems, another certificate now, and another identity: it says so, and names the way out."""
    study = server.do("POST", "/studies", declaration(frames_of(2)))["id"]
    text = server.do("POST", f"/studies/{study}/invitations", {"site": "one"})["invitation"]
    found = read_invitation(text)
    stranger = type(found)(found.url, found.study, found.site, found.secret, bytes(32), self_signed(["127.0.0.1"])[0])
    with pytest.raises(ChangedIdentityError, match="is trusted with --ca FILE"):
        enter(Home(folder / "home"), stranger)
    enter(Home(folder / "home"), found)


CLIENT = httpx.Client
SERVER = Identity.from_private_bytes(bytes(range(32)))


def answering(monkeypatch: pytest.MonkeyPatch, said: object) -> None:
    """Whoever is asked for a certificate says this."""
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=json.dumps(said)))
    monkeypatch.setattr(succeeding.httpx, "Client", lambda **_: CLIENT(transport=transport))


def test_a_successor_is_newer_and_signed_by_the_pinned_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    older, _ = self_signed(["127.0.0.1"])
    monkeypatch.setattr("consilience.service.tls.CLOCK_MINUTES", -60)  # made an hour later
    newer, _ = self_signed(["127.0.0.1"])
    for identity, now, then, wanted in (
        (SERVER, older, newer, newer),
        (SERVER, newer, older, ""),  # back to one whose key was found
        (SERVER, newer, newer, ""),
        (Identity.generate(), older, newer, ""),
        (SERVER, "", newer, ""),  # the invitation had none: authorities are trusted
    ):
        statement = succession(identity, then)
        answering(monkeypatch, {"certificate": statement.certificate, "signature": statement.signature})
        assert successor("https://127.0.0.1", now, SERVER.public_bytes) == wanted
    for nonsense in ({}, [], {"certificate": newer, "signature": "zz"}, {"certificate": "no PEM", "signature": "ab" * 64}):
        answering(monkeypatch, nonsense)
        assert successor("https://127.0.0.1", older, SERVER.public_bytes) == ""


@pytest.mark.parametrize("signature", ["", "zz", "ab" * 64])
def test_a_statement_without_the_servers_signature_is_none(signature: str) -> None:
    with pytest.raises(BadSignatureError):
        verify_succession(Succession("a certificate", signature), SERVER.public_bytes)
    assert issubclass(BadSignatureError, ConsilienceError)
