"""A server that runs studies is as large as before: searches take their memory in worker processes, which end when they have grown."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from consilience.service.server.runner import KEEPING_SECONDS
from consilience.service.worker.pool import GROWN
from tests.system.crowd import memory, wave
from tests.system.processes import Server, running

MIB = 1 << 20
MOST = 40 * MIB
"""That a server may grow while searches go on, and after them (8 were seen). When it searched itself, it grew by over a hundred."""
VARIABLES = 24
NOTHING = {"pags": None, "local_pags": None, "tests": None}


def chains(variables: int) -> dict[str, pl.DataFrame]:
    """Three sites that lack two variables each, in chains of three: their answers contradict each other, and the search is long."""
    rng, names = np.random.default_rng(3), [f"v{i:02}" for i in range(variables)]
    found = {}
    for k in range(3):
        values = rng.normal(size=(300, variables))
        for i in range(variables):
            if i % 3:
                values[:, i] += 0.8 * values[:, i - 1]
        found[f"site{k + 1}"] = pl.DataFrame(dict(zip(names, values.T, strict=True))).drop(names[3 * k], names[(3 * k + 12) % variables])
    return found


def run(server: Server, folder: Path, variables: int = VARIABLES) -> int:
    """One study from its start to its end; the most memory that the server had meanwhile."""
    seen = wave(server, folder, [chains(variables)], [NOTHING], processes=1, max_given=1, resolve="strict", limit=1, time_limit=2.0)
    return seen.peak


def workers(pid: int) -> list[int]:
    """The memory of a process's children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    found = [path for path in Path(f"/proc/{pid}/task").glob("*/children") if path.parent.name != str(pid)]
    children += [child for path in found for child in path.read_text(encoding="utf-8").split()]
    return [memory(int(child)) for child in children]


@pytest.mark.slow
@pytest.mark.timeout(900)  # three whole studies: half a minute on a machine that is free, and more than five with all cores busy
def test_a_server_is_as_large_after_a_run_as_before_it(tmp_path: Path) -> None:
    with running(tmp_path, loading=True) as server:
        assert server.process is not None
        pid = server.process.pid
        run(server, tmp_path / "first", variables=9)  # what a first run loads stays
        time.sleep(2 * KEEPING_SECONDS)
        before = memory(pid)
        seen = list[tuple[int, int, list[int]]]()
        for number in range(2):
            peak = run(server, tmp_path / f"run{number}")
            time.sleep(KEEPING_SECONDS)
            seen.append((peak, memory(pid), workers(pid)))
        assert server.sql("select count(*) from studies where state = 'finished'") == [(3,)]
    words = before // MIB, [(peak // MIB, after // MIB, [one // MIB for one in kept]) for peak, after, kept in seen]
    assert all(peak - before <= MOST and after - before <= MOST for peak, after, _ in seen), words
    assert all(len(kept) <= 1 and sum(kept) <= GROWN for *_, kept in seen), words
