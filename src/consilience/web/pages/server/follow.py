"""Open pages of a study that is not over: they are told what has changed, as long as whoever looks still may."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from consilience.service.errors import TokenError
from consilience.service.store import Principal, State, Store, TokenKind
from consilience.web.live import Event, last_event
from consilience.web.pages.server.board import Boards, Standing
from consilience.web.pages.server.feed import Feeds
from consilience.web.pages.server.visit import HOME, Visit

__all__ = ["Parts", "boards_of", "events_of", "follow", "may_look"]

Parts = Callable[[Visit, Standing], list[tuple[str, str]]]
"""The parts of a page that change: ids of elements, and what is in them now."""


def boards_of(request: Request) -> Boards:
    """How studies stand, for all pages of the server."""
    found = request.app.state.boards
    assert isinstance(found, Boards)
    return found


async def follow(request: Request, parts: Parts | None = None, *, inside: bool = False) -> Response:
    """The events of a page: those of its own ``parts``, or of the board that all pages of a study share. They end with study or session.

    ``inside``: for owners and observers, and not for sites.
    """

    def enter() -> tuple[Visit, str, Standing | None, bool]:
        visit = Visit.of(request)
        if visit.who == Principal():
            raise HTTPException(401, "Log in again.")
        study, bare = (visit.seen if inside else visit.shared).id, not visit.access.result
        return visit, study, boards_of(request).standing(study, bare=bare), bare

    # one step into a thread for all of it: when a run begins, all its pages come at once
    visit, study, standing, bare = await run_in_threadpool(enter)
    return visit.pages.streams.respond(events_of(visit, study, last_event(request), parts, standing, bare=bare))


async def events_of(
    visit: Visit, study: str, after: int, parts: Parts | None = None, standing: Standing | None = None, *, bare: bool = False
) -> AsyncIterator[Event]:
    """What changes after an event, until there is nothing more to come. ``standing`` is what whoever may look has just seen; ``bare``
    says that what was found is not shown.
    """
    feeds: Feeds = visit.request.app.state.feeds
    state: State | None = None
    shown = time.monotonic()
    if standing is None:
        if not await run_in_threadpool(may_look, visit.services.store, visit.session, study, bare=bare):
            yield Event("go", HOME)
            return
        standing = await run_in_threadpool(boards_of(visit.request).standing, study, bare=bare)
    async with feeds.following(study, visit.session, bare=bare) as feed:
        while True:
            if standing is None or not feed.allows(visit.session):
                yield Event("go", HOME)
                return
            if standing.number > after or (standing.state is State.RUNNING and standing.at > shown):
                after, shown = max(after, standing.number), standing.at
                told = _shared(visit, standing, state) if parts is None else await run_in_threadpool(parts, visit, standing)
                for target, html in told:
                    yield Event("replace", target, html, after)
            if parts is not None and state is not None and standing.state is not state:  # its words and its buttons are others
                yield Event("go", f"{HOME}/{study}{'/progress' if standing.state is State.RUNNING else ''}", number=after)
                return
            if standing.state.is_over:
                yield Event("done", "", f"The study is {standing.state.value}; nothing more will change here.", after)
                return
            state, latest = standing.state, standing.at
            standing = await feed.next()
            while standing is not None and standing.at < latest:  # from a look that began before this page's own
                standing = await feed.next()


def _shared(visit: Visit, standing: Standing, before: State | None) -> list[tuple[str, str]]:
    """What all pages that follow a run show alike. They stay open when it begins and when it ends: to load two hundred pages anew, in the
    moment in which the result is written, takes a server many seconds.
    """
    told = [("board", standing.html)]
    if standing.state is not before:
        told += [("steps", standing.steps)] if visit.owner else []
        told += [("actions", "")] if standing.state.is_over else []  # there is nothing to cancel any more
    return told


def may_look(store: Store, session: str, study: str, *, bare: bool = False) -> bool:
    """Whether pages of a session may still show a study that they were let in to; ``bare``: without what it has found."""
    try:
        access = store.members.access(study, store.accounts.who(session, TokenKind.PAGES))
    except TokenError:
        return False
    return access is not None and (access.result or bare)
