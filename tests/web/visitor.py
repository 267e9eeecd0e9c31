"""A browser without scripts, over HTTP to a real process: cookies, forms with their tokens, the headers that browsers send."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Any

import httpx

from consilience.service.tls import client_context
from tests.system.processes import OWNER, PASSWORD, Server

__all__ = ["Visitor", "at_app", "at_server"]

CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')


@dataclass
class Visitor:
    """Somebody with a session. ``seconds`` are what each page took, by its address."""

    client: httpx.Client
    origin: str
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def get(self, path: str) -> httpx.Response:
        begin = time.perf_counter()
        reply = self.client.get(path)
        self.seconds.setdefault(path, []).append(time.perf_counter() - begin)
        return reply

    def csrf(self, page: str) -> str:
        found = CSRF.findall(self.get(page).text)
        assert found, f"{page} has no form"
        return str(found[-1])

    def post(self, path: str, page: str, **fields: Any) -> httpx.Response:
        """Send the form of ``page`` to ``path``."""
        return self.client.post(path, data={"csrf": self.csrf(page), **fields}, headers={"Origin": self.origin})

    def upload(self, path: str, page: str, name: str, content: bytes, field: str = "file") -> httpx.Response:
        """Send the form of ``page`` with a file, the token in front of it."""
        files = {"csrf": (None, self.csrf(page)), field: (name, content)}
        return self.client.post(path, files=files, headers={"Origin": self.origin})


def at_server(server: Server) -> Visitor:
    """The owner, logged in."""

    context = client_context((server.home / "tls.crt").read_text())
    client = httpx.Client(base_url=server.url, verify=context, timeout=60.0, trust_env=False, follow_redirects=True)
    made = Visitor(client, server.url)
    reply = made.post("/login", "/login", name=OWNER, password=PASSWORD)
    assert reply.url.path == "/studies", reply.text[:500]
    return made


def at_app(address: str) -> Visitor:
    """The owner of a site, by the address that its app printed."""
    origin = "/".join(address.split("/")[:3])
    client = httpx.Client(base_url=origin, timeout=60.0, trust_env=False, follow_redirects=True)
    assert client.get(address).status_code == 200
    return Visitor(client, origin)
