"""Documents are fetched again while a server comes back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest

from consilience.service.agent import entry
from consilience.service.errors import UnreachableError

TOKEN = "a token"


class Shaky(HTTPServer):
    """Answers with these codes in turn; 0 hangs up. The last is repeated."""

    codes: list[int]
    asked: int = 0


class Handler(BaseHTTPRequestHandler):
    server: Shaky

    def do_GET(self) -> None:
        code = self.server.codes[min(self.server.asked, len(self.server.codes) - 1)]
        self.server.asked += 1
        assert self.headers["Authorization"] == f"Bearer {TOKEN}"
        if code == 0:
            self.connection.close()
            return
        self.send_response(code)
        self.end_headers()
        self.wfile.write(b"found")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def shaky(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shaky]:
    monkeypatch.setattr(entry, "PAUSES", (0.0, 0.0))
    server = Shaky(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def fetch(server: Shaky) -> bytes | None:
    with httpx.Client(timeout=5.0, trust_env=False) as client:
        return entry._document(client, f"http://127.0.0.1:{server.server_port}/result.json", TOKEN)


@pytest.mark.slow
@pytest.mark.parametrize(("codes", "wanted", "asked"), [([200], b"found", 1), ([503, 0, 200], b"found", 3), ([404], None, 1)])
def test_what_a_server_says_on_its_way_back(shaky: Shaky, codes: list[int], wanted: bytes | None, asked: int) -> None:
    shaky.codes = codes
    assert fetch(shaky) == wanted
    assert shaky.asked == asked


def test_a_server_that_stays_away_is_an_error_with_the_way_out(shaky: Shaky) -> None:
    shaky.codes = [503]
    with pytest.raises(UnreachableError, match=r"status 503.*run the client again"):
        fetch(shaky)
    assert shaky.asked == 3
