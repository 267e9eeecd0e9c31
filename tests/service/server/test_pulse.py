"""Whether the database answers: not whether the machine is busy."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time

from consilience.service.server.pulse import TICKS, Pulse

SECONDS = 0.1


def test_a_database_that_does_not_answer_is_said_again_and_again_until_it_does() -> None:
    go = threading.Event()
    pulse = Pulse(lambda: go.wait(60) and None, seconds=SECONDS)

    async def asked() -> list[str]:
        found = [await pulse.problem() for _ in range(2)]
        go.set()
        return [*found, await pulse.problem(), await pulse.problem()]

    assert asyncio.run(asked()) == [*["the database has not answered for 0.1 seconds"] * 2, "", ""]
    pulse.close()


def test_an_error_is_said_once_and_looked_for_again() -> None:
    errors = [sqlite3.OperationalError("disk I/O error")]

    def check() -> None:
        if errors:
            raise errors.pop()

    pulse = Pulse(check, seconds=60.0)

    async def asked() -> list[str]:
        return [await pulse.problem(), await pulse.problem()]

    assert asyncio.run(asked()) == ["the database does not answer: disk I/O error", ""]
    pulse.close()


def test_whoever_is_behind_others_in_the_queue_is_not_unanswered() -> None:
    go, answers = threading.Event(), iter(range(1000))
    pulse = Pulse(lambda: go.wait(60) and None, lambda: next(answers), SECONDS)
    assert asyncio.run(pulse.problem()) == ""
    go.set()
    pulse.close()


def test_an_event_loop_that_is_late_waits_for_as_many_looks() -> None:
    """A look takes as long as the loop is held up by others: the database has all of that time as well."""
    go, late = threading.Event(), 3 * SECONDS
    pulse = Pulse(lambda: go.wait(60) and None, seconds=SECONDS)

    async def held_up() -> str:
        loop = asyncio.get_running_loop()
        loop.call_later(late, go.set)
        asked = asyncio.create_task(pulse.problem())
        while not asked.done():
            time.sleep(SECONDS)
            await asyncio.sleep(0)
        return await asked

    assert late < TICKS * SECONDS
    assert asyncio.run(held_up()) == ""
    pulse.close()
