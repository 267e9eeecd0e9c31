"""The transports' conformance suite over real WebSockets: a server's hub on one side, agents on the other."""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from consilience.federation.transport import RemoteTransport, Transport
from consilience.service.agent import Agent, Home, Site
from consilience.service.config import AgentConfig
from consilience.service.contract import Contract, Member
from consilience.service.invitation import Invitation
from consilience.service.server.hub import SocketLinks
from consilience.service.settings import specs_of
from consilience.service.store import State
from consilience.settings import Dropout, Isolation, NetworkSettings, SingleSite
from tests.federation.transport.conformance import CLIENTS, MEMBERS, SCHEMA, CarriedConformance, federated, local
from tests.service.helpers import SERVER, make_app

pytestmark = pytest.mark.slow


class Network:
    """A server and its sites, each side with a loop of its own in a thread."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.app = folder, make_app(folder, join_burst=10**6)
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.server = uvicorn.Server(uvicorn.Config(self.app, ws="websockets-sansio", log_config=None, timeout_graceful_shutdown=1))
        self.serving = threading.Thread(target=self.server.run, args=([listener],), daemon=True)
        self.serving.start()
        while not self.server.started:
            time.sleep(0.01)
        self.loop = asyncio.new_event_loop()
        self.working = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.working.start()
        self.tasks: list[Any] = []

    def transport(self, **terms: Any) -> Transport:
        """A study on these terms that all sites have consented to; nobody runs it but the test."""
        names = {"effects": "site_effects"}
        given = {"min_cell": 1} | {names.get(name, name): value for name, value in terms.items()}
        settings = NetworkSettings(allow_joint=True, **given)
        services = self.app.state.services
        studies = services.store.studies
        study = studies.create("ada", "trial", specs_of(SCHEMA), (tuple(SCHEMA),), settings)
        invitations = {c.name: secrets.token_bytes(32) for c in CLIENTS}
        for client in CLIENTS:
            studies.invite(study, client.name, invitations[client.name], 60.0)
            studies.redeem(study, invitations[client.name], client.identity.public_bytes)
        members = tuple(Member(c.name, c.identity.public_bytes) for c in CLIENTS)
        contract = Contract(study, "trial", specs_of(SCHEMA), (tuple(SCHEMA),), settings, members)
        studies.move(study, [State.DRAFT], State.RUNNING, contract=contract)
        for client in CLIENTS:
            invitation = Invitation(self.url, study, client.name, invitations[client.name], SERVER.public_bytes)
            folder = Home(self.folder / client.name).enter(invitation)
            agent = Agent(folder.joined, client.identity, AgentConfig(insecure=True, backoff_seconds=0.2), lambda _: None)
            site = Site(client, folder, lambda _lines, _warnings: True)
            self.tasks.append(asyncio.run_coroutine_threadsafe(agent.run(site), self.loop))
        links = SocketLinks(services.hub, services.runner._loop, study, 30.0)
        return RemoteTransport(links, MEMBERS, SCHEMA)

    def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.1), self.loop).result()
        asyncio.run_coroutine_threadsafe(self.loop.shutdown_default_executor(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.working.join(10)
        self.loop.close()
        self.server.should_exit = True
        self.serving.join(10)


class TestWebSocket(CarriedConformance):
    @pytest.fixture(autouse=True)
    def network(self, tmp_path: Path) -> Iterator[None]:
        self.place = Network(tmp_path)
        yield
        self.place.close()

    def make(self, **terms: Any) -> Transport:
        return self.place.transport(**terms)

    @pytest.mark.parametrize("isolation", Isolation)
    def test_rules_on_disclosure_give_the_bits_of_the_local_one(self, isolation: Isolation) -> None:
        """And a new run, after a cut, finds the same statements."""
        terms = {"min_cell": 5, "isolation": isolation, "single_site": SingleSite.REFUSE, "on_dropout": Dropout.STOP}
        wanted = federated(local(**terms), **terms).test_all(max_given=1)
        transport = self.make(**terms)
        assert isinstance(transport, RemoteTransport)
        test = federated(transport, **terms)
        first = test.test("A", "B")
        transport._links.cut("site1", "a test")
        assert test.test_all(max_given=1).equals(wanted)
        assert test.test("A", "B").p_value == first.p_value

    def test_a_connection_cut_in_the_middle_costs_a_run_and_no_bit(self) -> None:
        """The hub cuts a site off before each round; its agent comes back."""
        wanted = federated(local()).test_all(max_given=1)
        transport = self.make()
        assert isinstance(transport, RemoteTransport)
        links, asked = transport._links, [0]
        call = links.call

        def cutting(messages: Any, limit: int) -> Any:
            asked[0] += 1
            if asked[0] in (2, 4, 7):
                links.cut("site1", "a test")
            return call(messages, limit)

        links.call = cutting  # type: ignore[method-assign]
        assert federated(transport).test_all(max_given=1).equals(wanted)
