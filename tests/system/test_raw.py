"""Thousands of requests that are wrong in every way, byte by byte on a socket: none is an error of the server's."""

from __future__ import annotations

import asyncio
import json
import random
import struct
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.system.processes import OWNER, PASSWORD, Server, begin, until

REQUESTS, SEED, AT_ONCE = 4000, 17, 200
FIRST_SECONDS, MORE_SECONDS = 2.0, 0.2
STUDY = "00112233aabbccdd"
PATHS = (
    "/",
    "/login",
    "/health",
    "/metrics",
    "/api/docs",
    "/api/openapi.json",
    "/studies",
    "/token",
    "/static/app.css",
    "*",
    "//",
    "/%",
    "/api/v1/login",
    "/api/v1/join",
    "/api/v1/studies",
    f"/api/v1/studies/{STUDY}",
    f"/api/v1/studies/{STUDY}/events",
    f"/api/v1/studies/{STUDY}/log?after=-1",
    f"/api/v1/studies/{STUDY}/site",
    f"/studies/{STUDY}/live",
    "/api/v1/studies/../../etc",
    "/%00",
    "/%ff%fe",
    "/\xe4",
    "http://[::1",
    "/a" * 3000,
    "/api/v1/studies/%F0%9F%92%A9",
    "/login?next=%0d%0aX:1",
    "/api/v1/certificate",
)
METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "G\x00T", "", "X" * 500)
VERSIONS = ("HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9.9", "http/1.1", "", "HTTP/1.1 extra")
HEADERS = (
    "Host: 127.0.0.1",
    "Host: evil.example",
    "Host:",
    "Host: \xff\xfe",
    "Host: a, b",
    "Content-Length: -1",
    "Content-Length: 5",
    "Content-Length: 99999999999999999999",
    "Content-Length: 1e3",
    "Content-Length: 5\r\nContent-Length: 6",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: gzip",
    "Content-Type: application/json",
    "Content-Type: multipart/form-data; boundary=",
    "Content-Type: \x00",
    "Content-Type: application/x-www-form-urlencoded",
    "Authorization: Bearer \xed\xa0\x80",
    "Authorization: Basic !!!",
    "Cookie: \xff=;;",
    "Cookie: consilience-00000000=%ff",
    "Last-Event-ID: -5",
    "Last-Event-ID: 1e99",
    "Expect: 100-continue",
    "Upgrade: h2c",
    "X" * 70000,
    "Origin: null",
    "Accept: */*;q=\x00",
    "Range: bytes=9-1",
    "no colon",
    " folded: line",
    "X-Forwarded-For: 1.2.3.4, \x00",
    ": nameless",
)
BODIES = (
    b"",
    b"{",
    b"[]",
    b"null",
    b"NaN",
    b'{"name": 1}',
    b'{"name": "a", "password": "\\ud800"}',
    b"\xff" * 100,
    b"[" * 5000,
    b"a=1&a=2&%ff=%",
    b"--x\r\n",
    b"5\r\nhello\r\n0\r\n\r\n",
    b"zz\r\n",
    b"ffffffffffffffff\r\n",
    b'{"study": "' + b"x" * 5000 + b'"}',
    json.dumps({"name": OWNER, "password": "wrong" * 5}).encode(),
)


