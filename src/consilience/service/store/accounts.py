"""Owners of studies, their passwords, and tokens of owners and sites. Only digests of tokens are kept.

A token of a program goes into a header, the one of a session into the cookie of a browser; neither is good for the other.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from consilience.errors import OptionError
from consilience.service.errors import TokenError
from consilience.service.store.database import Database

__all__ = ["AccountRole", "AccountRow", "Accounts", "Principal", "SessionRow", "TokenKind"]

SEEN_SECONDS = 60.0
"""How exact the time of a session's last request is: each is a commit to disk, and people read it."""
MOST_AGENT = 200
"""Characters kept of what a browser calls itself."""


MOST_TOKENS = 20
"""Tokens of a site, for programs and for pages each: one more ends the oldest."""


class AccountRole(StrEnum):
    """What an account may at all: create studies; or look at those that are shared with it; or at all of the server's."""

    OWNER = "owner"
    OBSERVER = "observer"
    OVERSEER = "observer-of-all"


@dataclass(frozen=True, slots=True)
class AccountRow:
    """An account, without its password."""

    name: str
    role: AccountRole
    created: float


class TokenKind(StrEnum):
    """What holds a token: a program, in a header; or a browser, in a cookie."""

    PROGRAM = "program"
    PAGES = "pages"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: an owner or an observer, by the name of the account; or a site of a study."""

    owner: str = ""
    study: str = ""
    site: str = ""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """Somebody who is logged in: since when, from where, with what. ``handle`` names the token without being it."""

    handle: str
    kind: TokenKind
    created: float
    seen: float
    expires: float
    agent: str
    address: str


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

    def add(self, name: str, password_hash: str, role: AccountRole = AccountRole.OWNER) -> None:
        """A new account."""
        # names stand in logs and pages: no spaces, no markup, no slashes
        if not 1 <= len(name) <= 64 or not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
            raise OptionError(f"An account's name is 1 to 64 letters, digits, dots, hyphens and underscores; got {name[:80]!r}.")
        if self.exists(name):
            raise OptionError(f"There is an account {name!r} already.")
        with self._db.writing():
            self._db.write("insert into accounts (name, password, created) values (?, ?, ?)", (name, password_hash, self._db.clock()))
            if role is not AccountRole.OWNER:
                self.set_role(name, role)

    def all(self) -> list[AccountRow]:
        """All accounts, by name."""
        rows = self._db.all("select name, role, created from accounts order by name")
        return [AccountRow(name, AccountRole(role), created) for name, role, created in rows]

    def role_of(self, name: str) -> AccountRole | None:
        """What an account may; None if there is none."""
        row = self._db.one("select role from accounts where name = ?", (name,))
        return AccountRole(row[0]) if row else None

    def set_role(self, name: str, role: AccountRole) -> None:
        """Let an account be something else, from now on."""
        self._db.write("update accounts set role = ? where name = ?", (role, name))

    def exists(self, name: str) -> bool:
        """True if there is an account of this name."""
        return self._db.one("select 1 from accounts where name = ?", (name,)) is not None

    def password_of(self, name: str) -> str:
        """The hash, or the empty string."""
        row = self._db.one("select password from accounts where name = ?", (name,))
        return str(row[0]) if row else ""

    def change_password(self, name: str, password_hash: str, keep: str = "") -> None:
        """Another password. Whoever is logged in under the old one is not any more, but for the token ``keep``."""
        with self._db.writing():
            self._db.write("update accounts set password = ? where name = ?", (password_hash, name))
            self._db.write("delete from tokens where account = ? and digest != ?", (name, _digest(keep)))
            self._db.write("delete from links where account = ?", (name,))  # whoever has one would have the new password, too

    def issue(
        self, who: Principal, seconds: float, kind: TokenKind = TokenKind.PROGRAM, agent: str = "", address: str = ""
    ) -> tuple[str, float]:
        """A new token and when it ends."""
        # 256 random bits: nobody guesses them, so a fast digest without salt is enough; a password needs argon2, a token does not
        token, now = secrets.token_urlsafe(32), self._db.clock()
        holder = (who.owner or None, who.study or None, who.site or None)
        values = (_digest(token), *holder, now + seconds, kind, now, now, agent[:MOST_AGENT], address[:MOST_AGENT])
        with self._db.writing():
            # swept when one is made: no timer is needed, and the table cannot grow without it
            self._db.write("delete from tokens where expires <= ?", (now,))
            if who.site:
                self._db.write(
                    "delete from tokens where rowid in (select rowid from tokens where study = ? and site = ? and kind = ? "
                    "order by created desc, rowid desc limit -1 offset ?)",
                    (who.study, who.site, kind, MOST_TOKENS - 1),
                )
            columns = "digest, account, study, site, expires, kind, created, seen, agent, address"
            self._db.write(f"insert into tokens ({columns}) values (?,?,?,?,?,?,?,?,?,?)", values)  # noqa: S608  (constants)
        return token, now + seconds

    def who(self, token: str, kind: TokenKind = TokenKind.PROGRAM) -> Principal:
        """Whose token it is. It is found by its digest: nothing that is secret is compared byte by byte."""
        digest, now = _digest(token), self._db.clock()
        row = self._db.one("select account, study, site, expires, seen from tokens where digest = ? and kind = ?", (digest, kind))
        if row is None or row[3] <= now:
            raise TokenError("The token is not valid, or not any more. Log in again.")
        if row[0] and now - row[4] >= SEEN_SECONDS:  # sites' tokens are in no list
            self._db.write("update tokens set seen = ? where digest = ?", (now, digest))
        return Principal(row[0] or "", row[1] or "", row[2] or "")

    def expires(self, token: str) -> float:
        """When a token ends; 0 if it is none."""
        row = self._db.one("select expires from tokens where digest = ?", (_digest(token),))
        return float(row[0]) if row else 0.0

    def sessions(self, name: str) -> list[SessionRow]:
        """Who is logged in to an account, the latest first."""
        rows = self._db.all(
            "select digest, kind, created, seen, expires, agent, address from tokens where account = ? and expires > ? "
            "order by created desc, digest",
            (name, self._db.clock()),
        )
        return [SessionRow(_handle(digest), TokenKind(kind), *rest) for digest, kind, *rest in rows]

    def end_session(self, name: str, handle: str) -> bool:
        """End one token of an account; False if there is none with this handle."""
        found = self._db.all("select digest from tokens where account = ?", (name,))
        gone = [(digest,) for (digest,) in found if _handle(digest) == handle]
        self._db.write_many("delete from tokens where digest = ?", gone)
        return bool(gone)

    def end_sessions(self, name: str, keep: str = "") -> int:
        """End all tokens of an account but ``keep``; how many there were."""
        return self._db.write("delete from tokens where account = ? and digest != ?", (name, _digest(keep)))

    def revoke(self, token: str) -> None:
        """End a token."""
        self._db.write("delete from tokens where digest = ?", (_digest(token),))

    @staticmethod
    def handle(token: str) -> str:
        """What names a token in a list: the beginning of its digest, from which nobody finds the token."""
        return _handle(_digest(token))


def _digest(token: str) -> bytes:
    # surrogatepass: a header may decode to lone surrogates, and a token that is wrong is a 401, not a defect
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _handle(digest: bytes) -> str:
    return digest[:8].hex()
