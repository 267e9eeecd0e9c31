"""A study on FLARE's network, with FLARE's real processes, as ``docs/nvflare.md`` has it: a server and three sites over mutual TLS."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import consilience as cs
from consilience.flare.controller import AGAIN, ENDED
from consilience.flare.names import SERVER_APP
from consilience.service.result_files import plain, published
from consilience.service.stored_test import StoredTest
from consilience.settings.studyfile import read_study
from consilience.sheets import frame_csv
from tests.system.flare import PAGE, SITES, Federation, federated
from tests.system.processes import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def federation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Federation]:
    with federated(tmp_path_factory.mktemp("flare")) as found:
        yield found


@pytest.fixture(scope="module")
def wanted(federation: Federation) -> tuple[dict[str, Any], str, int]:
    """The result, its table of tests and the rounds of the same study in this process, with a network's rule on rare levels."""
    trial = federation.folder / "trial"
    study = read_study(trial / "study.toml")
    clients = [cs.Client(name, trial / f"site{k}.csv") for k, name in enumerate(SITES, 1)]
    server = cs.Server(clients, schema=study.schema, min_cell=5)
    found = cs.discover(StoredTest(server, lambda _results: None, lambda _done, _total: None))
    table = published(found.tests)
    return json.loads(json.dumps(plain({**found.to_dict(), "tests": table.to_dicts()}))), frame_csv(table), server.rounds


def assert_same(told: dict[str, Any], wanted: dict[str, Any]) -> None:
    for part in ("pags", "local_pags", "tests", "candidates", "summary", "conflicts", "overruled", "headline"):
        assert told.get(part) == wanted.get(part), part


@pytest.fixture(scope="module")
def documents(federation: Federation) -> Path:
    """What the page's own job has left."""
    return federation.fetch(federation.submit())


def test_the_page_line_by_line_gives_the_in_process_result(
    federation: Federation, documents: Path, wanted: tuple[dict[str, Any], str, int]
) -> None:
    result, table, rounds = wanted
    outcome = json.loads((documents / "outcome.json").read_text())
    assert (outcome["state"], outcome["rounds"], outcome["recalled"]) == ("finished", rounds, 0), outcome
    assert_same(json.loads((documents / "result.json").read_text()), result)
    assert (documents / "tests.csv").read_text() == table
    assert (documents / "report.html").read_text().startswith("<!doctype html>")
    assert set(outcome["consents"]) == set(SITES)
    for site in SITES:
        home = federation.home(site)
        assert_same(json.loads((home / "result.json").read_text()), result)
        assert json.loads((home / "local-pag.json").read_text()) in result["local_pags"]
        lines = federation.ledger(site)
        assert len(lines) == rounds + 1  # and what the site states of itself
        # what FLARE's server got is masked with two others, and that is all it got
        assert [line["masked_with"] for line in lines if line["numbers"]] == [2] * rounds
    assert not federation.journal().exists()


ATTACK = '''
"""What somebody who has FLARE's server may run there: the sites' own protocol, and then a question outside the contract."""

import json
from pathlib import Path

from nvflare.apis.impl.controller import Controller

from consilience.citest.question import Question
from consilience.errors import ConsilienceError
from consilience.federation.transport import RemoteTransport
from consilience.flare.controller import TaskPost
from consilience.flare.controller import AGAIN, ENDED
from consilience.flare.job import read_contract
from consilience.flare.links import TaskLinks
from consilience.glm.layout import Ordinal
from consilience.protocol.local_tests import LocalTests


class Attack(Controller):
    def start_controller(self, fl_ctx):
        pass

    def stop_controller(self, fl_ctx):
        pass

    def process_result_of_unknown_task(self, client, task_name, client_task_id, result, fl_ctx):
        pass

    def control_flow(self, abort_signal, fl_ctx):
        workspace, job = fl_ctx.get_workspace(), fl_ctx.get_job_id()
        contract = read_contract(Path(workspace.get_app_config_dir(job)) / "contract.msgpack")
        links = TaskLinks(TaskPost(self, fl_ctx, abort_signal), contract, lambda words: None)
        transport = RemoteTransport(links, contract.fingerprints, contract.schema)
        try:
            told = str(transport.ask(LocalTests((Question("B", "C"),), Ordinal.PROPORTIONAL, count=True), []))
        except ConsilienceError as error:
            told = f"{type(error).__name__}: {error}"
        folder = Path(workspace.get_run_dir(job)) / "consilience"
        folder.mkdir()
        (folder / "outcome.json").write_text(json.dumps({"told": told, "agreed": sorted(links.consents)}))
'''


