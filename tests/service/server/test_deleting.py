"""A study that is deleted is in no file of the server any more; that there was one, is."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from consilience.service.deleting import GOES, MARK, STAYS
from consilience.service.server import actions
from consilience.service.server.services import Services
from consilience.service.store import State
from tests.service.helpers import bearer, new_study, serving
from tests.service.whole_study import CLIENTS, finished_study, running_study
from tests.web.pages.server.helpers import Browser, browsing, words

NAME = "a name that nobody else has, Überfall 7391"
BEFORE = "its former name, which was another 5520"


def services_of(client: TestClient) -> Services:
    found = client.app.state.services  # type: ignore[attr-defined]
    assert isinstance(found, Services)
    return found


def in_files(folder: Path, piece: bytes) -> list[str]:
    """The files of the database that a piece is in: itself, its log, and what lies beside them."""
    return [file.name for file in folder.glob("studies.sqlite*") if piece in file.read_bytes()]


def pieces(services: Services, study: str) -> list[bytes]:
    """What must not be found: names, keys, signatures, digests, tests, documents."""
    store = services.store
    found = [NAME.encode(), BEFORE.encode(), b"muenster-clinic-4417"]
    found += [client.identity.public_bytes for client in CLIENTS]
    found += store.studies.consents(study).values()
    found += [one.digest for one in store.runs.heard(study) if one.digest]
    found += [bytes(row[0])[:64] for row in store.database.all("select result from results where study = ?", (study,))]
    for name in ("result.json", "tests.csv", "report.html"):
        content = store.runs.document(study, name)
        assert content
        found += [content[place : place + 48] for place in range(0, len(content) - 48, 997)]
    return found


def test_nothing_of_it_is_in_the_database_or_its_log(tmp_path: Path) -> None:
    with serving(tmp_path, login_burst=100) as client:
        ada, services = bearer(client), services_of(client)
        kept, _ = finished_study(services, "the one that stays")
        draft = new_study(client, ada, name=BEFORE)
        assert client.put(f"/api/v1/studies/{draft}", json={"name": NAME}, headers=ada).status_code == 200
        contract, _ = finished_study(services, NAME)
        study = contract.study
        services.store.audit.add("ada", "invited a site", study=study, detail="muenster-clinic-4417")
        services.runner.event(study, "lost", site="muenster-clinic-4417", reason="gone")
        # names, keys and pieces of pages that both studies share are no evidence
        services.store.studies.delete(kept.study)
        services.store.audit.forget(kept.study)
        secrets = pieces(services, study)
        assert len(secrets) > 30
        assert all(in_files(tmp_path, piece) for piece in secrets if piece != BEFORE.encode())
        would = client.get(f"/api/v1/studies/{study}/deletion", headers=ada).json()
        assert in_files(tmp_path, NAME.encode())
        for one in (study, draft):
            reply = client.delete(f"/api/v1/studies/{one}", headers=ada)
            assert reply.status_code == 200
        assert reply.json() == {"study": draft, "goes": list(GOES), "stays": list(STAYS)}
        assert would == {"study": study, "goes": list(GOES), "stays": list(STAYS)}
        assert [piece for piece in secrets if in_files(tmp_path, piece)] == []
        lines = services.store.audit.of_account("ada")
        assert [(line.study, line.action, line.detail) for line in lines if line.study == study] == [(study, MARK, "")]
        assert client.get(f"/api/v1/studies/{study}", headers=ada).status_code == 404
    assert [piece for piece in secrets if in_files(tmp_path, piece)] == []


def test_a_study_that_runs_is_not_deleted_and_nothing_of_its_log_is(tmp_path: Path) -> None:
    with serving(tmp_path, login_burst=100) as client:
        ada, services = bearer(client), services_of(client)
        contract, _, _ = running_study(services)
        before = services.store.audit.of_study(contract.study)
        reply = client.delete(f"/api/v1/studies/{contract.study}", headers=ada)
        assert reply.status_code == 409
        assert "Cancel it first" in reply.json()["message"]
        assert services.store.audit.of_study(contract.study) == before
        row = services.store.studies.get(contract.study)
        assert row is not None
        assert row.state is State.RUNNING
        assert client.delete(f"/api/v1/studies/{contract.study}", headers=bearer(client, "bob")).status_code == 404


@pytest.fixture
def ada(tmp_path: Path) -> Browser:
    with browsing(tmp_path) as browser:
        browser.login()
        yield browser


def test_the_page_says_what_stays_before_and_after_and_wants_the_name(ada: Browser) -> None:
    study = ada.new_study("stroke  in <b>five</b>")
    page = words(ada.get(f"/studies/{study}"))
    for line in (*GOES, *STAYS):
        assert line in page
    refused = ada.act(study, "delete", called="stroke")
    assert "Nothing was deleted." in words(refused)
    assert ada.get(f"/studies/{study}").status_code == 200
    done = ada.act(study, "delete", called="stroke in <b>five</b>")
    assert done.headers["location"] == f"/studies?deleted={study}"
    after = words(ada.get(done.headers["location"]))
    assert "The study was deleted" in after
    for line in STAYS:
        assert line in after
    assert "was deleted" not in words(ada.get("/studies?deleted=00112233aabbccdd"))
    assert f"{MARK}" in words(ada.get("/account"))


def test_the_page_of_records_has_tests_totals_and_the_archive(ada: Browser) -> None:
    services = ada.client.app.state.services  # type: ignore[attr-defined]
    contract, _ = finished_study(services)
    study = contract.study
    page = words(ada.get(f"/studies/{study}/records"))
    assert "What came from each site" in page
    assert "site0" in page
    count = services.store.runs.count_results(study)
    assert f"{count} tests" in page
    reply = ada.get(f"/studies/{study}/archive.zip")
    assert reply.headers["content-type"] == "application/zip"
    assert reply.content[:2] == b"PK"
    assert "exported: SHA-256" in words(ada.get(f"/studies/{study}/audit"))
    draft = ada.new_study()
    assert "When the study is over" in words(ada.get(f"/studies/{draft}/records"))
    assert ada.get(f"/studies/{draft}/archive.zip").status_code == 409
    ada.post("/logout", "/studies")
    ada.login("bob")
    assert ada.get(f"/studies/{study}/records").status_code == 404
    assert ada.get(f"/studies/{study}/archive.zip").status_code == 404


def test_deleting_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path, login_burst=100) as client:
        headers, services = bearer(client), services_of(client)
        study = new_study(client, headers)
        row = services.store.studies.get(study)
        assert row is not None

        def fails(*_: object, **__: object) -> None:
            raise RuntimeError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(services.store.audit, "add", fails)
            with pytest.raises(RuntimeError):
                actions.delete(services, row)
        assert services.store.studies.get(study) is not None
        assert [line.action for line in services.store.audit.of_study(study)] == ["created"]
