"""The controller and the executors with FLARE's own bookkeeping of tasks between them, in this process; the network and the processes are
those of ``tests/system/test_nvflare.py``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nvflare.apis.client import Client
from nvflare.apis.event_type import EventType
from nvflare.apis.fl_constant import FLContextKey, ReturnCode
from nvflare.apis.fl_context import FLContext, FLContextManager
from nvflare.apis.impl.wf_comm_server import WFCommServer
from nvflare.apis.shareable import Shareable
from nvflare.apis.signal import Signal
from nvflare.apis.workspace import Workspace

from consilience.federation.transport import JournalEntry
from consilience.flare.controller import AGAIN, ENDED, StudyController
from consilience.flare.executor import SiteExecutor
from consilience.flare.journal import FileJournal
from consilience.flare.names import CONTRACT_FILE, MESSAGE, RESULT, TASK
from consilience.service.lock import lock_folder
from tests.flare.trial import SITES, Trial, make_kit

JOB = "00000000-0000-0000-0000-000000000000"


class Engine:
    """What a controller or an executor asks of FLARE's engine; events are only written down."""

    def __init__(self, kit: Path, name: str, clients: tuple[str, ...] = (), meta: dict[str, Any] | None = None) -> None:
        self.workspace = Workspace(str(kit), name)
        self.clients = [Client(client, client) for client in clients]
        self.manager = FLContextManager(self, name, JOB, private_stickers={FLContextKey.JOB_META: meta or {}})
        self.reasons: list[str] = []

    def get_workspace(self) -> Workspace:
        return self.workspace

    def get_clients(self) -> list[Client]:
        return self.clients

    def new_context(self) -> FLContext:
        return self.manager.new_context()

    def fire_event(self, event_type: str, fl_ctx: FLContext) -> None:
        if event_type == EventType.FATAL_SYSTEM_ERROR:
            self.reasons.append(str(fl_ctx.get_prop(FLContextKey.EVENT_DATA)))


class Job:
    """A job of a trial: its server's app, one executor for each site, and a thread in which the sites ask for work in turn."""

    def __init__(self, trial: Trial, clients: tuple[str, ...] = SITES) -> None:
        kit = trial.folder / "server"
        if not kit.exists():
            make_kit(kit, "server")
        self.engine = Engine(kit, "server", clients, json.loads((trial.folder / "job" / "meta.json").read_text()))
        config = Path(self.engine.workspace.get_app_config_dir(JOB))
        config.mkdir(parents=True, exist_ok=True)
        (config / CONTRACT_FILE).write_bytes(trial.contract.encoded())
        self.sites = {name: (SiteExecutor(), Engine(trial.folder / name, name)) for name in SITES}
        self.controller, self.communicator, self.abort = StudyController(), WFCommServer(), Signal()
        self.controller.set_communicator(self.communicator)
        self.asked = 0
        self.before: Callable[[str], None] = lambda _name: None
        """Called before a site is given a task."""

    def run(self) -> dict[str, Any]:
        """To its end; how it ended."""
        over = threading.Event()
        sites = threading.Thread(target=self._work, args=(over,))
        with self.engine.new_context() as context:
            self.communicator.initialize_run(context)
            sites.start()
            try:
                self.controller.control_flow(self.abort, context)
            finally:
                over.set()
                sites.join()
                self.communicator.finalize_run(context)
                for executor, engine in self.sites.values():
                    executor.handle_event(EventType.END_RUN, engine.new_context())
        found: dict[str, Any] = json.loads((self.documents / "outcome.json").read_text())
        return found

    @property
    def documents(self) -> Path:
        return Path(self.engine.workspace.get_run_dir(JOB)) / "consilience"

    def _work(self, over: threading.Event) -> None:
        while not over.wait(0.002):
            for client in self.engine.clients:
                self._one(client)

    def _one(self, client: Client) -> None:
        with self.engine.new_context() as context:
            self.before(client.name)
            if client.name not in self.sites:
                return
            name, task, data = self.communicator.process_task_request(client, context)
            if name:
                self.asked += 1
                executor, engine = self.sites[client.name]
                reply = executor.execute(name, data, engine.new_context(), Signal())
                self.communicator.process_submission(client, name, task, reply, context)


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    found = Trial.at(tmp_path, max_given=0).agree()
    yield found
    found.restart()


