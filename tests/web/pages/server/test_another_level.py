"""The result at another level, on a study server: a worker process decides again, and the server only shows it."""

from __future__ import annotations

import pytest

import consilience as cs
from consilience.service.result_files import result_json
from consilience.service.server.services import Services
from tests.web.pages.server.helpers import Browser


def test_another_level_is_decided_by_a_worker(ada: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABC", "BCD"]))
    study = ada.new_study("levels")
    services: Services = ada.client.app.state.services  # type: ignore[attr-defined]
    services.store.runs.put_documents(study, [("result.json", result_json(found))])
    services.store.database.write("update studies set state = 'finished' where id = ?", (study,))
    monkeypatch.setattr(cs.Discovery, "redecide", lambda *_a, **_k: pytest.fail("the server looked for graphs itself"))
    reply = ada.get(f"/studies/{study}/result?alpha=0.2")
    assert reply.status_code == 200
    assert "0.2" in reply.text
    assert len(services.runner.searching._pool) == 1
