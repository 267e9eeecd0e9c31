"""Which person of a login service has which account."""

from __future__ import annotations

from consilience.service.store.database import Database

__all__ = ["Subjects"]


class Subjects:
    """The persons of login services that a database knows; one for an account.

    >>> database = Database(":memory:", clock=lambda: 100.0)
    >>> _ = database.write("insert into accounts (name, password, created) values ('ada', '', 0)")
    >>> subjects = Subjects(database)
    >>> subjects.bind("https://login.example", "7f3a", "ada"), subjects.bind("https://login.example", "0000", "ada")
    (True, False)
    >>> subjects.account_of("https://login.example", "7f3a")
    'ada'
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def account_of(self, issuer: str, subject: str) -> str:
        """The account of a person, or the empty string."""
        row = self._db.one("select account from subjects where issuer = ? and subject = ?", (issuer, subject))
        return str(row[0]) if row else ""

    def bind(self, issuer: str, subject: str, account: str) -> bool:
        """Give an account to a person; False if it is another person's, or the person has another."""
        return self._db.write("insert or ignore into subjects (issuer, subject, account) values (?, ?, ?)", (issuer, subject, account)) > 0

    def forget(self, account: str) -> bool:
        """Take an account from whoever has it; False if nobody has."""
        return self._db.write("delete from subjects where account = ?", (account,)) > 0
