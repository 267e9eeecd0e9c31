"""For those who operate the server: is it well, and what does it do?"""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from fastapi.responses import PlainTextResponse

from consilience.protocol.version import VERSION
from consilience.secagg import fingerprint_text
from consilience.service.server.services import Parts

__all__ = ["router"]

router = APIRouter(tags=["operations"])


@router.get("/health", summary="Is the server well?")
def health(services: Parts) -> dict[str, str]:
    """`ok` if the database answers; the server's fingerprint, for people to compare."""
    services.store.studies.count()
    return {"status": "ok", "protocol": str(VERSION), "fingerprint": fingerprint_text(services.identity.fingerprint)}


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
