"""The study server's pages: how long does each take for a study with 30 variables, and does memory stay flat with 200 open pages?

    python benchmarks/web_load.py --pages 200 --seconds 60

One server process over TLS, a study with 30 variables that has run, and one that is running for as long as pages look at it: its rounds
are written into the store by this program, ten a second, as a run would.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import ssl
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.system.crowd import memory
from tests.system.processes import Server, declaration, enrol, running, until
from tests.web.pages.server.test_live import logged_in

PATHS = ("", "/variables", "/settings", "/lobby", "/progress", "/audit", "/result", "/result/tests", "/result/about")
EVENTS_A_SECOND = 10


def a_study(server: Server, folder: Path, variables: int) -> str:
    """A study with many variables, run to its end by three real sites."""
    frames = many(variables)
    study, agents = enrol(server, folder, frames, declaration(frames, max_given=0, batching="all", time_limit=20.0))
    for agent in agents:
        agent.start()
    until(lambda: all(site["connected"] for site in server.do("GET", f"/studies/{study}")["sites"]), 120)
    server.do("POST", f"/studies/{study}/start")
    state = server.wait(study, 300)
    assert state == "finished", server.state(study)
    for agent in agents:
        agent.wait(60)
    return study


def many(variables: int) -> dict[str, pl.DataFrame]:
    """Three sites with as many continuous variables each, every third of them an effect of the one before."""
    rng = np.random.default_rng(1)
    found = {}
    for site in ("one", "two", "three"):
        values = rng.standard_normal((200, variables))
        for i in range(1, variables, 3):
            values[:, i] += 0.8 * values[:, i - 1]
        found[site] = pl.DataFrame({f"variable_{i:02d}": values[:, i] for i in range(variables)})
    return found


def times(server: Server, study: str, repeats: int) -> list[tuple[str, float, float, int]]:
    """Median and longest time of every page in milliseconds, after a first request, and its bytes."""
    rows = []
    with logged_in(server.url, server.ca) as client:
        for path in ("/studies", "/account", *(f"/studies/{study}{path}" for path in PATHS)):
            took = []
            for _ in range(repeats + 1):
                begin = time.perf_counter()
                reply = client.get(path)
                took.append(1000.0 * (time.perf_counter() - begin))
                assert reply.status_code == 200, (path, reply.status_code)
            rows.append((path.replace(study, "ID"), statistics.median(took[1:]), max(took[1:]), len(reply.content)))
    return rows


class Watched:
    """A study that runs for as long as one looks: events are added to the store by hand, as its run would."""

    def __init__(self, server: Server, study: str) -> None:
        self._path, self.study, self.number = server.home / "studies.sqlite", study, 0

    def add(self) -> None:
        """One more round."""
        with sqlite3.connect(self._path, timeout=10) as db:
            (number,) = db.execute("select coalesce(max(number), 0) + 1 from events where study = ?", (self.study,)).fetchone()
            body = json.dumps({"rounds": number, "bytes": 1000 * number})
            db.execute("insert into events values (?, ?, ?, 'round', ?)", (self.study, number, time.time(), body))
            db.execute("update studies set rounds = rounds + 1, bytes = bytes + 1000 where id = ?", (self.study,))
        self.number = number


async def look(client: httpx.AsyncClient, study: str, seen: list[int], stop: asyncio.Event) -> None:
    """An open page: counts the events that come."""
    async with client.stream("GET", f"/studies/{study}/live", timeout=None) as reply:
        assert reply.status_code == 200, reply.status_code
        seen[1] += 1
        async for line in reply.aiter_lines():
            if line.startswith("event: replace"):
                seen[0] += 1
            if stop.is_set():
                return


async def watch(server: Server, study: str, cookies: Any, pages: int, seconds: float) -> None:
    """Open the pages, let the study run, and print memory as it goes."""
    context = ssl.create_default_context(cafile=server.ca)
    limits = httpx.Limits(max_connections=None)
    watched, seen, stop = Watched(server, study), [0, 0], asyncio.Event()
    assert server.process is not None
    print(f"{'second':>7} {'pages':>6} {'updates a page and second':>26} {'server MiB':>11}")
    print(f"{'before':>7} {0:6d} {'':>26} {memory(server.process.pid) / 2**20:11.1f}", flush=True)
    browser = httpx.AsyncClient(base_url=server.url, verify=context, cookies=cookies, limits=limits, trust_env=False)
    async with browser as client, asyncio.TaskGroup() as tasks:
        for _ in range(pages):
            tasks.create_task(look(client, study, seen, stop))
        while seen[1] < pages:
            await asyncio.sleep(0.05)
        begin = then = time.monotonic()
        while time.monotonic() - begin < seconds:
            await asyncio.to_thread(watched.add)
            await asyncio.sleep(1.0 / EVENTS_A_SECOND)
            if time.monotonic() - then >= seconds / 6:
                rate = seen[0] / pages / (time.monotonic() - then)
                print(f"{time.monotonic() - begin:7.0f} {pages:6d} {rate:26.2f} {memory(server.process.pid) / 2**20:11.1f}", flush=True)
                seen[0], then = 0, time.monotonic()
        stop.set()
        await asyncio.to_thread(watched.add)
    print(f"{'after':>7} {0:6d} {'':>26} {memory(server.process.pid) / 2**20:11.1f}")


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, default=30)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, running(Path(name), loading=True) as server:
        study = a_study(server, Path(name) / "sites", options.variables)
        print(f"a finished study with {options.variables} variables, {len(server.result(study)['tests'])} tests")
        print(f"{'page':<28} {'median ms':>10} {'longest ms':>11} {'bytes':>9}")
        for path, median, longest, size in times(server, study, options.repeats):
            print(f"{path:<28} {median:10.1f} {longest:11.1f} {size:9d}", flush=True)
        frames = many(4)
        waiting, _ = enrol(server, Path(name) / "waiting", frames, declaration(frames))
        server.do("POST", f"/studies/{waiting}/start")  # waits for consent, which nobody gives
        with logged_in(server.url, server.ca) as client:
            asyncio.run(watch(server, waiting, client.cookies, options.pages, options.seconds))


if __name__ == "__main__":
    main()
