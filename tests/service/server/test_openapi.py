"""The REST interface against its own description: whatever fits the schema, or does not, is never a defect of the server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from starlette.testclient import TestClient

from tests.service.helpers import bearer, invited, joined, make_app, new_study

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, dict[str, str], dict[str, str]]]:
    """A client, a token and studies in several states, so that what is generated also meets things that exist."""
    folder: Path = tmp_path_factory.mktemp("server")
    app = make_app(folder, login_burst=10**6, join_burst=10**6)
    with TestClient(app, raise_server_exceptions=False) as client:
        ada = bearer(client)
        studies = {name: new_study(client, ada, name=name) for name in ("draft", "open", "cancelled")}
        for name in ("open", "cancelled"):
            joined(client, ada, studies[name], "one")
            invited(client, ada, studies[name], "two")
            client.post(f"/api/v1/studies/{studies[name]}/open", headers=ada)
        client.post(f"/api/v1/studies/{studies['cancelled']}/cancel", headers=ada)
        yield client, ada, studies


def test_no_request_is_answered_with_a_server_error(place: tuple[TestClient, dict[str, str], dict[str, str]]) -> None:
    client, ada, studies = place
    described = schemathesis.openapi.from_asgi("/api/openapi.json", client.app)
    operations = [found.ok() for found in described.get_all_operations()]
    assert len(operations) > 15
    seen = 0
    for operation, mode in product(operations, GenerationMode):

        @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate], derandomize=True)
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case: schemathesis.Case) -> None:
            nonlocal seen
            for study in (None, *studies.values()):
                if study is not None:
                    if "study" not in (case.path_parameters or {}) or (case.path.endswith("/events") and study != studies["cancelled"]):
                        continue
                    case.path_parameters["study"] = study
                reply = case.call(headers=ada)
                seen += 1
                assert reply.status_code < 500, (case.method, case.path, reply.text)

        with suppress(Unsatisfiable):  # without parameters nothing can be wrong with them
            check()
    assert seen > 500
