"""The result: the documents that this site has downloaded."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from consilience.web.pages.site.common import desk_of, page, see

__all__ = ["document", "show"]

# what the agent downloads; not the server's own table of them, which would load all of the server
DOCUMENTS = {
    "report.html": "text/html; charset=utf-8",
    "result.json": "application/json",
    "tests.csv": "text/csv; charset=utf-8",
    "local-pag.svg": "image/svg+xml",
    "local-pag.json": "application/json",
}


async def show(request: Request) -> Response:
    """What was found."""
    desk = desk_of(request)
    if desk.study is None or not desk.finished:
        return see("/run")
    files = [(name, (desk.study.path / name).stat().st_size) for name in DOCUMENTS if (desk.study.path / name).exists()]
    return page(request, "result.html", "The result", files=files)


async def document(request: Request) -> Response:
    """One of the documents, as a download."""
    desk = desk_of(request)
    name = request.path_params["name"]
    if desk.study is None or name not in DOCUMENTS or not (desk.study.path / name).exists():
        raise HTTPException(404, "There is no such document.")
    content = await asyncio.to_thread((desk.study.path / name).read_bytes)
    headers = {"Content-Disposition": f'attachment; filename="{desk.study.joined.study}-{name}"'}
    return Response(content, media_type=DOCUMENTS[name], headers=headers)
