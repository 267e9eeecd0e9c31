"""The server's memory: migrations, transactions, and runs that go on from it."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path

import pytest

import consilience as cs
from consilience import errors
from consilience.citest.result import CIResult, Direction
from consilience.federation.transport import JournalEntry
from consilience.service.errors import StoreError
from consilience.service.lock import lock_folder
from consilience.service.server.runner import StoredTest
from consilience.service.settings import Batching, specs_of
from consilience.service.store import Database, State, Store
from consilience.service.store.migrations import MIGRATIONS
from consilience.settings import NetworkSettings
from tests.federation.helpers import mixed_clients

CLIENTS = mixed_clients(3, columns="ABC")
SCHEMA = cs.Server(CLIENTS).schema


def store_in(path: Path) -> Store:
    store = Store(Database(path / "studies.sqlite", clock=lambda: 5.0))
    if not store.accounts.password_of("ada"):
        store.accounts.add("ada", "hash")
    return store


def test_a_new_database_is_brought_to_the_newest_version(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    assert store.database.one("pragma user_version") == (len(MIGRATIONS),)
    assert store.database.one("pragma journal_mode") == ("wal",)
    store.database.close()
    assert store_in(tmp_path).accounts.password_of("ada") == "hash"


def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    store_in(tmp_path).database.close()
    with sqlite3.connect(tmp_path / "studies.sqlite") as db:
        db.execute(f"pragma user_version = {len(MIGRATIONS) + 1}")
    db.close()
    with pytest.raises(errors.StoreError, match="Update consilience"):
        store_in(tmp_path)


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "studies.sqlite").write_text("a table of patients, by mistake, and rather long, as such tables are " * 20)
    with pytest.raises(errors.StoreError, match="SQLite file of its own"):
        store_in(tmp_path)


@pytest.mark.parametrize("exists", [False, True])
def test_only_its_owner_can_read_it(tmp_path: Path, exists: bool) -> None:
    if exists:
        (tmp_path / "studies.sqlite").touch(0o644)
    before = os.umask(0)
    try:
        store = store_in(tmp_path)
        lock_folder(tmp_path).close()
    finally:
        os.umask(before)
    found = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    store.database.close()
    assert found == dict.fromkeys(("studies.sqlite", "studies.sqlite-wal", "studies.sqlite-shm", "lock"), 0o600)


def test_a_commit_that_fails_leaves_no_transaction_open(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.database.write("create table child (study text references studies (id) deferrable initially deferred)")
    with pytest.raises(sqlite3.IntegrityError):
        store.database.write("insert into child values ('none')")
    store.studies.create("ada", "trial", None, None, NetworkSettings())
    store.database.close()
    assert len(store_in(tmp_path).studies.of_owner("ada")) == 1


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    study = store.studies.create("ada", "trial", None, None, NetworkSettings())

    def fail() -> None:
        with store.database.writing():
            store.studies.move(study, [State.DRAFT], State.OPEN)
            store.runs.add_event(study, "opened")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    found = store.studies.get(study)
    assert found is not None
    assert found.state is State.DRAFT
    assert store.runs.events(study) == []


def test_the_life_of_a_study_goes_one_way(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    study = store.studies.create("ada", "trial", None, None, NetworkSettings())
    with pytest.raises(errors.LifeCycleError, match="this one is draft"):
        store.studies.move(study, [State.OPEN], State.RUNNING)
    store.studies.move(study, [State.DRAFT], State.OPEN)
    with pytest.raises(errors.LifeCycleError):
        store.studies.edit(study, "other", None, None, NetworkSettings())
    store.studies.move(study, [State.OPEN], State.RUNNING)
    with pytest.raises(errors.LifeCycleError, match="Cancel it first"):
        store.studies.delete(study)
    store.studies.move(study, [State.RUNNING], State.FAILED, "why")
    store.studies.delete(study)
    assert store.studies.get(study) is None


def test_results_and_settings_come_back_as_they_were(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    settings = NetworkSettings(alpha=0.01, max_given=2, batching=Batching.ALL, tiers=(("A",), ("B",)))
    study = store.studies.create("ada", "trial", specs_of(SCHEMA), (("A", "B", "C"),), settings)
    row = store.studies.get(study)
    assert row is not None
    assert row.settings == settings
    assert row.settings.batching is Batching.ALL
    assert row.variables == specs_of(SCHEMA)
    direction = Direction("A", "B", 1.5, 1, 0.1 + 0.2, -1.0, float("nan"))
    result = CIResult("A", "B", ("C",), 5e-324, 10, 2, 3, True, "", True, (direction,), ("x", "y"))
    assert store.runs.add_results(study, [result], {})
    assert not store.runs.add_results(study, [result], {})
    assert repr(store.runs.results(study)) == repr([result])
    assert [event.kind for event in store.runs.events(study)] == ["tests"]


def test_a_round_is_written_with_its_counters_and_its_event(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    study = store.studies.create("ada", "trial", None, None, NetworkSettings())
    entry = JournalEntry(b"digest", b"12345678", 100)
    store.runs.append(study, entry)
    store.runs.append(study, JournalEntry(b"d", b"", 10, "site1"))
    assert store.runs.journal(study) == [entry, JournalEntry(b"d", b"", 10, "site1")]
    row = store.studies.get(study)
    assert row is not None
    assert (row.rounds, row.bytes) == (2, 110)
    assert [event.body.get("gone") for event in store.runs.events(study)] == [None, "site1"]


def test_asking_ahead_takes_fewer_rounds_and_finds_the_same() -> None:
    plain, ahead = cs.Server(CLIENTS), cs.Server(CLIENTS)
    kept: list[CIResult] = []
    wanted = cs.discover(StoredTest(plain, kept.extend, lambda _done, _total: None))
    found = cs.discover(StoredTest(ahead, kept.extend, lambda _done, _total: None, ahead=True))
    assert found.pags == wanted.pags
    assert ahead.rounds < plain.rounds
    assert len(kept) >= wanted.tests.height + found.tests.height


def test_a_run_can_be_ended_in_any_round() -> None:
    calls = 0

    def check(_done: int, _total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise errors.RunCancelledError("enough")

    with pytest.raises(errors.RunCancelledError):
        cs.discover(StoredTest(cs.Server(CLIENTS), lambda _: None, check))


@pytest.mark.parametrize("there", [False, True])
def test_a_database_that_is_gone_or_empty_is_not_made_anew(tmp_path: Path, there: bool) -> None:
    file = tmp_path / "studies.sqlite"
    if there:
        file.touch()
    with pytest.raises(StoreError, match="it is empty" if there else "it is not there"):
        Database(file, clock=lambda: 5.0, create=False)
    assert file.exists() is there


def test_a_database_belongs_to_one_server(tmp_path: Path) -> None:
    store = Store(Database(tmp_path / "studies.sqlite", clock=lambda: 5.0))
    store.origin.bind(bytes(32))
    store.origin.bind(bytes(32))
    with pytest.raises(StoreError, match="must be its own"):
        store.origin.bind(bytes(range(32)))
    store.database.close()


@pytest.mark.slow
def test_after_one_wait_in_vain_the_next_is_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads take turns: ten that each waited as long for another process would keep the last waiting ten times that."""
    monkeypatch.setattr("consilience.service.store.database.PATIENCE", 1.0)
    store = Store(Database(tmp_path / "studies.sqlite", clock=lambda: 5.0))
    store.database._connection.execute("pragma busy_timeout = 1000")
    with closing(sqlite3.connect(tmp_path / "studies.sqlite", isolation_level=None)) as other:
        other.execute("begin immediate")
        for least, most in ((0.9, 10.0), (0.0, 0.8)):
            begin = time.monotonic()
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                store.accounts.add("ada", "hash")
            assert least <= time.monotonic() - begin < most
        other.execute("rollback")
    store.accounts.add("ada", "hash")
    assert store.database.one("pragma busy_timeout") == (1000,)
    store.database.close()
