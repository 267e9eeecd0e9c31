"""Studies, their invitations and their sites."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from typing import Any

import msgspec

from consilience.protocol.handshake import MISFIT, DeclaredVariable
from consilience.service.contract import Contract, Member, decode_contract
from consilience.service.errors import InvitationError, LifeCycleError
from consilience.service.settings import VariableSpec
from consilience.service.store.database import Database
from consilience.settings import NetworkSettings
from consilience.typed import msgpack_decoder

__all__ = ["InvitationRow", "SiteRow", "State", "Studies", "StudyRow"]


class State(StrEnum):
    """The life of a study: draft → open → running → finished, failed or cancelled."""

    DRAFT = "draft"
    OPEN = "open"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        """True if nothing more will happen."""
        return self in (State.FINISHED, State.FAILED, State.CANCELLED)


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A study as it is stored. Without ``variables`` the sites are asked for theirs. ``actor`` is the account that acts on it, where one
    does: a study may have several owners.
    """

    id: str
    owner: str
    name: str
    state: State
    variables: tuple[VariableSpec, ...] | None
    datasets: tuple[tuple[str, ...], ...] | None
    settings: NetworkSettings
    contract: Contract | None
    message: str
    rounds: int
    bytes: int
    created: float
    changed: float
    origin: str = ""
    actor: str = ""

    @property
    def by(self) -> str:
        """Whose action it is: in whose name it is written down."""
        return self.actor or self.owner

    @property
    def prospect(self) -> Contract | None:
        """What it declares, as a contract without sites; None while the sites are to be asked for their variables."""
        if self.variables is None or self.datasets is None:
            return None
        return Contract(self.id, self.name, self.variables, self.datasets, self.settings, ())


@dataclass(frozen=True, slots=True)
class SiteRow:
    """A site that has joined. ``fits``: whether its table does, as it says; ``declined``: its last no, until there is a yes."""

    name: str
    identity: bytes
    declarations: tuple[DeclaredVariable, ...] | None
    consented: bool
    joined: float
    fits: bool | None = None
    declined: str = ""
    withdrew: float | None = None
    withdrew_reason: str = ""

    @property
    def member(self) -> Member:
        """As the contract has it."""
        return Member(self.name, self.identity)


@dataclass(frozen=True, slots=True)
class InvitationRow:
    """An invitation that nobody has taken yet."""

    site: str
    expires: float


_COLUMNS = "id, owner, name, state, variables, datasets, settings, contract, message, rounds, bytes, created, changed, origin"
_variables = msgpack_decoder(tuple[VariableSpec, ...])
_datasets = msgpack_decoder(tuple[tuple[str, ...], ...])
_settings = msgpack_decoder(NetworkSettings)
_declarations = msgpack_decoder(tuple[DeclaredVariable, ...])
_pack = msgspec.msgpack.encode


