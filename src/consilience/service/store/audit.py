"""Who did what: the actions of owners, on their studies and on their own accounts. What sites and runs do are events of a study."""

from __future__ import annotations

from dataclasses import dataclass

from consilience.service.store.database import Database

__all__ = ["Audit", "AuditRow"]

MOST_OF_ACCOUNT = 500
"""Entries kept of an account that name no study, failed logins among them: strangers can cause those, and must not fill the disk."""
MOST_DETAIL = 300


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An action of an owner."""

    number: int
    time: float
    account: str
    study: str
    action: str
    detail: str


class Audit:
    """The actions in a database.

    >>> database = Database(":memory:", clock=lambda: 100.0)
    >>> _ = database.write("insert into accounts (name, password, created) values ('ada', '', 0)")
    >>> audit = Audit(database)
    >>> audit.add("ada", "invited", study="00112233aabbccdd", detail="muenster")
    >>> [(row.action, row.detail) for row in audit.of_study("00112233aabbccdd")]
    [('invited', 'muenster')]
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, account: str, action: str, *, study: str = "", detail: str = "") -> None:
        """Write down an action; nothing if there is no such account, such as one that somebody tried to log in to."""
        with self._db.writing():
            self._db.write(
                "insert into audit (time, account, study, action, detail) select ?, name, ?, ?, ? from accounts where name = ?",
                (self._db.clock(), study, action, detail[:MOST_DETAIL], account),
            )
            if not study:
                self._db.write(
                    "delete from audit where account = ? and study = '' and number <= coalesce((select number from audit "
                    "where account = ? and study = '' order by number desc limit 1 offset ?), -1)",
                    (account, account, MOST_OF_ACCOUNT),
                )

    def forget(self, study: str) -> None:
        """Delete what was done to a study: names of sites stand there, and of the study itself."""
        self._db.write("delete from audit where study = ?", (study,))

    def of_study(self, study: str) -> list[AuditRow]:
        """What owners did to a study, oldest first."""
        rows = self._db.all("select number, time, account, study, action, detail from audit where study = ? order by number", (study,))
        return [AuditRow(*row) for row in rows]

    def of_account(self, account: str, most: int = 50) -> list[AuditRow]:
        """The latest actions of an account, the latest first."""
        rows = self._db.all(
            "select number, time, account, study, action, detail from audit where account = ? order by number desc limit ?", (account, most)
        )
        return [AuditRow(*row) for row in rows]
