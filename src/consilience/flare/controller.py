"""A study as FLARE's controller: it proposes the contract, asks the tests, looks for graphs, and leaves the documents with the job."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

from nvflare.apis.client import Client
from nvflare.apis.controller_spec import ClientTask, Task
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.impl.controller import Controller
from nvflare.apis.shareable import Shareable
from nvflare.apis.signal import Signal

from consilience.errors import ConsilienceError
from consilience.federation.errors import ClientGoneError, TooFewClientsError
from consilience.federation.transport import Journalled, Lost, RemoteTransport
from consilience.flare.job import read_contract
from consilience.flare.journal import FileJournal
from consilience.flare.kit import server_home
from consilience.flare.leading import Leading
from consilience.flare.links import Post, TaskLinks
from consilience.flare.names import CONTRACT_FILE, MESSAGE, OUTCOME_FILE, RESULT, RESULT_FOLDER, TASK, TASK_CHECK_PERIOD
from consilience.protocol.framing import encode
from consilience.protocol.handshake import Closing
from consilience.service.contract import Contract
from consilience.service.errors import RunInterruptedError
from consilience.service.lock import lock_folder
from consilience.service.worker.messages import Found
from consilience.wording import printable

__all__ = ["StudyController", "TaskPost"]

LOOK_SECONDS = 0.1
"""Between two looks at whether the job was aborted or a site is dead, while answers are waited for."""
CLOSING_SECONDS = 30.0
"""For sites to take the result: the study is finished without that, and who missed it finds it with the job."""
ENDED = "FLARE has ended the job: somebody has aborted it, or the process of a site has ended. The log of FLARE's server says whose."
"""FLARE tells a job that it ends, and not why. It ends all sites' processes at once, so that who has not answered says nothing."""
AGAIN = "Submit the same job again when all sites are there: sums that are finished are not asked again."


class TaskPost(Post):
    """Bytes as tasks of a controller, within one run of it. Answers wake whoever waits; FLARE's own polling is not waited for."""

    def __init__(self, controller: Controller, fl_ctx: FLContext, abort: Signal) -> None:
        self._controller, self._context, self._abort = controller, fl_ctx, abort

    def send(self, names: Sequence[str], data: bytes, seconds: float, result: bytes = b"") -> dict[str, bytes | Lost]:
        """Broadcast a task, and wait for all answers, for a death, for the end of the job, or until time is up."""
        told: dict[str, bytes | Lost] = {}
        done = Event()

        def received(client_task: ClientTask, fl_ctx: FLContext) -> None:
            del fl_ctx
            told[client_task.client.name] = _answer_of(client_task.result)
            client_task.result = None
            if len(told) == len(names):
                done.set()

        content = {MESSAGE: data, RESULT: result} if result else {MESSAGE: data}
        task = Task(TASK, Shareable(content), result_received_cb=received)
        self._controller.broadcast(task, self._context, targets=list(names), min_responses=len(names))
        end = monotonic() + seconds
        while not done.wait(min(LOOK_SECONDS, max(0.0, end - monotonic()))):
            dead = [name for name in names if name not in told and self.is_gone(name)]
            if dead or monotonic() >= end:
                break
            if self._abort.triggered:
                raise RunInterruptedError(ENDED)
        if not done.is_set():  # whatever comes now belongs to a task that is over, and is dropped
            self._controller.cancel_task(task, fl_ctx=self._context)
        missing = {name: Lost("its process has ended" if self.is_gone(name) else "no answer in time") for name in names if name not in told}
        return {**told, **missing}

    def is_gone(self, name: str) -> bool:
        """Whether FLARE takes a site for dead, or never had it in this job."""
        present = {client.name for client in self._context.get_engine().get_clients()}
        return name not in present or self._controller.get_client_disconnect_time(name) is not None


def _answer_of(result: Any) -> bytes | Lost:
    code = result.get_return_code()
    data = result.get(MESSAGE)
    if code != ReturnCode.OK or not isinstance(data, bytes):
        return Lost(f"it could not answer ({code}); its own log says why")
    return data