def attacking(federation: Federation, name: str) -> Path:
    """A copy of the job whose server runs code of somebody else's."""
    folder = federation.folder / name
    shutil.copytree(federation.folder / "job", folder)
    code = folder / SERVER_APP / "custom"
    code.mkdir()
    (code / "attack.py").write_text(ATTACK)
    file = folder / SERVER_APP / "config" / "config_fed_server.json"
    config = json.loads(file.read_text())
    config["workflows"][0]["path"] = "attack.Attack"
    file.write_text(json.dumps(config))
    return folder


@pytest.mark.usefixtures("documents")
def test_a_job_that_asks_outside_the_contract_is_refused_by_every_site_and_in_its_ledger(federation: Federation) -> None:
    before = {site: len(federation.ledger(site)) for site in SITES}
    attacking(federation, "attack")
    outcome = federation.run("attack")
    assert outcome["agreed"] == sorted(SITES), "they agree to the contract, and to nothing else"
    assert outcome["told"].startswith("WrongTermsError: 'mainz' refuses:")
    for site in SITES:
        (refused,) = [line for line in federation.ledger(site)[before[site] :] if line["refused"]]
        assert "The study's method is fedci; got a request of another." in refused["refused"]
        assert refused["numbers"] == refused["bytes"] == 0


def slowed(federation: Federation) -> str:
    """The job with a slower pace, so that it is under way for seconds: FLARE's own knob."""
    folder = federation.folder / "slow"
    shutil.copytree(federation.folder / "job", folder)
    file = folder / SERVER_APP / "config" / "config_fed_server.json"
    config = json.loads(file.read_text())
    config["server"]["task_request_interval"] = 0.15
    file.write_text(json.dumps(config))
    return folder.name


def answered(federation: Federation, site: str) -> int:
    return sum(1 for line in federation.ledger(site) if line["numbers"])


@pytest.mark.usefixtures("documents")
def test_a_killed_site_and_a_killed_server_cost_the_round_that_was_under_way(
    federation: Federation, wanted: tuple[dict[str, Any], str, int]
) -> None:
    """The same job three times: a site's process is killed in the first, the server's in the second; the third ends undisturbed."""
    result, _, rounds = wanted
    slow, before = slowed(federation), answered(federation, "muenster")

    first = federation.submit(slow)
    until(lambda: len(federation.entries()) >= 3, 120)
    federation.kill("mainz", first)
    message = federation.outcome(first)["message"]
    assert message == f"RunInterruptedError: {ENDED} {AGAIN}"
    assert f"> {message}\n" in PAGE.read_text(), "the page has the same words"
    assert f"Failing job {first} due to reported failure from mainz" in (federation.kits / "server" / "log.txt").read_text()
    kept = len(federation.entries())
    assert 3 <= kept < rounds

    second = federation.submit(slow)
    until(lambda: len(federation.entries()) >= kept + 3, 120)
    federation.kill("server", second)
    federation.fetch(second)
    more = len(federation.entries())
    assert kept < more < rounds

    folder = federation.fetch(federation.submit(slow))
    outcome = json.loads((folder / "outcome.json").read_text())
    assert (outcome["state"], outcome["recalled"], outcome["rounds"]) == ("finished", more, rounds), outcome
    assert_same(json.loads((folder / "result.json").read_text()), result)
    again = answered(federation, "muenster") - before - rounds
    assert 0 <= again <= 2, "only a round that was under way when something was killed is answered a second time"
    assert not federation.journal().exists()
