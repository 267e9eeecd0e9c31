"""Whether an archive of a study is whole: by its digests, by the server's signature, and by those of the sites. It needs no server.

An archive is a file that somebody was given: it is read up to bounds, nothing in it is unpacked to a disk, and no page in it is opened.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from consilience.errors import ConsilienceError
from consilience.protocol.handshake import consent_context
from consilience.secagg import fingerprint_of, fingerprint_text
from consilience.secagg.identity import is_signed_by
from consilience.service.archive import CRATE, LABEL, SIGNED, SUMS, TYPES
from consilience.service.contract import Contract, decode_contract
from consilience.service.errors import ArchiveError
from consilience.service.reconcile import Comparison, audited
from consilience.wording import counted, printable

__all__ = ["Verdict", "check_archive", "open_archive"]

MOST_BYTES = 1 << 30
"""Of all files of an archive together, unpacked."""
MOST_RATIO = 1000
NEEDED = {CRATE, SUMS, SIGNED, "study.json", "consents.json", "received.json", "events.json", "actions.json", "tests.json", "versions.json"}


@dataclass(slots=True)
class Verdict:
    """What agrees and what does not, in words; ``server`` is the fingerprint whose signature the archive has."""

    study: str = ""
    name: str = ""
    state: str = ""
    server: str = ""
    files: dict[str, str] = field(default_factory=dict)
    agrees: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    ledgers: list[Comparison] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """True if nothing differs."""
        return not self.differs and not any(one.differs for one in self.ledgers)


def open_archive(data: bytes) -> dict[str, bytes]:
    """The files of an archive; :class:`ArchiveError` if it is none."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            names = [entry.filename for entry in entries]
            strange = sorted(set(names) - {*TYPES, CRATE, SIGNED})
            if strange or len(set(names)) < len(names):
                what = repr(strange[0][:80]) if strange else "a name twice"
                raise ArchiveError(f"An archive of a study holds {len(TYPES) + 2} files at most, each once; this one has {what}.")
            size = sum(entry.file_size for entry in entries)
            if size > MOST_BYTES or size > MOST_RATIO * max(len(data), 1):
                raise ArchiveError(f"An archive of a study unpacks to {MOST_BYTES:,} bytes at most; this one to {size:,}.")
            found = {}
            for entry in entries:
                with archive.open(entry) as file:
                    found[entry.filename] = file.read(entry.file_size + 1)
            return found
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError, ValueError, zipfile.zlib.error) as error:  # type: ignore[attr-defined]
        raise ArchiveError(f"An archive of a study is a ZIP file, as study export writes it; this one cannot be read: {error}.") from None


def check_archive(data: bytes, ledgers: Mapping[str, bytes] | None = None) -> Verdict:
    """Look at everything in an archive that can be looked at without its server; ``ledgers`` of sites are held against it."""
    files = open_archive(data)
    missing = sorted(NEEDED - set(files))
    if missing:
        raise ArchiveError(f"An archive of a study has the files {', '.join(sorted(NEEDED))}; {missing[0]} is missing.")
    verdict = Verdict(files={name: sha256(content).hexdigest() for name, content in sorted(files.items())})
    try:
        study = _read(files, "study.json")
        verdict.study, verdict.name, verdict.state = (printable(str(study[key])) for key in ("id", "name", "state"))
        _check_sums(files, verdict)
        _check_crate(files, verdict)
        _check_signature(files, study, verdict)
        _check_consents(files, study, verdict)
        if ledgers is not None:
            verdict.ledgers = audited(str(study["id"]), _read(files, "received.json"), ledgers)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, ConsilienceError):
            raise
        what = f"{type(error).__name__}: {printable(str(error))}"
        raise ArchiveError(f"A file of the archive does not hold what it should ({what}).") from None
    return verdict


def _read(files: Mapping[str, bytes], name: str) -> Any:
    return json.loads(files[name])


