"""What ``discover`` takes: a test, or the clients of a study."""

from __future__ import annotations

from typing import Any

import pytest

import consilience as cs
from tests.federation.helpers import mixed_clients


def test_clients_stand_for_a_server_over_them() -> None:
    clients = mixed_clients(2, columns="ABC")
    found, wanted = cs.discover(clients, alpha=0.01), cs.discover(cs.Server(clients), alpha=0.01)
    assert found.pags == wanted.pags
    assert found.tests.equals(wanted.tests)
    assert found.disclosed is not None
    assert cs.discover(tuple(clients), alpha=0.01).pags == wanted.pags


def test_an_object_that_answers_like_a_test_will_do() -> None:
    oracle = cs.Oracle(cs.MAG.parse("A --> B, B --> C"))

    class Own:
        variables, datasets = oracle.variables, oracle.datasets
        answer, disclosed = staticmethod(oracle.answer), staticmethod(oracle.disclosed)

    assert cs.discover(Own()).pags == cs.discover(oracle).pags  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [[], None, "muenster.csv", {"a": 1}, [1, 2]], ids=str)
def test_anything_else_is_told_what_to_do(wrong: Any) -> None:
    with pytest.raises(cs.errors.OptionError, match=r"Server\(clients\).*list of clients.*consilience.Client\(name, data\)"):
        cs.discover(wrong)


def test_data_and_single_clients_are_told_what_to_do() -> None:
    client = mixed_clients(1, columns="AB")[0]
    for wrong in (client, client.frame, [client.frame]):
        with pytest.raises(cs.errors.OptionError, match="Wrap each site's data"):
            cs.discover(wrong)
    with pytest.raises(cs.errors.StudyError, match="made of clients"):
        cs.discover([client, client.frame])


def test_settings_of_the_result_are_plain_and_in_the_order_of_the_signature() -> None:
    found = cs.discover(cs.Oracle(cs.MAG.parse("A --> B")), time_limit=5)
    assert found.settings == {
        "alpha": 0.05,
        "engine": "exact",
        "resolve": "auto",
        "max_given": None,
        "selection_bias": False,
        "limit": 10_000,
        "time_limit": 5.0,
        "variant": "triples",
        "bootstrap": 0,
        "leave_one_out": False,
        "weighed": 0,
    }
    assert type(found.settings["engine"]) is str
