"""How long a person waits for the pages, with real processes on loopback, held against what was promised.

    python benchmarks/web_speed.py

The first page of a site's app within 2 s of its start; a file of 100,000 rows and 20 columns read, typed and drawn within 3 s; every page
of a study with 30 variables under 200 ms, the first view of a result with its drawings and files too; progress at least every second;
200 open progress pages with flat memory.

Seconds of CPU are those of the process that answers; seconds on the clock stand beside them, and are longer where others use the machine.
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import httpx
import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.system.crowd import cpu_seconds, memory
from tests.system.processes import Agent, Server, declaration, enrol, running
from tests.system.proxy import delaying
from tests.web.process import App
from tests.web.visitor import Visitor, at_app, at_server

from consilience.service.tls import client_context
from consilience.web.trial_tables import synthetic_tables

ROWS, COLUMNS, VARIABLES = 100_000, 20, 30
PARTS = ("", "/variables", "/settings", "/lobby", "/progress", "/audit", "/result", "/result/tests", "/result/conflicts", "/result/about")
PARTS += ("/result/graph.json", "/result?show=set-1", "/result?show=set-1&with=set-2", "/result/export/svg?show=set-1")
LIVE = re.compile(r'data-live="([^"]+)"')


def large() -> pl.DataFrame:
    """A table as large as a register's: numbers, counts, groups, a number of the patient, a date."""
    rng = np.random.default_rng(7)
    numbers = {f"number{i}": rng.normal(size=ROWS).round(4) for i in range(8)}
    counts = {f"count{i}": rng.integers(0, 90, ROWS) for i in range(4)}
    groups = {f"group{i}": rng.choice(["low", "middle", "high"], ROWS) for i in range(6)}
    rest = {"patient": [f"P{i}" for i in range(ROWS)], "visit": [f"2021-03-{1 + i % 28:02}" for i in range(ROWS)]}
    return pl.DataFrame(numbers | counts | groups | rest)


def wide(rows: int = 300) -> dict[str, pl.DataFrame]:
    """Three sites with thirty variables in chains of three; each lacks two others."""
    rng = np.random.default_rng(3)
    names = [f"v{i:02}" for i in range(VARIABLES)]
    found = {}
    for k in range(3):
        noise = rng.normal(size=(rows, VARIABLES))
        for i in range(VARIABLES):
            if i % 3:
                noise[:, i] += 0.8 * noise[:, i - 1]
        found[f"site{k + 1}"] = pl.DataFrame(dict(zip(names, noise.T, strict=True))).drop(names[3 * k], names[3 * k + 12])
    return found


def line(what: str, measured: str, bound: str, *, good: bool) -> None:
    """One figure against its bound."""
    print(f"{what:58} {measured:>26}  {bound:>12}  {'' if good else 'MISSED'}", flush=True)


def site(folder: Path) -> None:
    """Start of an app, and a large file through it."""
    data = folder / "data"
    data.mkdir()
    large().write_csv(data / "large.csv")
    app = App("large", data, folder)
    try:
        begin = time.monotonic()
        app.start(loading=True)
        visitor = at_app(app.address)
        first = time.monotonic() - begin
        assert app.process is not None
        used = cpu_seconds(app.process.pid)
        line("site's app: first page after start of the process", f"{used:.2f} s of CPU ({first:.2f} s)", "2 s", good=used < 2)
        token = visitor.csrf("/data")
        begin, before = time.monotonic(), cpu_seconds(app.process.pid)
        reply = visitor.client.post("/data", data={"csrf": token, "file": "large.csv"}, headers={"Origin": visitor.origin})
        page = visitor.get("/columns")
        took, used = time.monotonic() - begin, cpu_seconds(app.process.pid) - before
        assert reply.status_code == 200, reply.text[:800]
        assert "number7" in page.text, page.text[:800]
        line(
            f"a file of {ROWS:,} rows and {COLUMNS} columns, read, typed, drawn",
            f"{used:.2f} s of CPU ({took:.2f} s)",
            "3 s",
            good=used < 3,
        )
    finally:
        app.stop()


