"""A whole study over tasks, in this process: the result of a server with the same clients, and what a journal saves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import consilience as cs
from consilience.federation.errors import TooFewClientsError
from consilience.federation.transport import Journalled, ListJournal, RemoteTransport
from consilience.federation.transport.remote import Lost
from consilience.flare.journal import FileJournal
from consilience.flare.leading import Leading
from consilience.flare.links import TaskLinks
from consilience.service.result_files import plain, published
from consilience.service.stored_test import StoredTest
from consilience.service.worker.messages import Found
from tests.flare.trial import SITES, Trial, frames


def lead(trial: Trial, journal: Any) -> Found:
    links = TaskLinks(trial, trial.contract, trial.said.append)
    transport = Journalled(RemoteTransport(links, trial.contract.fingerprints, trial.contract.schema), journal)
    return Leading(trial.contract, transport, trial.said.append).find()


def told(found: Found) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(dict(found.documents)["result.json"])
    return result


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    found = Trial.at(tmp_path, max_given=1).agree()
    yield found
    found.restart()


def test_it_is_the_result_of_a_server_with_the_same_clients(trial: Trial) -> None:
    server = cs.Server([cs.Client(name, frame) for name, frame in frames().items()], schema=trial.contract.schema, min_cell=5)
    wanted = cs.discover(StoredTest(server, lambda _results: None, lambda _done, _total: None), max_given=1)
    result = told(lead(trial, ListJournal()))
    assert result["tests"] == json.loads(json.dumps(plain(published(wanted.tests).to_dicts())))
    assert result["pags"] == json.loads(json.dumps(plain(wanted.to_dict()["pags"])))
    assert result["study"] == {**result["study"], "sites": list(SITES), "rounds": server.rounds}


@pytest.mark.slow
def test_a_job_that_was_cut_off_asks_only_what_is_missing(trial: Trial, tmp_path: Path) -> None:
    """A site is lost in every fourth message; the journal is a file, and every job has new processes. The last ends as if undisturbed."""
    undisturbed = told(lead(trial, ListJournal()))
    rounds, jobs, send = undisturbed["study"]["rounds"], 0, trial.send
    answered = {name: len(trial.ledger(name)) for name in SITES}
    left = [0]

    def losing(names: Any, data: bytes, seconds: float) -> Any:
        left[0] -= 1
        if left[0] == 0:
            trial.gone.add("marburg")
        return dict.fromkeys(names, Lost("its process has ended")) if trial.gone else send(names, data, seconds)

    trial.send = losing  # type: ignore[method-assign]
    journal = FileJournal(tmp_path / "journal")
    while True:
        trial.restart()
        trial.gone.clear()
        jobs, left[0] = jobs + 1, 7  # consent, keys, keys, four rounds: the fourth is lost
        try:
            found = told(lead(trial, journal))
            break
        except TooFewClientsError:
            journal.close()
            journal = FileJournal(tmp_path / "journal")
    assert jobs > 2
    for part in ("pags", "local_pags", "tests", "candidates"):
        assert found.get(part) == undisturbed.get(part)
    assert found["study"]["rounds"] == rounds
    # each sum was made once; what a site states of itself is stated once in each run
    again = [line for line in trial.ledger("mainz")[answered["mainz"] :] if line.numbers]
    assert len(again) == rounds
    journal.delete()
    assert not (tmp_path / "journal").exists()


@pytest.mark.slow
def test_replicates_and_effects_are_asked_for_too(tmp_path: Path) -> None:
    trial = Trial.at(tmp_path, max_given=1, bootstrap=3, leave_one_out=True, effects=["A -> B"]).agree()
    result = told(lead(trial, ListJournal()))
    trial.restart()
    assert result["stability"] is not None
    assert result["effects"]
