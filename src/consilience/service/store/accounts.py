"""Owners of studies, their passwords, and tokens of owners and sites. Only digests of tokens are kept."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256

from consilience.errors import OptionError
from consilience.service.errors import TokenError
from consilience.service.store.database import Database

__all__ = ["Accounts", "Principal"]


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: an owner, by the name of the account; or a site of a study."""

    owner: str = ""
    study: str = ""
    site: str = ""


class Accounts:
    """The accounts and tokens of a database.

    >>> accounts = Accounts(Database(":memory:", clock=lambda: 100.0))
    >>> accounts.add("ada", "hash")
    >>> token = accounts.issue(Principal(owner="ada"), seconds=10)
    >>> accounts.who(token[0]).owner
    'ada'
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, name: str, password_hash: str) -> None:
        """A new account."""
        # names stand in logs and pages: no spaces, no markup, no slashes
        if not 1 <= len(name) <= 64 or not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
            raise OptionError(f"An account's name is 1 to 64 letters, digits, dots, hyphens and underscores; got {name[:80]!r}.")
        if self.password_of(name):
            raise OptionError(f"There is an account {name!r} already.")
        self._db.write("insert into accounts (name, password, created) values (?, ?, ?)", (name, password_hash, self._db.clock()))

    def password_of(self, name: str) -> str:
        """The hash, or the empty string."""
        row = self._db.one("select password from accounts where name = ?", (name,))
        return str(row[0]) if row else ""

    def issue(self, who: Principal, seconds: float) -> tuple[str, float]:
        """A new token and when it ends."""
        # 256 random bits: nobody guesses them, so a fast digest without salt is enough; a password needs argon2, a token does not
        token, expires = secrets.token_urlsafe(32), self._db.clock() + seconds
        values = (_digest(token), who.owner or None, who.study or None, who.site or None, expires)
        with self._db.writing():
            # swept when one is made: no timer is needed, and the table cannot grow without it
            self._db.write("delete from tokens where expires <= ?", (self._db.clock(),))
            self._db.write("insert into tokens (digest, account, study, site, expires) values (?, ?, ?, ?, ?)", values)
        return token, expires

    def who(self, token: str) -> Principal:
        """Whose token it is. It is found by its digest: nothing that is secret is compared byte by byte."""
        row = self._db.one("select account, study, site, expires from tokens where digest = ?", (_digest(token),))
        if row is None or row[3] <= self._db.clock():
            raise TokenError("The token is not valid, or not any more. Log in again.")
        return Principal(row[0] or "", row[1] or "", row[2] or "")

    def revoke(self, token: str) -> None:
        """End a token."""
        self._db.write("delete from tokens where digest = ?", (_digest(token),))


def _digest(token: str) -> bytes:
    # surrogatepass: a header may decode to lone surrogates, and a token that is wrong is a 401, not a defect
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
