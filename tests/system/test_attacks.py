"""Attacks on a real server over TLS, and a server that is not who it was."""

from __future__ import annotations

import json
import os
import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from consilience.protocol.framing import FRAME_BYTES, encode, frames
from consilience.protocol.handshake import Challenge, Hello, Welcome, from_server, prove
from consilience.secagg import Identity
from consilience.service.agent import Home
from consilience.service.agent import join as enter
from consilience.service.invitation import read_invitation
from consilience.service.tls import certificate_digest, client_context
from tests.system.processes import PASSWORD, Agent, Server, declaration, enrol
from tests.system.test_equality import connected, frames_of
from tests.system.wire import Wire, connect

pytestmark = pytest.mark.slow
GIGABYTE = 1 << 30
GROWTH = 64 << 20
"""How much a server may grow while it is attacked: buffers, not messages."""


def memory(server: Server) -> int:
    assert server.process is not None
    pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def tls(server: Server) -> Iterator[ssl.SSLSocket]:
    raw = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    with client_context(Path(server.ca).read_text()).wrap_socket(raw, server_hostname="127.0.0.1") as secure:
        yield secure


@contextmanager
def site(server: Server, study: str) -> Iterator[Wire]:
    context = client_context(Path(server.ca).read_text())
    url = f"wss://127.0.0.1:{server.port}/api/v1/studies/{study}/site"
    with connect(url, context, max_size=FRAME_BYTES + 1) as found:
        yield found


def proved(server: Server, link: Wire, study: str, identity: Identity) -> None:
    hello = Hello(identity.public_bytes, bytes(32))
    send(link, hello)
    challenge = receive(link)
    assert isinstance(challenge, Challenge)
    channel = certificate_digest(Path(server.ca).read_text())
    send(link, prove(identity, study, hello, challenge, channel))
    assert isinstance(receive(link), Welcome)


def send(link: Wire, message: object) -> None:
    for frame in frames(encode(message)):  # type: ignore[arg-type]
        link.send(frame)


def receive(link: Wire) -> object:
    return from_server.decode(link.recv(30)[1:])


def member(server: Server, folder: Path) -> tuple[str, Identity]:
    """A study, and the identity of a site that has joined it."""
    study = server.do("POST", "/studies", declaration(frames_of(2)))["id"]
    text = server.do("POST", f"/studies/{study}/invitations", {"site": "one"})["invitation"]
    home = Home(folder / "home")
    enter(home, read_invitation(text))
    return study, home.identity()


