"""A run as it goes: who is there, tests, rounds, the latest events; kept up to date by events."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from consilience.web.pages.server.follow import boards_of, follow
from consilience.web.pages.server.life import steps
from consilience.web.pages.server.visit import Visit, shows

__all__ = ["live", "progress"]


def _progress(visit: Visit) -> Response:
    row, access = visit.shared, visit.access
    return visit.show(
        "progress.html",
        "Run",
        study=row,
        steps=steps(row, visit.request.url.path, result=access.result) if access.inside else (),
        standing=boards_of(visit.request).standing(row.id, fresh=True, bare=not access.result),
        access=access,
    )


async def live(request: Request) -> Response:
    """The events of the page. What they show was made once, for all who look."""
    return await follow(request)


progress = shows(_progress, owner=False)
