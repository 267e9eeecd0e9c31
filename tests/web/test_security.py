"""Headers on every answer, also on errors; and nobody from elsewhere is answered."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from consilience.web.rendering import static_mount
from consilience.web.security import HEADERS, Shield

HOST = "127.0.0.1:8099"
ORIGIN = f"http://{HOST}"


async def page(_request: Request) -> Response:
    return PlainTextResponse("page")


async def broken(_request: Request) -> Response:
    raise RuntimeError("inside")


def client(*, links: bool = False) -> TestClient:
    routes = [Route("/", page, methods=["GET", "POST"]), Route("/api/x", page, methods=["POST"]), Route("/broken", broken), static_mount()]
    shield = Middleware(Shield, hosts=[HOST], links=links, outside=("/api/",))
    return TestClient(Starlette(routes=routes, middleware=[shield]), base_url=ORIGIN)


@pytest.mark.parametrize("path", ["/", "/nothing", "/broken", "/static/style.css", "/static/nothing.js"])
def test_every_answer_has_the_headers(path: str) -> None:
    answer = client().get(path)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answer.headers["cache-control"] == ("no-cache" if path.startswith("/static/") else "no-store")


def test_a_page_that_fails_says_nothing_of_its_inside() -> None:
    answer = client().get("/broken")
    assert answer.status_code == 500
    assert "inside" not in answer.text


@pytest.mark.parametrize("host", ["evil.example", "localhost:8099", "127.0.0.1", ""])
def test_another_host_is_not_served(host: str) -> None:
    answer = client().get("/", headers={"host": host})
    assert answer.status_code == 403
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8098"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_pages_of_other_origins_get_nothing(method: str, headers: dict[str, str]) -> None:
    assert client().request(method, "/", headers=headers).status_code == 403


def test_a_form_must_say_where_it_comes_from() -> None:
    assert client().post("/").status_code == 403
    assert client().post("/", headers={"origin": ORIGIN}).status_code == 200
    assert client().post("/", headers={"sec-fetch-site": "same-origin"}).status_code == 200
    assert client().post("/api/x").status_code == 200  # programs have no cookie that another page could use


def test_links_lead_to_a_server_and_never_to_a_sites_app() -> None:
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert client(links=True).get("/", headers=followed).status_code == 200
    assert client(links=True).get("/", headers=followed | {"sec-fetch-dest": "iframe"}).status_code == 403
    assert client(links=True).post("/", headers=followed).status_code == 403
    assert client().get("/", headers=followed).status_code == 403
