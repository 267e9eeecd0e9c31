"""The studies that a site took part in: what its home remembers of them, on disk like the ledger, and across servers and names.

Two studies over the same variables can be subtracted from each other. If their sites are the same but for one, the difference is that
site's part; if the rows with which this site takes part differ by a few between them, it is about these rows: its table has changed, or the
two studies leave out different rows of it. No study by itself can see that, so the home does: every consent is written down with who took
part, which variables this site measures, and marks of the rows that take part (:mod:`consilience.service.agent.earlier.marks`). A study to
which the site agreed counts from then on, whether or not it has answered yet; one that ended before anything was answered does not.

What it cannot see: what other sites measure, other tables of theirs, and studies in which this site took no part.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from consilience.errors import ConsilienceError
from consilience.service.agent.earlier.marks import Marks
from consilience.service.agent.home import Home, StudyFolder, _damaged
from consilience.service.appending import Appending
from consilience.service.contract import Contract
from consilience.typed import json_decoder

__all__ = ["Answered", "Over", "Past", "TookPart"]

FILE = "took-part.jsonl"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class TookPart(msgspec.Struct, frozen=True, kw_only=True, tag="took part"):
    """That the site agreed to a study: to which, with whom, with which of its variables, and by whose word (``by``)."""

    study: str
    name: str
    server: str
    contract: str
    variables: tuple[str, ...]
    members: dict[str, str]
    min_contributors: int
    min_rows: int
    marks: Marks = Marks()
    by: str = ""
    time: str = msgspec.field(default_factory=_now)

    @classmethod
    def of(cls, contract: Contract, server: str, variables: tuple[str, ...], marks: Marks, by: str = "", time: str = "") -> TookPart:
        """From a contract."""
        return cls(
            study=contract.study,
            name=contract.name,
            server=server,
            contract=contract.digest.hex(),
            variables=variables,
            members={name: fingerprint.hex() for name, fingerprint in contract.fingerprints.items()},
            min_contributors=contract.settings.min_contributors,
            min_rows=contract.settings.min_rows,
            marks=marks,
            by=by,
            time=time or _now(),
        )

    @property
    def sites(self) -> frozenset[str]:
        """The fingerprints of all sites."""
        return frozenset(self.members.values())


class Answered(msgspec.Struct, frozen=True, kw_only=True, tag="answered"):
    """That the site answers in a study from now on; on disk before the first answer leaves."""

    contract: str
    time: str = msgspec.field(default_factory=_now)


class Over(msgspec.Struct, frozen=True, kw_only=True, tag="over"):
    """That a study ended before anything was answered in it."""

    contract: str
    time: str = msgspec.field(default_factory=_now)


Line = TookPart | Answered | Over


class Past:
    """What a home remembers. Several processes may add to it, one study each.

    Studies of homes that are older than this memory are taken from their folders: without marks, since nobody made them.
    """

    def __init__(self, home: Path) -> None:
        self._home, self._path = home, home / FILE

    def studies(self) -> list[TookPart]:
        """Every study that the site agreed to, in order; more than once if it went on with another table."""
        found = {(line.contract, line.marks.table): line for line in self._lines() if isinstance(line, TookPart)}
        return [*self._older(), *found.values()]

    def answered(self) -> set[str]:
        """The contracts in whose studies anything was answered."""
        return {line.contract for line in self._lines() if isinstance(line, Answered)} | {took.contract for took in self._older()}

    def over(self) -> set[str]:
        """The contracts of studies that ended before anything was answered, and that were not agreed to again since."""
        last = {line.contract: isinstance(line, Over) for line in self._lines()}
        return {contract for contract, ended in last.items() if ended} - self.answered()

    def counting(self, new: str) -> list[TookPart]:
        """The studies whose sums are there, or may still come: answered, or not over. Of the contract ``new`` itself, what was answered."""
        gone = self.over() | ({new} - self.answered())
        return [took for took in self.studies() if took.contract not in gone]

    def add(self, line: Line) -> None:
        """Write a line down; it is on disk when this returns."""
        with self._alone():
            data = self._path.read_bytes() if self._path.exists() else b""
            whole = data.rfind(b"\n") + 1
            disk = Appending(self._path, whole, torn=whole < len(data))
            try:
                disk.add(msgspec.json.encode(line) + b"\n")
            finally:
                disk.close()

    def _lines(self) -> list[Line]:
        *lines, _ = (self._path.read_bytes() if self._path.exists() else b"").split(b"\n")  # what follows the last line end is torn
        found: list[Line] = []
        for number, line in enumerate(lines, start=1):
            try:
                found.append(json_decoder(Line).decode(line))
            except msgspec.DecodeError:
                raise _damaged(self._path, f"line {number}") from None
        return found

    def _older(self) -> list[TookPart]:
        """Studies with a contract and answers in their folders, of which there is no line: of before this was written down."""
        written = {line.contract for line in self._lines() if isinstance(line, TookPart)}
        found = []
        for folder in Home(self._home).studies():
            with contextlib.suppress(ConsilienceError):  # a folder that cannot be read is its own study's trouble
                contract = folder.contract
                if contract is not None and contract.digest.hex() not in written and _has_answered(folder):
                    when = datetime.fromtimestamp((folder.path / "contract.msgpack").stat().st_mtime, UTC).isoformat(timespec="seconds")
                    found.append(TookPart.of(contract, folder.joined.url, tuple(contract.schema), Marks(), time=when))
        return found

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time: what a failed addition takes back must be its own."""
        self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = os.open(self._home / f"{FILE}.lock", os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            with contextlib.suppress(ImportError):  # not on Windows, where one process at a time is the operator's word
                import fcntl  # noqa: PLC0415

                fcntl.flock(file, fcntl.LOCK_EX)
            yield
        finally:
            os.close(file)


def _has_answered(folder: StudyFolder) -> bool:
    """By the ledger's lines, read without opening it for writing; what cannot be read counts as an answer."""
    file = folder.path / "ledger.jsonl"
    try:
        lines = [msgspec.json.decode(line) for line in file.read_bytes().split(b"\n")[:-1]] if file.exists() else []
        return any(line["numbers"] and not line["refused"] for line in lines)
    except (msgspec.DecodeError, KeyError, TypeError):
        return True
