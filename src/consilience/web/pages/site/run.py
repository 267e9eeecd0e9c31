"""The run: who is there, how far it is, what has left this site line by line, and a way out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from consilience.errors import ConsilienceError
from consilience.web.desk import SiteDesk
from consilience.web.desk.session import Session
from consilience.web.desk.words import page_words
from consilience.web.forms import Trouble
from consilience.web.live import Event, Streams, last_event
from consilience.web.pages.site.common import desk_of, form_of, page, see
from consilience.web.rendering import fragment

__all__ = ["events", "go_on", "leave", "ledger", "show", "withdraw"]

SHOWN = 300
"""Lines of the ledger that a page begins with; all are in the file."""
TICK_SECONDS = 0.5


async def show(request: Request) -> Response:
    """The run as it stands."""
    desk = desk_of(request)
    if desk.study is None:
        return see("/join")
    return _page(request)


def _page(request: Request, *troubles: Trouble) -> Response:
    desk = desk_of(request)
    lines = desk.ledger()
    active = desk.busy
    return page(
        request,
        "run.html",
        "The run",
        troubles=list(troubles),
        lines=list(enumerate(lines, start=1))[-SHOWN:],
        count=len(lines),
        active=active,
        **{name: value for name, value in _values(desk).items() if name not in ("desk", "over")},
    )


def _values(desk: SiteDesk) -> dict[str, Any]:
    """What the live part of the page shows."""
    session = desk.session
    study = session.study if session is not None and session.study else desk.shown
    lines = desk.ledger()
    sent = [line for line in lines if not line.refused]
    totals = {
        "messages": len(sent),
        "numbers": sum(line.numbers for line in sent),
        "bytes": sum(line.bytes for line in sent),
        "refused": len(lines) - len(sent),
    }
    contract = desk.study.contract if desk.study is not None else None
    settings = contract.settings if contract is not None else None
    return {
        "session": session,
        "study": study,
        "totals": totals,
        "settings": settings,
        "elapsed": _elapsed(session),
        "old": session is not None and session.active and bool(session.seen) and time.time() - session.seen > 5.0,
        "finished": desk.finished,
        "own_graph": desk.study is not None and (desk.study.path / "local-pag.svg").exists(),
        "standing": session.standing.value if session is not None else "",
        "words": list(session.words)[-5:] if session is not None else [],
        "agreed": contract is not None or (session is not None and (session.agreed is not None or session.tells)),
        "over": desk.over,
        "pending": session is not None and session.pending is not None,
        "desk": desk,
        "withdrawn": desk.study.withdrawn if desk.study is not None else None,
    }


def _elapsed(session: Session | None) -> float | None:
    """Seconds since the first message of this run; the agent itself may have waited for days before."""
    lines = session.ledger.entries if session is not None and session.active and session.ledger is not None else ()
    return max(0.0, time.time() - datetime.fromisoformat(lines[0].time).timestamp()) if lines else None


def _state(request: Request) -> str:
    """The live part, made once a tick for however many pages are open."""
    kept, now = request.app.state, time.monotonic()
    made: tuple[float, object, str] = getattr(kept, "run_state", (-1.0, None, ""))
    session = desk_of(request).session
    fresh = now - made[0] < 0.8 * TICK_SECONDS and made[1] is session and session is not None and session.active
    if not fresh:
        made = kept.run_state = (now, session, fragment("site/run_state.html", **_values(desk_of(request))))
    return made[2]


async def events(request: Request) -> Response:
    """The live part, whenever it changes, and every new line of the ledger."""
    desk = desk_of(request)
    streams: Streams = request.app.state.streams

    async def found() -> AsyncIterator[Event]:
        number, before = last_event(request), ""
        session = desk.session
        while True:
            lines = desk.ledger()
            for line in lines[number:]:
                number += 1
                yield Event("append", "ledger", fragment("site/ledger_line.html", number=number, line=line), number)
            now = _state(request)
            if now != before:
                before = now
                yield Event("replace", "state", now, number)
            if desk.session is not session or session is None or not session.active:
                yield Event("go", "/result" if desk.finished else "/run", "", number)
                return
            await asyncio.sleep(TICK_SECONDS)

    return streams.respond(found())


async def leave(request: Request) -> Response:
    """Leave the study: the connection ends."""
    form = await form_of(request)
    desk = desk_of(request)
    if not form.flag("sure"):
        return page(request, "leave.html", "Leave the study?", contract=desk.study.contract if desk.study else None)
    if desk.session is not None and desk.session.active:
        await desk.session.leave(told=True)
    return see("/run")


async def withdraw(request: Request) -> Response:
    """Withdraw from the study, for good."""
    form = await form_of(request)
    try:
        await desk_of(request).withdraw(form.text("reason", 500))
    except ConsilienceError as error:  # it is on disk in any case, and the page says so
        return _page(request, Trouble("", page_words(error)))
    return see("/run")


async def go_on(request: Request) -> Response:
    """Connect again: after leaving, after an error, or after this app was started anew."""
    await form_of(request)
    desk = desk_of(request)
    if desk.study is None or desk.busy or desk.study.withdrawn is not None:
        return see("/run")
    if desk.study.contract is None and (desk.session is None or desk.session.agreed is None):
        return see("/consent")
    if desk.table is None:
        return see("/data")
    agreed, named = (desk.session.agreed, desk.session.named) if desk.session is not None else (None, frozenset[str]())
    try:
        await desk.look()
        if obstacle := desk.obstacle():
            return _page(request, Trouble("", obstacle))
        desk.begin(agreed, named=named)
    except ConsilienceError as error:
        return _page(request, Trouble("", page_words(error)))
    return see("/run")


async def ledger(request: Request) -> Response:
    """The ledger as a file, one line of JSON a message, as it is on disk."""
    headers = {"Content-Disposition": 'attachment; filename="ledger.jsonl"'}
    return Response(await asyncio.to_thread(desk_of(request).ledger_bytes), media_type="application/jsonl", headers=headers)
