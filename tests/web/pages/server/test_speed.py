"""No page of a study with thirty variables keeps anybody waiting. In CPU seconds: machines that run tests do other things, too."""

from __future__ import annotations

import json
import time

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.service.result_files import plain
from tests.web.pages.server.helpers import Browser

VARIABLES, SECONDS = 30, 0.2
PATHS = (
    "",
    "/variables",
    "/settings",
    "/lobby",
    "/progress",
    "/audit",
    "/records",
    "/result",
    "/result/tests",
    "/result/conflicts",
    "/result/about",
)


@pytest.fixture
def finished(ada: Browser) -> str:
    """A study whose result is a real one, of two sites with many variables; its events are those of a long run."""
    rng = np.random.default_rng(2)
    names = [f"variable_{i:02d}" for i in range(VARIABLES)]
    clients = [cs.Client(site, pl.DataFrame(rng.standard_normal((80, VARIABLES)), schema=names)) for site in ("one", "two")]
    found = cs.discover(cs.Server(clients), max_given=0, time_limit=5.0)
    study = ada.new_study("thirty variables")
    fields = {"rows": str(VARIABLES), "sets": "2", "save": "1"}
    fields |= {f"name-{i}": name for i, name in enumerate(names)} | {f"kind-{i}": "continuous" for i in range(VARIABLES)}
    chosen = {f"in-{i}": ["0", "1"] if i % 2 else ["1"] for i in range(VARIABLES)}
    assert ada.post(f"/studies/{study}/variables", f"/studies/{study}/variables", **fields, **chosen).status_code == 303
    store = ada.client.app.state.services.store  # type: ignore[attr-defined]
    head = {"study": {"id": study, "name": "thirty", "sites": ["one", "two"], "rounds": 3, "bytes": 10}, "method": "fedci"}
    body = json.dumps(plain({**head, "site_effects": "profiled", **found.to_dict()}), allow_nan=False)
    store.runs.put_documents(study, [("result.json", body.encode())])
    with store.database.writing():
        for number in range(1000):
            store.runs.add_event(study, "round", {"rounds": number, "bytes": 100 * number})
    store.database.write("update studies set state = 'finished' where id = ?", (study,))
    return study


@pytest.mark.slow
def test_every_page_of_a_large_study_is_there_at_once(ada: Browser, finished: str) -> None:
    slow = {}
    for path in ("/studies", "/account", *(f"/studies/{finished}{path}" for path in PATHS)):
        assert ada.get(path).status_code == 200, path  # templates are read, the result is laid out
        took = []
        for _ in range(4):
            begin = time.process_time()
            ada.get(path)
            took.append(time.process_time() - begin)
        slow[path] = min(took)
    assert max(slow.values()) < SECONDS, slow