def http_request(rng: random.Random) -> bytes:
    """Parts of requests that are right and wrong, put together by chance; some with a byte changed or the end missing."""
    method = rng.choice(METHODS[:5] if rng.random() < 0.7 else METHODS)
    lines = [f"{method} {rng.choice(PATHS)} {rng.choice(VERSIONS[:1] * 6 + VERSIONS)}"]
    lines += ["Host: 127.0.0.1"] * (rng.random() < 0.7) + rng.choices(HEADERS, k=rng.randrange(5)) + ["Connection: close"]
    body = rng.choice(BODIES)
    if rng.random() < 0.6:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return spoiled(rng, "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)


def spoiled(rng: random.Random, data: bytes) -> bytes:
    chance = rng.random()
    if chance < 0.12 and data:
        place = rng.randrange(len(data))
        return data[:place] + rng.randbytes(1) + data[place + 1 :]
    return data[: rng.randrange(len(data))] if chance < 0.17 else rng.randbytes(rng.randrange(1, 600)) if chance < 0.22 else data


def upgrade(rng: random.Random) -> bytes:
    """A WebSocket, and frames that are none, too long, not masked, of reserved kinds, or full of chance."""
    study, version = rng.choice((STUDY, "x", "%00", "../site", "0" * 5000)), rng.choice(("13", "13", "13", "8", "\xff"))
    key = rng.choice(("AAAAAAAAAAAAAAAAAAAAAA==", "AAAAAAAAAAAAAAAAAAAAAA==", "short", ""))
    head = (
        f"GET /api/v1/studies/{study}/site HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Version: {version}\r\nSec-WebSocket-Key: {key}\r\n\r\n"
    ).encode("latin-1")
    parts = [frame(rng) for _ in range(rng.randrange(4))]
    return spoiled(rng, head + b"".join(parts)) if rng.random() < 0.3 else head + b"".join(parts)


def frame(rng: random.Random) -> bytes:
    chance = b"\x00" + rng.randbytes(rng.randrange(200))
    payload = rng.choice((b"", b"\x00", b"\x00\xc1", chance, b"\x01" * 100, b"\x03\xe8bye", b"text"))
    length, extended = rng.choice((len(payload), len(payload), len(payload), 126, 127)), b""
    if length == 126:
        extended = struct.pack(">H", rng.choice((len(payload), 65535)))
    elif length == 127:
        extended = struct.pack(">Q", rng.randrange(1 << 63))
    masked = rng.random() < 0.9
    first = rng.choice((0x82, 0x82, 0x82, 0x81, 0x80, 0x88, 0x89, 0x8A, 0x02, 0x83, 0xF2, 0x8F))
    return bytes([first, (0x80 if masked else 0) | length]) + extended + (bytes(4) if masked else b"") + payload


async def answer(port: int, data: bytes, turn: asyncio.Semaphore) -> bytes:
    """What comes back to some bytes, up to its end or to a moment without any more: half a request is not answered, a WebSocket stays."""
    found, seconds = b"", FIRST_SECONDS
    async with turn:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with suppress(OSError, TimeoutError):
            writer.write(data)
            while part := await asyncio.wait_for(reader.read(65536), seconds):
                found, seconds = found + part, MORE_SECONDS
        writer.close()
    return found


async def answers_to(port: int, wrong: list[bytes]) -> list[bytes]:
    turn = asyncio.Semaphore(AT_ONCE)
    return await asyncio.gather(*(answer(port, data, turn) for data in wrong))


def statuses(answers: list[bytes]) -> set[int]:
    lines = [found.split(b"\r\n", 1)[0].split() for found in answers if found.startswith(b"HTTP/")]
    return {int(line[1]) for line in lines}


@pytest.mark.slow
def test_four_thousand_requests_that_are_wrong_are_no_error_of_the_server(tmp_path: Path) -> None:
    """Without TLS, which would only stand in the way."""
    server = Server(tmp_path, login_burst="1000000", join_burst="1000000")
    (server.home / "tls.crt").unlink()
    log, rng = server.log.open("ab"), random.Random(SEED)
    process = begin(["server", "run", "--home", str(server.home), "--port", str(server.port)], log, **server.settings)
    url = f"http://127.0.0.1:{server.port}"

    def is_up() -> bool:
        with suppress(httpx.HTTPError):
            return httpx.get(f"{url}/health", trust_env=False).status_code == 200
        return False

    try:
        until(is_up, 30.0)
        wrong = [upgrade(rng) if number % 4 == 0 else http_request(rng) for number in range(REQUESTS)]
        seen = statuses(asyncio.run(answers_to(server.port, wrong)))
        assert {101, 200, 400, 404, 405, 422} <= seen, "else they were not wrong in every way"
        assert max(seen) < 500
        assert httpx.post(f"{url}/api/v1/login", json={"name": OWNER, "password": PASSWORD}, trust_env=False).status_code == 200
        lines = [json.loads(line) for line in server.log.read_text().splitlines()]
        assert [line for line in lines if "traceback" in line or line["level"] == "error" or line.get("status", 0) >= 500] == []
    finally:
        process.kill()
        process.wait()
        log.close()
