"""Everything that a server knows of a study that is over, as the files of an archive: no sums, no secrets, no tokens."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import msgspec

from consilience.citest.rounding import PUBLISHED_DIGITS
from consilience.protocol.version import VERSION
from consilience.secagg import fingerprint_of, fingerprint_text
from consilience.service.archive import Described, make_archive
from consilience.service.errors import LifeCycleError
from consilience.service.result_files import DOCUMENTS, plain
from consilience.service.server.received import totals_of
from consilience.service.server.services import Services
from consilience.service.store import Event, SiteRow, StudyRow

__all__ = ["EXPORTED", "export"]

EXPORTED = "exported"
"""The action of an export, which is not in the next one: the same study gives the same archive."""


def export(services: Services, row: StudyRow) -> bytes:
    """The archive of a study that is over; :class:`LifeCycleError` if it is not."""
    if not row.state.is_over:
        raise LifeCycleError(f"A study is exported when it is over: what is in an archive does not change. This one is {row.state.value}.")
    store, sites = services.store, services.store.studies.sites(row.id)
    results = [plain(result.to_dict(), PUBLISHED_DIGITS) for result in store.runs.results(row.id)]
    files = {
        "study.json": _json(_study(services, row)),
        "consents.json": _json(_consents(services, row, sites)),
        "received.json": _json(_received(services, row, sites)),
        "events.json": _json([asdict(event) for event in _events(services, row.id)]),
        "actions.json": _json([asdict(one) for one in store.audit.of_study(row.id) if one.action != EXPORTED]),
        "tests.json": _json(results),
    }
    if row.contract is not None:
        files["contract.msgpack"] = row.contract.encoded()
        files["contract.json"] = _json(_contract(row))
    documents = {name: store.runs.document(row.id, name) for name in DOCUMENTS}
    files |= {name: content for name, content in documents.items() if content is not None}
    files["versions.json"] = _json(_versions(files.get("result.json")))
    marks = tuple((site.name, fingerprint_text(fingerprint_of(site.identity))) for site in sites)
    about = Described(row.id, row.name, row.owner, row.state.value, row.created, row.changed, marks)
    identity = services.identity
    return make_archive(
        files, about, lambda data: {"identity": identity.public_bytes.hex(), "signature": identity.sign(data).hex(), "file": "SHA256SUMS"}
    )


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "replace")


def _study(services: Services, row: StudyRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "owner": row.owner,
        "state": row.state.value,
        "message": row.message,
        "created": row.created,
        "changed": row.changed,
        "rounds": row.rounds,
        "bytes": row.bytes,
        "variables": None if row.variables is None else msgspec.to_builtins(row.variables),
        "datasets": None if row.datasets is None else [list(names) for names in row.datasets],
        "settings": msgspec.to_builtins(row.settings),
        "server": {"identity": services.identity.public_bytes.hex(), "fingerprint": services.identity.fingerprint_text},
    }


def _contract(row: StudyRow) -> dict[str, Any]:
    contract = row.contract
    assert contract is not None
    members = [{"name": m.name, "identity": m.identity.hex(), "fingerprint": fingerprint_text(m.fingerprint)} for m in contract.members]
    return {"digest": contract.digest.hex(), "lines": contract.lines(), "members": members, "queried": contract.queried}


def _consents(services: Services, row: StudyRow, sites: list[SiteRow]) -> list[dict[str, Any]]:
    signatures = services.store.studies.consents(row.id)
    return [
        {
            "site": site.name,
            "identity": site.identity.hex(),
            "fingerprint": fingerprint_text(fingerprint_of(site.identity)),
            "joined": site.joined,
            "signature": signatures[site.name].hex() if site.name in signatures else "",
        }
        for site in sites
    ]


def _received(services: Services, row: StudyRow, sites: list[SiteRow]) -> dict[str, Any]:
    """In the form of the REST interface, so that sites' ledgers are compared with it in the same way."""
    heard = services.store.runs.heard(row.id)
    return {
        "totals": [asdict(one) for one in totals_of([site.name for site in sites], heard)],
        "sites": [{"name": site.name, "identity": site.identity.hex()} for site in sites],
        "heard": [one._asdict() | {"digest": one.digest.hex()} for one in heard],
    }


def _events(services: Services, study: str) -> list[Event]:
    found: list[Event] = []
    while more := services.store.runs.events(study, found[-1].number if found else 0):
        found += more
    return found


def _versions(result: bytes | None) -> dict[str, Any]:
    """Of the program that wrote the archive, and of those that made the result, which may be older."""
    made = json.loads(result).get("versions", {}) if result is not None else {}
    return {"consilience": version("consilience"), "protocol": VERSION, "python": platform.python_version(), "result": made}
