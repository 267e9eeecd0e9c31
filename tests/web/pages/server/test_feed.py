"""One look serves all open pages of a study, and ends with the last of them."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from consilience.service.server.runner import Bell
from consilience.service.store import State
from consilience.web.pages.server import feed as module
from consilience.web.pages.server.board import Standing
from consilience.web.pages.server.feed import Feeds


class Looks:
    """Boards that count who looks."""

    def __init__(self, *, broken: bool = False) -> None:
        self.count, self.broken = 0, broken

    def standing(self, study: str) -> Standing:
        self.count += 1
        if self.broken:
            raise OSError("the disk is gone")
        return Standing(self.count, State.RUNNING, f"<p>{study}", float(self.count))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.01)


async def page(feeds: Feeds, study: str, most: int) -> list[Standing | None]:
    async with feeds.following(study, "session") as feed:
        return [await feed.next() for _ in range(most)]


def test_two_hundred_pages_share_their_looks() -> None:
    looks = Looks()

    async def run() -> None:
        feeds = Feeds(looks, Bell(), lambda _session, _study: True)  # type: ignore[arg-type]
        found = await asyncio.gather(*(page(feeds, "one", 5) for _ in range(200)))
        assert all(one == found[0] for one in found)
        assert [one.number for one in found[0] if one] == [1, 2, 3, 4, 5]
        assert len(feeds) == 0

    asyncio.run(run())
    assert looks.count <= 6


def test_who_leaves_does_not_stop_the_others() -> None:
    async def run() -> None:
        feeds = Feeds(Looks(), Bell(), lambda _session, _study: True)  # type: ignore[arg-type]
        first, second = (asyncio.create_task(page(feeds, "one", 10)) for _ in range(2))
        await asyncio.sleep(0.03)
        first.cancel()
        assert len(await second) == 10
        assert len(feeds) == 0

    asyncio.run(run())


def test_all_pages_of_a_session_ask_once_and_end_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()

    def may_look(session: str, study: str) -> bool:
        asked.append(f"{session} at {study}")
        return session != "ended"

    async def seen(feeds: Feeds, session: str) -> int:
        async with feeds.following("one", session) as feed:
            for n in range(20):
                if not feed.allows(session):
                    return n
                await feed.next()
        return 20

    async def run() -> None:
        feeds = Feeds(Looks(), Bell(), may_look)  # type: ignore[arg-type]
        pages = ["ended"] * 100 + ["open"] * 100
        found = await asyncio.gather(*(seen(feeds, session) for session in pages))
        assert set(found[100:]) == {20}
        assert max(found[:100]) < 20
        assert len(feeds) == 0

    monkeypatch.setattr(module, "ASK_SECONDS", 0.05)
    asyncio.run(run())
    assert asked.count("ended at one") == 1
    assert 1 <= asked.count("open at one") < 20, "now and then, not with every look, and not for every page"


def test_many_sessions_take_turns_in_being_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()

    async def run() -> None:
        feeds = Feeds(Looks(), Bell(), lambda session, _study: not asked.append(session))  # type: ignore[arg-type, func-returns-value]
        async with AsyncExitStack() as stack:
            opened = [await stack.enter_async_context(feeds.following("one", str(n))) for n in range(5)]
            for wanted in ("01", "23", "40", "12"):
                await opened[0].next()
                assert "".join(asked[-2:]) == wanted

    monkeypatch.setattr(module, "ASK_SECONDS", 0.0)
    monkeypatch.setattr(module, "MOST_ASKED", 2)
    asyncio.run(run())


def test_pages_end_when_nobody_can_look() -> None:
    async def run() -> None:
        feeds = Feeds(Looks(broken=True), Bell(), lambda _session, _study: True)  # type: ignore[arg-type]
        with pytest.raises(OSError, match="disk"):
            await page(feeds, "one", 1)
        assert len(feeds) == 0

    asyncio.run(run())
