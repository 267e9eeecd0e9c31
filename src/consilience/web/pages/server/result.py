"""The result of a study: who may see it, and where its files are. What it shows is the same in both apps."""

from __future__ import annotations

import json

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request

from consilience.iod.discovery import Discovery
from consilience.service.errors import SearchError
from consilience.service.server.services import Services
from consilience.service.store import Principal, State
from consilience.service.withdrawal import sentences_of
from consilience.service.worker.messages import Problem, Redecide
from consilience.web.pages.result import ResultSource
from consilience.web.pages.server.visit import HOME, Visit, login_first
from consilience.web.rendering import Link

__all__ = ["decide_again", "load"]


def decide_again(services: Services, source: ResultSource, found: Discovery, alpha: float, seconds: float) -> Discovery:
    """A result at another level, found by a worker process: the server has other things to do."""
    del found
    told = services.runner.searching.decide_again(Redecide(source.document("result.json") or b"", alpha, seconds))
    if isinstance(told, Problem):
        raise SearchError(told.words)
    return Discovery.from_dict(json.loads(told.result))


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
    notes = tuple(sentences_of(visit.services.store, row))
    # a result never changes; a study that is deleted is not found above, whatever was kept of it
    return ResultSource(row.id, row.name, row.id, lambda name: runs.document(row.id, name), visit.shell(), above, notes=notes)
