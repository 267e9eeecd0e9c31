"""Many computations at once: the same results in one process, in several and on a cluster, of which a worker may be killed."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import distributed
import pytest

import consilience as cs
from consilience import parallel
from consilience.errors import OptionError
from consilience.parallel import check_jobs, gathered, on_cluster, spread
from consilience.reproduction.experiment import Experiment, Results
from consilience.reproduction.sizes import Plan, Size

PLAN = Plan(1, 6, (500,), (4,), 1)


@pytest.fixture(scope="module")
def cluster() -> Iterator[distributed.LocalCluster]:
    """Two workers in processes of their own."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50) as found:
        yield found


def numbers(results: Results) -> list[object]:
    """What a study found, without how long it took."""
    return [(r.run, r.kinds, {m: (f.log_p, f.pags, f.shd) for m, f in r.found.items()}) for r in results.records] + list(results.cases)


@pytest.mark.parametrize("jobs", [0, -1, 1.5, True, "8", "2 processes", "http://host:1", "tcp://"])
def test_jobs_are_a_number_or_an_address(jobs: object) -> None:
    with pytest.raises(OptionError, match="jobs must be"):
        check_jobs(jobs)


def test_results_have_their_places() -> None:
    assert sorted(spread(divmod, [(7, 2), (9, 4)], 1)) == [(0, (3, 1)), (1, (2, 1))]
    assert gathered(divmod, [], 1) == []


@pytest.mark.slow
def test_a_cluster_finds_what_processes_find(cluster: distributed.LocalCluster, tmp_path: Path) -> None:
    here = Experiment(tmp_path / "here", Size.SMOKE).run(jobs=2)
    told: list[tuple[int, int]] = []
    there = Experiment(tmp_path / "there", Size.SMOKE).run(cluster.scheduler_address, progress=lambda *done: told.append(done))
    assert numbers(there) == numbers(here)
    assert len(here.records) == 8
    assert told == [(done, 11) for done in range(12)]


@pytest.mark.slow
def test_nothing_is_lost_when_a_worker_is_killed(cluster: distributed.LocalCluster, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill(done: int, _all: int) -> None:
        if done == 2:
            pid = next(iter(cluster.workers.values())).pid
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    there = Experiment(tmp_path / "there", PLAN).run(cluster.scheduler_address, progress=kill)
    assert killed
    assert numbers(there) == numbers(Experiment(tmp_path / "here", PLAN).run())


@pytest.mark.slow
def test_power_and_the_published_engine_take_a_cluster(cluster: distributed.LocalCluster) -> None:
    def power(jobs: int | str) -> cs.simulate.Power:
        return cs.simulate.power(0.5, sites=2, rows=40, replications=20, methods=["fedci"], jobs=jobs)

    address = cluster.scheduler_address
    assert power(address).table.equals(power(1).table)
    oracle = cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABC", "BCD"])
    assert cs.discover(oracle, engine="iod", jobs=address).pags == cs.discover(oracle, engine="iod").pags


@pytest.mark.slow
def test_a_worker_with_other_code_is_refused(cluster: distributed.LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        real = parallel.code_of_package()
        with distributed.Client(cluster, set_as_default=False) as client:
            assert set(client.run(parallel.code_of_package).values()) == {real}
        patch.setattr(parallel, "_check_workers", lambda *_: None)
        with on_cluster(cluster.scheduler_address) as (pool, width):
            assert width == 2
            with pytest.raises(OptionError, match="joined the cluster with other code"):
                pool.submit(parallel._several, divmod, [(0, (7, 2))], "another digest").result()


@pytest.mark.slow
def test_an_address_where_nobody_answers_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "CONNECT_SECONDS", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(OptionError, match=r"No Dask scheduler answers .* `dask scheduler`"):
            gathered(divmod, [(7, 2)], address)
