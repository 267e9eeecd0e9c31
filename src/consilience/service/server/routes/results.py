"""What a study has found: events as they happen, tests so far, documents at the end."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from typing import Annotated, Literal

from fastapi import APIRouter, Header, HTTPException, Query, Response
from fastapi.responses import StreamingResponse

from consilience.citest.rounding import PUBLISHED_DIGITS
from consilience.service.errors import TokenError
from consilience.service.result_files import DOCUMENTS, plain
from consilience.service.server.exporting import EXPORTED, export
from consilience.service.server.following import Listener
from consilience.service.server.models import EventOut, HeardOut, ReceivedOut, SiteKeyOut, SiteTotalsOut
from consilience.service.server.received import totals_of
from consilience.service.server.redaction import without_result
from consilience.service.server.services import Parts, Services, SharedStudy, Token, ToldStudy, Who, WholeStudy, access_to
from consilience.service.store import Event, State
from consilience.sheets import guarded_csv

__all__ = ["router"]

router = APIRouter(prefix="/api/v1/studies/{study}", tags=["results"])
Document = Literal["result.json", "tests.csv", "report.html"]


@router.get("/events", summary="Follow a study", responses={200: {"content": {"text/event-stream": {}}}}, response_class=StreamingResponse)
async def events(
    row: SharedStudy,
    who: Who,
    token: Token,
    services: Parts,
    last_event_id: Annotated[int, Header(ge=0, le=2**53, description="Go on after this event.")] = 0,
) -> StreamingResponse:
    """Server-sent events, from the first on or after `Last-Event-ID`, until the study or the token is over. Each was on disk before."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    shown = access_to(row.id, who, services)[1].result
    still = partial(_still, services, token, row.id, shown)
    lines = services.following.lines(row.id, Listener((token, shown), still, shown), last_event_id)
    return StreamingResponse(lines, media_type="text/event-stream", headers=headers)


def _still(services: Services, token: str, study: str, shown: bool) -> bool:  # noqa: FBT001  (for partial)
    """Whether who follows a study still may: a token may have ended, a site been removed, a study taken back, its result hidden."""
    try:
        access = services.store.members.access(study, services.store.accounts.who(token))
    except TokenError:
        return False
    return access is not None and (access.result or not shown)


@router.get("/log", summary="Events so far")
def log(row: SharedStudy, who: Who, services: Parts, after: Annotated[int, Query(ge=0, le=2**53)] = 0) -> list[EventOut]:
    """As a list, 500 at most, for programs that would rather ask again than follow."""
    shown = access_to(row.id, who, services)[1].result
    return [_event(event if shown else without_result(event)) for event in services.store.runs.events(row.id, after)]


def _event(event: Event) -> EventOut:
    return EventOut(number=event.number, time=event.time, kind=event.kind, body=event.body)


@router.get("/received", summary="What was received")
def received(row: SharedStudy, who: Who, services: Parts) -> ReceivedOut:
    """Length and digest of every answer, and every refusal: of all sites for owners and observers, of itself for a site."""
    sites = [site for site in services.store.studies.sites(row.id) if who.owner or site.name == who.site]
    return ReceivedOut(
        sites=[SiteKeyOut(name=site.name, identity=site.identity.hex()) for site in sites],
        heard=[HeardOut(**(one._asdict() | {"digest": one.digest.hex()})) for one in services.store.runs.heard(row.id, who.site)],
    )


@router.get("/received/totals", summary="What was received, in all")
def received_totals(row: SharedStudy, who: Who, services: Parts) -> list[SiteTotalsOut]:
    """Answers, numbers and bytes of each site, and what it refused: of all sites for owners and observers, of itself for a site."""
    sites = [site.name for site in services.store.studies.sites(row.id) if who.owner or site.name == who.site]
    return [SiteTotalsOut(**asdict(one)) for one in totals_of(sites, services.store.runs.heard(row.id, who.site))]


@router.get("/tests", summary="Tests so far")
def tests(row: WholeStudy, services: Parts) -> Response:
    """Every result that is there, also while the study runs and after it failed; numbers have six significant digits."""
    found = [plain(result.to_dict(), PUBLISHED_DIGITS) for result in services.store.runs.results(row.id)]
    return Response(json.dumps(found, ensure_ascii=False), media_type="application/json")


@router.get("/archive", summary="Export a study", responses={200: {"content": {"application/zip": {}}}}, response_class=Response)
def archive(row: WholeStudy, services: Parts) -> Response:
    """A study that is over as one file for an audit: contract, consents, record of answers, tests, result, versions and the SHA-256
    of each, as an RO-Crate 1.1 that the server has signed.
    """
    content = export(services, row)
    services.store.audit.add(row.by, EXPORTED, study=row.id, detail=f"SHA-256 {sha256(content).hexdigest()}")
    headers = {"Content-Disposition": f'attachment; filename="{row.id}.zip"', "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type="application/zip", headers=headers)


@router.get("/documents/{name}", summary="Download a result")
def document(name: Document, row: ToldStudy, services: Parts) -> Response:
    """For owners, sites, and observers whom its owner allows it: PAGs, local PAGs and tests as JSON, tests as CSV, the report as HTML."""
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
