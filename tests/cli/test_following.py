"""Following a study and fetching its result: a server that goes and comes back, one that lies, and one that was never there."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import consilience as cs
from consilience.cli import entry, study_following
from consilience.service.result_files import documents_of
from tests.service.agent.sites import CLIENTS, CONTRACT, STUDY
from tests.service.hostile import Evil, evil_server


@pytest.fixture(autouse=True)
def _logged_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONSILIENCE_SERVER_TOKEN", "a token")
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.setattr(study_following, "PAUSES", (0.0, 0.0))


@pytest.fixture
def evil() -> Iterator[Evil]:
    with evil_server() as server:
        yield server


@pytest.fixture(scope="module")
def result() -> bytes:
    return dict(documents_of(cs.discover(cs.Server(CLIENTS)), CONTRACT, ("site0", "site1", "site2"), 3, 96))["result.json"]


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["consilience", "server", "study", *words])
    monkeypatch.setattr(entry, "_end", sys.exit)  # which ends a process at once if a step of the solver is left in it: here, the tests'
    with pytest.raises(SystemExit) as ended:
        entry.main()
    return int(ended.value.code or 0)


# what is written


def test_only_data_come_from_the_server_and_the_report_is_made_here(
    evil: Evil, tmp_path: Path, result: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(result)
    told["tests"][0]["reason"] = "<img src=x onerror=alert(1)>"
    told["study"]["withdrawn"] = ["<b>site2</b> withdrew on 2026-01-31."]
    body = json.dumps(told).encode()
    evil.says = {"result.json": (200, body), "report.html": (200, b"<script>fetch('//evil')</script>"), "tests.csv": (200, b"=cmd()\n")}
    assert run(monkeypatch, "result", STUDY, "--out", str(tmp_path), "--server", evil.url) == 0
    assert [path.rpartition("/")[2] for path in evil.asked] == ["result.json"]
    assert capsys.readouterr().out.split() == [str(tmp_path / name) for name in ("result.json", "tests.csv", "report.html")]
    assert (tmp_path / "result.json").read_bytes() == body
    page, mark = (tmp_path / "report.html").read_text(), "&lt;b&gt;site2&lt;/b&gt; withdrew on 2026-01-31."
    assert page.replace(f'<p class="withdrawn"><strong>{mark}</strong></p>', "", 1) == cs.Discovery.from_dict(told).to_html() != page
    assert "default-src 'none'" in unescape(page)
    assert "<img" not in page
    assert "=cmd" not in (tmp_path / "tests.csv").read_text()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html>", "must be JSON"),
        (b"[]", f"must be that of the study {STUDY}"),
        (json.dumps({"study": {"id": STUDY}}).encode(), "is not one"),
        (json.dumps({"study": {"id": STUDY, "withdrawn": 1}}).encode(), "is not one"),
    ],
)
def test_what_is_no_result_is_not_written(
    evil: Evil, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], body: bytes, words: str
) -> None:
    evil.says = {"result.json": (200, body)}
    assert run(monkeypatch, "result", STUDY, "--out", str(tmp_path / "out"), "--server", evil.url) == 2
    told = capsys.readouterr().err
    assert words in told
    assert "Nothing was written. Ask whoever runs the server." in told
    assert not (tmp_path / "out").exists()


# who goes and comes back


class Coming(ThreadingHTTPServer):
    """Says one of these pieces of a stream at a time, and how the study stands after it; then it hangs up, in the middle with None."""

    pieces: list[tuple[bytes | None, str]]
    after: list[str]
    state = "running"


class Handler(BaseHTTPRequestHandler):
    server: Coming

    def do_GET(self) -> None:
        if not self.path.endswith("/events"):
            self._say(200, json.dumps({"state": self.server.state}).encode())
            return
        self.server.after.append(self.headers["Last-Event-ID"])
        piece, self.server.state = self.server.pieces.pop(0) if self.server.pieces else (None, self.server.state)
        if piece is None:
            self._say(503, b'{"message": "not now"}')
        else:
            self._say(200, piece, more=self.server.state == "lost")

    def _say(self, code: int, body: bytes, *, more: bool = False) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(body) + 10 * more))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def coming(*pieces: tuple[bytes | None, str]) -> Iterator[Coming]:
    server = Coming(("127.0.0.1", 0), Handler)
    server.pieces, server.after = list(pieces), []
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def event(number: int, kind: str, **body: object) -> bytes:
    return f"id: {number}\nevent: {kind}\ndata: {json.dumps(body)}\n\n".encode()


def test_whoever_follows_a_study_goes_on_where_the_server_was_when_it_went(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    end = event(9, "finished", pags=2, headline="two graphs")
    with coming((event(3, "opened"), "lost"), (None, "open"), (event(4, "started"), "running"), (end, "finished")) as server:
        assert run(monkeypatch, "watch", STUDY, "--server", f"http://127.0.0.1:{server.server_port}") == 0
        assert server.after == ["0", "3", "3", "4"]
    told = capsys.readouterr()
    assert [line.split()[0] for line in told.out.splitlines()] == ["opened", "started", "finished", "two"]
    assert told.err.count("The server does not answer. It is asked again for about a minute.") == 2


def test_a_server_that_stays_away_is_said_in_words(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with coming((event(3, "opened"), "open")) as server:
        assert run(monkeypatch, "watch", STUDY, "--server", f"http://127.0.0.1:{server.server_port}") == 2
        assert server.after == ["0", "3", "3"]
    assert "does not answer: Server error '503" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("watch", STUDY), ("result", STUDY)])
def test_a_server_that_was_never_there_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    assert run(monkeypatch, *words, "--server", f"http://127.0.0.1:{port}") == 2
    told = capsys.readouterr().err
    assert f"127.0.0.1:{port}/api/v1/ does not answer" in told
    assert "asked again" not in told
