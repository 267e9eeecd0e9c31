"""The site's folder: its identity, and one folder per study with the contract, the ledger and what must not be forgotten."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import IO

import msgspec

from consilience.data.harmonise import Plan
from consilience.federation.site.ledger import Ledger, LedgerLine
from consilience.protocol.history import History, Record
from consilience.secagg import Identity
from consilience.service.appending import Appending
from consilience.service.chain import Chain, link, read_chain
from consilience.service.contract import Contract, decode_contract
from consilience.service.errors import ChangedIdentityError, ConfigurationError, RecordsError
from consilience.service.invitation import Invitation, check_study_id
from consilience.service.lock import lock_folder
from consilience.service.tls import write_private
from consilience.typed import from_json, msgpack_decoder

__all__ = ["DiskHistory", "DiskLedger", "FitRecord", "Home", "Joined", "PlanRecord", "StudyFolder", "WithdrawnRecord"]


class Joined(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a site reaches a study that it has joined: where, which, as whom, and who the server is."""

    url: str
    study: str
    site: str
    server: str
    certificate: str = ""

    @property
    def server_key(self) -> bytes:
        """The server's public identity."""
        return bytes.fromhex(self.server)


class PlanRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A site's plan as its owner agreed to it: its digest, and its lines in words. Both empty where nothing was harmonised."""

    digest: str = ""
    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, plan: Plan) -> PlanRecord:
        """The record of a plan.

        >>> PlanRecord.of(Plan.of({"ward": {"drop": True}})).lines
        ('ward: dropped',)
        """
        return cls(plan.digest, tuple(plan.lines())) if plan.columns or plan.derived else cls()


class FitRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What this site has told of whether its table fits a study: of which declaration, and why not (``reason`` is empty if it fits).

    ``times`` counts how often it was told that the table does not fit; ``allowed``: its owner has allowed another declaration since.
    """

    declaration: str
    reason: str = ""
    times: int = 0
    allowed: bool = False


class WithdrawnRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """That this site has withdrawn from a study, when and why."""

    time: str
    reason: str = ""


class Home:
    """A site's folder. The identity is made when it is first needed, and readable by its owner alone."""

    def __init__(self, path: Path, password: str = "") -> None:
        self.path = path
        self._password = password.encode() or None

    def identity(self) -> Identity:
        """The site's long-term identity."""
        # made and read back from the file: an identity that could not be written must not be used, since nobody would know it again
        file = self.path / "identity.pem"
        if not file.exists():
            write_private(file, Identity.generate().to_pem(self._password))
        return Identity.from_pem(file.read_bytes(), self._password)

    def studies(self) -> list[StudyFolder]:
        """The studies that the site has joined, by id."""
        found = sorted((self.path / "studies").glob("*/study.json"))
        return [StudyFolder(file.parent) for file in found]

    def study(self, study: str = "") -> StudyFolder:
        """One study: by its id, or the only one."""
        if study:
            folder = StudyFolder(self.path / "studies" / check_study_id(study))
            if not (folder.path / "study.json").exists():
                raise ConfigurationError(f"This site has not joined the study {study!r}. Join it with an invitation first.")
            return folder
        found = self.studies()
        if len(found) != 1:
            names = ", ".join(folder.path.name for folder in found) or "none"
            raise ConfigurationError(f"Say which study is meant with --study; this site has joined: {names}.")
        return found[0]

    def check(self, invitation: Invitation) -> StudyFolder:
        """The folder for an invitation's study; an error if this site has joined that study elsewhere, or as another."""
        folder = StudyFolder(self.path / "studies" / check_study_id(invitation.study))
        if (folder.path / "study.json").exists():
            # The same three again are fine (a join that was cut off is repeated). Another server or name in an old folder is not: its
            # memory of what was answered would stand for a study that it does not belong to.
            joined = folder.joined
            for what, old, new in (
                ("server's address", joined.url, invitation.url),
                ("server's identity", joined.server, invitation.server.hex()),
                ("site's name", joined.site, invitation.site),
            ):
                if old != new:
                    raise ChangedIdentityError(
                        f"This site has joined the study {invitation.study} before, and the {what} must be what it was, {old!r}; the "
                        f"invitation says {new!r}. Ask the study's owner; if that is meant, join with another --home."
                    )
        return folder

    def enter(self, invitation: Invitation) -> StudyFolder:
        """Keep what an invitation says. Its secret is not kept: it was used up."""
        folder = self.check(invitation)
        joined = Joined(invitation.url, invitation.study, invitation.site, invitation.server.hex(), invitation.certificate)
        write_private(folder.path / "study.json", msgspec.json.encode(joined))
        return folder


