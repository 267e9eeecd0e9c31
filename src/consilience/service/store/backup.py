"""Copies of a server's database, made while it is used, and put back in its place."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from consilience.service.errors import ConfigurationError, StoreError
from consilience.service.lock import lock_folder
from consilience.service.store.migrations import MIGRATIONS
from consilience.service.tls import write_private

__all__ = ["DATABASE", "back_up", "copy_database", "restore"]

DATABASE = "studies.sqlite"
BESIDE: Sequence[str] = ("identity.pem", "tls.crt", "tls.key")
"""What a server is besides its database: who it is, and the certificate that sites know it by."""


def copy_database(connection: sqlite3.Connection, target: Path) -> None:
    """One moment of a database as a file that only its owner can read; others go on writing meanwhile.

    Not page by page: pages that are free still hold what was deleted before deleting meant overwriting.
    """
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        connection.execute("vacuum into ?", (str(target),))
        descriptor = os.open(target, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def back_up(home: Path, target: Path) -> list[Path]:
    """A new folder with everything that a server in ``home`` is; it may be running. The files that were written."""
    source = home / DATABASE
    if not source.is_file():
        raise ConfigurationError(
            f"A backup is made of a server that was set up; there is no database in {str(home)!r}. Say which with --home."
        )
    if target.exists():
        raise ConfigurationError(f"A backup goes into a folder of its own; there is {str(target)!r} already. Choose another.")
    target.mkdir(parents=True, mode=0o700)
    with closing(_read_only(source)) as connection:
        try:
            copy_database(connection, target / DATABASE)
        except sqlite3.Error as error:
            target.rmdir()
            raise StoreError(f"The database {str(source)!r} cannot be copied: {error}. Is there room for it?") from None
    check_database(target / DATABASE)
    for name in BESIDE:
        if (home / name).is_file():
            write_private(target / name, (home / name).read_bytes())
    return [target / name for name in (DATABASE, *BESIDE) if (target / name).is_file()]


def restore(source: Path, home: Path, *, overwrite: bool = False) -> list[Path]:
    """Put a backup into the folder of a server that does not run; what is there is overwritten only if that was asked for."""
    check_database(source / DATABASE)
    there = [name for name in (DATABASE, *BESIDE) if (home / name).exists()]
    if there and not overwrite:
        raise ConfigurationError(
            f"A backup is restored into a folder without a server; {str(home)!r} has {', '.join(there)}. Choose another with --home, or "
            f"say --overwrite: what is there now is then lost, unless it was backed up before."
        )
    with lock_folder(home):  # not under a server that runs
        for name in (DATABASE, *BESIDE):
            if (source / name).is_file():
                if name == DATABASE:  # the log belongs to the database that goes, and would be played into the one that comes
                    for end in ("-wal", "-shm"):
                        (home / f"{DATABASE}{end}").unlink(missing_ok=True)
                write_private(home / name, (source / name).read_bytes())
    return [home / name for name in (DATABASE, *BESIDE) if (source / name).is_file()]


def check_database(path: Path) -> None:
    """:class:`StoreError` unless it is a whole database of a server, of a version that this program knows."""
    try:
        with closing(_read_only(path)) as connection:
            (said,) = connection.execute("pragma integrity_check(1)").fetchone()
            (version,) = connection.execute("pragma user_version").fetchone()
    except sqlite3.Error as error:
        raise StoreError(f"A backup has a database {DATABASE!r}; {str(path)!r} cannot be read as one: {error}.") from None
    if said != "ok":
        raise StoreError(f"A backup's database must be whole; {str(path)!r} is damaged: {said}. Take another backup.")
    if not 1 <= version <= len(MIGRATIONS):
        raise StoreError(
            f"The database {str(path)!r} has version {version}, and this program knows 1 to {len(MIGRATIONS)}. Update consilience first."
        )


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30.0)
