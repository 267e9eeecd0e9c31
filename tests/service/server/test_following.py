"""Those who follow a study: all hear everything, in order, and one look serves them all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from consilience.service.server import following
from consilience.service.server.following import Following, Listener
from consilience.service.server.runner import Bell
from consilience.service.store import Database, State, Store
from consilience.settings import NetworkSettings

LISTENERS, EVENTS = 60, 40


class Stage:
    """A study with events, and listeners; it counts how often the store is asked for them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(following, "LOOK_SECONDS", 0.05)
        self.store, self.bell, self.asked = Store(Database(":memory:", clock=lambda: 5.0)), Bell(), 0
        self.store.accounts.add("ada", "hash")
        self.study = self.store.studies.create("ada", "trial", None, None, NetworkSettings())
        self.store.studies.move(self.study, [State.DRAFT], State.OPEN)
        self.following = Following(self.store, self.bell)
        events = self.store.runs.events

        def counted(*given: Any) -> Any:
            self.asked += 1
            return events(*given)

        self.store.runs.events = counted  # type: ignore[method-assign]

    def happens(self, kind: str = "stage") -> None:
        self.store.runs.add_event(self.study, kind)
        self.bell.ring(self.study)

    async def heard(self, site: str = "", after: int = 0) -> list[int]:
        """The numbers that one listener hears, to the end."""
        still = (lambda: self.store.studies.has_site(self.study, site)) if site else (lambda: True)
        text = "".join([line async for line in self.following.lines(self.study, Listener(site, still), after)])
        return [int(line[4:]) for line in text.splitlines() if line.startswith("id: ")]

    def end(self) -> None:
        self.store.studies.move(self.study, [State.OPEN], State.CANCELLED)
        self.happens("cancelled")


def acted(monkeypatch: pytest.MonkeyPatch, act: Callable[[Stage], Any]) -> Any:
    async def run() -> Any:
        stage = Stage(monkeypatch)
        stage.bell.bind(asyncio.get_running_loop())
        found = await asyncio.wait_for(act(stage), 30.0)
        assert len(stage.following) == 0, "the last who leaves ends the looking"
        return found

    return asyncio.run(run())


def test_all_listeners_hear_everything_and_one_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(stage: Stage) -> tuple[list[list[int]], int]:
        stage.happens("created")
        listeners = [asyncio.create_task(stage.heard()) for _ in range(LISTENERS)]
        while (feed := stage.following._feeds.get(stage.study)) is None or feed.total < LISTENERS:
            await asyncio.sleep(0.01)  # until all have caught up, each by itself
        before = stage.asked
        for _ in range(EVENTS):
            stage.happens()
            await asyncio.sleep(0.01)
        stage.end()
        return await asyncio.gather(*listeners), stage.asked - before

    heard, asked = acted(monkeypatch, act)
    assert heard == [list(range(1, EVENTS + 3))] * LISTENERS
    assert asked < 3 * EVENTS  # and not as often for each of the listeners


@pytest.mark.parametrize(("after", "wanted"), [(0, [1, 2, 3]), (2, [3]), (3, []), (10**15, [])])
def test_a_study_that_is_over_is_told_to_its_end(monkeypatch: pytest.MonkeyPatch, after: int, wanted: list[int]) -> None:
    async def act(stage: Stage) -> list[int]:
        stage.happens("created")
        stage.happens()
        stage.end()
        return await stage.heard(after=after)

    assert acted(monkeypatch, act) == wanted


def test_who_is_far_behind_or_ahead_hears_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "MOST_KEPT", 3)

    async def act(stage: Stage) -> list[list[int]]:
        one = asyncio.create_task(stage.heard(after=5))  # it has seen five, it says, and there is none
        await asyncio.sleep(0.1)
        other = asyncio.create_task(stage.heard())
        await asyncio.sleep(0.1)
        for _ in range(9):
            stage.happens()
        stage.end()
        return await asyncio.gather(one, other)

    assert acted(monkeypatch, act) == [[6, 7, 8, 9, 10], list(range(1, 11))]


def test_a_site_that_is_removed_hears_no_more_and_the_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(stage: Stage) -> tuple[list[int], list[int]]:
        stage.store.studies.invite(stage.study, "one", bytes(32), 60.0)
        stage.store.studies.redeem(stage.study, bytes(32), bytes(32))
        stage.happens()
        site, owner = asyncio.create_task(stage.heard("one")), asyncio.create_task(stage.heard())
        await asyncio.sleep(0.2)
        stage.store.studies.remove_site(stage.study, "one")
        heard = await asyncio.wait_for(site, 5.0)
        stage.end()
        return heard, await owner

    assert acted(monkeypatch, act) == ([1], [1, 2])


def test_a_listener_that_leaves_takes_nobody_along(monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(stage: Stage) -> list[int]:
        one, other = asyncio.create_task(stage.heard()), asyncio.create_task(stage.heard())
        await asyncio.sleep(0.1)
        one.cancel()
        with suppress(asyncio.CancelledError):
            await one
        stage.end()
        return await other

    assert acted(monkeypatch, act) == [1]
