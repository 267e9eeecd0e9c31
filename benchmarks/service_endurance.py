"""A study server over a long time: studies one after the other, then many at once, then killed and stopped at random moments.

    python benchmarks/service_endurance.py sequence --studies 500
    python benchmarks/service_endurance.py at-once --studies 50 --waves 3
    python benchmarks/service_endurance.py kills --kill 40 --terminate 20

The server is a process over TLS on loopback, with its workers; the sites are agents in other processes, or tasks of this one. Every result
is held against the in-process one, bit for bit. Of the server are printed: its memory and that of its workers, its descriptors and its
threads. Exit code 1 if a result is not right, or if the server has grown: its memory by more than 64 MiB after the first tenth, its
descriptors or threads by more than 16. Of studies at the same time each has a thread, and stays one of a pool of as many as may run
(``max_runs``); so do requests: with these pools full, the threads may be 16 more.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.system.crowd import crowd, memory, wave
from tests.system.processes import Agent, Server, declaration, enrol, running, until
from tests.system.test_equality import connected, frames_of, in_process

from consilience.service.agent import Home
from consilience.service.agent import join as enter
from consilience.service.invitation import read_invitation

GROWTH = 64 << 20
MORE = 16
POOLS = 40
"""Threads for requests at the same time; those for studies are as many as these."""
SLOW = {"join_burst": "1000000", "join_rate": "1000000"}


@dataclass(frozen=True)
class Look:
    """A server at one moment."""

    memory: int
    workers: int
    descriptors: int
    threads: int

    @classmethod
    def at(cls, server: Server) -> Look:
        """The server as it is now."""
        assert server.process is not None
        folder = Path(f"/proc/{server.process.pid}")
        children = [int(one) for path in folder.glob("task/*/children") for one in path.read_text(encoding="utf-8").split()]
        sizes = [_memory(child) for child in children]
        return cls(memory(server.process.pid), sum(sizes), len(list((folder / "fd").iterdir())), len(list((folder / "task").iterdir())))

    def __str__(self) -> str:
        return f"{self.memory / 2**20:8.1f} {self.workers / 2**20:12.1f} {self.descriptors:12d} {self.threads:8d}"


HEAD = f"{'done':>6} {'right':>6} {'seconds':>8} {'MiB':>8} {'workers MiB':>12} {'descriptors':>12} {'threads':>8}"


def _memory(pid: int) -> int:
    try:
        return memory(pid)
    except (OSError, StopIteration):  # it has just ended
        return 0


def _grown(early: Look, late: Look, threads: int = 0) -> bool:
    """Whether a server is larger than it was; ``threads`` is how many it may have in pools."""
    many = late.threads > max(early.threads, threads) + MORE
    return late.memory - early.memory > GROWTH or late.descriptors - early.descriptors > MORE or many


def sequence(options: argparse.Namespace) -> bool:
    """Studies one after the other; a line for every tenth of them."""
    frames = [frames_of(2, rows=40, seed=seed) for seed in range(5)]
    wanted = [in_process(one)[0] for one in frames]
    with tempfile.TemporaryDirectory() as name, running(Path(name), loading=True, **SLOW) as server:
        print(HEAD, flush=True)
        looks, right, begin = [Look.at(server)], 0, time.monotonic()
        print(f"{'idle':>6} {'':>6} {'':>8} {looks[0]}", flush=True)
        step = max(1, options.studies // 20)
        for number in range(1, options.studies + 1):
            place = number % len(frames)
            right += _alone(server, Path(name) / f"study{number}", frames[place], wanted[place])
            if number % step == 0 or number == options.studies:
                looks.append(Look.at(server))
                print(f"{number:6d} {right:6d} {time.monotonic() - begin:8.0f} {looks[-1]}", flush=True)
        return right == options.studies and not _grown(looks[1 + len(looks) // 10], looks[-1])


def _alone(server: Server, folder: Path, frames: Mapping[str, pl.DataFrame], wanted: Mapping[str, Any]) -> bool:
    """One study whose sites are tasks of this process; whether its result is right."""
    study = server.do("POST", "/studies", declaration(frames))["id"]
    for name, frame in frames.items():
        place = folder / name
        place.mkdir(parents=True)
        enter(Home(place / "home"), read_invitation(server.do("POST", f"/studies/{study}/invitations", {"site": name})["invitation"]))
        frame.write_parquet(place / "data.parquet")
    server.do("POST", f"/studies/{study}/open")
    sites = threading.Thread(target=lambda: asyncio.run(crowd(folder)))
    sites.start()
    connected(server, study, len(frames))
    server.do("POST", f"/studies/{study}/start")
    server.wait(study, 300)
    sites.join()
    shutil.rmtree(folder)
    found = server.result(study)
    return all(found.get(part) == wanted[part] for part in ("pags", "local_pags", "tests"))


def at_once(options: argparse.Namespace) -> bool:
    """Studies at the same time, in waves."""
    studies = [frames_of(options.sites, rows=60, seed=seed) for seed in range(options.studies)]
    wanted = [in_process(one)[0] for one in studies]
    with tempfile.TemporaryDirectory() as name, running(Path(name), loading=True, **SLOW) as server:
        print(HEAD, flush=True)
        looks, right, begin = [Look.at(server)], 0, time.monotonic()
        print(f"{'idle':>6} {'':>6} {'':>8} {looks[0]}", flush=True)
        for number in range(1, options.waves + 1):
            right += wave(server, Path(name) / f"wave{number}", studies, wanted).right
            looks.append(Look.at(server))
            print(f"{number * options.studies:6d} {right:6d} {time.monotonic() - begin:8.0f} {looks[-1]}", flush=True)
        return right == options.studies * options.waves and not _grown(looks[1], looks[-1], POOLS + options.studies)


def kills(options: argparse.Namespace) -> bool:
    """``kill -9`` and SIGTERM at random moments of studies, until there were so many of each; all results are the same bits."""
    chance = random.Random(options.seed)
    ends = [signal.SIGKILL] * options.kill + [signal.SIGTERM] * options.terminate
    chance.shuffle(ends)
    frames = frames_of(3, rows=60)
    wanted, rounds, _ = in_process(frames)
    right = studies = 0
    moments: list[tuple[str, int]] = []
    slowest = 0.0
    with tempfile.TemporaryDirectory() as name, running(Path(name), heartbeat_seconds="2", **SLOW) as server:
        while ends:
            studies += 1
            folder = Path(name) / f"study{studies}"
            study, agents = enrol(server, folder, frames, declaration(frames, return_seconds=120))
            now = [ends.pop() for _ in range(min(len(ends), chance.randint(2, 6)))]
            try:
                told, seconds = _killed(server, study, [agent.start() for agent in agents], now, rounds, chance)
                slowest = max(slowest, seconds)
                same = _same(server, study, wanted, rounds)
                right += same
                moments += told
                ends += now[len(told) :]  # the study was over before
                said = ", ".join(f"{signal} after round {at}" for signal, at in told)
                print(f"study {studies}: {'the same bits' if same else 'DIFFERENT'}; {said}; {len(ends)} ends to go", flush=True)
            finally:
                for agent in agents:
                    agent.kill()
    parts = [sum(low <= at < high for _, at in moments) for low, high in ((0, 1), (1, rounds // 2), (rounds // 2, rounds), (rounds, 10**9))]
    print(f"{len(moments)} ends: {parts[0]} before the first of {rounds} rounds, {parts[1]} and {parts[2]} in the halves, {parts[3]} after")
    print(f"{right} of {studies} studies right; the slowest end by SIGTERM took {slowest:.1f} s")
    return right == studies


def _killed(
    server: Server, study: str, agents: list[Agent], ends: list[signal.Signals], rounds: int, chance: random.Random
) -> tuple[list[tuple[str, int]], float]:
    """Run a study to its end, and end the server on the way: each time after a round that was drawn, all alike, and some moment more.

    After which round each was, and how long the slowest SIGTERM took.
    """
    connected(server, study, len(agents))
    server.do("POST", f"/studies/{study}/start")
    told, slowest = list[tuple[str, int]](), 0.0
    places = sorted(chance.choices(range(rounds + 1), k=len(ends)))
    for place, end in zip(places, ends, strict=True):
        until(lambda place=place: _done(server, study) >= place or server.state(study)[0] != "running", 300, 0.002)
        time.sleep(chance.expovariate(10.0))
        if server.state(study)[0] != "running":
            break
        assert server.process is not None
        begin = time.monotonic()
        server.process.send_signal(end)
        server.process.wait(60)
        if end is signal.SIGTERM:
            slowest = max(slowest, time.monotonic() - begin)
        server.kill()
        told.append((end.name, _done(server, study)))
        server.start()
    until(lambda: server.state(study)[0] != "running", 300, 0.1)
    return told, slowest


def _done(server: Server, study: str) -> int:
    """Rounds whose sums are on disk; all of them, where graphs are sought and the sums are deleted."""
    ((rounds,),) = server.sql("select rounds from studies where id = ?", study)
    return int(rounds)


def _same(server: Server, study: str, wanted: Mapping[str, Any], rounds: int) -> bool:
    if server.state(study)[0] != "finished":
        print(server.state(study), file=sys.stderr)
        return False
    found = server.result(study)
    return all(found.get(part) == wanted[part] for part in ("pags", "local_pags", "tests")) and found["study"]["rounds"] == rounds


def main() -> int:
    """Print what the server takes; 1 if something is not right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("sequence", help=sequence.__doc__)
    one.add_argument("--studies", type=int, default=500)
    one.set_defaults(run=sequence)
    many = commands.add_parser("at-once", help=at_once.__doc__)
    many.add_argument("--studies", type=int, default=50)
    many.add_argument("--sites", type=int, default=3)
    many.add_argument("--waves", type=int, default=3)
    many.set_defaults(run=at_once)
    end = commands.add_parser("kills", help=kills.__doc__)
    end.add_argument("--kill", type=int, default=40)
    end.add_argument("--terminate", type=int, default=20)
    end.add_argument("--seed", type=int, default=1)
    end.set_defaults(run=kills)
    options = parser.parse_args()
    return 0 if options.run(options) else 1


if __name__ == "__main__":
    sys.exit(main())
