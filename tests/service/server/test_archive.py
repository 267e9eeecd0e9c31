"""A study as one file: read back, held against the server, and changed in every way that somebody might."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from consilience import errors
from consilience.secagg import Identity
from consilience.service.archive import CRATE, LABEL, SIGNED, SUMS
from consilience.service.archive_check import check_archive
from consilience.service.chain import link
from consilience.service.contract import decode_contract
from tests.service.helpers import SERVER, bearer, new_study, serving
from tests.service.whole_study import CLIENTS, NAME, finished_study

Files = dict[str, bytes]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, str, dict[str, bytes]]]:
    """A server with a finished study, and the ledgers of its sites as they hand them over."""
    with serving(tmp_path_factory.mktemp("server"), login_burst=1000) as client:
        contract, ledgers = finished_study(client.app.state.services)  # type: ignore[attr-defined]
        signed = {}
        for site in CLIENTS:
            head, lines = sha256().hexdigest(), []
            for entry in ledgers[site.name].entries:
                lines.append(link(entry, head, site.identity))
                head = sha256(lines[-1]).hexdigest()
            signed[f"{site.name}.jsonl"] = b"".join(line + b"\n" for line in lines)
        yield client, contract.study, signed


@pytest.fixture(scope="module")
def archive(served: tuple[TestClient, str, dict[str, bytes]]) -> bytes:
    client, study, _ = served
    reply = client.get(f"/api/v1/studies/{study}/archive", headers=bearer(client))
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "application/zip"
    return reply.content


def unpacked(data: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files: Files) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_what_is_in_it_is_what_the_server_has(served: tuple[TestClient, str, dict[str, bytes]], archive: bytes) -> None:
    client, study, _ = served
    ada, base, files = bearer(client), f"/api/v1/studies/{study}", unpacked(archive)
    for name in ("result.json", "tests.csv", "report.html"):
        assert files[name] == client.get(f"{base}/documents/{name}", headers=ada).content
    told = {name: json.loads(files[name]) for name in files if name.endswith(".json")}
    shown = client.get(base, headers=ada).json()
    assert told["tests.json"] == client.get(f"{base}/tests", headers=ada).json()
    assert told["events.json"] == client.get(f"{base}/log", headers=ada).json()
    assert told["received.json"].pop("totals") == client.get(f"{base}/received/totals", headers=ada).json()
    assert told["received.json"] == client.get(f"{base}/received", headers=ada).json()
    assert {key: told["study.json"][key] for key in ("id", "name", "state", "rounds", "bytes", "settings")} == {
        key: shown[key] for key in ("id", "name", "state", "rounds", "bytes", "settings")
    }
    assert told["contract.json"]["digest"] == shown["contract"]
    assert decode_contract(files["contract.msgpack"]).digest.hex() == shown["contract"]
    assert [one["site"] for one in told["consents.json"]] == [one["name"] for one in shown["sites"]]
    assert told["study.json"]["server"]["fingerprint"] == client.get("/health").json()["fingerprint"]
    assert told["versions.json"]["result"] == told["result.json"]["versions"]
    assert "invited a site" in [one["action"] for one in told["actions.json"]]
    assert len(told["tests.json"]) > 3


def test_it_is_a_crate_with_the_digest_of_every_file(archive: bytes) -> None:
    files = unpacked(archive)
    crate = json.loads(files[CRATE])
    assert crate["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    graph = {one["@id"]: one for one in crate["@graph"]}
    assert len(graph) == len(crate["@graph"])
    assert graph[CRATE] == {
        "@id": CRATE,
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": "./"},
    }
    root = graph["./"]
    assert root["@type"] == "Dataset"
    assert all(root[key] for key in ("name", "description", "datePublished", "license"))
    parts = [part["@id"] for part in root["hasPart"]]
    assert set(parts) == set(files) - {CRATE}
    for name in parts:
        assert graph[name]["@type"] == "File"
        assert graph[name]["encodingFormat"]
        if name not in (SUMS, SIGNED):
            assert graph[name]["sha256"] == sha256(files[name]).hexdigest()
            assert graph[name]["contentSize"] == str(len(files[name]))

    def references(value: Any) -> Iterator[str]:
        """Everything that is named is described."""
        if isinstance(value, dict):
            if set(value) == {"@id"}:
                yield value["@id"]
            for one in value.values():
                yield from references(one)
        elif isinstance(value, list):
            for one in value:
                yield from references(one)

    assert {name for name in references(crate["@graph"]) if not name.startswith("https://")} <= set(graph)
    assert all("@id" in one and "@type" in one for one in crate["@graph"])
    sums = dict(reversed(line.split("  ")) for line in files[SUMS].decode().splitlines())
    assert sums == {name: sha256(content).hexdigest() for name, content in files.items() if name not in (SUMS, SIGNED)}


def test_it_verifies_without_a_server_and_the_same_study_gives_the_same_bytes(
    served: tuple[TestClient, str, dict[str, bytes]], archive: bytes
) -> None:
    client, study, ledgers = served
    verdict = check_archive(archive, ledgers)
    assert verdict.sound
    assert (verdict.study, verdict.name, verdict.state) == (study, NAME, "finished")
    assert verdict.server == SERVER.fingerprint_text
    said = " ".join(verdict.agrees)
    for words in ("each with the SHA-256", "signed by the server", "the contract has the digest", "'site0' consented", "'site2' consented"):
        assert words in said
    assert [one.site for one in verdict.ledgers] == ["site0", "site1", "site2"]
    assert all("answers sent and received alike" in " ".join(one.agrees) for one in verdict.ledgers)
    again = client.get(f"/api/v1/studies/{study}/archive", headers=bearer(client)).content
    assert again == archive


def test_it_holds_no_secret(served: tuple[TestClient, str, dict[str, bytes]], archive: bytes) -> None:
    client = served[0]
    whole = b"".join(unpacked(archive).values())
    database = client.app.state.services.store.database  # type: ignore[attr-defined]
    for statement in ("select digest from tokens", "select digest from invitations", "select password from accounts"):
        for (secret,) in database.all(statement):
            text = secret if isinstance(secret, str) else secret.hex()
            assert text.encode() not in whole
    assert b"argon2" not in whole


def resigned(files: Files, key: Identity) -> Files:
    """As somebody would who makes all digests fit again."""
    crate = json.loads(files[CRATE])
    for one in crate["@graph"]:
        if one["@id"] in files and "sha256" in one:
            one["sha256"], one["contentSize"] = sha256(files[one["@id"]]).hexdigest(), str(len(files[one["@id"]]))
    files[CRATE] = json.dumps(crate).encode()
    names = sorted(set(files) - {SUMS, SIGNED})
    files[SUMS] = "".join(f"{sha256(files[name]).hexdigest()}  {name}\n" for name in names).encode()
    signature = key.sign(LABEL + files[SUMS])
    files[SIGNED] = json.dumps({"identity": key.public_bytes.hex(), "signature": signature.hex()}).encode()
    return files


def without_a_site(files: Files) -> Files:
    told = json.loads(files["consents.json"])
    told[0]["signature"] = told[1]["signature"]
    return resigned({**files, "consents.json": json.dumps(told).encode()}, SERVER)


CHANGES: dict[str, tuple[Callable[[Files], Files], str]] = {
    "a result": (lambda files: {**files, "result.json": files["result.json"].replace(b"0.", b"1.", 1)}, "result.json has another SHA-256"),
    "a result and the sums": (
        lambda files: {**files, SUMS: files[SUMS].replace(sha256(files["tests.csv"]).hexdigest().encode(), b"0" * 64)},
        "not signed by the key",
    ),
    "a file less": (lambda files: {name: c for name, c in files.items() if name != "report.html"}, "report.html is in SHA256SUMS, and not"),
    "a file more": (
        lambda files: resigned({k: v for k, v in files.items() if k != "report.html"}, SERVER) | {"report.html": b"<script>"},
        "report.html is in the archive, and not in SHA256SUMS",
    ),
    "the crate": (lambda files: {**files, CRATE: files[CRATE].replace(b'"File"', b'"Film"', 1)}, "ro-crate-metadata.json has another"),
    "all of it, by another key": (
        lambda files: resigned({**files, "tests.csv": b"x\n"}, Identity.generate()),
        "signed by another key than that of the server",
    ),
    "a consent, by the server itself": (without_a_site, "the consent of 'site0' is not signed by its key"),
    "the contract, by the server itself": (
        lambda files: resigned({**files, "contract.msgpack": files["contract.msgpack"].replace(b"min_rows\x0a", b"min_rows\x01")}, SERVER),
        "has another digest than contract.json says",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_is_changed_is_named(archive: bytes, what: str) -> None:
    change, words = CHANGES[what]
    before = unpacked(archive)
    after = change(dict(before))
    assert after != before
    verdict = check_archive(packed(after))
    assert not verdict.sound
    assert words in "; ".join(verdict.differs)


def test_a_ledger_of_another_word_is_a_difference(served: tuple[TestClient, str, dict[str, bytes]], archive: bytes) -> None:
    _, _, ledgers = served
    cut = {"site0.jsonl": b"".join(ledgers["site0.jsonl"].splitlines(keepends=True)[:-2])}
    verdict = check_archive(archive, cut)
    assert not verdict.sound
    assert any("received, and not in the site's ledger" in words for one in verdict.ledgers for words in one.differs)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is a ZIP file"),
        (b"PK\x03\x04 and then nothing", "is a ZIP file"),
        (packed({"../evil": b""}), "'../evil'"),
        (packed({CRATE: b"{}"}), "is missing"),
        (packed({CRATE: b"0" * (64 << 20)}), "is missing"),
    ],
)
def test_a_file_that_is_no_archive_is_an_error_in_words(data: bytes, words: str) -> None:
    with pytest.raises(errors.ArchiveError, match=words):
        check_archive(data)


def test_files_that_do_not_hold_what_they_should(archive: bytes) -> None:
    for name in ("study.json", "consents.json", CRATE, SIGNED, SUMS, "contract.msgpack"):
        for content in (b"", b"[]", b"{}", b"\xff\xfe", b"[" * 100_000):
            files = {**unpacked(archive), name: content}
            try:
                assert not check_archive(packed(files)).sound
            except errors.ConsilienceError as error:
                assert str(error)  # noqa: PT017  either is right: it is not taken for sound, and nothing else is raised


def test_a_bomb_is_not_unpacked() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("result.json", b"0" * (40 << 20))
    data = bytearray(out.getvalue())
    place = data.rfind(b"PK\x01\x02") + 24
    data[place : place + 4] = (3 << 30).to_bytes(4, "little")
    with pytest.raises(errors.ArchiveError, match="unpacks to"):
        check_archive(bytes(data))


def test_only_its_owner_and_only_when_it_is_over(served: tuple[TestClient, str, dict[str, bytes]]) -> None:
    client, study, _ = served
    ada = bearer(client)
    path = f"/api/v1/studies/{study}/archive"
    assert client.get(path).status_code == 401
    assert client.get(path, headers=bearer(client, "bob")).status_code == 404
    draft = new_study(client, ada)
    reply = client.get(f"/api/v1/studies/{draft}/archive", headers=ada)
    assert reply.status_code == 409
    assert "exported when it is over" in reply.json()["message"]
    assert client.post(f"/api/v1/studies/{draft}/cancel", headers=ada).status_code == 200
    verdict = check_archive(client.get(f"/api/v1/studies/{draft}/archive", headers=ada).content)
    assert verdict.sound
    assert "the study was never started: there is no contract" in verdict.agrees


def test_totals_are_those_of_the_record(served: tuple[TestClient, str, dict[str, bytes]], tmp_path: Path) -> None:
    client, study, ledgers = served
    totals = client.get(f"/api/v1/studies/{study}/received/totals", headers=bearer(client)).json()
    heard = client.get(f"/api/v1/studies/{study}/received", headers=bearer(client)).json()["heard"]
    assert [one["site"] for one in totals] == ["site0", "site1", "site2"]
    for one in totals:
        own = [line for line in heard if line["site"] == one["site"]]
        sent = [json.loads(line) for line in ledgers[f"{one['site']}.jsonl"].splitlines()]
        assert one["answers"] == len(own) > 2
        assert one["bytes"] == sum(line["size"] for line in own)
        assert one["numbers"] == sum(line["numbers"] for line in sent)
        assert one["refused"] == 0
