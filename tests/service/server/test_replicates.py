"""Replicates over a network: asked after the tests, kept in the journal, read by the worker, and the same as in one program."""

from __future__ import annotations

import json
from typing import Any

import pytest

import consilience as cs
from consilience.citest.rounding import PUBLISHED_DIGITS
from consilience.federation.federated import FederatedTest
from consilience.federation.transport.local import LocalTransport
from consilience.iod.discover import ask_tests, plan_of
from consilience.iod.stability import AskedSites, Stability, assess
from consilience.service.contract import Contract, warnings_of
from consilience.service.server.runner import StoredTest
from consilience.service.store import State, Store
from consilience.service.worker.pool import Pool
from tests.service.run_links import RunLinks, run
from tests.service.server.test_runs import CLIENTS, SCHEMA, begun, pool, runner_of, state_of, store

__all__ = ["pool", "store"]  # fixtures

ASKED: dict[str, Any] = {"bootstrap": 5, "leave_one_out": True}


def in_process(contract: Contract) -> Stability:
    """The same study of the same draws in this process: they follow from the sites' identities and the study."""
    halves = [c.join(contract.study, SCHEMA, contract.terms, contract.fingerprints.values()) for c in CLIENTS]
    test = FederatedTest(SCHEMA, contract.terms, map(frozenset, contract.datasets), LocalTransport(halves))
    settings = contract.settings
    answers, _ = ask_tests(StoredTest(test, lambda _: None, lambda _done, _total: None), settings.alpha)
    plan = plan_of(settings, answers.names, contract.datasets, digits=PUBLISHED_DIGITS)
    return assess(AskedSites(test), plan, answers, (), settings.bootstrap, lambda _: None, leave_one_out=True)


@pytest.mark.slow
def test_a_study_servers_replicates_are_those_of_one_program(store: Store, pool: Pool) -> None:
    contract, participants = begun(store, **ASKED)
    run(runner_of(store, pool), contract, RunLinks(participants))
    assert state_of(store, contract) == (State.FINISHED, "")
    found = cs.Discovery.from_dict(json.loads(store.runs.document(contract.study, "result.json") or b"")).stability
    wanted = in_process(contract)
    assert found is not None
    assert (found.asked, found.done, found.rounds) == (5, 5, wanted.rounds)
    assert found.edges["share"].to_list() == pytest.approx(wanted.edges["share"].to_list())
    assert found.consensus == wanted.consensus
    for name in ("p_low", "p_median", "p_high", "significant"):
        assert found.tests[name].to_list() == pytest.approx(wanted.tests[name].to_list(), rel=1e-5)
    assert found.sites is not None
    assert wanted.sites is not None
    assert found.sites.sort("site")["influence"].to_list() == pytest.approx(wanted.sites.sort("site")["influence"].to_list(), rel=1e-3)


@pytest.mark.slow
def test_a_server_that_comes_back_asks_for_no_replicate_again(store: Store, pool: Pool) -> None:
    contract, participants = begun(store, **ASKED)
    runner = runner_of(store, pool)
    store.runs.clear_journal = lambda _study: None  # type: ignore[method-assign]
    run(runner, contract, RunLinks(participants))
    first = json.loads(store.runs.document(contract.study, "result.json") or b"")["stability"]
    store.database.write("update studies set state = 'running' where id = ?", (contract.study,))
    links = RunLinks([])
    run(runner, contract, links)
    assert links.asked == 0
    again = json.loads(store.runs.document(contract.study, "result.json") or b"")["stability"]
    assert {**again, "rounds": 0} == {**first, "rounds": 0}


def test_a_study_without_them_has_none(store: Store, pool: Pool) -> None:
    contract, participants = begun(store)
    run(runner_of(store, pool), contract, RunLinks(participants))
    assert json.loads(store.runs.document(contract.study, "result.json") or b"")["stability"] is None


def test_a_contract_says_what_is_asked_for_and_what_that_tells(store: Store) -> None:
    contract, _ = begun(store, **ASKED)
    text = "\n".join(contract.lines())
    assert "repeated in 5 resampled copies of each site's rows, in at most about twice as many rounds" in text
    assert "without each of the sites" in text
    assert "only the site knows (bootstrap=5)" in text
    assert "fewer than 30 rows at a site are not drawn" in text
    assert any("that site's part" in words for words in warnings_of(contract))
    plain, _ = begun(store)
    assert "resampled" not in "\n".join(plain.lines())
