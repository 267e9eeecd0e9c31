"""A box in the way of a site, with a certificate that its system trusts, which relays the handshake and then speaks as the server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from consilience import errors
from consilience.data.schema import Schema
from consilience.federation import Client
from consilience.service.agent import Agent, Home, Site, StudyFolder
from consilience.service.agent import join as enter
from consilience.service.config import AgentConfig
from consilience.service.invitation import read_invitation
from consilience.service.tls import self_signed
from tests.system.box import Box, standing
from tests.system.processes import Server, declaration

pytestmark = pytest.mark.slow
FRAME = pl.DataFrame({"A": [0.25 * i for i in range(40)], "C": ["no"] * 29 + ["yes"] * 11})
SCHEMA = Schema({"A": "continuous", "C": ("binary", ["no", "yes"])})


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The box's certificate and key. The system's authorities, as far as this process goes, are the box alone."""
    certificate, key = self_signed(["box.example", "127.0.0.1"])  # another name than the server gives itself
    (tmp_path / "system.pem").write_text(certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "system.pem"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return certificate, key


def joined(server: Server, folder: Path) -> tuple[Client, StudyFolder]:
    """A site that has joined a study, at the server itself."""
    study = server.do("POST", "/studies", declaration({"site": FRAME, "other": FRAME}))["id"]
    invitation = read_invitation(server.do("POST", f"/studies/{study}/invitations", {"site": "site"})["invitation"])
    home = Home(folder / "home")
    found = enter(home, invitation, insecure=invitation.url.startswith("http://"))
    return Client("site", FRAME, identity=home.identity()), found


def led_to(folder: StudyFolder, port: int, *, certificate: str | None = "") -> StudyFolder:
    """Names lead to the box. The invitation had no certificate, unless it is left as it was."""
    file = folder.path / "study.json"
    told = json.loads(file.read_text()) | {"url": f"https://127.0.0.1:{port}"}
    file.write_text(json.dumps(told if certificate is None else told | {"certificate": certificate}))
    return folder


def answers(client: Client, folder: StudyFolder) -> Any:
    """The site's agent, whose owner agrees to whatever comes."""
    agent = Agent(folder.joined, client.identity, AgentConfig(backoff_seconds=0.001, yes=True), lambda _: None)
    return asyncio.run(asyncio.wait_for(agent.run(Site(client, folder, lambda _lines, _warnings: True)), 60.0))


def attacked(server: Server, folder: Path, trusted: tuple[str, str], *, whole: bool, upstream: str, certificate: str | None = "") -> Box:
    """The attack; the box, and what it has learnt."""
    client, found = joined(server, folder)
    box = Box(found.joined.study, "site", client.identity.public_bytes, SCHEMA, upstream, whole=whole)
    with standing(box, folder, *trusted) as port:
        try:
            answers(client, led_to(found, port, certificate=certificate))
        except errors.ConsilienceError as error:
            box.refused = error
        except TimeoutError:
            pass
    assert box.recovered is None, f"the box has this site's numbers: {box.recovered}"
    assert not (found.path / "contract.msgpack").exists()
    assert found.ledger().totals()["messages"] == 0
    return box


def test_who_relays_the_challenge_has_no_welcome(server: Server, folder: Path, trusted: tuple[str, str]) -> None:
    """Nobody but the server can say that it has taken the site's proof; the proof itself goes nowhere."""
    box = attacked(server, folder, trusted, whole=False, upstream=f"wss://127.0.0.1:{server.port}")
    assert isinstance(box.refused, errors.BadSignatureError)
    assert "stand in between" in str(box.refused)


def test_who_relays_the_proof_is_refused_by_the_server(server: Server, folder: Path, trusted: tuple[str, str]) -> None:
    """It names the box's certificate, and is signed: the server sees that this is not its own."""
    box = attacked(server, folder, trusted, whole=True, upstream=f"wss://127.0.0.1:{server.port}")
    assert isinstance(box.refused, errors.AccessError)
    assert box.welcomes == 0


def test_where_the_invitation_has_a_certificate_no_authority_of_the_system_counts(
    server: Server, folder: Path, trusted: tuple[str, str]
) -> None:
    box = attacked(server, folder, trusted, whole=False, upstream=f"wss://127.0.0.1:{server.port}", certificate=None)
    assert isinstance(box.refused, errors.ChangedIdentityError)
    assert "not one that this site trusts" in str(box.refused)


class Behind(Server):
    """A server without TLS of its own: a proxy in front ends it."""

    def __init__(self, folder: Path, **settings: str) -> None:
        super().__init__(folder, behind_proxy="true", **settings)
        self.url = f"http://127.0.0.1:{self.port}"


@pytest.mark.parametrize("named", [False, True])
def test_behind_a_proxy_a_box_has_a_welcome_at_most(folder: Path, trusted: tuple[str, str], named: bool) -> None:
    """A server that does not know the proxy's certificate signs what the site sees. A contract of the box's own it does not sign."""
    certificate, _ = self_signed(["127.0.0.1"])
    (folder / "proxy.crt").write_text(certificate)
    server = Behind(folder, **({"proxy_cert": str(folder / "proxy.crt")} if named else {}))
    try:
        box = attacked(server.start(), folder, trusted, whole=True, upstream=f"ws://127.0.0.1:{server.port}")
    finally:
        server.kill()
    assert box.welcomes == (0 if named else 1)
    assert isinstance(box.refused, errors.AccessError if named else errors.BadSignatureError)
    assert named or "contract must carry the signature" in str(box.refused)