def _check_sums(files: Mapping[str, bytes], verdict: Verdict) -> None:
    lines = (line.partition("  ") for line in files[SUMS].decode("utf-8").splitlines())
    told = {name: digest for digest, _, name in lines}
    found = {name: digest for name, digest in verdict.files.items() if name not in (SUMS, SIGNED)}
    for name in sorted(told.keys() | found.keys()):
        if name not in found:
            verdict.differs.append(f"{printable(name)} is in {SUMS}, and not in the archive")
        elif name not in told:
            verdict.differs.append(f"{name} is in the archive, and not in {SUMS}")
        elif told[name] != found[name]:
            verdict.differs.append(f"{name} has another SHA-256 than {SUMS} says")
    if told == found:
        verdict.agrees.append(f"{counted(len(found), 'file')}, each with the SHA-256 that {SUMS} has")


def _check_crate(files: Mapping[str, bytes], verdict: Verdict) -> None:
    graph = {one["@id"]: one for one in _read(files, CRATE)["@graph"]}
    parts = {part["@id"] for part in graph["./"]["hasPart"]}
    if graph[CRATE]["about"]["@id"] != "./" or parts != set(files) - {CRATE}:
        verdict.differs.append(f"{CRATE} does not list the files of this archive")
    wrong = [name for name in sorted(parts & set(files)) if graph[name].get("sha256", verdict.files[name]) != verdict.files[name]]
    wrong += [name for name in sorted(parts & set(files) - {SUMS, SIGNED}) if "sha256" not in graph[name]]
    verdict.differs += [f"{name} has another SHA-256 than {CRATE} says" for name in wrong]
    if not wrong and parts == set(files) - {CRATE}:
        verdict.agrees.append(f"{CRATE} lists the same files, with the same digests")


def _check_signature(files: Mapping[str, bytes], study: Mapping[str, Any], verdict: Verdict) -> None:
    signed = _read(files, SIGNED)
    identity, signature = bytes.fromhex(signed["identity"]), bytes.fromhex(signed["signature"])
    verdict.server = fingerprint_text(fingerprint_of(identity))
    if not is_signed_by(identity, LABEL + files[SUMS], signature):
        verdict.differs.append(f"{SUMS} is not signed by the key in {SIGNED}")
    elif study["server"]["identity"] != signed["identity"]:
        verdict.differs.append("the archive is signed by another key than that of the server in study.json")
    else:
        verdict.agrees.append(f"{SUMS} is signed by the server {verdict.server}")


def _check_consents(files: Mapping[str, bytes], study: Mapping[str, Any], verdict: Verdict) -> None:
    if "contract.msgpack" not in files:
        verdict.agrees.append("the study was never started: there is no contract")
        return
    contract = decode_contract(files["contract.msgpack"])
    digest, shown = contract.digest.hex(), _read(files, "contract.json")["digest"]
    if contract.study != study["id"] or digest != shown:
        verdict.differs.append("the contract is that of another study, or has another digest than contract.json says")
    else:
        verdict.agrees.append(f"the contract has the digest {digest}")
    _check_signatures(files, contract, verdict)


def _check_signatures(files: Mapping[str, bytes], contract: Contract, verdict: Verdict) -> None:
    keys = {member.name: member.identity for member in contract.members}
    told = {str(one["site"]): one for one in _read(files, "consents.json")}
    for site in sorted(told.keys() - keys.keys()):
        verdict.differs.append(f"{printable(site)!r} is in consents.json, and not in the contract")
    for site, identity in sorted(keys.items()):
        signature = bytes.fromhex(told[site]["signature"]) if site in told else b""
        context = consent_context(contract.study, contract.digest)
        if not signature:
            words = f"{printable(site)!r} has not consented"
            (verdict.differs if _read(files, "study.json")["state"] == "finished" else verdict.agrees).append(words)
        elif not is_signed_by(identity, context, signature):
            verdict.differs.append(f"the consent of {printable(site)!r} is not signed by its key in the contract")
        else:
            verdict.agrees.append(f"{printable(site)!r} consented, signed by {fingerprint_text(fingerprint_of(identity))}")
