"""The result: the documents that this site has downloaded."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from consilience.service.server.result_files import DOCUMENTS
from consilience.web.pages.site.common import desk_of, page, see

__all__ = ["document", "show"]

OWN = {"local-pag.svg": "image/svg+xml", "local-pag.json": "application/json"}


async def show(request: Request) -> Response:
    """What was found."""
    desk = desk_of(request)
    if desk.study is None or not desk.finished:
        return see("/run")
    files = [(name, (desk.study.path / name).stat().st_size) for name in (*DOCUMENTS, *OWN) if (desk.study.path / name).exists()]
    return page(request, "result.html", "The result", files=files)


async def document(request: Request) -> Response:
    """One of the documents, as a download."""
    desk = desk_of(request)
    name = request.path_params["name"]
    kinds = {**DOCUMENTS, **OWN}
    if desk.study is None or name not in kinds or not (desk.study.path / name).exists():
        raise HTTPException(404, "There is no such document.")
    content = await asyncio.to_thread((desk.study.path / name).read_bytes)
    headers = {"Content-Disposition": f'attachment; filename="{desk.study.joined.study}-{name}"'}
    return Response(content, media_type=kinds[name], headers=headers)
