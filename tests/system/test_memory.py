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
VARIABLES = 24
NOTHING = {"pags": None, "local_pags": None, "tests": None}


def chains() -> dict[str, pl.DataFrame]:
    """Three sites that lack two variables each, in chains of three: their answers contradict each other, and the search is long."""
    rng, names = np.random.default_rng(3), [f"v{i:02}" for i in range(VARIABLES)]
    found = {}
    for k in range(3):
        values = rng.normal(size=(300, VARIABLES))
        for i in range(VARIABLES):
            if i % 3:
                values[:, i] += 0.8 * values[:, i - 1]
        found[f"site{k + 1}"] = pl.DataFrame(dict(zip(names, values.T, strict=True))).drop(names[3 * k], names[3 * k + 12])
    return found


def run(server: Server, folder: Path) -> tuple[int, int]:
    """One study from its start to its end; the most memory of the server meanwhile, and what it has afterwards."""
    assert server.process is not None
    seen = wave(server, folder, [chains()], [NOTHING], processes=1, max_given=1, resolve="strict", limit=1, time_limit=1.0)
    time.sleep(2 * KEEPING_SECONDS)
    return seen.peak, memory(server.process.pid)


@pytest.mark.slow
def test_a_server_is_as_large_after_a_run_as_before_it(tmp_path: Path) -> None:
    with running(tmp_path, loading=True) as server:
        seen = [run(server, tmp_path / f"run{i}") for i in range(2)]
        words = [(peak // MIB, after // MIB) for peak, after in seen]
        assert server.sql("select count(*) from studies where state = 'finished'") == [(2,)]
    for peak, after in seen:  # 100 MiB are given back; where nobody does it, Python and the C library keep all but 30 to 45 of them
        assert peak - after > 70 * MIB, words
    assert seen[1][1] - seen[0][1] < 25 * MIB, words
