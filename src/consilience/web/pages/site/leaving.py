"""What will leave: a dry run with this site's own table, and a document about it for the data protection officer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response

from consilience.web.desk.document import document
from consilience.web.desk.leaving import kinds_of
from consilience.web.live import Event, Streams
from consilience.web.pages.site.common import desk_of, form_of, page, see

__all__ = ["download", "events", "rehearse", "show"]

PATIENCE_SECONDS = 3.0
"""A dry run that takes no longer is waited for; a longer one has a page that says so."""
MOST_LINES = 2000


async def show(request: Request) -> Response:
    """The dry run, or how to do it."""
    desk = desk_of(request)
    if desk.offer is None or not desk.fit_confirmed:
        return see("/fit")
    rehearsal = desk.dry_run.found
    kinds = kinds_of(rehearsal.lines) if rehearsal else []
    judged = desk.judgement() if rehearsal else None
    return page(
        request,
        "leaving.html",
        "What will leave this site",
        offer=desk.offer,
        rehearsal=rehearsal,
        kinds=kinds,
        lines=rehearsal.lines[:MOST_LINES] if rehearsal else (),
        busy=desk.dry_run.busy,
        failed=desk.dry_run.failed,
        judged=judged,
        limits=desk.offer.contract.limits(),
        disclosed=desk.disclosed() if rehearsal else (),
        warnings=[*desk.offer.warnings(), *(judged.identities if judged else ())],
    )


async def rehearse(request: Request) -> Response:
    """Do the dry run."""
    await form_of(request)
    desk = desk_of(request)
    if desk.offer is None or not desk.fit_confirmed or not desk.fits():
        return see("/fit")
    desk.rehearse()
    await desk.dry_run.wait(PATIENCE_SECONDS)
    return see("/leaving")


async def events(request: Request) -> Response:
    """Tells the page when the dry run is done."""
    desk = desk_of(request)

    async def found() -> AsyncIterator[Event]:
        while desk.dry_run.busy:
            await asyncio.sleep(0.3)
        yield Event("go", "/leaving")

    streams: Streams = request.app.state.streams
    return streams.respond(found())


async def download(request: Request) -> Response:
    """The document."""
    desk = desk_of(request)
    if desk.offer is None or desk.dry_run.found is None:
        return see("/leaving")
    headers = {"Content-Disposition": f'attachment; filename="consilience-{desk.offer.study}-data-protection.html"'}
    return Response(document(desk), media_type="text/html; charset=utf-8", headers=headers)
