"""One look serves all open pages of a study, and ends with the last of them."""

from __future__ import annotations

import asyncio

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
    async with feeds.following(study) as feed:
        return [await feed.next() for _ in range(most)]


def test_two_hundred_pages_share_their_looks() -> None:
    looks = Looks()

    async def run() -> None:
        feeds = Feeds(looks, Bell())  # type: ignore[arg-type]
        found = await asyncio.gather(*(page(feeds, "one", 5) for _ in range(200)))
        assert all(one == found[0] for one in found)
        assert [one.number for one in found[0] if one] == [1, 2, 3, 4, 5]
        assert len(feeds) == 0

    asyncio.run(run())
    assert looks.count <= 6


def test_who_leaves_does_not_stop_the_others() -> None:
    async def run() -> None:
        feeds = Feeds(Looks(), Bell())  # type: ignore[arg-type]
        first, second = (asyncio.create_task(page(feeds, "one", 10)) for _ in range(2))
        await asyncio.sleep(0.03)
        first.cancel()
        assert len(await second) == 10
        assert len(feeds) == 0

    asyncio.run(run())


def test_pages_end_when_nobody_can_look() -> None:
    async def run() -> None:
        feeds = Feeds(Looks(broken=True), Bell())  # type: ignore[arg-type]
        with pytest.raises(OSError, match="disk"):
            await page(feeds, "one", 1)
        assert len(feeds) == 0

    asyncio.run(run())
