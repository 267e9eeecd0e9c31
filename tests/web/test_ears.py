"""The ears of the tests in a browser hear what they are there for: a test that listens must be able to fail."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from consilience.web.security import POLICY
from tests.web.browser import Street, street

PAGES = {
    "/good": "<!doctype html><html lang=en><title>Good</title><main><h1>Good</h1><p>Nothing is wrong here.</p></main>",
    "/inline": "<!doctype html><html lang=en><title>Inline</title><script>window.ran = true</script>",
    "/style": "<!doctype html><html lang=en><title>Style</title><p style='color: red'>red</p>",
    "/elsewhere": "<!doctype html><html lang=en><title>Elsewhere</title><img src='http://127.0.0.1:9/x.png' alt=''>",
    "/blind": "<!doctype html><title>Blind</title><img src='/good'><input>",
}


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        page = PAGES.get(self.path)
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write((page or "<!doctype html><title>Not found</title>").encode())

    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Street]:
    with street(tmp_path_factory.mktemp("street")) as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/inline", "script-src-elem by inline"),
        ("/style", "style-src-attr by inline"),
        ("/elsewhere", "img-src by http://127.0.0.1:9/x.png"),
        ("/blind", "image-alt"),
        ("/blind", "html-has-lang"),
        ("/nowhere", "status of 404"),
    ],
)
def test_what_is_wrong_is_heard(people: Street, address: str, path: str, words: str) -> None:
    person = people.person("listener", address)
    person.page.goto(address + path)
    if path == "/blind":
        person.audit(path)
    person.page.wait_for_timeout(100)
    assert any(words in told for told in person.wrong()), person.wrong()
    person.context.close()


@pytest.mark.slow
def test_a_good_page_is_not_complained_of_and_a_foreign_one_is(people: Street, address: str) -> None:
    person = people.person("listener", address)
    person.allowed.add(404)  # it asks for an icon
    person.page.goto(address + "/good")
    person.audit("good")
    assert person.wrong() == []
    person.page.evaluate("fetch('http://localhost:9/').catch(() => 0)")
    assert any("localhost:9" in told for told in person.wrong())
    person.context.close()
