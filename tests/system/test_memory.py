"""A server that has run studies is as large as before: what a search took is given back when it is over."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from consilience.service.server.runner import KEEPING_SECONDS
from tests.system.crowd import memory, wave
from tests.system.processes import Server, running

MIB = 1 << 20
MOST, LONG = 60 * MIB, 100 * MIB
"""That a server may grow in its first long searches (20 to 50 were seen; 85 and 180 after two where nobody gives back), and that it takes
in one."""
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


def settled(pid: int, bound: int) -> int:
    """The memory of a process once it is at most ``bound``, or a minute later: a step of the solver that was left goes on for a while."""
    end = time.monotonic() + 60
    time.sleep(KEEPING_SECONDS)
    while memory(pid) > bound and time.monotonic() < end:
        time.sleep(0.5)
    return memory(pid)


@pytest.mark.slow
def test_a_server_is_as_large_after_a_run_as_before_it(tmp_path: Path) -> None:
    with running(tmp_path, loading=True) as server:
        assert server.process is not None
        pid = server.process.pid
        run(server, tmp_path / "first", variables=9)  # what a first run loads stays
        time.sleep(2 * KEEPING_SECONDS)
        before = memory(pid)
        seen = list[tuple[int, int]]()
        while sum(peak - before > LONG for peak, _ in seen) < 2:  # where others use the machine, a search may end before it is large
            assert len(seen) < 6, seen
            peak = run(server, tmp_path / f"run{len(seen)}")
            seen.append((peak, settled(pid, before + MOST)))
        assert server.sql("select count(*) from studies where state = 'finished'") == [(1 + len(seen),)]
    words = before // MIB, [(peak // MIB, after // MIB) for peak, after in seen]
    assert all(after - before <= MOST for _, after in seen), words
