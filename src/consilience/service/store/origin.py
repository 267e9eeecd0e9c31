"""Which server a database belongs to."""

from __future__ import annotations

from consilience.secagg.identity import fingerprint_of, fingerprint_text
from consilience.service.errors import StoreError
from consilience.service.store.database import PUT_BACK, Database

__all__ = ["Origin"]


class Origin:
    """The identity of the server whose database it is.

    >>> origin = Origin(Database(":memory:", clock=lambda: 0.0))
    >>> origin.bind(bytes(32))
    >>> origin.bind(bytes(32))
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def bind(self, identity: bytes) -> None:
        """The server of this identity opens the database: the first is remembered, :class:`StoreError` for any other."""
        row = self._db.one("select identity from origin")
        if row is None:
            self._db.write("insert into origin (only, identity) values (1, ?)", (identity,))
        elif row[0] != identity:
            raise StoreError(
                f"A server's database must be its own; this one belongs to the server with the fingerprint "
                f"{fingerprint_text(fingerprint_of(row[0]))}, and this server has {fingerprint_text(fingerprint_of(identity))}. {PUT_BACK}"
            )
