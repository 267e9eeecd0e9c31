"""A database that does not answer, and one that is gone: the server says so at once, and does not go on as if it were new."""

from __future__ import annotations

import shutil
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from consilience.service.tls import client_context
from tests.system.processes import OWNER, PASSWORD, Server, begin, declaration, running
from tests.system.test_equality import frames_of
from tests.system.test_lockout import stalled

pytestmark = pytest.mark.slow
AT_ONCE = 8.0
"""Seconds, on a machine that does much else; it was thirty for whoever asked first, and more for the next."""
WRITERS = 12
LONGEST = 14.0
"""Seconds that a request may wait for a database that does not answer."""


def create(server: Server) -> tuple[float, httpx.Response]:
    begun = time.monotonic()
    reply = server.call("POST", "/studies", declaration(frames_of(2)))
    return time.monotonic() - begun, reply


def test_a_locked_database_is_said_at_once_and_over_when_it_is_over(server: Server) -> None:
    said = len(server.log.read_text())
    with (
        ThreadPoolExecutor(WRITERS) as threads,
        stalled(server),
        httpx.Client(base_url=server.url, verify=client_context(Path(server.ca).read_text()), trust_env=False) as other,
    ):
        waiting = [threads.submit(create, server) for _ in range(WRITERS)]
        told = []
        for _ in range(3):
            begun = time.monotonic()
            told.append(other.get("/health", timeout=AT_ONCE))
            assert time.monotonic() - begun < AT_ONCE
            time.sleep(0.2)
        answers = [one.result() for one in waiting]
        page = other.post("/api/v1/login", json={"name": OWNER, "password": PASSWORD}, timeout=LONGEST)
    assert {(one.status_code, one.json()["status"]) for one in told} == {(503, "degraded")}
    for seconds, reply in [*answers, (0.0, page)]:
        assert (reply.status_code, reply.headers.get("Retry-After")) == (503, "5")
        assert "Nothing was changed. Try again in a while." in reply.json()["message"]
        assert seconds < LONGEST
    assert create(server)[1].status_code == 201
    assert server.http.get("/health").json()["status"] == "ok"
    assert "Traceback" not in server.log.read_text()[said:]


def refusal(server: Server) -> str:
    """What a server says that does not start."""
    log = server.log.with_name("refused.log")
    with log.open("wb") as file:
        process = begin(["server", "run", "--home", str(server.home), "--port", str(server.port)], file)
    try:
        assert process.wait(30) == 2
    finally:
        process.kill()
    return " ".join(log.read_text().split())


def test_a_server_whose_database_is_gone_does_not_begin_anew(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        study = server.do("POST", "/studies", declaration(frames_of(2)))["id"]
        file = server.home / "studies.sqlite"
        aside = file.with_name("aside")
        file.rename(aside)  # under the feet of the server
        reply = server.call("POST", "/studies", declaration(frames_of(2)))
        assert reply.status_code == 503
        assert "was deleted or replaced while the server had it open" in reply.json()["message"]
        assert server.http.get("/health").json()["status"] == "degraded"
        aside.rename(file)
        assert create(server)[1].status_code == 201
        server.stop()

        file.rename(aside)
        words = refusal(server)
        assert "it is not there. Stop the server, put the file back or restore a backup" in words
        assert "consilience server init" in words
        shutil.copy(aside, file)  # a database of another server: whose it is, is in it
        with sqlite3.connect(file) as db:
            db.execute("update origin set identity = ?", (bytes(range(32)),))
        db.close()
        assert "this one belongs to the server with the fingerprint" in refusal(server)
        aside.replace(file)
        assert server.start().do("GET", f"/studies/{study}")["id"] == study
