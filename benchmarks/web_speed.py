"""How long a person waits for the pages, with real processes on loopback, held against what was promised.

    python benchmarks/web_speed.py

The first page of a site's app within 2 s of its start; a file of 100,000 rows and 20 columns read, typed and drawn within 3 s; every page
of a study with 30 variables under 200 ms; progress at least every second; 200 open progress pages with flat memory.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.system.crowd import memory
from tests.system.processes import Server, declaration, enrol, running
from tests.system.proxy import delaying
from tests.web.apps import App
from tests.web.visitor import Visitor, at_app, at_server

ROWS, COLUMNS, VARIABLES = 100_000, 20, 30
PARTS = ("", "/variables", "/settings", "/lobby", "/progress", "/audit", "/result", "/result/tests", "/result/conflicts", "/result/about")


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
        line("site's app: first page after start of the process", f"{first:.2f} s", "2 s", good=first < 2)
        token = visitor.csrf("/data")
        begin = time.monotonic()
        reply = visitor.client.post("/data", data={"csrf": token, "file": "large.csv"}, headers={"Origin": visitor.origin})
        page = visitor.get("/columns")
        took = time.monotonic() - begin
        assert reply.status_code == 200, reply.text[:800]
        assert "number7" in page.text, page.text[:800]
        line(f"a file of {ROWS:,} rows and {COLUMNS} columns, read, typed, drawn", f"{took:.2f} s", "3 s", good=took < 3)
    finally:
        app.stop()


def pages(visitor: Visitor, study: str) -> None:
    """Every page of a study, five times."""
    for part in PARTS:
        path = f"/studies/{study}{part}"
        replies = [visitor.get(path) for _ in range(5)]
        if replies[0].status_code == 404:
            print(f"  {part or '/':20} is not there")
            continue
        times = visitor.seconds[path][-5:]
        size = len(replies[0].content) / 1024
        words = f"{1000 * statistics.median(times):.0f} ms ({1000 * max(times):.0f}), {size:.0f} KiB"
        line(f"page {part or '/'} with {VARIABLES} variables", words, "200 ms", good=statistics.median(times) < 0.2)


def progress(server: Server, visitor: Visitor, study: str, watchers: int = 200) -> None:
    """The gaps between two pieces of news on a progress page, and the server's memory under many of them."""
    assert server.process is not None
    pid, news, failed = server.process.pid, list[float](), list[str]()
    stop = threading.Event()

    def watch(*, mine: bool) -> None:
        try:
            with visitor.client.stream("GET", f"/studies/{study}/live", timeout=60.0) as reply:
                reply.raise_for_status()
                for text in reply.iter_lines():
                    if mine and text.startswith("event: replace"):
                        news.append(time.monotonic())
                    if stop.is_set():
                        return
        except Exception as error:  # noqa: BLE001  whatever it is, it is counted
            if not stop.is_set():
                failed.append(repr(error))

    before = memory(pid)
    threads = [threading.Thread(target=watch, kwargs={"mine": k == 0}, daemon=True) for k in range(watchers)]
    for thread in threads:
        thread.start()
        time.sleep(0.005)
    time.sleep(3.0)
    early = memory(pid)
    server.do("POST", f"/studies/{study}/start")
    server.wait(study, 300)
    late = memory(pid)
    stop.set()
    for thread in threads:
        thread.join(5)
    gaps = np.diff(news)
    worst = float(gaps.max()) if len(gaps) else float("nan")
    line("progress: longest time without news, 200 pages open", f"{worst:.2f} s of {len(news)} news", "1 s", good=worst <= 1.0)
    words = f"{before / 2**20:.0f}, {early / 2**20:.0f}, {late / 2**20:.0f} MiB"
    line(f"memory: before, with {watchers} pages, after the run", words, "flat", good=late - before < 60 * 2**20)
    if failed:
        print(f"  {len(failed)} pages failed: {failed[0]}")


def main() -> None:
    """Print a table, one line a promise."""
    print(f"{'what':58} {'measured':>26}  {'promised':>12}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "--server" not in sys.argv:
            site(folder)
        with running(folder, join_burst="1000") as server, delaying(None, 0.03) as proxy:
            visitor = at_server(server)
            frames = wide()
            study, agents = enrol(server, folder / "sites", frames, declaration(frames, time_limit=10.0, limit=100))
            try:
                for agent in agents:
                    agent.start(https_proxy=f"http://127.0.0.1:{proxy.port}", no_proxy="")
                time.sleep(3)
                progress(server, visitor, study)
            finally:
                for agent in agents:
                    agent.kill()
            print(f"  the study has {server.state(study)}")
            pages(visitor, study)


if __name__ == "__main__":
    main()