class StudyFolder:
    """What a site keeps of one study."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def home(self) -> Path:
        """The folder of the site, which has one of these for every study."""
        return self.path.parents[1]

    @property
    def joined(self) -> Joined:
        """How to reach it."""
        try:
            return from_json((self.path / "study.json").read_bytes(), Joined)
        except (OSError, msgspec.DecodeError) as error:
            raise ConfigurationError(f"{str(self.path / 'study.json')!r} cannot be read: {error}. Join the study again.") from None

    def trust(self, certificate: str) -> None:
        """The server has another certificate, for which its identity vouches."""
        write_private(self.path / "study.json", msgspec.json.encode(msgspec.structs.replace(self.joined, certificate=certificate)))

    @property
    def contract(self) -> Contract | None:
        """What the site's owner has consented to, if so."""
        file = self.path / "contract.msgpack"
        return decode_contract(file.read_bytes()) if file.exists() else None

    def accept(self, contract: Contract) -> None:
        """Keep the contract, before the consent leaves."""
        write_private(self.path / "contract.msgpack", contract.encoded())

    @property
    def plan(self) -> PlanRecord:
        """The plan by which the site's table was made, when its owner consented; an empty one if there was none."""
        file = self.path / "harmonise.json"
        if not file.exists():
            return PlanRecord()
        try:
            return from_json(file.read_bytes(), PlanRecord)
        except msgspec.DecodeError as error:
            raise RecordsError(f"{str(file)!r} cannot be read: {error}. Restore it from a backup, or leave the study.") from None

    def keep_plan(self, plan: PlanRecord) -> None:
        """Keep the plan that was agreed to, before the consent leaves. It stays in this folder: the server is told nothing of it."""
        write_private(self.path / "harmonise.json", msgspec.json.encode(plan))

    @property
    def fit(self) -> FitRecord | None:
        """What was last told of whether the table fits, if anything was."""
        file = self.path / "fit.json"
        if not file.exists():
            return None
        try:
            return from_json(file.read_bytes(), FitRecord)
        except msgspec.DecodeError as error:
            raise RecordsError(f"{str(file)!r} cannot be read: {error}. Restore it from a backup, or leave the study.") from None

    def keep_fit(self, declaration: bytes, reason: str = "") -> None:
        """Remember whether the table fits, before the study's server is told: of another declaration it is told nothing."""
        before = self.fit
        times = (0 if before is None else before.times) + bool(reason)
        record = FitRecord(declaration.hex(), reason, times)
        if record != before:
            write_private(self.path / "fit.json", msgspec.json.encode(record))

    def reconsider(self) -> FitRecord | None:
        """The owner allows one more declaration; the record as it was, or None if there is nothing to allow."""
        found = self.fit
        if found is None or found.allowed:
            return None
        write_private(self.path / "fit.json", msgspec.json.encode(msgspec.structs.replace(found, allowed=True)))
        return found

    @property
    def withdrawn(self) -> WithdrawnRecord | None:
        """That this site has withdrawn from the study, if so: nothing more is answered."""
        file = self.path / "withdrawn.json"
        if not file.exists():
            return None
        try:
            return from_json(file.read_bytes(), WithdrawnRecord)
        except msgspec.DecodeError:  # whatever else it says, it says that
            return WithdrawnRecord("")

    def keep_withdrawn(self, reason: str) -> WithdrawnRecord:
        """Withdraw, on disk before anybody is told; whoever has withdrawn before has."""
        found = self.withdrawn
        if found is None:
            found = WithdrawnRecord(datetime.now(UTC).isoformat(timespec="seconds"), reason)
            write_private(self.path / "withdrawn.json", msgspec.json.encode(found))
        return found

    def ledger(self, identity: Identity | None = None) -> DiskLedger:
        """The ledger on disk. Whoever writes to it signs with the site's identity; with it, the last signature is looked at as well."""
        return DiskLedger(self.path / "ledger.jsonl", identity)

    def history(self) -> DiskHistory:
        """What was answered, on disk."""
        return DiskHistory(self.path / "memory.log")

    def lock(self) -> IO[bytes]:
        """Take the folder for this process."""
        return lock_folder(self.path)


