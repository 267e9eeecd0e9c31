"""One SQLite file: opened, migrated, and shared by the server's threads."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any
from weakref import finalize

from consilience.service.errors import StoreError
from consilience.service.store.backup import copy_database
from consilience.service.store.migrations import MIGRATIONS, ZEROING

__all__ = ["Database"]

PATIENCE, IMPATIENCE = 5.0, 0.1
"""Seconds to wait for another process, and after one such wait was in vain: threads take turns, and would each wait as long."""
TURN_SECONDS = 10.0
"""For the turn of a thread: longer than one wait for another process, and than any transaction of ours."""
PRAGMAS = ("journal_mode = wal", "synchronous = full", "foreign_keys = on", "secure_delete = on", f"busy_timeout = {PATIENCE * 1000:.0f}")
"""Per connection, in this order:

- ``wal``: a commit is one append and one sync, and a backup or an operator's query can read while the server writes;
- ``full``: synced at every commit. SQLite's own advice for WAL is ``normal``, which may lose the last commits when the power fails; but a
  round's sum must be on disk before it is used, or a run that goes on would ask its sites for a finished round again;
- ``foreign_keys``: off by default in SQLite; a deleted study takes its sites, tokens, journal and results with it;
- ``secure_delete``: off by default in SQLite; what is deleted is overwritten with zeros, and does not wait in a free page for somebody to
  find it (:meth:`Database.shred` sees to the log);
