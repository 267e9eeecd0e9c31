"""A study as one file that outlives its server: an RO-Crate 1.1 in a ZIP file, with the digest of every file in it, signed by the server.

::

    ro-crate-metadata.json   what is in here, for programs that know research objects: every file with its type, length and SHA-256
    SHA256SUMS               the same digests, as sha256sum -c takes them, over all files but the next
    SIGNATURE.json           the server's signature under SHA256SUMS, and its key
    study.json, contract.msgpack, contract.json, consents.json, received.json, events.json, actions.json, tests.json, versions.json
    result.json, tests.csv, report.html   of a study that has finished

The same study gives the same bytes: names are sorted, times in the file are those of the study. Nothing here knows a server or a network.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from typing import Any

__all__ = ["CRATE", "LABEL", "SIGNED", "SUMS", "TYPES", "Described", "make_archive"]

CRATE, SUMS, SIGNED = "ro-crate-metadata.json", "SHA256SUMS", "SIGNATURE.json"
LABEL = b"consilience archive/1\n"
"""Begins what is signed: a signature under an archive is none under anything else."""
TYPES: Mapping[str, tuple[str, str]] = {
    "study.json": ("application/json", "The study: its name, state, declaration and counters, and the server that ran it"),
    "contract.msgpack": ("application/vnd.msgpack", "The contract, to the byte as the sites' owners agreed to it"),
    "contract.json": ("application/json", "The contract in words, its digest, and its sites with their fingerprints"),
    "consents.json": ("application/json", "Every site's signature under the contract's digest, with the key that it was made with"),
    "received.json": ("application/json", "What the server received: totals of each site, and length and SHA-256 of every answer"),
    "events.json": ("application/json", "What happened, in order"),
    "actions.json": ("application/json", "What the study's owner did, in order"),
    "tests.json": ("application/json", "Every conditional-independence test that was done"),
    "versions.json": ("application/json", "Versions of the programs behind the study"),
    "result.json": ("application/json", "The result: graphs, summary, decisions, tests, settings"),
    "tests.csv": ("text/csv", "The tests of the result as a table"),
    "report.html": ("text/html", "The result as a page"),
    SUMS: ("text/plain", "SHA-256 of every file"),
}
CONTEXT = ["https://w3id.org/ro/crate/1.1/context", {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}]
LICENSE = "No licence is given by this file: ask the study's owner, and the sites whose data it rests on."
EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Described:
    """What the crate says of a study as a whole; times in seconds since 1970."""

    study: str
    name: str
    owner: str
    state: str
    created: float
    ended: float
    sites: tuple[tuple[str, str], ...]
    """Name and fingerprint of every site."""


def make_archive(files: Mapping[str, bytes], about: Described, signed: Callable[[bytes], Mapping[str, str]]) -> bytes:
    """The ZIP file. ``signed`` makes the signature under :data:`SUMS`, as a JSON object."""
    strange = sorted(set(files) - set(TYPES))
    assert not strange, f"nobody has said what {strange} are"
    whole = dict(files)
    whole[CRATE] = _json(_crate(files, about))
    sums = "".join(f"{sha256(whole[name]).hexdigest()}  {name}\n" for name in sorted(whole)).encode()
    whole[SUMS] = sums
    whole[SIGNED] = _json(dict(signed(LABEL + sums)))
    return _zipped(whole)


def _zipped(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in (CRATE, *sorted(set(files) - {CRATE})):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, files[name], zipfile.ZIP_DEFLATED, 6)
    return out.getvalue()


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "replace")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _crate(files: Mapping[str, bytes], about: Described) -> dict[str, Any]:
    """The crate's own file: the descriptor, the root, then the files, then who and what stands behind them."""
    names, software = sorted(files), f"#consilience-{version('consilience')}"
    sites = [{"@id": f"#site-{i}", "@type": "Organization", "name": n, "identifier": mark} for i, (n, mark) in enumerate(about.sites, 1)]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": about.name,
        "description": f"A federated study, {about.state}, with {len(sites)} sites: everything that its server knows of it.",
        "identifier": about.study,
        "dateCreated": _moment(about.created),
        "datePublished": _moment(about.ended),
        "author": {"@id": "#owner"},
        "contributor": [{"@id": site["@id"]} for site in sites],
        "license": {"@id": "#license"},
        "hasPart": [{"@id": name} for name in (*names, SUMS, SIGNED)],
        "mentions": {"@id": "#run"},
    }
    descriptor = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": "./"},
    }
    parts = [
        {
            "@id": name,
            "@type": "File",
            "name": name,
            "description": TYPES[name][1],
            "encodingFormat": TYPES[name][0],
            "contentSize": str(len(files[name])),
            "sha256": sha256(files[name]).hexdigest(),
        }
        for name in names
    ]
    # their digests would have to be in the file that they are digests of
    parts += [
        {"@id": SUMS, "@type": "File", "name": SUMS, "description": TYPES[SUMS][1], "encodingFormat": "text/plain"},
        {"@id": SIGNED, "@type": "File", "name": SIGNED, "description": f"Signature under {SUMS}", "encodingFormat": "application/json"},
    ]
    behind: list[dict[str, Any]] = [
        {"@id": "#owner", "@type": "Person", "name": about.owner},
        {"@id": "#license", "@type": "CreativeWork", "name": "Licence", "description": LICENSE},
        {"@id": software, "@type": "SoftwareApplication", "name": "consilience", "softwareVersion": version("consilience")},
        {
            "@id": "#run",
            "@type": "CreateAction",
            "name": "The study's run",
            "agent": {"@id": "#owner"},
            "instrument": {"@id": software},
            "endTime": _moment(about.ended),
            "result": [{"@id": name} for name in ("result.json", "tests.csv", "report.html") if name in files],
        },
    ]
    return {"@context": CONTEXT, "@graph": [descriptor, root, *parts, *behind, *sites]}
