"""Runs of studies. Each is a thread that asks, waits and writes down; then a worker process looks for graphs. After a crash it goes on.

Everything a run rests on is in the store: the contract, the journal of sums, the results. So beginning and going on are the same: ask the
tests from their start, and let the journal answer what it knows (:mod:`consilience.federation.transport.journal`). When all are made, the
store says so, and from there on nobody need be asked: a search that was cut off begins again from the results.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from msgspec import Struct, structs

from consilience.citest.effect import Estimate
from consilience.citest.interface import CITest, Progress
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.citest.rounding import PUBLISHED_DIGITS
from consilience.errors import ConsilienceError
from consilience.federation.errors import ClientGoneError, TooFewClientsError
from consilience.federation.federated import FederatedTest
from consilience.federation.transport import Heard, Journal, JournalEntry, Journalled, RemoteTransport
from consilience.iod.discover import MOST_TESTS, ask_tests
from consilience.protocol.framing import encode
from consilience.protocol.handshake import Closing, Proposal
from consilience.service.contract import Contract
from consilience.service.errors import LifeCycleError, RunCancelledError, RunInterruptedError, TestsMissingError
from consilience.service.memory import Housekeeping
from consilience.service.replicating import replicated
from consilience.service.server.awaiting import MOVES, WaitingRoom
from consilience.service.server.hub import Hub, SocketLinks
from consilience.service.server.metrics import Metrics
from consilience.service.server.pace import Pace
from consilience.service.server.searching import Searching, waiting_words
from consilience.service.settings import Batching
from consilience.service.store import State, Store
from consilience.service.stored_test import StoredTest
from consilience.service.tests_done import TestsDone
from consilience.service.withdrawal import mark_documents
from consilience.service.worker.limits import Limits
from consilience.service.worker.messages import Complete, Found, Problem, Search, Wanted
from consilience.service.worker.pool import Pool

__all__ = ["Bell", "Runner", "StoredTest", "Unasked"]

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds between attempts while the database does not answer, doubled each time: a backup is over in seconds, a full disk takes somebody
who makes room, and is noticed a minute after that at the latest."""
LAST_LOOK = 1.0
"""Seconds that a run waits for sites whose time to consent is over. It is begun all the same, since a run finds out who is missing and says
so, as at any later time; a consent that comes in this second still counts."""
STAGE_SECONDS = 1.0
"""Between events of one kind of stage: people read them, and each is a commit to disk."""
KEEPING_SECONDS = 3.0
"""After the end of a run, before its memory is given back: pages and sites hear of the end first."""
LIMITS = Limits(seconds=10800.0, memory=2048)
Next = Callable[[], None]
"""What follows a step of a run: it is called when the step is over, and has somebody else go on."""
CLOSING_SECONDS = 2.0
"""For runs to end when the server stops. One that computes for longer is left where it is: all that it rests on is on disk."""
T = TypeVar("T")
_log = logging.getLogger("consilience.server")


class _FailedError(Exception):
    """A step failed, for a reason that is in words already."""


class Bell:
    """Wakes those who follow a study's events, after an event is on disk. May be rung from any thread."""

    # It carries no event: who wakes reads the store from where it stopped. So a ring may be missed or come twice, and nothing is lost.

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: dict[str, set[asyncio.Event]] = {}

    def bind(self, loop: asyncio.AbstractEventLoop) -> None:
        """The loop in which listeners wait."""
        self._loop = loop

    def ring(self, study: str) -> None:
        """Something happened."""
        # asyncio's events belong to their loop's thread; call_soon_threadsafe is the one door from others
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, study)

    def _wake(self, study: str) -> None:
        for event in self._waiting.get(study, ()):
            event.set()

    async def wait(self, study: str, seconds: float) -> None:
        """Return when the bell rings, or after ``seconds``."""
        event = asyncio.Event()
        self._waiting.setdefault(study, set()).add(event)
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            pass
        finally:
            self._waiting[study].discard(event)
            if not self._waiting[study]:
                del self._waiting[study]