def test_a_message_of_ten_gigabytes_is_not_read(server: Server, folder: Path) -> None:
    """Announced in one frame, streamed in fragments without end, and streamed in frames of ours without end."""
    study, identity = member(server, folder)
    before = memory(server)
    request = (
        f"GET /api/v1/studies/{study}/site HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    ).encode()
    whole = b"\x82\xff" + struct.pack(">Q", 10 * GIGABYTE) + bytes(4)  # FIN, binary, masked with zeros
    first, more = (bytes([opcode, 0xFF]) + struct.pack(">Q", 1 << 20) + bytes(4) for opcode in (0x02, 0x00))  # not FIN
    for header, then in ((whole, b""), (first, more)):
        with tls(server) as link:
            link.sendall(request)
            assert b"101 Switching" in link.recv(4096)
            sent = streamed(link, header, then)
        assert sent < 200 << 20, "the server reads on"
    with site(server, study) as link:
        proved(server, link, study, identity)
        with pytest.raises(ConnectionClosed) as caught:
            flood(link)
        assert caught.value.rcvd is None or caught.value.rcvd.code == 1009
    with tls(server) as link:
        link.sendall(f"POST /api/v1/login HTTP/1.1\r\nHost: x\r\nContent-Length: {10 * GIGABYTE}\r\n\r\n".encode())
        assert b" 413 " in link.recv(4096)
    with tls(server) as link:
        link.sendall(b"POST /api/v1/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunk = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
        assert streamed(link, b"", chunk) < 200 << 20
    assert memory(server) - before < GROWTH
    assert server.http.get("/health").status_code == 200


def flood(link: Wire) -> None:
    for _ in range(10 * 1024):
        link.send(b"\x01" + bytes(FRAME_BYTES))
    link.recv(10)


def streamed(link: ssl.SSLSocket, header: bytes, then: bytes) -> int:
    """Send a frame's header, and megabytes until the server has had enough; how many bytes went."""
    sent, block = 0, bytes(1 << 20)
    with suppress(OSError):
        link.sendall(header)
        while sent < 10 * GIGABYTE:
            if header:
                link.sendall(block)
            if then:
                link.sendall(then)
            sent += len(block)
    return sent


def test_garbage_before_and_after_the_handshake_leaves_the_server_standing(server: Server, folder: Path) -> None:
    study, identity = member(server, folder)
    for garbage in (b"\x00" * 100, b"\xff" * 70000, b"GET / HTTP/9.9\r\n\r\n", os.urandom(5000)):
        with tls(server) as link, suppress(OSError):
            link.sendall(garbage)
            link.settimeout(1)
            link.recv(4096)
    for garbage in (b"", b"\x00", b"\x02abc", b"\x00" + os.urandom(500), b"\x00\xc1"):
        with site(server, study) as link:
            proved(server, link, study, identity)
            link.send(garbage)
            with pytest.raises(ConnectionClosed) as caught:
                link.recv(30)
            assert caught.value.rcvd is not None
            assert caught.value.rcvd.code == 4400
    assert server.http.get("/health").status_code == 200


def test_a_second_connection_replaces_the_first(server: Server, folder: Path) -> None:
    study, identity = member(server, folder)
    with site(server, study) as one:
        proved(server, one, study, identity)
        with site(server, study) as two:
            proved(server, two, study, identity)
            with pytest.raises(ConnectionClosed) as caught:
                one.recv(30)
            assert caught.value.rcvd is not None
            assert caught.value.rcvd.code == 4409


def test_an_agent_does_not_talk_to_another_server(server: Server, folder: Path, agents: list[Agent]) -> None:
    """Another identity at the same address, another certificate, and no TLS at all."""
    frames_ = frames_of(2)
    study, started = enrol(server, folder, frames_, declaration(frames_))
    file = started[0].home / "studies" / study / "study.json"
    told = json.loads(file.read_text())
    for change, words in (
        ({"server": Identity.generate().public_bytes.hex()}, "identity has changed"),
        ({"certificate": ""}, "not one that this site trusts"),
        ({"url": f"http://127.0.0.1:{server.port}"}, "connects over TLS"),
    ):
        file.write_text(json.dumps(told | change))
        agents.append(started[0].start())
        assert started[0].wait(60) == 2
        assert words in " ".join(started[0].log.read_text().split())
    file.write_text(json.dumps(told))
    assert not (file.parent / "contract.msgpack").exists()


def test_a_changed_peer_stops_the_agent(server: Server, folder: Path, agents: list[Agent]) -> None:
    frames_ = frames_of(2)
    study, started = enrol(server, folder, frames_, declaration(frames_))
    agents += [started[0].start("--pin", f"site01={'ab' * 32}"), started[1].start()]
    connected(server, study, 2)
    server.do("POST", f"/studies/{study}/start")
    assert started[0].wait(60) == 2
    assert "pinned fingerprint" in " ".join(started[0].log.read_text().split())
    assert (started[0].home / "studies" / study / "ledger.jsonl").read_bytes() == b"", (
        "it has said whether its table fits, and nothing else"
    )
    server.do("POST", f"/studies/{study}/cancel")


def test_events_are_sent_as_they_happen_and_again_from_where_one_was(server: Server, folder: Path) -> None:
    study, _ = member(server, folder)
    server.do("POST", f"/studies/{study}/open")
    headers = {"Authorization": f"Bearer {server.token}"}
    with server.http.stream("GET", f"/api/v1/studies/{study}/events", headers=headers) as reply:
        lines = reply.iter_lines()
        seen = [line for line in (next(lines) for _ in range(16)) if line.startswith("event")]
        assert seen == ["event: created", "event: joined", "event: opened", "event: waiting"]
        server.do("POST", f"/studies/{study}/cancel")
        rest = [line for line in lines if line.startswith("event")]
        assert rest == ["event: cancelled"]
    with server.http.stream("GET", f"/api/v1/studies/{study}/events", headers={**headers, "Last-Event-ID": "4"}) as reply:
        assert [line for line in reply.iter_lines() if line.startswith("event")] == ["event: cancelled"]


def test_the_log_is_json_and_has_no_secret(server: Server, folder: Path) -> None:
    study = server.do("POST", "/studies", declaration(frames_of(2)))["id"]
    text = server.do("POST", f"/studies/{study}/invitations", {"site": "one"})["invitation"]
    secret = read_invitation(text).secret
    enter(Home(folder / "home"), read_invitation(text))
    server.http.post("/api/v1/login", json={"name": "ada", "password": "a wrong password"})
    server.http.get("/api/v1/studies", params={"token": "in-the-url"}, headers={"Authorization": "Bearer in-a-header"})
    log = server.log.read_text()
    for hidden in (PASSWORD, server.token, secret.hex(), text[40:80], "a wrong password", "in-the-url", "in-a-header"):
        assert hidden not in log
    lines = [json.loads(line) for line in log.splitlines()]
    assert {"time", "level", "from", "event"} <= set(lines[-1])
    assert any(line.get("path") == "/api/v1/join" and line["status"] == 200 for line in lines)


def test_health_and_metrics(server: Server) -> None:
    server.do("POST", "/studies", declaration(frames_of(2)))
    assert server.http.get("/health").json()["status"] == "ok"
    text = server.http.get("/metrics").text
    assert "# TYPE consilience_rounds_total counter" in text
    assert 'consilience_studies{state="' in text
    assert all(line.startswith("#") or len(line.split()) == 2 for line in text.splitlines())
