"""How long a person waits for the pages, with real processes on loopback, held against what was promised.

    python benchmarks/web_speed.py

The first page of a site's app within 2 s of its start; a file of 100,000 rows and 20 columns read, typed and drawn within 3 s; every page
of a study with 30 variables under 200 ms, the first view of a result with its drawings and files too; progress at least every second;
200 open progress pages with flat memory.

Seconds of CPU are those of the process that answers; seconds on the clock stand beside them, and are longer where others use the machine.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

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
        app.start()
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


def pages(server: Server, visitor: Visitor, study: str) -> None:
    """Every page of a study, five times: the first view, which prepares what the others find, and the median of all."""
    assert server.process is not None
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


async def _watch(server: Server, visitor: Visitor, study: str, watchers: int) -> tuple[list[float], list[int], list[str]]:
    """``watchers`` progress pages over a run; when one of them had news, and the server's memory before, with all, 6 s later, after."""
    assert server.process is not None
    pid, news, failed, opened = server.process.pid, list[float](), list[str](), set[int]()
    context = client_context((server.home / "tls.crt").read_text())
    limits, over = httpx.Limits(max_connections=None), asyncio.Event()
    async with httpx.AsyncClient(
        base_url=server.url, verify=context, limits=limits, cookies=visitor.client.cookies, trust_env=False
    ) as client:

        async def page(number: int) -> None:
            """As a browser does: the stream of a page ends when the study's state is another, and the next page opens its own."""
            try:
                while not over.is_set():
                    async with client.stream("GET", f"/studies/{study}/live", timeout=120.0) as reply:
                        reply.raise_for_status()
                        opened.add(number)
                        async for text in reply.aiter_lines():
                            if number == 0 and text.startswith("event: replace"):
                                news.append(time.monotonic())
                    if number == 0:
                        news.append(float("nan"))  # another page: how soon this one program opens all of them is not the server's doing
                    await asyncio.sleep(0.2)
            except (httpx.HTTPError, OSError) as error:
                failed.append(repr(error))

        used = [memory(pid)]
        tasks = [asyncio.create_task(page(k)) for k in range(watchers)]
        while len(opened) < watchers and not failed:
            await asyncio.sleep(0.1)
        await asyncio.sleep(1.0)
        used.append(memory(pid))
        await asyncio.sleep(6.0)
        used.append(memory(pid))
        await asyncio.to_thread(server.do, "POST", f"/studies/{study}/start")
        del news[:]  # before, there is nothing to tell
        await asyncio.to_thread(server.wait, study, 300)
        over.set()
        await asyncio.wait(tasks, timeout=10)
        used.append(memory(pid))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return news, used, failed


def progress(server: Server, visitor: Visitor, study: str, watchers: int) -> None:
    """The gaps between two pieces of news on a progress page, and the server's memory under many of them."""
    news, used, failed = asyncio.run(_watch(server, visitor, study, watchers))
    gaps = np.diff(news)
    gaps = gaps[np.isfinite(gaps)]
    worst = float(gaps.max()) if len(gaps) else float("nan")
    line(f"progress, {watchers} pages open: longest time without news", f"{worst:.2f} s, {len(gaps)} times", "1 s", good=worst <= 1.0)
    words = ", ".join(f"{one / 2**20:.0f}" for one in used) + " MiB"
    line("memory: before, with the pages, 6 s later, after the run", words, "flat", good=used[2] - used[1] < 5 * 2**20)
    if failed:
        print(f"  {len(failed)} pages failed: {failed[0]}")


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
        with running(folder, join_burst="1000") as server, delaying(None, 0.03) as proxy:
            visitor = at_server(server)
            agents: list[Agent] = []
            try:
                for watchers in (1, 200):
                    study, started = study_of(server, folder / f"small{watchers}", synthetic_tables(900).frames, proxy.port)
                    agents += started
                    progress(server, visitor, study, watchers)
                study, started = study_of(server, folder / "wide", wide(), proxy.port)
                agents += started
                progress(server, visitor, study, 1)
                print(f"  the study has {server.state(study)}")
                pages(server, visitor, study)
            finally:
                for agent in agents:
                    agent.kill()


if __name__ == "__main__":
    main()
