"""A run as it goes: who is there, tests, rounds, the latest events; kept up to date by events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from consilience.service.errors import TokenError
from consilience.service.store import Principal, State, TokenKind
from consilience.web.live import Event, last_event
from consilience.web.pages.server.board import Boards
from consilience.web.pages.server.life import COLOURS, MEANINGS, steps
from consilience.web.pages.server.visit import HOME, Visit, shows

__all__ = ["live", "progress"]

PAUSE_SECONDS = 0.5
"""Between two looks of one page: a run has many rounds a second, and people read one."""
LOOK_SECONDS = 0.4
"""After the pause, at the latest; the bell is for being earlier, and may ring between a look and the wait for it."""
ASK_SECONDS = 10.0
"""Between checks that whoever looks still may: the session may have ended, the site been removed."""


def _progress(visit: Visit) -> Response:
    row = visit.shared
    standing = _boards(visit.request).standing(row.id)
    assert standing is not None
    return visit.show(
        "progress.html",
        "Run",
        study=row,
        steps=steps(row, visit.request.url.path) if visit.owner else (),
        standing=standing,
        colour=COLOURS[row.state],
        meaning=MEANINGS[row.state],
        is_owner=bool(visit.owner),
    )


def _boards(request: Request) -> Boards:
    found = request.app.state.boards
    assert isinstance(found, Boards)
    return found


async def live(request: Request) -> Response:
    """The events of the progress page. They end when the study does, or the session."""
    visit = await run_in_threadpool(Visit.of, request)
    if visit.who == Principal():
        raise HTTPException(401, "Log in again.")
    row = await run_in_threadpool(lambda: visit.shared)
    return visit.pages.streams.respond(_events(visit, row.id, last_event(request)))


async def _events(visit: Visit, study: str, after: int) -> AsyncIterator[Event]:
    boards, bell = _boards(visit.request), visit.services.bell
    state: State | None = None
    asked = 0.0
    while True:
        standing = await run_in_threadpool(boards.standing, study)
        if time.monotonic() - asked >= ASK_SECONDS:
            asked = time.monotonic()
            if not await run_in_threadpool(_may_look, visit, study):
                standing = None
        if standing is None:
            yield Event("go", HOME)
            return
        if standing.number > after:
            after = standing.number
            yield Event("replace", "board", standing.html, after)
        if state is not None and standing.state is not state:  # a page of another state: its words and its buttons are others
            yield Event("go", f"{HOME}/{study}", number=after)
            return
        if standing.state.is_over:
            return
        state = standing.state
        await asyncio.sleep(PAUSE_SECONDS)
        await bell.wait(study, LOOK_SECONDS)


def _may_look(visit: Visit, study: str) -> bool:
    try:
        who = visit.services.store.accounts.who(visit.session, TokenKind.PAGES)
    except TokenError:
        return False
    return bool(who.owner) or visit.services.store.studies.has_site(study, who.site)


progress = shows(_progress, owner=False)
