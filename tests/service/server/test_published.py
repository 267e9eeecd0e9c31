"""What the server tells of a study: six digits of every test, and what it received from whom."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

import consilience as cs
from consilience.citest.result import CIResult
from consilience.federation.transport import Heard
from consilience.service.result_files import documents_of
from consilience.service.server.runner import StoredTest
from tests.federation.helpers import mixed_clients
from tests.service.agent.sites import CONTRACT
from tests.service.helpers import bearer, joined, new_study
from tests.service.server.test_access import site_token


def six(value: float) -> bool:
    return not math.isfinite(value) or value == float(f"{value:.5e}")


@pytest.fixture(scope="module")
def documents() -> tuple[list[CIResult], dict[str, bytes]]:
    """What a run keeps, and what it publishes."""
    kept: list[CIResult] = []
    test = StoredTest(cs.Server(mixed_clients(3, columns="ABC")), kept.extend, lambda _done, _total: None)
    return kept, dict(documents_of(cs.discover(test), CONTRACT, ("a", "b", "c"), 1, 1))


def floats(text: str) -> Iterator[float]:
    for row in csv.DictReader(text.splitlines()):
        for name, cell in row.items():
            if cell and (name.startswith(("p_value", "statistic", "size", "strength")) or name.endswith("_p")):
                try:
                    yield float(cell)
                except ValueError:  # words
                    continue


def test_every_number_of_a_published_test_has_six_digits(documents: tuple[list[CIResult], dict[str, bytes]]) -> None:
    """Before, tests.csv had all seventeen, and went to everybody."""
    kept, files = documents
    told = list(floats(files["tests.csv"].decode()))
    assert len(told) > 40
    assert all(map(six, told))
    tests = json.loads(files["result.json"])["tests"]
    assert all(six(value) for row in tests for value in row.values() if isinstance(value, float))
    assert all(six(value) for r in kept for d in r.directions for value in (r.p_value, d.statistic, d.p_value, d.loglik_restricted))


def test_the_report_has_no_more_digits_than_the_data(documents: tuple[list[CIResult], dict[str, bytes]]) -> None:
    """Its tables sort by numbers that nobody sees: before, sizes of effects had all seventeen digits there."""
    _, files = documents
    page = files["report.html"].decode()
    told = [float(value) for value in re.findall(r'data-value="([^"]+)"', page) if re.fullmatch(r"[-+.\deE]+", value)]
    assert len(told) > 20
    assert all(map(six, told))
    assert page == cs.Discovery.from_dict(json.loads(files["result.json"])).to_html()


def test_graphs_rest_on_the_numbers_that_are_published(documents: tuple[list[CIResult], dict[str, bytes]]) -> None:
    kept, files = documents
    tests = json.loads(files["result.json"])["tests"]
    assert {(r.x, r.y, r.given): r.p_value for r in kept} == {(t["x"], t["y"], tuple(t["given"])): t["p_value"] for t in tests}


def test_what_was_received_is_for_the_owner_and_of_a_site_its_own(client: TestClient) -> None:
    ada, bob = bearer(client), bearer(client, "bob")
    study = new_study(client, ada)
    identities = {name: joined(client, ada, study, name) for name in ("one", "two")}
    client.post(f"/api/v1/studies/{study}/open", headers=ada)
    store = client.app.state.services.store  # type: ignore[attr-defined]
    store.runs.hear(study, [Heard("one", "aabbccdd", 0, 96, b"1" * 32), Heard("two", "aabbccdd", 0, 0, b"", "DisclosureError")])
    path = f"/api/v1/studies/{study}/received"
    whole = client.get(path, headers=ada).json()
    assert {site["name"]: site["identity"] for site in whole["sites"]} == {n: i.public_bytes.hex() for n, i in identities.items()}
    assert [(one["site"], one["size"], one["digest"], one["refused"]) for one in whole["heard"]] == [
        ("one", 96, (b"1" * 32).hex(), ""),
        ("two", 0, "", "DisclosureError"),
    ]
    own = client.get(path, headers=site_token(client, study, identities["one"])).json()
    assert own == {"sites": whole["sites"][:1], "heard": whole["heard"][:1]}
    assert client.get(path, headers=bob).status_code == 404
    assert client.get(path).status_code == 401