def journal_of(trial: Trial) -> Path:
    return trial.folder / "server" / "consilience" / "studies" / trial.contract.digest.hex()[:32] / "journal"


def sums(trial: Trial) -> tuple[JournalEntry, ...]:
    journal = FileJournal(journal_of(trial))
    journal.close()
    return tuple(journal.entries())


def test_a_job_leaves_documents_with_the_server_and_at_every_site(trial: Trial) -> None:
    job = Job(trial)
    outcome = job.run()
    assert (outcome["state"], outcome["recalled"], sorted(outcome["consents"])) == ("finished", 0, sorted(SITES))
    result = (job.documents / "result.json").read_bytes()
    assert {path.name for path in job.documents.iterdir()} == {"result.json", "tests.csv", "report.html", "outcome.json"}
    for site in SITES:
        assert (trial.folder / site / "consilience" / "studies" / trial.contract.study / "result.json").read_bytes() == result
    assert not journal_of(trial).exists()
    assert job.engine.reasons == []


def test_a_job_that_is_aborted_says_so_and_the_next_goes_on_from_its_sums(trial: Trial) -> None:
    first = Job(trial)

    def abort(_site: str) -> None:
        if journal_of(trial).exists() and journal_of(trial).stat().st_size > 0:
            first.abort.trigger(True)
            first.sites.clear()

    sites = dict(first.sites)
    first.before = abort
    outcome = first.run()
    for executor, engine in sites.values():
        executor.handle_event(EventType.END_RUN, engine.new_context())
    assert outcome == {"state": "failed", "message": f"RunInterruptedError: {ENDED} {AGAIN}"}
    assert first.engine.reasons == [outcome["message"]]
    kept = len(sums(trial))
    assert kept >= 1
    second = Job(trial).run()
    assert (second["state"], second["recalled"]) == ("finished", kept)


def test_a_site_that_flare_takes_for_dead_is_named(trial: Trial) -> None:
    job = Job(trial)

    def die(_site: str) -> None:
        if journal_of(trial).exists() and journal_of(trial).stat().st_size > 0 and "mainz" in job.sites:
            job.sites.pop("mainz")[0].handle_event(EventType.END_RUN, job.engine.new_context())
            job.communicator._dead_client_grace = 0.0  # a setting of the job, read from its files where FLARE reads them
            job.communicator.process_dead_client_report("mainz", job.engine.new_context())

    job.before = die
    message = job.run()["message"]
    assert "'mainz' does not answer any more" in message
    assert message.endswith(AGAIN)


def test_a_site_that_is_not_in_the_job_is_named(trial: Trial) -> None:
    message = Job(trial, SITES[1:]).run()["message"]
    assert message == f"ClientGoneError: 'mainz' does not answer any more. {AGAIN}"


def test_a_site_that_does_not_agree_is_named_and_has_sent_nothing(trial: Trial) -> None:
    (trial.folder / "mainz" / "local" / "consilience.toml").write_text('data = "../../mainz.parquet"\n')
    assert Job(trial).run()["message"].startswith("DeclinedError: 'mainz' does not take part: The site's owner does not agree")
    assert [line.numbers for line in trial.ledger("mainz")] == [0]


def test_two_jobs_of_one_contract_do_not_share_a_journal(trial: Trial) -> None:
    job = Job(trial)
    with lock_folder(journal_of(trial).parent):
        assert "Another process works with" in job.run()["message"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("other", {MESSAGE: b""}), (TASK, {}), (TASK, {MESSAGE: "text"}), (TASK, {MESSAGE: b"", RESULT: "text"}), (TASK, {MESSAGE: b"\xc1"})],
)
def test_what_is_no_task_of_ours_is_not_answered(trial: Trial, name: str, content: dict[str, Any]) -> None:
    reply = SiteExecutor().execute(name, Shareable(content), Engine(trial.folder / "mainz", "mainz").new_context(), Signal())
    assert reply.get_return_code() == ReturnCode.EXECUTION_EXCEPTION
    assert MESSAGE not in reply