- ``busy_timeout``: milliseconds to wait for another process, such as a backup. Longer locks are answered by patience in the runner.
"""


PUT_BACK = (
    "Stop the server, put the file back or restore a backup of it (consilience server restore), and start the server again; "
    "a new server needs a folder of its own: consilience server init --home FOLDER."
)
FREE = "Another program, such as a backup, has locked it: wait for it or end it, and start again."


class Database:
    """A connection in WAL mode that syncs on every commit. Threads take turns.

    ``clock`` gives the time in seconds; nothing here looks at another. Without ``create`` the file must be there.

    >>> Database(":memory:", clock=lambda: 0.0).one("select count(*) from studies")
    (0,)
    """

    def __init__(self, path: Path | str, clock: Callable[[], float], *, create: bool = True) -> None:
        self.clock = clock
        self._path, self._seconds = Path(path), PATIENCE
        self._lock = RLock()
        self.commits = 0  # since the start: as long as it goes up, the database answers
        if not create:
            _check_there(self._path)
        self._shreds = True  # whoever was killed between a deletion and its shredding has left that to us
        _keep_private(Path(path))
        try:
            # One connection and a lock, not one per thread: SQLite has one writer at a time anyway, and a transaction of several calls is
            # then visible as a whole or not at all to every other thread. isolation_level None: no transactions begun behind our back.
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            finalize(self, self._connection.close).atexit = False  # also of a file that is refused; from Python 3.13 on, it warns itself
            self._file = _file(self._path)
            for pragma in PRAGMAS:
                self._connection.execute(f"pragma {pragma}")
            self._migrate()
            self._truncate_log()
        except sqlite3.OperationalError as error:
            raise StoreError(f"The server's database {str(path)!r} must be free to be opened; it is not: {error}. {FREE}") from None
        except sqlite3.DatabaseError as error:
            raise StoreError(f"The server's database must be an SQLite file of its own; {str(path)!r} is not one: {error}.") from None

    def _migrate(self) -> None:
        (version,) = self._connection.execute("pragma user_version").fetchone()
        if version > len(MIGRATIONS):
            raise StoreError(
                f"The database has version {version}, and this program knows {len(MIGRATIONS)}. Update consilience, or use another folder."
            )
        if 0 < version < len(MIGRATIONS):
            self._copy_before(version)
        if 0 < version < ZEROING:
            # Former versions left what they deleted in free pages. Before the migration: killed meanwhile, the next start does it again.
            self._connection.execute("vacuum")
        for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
            # script and version number in one transaction: killed in between, the next start repeats the script from its beginning.
            # Statement by statement, since executescript would commit first.
            with self.writing():
                for statement in script.split(";"):
                    self._connection.execute(statement)
                self._connection.execute(f"pragma user_version = {number}")

    def _copy_before(self, version: int) -> None:
        """A copy of what is there before it is changed: the way back to the program of before."""
        target = self._path.with_name(f"{self._path.name}.version-{version}")
        if (
            str(self._path) == ":memory:" or target.exists()
        ):  # of a start that was ended in the middle: nothing is in it that was not before
            return
        try:
            copy_database(self._connection, target)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"Before the database is updated, a copy of it must be made beside it; {str(target)!r} cannot be written: {error}. "
                f"Make room for it, and start again. Nothing was changed."
            ) from None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All or nothing; on disk when the block ends. Blocks may be nested: the outermost decides."""
        with self._turn():
            # The lock is reentrant and other threads wait outside, so an open transaction is this thread's own: an inner block joins it.
            # Savepoints would let an inner block fail alone, which nobody wants: "all or nothing" is what the outer one says.
            if self._connection.in_transaction:
                yield
                return
            # immediate: the lock is taken now, where waiting is possible. A deferred transaction that reads first and writes later fails at
            # once if another process has written in between, whatever the time-out.
            self._begin()
            try:
                yield
                self._connection.execute("commit")
                self.commits += 1
            except BaseException:  # also an interruption: the connection is shared, and an open transaction would swallow others' writes
                if self._connection.in_transaction:  # some errors have ended it already
                    self._connection.execute("rollback")
                raise
            if self._shreds:
                self._truncate_log()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._lock.acquire(timeout=TURN_SECONDS if self._seconds == PATIENCE else IMPATIENCE):
            raise sqlite3.OperationalError("other threads wait for it already")
        try:
            yield
        finally:
            self._lock.release()

    def _begin(self) -> None:
        """Begin a transaction in the file that was opened. What is written to one that has another's place is on no disk tomorrow."""
        if _file(self._path) != self._file:
            raise sqlite3.OperationalError(f"{str(self._path)!r} was deleted or replaced while the server had it open. {PUT_BACK}")
        try:
            self._connection.execute("begin immediate")
        except sqlite3.OperationalError:
            self._wait_for(IMPATIENCE)
            raise
        self._wait_for(PATIENCE)

    def _wait_for(self, seconds: float) -> None:
        if self._seconds != seconds:
            self._seconds = seconds
            self._connection.execute(f"pragma busy_timeout = {seconds * 1000:.0f}")

    def check(self) -> None:
        """``sqlite3.OperationalError`` if nothing can be written now."""
        with self.writing():
            self._connection.execute("select count(*) from studies")

    def shred(self) -> None:
        """What is deleted in this transaction is to be in no file any more when it is over: neither in a free page nor in the log.

        A reader in another process, such as a backup, still needs the log; then it is emptied after the next transaction that finds none,
        or when the server stops or starts.
        """
        self._shreds = True

    def _truncate_log(self) -> None:
        # Deleted rows are zeros in the pages that the commit has written. The log has older versions of these pages until it is copied
        # into the database and cut to nothing; a log that is only begun anew keeps what is not written over. No patience: readers of other
        # processes may take long, and all threads of this one would wait.
        self._connection.execute("pragma busy_timeout = 0")
        try:
            busy, *_ = self._connection.execute("pragma wal_checkpoint(truncate)").fetchone()
            self._shreds = bool(busy)
        except sqlite3.OperationalError:  # a disk that is full, say: the transaction itself is over, and on disk
            self._shreds = True
        finally:
            self._connection.execute(f"pragma busy_timeout = {self._seconds * 1000:.0f}")

    def write(self, statement: str, values: Sequence[Any] = ()) -> int:
        """One statement, on disk when this returns; how many rows it touched."""
        with self.writing():
            return self._connection.execute(statement, values).rowcount

    def write_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """One statement for many rows."""
        with self.writing():
            self._connection.executemany(statement, rows)

    def changes(self) -> int:
        """How many rows have been changed since the file was opened."""
        return self._connection.total_changes

    def one(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The first row, or None."""
        with self._turn():  # readers as well: between the statements of another thread's transaction they would see half of it
            return self._connection.execute(statement, values).fetchone()

    def all(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows."""
        with self._turn():
            return self._connection.execute(statement, values).fetchall()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


def _check_there(path: Path) -> None:
    """A server that has lost its database is not a new one: its owners, studies and sites would be gone without a word."""
    if not path.is_file() or not path.stat().st_size:
        what = "is empty" if path.is_file() else "is not there"
        raise StoreError(f"The database of a server that was set up must be in {str(path)!r}; it {what}. {PUT_BACK}")


def _file(path: Path) -> tuple[int, int] | None:
    """Which file has this name now."""
    if str(path) == ":memory:":
        return None
    try:
        found = path.stat()
    except OSError:
        return (-1, -1)
    return (found.st_dev, found.st_ino)


def _keep_private(path: Path) -> None:
    """Only its owner may read it, from its first byte on; SQLite gives the files beside it the same rights."""
    if str(path) == ":memory:":
        return
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:  # of an older version, perhaps. Not opened: closing it again would end SQLite's locks in this process
        for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            with suppress(OSError):
                file.chmod(0o600)
    except OSError:  # SQLite says what is wrong
        return
