"""A process that helps with blocks of rows: the same sums, and nothing is lost or left behind whatever becomes of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from threadpoolctl import threadpool_info

from consilience.data import helpers as module
from consilience.data.blocks import over_blocks
from consilience.data.helpers import MOST_LOST, Helpers
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.federation import Client
from consilience.parallel import one_thread
from tests.data.started import started, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="only Linux has memory without a name")]
N, PARTS = 1000, 10
HERE = os.getpid()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[Helpers]:
    """Helpers of this test alone, which are started at once."""
    monkeypatch.setattr("consilience.data.table.BLOCK_ROWS", 50)
    monkeypatch.setattr("consilience.data.table.PART_BLOCKS", 2)
    found = Helpers(spent=1e9)
    monkeypatch.setattr("consilience.data.blocks.helpers", found)
    yield found
    found.close()


def table(helpers: int = 1) -> Table:
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({"A": rng.normal(size=N), "E": [(None, "p", "q")[i] for i in rng.integers(0, 3, N)]})
    found = Table(frame, Schema({"A": "continuous", "E": ("multinomial", "pq")}), "muenster")
    found.threads, found.helpers = helpers + 1, helpers
    return found


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def summed(block: Table) -> tuple[float, int, int]:
    """Sums of a block, and which process has made them."""
    return float(block.numbers["A"].sum()), block.complete(["A", "E"]).n, os.getpid()


def sums(of: Table, work: Callable[[Table], tuple[float, int, int]] = summed) -> tuple[list[tuple[float, int]], list[int]]:
    found = list(over_blocks(of, ["A", "E"], work, portable=True))
    return [(total, n) for total, n, _ in found], [pid for *_, pid in found]


def alone() -> list[tuple[float, int]]:
    return sums(table(0))[0]


@pytest.mark.parametrize("count", [1, 2])
def test_helpers_make_the_same_of_blocks_in_the_same_order(made: Helpers, count: int) -> None:
    pids = started(made, count)
    for _ in range(2):
        found, makers = sums(table(count))
        assert found == alone()
        assert set(makers) == {HERE, *pids}
        assert len(makers) == 2 * PARTS
    assert sorted(helper.pid for helper in made.there) == sorted(pids)  # the same, again and again


def test_a_helper_is_started_when_sums_have_taken_long_and_threads_do_its_part_until_it_is_there(made: Helpers) -> None:
    made.spent = 0.0
    assert sums(table())[0] == alone()
    assert made.there == []
    made.spent = module.START_SECONDS
    found, makers = sums(table())
    assert found == alone()
    assert set(makers) == {HERE}
    assert len(made.there) == 1


def test_work_that_stays_here_starts_nobody(made: Helpers) -> None:
    assert sum(over_blocks(table(), ["A"], lambda block: block.n_rows)) == N
    assert made.there == []


def killing(here: int, sent: int, block: Table) -> tuple[float, int, int]:
    """What ends a helper in the middle of its part, and does nothing here."""
    if os.getpid() != here:
        os.kill(os.getpid(), sent)
    return summed(block)


def test_what_a_helper_had_when_it_was_killed_is_made_here_and_after_a_few_there_are_no_more(made: Helpers) -> None:
    for lost in range(1, MOST_LOST + 1):
        (pid,) = started(made)
        found, makers = sums(table(), partial(killing, HERE, signal.SIGKILL))
        assert found == alone()
        assert set(makers) == {HERE}
        assert is_gone(pid)
        assert made.lost == lost
    assert sums(table())[0] == alone()
    assert made.there == []


def test_a_helper_that_was_killed_while_it_waited_is_replaced(made: Helpers) -> None:
    (pid,) = started(made)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: made.there[0]._process.poll() is not None)
    assert sums(table())[0] == alone()
    assert made.lost == 1
    assert started(made) != [pid]


def test_nobody_waits_for_a_helper_that_was_stopped(made: Helpers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consilience.data.blocks.PATIENCE", 0.5)
    (pid,) = started(made)
    began = time.monotonic()
    found, makers = sums(table(), partial(killing, HERE, signal.SIGSTOP))
    assert found == alone()
    assert set(makers) == {HERE}
    assert time.monotonic() - began < 30  # once, and not for each of its parts
    assert is_gone(pid)


def refusing(block: Table) -> tuple[float, int, int]:
    raise ValueError(f"a block of {block.n_rows} rows")


def failing(here: int, block: Table) -> tuple[float, int, int]:
    if os.getpid() != here:
        raise MemoryError
    return summed(block)


def test_an_error_in_a_helper_is_the_callers_and_what_fails_only_there_is_made_here(made: Helpers) -> None:
    started(made)
    with pytest.raises(ValueError, match="a block of 50 rows"):
        sums(table(), refusing)
    started(made)
    found, makers = sums(table(), partial(failing, HERE))
    assert found == alone()
    assert set(makers) == {HERE}
    assert made.lost == 0


def test_a_sum_that_is_given_up_leaves_no_helper_behind_that_goes_on(made: Helpers) -> None:
    (pid,) = started(made)
    going = over_blocks(table(), ["A"], summed, portable=True)
    next(going)
    going.close()  # type: ignore[attr-defined]
    assert made.lent == []
    assert is_gone(pid) or [helper.waiting for helper in made.there] == [0]
    assert sums(table())[0] == alone()


def test_a_helper_that_nobody_asks_ends_and_is_started_again(made: Helpers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.2)
    (pid,) = started(made)
    wait_for(lambda: made.there[0]._process.poll() is not None)
    monkeypatch.setattr(module, "IDLE_SECONDS", 120.0)
    assert started(made) != [pid]
    assert made.lost == 0
    assert len(set(sums(table())[1])) == 2


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, None], ids=str)
def test_a_helper_ends_with_the_process_that_it_helps(sent: signal.Signals | None) -> None:
    program = """
