"""The site's folder: its identity, and one folder per study with the contract, the ledger and what must not be forgotten."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import IO

import msgspec

from consilience.errors import ConfigurationError
from consilience.federation.ledger import Entry, Ledger
from consilience.federation.memory import Memory, Record
from consilience.secagg import Identity
from consilience.service.contract import Contract, decode_contract
from consilience.service.invitation import Invitation, check_study_id
from consilience.service.lock import lock_folder
from consilience.service.tls import write_private

__all__ = ["DiskLedger", "DiskMemory", "Home", "Joined", "StudyFolder"]


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


class Home:
    """A site's folder. The identity is made when it is first needed, and readable by its owner alone."""

    def __init__(self, path: Path, password: str = "") -> None:
        self.path = path
        self._password = password.encode() or None

    def identity(self) -> Identity:
        """The site's long-term identity."""
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

    def enter(self, invitation: Invitation) -> StudyFolder:
        """Keep what an invitation says. Its secret is not kept: it was used up."""
        folder = StudyFolder(self.path / "studies" / check_study_id(invitation.study))
        joined = Joined(invitation.url, invitation.study, invitation.site, invitation.server.hex(), invitation.certificate)
        write_private(folder.path / "study.json", msgspec.json.encode(joined))
        return folder


class StudyFolder:
    """What a site keeps of one study."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def joined(self) -> Joined:
        """How to reach it."""
        try:
            return msgspec.json.decode((self.path / "study.json").read_bytes(), type=Joined)
        except (OSError, msgspec.DecodeError) as error:
            raise ConfigurationError(f"{str(self.path / 'study.json')!r} cannot be read: {error}. Join the study again.") from None

    @property
    def contract(self) -> Contract | None:
        """What the site's owner has consented to, if so."""
        file = self.path / "contract.msgpack"
        return decode_contract(file.read_bytes()) if file.exists() else None

    def accept(self, contract: Contract) -> None:
        """Keep the contract, before the consent leaves."""
        write_private(self.path / "contract.msgpack", contract.encoded())

    def ledger(self) -> DiskLedger:
        """The ledger on disk."""
        return DiskLedger(self.path / "ledger.jsonl")

    def memory(self) -> DiskMemory:
        """The memory on disk."""
        return DiskMemory(self.path / "memory.log")

    def lock(self) -> IO[bytes]:
        """Take the folder for this process."""
        return lock_folder(self.path)


class _Appending:
    """A file that only grows, synced after every addition."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def add(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)


class DiskLedger(Ledger):
    """A ledger whose lines are on disk before the message they tell of leaves. Lines of former processes are part of it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        if path.exists():
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            self._entries += [Entry(**json.loads(line)) for line in lines if line.endswith("\n")]  # the last may be torn
            if lines and not lines[-1].endswith("\n"):
                write_private(path, "".join(lines[:-1]).encode())
        self._disk = _Appending(path)

    def keep(self, entry: Entry) -> None:
        """Write one line."""
        self._disk.add((json.dumps(asdict(entry), ensure_ascii=False) + "\n").encode())


class DiskMemory(Memory):
    """A memory that is read back when the process starts again. Each record has its length in front; a torn one at the end is cut off."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        whole = 0
        data = path.read_bytes() if path.exists() else b""
        while len(data) >= whole + 4:
            size = int.from_bytes(data[whole : whole + 4], "big")
            if len(data) < whole + 4 + size:
                break
            self.recall(msgspec.msgpack.decode(data[whole + 4 : whole + 4 + size], type=Record))
            whole += 4 + size
        if whole < len(data):
            write_private(path, data[:whole])
        self._disk = _Appending(path)

    def keep(self, record: Record) -> None:
        """Write one record."""
        data = msgspec.msgpack.encode(record)
        self._disk.add(len(data).to_bytes(4, "big") + data)
