"""For those who operate the server: is it well, and what does it do?"""

from __future__ import annotations

import time

from fastapi import APIRouter, HTTPException
from fastapi.responses import JSONResponse, PlainTextResponse

from consilience.protocol.succession import succession
from consilience.protocol.version import VERSION
from consilience.secagg import fingerprint_text
from consilience.service.server.models import Problem
from consilience.service.server.services import RETRY_SECONDS, Parts

__all__ = ["router"]

router = APIRouter(tags=["operations"])


@router.get("/health", summary="Is the server well?", responses={503: {"description": "The database does not answer."}})
async def health(services: Parts) -> JSONResponse:
    """`ok` if the database answers, else `degraded`, at once; the server's fingerprint, for people to compare."""
    # in the event loop, and not in a thread: all threads may be waiting for the database
    problem = await services.pulse.problem()
    told = {"status": "degraded", "reason": problem} if problem else {"status": "ok"}
    told |= {"protocol": str(VERSION), "fingerprint": fingerprint_text(services.identity.fingerprint)}
    told |= {"certificate_ends": services.expiry.day} if services.expiry.day else {}
    told |= {"warning": words} if (words := services.expiry.warning(time.time())) else {}
    return JSONResponse(told, 503 if problem else 200, {"Retry-After": RETRY_SECONDS} if problem else None)


@router.get("/api/v1/certificate", summary="The server's certificate", responses={404: {"model": Problem}})
def certificate(services: Parts) -> dict[str, str]:
    """A certificate of the server's own making, signed by its identity: sites whose invitation has an older one go on by it."""
    if not services.certificate:
        raise HTTPException(404, "This server has no certificate of its own making: sites trust the authority that has made it.")
    said = succession(services.identity, services.certificate)
    return {"certificate": said.certificate, "signature": said.signature}


@router.get("/metrics", summary="Counters", response_class=PlainTextResponse)
def metrics(services: Parts) -> PlainTextResponse:
    """Prometheus' text format; numbers only. The setting `metrics = false` switches it off."""
    if not services.config.metrics:
        raise HTTPException(404, "Metrics are switched off on this server.")
    gauges: dict[str, float] = {"sites_connected": len(services.hub), "runs_active": services.runner.active}
    searching = services.runner.searching
    gauges |= {"searches_under_way": searching.under_way, "searches_waiting": searching.waiting}
    gauges |= {f'studies{{state="{state}"}}': n for state, n in sorted(services.store.studies.count().items())}
    return PlainTextResponse(services.metrics.text(gauges), media_type="text/plain; version=0.0.4; charset=utf-8")