class Studies:
    """The studies of a database."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def create(
        self,
        owner: str,
        name: str,
        variables: tuple[VariableSpec, ...] | None,
        datasets: tuple[tuple[str, ...], ...] | None,
        settings: NetworkSettings,
        *,
        origin: str = "",
    ) -> str:
        """A new draft; its id. ``origin`` is the study that it is made from, if so."""
        # 64 random bits: an id is no secret, but it must not tell how many studies there are, and it names folders at the sites
        study, now = secrets.token_hex(8), self._db.clock()
        values = (study, owner, name, State.DRAFT, _maybe(variables), _maybe(datasets), _pack(settings), now, now, origin)
        columns = "id, owner, name, state, variables, datasets, settings, created, changed, origin"
        self._db.write(f"insert into studies ({columns}) values (?,?,?,?,?,?,?,?,?,?)", values)  # noqa: S608  (a constant)
        return study

    def edit(
        self,
        study: str,
        name: str,
        variables: tuple[VariableSpec, ...] | None,
        datasets: tuple[tuple[str, ...], ...] | None,
        settings: NetworkSettings,
    ) -> None:
        """Change a draft."""
        # the state is a condition of the statement, not looked up before: between a look and a write another request may have started it
        changed = self._db.write(
            "update studies set name = ?, variables = ?, datasets = ?, settings = ?, changed = ? where id = ? and state = ?",
            (name, _maybe(variables), _maybe(datasets), _pack(settings), self._db.clock(), study, State.DRAFT),
        )
        if not changed:
            raise LifeCycleError("Only a draft can be changed; this study is not one any more. Create another.")

    def get(self, study: str) -> StudyRow | None:
        """A study by its id."""
        row = self._db.one(f"select {_COLUMNS} from studies where id = ?", (study,))  # noqa: S608  (a constant)
        return None if row is None else _study(row)

    def of_owner(self, owner: str) -> list[StudyRow]:
        """An owner's studies, alone or with others, newest first."""
        shared = "id in (select study from members where account = ? and role = 'co-owner')"
        statement = f"select {_COLUMNS} from studies where owner = ? or {shared} order by created desc, id"  # noqa: S608  (constants)
        return [_study(row) for row in self._db.all(statement, (owner, owner))]

    def seen_by(self, account: str) -> list[StudyRow]:
        """The studies that an account may look at, newest first."""
        shared = "id in (select study from members where account = ?)"
        every = "exists (select 1 from accounts where name = ? and role = 'observer-of-all')"
        statement = f"select {_COLUMNS} from studies where owner = ? or {shared} or {every} order by created desc, id"  # noqa: S608  (constants)
        return [_study(row) for row in self._db.all(statement, (account, account, account))]

    def in_state(self, state: State) -> list[StudyRow]:
        """All studies in a state, oldest first."""
        rows = self._db.all(f"select {_COLUMNS} from studies where state = ? order by created, id", (state,))  # noqa: S608  (a constant)
        return [_study(row) for row in rows]

    def count(self) -> dict[str, int]:
        """How many studies are in which state."""
        return dict(self._db.all("select state, count(*) from studies group by state"))

    def move(self, study: str, begin: Iterable[State], end: State, message: str = "", contract: Contract | None = None) -> None:
        """Take a study from one of the states ``begin`` to ``end``; :class:`LifeCycleError` if it is in none of them."""
        # Compare and swap: of two that move a study at the same moment (the owner cancels, the run fails) one finds the state it asks for.
        allowed = tuple(begin)
        marks = ",".join("?" * len(allowed))
        sets, values = "state = ?, message = ?, changed = ?", [end, message, self._db.clock()]
        if contract is not None:
            sets, values = f"{sets}, contract = ?", [*values, contract.encoded()]
        statement = f"update studies set {sets} where id = ? and state in ({marks})"  # noqa: S608  (column names from here, one ? a value)
        if not self._db.write(statement, (*values, study, *allowed)):
            found = self.get(study)
            now = found.state.value if found else "gone"
            raise LifeCycleError(f"A study becomes {end.value} when it is {' or '.join(s.value for s in allowed)}; this one is {now}.")

    def to_draft(self, study: str, message: str) -> None:
        """A study that was to be decided from tests becomes a draft, since some were not made: it has neither contract nor tests."""
        with self._db.writing():
            self.move(study, [State.RUNNING], State.DRAFT, message)
            self._db.write("update studies set contract = null where id = ?", (study,))
            self._db.write("delete from results where study = ?", (study,))

    def delete(self, study: str) -> None:
        """Forget a study that does not run, with all that belongs to it, in every file."""
        self._db.shred()
        if not self._db.write("delete from studies where id = ? and state != ?", (study, State.RUNNING)):
            raise LifeCycleError("A study that runs cannot be deleted. Cancel it first.")

    def invite(self, study: str, site: str, secret: bytes, seconds: float) -> float:
        """A one-time invitation for a site (a new one replaces the old); when it ends. Only the secret's digest is kept."""
        if self._db.one("select 1 from sites where study = ? and name = ?", (study, site)):
            raise InvitationError(f"{site!r} has joined already. Choose another name for another site.")
        expires = self._db.clock() + seconds
        self._db.write(
            "replace into invitations (study, site, digest, expires) values (?, ?, ?, ?)", (study, site, _digest(secret), expires)
        )
        return expires

    def invitations(self, study: str) -> list[InvitationRow]:
        """Invitations that nobody has taken."""
        return [
            InvitationRow(*row) for row in self._db.all("select site, expires from invitations where study = ? order by site", (study,))
        ]

    def withdraw(self, study: str, site: str) -> bool:
        """Take an invitation back; False if there is none."""
        return self._db.write("delete from invitations where study = ? and site = ?", (study, site)) > 0

    def redeem(self, study: str, secret: bytes, identity: bytes) -> str:
        """Let the holder of an invitation in, once, under its identity; the site's name in the study."""
        with self._db.writing():
            row = self._db.one("select state from studies where id = ?", (study,))
            # One sentence for every reason to refuse an invitation: an unknown study, a wrong secret, an expired or a used one look alike.
            # Digests are compared in constant time, which does not tell how near a guess was.
            offered = _digest(secret)
            pending = self._db.all("select site, digest, expires from invitations where study = ?", (study,)) if row else []
            site = next((site for site, digest, expires in pending if compare_digest(digest, offered) and expires > self._db.clock()), None)
            if site is None or row[0] not in (State.DRAFT, State.OPEN):
                raise InvitationError("The invitation is not valid, or not any more. Ask the study's owner for a new one.")
            if self._db.one("select 1 from sites where study = ? and identity = ?", (study, identity)):
                raise InvitationError("This identity has joined the study already, under another name. A site takes part once.")
            self._db.write("delete from invitations where study = ? and site = ?", (study, site))
            self._db.write(
                "insert into sites (study, name, identity, joined) values (?, ?, ?, ?)", (study, site, identity, self._db.clock())
            )
        return str(site)

    def sites(self, study: str) -> list[SiteRow]:
        """The sites of a study, by name."""
        columns = "name, identity, declaration, consent, joined, fits, declined, withdrew, withdrew_reason"
        rows = self._db.all(f"select {columns} from sites where study = ? order by name", (study,))  # noqa: S608  (a constant)
        return [_site(row) for row in rows]

    def site_of(self, study: str, identity: bytes) -> str:
        """The name of the site with this identity, or the empty string."""
        row = self._db.one("select name from sites where study = ? and identity = ?", (study, identity))
        return str(row[0]) if row else ""

    def remove_site(self, study: str, site: str) -> bool:
        """Take a site and its tokens out of a study that has not begun; False if there is none."""
        with self._db.writing():
            row = self.get(study)
            if row is not None and row.state not in (State.DRAFT, State.OPEN):
                raise LifeCycleError(f"Sites are removed before a study runs; this one is {row.state.value}. Cancel it first.")
            return self._forget_site(study, site)

    def _forget_site(self, study: str, site: str) -> bool:
        # tokens name a site by its name; a site of the same name that is invited later must not inherit them, nor the old one keep them
        self._db.write("delete from tokens where study = ? and site = ?", (study, site))
        return self._db.write("delete from sites where study = ? and name = ?", (study, site)) > 0

    def has_site(self, study: str, site: str) -> bool:
        """True if a site of this name takes part."""
        return self._db.one("select 1 from sites where study = ? and name = ?", (study, site)) is not None

    def declare(self, study: str, site: str, declarations: tuple[DeclaredVariable, ...]) -> None:
        """What a site says that it holds."""
        self._db.write("update sites set declaration = ? where study = ? and name = ?", (_pack(declarations), study, site))

    def consent(self, study: str, site: str, signature: bytes) -> bool:
        """Keep a site's signature under the contract; True if it is the first. Later ones, after every reconnection, change nothing."""
        with self._db.writing():
            self._db.write("update sites set fits = 1, declined = '' where study = ? and name = ?", (study, site))
            return (
                self._db.write("update sites set consent = ? where study = ? and name = ? and consent is null", (signature, study, site))
                > 0
            )

    def decline(self, study: str, site: str, reason: str) -> None:
        """A site's no, until it says yes. What it agreed to before stays: it may come back with the table that it had."""
        self._db.write("update sites set declined = ? where study = ? and name = ?", (reason, study, site))

    def say_fit(self, study: str, site: str, *, fits: bool) -> bool:
        """Whether a site's table fits; True if that is news. One that fits takes back that it did not."""
        with self._db.writing():
            if fits:
                self._db.write("update sites set declined = '' where study = ? and name = ? and declined = ?", (study, site, MISFIT))
            changed = "update sites set fits = ? where study = ? and name = ? and fits is not ?"
            return self._db.write(changed, (int(fits), study, site, int(fits))) > 0

    def withdrew(self, study: str, site: str, reason: str) -> bool:
        """A site has withdrawn; False if it has before, or is none."""
        changed = "update sites set withdrew = ?, withdrew_reason = ? where study = ? and name = ? and withdrew is null"
        return self._db.write(changed, (self._db.clock(), reason, study, site)) > 0

    def made_from(self, study: str) -> list[StudyRow]:
        """The studies that are copies of this one, or decide its tests again."""
        rows = self._db.all(f"select {_COLUMNS} from studies where origin = ? order by created, id", (study,))  # noqa: S608  (a constant)
        return [_study(row) for row in rows]

    def go_without(self, study: str, site: str, contract: Contract) -> None:
        """Take a site out of a study whose sites have not all agreed: another contract, to which nobody has agreed yet."""
        with self._db.writing():
            row = self.get(study)
            if row is None or row.state is not State.RUNNING or all(each.consented for each in self.sites(study)):
                raise LifeCycleError("A site is left out before the run begins, and this one has begun. Cancel the study, and make a copy.")
            self._forget_site(study, site)
            self._db.write("update sites set consent = null where study = ?", (study,))
            self._db.write("update studies set contract = ?, changed = ? where id = ?", (contract.encoded(), self._db.clock(), study))

    def consents(self, study: str) -> dict[str, bytes]:
        """The signatures of sites under the contract, by name; sites that have not consented have none."""
        return dict(self._db.all("select name, consent from sites where study = ? and consent is not null order by name", (study,)))


def _maybe(value: Any) -> bytes | None:
    return None if value is None else _pack(value)


def _digest(secret: bytes) -> bytes:
    return sha256(secret).digest()


def _site(row: Any) -> SiteRow:
    name, identity, declaration, consent, joined, fits, *rest = row
    declarations = None if declaration is None else _declarations.decode(declaration)
    return SiteRow(name, identity, declarations, consent is not None, joined, None if fits is None else bool(fits), *rest)


def _study(row: Any) -> StudyRow:
    study, owner, name, state, variables, datasets, settings, contract, message, rounds, size, created, changed, origin = row
    return StudyRow(
        study,
        owner,
        name,
        State(state),
        None if variables is None else _variables.decode(variables),
        None if datasets is None else _datasets.decode(datasets),
        _settings.decode(settings),
        None if contract is None else decode_contract(contract),
        message,
        rounds,
        size,
        created,
        changed,
        origin,
    )
