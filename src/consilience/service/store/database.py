"""One SQLite file: opened, migrated, and shared by the server's threads."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any

from consilience.service.errors import StoreError
from consilience.service.store.migrations import MIGRATIONS

__all__ = ["Database"]


class Database:
    """A connection in WAL mode that syncs on every commit. Threads take turns.

    ``clock`` gives the time in seconds; nothing here looks at another.

    >>> Database(":memory:", clock=lambda: 0.0).one("select count(*) from studies")
    (0,)
    """

    def __init__(self, path: Path | str, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._lock = RLock()
        _keep_private(Path(path))
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            for pragma in ("journal_mode = wal", "synchronous = full", "foreign_keys = on", "busy_timeout = 5000"):
                self._connection.execute(f"pragma {pragma}")
            self._migrate()
        except sqlite3.DatabaseError as error:
            raise StoreError(f"The server's database must be an SQLite file of its own; {str(path)!r} is not one: {error}.") from None

    def _migrate(self) -> None:
        (version,) = self._connection.execute("pragma user_version").fetchone()
        if version > len(MIGRATIONS):
            raise StoreError(
                f"The database has version {version}, and this program knows {len(MIGRATIONS)}. Update consilience, or use another folder."
            )
        for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
            with self.writing():
                for statement in script.split(";"):
                    self._connection.execute(statement)
                self._connection.execute(f"pragma user_version = {number}")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All or nothing; on disk when the block ends. Blocks may be nested: the outermost decides."""
        with self._lock:
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("begin immediate")
            try:
                yield
                self._connection.execute("commit")
            except BaseException:
                if self._connection.in_transaction:  # some errors have ended it already
                    self._connection.execute("rollback")
                raise

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
        with self._lock:
            return self._connection.execute(statement, values).fetchone()

    def all(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows."""
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


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
