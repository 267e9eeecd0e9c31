"""The task list."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from consilience.web.pages.site.common import desk_of, page, tasks_of

__all__ = ["show"]


async def show(request: Request) -> Response:
    """All steps, each with its state."""
    tasks = tasks_of(desk_of(request))
    done = sum(task.colour == "good" for task in tasks)
    return page(request, "start.html", "Take part in a study", tasks=tasks, done=done)
