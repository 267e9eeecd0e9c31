"""The result that this site has downloaded: the pages that both apps share, over the files in the study's folder."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from consilience.federation.site.ledger import printable
from consilience.web.pages.result import ResultSource, result_routes
from consilience.web.pages.site.common import desk_of, shell_of
from consilience.web.rendering import Link

__all__ = ["routes"]

SHARED = ("result.json", "tests.csv", "report.html")
OWN = {"local-pag.svg": "image/svg+xml", "local-pag.json": "application/json"}


async def _load(request: Request) -> ResultSource:
    desk = desk_of(request)
    if desk.study is None or not desk.finished:
        raise HTTPException(404, "The result is here when the study is finished.")
    folder, contract = desk.study.path, desk.study.contract
    changed = (folder / "result.json").stat().st_mtime_ns

    def document(name: str) -> bytes | None:
        path = folder / name
        return path.read_bytes() if name in SHARED and path.exists() else None

    study = desk.study.joined.study
    # graphs and tables need the width that the steps take elsewhere
    shell = replace(
        shell_of(request), steps=(), links=(Link("All steps", "/"), Link("Run", "/run"), Link("Result", "/result", current=True))
    )
    return ResultSource(study, printable(contract.name) if contract else study, f"{study}-{changed}", document, shell)


async def _own(request: Request) -> Response:
    """This site's own local graph, which only this site knows to be its own."""
    desk = desk_of(request)
    name = request.path_params["name"]
    if desk.study is None or name not in OWN or not (desk.study.path / name).exists():
        raise HTTPException(404, "There is no such document.")
    content = await asyncio.to_thread((desk.study.path / name).read_bytes)
    headers = {"Content-Disposition": f'attachment; filename="{desk.study.joined.study}-{name}"'}
    return Response(content, media_type=OWN[name], headers=headers)


def routes() -> list[Route]:
    """The addresses."""
    return [*result_routes("/result", _load), Route("/result/own/{name}", _own)]
