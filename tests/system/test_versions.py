"""A site and a server of different versions: whoever has to update is told so, and no invitation is used up."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from consilience.federation import Client
from consilience.protocol.errors import OtherVersionError
from consilience.protocol.handshake import Hello
from consilience.protocol.version import VERSION
from consilience.service.agent import Agent, Home, Site
from consilience.service.agent import join as enter
from consilience.service.config import AgentConfig
from consilience.service.invitation import read_invitation
from tests.system.processes import Server, declaration
from tests.system.test_attacks import member, receive, send, site
from tests.system.test_equality import frames_of

pytestmark = pytest.mark.slow
OLD_SITE = r"This site's program is older than the server's .* Update consilience at the site"
OLD_SERVER = r"The server's program is older than this site's .* Its operator must update consilience there"


def test_a_site_of_before_reads_who_must_update(server: Server, folder: Path) -> None:
    """All it knows is to show the reason with which it was refused."""
    study, identity = member(server, folder)
    with site(server, study) as link:
        send(link, Hello(identity.public_bytes, bytes(32), VERSION - 1))
        with pytest.raises(ConnectionClosed) as caught:
            receive(link)
    assert caught.value.rcvd is not None
    assert (caught.value.rcvd.code, caught.value.rcvd.reason[:42]) == (4403, "This site's program is older than the serv")
    assert caught.value.rcvd.reason.endswith("Update consilience at the site.")


@pytest.mark.parametrize(("version", "words"), [(VERSION - 1, OLD_SITE), (VERSION + 1, OLD_SERVER)])
def test_an_agent_says_who_must_update_and_stops(
    server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch, version: int, words: str
) -> None:
    for module in ("link", "entry"):
        monkeypatch.setattr(f"consilience.service.agent.{module}.VERSION", version)
    study = server.do("POST", "/studies", declaration(frames_of(2)))["id"]
    invitation = read_invitation(server.do("POST", f"/studies/{study}/invitations", {"site": "one"})["invitation"])
    home = Home(folder / "home")
    with pytest.raises(OtherVersionError, match=words):
        enter(home, invitation)
    monkeypatch.undo()
    joined = enter(home, invitation)  # it was not used up
    for module in ("link", "entry"):
        monkeypatch.setattr(f"consilience.service.agent.{module}.VERSION", version)
    client = Client("one", frames_of(2)["site00"], identity=home.identity())
    agent = Agent(joined.joined, client.identity, AgentConfig(), lambda _: None)
    with pytest.raises(OtherVersionError, match=words):
        asyncio.run(agent.run(Site(client, joined, lambda _lines, _warnings: True)))
