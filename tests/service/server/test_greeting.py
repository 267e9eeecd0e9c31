"""The first word to a site is its welcome, whatever happens to the study while it connects."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from consilience.protocol.framing import Assembler, decode, encode
from consilience.protocol.handshake import Closing, Proposal, Welcome, from_server
from consilience.secagg import Identity
from consilience.service.server.hub import Connection, Hub, SocketWriter
from consilience.service.server.socket import SiteSockets
from consilience.service.store import State
from tests.service.agent.sites import CONTRACT, STUDY


class Recorder(SocketWriter):
    """What a site would have received, as the names of messages."""

    def __init__(self) -> None:
        self.said: list[Any] = []

    async def send(self, frame: bytes) -> None:
        data = Assembler(1 << 20).feed(frame)
        assert data is not None
        self.said.append(decode(data, from_server))

    async def close(self, code: int, reason: str) -> None:
        raise AssertionError(f"{code}: {reason}")


class Studies:
    """A store in which the study moves on while it is read for the first time: the hub tells all sites in that moment."""

    def __init__(self, hub: Hub, news: Any, before: Any, after: Any) -> None:
        self.hub, self.news, self.rows = hub, news, [before, after]
        self.loop: asyncio.AbstractEventLoop | None = None

    def get(self, _study: str) -> Any:
        row = self.rows[0]
        if len(self.rows) > 1:
            self.rows.pop(0)
            assert self.loop is not None
            asyncio.run_coroutine_threadsafe(self.hub.tell(STUDY, encode(self.news)), self.loop).result(5.0)
        return row

    def has_site(self, _study: str, _site: str) -> bool:
        return True

    def sites(self, _study: str) -> list[Any]:
        return []


def row(state: State, contract: Any = None) -> Any:
    return SimpleNamespace(id=STUDY, name="trial", state=state, contract=contract, message="", variables=())


@pytest.mark.parametrize(
    ("news", "after", "wanted"),
    [
        (Proposal(CONTRACT.encoded()), row(State.RUNNING, CONTRACT), [Welcome, Proposal]),
        (Closing("cancelled", ""), row(State.CANCELLED), [Welcome, Closing]),
    ],
)
def test_news_of_the_study_come_after_the_welcome_and_are_not_lost(news: Any, after: Any, wanted: list[type]) -> None:
    async def greeted() -> list[Any]:
        hub, recorder = Hub(), Recorder()
        studies = Studies(hub, news, row(State.OPEN), after)
        studies.loop = asyncio.get_running_loop()
        sockets = SiteSockets.__new__(SiteSockets)
        sockets._store, sockets._identity = cast(Any, SimpleNamespace(studies=studies)), Identity.generate()
        connection = Connection(STUDY, "site0", recorder)
        await hub.register(connection)
        await sockets._greet(connection, lambda said: said)
        return recorder.said

    assert [type(message) for message in asyncio.run(greeted())] == wanted
