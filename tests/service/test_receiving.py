"""A message that is begun has its time; silence before it has not."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from consilience import errors
from consilience.protocol.framing import Assembler
from consilience.service import receiving
from consilience.service.agent import Agent
from consilience.service.config import AgentConfig
from consilience.service.receiving import next_message
from tests.service.agent.sites import CLIENTS, folder_of

Receive = Callable[[], Awaitable[bytes]]
T = TypeVar("T")


class Waiting(selectors.DefaultSelector):
    """Time goes by where a loop would wait for it, and nowhere else: no pause is longer on a busy machine."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nothing is waited for that will ever come"
        self.now += timeout
        return super().select(0)


class Loop(asyncio.SelectorEventLoop):
    """A loop whose clock is that of its waiting."""

    def __init__(self) -> None:
        self.waiting = Waiting()
        super().__init__(self.waiting)

    def time(self) -> float:
        return self.waiting.now


def run(work: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(work)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "MESSAGE_SECONDS", 0.1)
    monkeypatch.setattr(receiving, "LEAST_RATE", 1e6)


def sending(*steps: float | bytes) -> Receive:
    """Frames with pauses between them; at the end, nothing for ever."""
    waiting = list(steps)

    async def receive() -> bytes:
        while waiting:
            step = waiting.pop(0)
            if isinstance(step, bytes):
                return step
            await asyncio.sleep(step)
        await asyncio.Event().wait()
        raise AssertionError

    return receive


def test_silence_before_a_message_is_none_of_its_time() -> None:
    assert run(next_message(sending(0.3, b"\x01a", b"\x00b"), Assembler(10))) == b"ab"


@pytest.mark.parametrize("steps", [(b"\x01a",), (b"\x01a", 0.04, b"\x01b", 0.04, b"\x01c", 0.04, b"\x01d", 0.04, b"\x01e", 1.0)])
def test_who_says_more_and_does_not_go_on_is_ended(steps: tuple[float | bytes, ...]) -> None:
    """Also who sends a byte now and then."""
    with pytest.raises(errors.UnfinishedMessageError, match=r"begun must be finished within 0\.1 seconds"):
        run(asyncio.wait_for(next_message(sending(*steps), Assembler(100)), 5.0))


def test_a_long_message_has_the_time_that_it_takes() -> None:
    frames = [step for _ in range(4) for step in (b"\x01" + bytes(200_000), 0.05)]
    whole = run(next_message(sending(*frames, b"\x00"), Assembler(10**6)))
    assert len(whole) == 800_000


def test_a_time_out_of_the_line_itself_is_not_ours() -> None:
    async def dead() -> bytes:
        raise TimeoutError("no route")

    with pytest.raises(TimeoutError, match="no route"):
        run(next_message(dead, Assembler(10)))


def test_an_agent_takes_such_a_server_for_lost(tmp_path: Path) -> None:
    """TimeoutError is what it comes back after."""
    agent = Agent(folder_of(tmp_path).joined, CLIENTS[0].identity, AgentConfig(), lambda _: None)

    class Line:
        recv = staticmethod(sending(b"\x01more"))

    with pytest.raises(TimeoutError, match="nothing more came in time"):
        run(agent._receive(Line(), Assembler(100)))  # type: ignore[arg-type]
