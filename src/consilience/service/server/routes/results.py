"""What a study has found: events as they happen, tests so far, documents at the end."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from hashlib import sha256
from sqlite3 import OperationalError
from typing import Annotated, Literal

from fastapi import APIRouter, Header, HTTPException, Query, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from consilience.citest.rounding import PUBLISHED_DIGITS
from consilience.service.result_files import DOCUMENTS, plain
from consilience.service.server.exporting import EXPORTED, export
from consilience.service.server.models import EventOut, HeardOut, ReceivedOut, SiteKeyOut, SiteTotalsOut
from consilience.service.server.received import totals_of
from consilience.service.server.services import OwnStudy, Parts, Services, SharedStudy, Who
from consilience.service.store import Event, State
from consilience.sheets import guarded_csv

__all__ = ["router"]

router = APIRouter(prefix="/api/v1/studies/{study}", tags=["results"])
HEARTBEAT_SECONDS = 15.0
Document = Literal["result.json", "tests.csv", "report.html"]


@router.get("/events", summary="Follow a study", responses={200: {"content": {"text/event-stream": {}}}}, response_class=StreamingResponse)
async def events(
    row: SharedStudy,
    who: Who,
    services: Parts,
    last_event_id: Annotated[int, Header(ge=0, le=2**53, description="Go on after this event.")] = 0,
) -> StreamingResponse:
    """Server-sent events, from the first on or after `Last-Event-ID`, until the study is over. Each was on disk before it is sent."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_stream(services, row.id, who.site, last_event_id), media_type="text/event-stream", headers=headers)


async def _stream(services: Services, study: str, site: str, after: int) -> AsyncIterator[str]:
    try:
        async for line in _lines(services, study, site, after):
            yield line
    except OperationalError:  # the answer has begun: it ends, and whoever follows comes back with the number of the last event
        return


async def _lines(services: Services, study: str, site: str, after: int) -> AsyncIterator[str]:
    while True:
        if site and not await run_in_threadpool(services.store.studies.has_site, study, site):
            return  # it was removed
        row = await run_in_threadpool(services.store.studies.get, study)  # before the events: the last of them must not be missed
        found = await run_in_threadpool(services.store.runs.events, study, after)
        for event in found:
            after = event.number
            yield f"id: {event.number}\nevent: {event.kind}\ndata: {json.dumps({'time': event.time, **event.body}, ensure_ascii=False)}\n\n"
        if found:
            continue
        if row is None or row.state.is_over:
            return
        await services.bell.wait(study, HEARTBEAT_SECONDS)
        yield ": still here\n\n"


@router.get("/log", summary="Events so far")
def log(row: SharedStudy, services: Parts, after: Annotated[int, Query(ge=0, le=2**53)] = 0) -> list[EventOut]:
    """As a list, 500 at most, for programs that would rather ask again than follow."""
    return [_event(event) for event in services.store.runs.events(row.id, after)]


def _event(event: Event) -> EventOut:
    return EventOut(number=event.number, time=event.time, kind=event.kind, body=event.body)


@router.get("/received", summary="What was received")
def received(row: SharedStudy, who: Who, services: Parts) -> ReceivedOut:
    """Length and digest of every answer, and every refusal: of all sites for the owner, of itself for a site."""
    sites = [site for site in services.store.studies.sites(row.id) if who.owner or site.name == who.site]
    return ReceivedOut(
        sites=[SiteKeyOut(name=site.name, identity=site.identity.hex()) for site in sites],
        heard=[HeardOut(**(one._asdict() | {"digest": one.digest.hex()})) for one in services.store.runs.heard(row.id, who.site)],
    )


@router.get("/received/totals", summary="What was received, in all")
def received_totals(row: SharedStudy, who: Who, services: Parts) -> list[SiteTotalsOut]:
    """Answers, numbers and bytes of each site, and what it refused: of all sites for the owner, of itself for a site."""
    sites = [site.name for site in services.store.studies.sites(row.id) if who.owner or site.name == who.site]
    return [SiteTotalsOut(**asdict(one)) for one in totals_of(sites, services.store.runs.heard(row.id, who.site))]


@router.get("/tests", summary="Tests so far")
def tests(row: OwnStudy, services: Parts) -> Response:
    """Every result that is there, also while the study runs and after it failed; numbers have six significant digits."""
    found = [plain(result.to_dict(), PUBLISHED_DIGITS) for result in services.store.runs.results(row.id)]
    return Response(json.dumps(found, ensure_ascii=False), media_type="application/json")


@router.get("/archive", summary="Export a study", responses={200: {"content": {"application/zip": {}}}}, response_class=Response)
def archive(row: OwnStudy, services: Parts) -> Response:
    """A study that is over as one file for an audit: contract, consents, record of answers, tests, result, versions and the SHA-256
    of each, as an RO-Crate 1.1 that the server has signed.
    """
    content = export(services, row)
    services.store.audit.add(row.owner, EXPORTED, study=row.id, detail=f"SHA-256 {sha256(content).hexdigest()}")
    headers = {"Content-Disposition": f'attachment; filename="{row.id}.zip"', "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type="application/zip", headers=headers)


@router.get("/documents/{name}", summary="Download a result")
def document(name: Document, row: SharedStudy, services: Parts) -> Response:
    """For the owner and for every site: PAGs, local PAGs and tests as JSON, the tests as CSV, the report as HTML."""
    if row.state is not State.FINISHED:
        raise HTTPException(404, f"There is a result when the study is finished; it is {row.state.value}.")
    content = services.store.runs.document(row.id, name)
    if content is None:
        raise HTTPException(404, f"This study has no {name}.")
    if name == "tests.csv":
        content = guarded_csv(content)  # those of former versions have names as they are
    headers = {"Content-Disposition": f'attachment; filename="{row.id}-{name}"', "X-Content-Type-Options": "nosniff"}
    headers["Content-Security-Policy"] = "sandbox"  # a report holds names that others chose
    return Response(content, media_type=DOCUMENTS[name], headers=headers)
