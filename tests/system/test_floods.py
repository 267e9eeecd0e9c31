"""Floods on a real server: connections that say nothing, and requests that are broken off. Others are answered all the while."""

from __future__ import annotations

import resource
import socket
import ssl
import struct
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from consilience.service.tls import client_context
from tests.system.crowd import memory
from tests.system.processes import Server, running
from tests.system.test_attacks import member, proved, site

pytestmark = pytest.mark.slow
DESCRIPTORS = 1024
"""What a system gives a process unless it is told otherwise."""
SILENT, FIRST, BROKEN_OFF, THREADS = 1200, 100, 600, 8
MOST_LOG = 100_000
"""Bytes: there is nothing to say of those who say nothing."""
GROWTH = 64 << 20
"""How much a server may grow: buffers of those who are there, and a sweep of those who are not."""
PATIENCE = 5.0
"""Seconds within which an honest request is answered, on a machine that does much else."""
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: closing sends a reset."""


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Server]:
    """A server with as many descriptors as a system usually gives it."""
    with running(tmp_path) as found:
        assert found.process is not None
        resource.prlimit(found.process.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
        yield found


@contextmanager
def room() -> Iterator[None]:
    """Descriptors for the attacker."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8192)), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_connections_without_a_hello_keep_nobody_out(held: Server, folder: Path) -> None:
    """Half of them from somewhere else, half from the very address of the site that wants to be heard."""
    study, identity = member(held, folder)
    with room():
        silent: list[socket.socket] = []
        try:
            for number in range(SILENT):
                source = "127.0.0.2" if number % 2 else "127.0.0.1"
                with suppress(OSError):  # a full queue
                    silent.append(socket.create_connection(("127.0.0.1", held.port), timeout=0.5, source_address=(source, 0)))
            for _ in range(3):
                begin = time.monotonic()
                with site(held, study) as link:
                    proved(held, link, study, identity)
                with httpx.Client(base_url=held.url, verify=client_context(Path(held.ca).read_text()), trust_env=False) as other:
                    assert other.get("/health").json()["status"] == "ok"
                    assert other.get("/login").status_code == 200
                assert time.monotonic() - begin < PATIENCE
        finally:
            for one in silent:
                one.close()
    assert held.log.stat().st_size < MOST_LOG


def test_requests_that_are_broken_off_leave_nothing_behind(held: Server) -> None:
    """Pages, which are longer than their buffers' first part, and handshakes."""
    context = client_context(Path(held.ca).read_text())
    assert held.process is not None
    for some in (pages_broken_off, handshakes_broken_off):
        some(held, context, FIRST)
        before = memory(held.process.pid)
        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(lambda _, some=some: some(held, context, BROKEN_OFF // THREADS), range(THREADS)))
        assert held.http.get("/health").json()["status"] == "ok"
        assert memory(held.process.pid) - before < GROWTH


def opened(server: Server) -> socket.socket:
    raw = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    return raw


def pages_broken_off(server: Server, context: ssl.SSLContext, times: int) -> None:
    """A whole request over TLS, and a reset before its answer is read."""
    for _ in range(times):
        with suppress(OSError), opened(server) as raw, context.wrap_socket(raw, server_hostname="127.0.0.1") as secure:
            secure.sendall(b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")


def handshakes_broken_off(server: Server, context: ssl.SSLContext, times: int) -> None:
    """A hello, and a reset."""
    for _ in range(times):
        hello = ssl.MemoryBIO()
        with suppress(ssl.SSLWantReadError):
            context.wrap_bio(ssl.MemoryBIO(), hello, server_hostname="127.0.0.1").do_handshake()
        with suppress(OSError), opened(server) as raw:
            raw.sendall(hello.read())
