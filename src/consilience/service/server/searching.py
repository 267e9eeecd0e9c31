"""The queue of searches for graphs: each is done by a worker process, so many at a time; the others wait for their turn.

A search takes a whole processor for seconds or hours, and as much memory as it finds. In a process of its own it holds up nobody else's
rounds, can be bounded, and is over at once when somebody ends it. The queue itself is in the store
(:class:`~consilience.service.store.searches.Searches`): what is here is made again from it when the server starts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from consilience.service.errors import RunInterruptedError, SearchError
from consilience.service.worker.limits import Limits, cores
from consilience.service.worker.messages import Found, Order, Problem, Redecided, Stage, Told, Wanted
from consilience.service.worker.pool import Pool
from consilience.service.worker.process import WorkerProcess

__all__ = ["Searching", "waiting_words"]

KEPT = "The tests are kept, and graphs can be sought again."


def waiting_words(before: int) -> str:
    """What is said of a search that waits.

    >>> waiting_words(2), waiting_words(0)
    ('waiting for a worker: 2 before it', 'waiting for a worker: it is the next')
    """
    return f"waiting for a worker: {f'{before:,} before it' if before else 'it is the next'}"


class Searching:
    """Searches of studies, ``workers`` at a time (0: as many as there are processors but one). Called from any thread.

    ``moved`` is told (study, how many are before it) when a search must wait, and when that number has halved.
    """

    def __init__(
        self, workers: int, limits: Limits, moved: Callable[[str, int], None] = lambda _study, _before: None, pool: Pool | None = None
    ) -> None:
        self.workers = workers or max(1, cores() - 1)
        self._limits, self._moved = limits, moved
        self._pool = pool or Pool()
        self._threads = ThreadPoolExecutor(self.workers, thread_name_prefix="search")
        self._lock = Lock()
        self._waiting: dict[str, int | None] = {}  # in their order, with the number that was last told
        self._at_work: dict[str, WorkerProcess | None] = {}
        self._closed = False

    def warm(self) -> None:
        """A study begins: when its tests are made, a worker is there."""
        self._pool.warm()

    def put(self, study: str, search: Callable[[], None]) -> None:
        """Call ``search`` in a thread of its own when it is this study's turn; it looks for graphs with :meth:`find`."""
        with self._lock:
            if self._closed:
                return
            self._waiting[study] = None
            self._threads.submit(self._turn, study, search)
        self._tell()

    def _turn(self, study: str, search: Callable[[], None]) -> None:
        with self._lock:
            if self._closed or study not in self._waiting:
                return
            del self._waiting[study]
            self._at_work[study] = None
        self._tell()
        try:
            search()
        finally:
            with self._lock:
                self._at_work.pop(study, None)

    def _tell(self) -> None:
        """Tell those who wait how many are before them: when they come, and each time that these are half as many, which is seldom."""
        with self._lock:
            free = self.workers - len(self._at_work)
            news = []
            for before, (study, said) in enumerate(self._waiting.items()):
                if before >= free and (said is None or 2 * (before - free) <= said != before - free):
                    self._waiting[study] = before - free
                    news.append((study, before - free))
        for study, before in news:
            self._moved(study, before)

    def before(self, study: str) -> int | None:
        """How many searches come before that of a study; None if it does not wait."""
        with self._lock:
            if study not in self._waiting:
                return None
            place = list(self._waiting).index(study)
            return max(0, place - max(0, self.workers - len(self._at_work)))

    @property
    def waiting(self) -> int:
        """Searches that wait for their turn."""
        return len(self._waiting)

    @property
    def under_way(self) -> int:
        """Searches that have it."""
        return len(self._at_work)

    def has(self, study: str) -> bool:
        """True while a study's graphs are sought, or wait to be."""
        with self._lock:
            return study in self._waiting or study in self._at_work

    def find(self, study: str, order: Order, say: Callable[[str], None], check: Callable[[], None]) -> Found | Wanted | Problem:
        """Have a worker look for the graphs of a study.

        ``say`` is told what is done, and may raise; ``check`` says by raising that nobody wants them any more.

        Raises
        ------
        SearchError
            It took more memory or time than there is for one, or its process ended by itself.
        """
        told = self._asked(order, say, check, lambda worker: self._note(study, worker))
        assert not isinstance(told, Redecided)
        return told

    def _note(self, study: str, worker: WorkerProcess) -> None:
        with self._lock:
            if study in self._at_work:
                self._at_work[study] = worker

    def decide_again(self, order: Order) -> Redecided | Problem:
        """Have a worker decide a result again while somebody waits: not in the queue, whose searches may take hours."""
        told = self._asked(order, lambda _: None, lambda: None, lambda _: None)
        assert isinstance(told, Redecided | Problem)
        return told

    def _asked(
        self, order: Order, say: Callable[[str], None], check: Callable[[], None], note: Callable[[WorkerProcess], None]
    ) -> Found | Redecided | Wanted | Problem:
        try:
            worker = self._pool.take()
        except OSError as error:  # the machine has no room for another
            raise SearchError(f"No process could be started for the search: {error.strerror}. {KEPT}") from None
        note(worker)
        begun, tired = time.monotonic(), True

        def look() -> None:
            check()
            broken = self._limits.broken(time.monotonic() - begun, worker.size)
            if broken:
                raise SearchError(f"The search for graphs {broken}, and was ended. {KEPT}")

        try:
            worker.order(order)
            for told in worker.told(look):
                if isinstance(told, Stage):
                    say(told.words)
                    continue
                tired = _tired(told)
                return told
            check()  # whoever ended it has said why
            if self._closed:
                raise RunInterruptedError("The server stops.")
            raise SearchError(f"The process that looked for graphs ended by itself ({_how(worker.ended())}). {KEPT}")
        finally:
            self._pool.give(worker, tired=tired)

    def end(self, study: str) -> bool:
        """Nobody wants the graphs of a study any more: end its process, or take it out of the queue. True if it was there."""
        with self._lock:
            waited = study in self._waiting
            self._waiting.pop(study, None)
            worker = self._at_work.get(study)
        if worker is not None:
            worker.kill()
        self._tell()
        return waited

    def close(self) -> None:
        """The server stops: end all processes. What was sought is sought again when it is back."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
        self._pool.close()
        self._threads.shutdown(wait=True, cancel_futures=True)


def _tired(told: Told) -> bool:
    """Whether the process of an answer is not to be used again."""
    return isinstance(told, Problem) or (isinstance(told, Found | Redecided | Wanted) and told.tired)


def _how(code: int) -> str:
    """How a process ended, in words.

    >>> _how(-9), _how(1)
    ('by signal 9, as when the machine has no memory left', 'with exit code 1')
    """
    if code == -9:
        return "by signal 9, as when the machine has no memory left"
    return f"by signal {-code}" if code < 0 else f"with exit code {code}"
