"""Start-up kits, cards and a job as the commands make them, and a post that brings bytes to participants in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from nvflare.lighter.utils import Identity, generate_cert, generate_keys, serialize_cert

import consilience as cs
from consilience.errors import ConsilienceError
from consilience.federation.transport.remote import Lost
from consilience.flare.card import read_card, write_card
from consilience.flare.job import contract_for, write_job
from consilience.flare.kit import agree, site_settings, write_settings
from consilience.flare.links import Post
from consilience.flare.participant import Participant, table_of
from consilience.service.contract import Contract, Member
from consilience.settings.studyfile import StudyFile

SITES = ("mainz", "marburg", "muenster")


def frames() -> dict[str, pl.DataFrame]:
    """Three sites with 60 rows each; the first does not measure D."""
    found = cs.simulate.mixed_sites(n=180, sites=3, seed=5, absent={0: ["D"]})
    tables = [frame.select(c for c in frame.columns if c in "ABCD") for frame in found.values()]
    return dict(zip(SITES, tables, strict=True))


def make_kit(path: Path, name: str) -> Path:
    """What of FLARE's start-up kits is looked at: a certificate, and the list of classes that came with it."""
    for part in ("startup", "local"):
        (path / part).mkdir(parents=True)
    private, public = generate_keys()
    identity = Identity(name, "hospital")
    certificate = generate_cert(identity, identity, private, public)
    (path / "startup" / "client.crt").write_bytes(serialize_cert(certificate))
    (path / "local" / "resources.json.default").write_text('{"format_version": 2, "class_allow_list": ["a.b.C"]}')
    return path


@dataclass
class Trial(Post):
    """Three kits in a folder, a contract that their owners may agree to, and their participants; ``changed`` alters answers."""

    folder: Path
    contract: Contract
    said: list[str] = field(default_factory=list)
    participants: dict[str, Participant] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    changed: dict[str, bytes | Lost] = field(default_factory=dict)
    messages: list[bytes] = field(default_factory=list)

    @classmethod
    def at(cls, folder: Path, **settings: Any) -> Trial:
        members, tables = [], frames()
        for name, frame in tables.items():
            kit = make_kit(folder / name, name)
            frame.write_parquet(folder / f"{name}.parquet")
            write_settings(kit, {"data": f"../../{name}.parquet"})
            member = Member(name, table_of(name, site_settings(kit / "local")).identity.public_bytes)
            write_card(folder / f"{name}.json", member)
            members.append(read_card(folder / f"{name}.json"))
        schema = cs.Server([cs.Client(name, frame) for name, frame in tables.items()]).schema
        study = StudyFile(schema, datasets=tuple(tuple(frame.columns) for frame in tables.values()), settings=settings, name="trial")
        trial = cls(folder, contract_for(study, tuple(members)))
        write_job(folder / "job", trial.contract)
        return trial

    def agree(self, *names: str) -> Trial:
        """These owners agree; all, if none is named."""
        for name in names or SITES:
            agree(self.folder / name, self.contract.digest.hex())
        return self

    def restart(self) -> None:
        """Another job: all processes are new."""
        for participant in self.participants.values():
            participant.close()
        self.participants = {}

    def participant(self, name: str) -> Participant:
        if name not in self.participants:
            self.participants[name] = Participant(name, site_settings(self.folder / name / "local"), self.said.append)
        return self.participants[name]

    def send(self, names: Sequence[str], data: bytes, seconds: float) -> dict[str, bytes | Lost]:
        del seconds
        self.messages.append(data)
        return {name: self.changed[name] if name in self.changed else self._one(name, data) for name in names}

    def _one(self, name: str, data: bytes) -> bytes | Lost:
        try:
            return self.participant(name).answer(data)
        except ConsilienceError as error:  # as the executor does
            return Lost(str(error))

    def is_gone(self, name: str) -> bool:
        return name in self.gone

    def ledger(self, name: str) -> list[Any]:
        from consilience.service.agent.home import Home  # noqa: PLC0415

        return list(Home(self.folder / name / "consilience").study().ledger().entries)
