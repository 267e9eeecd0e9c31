"""Who has a study, and as what: the rule for every question of who may what with it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from consilience.service.errors import LifeCycleError
from consilience.service.store.accounts import AccountRole, Principal
from consilience.service.store.database import Database

__all__ = ["Access", "MemberRow", "Members", "Role"]


class Role(StrEnum):
    """What somebody is in a study."""

    OWNER = "owner"
    CO_OWNER = "co-owner"
    OBSERVER = "observer"
    SITE = "site"


@dataclass(frozen=True, slots=True)
class Access:
    """What somebody may with a study: ``role``, and whether the ``result`` is shown, which an observer is allowed by the owner."""

    role: Role
    result: bool = True

    @property
    def changes(self) -> bool:
        """May do what owners do: edit, invite, open, start, cancel, repeat."""
        return self.role in (Role.OWNER, Role.CO_OWNER)

    @property
    def decides(self) -> bool:
        """May say who has the study, and delete it."""
        return self.role is Role.OWNER

    @property
    def inside(self) -> bool:
        """Sees what an owner sees of it: an account, and not a site."""
        return self.role is not Role.SITE


@dataclass(frozen=True, slots=True)
class MemberRow:
    """An account that has a study beside its owner."""

    account: str
    role: Role
    result: bool
    since: float


class Members:
    """The members of the studies of a database."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def access(self, study: str, who: Principal) -> Access | None:
        """What somebody may with a study; None if there is no such study for them."""
        if not who.owner:
            there = who.study == study and self._db.one("select 1 from sites where study = ? and name = ?", (study, who.site))
            return Access(Role.SITE) if there else None
        row = self._db.one(
            "select s.owner, m.role, m.result, a.role from studies s join accounts a on a.name = ? "
            "left join members m on m.study = s.id and m.account = a.name where s.id = ?",
            (who.owner, study),
        )
        if row is None:
            return None
        owner, shared, result, account = row
        role = Role.OWNER if owner == who.owner else Role(shared) if shared else None
        if role is None:
            return Access(Role.OBSERVER, False) if account == AccountRole.OVERSEER else None
        # an account that only observes changes nothing, not even what it owned before it became one
        return Access(role if account == AccountRole.OWNER else Role.OBSERVER, role is not Role.OBSERVER or bool(result))

    def of(self, study: str) -> list[MemberRow]:
        """Who has a study beside its owner, by name."""
        rows = self._db.all("select account, role, result, since from members where study = ? order by account", (study,))
        return [MemberRow(account, Role(role), bool(result), since) for account, role, result, since in rows]

    def put(self, study: str, account: str, role: Role, *, result: bool) -> None:
        """Let an account have a study, or have it as something else."""
        self._db.write(
            "insert into members (study, account, role, result, since) values (?, ?, ?, ?, ?) "
            "on conflict do update set role = excluded.role, result = excluded.result",
            (study, account, role, result, self._db.clock()),
        )

    def remove(self, study: str, account: str) -> bool:
        """Take a study back from an account; False if it has none."""
        return self._db.write("delete from members where study = ? and account = ?", (study, account)) > 0

    def hand_over(self, study: str, before: str, after: str) -> None:
        """Another owner; the one before has it with them from now on. Of two who do this at once, one does."""
        with self._db.writing():
            if not self._db.write("update studies set owner = ? where id = ? and owner = ?", (after, study, before)):
                raise LifeCycleError("The study has another owner now. Load it again.")
            self.remove(study, after)
            self.put(study, before, Role.CO_OWNER, result=True)