import sys, time
from consilience.data.helpers import helpers
helpers.spent = 1e9
while not helpers.are_there(1):
    time.sleep(0.01)
print(helpers.there[0].pid, flush=True)
sys.stdin.read()
"""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        pid = int(process.stdout.readline())
        assert not is_gone(pid)
        if sent is None:
            process.stdin.close()
        else:
            process.send_signal(sent)
        process.wait(60)
        wait_for(lambda: is_gone(pid) or "Z" in Path(f"/proc/{pid}/stat").read_text(encoding="ascii").split()[2])


def test_a_copy_of_this_process_has_no_helpers_and_ends_none(made: Helpers) -> None:
    (pid,) = started(made)
    child = os.fork()
    if child == 0:
        made.forget()
        os._exit(len(made.there))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert set(sums(table())[1]) == {HERE, pid}


def test_a_copy_of_this_process_keeps_no_end_of_a_helper_that_is_lent(made: Helpers) -> None:
    started(made)
    with made.borrowed(1) as (helper,):
        child = os.fork()
        if child == 0:
            held = {helper._connection.fileno(), *(slot.fd for slot in (*helper._slots, *helper._answers))}
            made.forget()
            os._exit(sum(Path(f"/proc/self/fd/{fd}").exists() for fd in held))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def blas_threads(block: Table) -> tuple[float, int, int]:
    """How many threads linear algebra has here."""
    del block
    return 0.0, max(each["num_threads"] for each in threadpool_info() if "numpy" in each["filepath"]), os.getpid()


def test_a_helper_rounds_as_a_site_does(made: Helpers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")  # of more than ten thousand values two threads make other sums than one
    (pid,) = started(made)
    with one_thread():
        found, makers = sums(table(), blas_threads)
    assert set(makers) == {HERE, pid}
    assert {threads for _, threads in found} == {1}


def test_a_helper_starts_whatever_is_in_the_path_and_loads_nothing_from_where_it_is(
    made: Helpers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise RuntimeError('somebody else')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [Path("/nowhere"), *sys.path])  # the import system passes over what is no text
    (pid,) = started(made)
    assert set(sums(table())[1]) == {HERE, pid}
    assert made.lost == 0


def test_a_site_that_may_take_little_memory_has_none() -> None:
    frame = pl.DataFrame({"A": np.arange(10.0)})
    schema = Schema({"A": "continuous"})
    found = [Client("muenster", frame, memory=memory, threads=3)._encoded(schema, None).helpers for memory in ("300 MiB", "2 GiB")]
    assert found == [0, 2]
    assert Client("muenster", frame, memory="2 GiB")._encoded(schema, None).subset(np.arange(5)).helpers <= 1