def settled(pid: int) -> None:
    """Until a process has been idle for some seconds: what a run left behind is tidied up after it, and is no page's work."""
    idle, end = 0, time.monotonic() + 60
    while idle < 5 and time.monotonic() < end:
        before = cpu_seconds(pid)
        time.sleep(1.0)
        idle = idle + 1 if cpu_seconds(pid) - before < 0.03 else 0


def pages(server: Server, visitor: Visitor, study: str) -> None:
    """Every page of a study, five times: the first view, which prepares what the others find, and the median of all."""
    assert server.process is not None
    settled(server.process.pid)
    for part in PARTS:
        path, used = f"/studies/{study}{part}", list[float]()
        for _ in range(5):
            before = cpu_seconds(server.process.pid)
            reply = visitor.get(path)
            used.append(cpu_seconds(server.process.pid) - before)
        if reply.status_code == 404:
            print(f"  {part or '/':20} is not there")
            continue
        first, usual, clock = used[0], statistics.median(used), statistics.median(visitor.seconds[path][-5:])
        words = f"{1000 * first:.0f}, {1000 * usual:.0f} ms of CPU ({1000 * clock:.0f})"
        line(f"page {part or '/'}, {len(reply.content) / 1024:.0f} KiB: first, usual", words, "200 ms", good=max(first, usual) < 0.2)


class Watcher:
    """A progress page as a browser has it: it follows events, loads the page that it is sent to, and connects again where it was cut off.

    ``news`` are the times at which it showed something new, however it came by that; ``over`` is when it knew that the study had ended.
    """

    def __init__(self, client: httpx.AsyncClient, study: str) -> None:
        self._client, self._page, self._last = client, f"/studies/{study}/progress", ""
        self.news, self.opened, self.loads, self.failures, self.over = list[float](), asyncio.Event(), 0, 0, 0.0

    async def watch(self) -> None:
        """Until the study is over. What cannot connect tries again, as a person does; the time that it takes counts."""
        while not self.over:
            try:
                await self._visit()
            except httpx.TransportError:
                self.failures += 1
                await asyncio.sleep(1.0)

    async def _visit(self) -> None:
        """One page, and what follows on it."""
        reply = await self._client.get(self._page)
        reply.raise_for_status()
        self.loads += 1
        self.news.append(time.time())
        live = LIVE.search(reply.text)
        if live is None:
            self.over = time.time()
            return
        self._last = ""
        while await self._follow(live[1]):
            await asyncio.sleep(2.0)

    async def _follow(self, address: str) -> bool:
        """Follow the events; True if the connection ended without a word."""
        kind = ""
        async with self._client.stream("GET", address, timeout=120.0, headers={"Last-Event-ID": self._last} if self._last else {}) as reply:
            reply.raise_for_status()
            self.opened.set()
            async for text in reply.aiter_lines():
                if text.startswith("id: "):
                    self._last = text[4:]
                elif text.startswith("event: "):
                    kind = text[7:]
                    self.news.append(time.time())
                elif kind == "go" and text.startswith("data: "):
                    self._page = json.loads(text[6:])["target"]
                    return False
                elif kind == "done" and text.startswith("data: "):
                    self.over = time.time()
                    return False
        return True


class Watched(NamedTuple):
    """What many open pages saw of a run. ``gaps`` are the seconds between two pieces of news, on every page, from the start of the run to
    its end as that page knew it; ``late`` are the seconds by which pages knew that it had ended; ``used`` is the server's memory.
    """

    gaps: list[float]
    late: list[float]
    loads: int
    used: list[int]
    cpu: float


