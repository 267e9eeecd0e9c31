"""Many sites in one process: their agents as tasks of one event loop. ``python -m tests.system.crowd FOLDER`` runs those under a folder.

The folder has one subfolder per site with ``home`` and ``data.parquet``. When all of its sites are done the process ends.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from consilience.federation import Client
from consilience.service.agent import Agent, Home, Site
from consilience.service.agent import join as enter
from consilience.service.config import AgentConfig
from consilience.service.invitation import read_invitation
from tests.system.processes import Server, declaration, environment, until


async def crowd(folder: Path) -> None:
    agents = []
    for place in sorted(folder.iterdir()):
        home = Home(place / "home")
        for study in home.studies():
            client = Client(study.joined.site, place / "data.parquet", identity=home.identity())
            site = Site(client, study, lambda _lines, _warnings: True)
            agents.append(
                Agent(study.joined, client.identity, AgentConfig(home=str(home.path), backoff_seconds=1.0), lambda _: None).run(site)
            )
    outcomes = await asyncio.gather(*agents)
    assert all(outcome.state == "finished" for outcome in outcomes), outcomes


@dataclass(frozen=True)
class Wave:
    """What a wave of studies at the same time did to a server."""

    studies: int
    right: int
    seconds: float
    rounds: int
    peak: int
    after: int


def cpu_seconds(pid: int) -> float:
    """Seconds of CPU that a process has used in all its threads, those that have ended too, in hundredths."""
    ticks = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> int:
    """Resident bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def gauge(server: Server, name: str) -> float:
    """A number of the server's metrics."""
    lines = server.http.get("/metrics").text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(name + " "))


def wave(
    server: Server,
    folder: Path,
    studies: list[Mapping[str, pl.DataFrame]],
    wanted: list[dict[str, Any]],
    processes: int = 2,
    **settings: Any,
) -> Wave:
    """Enrol all studies, start them together, and hold every result against the one wanted."""
    ids: list[str] = []
    for i, frames in enumerate(studies):
        study = server.do("POST", "/studies", declaration(frames, **settings))["id"]
        for name, frame in frames.items():
            place = folder / f"crowd{i % processes}" / f"{study}-{name}"
            place.mkdir(parents=True)
            text = server.do("POST", f"/studies/{study}/invitations", {"site": name})["invitation"]
            enter(Home(place / "home"), read_invitation(text))
            frame.write_parquet(place / "data.parquet")
        server.do("POST", f"/studies/{study}/open")
        ids.append(study)
    assert server.process is not None
    pid = server.process.pid
    hosts = []
    with (folder / "crowd.log").open("wb") as log:
        for i in range(processes):
            command = [sys.executable, "-m", "tests.system.crowd", str(folder / f"crowd{i}")]
            hosts.append(subprocess.Popen(command, env=environment(), stdout=log, stderr=log, cwd=Path(__file__).parents[2]))
    try:
        sites = sum(len(frames) for frames in studies)
        until(lambda: gauge(server, "consilience_sites_connected") >= sites, 300, 0.2)
        begin = time.monotonic()
        for study in ids:
            server.do("POST", f"/studies/{study}/start")
        peak = 0

        def over() -> bool:
            nonlocal peak
            ended = [host.returncode for host in hosts if host.poll()]
            assert not ended, f"sites ended with {ended}: {(folder / 'crowd.log').read_text(encoding='utf-8')[-2000:]}"
            peak = max(peak, memory(pid))
            states = server.sql(f"select state from studies where id in ({','.join('?' * len(ids))})", *ids)
            return all(state in ("finished", "failed") for (state,) in states)

        until(over, 600, 0.2)
        seconds = time.monotonic() - begin
        for host in hosts:
            host.wait(60)
    finally:
        for host in hosts:
            host.kill()
            host.wait()
    found = [server.result(study) if server.state(study)[0] == "finished" else {} for study in ids]
    right = sum(
        all(one.get(part) == other[part] for part in ("pags", "local_pags", "tests")) for one, other in zip(found, wanted, strict=True)
    )
    rounds = sum(one.get("study", {}).get("rounds", 0) for one in found)
    return Wave(len(ids), right, seconds, rounds, peak, memory(pid))


if __name__ == "__main__":
    asyncio.run(crowd(Path(sys.argv[1])))
