"""Sums that were deleted are in no file: not in a free page, not in the log, not after a crash."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from consilience.federation.transport import Heard, JournalEntry
from consilience.service.store import Database, State, Store, database
from consilience.service.store.migrations import MIGRATIONS, ZEROING
from consilience.settings import NetworkSettings
from tests.service.store.test_store import store_in

SIZES = (2, 5, 30, 60, 100, 300, 480, 520, 1000, 5000)
"""Numbers of a sum: within a page, at the edge of one, over many."""


def filled(store: Store, seed: int, studies: int = 3) -> dict[str, list[bytes]]:
    """Studies whose sums lie between each other, as those of runs at the same time do."""
    rng = random.Random(seed)
    found = {store.studies.create("ada", f"trial {i}", None, None, NetworkSettings()): list[bytes]() for i in range(studies)}
    for _ in range(40):
        study = rng.choice(list(found))
        found[study].append(rng.randbytes(8 * rng.choice(SIZES)))
        store.runs.append(study, JournalEntry(b"d" * 32, found[study][-1], 10), [Heard("a", "run", 0, 16, b"digest")])
    return found


def left(folder: Path, sums: list[bytes]) -> int:
    """How many sums have a piece of two numbers in some file of a folder."""
    data = b"".join(file.read_bytes() for file in folder.iterdir())
    return sum(any(one[i : i + 16] in data for i in range(0, len(one) - 15, 16)) for one in sums)


ENDS: dict[str, Callable[[Store, str], None]] = {
    "cleared": lambda store, study: store.runs.clear_journal(study),
    "deleted": lambda store, study: store.studies.delete(study),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("seed", range(3))
def test_deleted_sums_are_in_no_file_of_a_server_that_runs(tmp_path: Path, end: Callable[[Store, str], None], seed: int) -> None:
    """Without the two settings all of them were: ten of ten, in the log."""
    store = store_in(tmp_path)
    found = filled(store, seed)
    first, *others = found
    assert left(tmp_path, found[first]) == len(found[first])
    end(store, first)
    assert left(tmp_path, found[first]) == 0
    for other in others:
        assert [entry.total for entry in store.runs.journal(other)] == found[other]
    store.database.close()


def test_in_a_transaction_with_more_they_are_gone_when_it_is_over(tmp_path: Path) -> None:
    """As a run ends: documents, state, journal and event together."""
    store = store_in(tmp_path)
    found = filled(store, 7, studies=1)
    ((study, sums),) = found.items()
    with store.database.writing():
        store.runs.put_documents(study, [("result.json", b"{}" * 5000)])
        store.runs.clear_journal(study)
        store.studies.move(study, [State.DRAFT], State.CANCELLED)
    assert left(tmp_path, sums) == 0
    assert store.runs.document(study, "result.json") is not None


def test_a_server_killed_before_it_could_shred_does_so_when_it_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed is: the files as they are after the commit, without a word of farewell to SQLite."""
    (tmp_path / "before").mkdir()
    store = store_in(tmp_path / "before")
    found = filled(store, 3)
    study = next(iter(found))
    with monkeypatch.context() as patch:
        patch.setattr(Database, "_truncate_log", lambda _self: None)
        store.runs.clear_journal(study)
    assert left(tmp_path / "before", found[study]) > 0, "else there is nothing to see here"
    shutil.copytree(tmp_path / "before", tmp_path / "after")
    again = store_in(tmp_path / "after")
    assert left(tmp_path / "after", found[study]) == 0
    assert [len(again.runs.journal(other)) for other in found] == [0, *(len(sums) for sums in list(found.values())[1:])]
    again.database.close()
    store.database.close()


def test_a_reader_of_another_process_delays_it_until_the_next_transaction(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    found = filled(store, 5)
    study = next(iter(found))
    reader = sqlite3.connect(tmp_path / "studies.sqlite", isolation_level=None)
    reader.execute("begin")
    reader.execute("select count(*) from journal").fetchone()
    store.runs.clear_journal(study)  # does not wait, and does not fail
    assert left(tmp_path, found[study]) > 0, "the reader still sees them"
    reader.execute("commit")
    reader.close()
    store.runs.add_event(next(reversed(found)), "stage")
    assert left(tmp_path, found[study]) == 0
    store.database.close()


def test_what_a_former_version_has_left_in_free_pages_goes_with_the_update(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(database, "PRAGMAS", ("journal_mode = wal", "foreign_keys = on", "secure_delete = off"))
        patch.setattr(database, "MIGRATIONS", MIGRATIONS[: ZEROING - 1])
        patch.setattr(Database, "_truncate_log", lambda _self: None)
        store = store_in(tmp_path)
        study, values = "00112233aabbccdd", "values (?, 'ada', 'trial', 'running', ?, 0, 0)"
        row = (study, msgspec.msgpack.encode(NetworkSettings()))
        store.database.write(f"insert into studies (id, owner, name, state, settings, created, changed) {values}", row)
        sums = [random.Random(i).randbytes(8 * 300) for i in range(10)]
        for one in sums:
            store.runs.append(study, JournalEntry(b"d" * 32, one, 10))
        store.runs.clear_journal(study)
        store.database.close()
    assert left(tmp_path, sums) > 5, "else there is nothing to see here"
    again = store_in(tmp_path)
    assert left(tmp_path, sums) == 0
    assert again.database.one("pragma user_version") == (len(MIGRATIONS),)
    again.database.close()


def test_what_was_heard_is_kept_when_the_sums_are_gone(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    study = next(iter(found := filled(store, 1)))
    store.runs.clear_journal(study)
    assert len(store.runs.heard(study)) == len(store.runs.heard(study, "a")) == len(found[study])
    assert store.runs.heard(study, "b") == []
    store.studies.delete(study)
    store.runs.hear(study, [Heard("a", "run", 0, 16, b"digest")])  # of a run that is just being stopped: nothing happens
    assert store.runs.heard(study) == []