async def _watch(server: Server, visitor: Visitor, study: str, watchers: int) -> Watched:
    """``watchers`` progress pages over a run; the server's memory before, with all, 6 s later, 6 s after the run."""
    assert server.process is not None
    pid = server.process.pid
    context, limits = client_context((server.home / "tls.crt").read_text()), httpx.Limits(max_connections=None)
    browser = httpx.AsyncClient(
        base_url=server.url, verify=context, limits=limits, cookies=visitor.client.cookies, trust_env=False, timeout=120
    )
    async with browser as client:
        used = [memory(pid)]
        pages = [Watcher(client, study) for _ in range(watchers)]
        tasks = [asyncio.create_task(page.watch()) for page in pages]
        await asyncio.gather(*(page.opened.wait() for page in pages))
        await asyncio.sleep(1.0)
        used.append(memory(pid))
        await asyncio.sleep(6.0)
        used.append(memory(pid))
        begin, loaded, before = time.time(), sum(page.loads for page in pages), cpu_seconds(pid)
        await asyncio.to_thread(server.do, "POST", f"/studies/{study}/start")
        await asyncio.gather(*tasks)
        end = next(when for when, kind, _ in server.events(study) if kind in ("finished", "failed"))
        cpu = cpu_seconds(pid) - before
    await asyncio.sleep(6.0)  # what a run has used is given back some seconds after its end
    used.append(memory(pid))
    told = [[begin, *(when for when in page.news if when > begin)] for page in pages]  # before, there is nothing to tell
    gaps = [later - earlier for times in told for earlier, later in pairwise(times)]
    return Watched(gaps, [page.over - end for page in pages], sum(page.loads for page in pages) - loaded, used, cpu)


def progress(server: Server, visitor: Visitor, study: str, watchers: int) -> None:
    """The gaps between two pieces of news on every progress page, and the server's memory under many of them."""
    seen = asyncio.run(_watch(server, visitor, study, watchers))
    worst, late = max(seen.gaps), max(seen.late)
    words = f"{worst:.2f} s of {len(seen.gaps)}"
    line(f"progress, {watchers} pages open: longest time without news", words, "1 s", good=worst <= 1.0)
    line("  the last page that knows of the end, after it", f"{late:.2f} s, {seen.loads} pages loaded", "1 s", good=late <= 1.0)
    print(f"  {seen.cpu:.1f} s of the server's CPU in the run")
    words = ", ".join(f"{one / 2**20:.0f}" for one in seen.used) + " MiB"
    line("memory: before, with the pages, 6 s later, after the run", words, "flat", good=seen.used[2] - seen.used[1] < 5 * 2**20)


def study_of(server: Server, folder: Path, frames: dict[str, pl.DataFrame], proxy: int) -> tuple[str, list[Agent]]:
    """A study with all its agents connected, over a line that takes its time."""
    study, agents = enrol(server, folder, frames, declaration(frames, time_limit=10.0, limit=100))
    for agent in agents:
        agent.start(https_proxy=f"http://127.0.0.1:{proxy}", no_proxy="")
    time.sleep(4)
    return study, agents


def main() -> None:
    """Print a table, one line a promise."""
    print(f"{'what':58} {'measured':>26}  {'promised':>12}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "--server" not in sys.argv:
            site(folder)
        with running(folder, loading=True, join_burst="1000") as server, delaying(None, 0.03) as proxy:
            visitor = at_server(server)
            agents: list[Agent] = []
            try:
                for watchers in (1, 200):
                    study, started = study_of(server, folder / f"small{watchers}", synthetic_tables(900).frames, proxy.port)
                    agents += started
                    progress(server, visitor, study, watchers)
                study, started = study_of(server, folder / "wide", wide(), proxy.port)
                agents += started
                progress(server, visitor, study, 200)
                print(f"  the study has {server.state(study)}")
                pages(server, visitor, study)
            finally:
                for agent in agents:
                    agent.kill()


if __name__ == "__main__":
    main()
