"""Databases of every earlier version: updated with all that is in them, after a copy was made. And backups, put back in their place.

``tests/reference/schemas/version-N.sql`` is a small database as the program of version N left it. They are never changed: who adds a
migration adds the one of the version before.
"""

from __future__ import annotations

import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from consilience.service.errors import ConfigurationError, StoreError
from consilience.service.lock import lock_folder
from consilience.service.store import Database, Store
from consilience.service.store import database as module
from consilience.service.store.backup import back_up, restore
from consilience.service.store.migrations import MIGRATIONS

SCHEMAS = Path(__file__).parents[2] / "reference" / "schemas"
DUMPS = sorted(SCHEMAS.glob("version-*.sql"), key=lambda path: int(path.stem.partition("-")[2]))
STUDY = "00112233aabbccdd"


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("pragma user_version").fetchone()[0])


def shape(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """The columns of every table, and the names of indexes."""
    with closing(sqlite3.connect(path)) as db:
        tables = [name for (name,) in db.execute("select name from sqlite_master where type = 'table' order by name")]
        found = {name: sorted(row[1:] for row in db.execute(f"pragma table_info({name})")) for name in tables}
        return found | {"indexes": sorted(db.execute("select name from sqlite_master where type = 'index' and sql is not null"))}


def laid(dump: Path, folder: Path) -> Path:
    """The database of a dump."""
    path = folder / "studies.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(dump.read_text())
    return path


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)
def test_a_database_of_every_version_is_updated_with_what_is_in_it(tmp_path: Path, dump: Path) -> None:
    path, version = laid(dump, tmp_path), int(dump.stem.partition("-")[2])
    store = Store(Database(path, clock=lambda: 5.0, create=False))
    row = store.studies.get(STUDY)
    assert row is not None
    assert (row.name, row.state, row.message, row.rounds, row.settings.alpha) == ("stroke", "failed", "TooFewRowsError: two rows", 3, 0.05)
    (site,) = store.studies.sites(STUDY)
    assert (site.name, site.identity, site.consented) == ("muenster", bytes(range(32)), False)
    assert [one.site for one in store.studies.invitations(STUDY)] == ["marburg"]
    assert len(store.accounts.sessions("ada")) == 1
    assert [event.kind for event in store.runs.events(STUDY)] == ["created"]
    assert store.runs.document(STUDY, "result.json") == b"{}"
    store.runs.add_event(STUDY, "stage")
    store.origin.bind(bytes(32))
    store.database.close()
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    Database(fresh / "studies.sqlite", clock=lambda: 5.0).close()
    assert shape(path) == shape(fresh / "studies.sqlite")
    before = tmp_path / f"studies.sqlite.version-{version}"
    assert before.exists() is (version < len(MIGRATIONS))
    if before.exists():
        assert version_of(before) == version
        assert stat.S_IMODE(before.stat().st_mode) == 0o600


def test_there_is_a_database_of_every_version_before_this_one() -> None:
    assert [int(dump.stem.partition("-")[2]) for dump in DUMPS] == list(range(1, len(MIGRATIONS)))


def test_an_update_that_fails_leaves_the_database_and_its_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = laid(DUMPS[2], tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(module, "MIGRATIONS", (*MIGRATIONS[:3], "create table more (id text) strict; insert into nothing values (1)"))
        with pytest.raises(StoreError):
            Database(path, clock=lambda: 5.0)
    assert version_of(path) == 3
    assert version_of(tmp_path / "studies.sqlite.version-3") == 3
    Database(path, clock=lambda: 5.0).close()
    assert version_of(path) == len(MIGRATIONS)


def test_without_room_for_the_copy_nothing_is_updated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = laid(DUMPS[0], tmp_path)

    def full(_connection: object, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "copy_database", full)
    with pytest.raises(StoreError, match="Make room for it, and start again"):
        Database(path, clock=lambda: 5.0)
    assert version_of(path) == 1


def home_with(folder: Path) -> Store:
    folder.mkdir()
    (folder / "identity.pem").write_bytes(b"an identity")
    store = Store(Database(folder / "studies.sqlite", clock=lambda: 5.0))
    store.accounts.add("ada", "hash")
    return store


def test_a_backup_is_one_moment_of_a_database_that_is_written_to(tmp_path: Path) -> None:
    store, stop = home_with(tmp_path / "home"), threading.Event()
    store.database.write("create table pairs (a integer, b integer)")

    def write() -> None:
        number = 0
        while not stop.is_set():
            with store.database.writing():  # always as many of the one as of the other
                store.database.write("insert into pairs values (?, null)", (number,))
                store.database.write("insert into pairs values (null, ?)", (number,))
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            back_up(tmp_path / "home", tmp_path / f"backup-{number}")
    finally:
        stop.set()
        writer.join()
    for number in range(5):
        with closing(sqlite3.connect(tmp_path / f"backup-{number}" / "studies.sqlite")) as db:
            assert len(set(db.execute("select count(a), count(b) from pairs").fetchone())) == 1
    store.database.close()


def test_a_backup_is_put_back_as_it_was_and_overwrites_nothing_unasked(tmp_path: Path) -> None:
    home, backup = tmp_path / "home", tmp_path / "backup"
    store = home_with(home)
    assert [path.name for path in back_up(home, backup)] == ["studies.sqlite", "identity.pem"]
    store.accounts.add("bob", "hash")
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in backup.iterdir())
    with pytest.raises(ConfigurationError, match=r"there is .* already"):
        back_up(home, backup)
    with pytest.raises(ConfigurationError, match="say --overwrite"):
        restore(backup, home)
    with lock_folder(home), pytest.raises(ConfigurationError, match="Another process works with"):
        restore(backup, home, overwrite=True)
    store.database._connection.execute("pragma wal_autocheckpoint = 0")
    store.accounts.add("eve", "hash")  # in the log alone
    store.database._connection.close()
    restore(backup, home, overwrite=True)
    again = Store(Database(home / "studies.sqlite", clock=lambda: 5.0, create=False))
    assert [bool(again.accounts.password_of(name)) for name in ("ada", "bob", "eve")] == [True, False, False]
    again.database.close()
    assert len(restore(backup, tmp_path / "elsewhere")) == 2


@pytest.mark.parametrize("damage", ["missing", "not one", "newer", "cut"])
def test_what_is_no_backup_is_not_restored(tmp_path: Path, damage: str) -> None:
    home_with(tmp_path / "home").database.close()
    backup = tmp_path / "backup"
    back_up(tmp_path / "home", backup)
    file = backup / "studies.sqlite"
    if damage == "missing":
        file.unlink()
    elif damage == "not one":
        file.write_bytes(b"something else " * 1000)
    elif damage == "newer":
        with closing(sqlite3.connect(file)) as db:
            db.execute(f"pragma user_version = {len(MIGRATIONS) + 1}")
    else:
        file.write_bytes(file.read_bytes()[:8192] + bytes(4096))
    with pytest.raises(StoreError):
        restore(backup, tmp_path / "new")
    assert not (tmp_path / "new").exists()
