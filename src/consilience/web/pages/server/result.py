"""The result of a study: who may see it, and where its files are. What it shows is the same in both apps."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request

from consilience.service.store import Principal, State
from consilience.web.pages.result import ResultSource
from consilience.web.pages.server.visit import HOME, Visit, login_first
from consilience.web.rendering import Link

__all__ = ["load"]


async def load(request: Request) -> ResultSource:
    """The result that an address means; 404 where there is none for this person."""
    return await run_in_threadpool(_source, request)


def _source(request: Request) -> ResultSource:
    visit = Visit.of(request)
    if visit.who == Principal():
        raise login_first(visit)
    row = visit.told
    if row.state is not State.FINISHED:
        raise HTTPException(404, f"There is a result when the study is finished; it is {row.state.value}.")
    home = f"{HOME}/{row.id}"
    above = ((Link("Studies", HOME),) if visit.owner else ()) + (Link(row.name, home),)
    runs = visit.services.store.runs
    # a result never changes; a study that is deleted is not found above, whatever was kept of it
    return ResultSource(row.id, row.name, row.id, lambda name: runs.document(row.id, name), visit.shell(), above)