def _damaged(path: Path, where: str) -> RecordsError:
    return RecordsError(
        f"{str(path)!r} must be whole but for its very end; {where} is damaged. Restore the file from a backup, or leave the study: "
        f"without it this site does not know what it has answered."
    )


class DiskLedger(Ledger):
    """A ledger whose lines are on disk before the message they tell of leaves. Lines of former processes are part of it.

    Lines are chained and signed (:mod:`consilience.service.chain`). Without an ``identity`` it can be read, and not added to.
    """

    def __init__(self, path: Path, identity: Identity | None = None) -> None:
        super().__init__()
        # Only an unfinished last line can be torn, since each is synced before the next. Damage elsewhere is not repaired: it means that
        # somebody, or the disk, has changed what this site has said.
        data = path.read_bytes() if path.exists() else b""
        chain = read_chain(data, str(path), None if identity is None else identity.public_bytes)
        self._entries += chain.entries
        self._path, self._identity, self._head = path, identity, chain.head
        self._disk = Appending(path, chain.whole, torn=chain.whole < len(data))

    def keep(self, entry: LedgerLine) -> None:
        """Write one line."""
        if self._identity is None:
            raise RecordsError(f"{str(self._path)!r} was opened for reading; who adds a line to it signs it. Nothing was sent.")
        line = link(entry, self._head, self._identity)
        self._disk.add(line + b"\n")
        self._head = sha256(line).hexdigest()

    def lines(self, **extra: str) -> str:
        """The lines as they are on disk, digests and signatures included: what is handed on stays evidence."""
        if extra or not self._path.exists():
            return super().lines(**extra)
        data = self._path.read_bytes()
        return data[: data.rfind(b"\n") + 1].decode("utf-8")

    def verify(self) -> Chain:
        """Read it again from disk, and look at every signature. :class:`RecordsError`, naming the line, if something is wrong."""
        data = self._path.read_bytes() if self._path.exists() else b""
        return read_chain(data, str(self._path), None if self._identity is None else self._identity.public_bytes, every=True)


class DiskHistory(History):
    """A history that is read back when the process starts again. Each record has its length in front; a torn one at the end is cut off."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        whole = 0
        data = path.read_bytes() if path.exists() else b""
        while len(data) >= whole + 4:  # fewer than four bytes are the beginning of a length: torn
            end = whole + 4 + int.from_bytes(data[whole : whole + 4], "big")
            try:
                record: Record = msgpack_decoder(Record).decode(data[whole + 4 : end])
            except msgspec.DecodeError as error:
                if end > len(data) and "truncated" in str(error):  # the beginning of a record, and nothing else: torn
                    break
                raise _damaged(path, f"the record at byte {whole}") from None
            if end > len(data):  # a whole record with a length that points beyond the end: not torn, changed
                raise _damaged(path, f"the record at byte {whole}")
            self.recall(record)
            whole = end
        self._disk = Appending(path, whole, torn=whole < len(data))

    def keep(self, record: Record) -> None:
        """Write one record."""
        data = msgspec.msgpack.encode(record)
        self._disk.add(len(data).to_bytes(4, "big") + data)
