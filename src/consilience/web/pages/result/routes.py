"""The addresses of a result's pages, for an app to mount."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from consilience.graph.drawing.shapes import STYLE
from consilience.graph.drawing.svg import Positions
from consilience.iod.report.page import asset
from consilience.sheets import guarded_csv
from consilience.web.pages.result import pages
from consilience.web.pages.result.choice import choose
from consilience.web.pages.result.exports import EXPORTS, exports_of
from consilience.web.pages.result.links import Links
from consilience.web.pages.result.listing import Listing
from consilience.web.pages.result.prepared import FARTHEST, Alpha, Desk, Prepared, read_alpha
from consilience.web.pages.result.source import Load, ResultSource
from consilience.web.pages.result.view import View

__all__ = ["result_routes"]

DOCUMENTS = {"result.json": "application/json", "tests.csv": "text/csv; charset=utf-8", "report.html": "text/html; charset=utf-8"}


class _Asked(NamedTuple):
    """A request, with all that pages need of it."""

    request: Request
    source: ResultSource
    held: Prepared
    alpha: Alpha
    links: Links

    def view(self) -> View:
        return self.held.view(choose(self.request.query_params, self.held.found))

    def positions(self) -> Positions:
        """Where the variables stand: as in all drawings, or where somebody has moved them (``at``, by the order of their names)."""
        told = self.request.query_params.get("at", "")
        names = self.held.pairs.labels
        places = told.split(";") if told else []
        if len(places) != len(names):
            return self.held.positions
        return {name: _point(place, self.held.positions[name]) for name, place in zip(names, places, strict=True)}


Answer = Callable[[_Asked], Response]


def result_routes(prefix: str, load: Load, *, desk: Desk | None = None) -> list[Route]:
    """Routes of all pages of a result.

    Parameters
    ----------
    prefix : str
        The address of the first page, with its parameters, such as ``/studies/{study}/result``.
    load : callable
        Asked with every request for the result that it means; answers 404 where there is none for this person.
    desk : Desk, optional
        Where results lie once they were read; one of its own by default.

    Returns
    -------
    list of Route
        For a Starlette or FastAPI app. The app serves ``/static`` and puts the headers on.

    Examples
    --------
    >>> async def load(request): ...
    >>> [route.path for route in result_routes("/result", load)][:3]
    ['/result', '/result/tests', '/result/sure']
    """
    kept = desk or Desk()

    def page(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        async def serve(request: Request) -> Response:
            source = await load(request)
            alpha = read_alpha(request.query_params.get("alpha", ""))
            held = await kept.get(source, alpha.value)
            told = f"{held.found.alpha:g}" if held.again else ""
            links = Links(prefix.format(**request.path_params), told)
            return await run_in_threadpool(answer, _Asked(request, source, held, alpha, links))

        return serve

    async def download(request: Request) -> Response:
        source, name = await load(request), request.path_params["document"]
        body = await run_in_threadpool(source.document, name) if name in DOCUMENTS else None
        if body is None:
            raise HTTPException(404, "This study has no such file.")
        if name == "tests.csv":
            body = await run_in_threadpool(guarded_csv, body)
        return _file(body, f"{source.study}-{name}", DOCUMENTS[name])

    return [
        Route(prefix, page(_graph)),
        Route(f"{prefix}/tests", page(_tests)),
        Route(f"{prefix}/sure", page(lambda asked: pages.sure_page(asked.source, asked.held, asked.links, asked.alpha))),
        Route(f"{prefix}/effects", page(lambda asked: pages.effects_page(asked.source, asked.held, asked.links, asked.alpha))),
        Route(f"{prefix}/conflicts", page(lambda asked: pages.conflicts_page(asked.source, asked.held, asked.links, asked.alpha))),
        Route(f"{prefix}/about", page(lambda asked: pages.about_page(asked.source, asked.held, asked.links, asked.alpha))),
        Route(f"{prefix}/graph.json", page(_data)),
        Route(f"{prefix}/drawing.svg", page(_drawing)),
        Route(f"{prefix}/export/{{kind}}", page(_export)),
        Route(f"{prefix}/files/{{document}}", download),
        Route(f"{prefix}/assets/{{name}}", _asset),
    ]


def _graph(asked: _Asked) -> Response:
    view = asked.view()
    links = Links(asked.links.base, asked.links.alpha, view.choice)
    pair = view.pair_named(asked.request.query_params.get("pair", ""))
    return pages.graph_page(asked.source, asked.held, view, links, asked.alpha, pair)


def _tests(asked: _Asked) -> Response:
    query = asked.request.query_params
    whole = asked.held.view(choose({"show": "summary"}, asked.held.found))
    listing = Listing.read(query, asked.held.found, whole.pair_named(query.get("pair", "")))
    return pages.tests_page(asked.source, asked.held, asked.links, asked.alpha, listing)


def _data(asked: _Asked) -> Response:
    told = asked.view().to_dict(asked.held.positions)
    return Response(json.dumps(told, ensure_ascii=False, allow_nan=False), media_type="application/json")


def _drawing(asked: _Asked) -> Response:
    return Response(asked.view().svg(asked.positions()), media_type="image/svg+xml")


def _export(asked: _Asked) -> Response:
    view, kind = asked.view(), asked.request.path_params["kind"]
    export = EXPORTS.get(kind)
    if export is None or (export.title and export not in exports_of(view)):
        raise HTTPException(404, "This drawing cannot be written as such a file.")
    body = export.make(view, asked.positions()).encode("utf-8", "replace")
    level = f"-alpha-{asked.links.alpha}" if asked.links.alpha else ""
    return _file(body, f"{asked.source.study}-{view.choice.file}{level}.{export.name}", export.media_type)


async def _asset(request: Request) -> Response:
    """What the report has in itself, and these pages load."""
    name = request.path_params["name"]
    if name == "parts.css":
        return Response(asset("parts.css") + STYLE, media_type="text/css", headers={"Cache-Control": "no-cache"})
    if name == "tables.js":
        return Response(asset("tables.js"), media_type="text/javascript", headers={"Cache-Control": "no-cache"})
    raise HTTPException(404)


def _file(body: bytes, name: str, media_type: str) -> Response:
    """A file to be kept. A browser that shows it all the same runs nothing in it: it holds names that others chose."""
    plain = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_.") else "_" for letter in name)
    headers: dict[str, Any] = {"Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"}
    return Response(body, media_type=media_type, headers=headers)


def _point(text: str, otherwise: tuple[float, float]) -> tuple[float, float]:
    x, _, y = text.partition(",")
    try:
        point = float(x), float(y)
    except ValueError:
        return otherwise
    return point if all(math.isfinite(one) and abs(one) <= FARTHEST for one in point) else otherwise
