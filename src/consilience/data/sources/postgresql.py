"""A PostgreSQL database, asked once, in a transaction that may only read.

The address names user, host and database, never a password: addresses are in command lines, logs and records. The password comes from the
environment (``PGPASSWORD``) or a pass file (``PGPASSFILE``, ``~/.pgpass``), as with PostgreSQL's own programs.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from consilience.data.errors import ReadError
from consilience.data.sources.arrow import frame_of
from consilience.data.sources.database import first_line, question
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.data.sources.packages import needed
from consilience.data.sources.plain import check_names, plain
from consilience.frames import pl

__all__ = ["read"]

_BEGIN = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
_KEYS = ("password", "passfile", "sslpassword")


def read(source: str, name: str, owner: str, reading: Reading) -> Loaded:
    """A table or query of a PostgreSQL database; ReadError if it cannot be read, or would write."""
    called = _called(source)
    query = question(reading, None, called)
    driver = needed("adbc_driver_postgresql", "adbc-driver-postgresql", "databases", "PostgreSQL databases")
    manager = needed("adbc_driver_manager", "adbc-driver-manager", "databases", "PostgreSQL databases")
    try:
        with driver.connect(source) as database, manager.AdbcConnection(database) as connection:
            _run(manager, connection, _BEGIN)
            frame = _asked(manager, connection, query, called)
    except manager.Error as error:
        raise _said(called, error) from None
    if frame.width == 0:
        raise ReadError(f"What was asked of {called!r} gives no table; a query that reads is needed.")
    return plain(frame, about=("PostgreSQL, read in a transaction that may only read",))


def _called(address: str) -> str:
    """What the address is called in messages; ReadError, without the password, if there is one in it."""
    try:
        parts = urlsplit(address)
        keys = {key.lower() for key, _ in parse_qsl(parts.query)}
        has_password = parts.password is not None or not keys.isdisjoint(_KEYS) or "@" in (parts.hostname or "")
        shown = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
    except ValueError:
        raise ReadError("The address of a database is postgresql://user@host:port/name; this one cannot be taken apart.") from None
    if has_password:
        raise ReadError(
            f"The address of a database may hold no password, as addresses are seen in command lines and logs; that of {shown!r} does. "
            f"Leave it out and set PGPASSWORD in the environment, or write it to a pass file (~/.pgpass), which only you may read."
        )
    return shown


def _asked(manager: Any, connection: Any, query: str, called: str) -> pl.DataFrame:
    with manager.AdbcStatement(connection) as statement:
        statement.set_sql_query(query)
        handle, _ = statement.execute_query()
        try:
            frame = frame_of(handle, called)
        except ReadError as error:  # what goes wrong while rows arrive comes through Arrow, without a class of its own
            raise _said(called, error) from None
    check_names(frame.columns, called)
    return frame


def _run(manager: Any, connection: Any, command: str) -> None:
    with manager.AdbcStatement(connection) as statement:
        statement.set_sql_query(command)
        statement.execute_update()


_CAUSES = (
    (
        "no password supplied",
        "{called} asks for a password, and none was found. Set PGPASSWORD in the environment, or write a pass file (~/.pgpass).",
    ),
    (
        "password authentication failed",
        "{called} does not accept user and password. Check the user in the address, and PGPASSWORD or the pass file.",
    ),
    ("read-only transaction", "A query may only read; that of {called} would write. Nothing was written."),
    ("multiple commands", "A query must be one statement; that of {called} has more. Nothing was run."),
    (
        "statement timeout",
        "The query of {called} took longer than the database allows. Ask for less, or have its statement_timeout raised.",
    ),
    ("could not receive data", "The connection to {called} was lost while rows were read; nothing of it is used. Try again."),
    ("server closed the connection", "The connection to {called} was lost while rows were read; nothing of it is used. Try again."),
    ("terminating connection", "The connection to {called} was ended by the database; nothing of it is used. Try again."),
    ("Failed to connect", "{called} cannot be reached: {first}. Check host, port and name of the database, and that it runs."),
)


def _said(called: str, error: Exception) -> ReadError:
    text = str(error)
    if isinstance(error, ReadError) and "intervals" in text:
        return error
    lines = text.split("Query was:", maxsplit=1)[0].replace("[libpq]", "").split("Is the server running")[0]
    first = first_line(lines.split("ERROR:")[-1].split("FATAL:")[-1])
    for sign, words in _CAUSES:
        if sign in text:
            return ReadError(words.format(called=repr(called), first=first))
    return ReadError(f"The query of {called!r} cannot be answered: {first}.")
