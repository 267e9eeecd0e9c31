"""One-time links: what their secrets open, and until when. Only digests of the secrets are kept."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from consilience.service.errors import LinkError
from consilience.service.store.accounts import AccountRole
from consilience.service.store.database import Database

__all__ = ["LinkKind", "LinkRow", "Links"]


class LinkKind(StrEnum):
    """What a link is for: another password for an account, or a new account."""

    RESET = "reset"
    ACCOUNT = "account"


@dataclass(frozen=True, slots=True)
class LinkRow:
    """What a link opens: the password of ``account``, or an account that will be a ``role``."""

    account: str
    role: AccountRole
    expires: float


class Links:
    """The links of a database.

    >>> database = Database(":memory:", clock=lambda: 100.0)
    >>> _ = database.write("insert into accounts (name, password, created) values ('ada', '', 0)")
    >>> links = Links(database)
    >>> key, ends = links.make(LinkKind.RESET, 3600.0, account="ada")
    >>> links.take(LinkKind.RESET, key).account, ends
    ('ada', 3700.0)
    >>> links.take(LinkKind.RESET, key)
    Traceback (most recent call last):
    consilience.service.errors.LinkError: The link is not valid, or not any more. Ask whoever operates the server for a new one.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def make(self, kind: LinkKind, seconds: float, account: str = "", role: AccountRole = AccountRole.OWNER) -> tuple[str, float]:
        """The secret of a new link, and when it ends. An older link of the kind for the same account ends now."""
        key, now = secrets.token_urlsafe(32), self._db.clock()
        with self._db.writing():
            self._db.write("delete from links where expires <= ? or (kind = ? and account = ?)", (now, kind, account))
            values = (_digest(key), kind, account or None, role, now + seconds)
            self._db.write("insert into links (digest, kind, account, role, expires) values (?, ?, ?, ?, ?)", values)
        return key, now + seconds

    def find(self, kind: LinkKind, key: str) -> LinkRow:
        """What a link opens. It is found by its digest; one that is wrong, used or over is refused in the same words."""
        row = self._db.one("select account, role, expires from links where digest = ? and kind = ?", (_digest(key), kind))
        if row is None or row[2] <= self._db.clock():
            raise LinkError("The link is not valid, or not any more. Ask whoever operates the server for a new one.")
        return LinkRow(row[0] or "", AccountRole(row[1] or AccountRole.OWNER), row[2])

    def take(self, kind: LinkKind, key: str) -> LinkRow:
        """What a link opens; it opens nothing any more."""
        with self._db.writing():  # of two who use it in the same moment, the second finds none
            found = self.find(kind, key)
            self._db.write("delete from links where digest = ?", (_digest(key),))
        return found


def _digest(key: str) -> bytes:
    # 256 random bits, as of a token: a fast digest without salt is enough
    return sha256(key.encode("utf-8", "surrogatepass")).digest()