class StudyController(Controller):  # type: ignore[misc]  # FLARE has no types
    """The study of the contract that comes with the job. It takes no argument: where journals are kept, the server's own settings say."""

    def __init__(self) -> None:
        super().__init__(task_check_period=TASK_CHECK_PERIOD)

    def start_controller(self, fl_ctx: FLContext) -> None:
        """Nothing is begun before the job's flow is."""

    def stop_controller(self, fl_ctx: FLContext) -> None:
        """Nothing is left that would have to be stopped."""

    def process_result_of_unknown_task(
        self, client: Client, task_name: str, client_task_id: str, result: Shareable, fl_ctx: FLContext
    ) -> None:
        """An answer that came too late belongs to a round that is lost: it is dropped."""

    def control_flow(self, abort_signal: Signal, fl_ctx: FLContext) -> None:
        """The whole study. What ends it is in ``outcome.json`` beside the documents, and in the reason with which the job ends."""
        workspace, job = fl_ctx.get_workspace(), fl_ctx.get_job_id()
        folder = Path(workspace.get_result_root(job)) / RESULT_FOLDER
        post = TaskPost(self, fl_ctx, abort_signal)

        def say(words: str) -> None:
            self.log_info(fl_ctx, printable(words))

        try:
            contract = read_contract(Path(workspace.get_app_config_dir(job)) / CONTRACT_FILE)
            kept = server_home(Path(workspace.get_site_config_dir())) / "studies" / contract.digest.hex()[:32]
            with lock_folder(kept):
                self._lead(contract, kept, folder, post, say)
        except ConsilienceError as error:
            again = isinstance(error, ClientGoneError | TooFewClientsError | RunInterruptedError)
            words = f"{type(error).__name__}: {error}{f' {AGAIN}' if again else ''}"
            _write(folder, [(OUTCOME_FILE, _json({"state": "failed", "message": words}))])
            self.system_panic(printable(words), fl_ctx)

    def _lead(self, contract: Contract, kept: Path, folder: Path, post: TaskPost, say: Callable[[str], None]) -> None:
        """Ask and search, over the journal in ``kept``; the documents go to ``folder``, and to the sites."""
        journal = FileJournal(kept / "journal")
        try:
            links = TaskLinks(post, contract, say)
            remote = RemoteTransport(links, contract.fingerprints, contract.schema)
            links.gather(remote.names)
            transport = Journalled(remote, journal)
            before = len(tuple(journal.entries()))
            say(f"all sites agree; {before} sums are there from an earlier job")
            found = Leading(contract, transport, say).find()
            outcome = {
                "state": "finished",
                "message": found.headline,
                "study": contract.study,
                "contract": contract.digest.hex(),
                "rounds": transport.rounds,
                "recalled": before,
                "consents": {name: signature.hex() for name, signature in links.consents.items()},
            }
            _write(folder, [*found.documents, (OUTCOME_FILE, _json(outcome))])
            self._close(remote.names, found, post, say)
            journal.delete()
        finally:
            journal.close()

    def _close(self, names: Sequence[str], found: Found, post: TaskPost, say: Callable[[str], None]) -> None:
        """Give every site the result. It is finished, whoever is gone by now."""
        result = dict(found.documents)["result.json"]
        told: dict[str, bytes | Lost] = {}
        with suppress(RunInterruptedError):
            told = post.send(names, encode(Closing("finished", found.headline)), CLOSING_SECONDS, result)
        for name in names:
            if not isinstance(told.get(name), bytes):
                say(f"{name!r} has not taken the result; it is with the job")


def _json(told: dict[str, Any]) -> bytes:
    return json.dumps(told, indent=1, ensure_ascii=False).encode()


def _write(folder: Path, documents: list[tuple[str, bytes]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in documents:
        (folder / name).write_bytes(content)
