"""A browser without scripts: cookies, forms with their tokens, and the pages of a real study server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

from httpx2 import Response
from starlette.testclient import TestClient

from consilience.web.server_app import with_pages
from tests.service.helpers import PASSWORD, Clock, make_app

HOST = "https://study.example"
CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')


class Browser:
    """Somebody's browser, on a server that others may look at, too."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def get(self, path: str, **headers: str) -> Response:
        return self.client.get(path, follow_redirects=False, headers=headers)

    def csrf(self, path: str) -> str:
        found = CSRF.findall(self.get(path).text)
        assert found, f"{path} has no form"
        return str(found[-1])

    def post(self, path: str, page: str, *, csrf: str | None = None, origin: str = HOST, **fields: Any) -> Response:
        """Send the form of ``page`` to ``path``, as a browser does."""
        data = {"csrf": self.csrf(page) if csrf is None else csrf, **fields}
        return self.client.post(path, data=data, headers={"Origin": origin}, follow_redirects=False)

    def login(self, name: str = "ada", password: str = PASSWORD, **more: str) -> Response:
        return self.post("/login", "/login", name=name, password=password, **more)

    def new_study(self, name: str = "trial", way: str = "ask") -> str:
        reply = self.post("/studies/new", "/studies/new", name=name, way=way)
        assert reply.status_code == 303, reply.text
        return str(reply.headers["location"].split("/")[2])

    def act(self, study: str, what: str, **fields: Any) -> Response:
        return self.post(f"/studies/{study}/{what}", f"/studies/{study}", **fields)


@contextmanager
def browsing(home: Path, clock: Clock | None = None, **settings: Any) -> Iterator[Browser]:
    settings = {"login_burst": 1000, "join_burst": 1000, **settings}
    with TestClient(with_pages(make_app(home, clock, **settings)), base_url=HOST, raise_server_exceptions=False) as client:
        yield Browser(client)


def another(browser: Browser) -> Browser:
    """Another browser on the same server, without the first one's cookies."""
    return Browser(TestClient(browser.client.app, base_url=HOST, raise_server_exceptions=False))


def words(reply: Response) -> str:
    """A page's text without its tags, roughly."""
    inline = re.sub(r"</?(?:bdi|code|em|strong|span|a)\b[^>]*>", "", reply.text)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", inline)).split())


def is_troubled(reply: Response) -> bool:
    """The form's page again, with what is wrong at its top."""
    return reply.status_code == 200 and 'class="error-summary"' in reply.text
