"""A run as it goes: who is there, tests, rounds, the latest events; kept up to date by events."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from consilience.service.server import actions
from consilience.service.store import State
from consilience.web.forms import Form, Trouble
from consilience.web.pages.server.follow import boards_of, follow
from consilience.web.pages.server.life import steps
from consilience.web.pages.server.visit import HOME, Visit, acts, go, shows

__all__ = ["left_out", "live", "progress"]


def _progress(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200) -> Response:
    row, access = visit.shared, visit.access
    sites = visit.services.store.studies.sites(row.id)
    asking = row.state is State.RUNNING and not all(site.consented for site in sites)
    return visit.show(
        "progress.html",
        "Run",
        status=status,
        troubles=troubles,
        leaving=[site.name for site in sites] if asking else [],
        study=row,
        steps=steps(row, visit.request.url.path, result=access.result) if access.inside else (),
        standing=boards_of(visit.request).standing(row.id, fresh=True, bare=not access.result),
        access=access,
    )


def _left_out(visit: Visit, form: Form) -> Response:
    row = visit.study
    if not actions.without(visit.services, row, form.text("site", 64)):
        return _progress(visit, [Trouble("", "There is no such site any more.")], 404)
    return go(f"{HOME}/{row.id}/progress")


async def live(request: Request) -> Response:
    """The events of the page. What they show was made once, for all who look."""
    return await follow(request)


progress = shows(_progress, owner=False)
left_out = acts(_left_out, _progress)