class StoreJournal(Journal):
    """The journal of one study in the store; ``told`` is called when an entry is on disk.

    What is heard from sites goes to disk with the round that it belongs to: a commit of its own would cost every round another sync.
    """

    def __init__(self, store: Store, study: str, told: Callable[[JournalEntry], None]) -> None:
        self._store, self._study, self._told = store, study, told
        self._heard: list[Heard] = []

    def entries(self) -> Iterable[JournalEntry]:
        """All entries, oldest first."""
        return self._store.runs.journal(self._study)

    def append(self, entry: JournalEntry) -> None:
        """On disk, then announced."""
        self._store.runs.append(self._study, entry, self._heard)
        self._heard = []
        self._told(entry)

    def hear(self, heard: Heard) -> None:
        """What came from a site, to be written down."""
        self._heard.append(heard)

    def flush(self) -> None:
        """Write down what was heard in a round that came to nothing."""
        self._store.runs.hear(self._study, self._heard)
        self._heard = []


class Unasked(CITest):
    """A CI test that nobody answers: of a study that is made of tests that are there, as far as these suffice."""

    def __init__(self, variables: Sequence[str], datasets: Sequence[frozenset[str]]) -> None:
        self.variables, self.datasets = tuple(variables), tuple(datasets)

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Say that these tests were not made."""
        del progress
        raise TestsMissingError(
            f"This needs tests that were not made, {questions[0]} among them, so it is a copy of the study now: invite its sites, and they "
            f"are asked for consent anew."
        )


@dataclass(frozen=True, slots=True)
class Asking:
    """What asks the sites of one study, as far as it has come; ``before`` is what was asked before it, in this study or another."""

    test: StoredTest
    federated: FederatedTest
    transport: Journalled
    journal: StoreJournal
    begun: float
    before: TestsDone
    replicates: tuple[bytes, ...] = ()
    replicate_rounds: int = 0

    def done(self) -> TestsDone:
        """All tests are made that were asked for."""
        federated, transport, before = self.federated, self.transport, self.before
        return TestsDone(
            sites=federated.participants or before.sites,
            rounds=federated.rounds,
            bytes=federated.bytes,
            messages=transport.sums + before.messages,
            numbers=transport.numbers + before.numbers,
            withheld=self.test.withheld(),
            seconds=time.monotonic() - self.begun,
            origin=before.origin,
            replicates=self.replicates,
            replicate_rounds=self.replicate_rounds,
        )


class Runner:
    """The runs of a server: at most ``at_once`` at a time, the others wait for their turn. ``propose`` signs contracts.

    Graphs are sought by ``workers`` processes, within ``limits``; whose tests are made waits for one, and holds up no other run.
    """

    def __init__(
        self,
        store: Store,
        hub: Hub,
        bell: Bell,
        metrics: Metrics,
        at_once: int,
        propose: Callable[[Contract], Proposal] = lambda contract: Proposal(contract.encoded()),
        *,
        workers: int = 0,
        limits: Limits = LIMITS,
        pool: Pool | None = None,
    ) -> None:
        self._store, self._hub, self._bell, self._metrics, self._propose = store, hub, bell, metrics, propose
        self.room = WaitingRoom(store, hub)
        # A thread per run, and not tasks of the event loop: a run is the same blocking program as in process, it computes for seconds at a
        # time, and the loop must answer heartbeats meanwhile. Graphs are sought in other processes: what looks for them holds Python's lock
        # for long, and cannot be ended in the middle.
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="run")
        self._leading: set[threading.Thread] = set()
        self._links: dict[str, SocketLinks] = {}
        self._asked: dict[str, Pace] = {}
        self._asking: dict[str, Asking] = {}
        self._summoned: set[str] = set()
        self.searching = Searching(workers, limits, self._moved, pool)
        self._keeping = Housekeeping(KEEPING_SECONDS)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing = threading.Event()

    def bind(self, loop: asyncio.AbstractEventLoop) -> None:
        """The loop that holds the connections; then go on with every study that was running."""
        self._loop = loop
        running = [study.id for study in self._store.studies.in_state(State.RUNNING)]
        queued = [study for study in self._store.searches.queued() if study in running]  # first, in the order that they had
        for study in dict.fromkeys((*queued, *running)):
            self.event(study, "resumed")
            self.begin(study)

    def close(self) -> None:
        """The server stops: end the threads; their studies go on when it is back."""
        # no state is changed: "running" in the store is what makes the next start go on
        self._closing.set()
        for links in list(self._links.values()):
            links.interrupt(RunInterruptedError("The server stops."))
        self.searching.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        end = time.monotonic() + CLOSING_SECONDS
        for thread in list(self._leading):
            thread.join(max(0.0, end - time.monotonic()))
        self._keeping.close()

    @property
    def computing(self) -> bool:
        """True if a run is still under way, also after :meth:`close` has stopped waiting for it."""
        return bool(self._leading)

    @property
    def active(self) -> int:
        """Runs under way, or waiting for their turn."""
        return len(self._links)

    def asked(self, study: str) -> Pace | None:
        """The tests that a run has asked for together, and has not all got: how many they are, how many are done, and how fast."""
        return self._asked.get(study)

    def event(self, study: str, kind: str, **body: Any) -> None:
        """Write down, then tell."""
        # in this order: who is woken finds the event
        self._store.runs.add_event(study, kind, body)
        self._bell.ring(study)
        _log.info(kind, extra={"study": study, **body})
        if kind in MOVES:
            self.look(study)

    def look(self, study: str) -> None:
        """Tell everybody whom a study waits for, if that has changed: its sites, and whoever follows its events. From any thread."""
        news = self.room.news(study)
        if news is not None:
            self.event(study, "waiting", words=news.said(), sites=news.sites, missing=[name for name, _ in news.missing])
            self.tell(study, news)

    def tell(self, study: str, message: Struct) -> None:
        """Send all sites of a study that are connected a message, from any thread."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._hub.tell(study, encode(message)), self._loop)

    def begin(self, study: str) -> None:
        """Run a study whose contract is in the store. From any thread."""
        assert self._loop is not None
        row = self._store.studies.get(study)
        if row is None or row.contract is None:  # cancelled and deleted since it was started
            return
        links = self._links[study] = SocketLinks(self._hub, self._loop, study, row.contract.settings.round_seconds, row.contract.digest)
        # Looked at once more, now that whoever cancels finds the run: one who came before has found none, and has changed the state.
        now = self._store.studies.get(study)
        if now is None or now.state is not State.RUNNING:
            self._forget(study, links)
            return
        consented = all(site.consented for site in self._store.studies.sites(study))
        # After a restart all sites have consented and only have to come back. Before, a study may wait for days for a person: it then holds
        # no thread, or as many unanswered proposals as there are threads would stop all other studies.
        self.searching.warm()
        if self._store.searches.get(study) is not None:  # nothing is left to ask the sites
            links.patience = row.contract.settings.return_seconds
            self._queue(row.contract, links)
        # A study that is run again is first tried with the tests that are there: perhaps no site is needed. Else its sites, which have
        # stopped, are waited for as long as for a consent, since it takes a person to start them.
        elif consented or self._store.runs.is_again(study):
            links.patience = row.contract.settings.return_seconds
            self._submit(row.contract, links)
        else:
            self._after_consent(row.contract, links)
        # last, so that an answer cannot come before somebody waits for it. Sites that are away get it when they connect.
        self.tell(study, self._propose(row.contract))
        self.look(study)

    def _submit(self, contract: Contract, links: SocketLinks) -> None:
        if self._closing.is_set():
            self._forget(contract.study, links)
        else:
            self._threads.submit(self._run, contract, links)

    def _after_consent(self, contract: Contract, links: SocketLinks) -> None:
        """A study takes its turn when all sites have consented. If that does not happen, the run finds out, and says so."""

        def done(waited: Future[None]) -> None:
            if not self._is_current(contract.study, links):  # another contract is asked about meanwhile
                return
            self._summoned.add(contract.study)
            in_time = not waited.cancelled() and waited.exception() is None
            links.patience = contract.settings.return_seconds if in_time else LAST_LOOK
            self._submit(contract, links)

        links.patience = contract.settings.consent_seconds
        links.when_ready([m.name for m in contract.members], done)

    def ask_anew(self, study: str) -> None:
        """Another contract is in the store, of a study that has not begun: what waits for consent to the old one ends. From any thread."""
        old = self._links.get(study)
        self.begin(study)  # before the old one ends, which looks whether it is still the one that counts
        if old is not None:
            old.interrupt(RunCancelledError("Another contract has taken the place of this one."))

    def _is_current(self, study: str, links: SocketLinks) -> bool:
        return self._links.get(study, links) is links

    def dismiss(self, study: str, site: str, why: str = "removed from the study by its owner") -> None:
        """End the connection of a site that takes part no more, from any thread."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._hub.cut(study, site, why), self._loop)

    def stop(self, study: str, error: ConsilienceError) -> None:
        """End a run with an error, from any thread."""
        links = self._links.get(study)
        if links is None:
            return
        links.interrupt(error)
        if self.searching.end(study):  # it waited for its turn, which does not come any more
            self._forget(study, links)

    def _run(self, contract: Contract, links: SocketLinks) -> None:
        """The tests of a study, in a thread of its own; its search then waits for a worker."""
        self._metrics.add("runs_started")
        self._lead(contract.study, links, lambda: self._ask(contract, links))

    def _queue(self, contract: Contract, links: SocketLinks, result: bytes = b"") -> None:
        self.searching.put(contract.study, lambda: self._lead(contract.study, links, lambda: self._search(contract, links, result)))

    def _lead(self, study: str, links: SocketLinks, step: Callable[[], Next | None]) -> None:
        """One step of a run, and what comes of it: the next step, elsewhere, or the end of the run."""
        after, thread = None, threading.current_thread()
        self._leading.add(thread)
        try:
            # Two patient steps and not one: a failure that cannot be written down is tried again as a failure, not by running once more.
            problem, after = self._patiently(study, lambda: self._attempt(study, step))
            if problem and self._is_current(study, links):
                self._patiently(study, lambda: self._fail(study, problem))
        except (RunInterruptedError, RunCancelledError) as error:
            _log.info("run ended", extra={"study": study, "reason": str(error)})
        except Exception:  # noqa: BLE001  the thread ends here: nobody else would say it
            _log.exception("a run ended without a word to its study", extra={"study": study})
        if after is not None and not self._closing.is_set():
            after()  # whoever ends the run in this moment has left word in its links, which the next step looks at first
        else:
            self._forget(study, links)
        self._leading.discard(thread)

    def _forget(self, study: str, links: SocketLinks) -> None:
        """A run is over, or never began. Another one of the same study may have begun meanwhile, which stays."""
        if self._links.get(study) is links:
            for known in (self._links, self._asked, self._asking):
                known.pop(study, None)
            self._summoned.discard(study)
        self._keeping.soon()

    def _attempt(self, study: str, step: Callable[[], Next | None]) -> tuple[str, Next | None]:
        """Take a step of a run: why it failed, or what comes next."""
        try:
            return "", step()
        except (RunInterruptedError, RunCancelledError, sqlite3.OperationalError):
            # none of them says anything about the study: it goes on after the restart, it is over already, or the disk is to blame
            raise
        except _FailedError as error:
            return str(error), None
        except ConsilienceError as error:
            return self._in_words(study, error), None
        except Exception:  # noqa: BLE001  a defect ends its own study, and no other
            _log.exception("a defect ended a run", extra={"study": study})
            return "A defect of the program ended the run; the server's log has the details.", None

    def _in_words(self, study: str, error: ConsilienceError) -> str:
        """Why a run has failed: who had not agreed, where it could not begin; and what a site said last that is gone."""
        sites = {site.name: site for site in self._store.studies.sites(study)}
        silent = [f"{name!r} ({site.declined or 'no answer'})" for name, site in sites.items() if not site.consented]
        if silent and isinstance(error, ClientGoneError | TooFewClientsError):
            return f"{type(error).__name__}: Not all sites have agreed in time: {', '.join(silent)} had not."
        gone = sites.get(error.client) if isinstance(error, ClientGoneError) else None
        last = f" It said last: {gone.declined}" if gone is not None and gone.declined else ""
        return f"{type(error).__name__}: {error}{last}"

    def _patiently(self, study: str, work: Callable[[], T]) -> T:
        """Do ``work`` until the database lets it: locked or full, it says nothing about the study, whose journal and state stay.

        So the work is done again from what is on disk, after longer and longer pauses, until the server stops.
        """
        pause = FIRST_PAUSE
        while True:
            try:
                return work()
            except sqlite3.OperationalError as error:
                self._metrics.add("storage_errors")
                _log.error("the database does not answer; trying again", extra={"study": study, "reason": str(error), "seconds": pause})
            if self._closing.wait(pause):
                raise RunInterruptedError("The server stops.")
            pause = min(2.0 * pause, LONGEST_PAUSE)

    def _ask(self, contract: Contract, links: SocketLinks, more: Sequence[Question] = (), result: bytes = b"") -> Next | None:
        """Make the tests of a study, and ``more`` that its search has asked for; what comes next is the search.

        Where there is a ``result``, and effects are all that it lacks, these are estimated; what comes next completes it.

        Where the tests that are there do not suffice, its sites are waited for; what has none becomes a draft.
        """
        study, settings = contract.study, contract.settings
        # taken out, and put back when all went well: after a failure what is in memory may be half of something, and the journal is whole
        asking, before = self._asking.pop(study, None), self._store.searches.get(study)
        estimates = () if before is None else before.estimates
        try:
            if asking is None:
                asking = self._begun(contract, links)
                answers, _ = ask_tests(asking.test, settings.alpha, settings.max_given, self._stage(study, links))
                if (settings.bootstrap or settings.leave_one_out) and not self._is_alone(contract):
                    # after the tests and in the study's journal: all of them again, if the server was gone meanwhile
                    kept, rounds = replicated(contract, asking.federated, answers, self._stage(study, links))
                    asking = replace(asking, replicates=kept, replicate_rounds=rounds)
            if result:
                estimates = (*estimates, *self._estimated(contract, links, asking, more))
            elif more:
                asking.test.answer(more)
        except TestsMissingError as error:
            self._store.searches.remove(study)
            if contract.members:
                return lambda: self._after_consent(contract, links)
            self._becomes_draft(study, str(error))
            return None
        finally:
            if asking is not None:
                asking.journal.flush()
        self._store.searches.put(study, structs.replace(asking.done(), estimates=estimates))
        if settings.effects or self._store.runs.count_results(study) <= MOST_TESTS:  # else nothing more is asked, and sums take memory
            self._asking[study] = asking
        return lambda: self._queue(contract, links, result)

    def _estimated(self, contract: Contract, links: SocketLinks, asking: Asking, questions: Sequence[Question]) -> list[Estimate]:
        """Estimates of effects, rounded as they are published."""
        if self._is_alone(contract):
            raise TestsMissingError(
                f"This needs estimates that nobody has asked for, that of the effect of {questions[0].x} on {questions[0].y} among them: "
                f"its sites are asked."
            )
        self._stage(contract.study, links)("estimating effects")
        exact = asking.federated.effects(questions, lambda _done, _total: links.check())
        return [estimate.rounded(PUBLISHED_DIGITS) for estimate in exact]

    def _begun(self, contract: Contract, links: SocketLinks) -> Asking:
        study, settings = contract.study, contract.settings

        def counted(entry: JournalEntry) -> None:
            self._metrics.add("rounds")
            self._metrics.add("bytes", entry.size)
            self._bell.ring(study)

        def begun(run: bytes, names: Sequence[str]) -> None:
            links.patience = settings.return_seconds
            self.event(study, "run", run=run.hex()[:8], sites=list(names))

        def ticked(done: int, total: int) -> None:
            links.check()
            self._asked[study] = Pace.after(self._asked.get(study), done, total, time.monotonic())

        def keep(results: Sequence[CIResult]) -> None:
            self._asked.pop(study, None)
            body = {"tests": len(results), "rounds": federated.rounds}
            self._store.runs.keep_withheld(study, test.withheld())
            if self._store.runs.add_results(study, results, body):
                self._bell.ring(study)

        # The journal wraps the network and not the test: it holds sums, which are all that came from outside. Whatever is computed from
        # them is computed again, to the same bits, and no format of half-finished fits has to be kept.
        journal = StoreJournal(self._store, study, counted)
        remote = RemoteTransport(links, contract.fingerprints, contract.schema, begun, journal.hear)
        transport = Journalled(remote, journal)
        federated = FederatedTest(contract.schema, contract.terms, map(frozenset, contract.datasets), transport)
        alone = self._is_alone(contract)
        inner = Unasked(federated.variables, federated.datasets) if alone else federated
        known, before = self._store.runs.reused(study)
        test = StoredTest(
            inner,
            keep,
            ticked,
            ahead=settings.batching is Batching.ALL and not alone,
            max_given=settings.max_given,
            known=known,
            withheld=before.withheld,
        )
        return Asking(test, federated, transport, journal, time.monotonic(), before)

    def _is_alone(self, contract: Contract) -> bool:
        """Whether nobody is to be asked: a study without sites, or one that is run again and has not waited for its sites yet."""
        return not contract.members or (contract.study not in self._summoned and self._store.runs.is_again(contract.study))

    def _becomes_draft(self, study: str, words: str) -> None:
        """What cannot be decided from the tests that are there is asked of sites, which have to agree first."""
        with self._store.database.writing():
            self._store.studies.to_draft(study, words)
            self._store.runs.add_event(study, "copied", {"words": words})
        self._bell.ring(study)

    def _search(self, contract: Contract, links: SocketLinks, result: bytes = b"") -> Next | None:
        """Have the graphs of a study found, from the tests that are stored; or a ``result`` completed that lacked effects."""
        study = contract.study
        links.check()
        done = self._store.searches.get(study)
        if done is None:  # cancelled in the same moment
            raise RunCancelledError("The study is over.")
        order: Search | Complete
        if result:
            order = Complete(contract.encoded(), result, done, asking=self._may_ask(study))
        else:
            order = Search(contract.encoded(), self._store.runs.encoded_results(study), done, asking=self._may_ask(study))
        found = self.searching.find(study, order, self._stage(study, links), links.check)
        if isinstance(found, Problem):
            if found.trace:
                _log.error("a defect ended a search", extra={"study": study, "reason": found.trace})
            raise _FailedError(found.words)
        if isinstance(found, Wanted):
            more, lacking = [Question(x, y, tuple(given)) for x, y, given in found.questions], found.result
            return lambda: self._submit_more(contract, links, more, lacking)
        self._patiently(study, lambda: self._finish(contract, found, done.rounds))
        return None

    def _may_ask(self, study: str) -> bool:
        """Whether a search may want more tests: of sites that take part, or to find out that what is there does not suffice."""
        return self._store.runs.has_journal(study) or self._store.runs.is_again(study)

    def _submit_more(self, contract: Contract, links: SocketLinks, more: Sequence[Question], result: bytes) -> None:
        """The search needs tests that nobody has made, or its ``result`` estimates: the sites are asked, then it goes on."""
        if not self._closing.is_set():
            self._threads.submit(self._lead, contract.study, links, lambda: self._ask(contract, links, more, result))

    def _finish(self, contract: Contract, found: Found, rounds: int) -> None:
        study = contract.study
        # One transaction: killed before it, the search is repeated from the store; after it, there is nothing left to do. The move also
        # checks that nobody has cancelled meanwhile, and takes the documents back if so.
        with self._store.database.writing():
            self._store.runs.put_documents(study, found.documents)
            self._store.studies.move(study, [State.RUNNING], State.FINISHED)
            self._store.runs.clear_journal(study)
            self._store.searches.remove(study)
            row = self._store.studies.get(study)
            if row is not None:
                mark_documents(self._store, row)
            self._store.runs.add_event(study, "finished", {"pags": found.graphs, "rounds": rounds, "headline": found.headline})
        self._metrics.add("runs_finished")
        self.say_over(study, State.FINISHED, f"{found.headline} {found.tests} tests in {rounds} rounds")

    def search_again(self, study: str) -> None:
        """Look once more for the graphs of a study that failed after all its tests were made. No site is asked."""
        with self._store.database.writing():
            if self._store.searches.get(study) is None:
                raise LifeCycleError("Graphs are sought again where all tests are made and there are no graphs; this study has none such.")
            self._store.studies.move(study, [State.FAILED], State.RUNNING)
            self._store.searches.requeue(study)
            self._store.runs.add_event(study, "searched")
        self.begin(study)
        self._bell.ring(study)

    def _moved(self, study: str, before: int) -> None:
        """A search waits for its turn, or has come nearer to it."""
        try:
            self.event(study, "stage", words=waiting_words(before))
        except (LifeCycleError, sqlite3.Error) as error:  # it is only news: the search itself is not held up by it
            _log.info("could not say that a search waits", extra={"study": study, "reason": str(error)})

    def _stage(self, study: str, links: SocketLinks) -> Callable[[str], None]:
        """Tell of stages, each kind once in ``STAGE_SECONDS`` at most."""
        last: dict[str, float] = {}

        def say(words: str) -> None:
            links.check()
            kind, now = words.partition(":")[0], time.monotonic()
            if now - last.get(kind, -STAGE_SECONDS) >= STAGE_SECONDS:
                last[kind] = now
                self.event(study, "stage", words=words)

        return say

    def _fail(self, study: str, message: str) -> None:
        try:
            with self._store.database.writing():
                self._store.studies.move(study, [State.RUNNING], State.FAILED, message)
                self._store.runs.clear_journal(study)
                self._store.runs.add_event(study, "failed", {"message": message})
        except LifeCycleError:  # cancelled in the same moment
            return
        self._metrics.add("runs_failed")
        self.say_over(study, State.FAILED, message)

    def cancel(self, study: str) -> None:
        """End a study before its time. What is finished is kept."""
        with self._store.database.writing():
            self._store.studies.move(study, [State.DRAFT, State.OPEN, State.RUNNING], State.CANCELLED, "cancelled by its owner")
            self._store.runs.clear_journal(study)
            self._store.searches.remove(study)
            self._store.runs.add_event(study, "cancelled")
        # after the commit: the run's thread finds the state changed, whichever of the two it notices first
        self.stop(study, RunCancelledError("The study's owner has cancelled it."))
        self.say_over(study, State.CANCELLED, "cancelled by its owner")

    def say_over(self, study: str, state: State, message: str) -> None:
        """Tell whoever follows the study, and its sites, that it is over."""
        self._bell.ring(study)
        _log.info(state.value, extra={"study": study, "reason": message})
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._hub.tell(study, encode(Closing(state.value, message))), self._loop)
