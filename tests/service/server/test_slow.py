"""Requests that do not come to an end, and more connections than there may be: a real socket in front of the server."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn

from consilience.service.config import ServerConfig
from consilience.service.server.serve import options_of
from tests.service.helpers import make_app

DEADLINE = 1.0
HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
UPGRADE = (
    b"GET /api/v1/studies/0011223344556677/site HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server with the options that it is served with."""
    monkeypatch.setattr("consilience.service.server.serve.REQUEST_SECONDS", DEADLINE)
    given = options_of(ServerConfig(home=str(tmp_path), max_connections=8))
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(make_app(tmp_path), **{**given, "timeout_graceful_shutdown": 1}))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(10)


def dial(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=5.0)


def ends(connection: socket.socket) -> bool:
    """True if the server ends the connection, without another word, within five seconds."""
    try:
        return connection.recv(1 << 16) == b""
    except ConnectionResetError:
        return True


def is_healthy(connection: socket.socket) -> bool:
    connection.sendall(HEALTH)
    found = b""
    while part := b"" if found.endswith(b"}") else connection.recv(1 << 16):
        found += part
    return found.startswith(b"HTTP/1.1 200")


@pytest.mark.slow
@pytest.mark.parametrize(
    "begin", [b"", b"GET /hea", HEALTH[:-2], b"POST /api/v1/login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"], ids=range(4)
)
def test_half_a_request_ends_with_its_connection(port: int, begin: bytes) -> None:
    with dial(port) as connection:
        connection.sendall(begin)
        assert ends(connection)


def trickle(connection: socket.socket, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        connection.sendall(b"G")
        time.sleep(0.05)


@pytest.mark.slow
def test_a_byte_now_and_then_does_not_help(port: int) -> None:
    with dial(port) as connection, pytest.raises((ConnectionResetError, BrokenPipeError)):
        trickle(connection, 5.0)


@pytest.mark.slow
def test_a_second_request_has_the_same_time(port: int) -> None:
    with dial(port) as connection:
        for _ in range(3):
            assert is_healthy(connection)
            time.sleep(0.5 * DEADLINE)  # longer than the time for one request, together; a busy machine makes each longer
        connection.sendall(HEALTH[:20])
        assert ends(connection)


@pytest.mark.slow
def test_the_server_is_not_the_first_to_give_up_a_connection(port: int) -> None:
    """A client that uses one again just as the server ends it has no answer, and cannot know whether anything was done."""
    theirs = httpx.Limits().keepalive_expiry
    assert theirs is not None
    with dial(port) as connection:
        assert is_healthy(connection)
        time.sleep(theirs + 2.0)
        assert is_healthy(connection)


@pytest.mark.slow
def test_a_socket_of_a_site_is_not_a_request(port: int) -> None:
    with dial(port) as connection:
        connection.sendall(UPGRADE)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 101")
        connection.settimeout(2.0 * DEADLINE)
        with pytest.raises(TimeoutError):
            connection.recv(1)


def test_sockets_of_sites_are_bounded_too(port: int) -> None:
    held: list[socket.socket] = []
    try:
        for _ in range(8):
            held.append(dial(port))
            held[-1].sendall(UPGRADE)
            assert held[-1].recv(1 << 16).startswith(b"HTTP/1.1 101")
        with dial(port) as further:
            assert ends(further)
    finally:
        for connection in held:
            connection.close()
