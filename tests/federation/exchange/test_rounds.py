"""How much travels: rounds, bytes, progress, and what an interruption costs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

import consilience as cs


def mixed_clients(seed: int = 8, n: int = 1200) -> list[cs.Client]:
    return [cs.Client(name, frame) for name, frame in cs.simulate.mixed_sites(n=n, sites=4, seed=seed, missing=0.02).items()]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_all_tests_of_five_mixed_variables_take_at_most_twenty_rounds(seed: int) -> None:
    server = cs.Server(mixed_clients(seed))
    assert server.test_all().height == 80
    assert server.rounds <= 20


def test_gaussian_data_take_at_most_two_rounds_per_level() -> None:
    rng = np.random.default_rng(1)
    clients = []
    for k in range(3):
        data = rng.normal(size=(80, 5)) @ rng.normal(size=(5, 5)) + k
        clients.append(cs.Client(f"s{k}", pl.DataFrame(data, schema=list("ABCDE"))))
    for level in range(4):
        server = cs.Server(clients, diagnostics=False)
        server.test_all(max_given=level)
        assert server.rounds <= 2
        looking = cs.Server(clients)
        looking.test_all(max_given=level)
        assert looking.rounds == server.rounds + 1
    by_level = cs.Server(clients, diagnostics=False)
    for level in range(4):
        before = by_level.rounds
        by_level.test_all(max_given=level)
        assert by_level.rounds - before <= 2


def test_bytes_count_requests_and_answers_of_every_client() -> None:
    clients = mixed_clients()
    few, many = cs.Server(clients[:2]), cs.Server(clients)
    few.test("A", "B", ["C"])
    many.test("A", "B", ["C"])
    assert few.bytes > 0
    assert many.bytes == pytest.approx(2 * few.bytes, rel=0.3)


class Whole(NamedTuple):
    """A run that nothing interrupts: what it found, in how many rounds, and what it told on the way."""

    table: pl.DataFrame
    rounds: int
    told: list[tuple[int, int]]


@pytest.fixture(scope="module")
def whole() -> Whole:
    server, told = cs.Server(mixed_clients()), list[tuple[int, int]]()
    table = server.test_all(progress=lambda done, total: told.append((done, total)))
    return Whole(table, server.rounds, told)


@pytest.mark.slow
def test_progress_counts_up_to_all(whole: Whole) -> None:
    seen = whole.told
    assert seen[-1] == (80, 80)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.slow
def test_a_cancelled_run_resumes_where_it_stopped(whole: Whole) -> None:
    class Stop(Exception):
        pass

    calls = 0

    def cancel(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise Stop

    server = cs.Server(mixed_clients())
    with pytest.raises(Stop):
        server.test_all(progress=cancel)
    resumed = server.test_all()
    np.testing.assert_allclose(resumed["p_value"], whole.table["p_value"], rtol=1e-12)
    assert server.rounds <= 5 + whole.rounds


@pytest.mark.slow
def test_repeated_runs_are_bit_identical(whole: Whole) -> None:
    assert cs.Server(mixed_clients()).test_all().equals(whole.table)
