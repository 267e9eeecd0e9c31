"""Many who follow a study while it runs. ``python -m tests.system.listeners PORT STUDY TOKEN CA NUMBER`` opens so many streams.

It says "ready" when all of them have heard something, and ends when all streams have ended.
"""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from consilience.service.tls import client_context
from tests.system.crowd import cpu_seconds
from tests.system.processes import Server, declaration, enrol, environment
from tests.system.test_equality import connected, frames_of, seconds_of

AT_ONCE = 50
"""Handshakes at the same time."""


async def follow(port: int, request: bytes, ca: str, number: int) -> list[bytes]:
    """What so many listeners have heard, to the end."""
    context, turn, left = client_context(Path(ca).read_text(), system=False), asyncio.Semaphore(AT_ONCE), number
    if not number:
        print("ready", flush=True)  # noqa: T201

    async def one() -> bytes:
        nonlocal left
        async with turn:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="127.0.0.1", limit=1 << 16)
            writer.write(request)
            heard = await reader.read(1 << 16)
        left -= 1
        if not left:
            print("ready", flush=True)  # noqa: T201
        while part := await reader.read(1 << 16):
            heard += part
        writer.close()
        return heard

    return await asyncio.gather(*(one() for _ in range(number)))


@dataclass(frozen=True)
class Run:
    """How long a study took, in seconds and in seconds of the server's processor, and how many listeners heard its end."""

    seconds: float
    cpu: float
    heard: int


def run(server: Server, folder: Path, listeners: int, sites: int = 3) -> Run:
    """A study of real sites while so many follow it."""
    frames = frames_of(sites)
    study, agents = enrol(server, folder, frames, declaration(frames))
    words = [str(server.port), study, server.token, server.ca, str(listeners)]
    command = [sys.executable, "-m", "tests.system.listeners", *words]
    crowd = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    try:
        assert crowd.stdout is not None
        assert crowd.stdout.readline() == "ready\n"  # also where none listens: its process is not to be loading while the study runs
        for agent in agents:
            agent.start()
        connected(server, study, sites)
        assert server.process is not None
        before = cpu_seconds(server.process.pid)
        server.do("POST", f"/studies/{study}/start")
        assert server.wait(study, 300.0) == "finished"
        cpu = cpu_seconds(server.process.pid) - before
        heard = int(crowd.communicate(timeout=120)[0] or 0)
    finally:
        crowd.kill()
        crowd.wait()
        for agent in agents:
            agent.kill()
    return Run(seconds_of(server, study), cpu, heard)


if __name__ == "__main__":
    given_port, given_study, given_token, given_ca, given_number = sys.argv[1:]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, int(given_number) + 200)), hard))
    lines = f"GET /api/v1/studies/{given_study}/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {given_token}\r\n\r\n"
    found = asyncio.run(follow(int(given_port), lines.encode(), given_ca, int(given_number)))
    print(sum(b"event: finished" in one for one in found))  # noqa: T201
