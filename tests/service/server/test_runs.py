"""Runs of studies over sites in this process: they go on from the store, and their graphs are found by a real worker process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import consilience as cs
from consilience import errors
from consilience.federation.site.half import SiteHalf
from consilience.federation.transport import Heard, JournalEntry
from consilience.service.contract import Contract, Member
from consilience.service.result_files import published, result_json
from consilience.service.server.hub import Hub
from consilience.service.server.metrics import Metrics
from consilience.service.server.runner import Bell, Runner, StoredTest
from consilience.service.settings import Batching, specs_of
from consilience.service.store import Database, State, Store
from consilience.service.worker.limits import Limits
from consilience.service.worker.pool import Pool
from consilience.settings import NetworkSettings, Resolve
from tests.federation.helpers import mixed_clients
from tests.service.run_links import RunLinks, run
from tests.system.processes import until

CLIENTS = mixed_clients(3, columns="ABC")
SCHEMA = cs.Server(CLIENTS).schema


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """Workers that these tests share: to start one takes a second."""
    found = Pool()
    yield found
    found.close()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = Store(Database(tmp_path / "studies.sqlite", clock=lambda: 5.0))
    found.accounts.add("ada", "hash")
    return found


def begun(store: Store, **settings: Any) -> tuple[Contract, list[SiteHalf]]:
    study = store.studies.create("ada", "trial", specs_of(SCHEMA), (("A", "B", "C"),), NetworkSettings(**settings))
    members = tuple(Member(c.name, c.identity.public_bytes) for c in CLIENTS)
    contract = Contract(study, "trial", specs_of(SCHEMA), (("A", "B", "C"),), NetworkSettings(**settings), members)
    store.studies.move(study, [State.DRAFT], State.RUNNING, contract=contract)
    return contract, [c.join(study, SCHEMA, contract.terms, contract.fingerprints.values()) for c in CLIENTS]


def runner_of(store: Store, pool: Pool, metrics: Metrics | None = None, **more: Any) -> Runner:
    return Runner(store, Hub(), Bell(), metrics or Metrics(), 1, pool=pool, **more)


async def others_end() -> None:
    """Every other task of this loop has ended."""
    await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))


@contextmanager
def looping(runner: Runner) -> Iterator[None]:
    """A loop for the runner's connections, of which there are none."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    runner._loop = loop
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(others_end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def state_of(store: Store, contract: Contract) -> tuple[State, str]:
    row = store.studies.get(contract.study)
    assert row is not None
    return row.state, row.message


def test_a_server_that_dies_among_graphs_asks_no_site_again(store: Store, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    contract, participants = begun(store)

    def die(*_arguments: object) -> None:
        raise errors.RunInterruptedError("killed")

    first, links = runner_of(store, pool), RunLinks(participants)
    monkeypatch.setattr(first.searching, "find", die)
    run(first, contract, links)
    assert links.asked > 0
    assert state_of(store, contract)[0] is State.RUNNING
    assert store.searches.queued() == [contract.study]
    again = RunLinks([])
    run(runner_of(store, pool), contract, again, search_only=True)
    assert again.asked == 0
    assert state_of(store, contract) == (State.FINISHED, "")
    assert store.runs.journal(contract.study) == []
    assert store.searches.queued() == []
    for name in ("result.json", "tests.csv", "report.html"):
        assert store.runs.document(contract.study, name)


def test_the_whole_run_from_its_journal_gives_the_same_documents(store: Store, pool: Pool) -> None:
    contract, participants = begun(store, batching=Batching.ALL)
    runner = runner_of(store, pool)
    cleared = []
    store.runs.clear_journal = cleared.append  # type: ignore[method-assign]
    run(runner, contract, RunLinks(participants))
    first = store.runs.document(contract.study, "tests.csv")
    store.database.write("update studies set state = 'running' where id = ?", (contract.study,))
    links = RunLinks([])
    run(runner, contract, links)
    assert links.asked == 0
    assert store.runs.document(contract.study, "tests.csv") == first
    assert cleared == [contract.study] * 2


def in_process(**options: Any) -> tuple[dict[str, Any], int]:
    """The same study in this process, as a study server decides and publishes, and its rounds."""
    server = cs.Server(CLIENTS, min_cell=5)
    found = cs.discover(StoredTest(server, lambda _: None, lambda _done, _total: None), **options)
    return json.loads(result_json(replace(found, tests=published(found.tests)))), server.rounds


@pytest.mark.parametrize("resolve", ["auto", "optimal"])
def test_tests_that_only_the_search_asks_for_are_made_under_the_same_keys(store: Store, pool: Pool, resolve: str) -> None:
    """Where decisions are weighed against each other, the worker needs more tests: the sites are asked, and nothing else differs."""
    wanted, rounds = in_process(resolve=resolve)
    contract, participants = begun(store, resolve=Resolve(resolve))
    run(runner_of(store, pool), contract, RunLinks(participants))
    assert state_of(store, contract) == (State.FINISHED, "")
    found = json.loads(store.runs.document(contract.study, "result.json") or b"")
    assert found["study"]["rounds"] == rounds
    for part in ("pags", "tests", "summary", "resolution", "overruled", "headline", "withheld", "weighed"):
        assert found.get(part) == wanted.get(part), part
    assert [event.kind for event in store.runs.events(contract.study)].count("run") == 1
    sent = {(row["site"], row["messages"]) for row in found["disclosed"]}
    assert sent == {(client.name, rounds) for client in CLIENTS}


def test_a_search_that_takes_too_much_is_ended_and_can_be_made_again(store: Store, pool: Pool) -> None:
    contract, participants = begun(store)
    small = Limits(seconds=60.0, memory=1)
    run(runner_of(store, pool, limits=small), contract, RunLinks(participants))
    state, message = state_of(store, contract)
    assert state is State.FAILED
    assert message == (
        "SearchError: The search for graphs needed more than 1 MiB of memory (search_memory), and was ended. "
        "The tests are kept, and graphs can be sought again."
    )
    assert store.runs.count_results(contract.study) > 0
    assert store.runs.journal(contract.study) == []
    runner = runner_of(store, pool)
    with looping(runner):
        runner.search_again(contract.study)
        until(lambda: not runner.active)
    assert state_of(store, contract) == (State.FINISHED, "")
    wanted, _ = in_process()
    found = json.loads(store.runs.document(contract.study, "result.json") or b"")
    assert (found["pags"], found["tests"]) == (wanted["pags"], wanted["tests"])
    kinds = [event.kind for event in store.runs.events(contract.study)]
    assert kinds.index("failed") < kinds.index("searched") < kinds.index("finished")
    with pytest.raises(errors.LifeCycleError, match="all tests are made and there are no graphs"):
        runner.search_again(contract.study)


def test_a_search_of_a_failed_study_asks_nobody_and_says_what_it_lacks(store: Store, pool: Pool) -> None:
    """Its sums are gone, so that tests which weighing would ask for cannot be made any more: they are unknown, and named."""
    contract, participants = begun(store, resolve=Resolve.OPTIMAL)
    run(runner_of(store, pool, limits=Limits(seconds=0.0, memory=2048)), contract, RunLinks(participants))
    state, message = state_of(store, contract)
    assert state is State.FAILED
    assert "took longer than 0 seconds (search_seconds), and was ended." in message
    store.database.write("update studies set state = 'running' where id = ?", (contract.study,))
    links = RunLinks([])
    run(runner_of(store, pool), contract, links, search_only=True)
    assert links.asked == 0
    found = json.loads(store.runs.document(contract.study, "result.json") or b"")
    assert len(found["missing"]) > 0
    assert "never asked: unknown, not independent." in found["headline"]


def test_a_worker_that_ends_by_itself_fails_its_study_with_the_reason(store: Store, pool: Pool) -> None:
    contract, participants = begun(store)
    runner = runner_of(store, pool)

    def shot() -> None:
        worker = runner.searching._at_work.get(contract.study)
        if worker is not None:
            os.kill(worker.pid, signal.SIGSEGV)

    run(runner, contract, RunLinks(participants, shot))
    state, message = state_of(store, contract)
    assert state is State.FAILED
    assert "The process that looked for graphs ended by itself (by signal 11). The tests are kept" in message


def test_a_database_that_is_locked_ends_no_study(store: Store, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a run, and when its failure is written down: the journal stays, and the run goes on from it."""
    monkeypatch.setattr("consilience.service.server.runner.FIRST_PAUSE", 0.01)
    contract, participants = begun(store)
    metrics = Metrics()
    runner = runner_of(store, pool, metrics)
    append, calls, kept = store.runs.append, [0], []

    def locked(study: str, entry: JournalEntry, heard: Sequence[Heard]) -> Any:
        calls[0] += 1
        if calls[0] in (2, 3):
            kept.append(len(store.runs.journal(study)))
            raise sqlite3.OperationalError("database is locked")
        return append(study, entry, heard)

    store.runs.append = locked  # type: ignore[method-assign]
    run(runner, contract, RunLinks(participants))
    assert state_of(store, contract) == (State.FINISHED, "")
    assert kept == [1, 1]


def test_a_failure_is_written_down_when_the_database_answers_again(store: Store, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consilience.service.server.runner.FIRST_PAUSE", 0.01)
    contract, participants = begun(store)
    runner = runner_of(store, pool)
    move, calls = store.studies.move, [0]

    def locked(*arguments: Any, **more: Any) -> None:
        calls[0] += 1
        if calls[0] < 3:
            raise sqlite3.OperationalError("database is locked")
        move(*arguments, **more)

    def declined() -> None:
        raise errors.DeclinedError("no")

    store.studies.move = locked  # type: ignore[method-assign]
    run(runner, contract, RunLinks(participants, declined))
    assert state_of(store, contract) == (State.FAILED, "DeclinedError: no")


def test_a_server_that_stops_does_not_wait_for_its_database(store: Store) -> None:
    contract, participants = begun(store)
    runner = Runner(store, Hub(), Bell(), Metrics(), 1)

    def locked(_study: str, _entry: JournalEntry, _heard: Sequence[Heard]) -> Any:
        raise sqlite3.OperationalError("database is locked")

    store.runs.append = locked  # type: ignore[method-assign]
    runner.close()
    runner._run(contract, RunLinks(participants))  # type: ignore[arg-type]
    row = store.studies.get(contract.study)
    assert row is not None
    assert row.state is State.RUNNING
