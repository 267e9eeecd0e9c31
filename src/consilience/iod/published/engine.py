"""``engine="iod"``: the published algorithm, from local graphs to the list of PAGs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

from consilience.graph.marksets import MarkSets
from consilience.iod.clock import TimeIsUp
from consilience.iod.local import Local
from consilience.iod.published.candidates import Pause, close, orientations, skeletons
from consilience.iod.published.union import Variant, removable_edges, unite
from consilience.iod.validate import is_solution
from consilience.parallel import Jobs, on_cluster

__all__ = ["Solutions", "enumerate_pags"]

CHUNK = 32
"""Skeletons per task of a process: enough that it works longer than it takes to hand it the task, and few enough that all have some."""
PAUSE = 0.1
"""Seconds between two reports: soon enough for a time limit and for a person who cancels."""

Report = Callable[[int, int], bool]
Key = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Solutions:
    """The valid PAGs as matrices of marks, how many graphs were looked at before validation, and whether the search came to its end."""

    pags: tuple[MarkSets, ...]
    candidates: int
    complete: bool = True


def enumerate_pags(
    n: int, locals_: Sequence[Local], variant: Variant, jobs: Jobs, report: Report, seconds: float | None = None
) -> Solutions:
    """All PAGs over n nodes that agree with every data set. ``report`` is told (candidates, solutions) as they grow; False ends it.

    With several ``jobs``, ``seconds`` is how long each process may work at most: they cannot be asked in between.
    """
    union = unite(n, locals_, variant)
    removable = removable_edges(union, locals_)
    seen = Seen()
    complete = True

    def look() -> None:
        if not report(len(seen.candidates), len(seen.solutions)):
            raise TimeIsUp

    pause = _now_and_then(look)
    every = skeletons(union, removable, locals_, pause)
    problem = Problem(locals_, (1 << n) - 1)
    try:
        if jobs == 1:
            for skeleton in every:
                seen.look_at(skeleton, problem, pause)
        else:
            _in_processes(seen, every, problem, jobs, look, seconds)
        report(len(seen.candidates), len(seen.solutions))
    except TimeIsUp:
        complete = False
    found = seen.solutions
    return Solutions(tuple(found[key] for key in sorted(found)), len(seen.candidates), complete)


def _now_and_then(look: Pause) -> Pause:
    """A pause that looks at most once in a while, and at once the first time."""
    last = float("-inf")

    def pause() -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= PAUSE:
            last = now
            look()

    return pause


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What candidates have to agree with."""

    locals_: Sequence[Local]
    everything: int


@dataclass(slots=True, eq=False)
class Seen:
    """Candidates that were looked at, and those of them that are solutions."""

    candidates: set[Key] = field(default_factory=set)
    solutions: dict[Key, MarkSets] = field(default_factory=dict)

    def look_at(self, skeleton: MarkSets, problem: Problem, pause: Pause) -> None:
        """Look at the candidates that a skeleton leads to."""
        begun: set[Key] = set()  # different sets of triples may make the same arrowheads
        for oriented in orientations(skeleton, problem.locals_, pause):
            if _key(oriented) in begun:
                continue
            begun.add(_key(oriented))
            for candidate in close(oriented, pause):
                key = _key(candidate)
                if key in self.candidates:
                    continue
                self.candidates.add(key)
                if is_solution(candidate, problem.locals_, problem.everything):
                    self.solutions[key] = candidate

    def add(self, other: Seen) -> None:
        """What another process has seen."""
        self.candidates |= other.candidates
        self.solutions |= other.solutions


def _key(marks: MarkSets) -> Key:
    """What tells two graphs over the same nodes apart."""
    return (*marks.circle, *marks.arrow, *marks.tail)


@contextmanager
def _processes(jobs: int) -> Iterator[tuple[Executor, int]]:
    """Processes of this machine, none of which is left, whatever happens."""
    from joblib.externals.loky import ProcessPoolExecutor  # noqa: PLC0415  only where several processes are asked for

    pool = ProcessPoolExecutor(jobs)
    try:
        yield pool, jobs
    finally:
        pool.shutdown(wait=True, kill_workers=True)


def _in_processes(seen: Seen, every: Iterator[MarkSets], problem: Problem, jobs: Jobs, look: Pause, seconds: float | None) -> None:
    """The same in several processes, here or on a cluster, each of which takes some skeletons at a time."""
    end = None if seconds is None else time.monotonic() + seconds
    waiting: set[Future[tuple[Seen, bool]]] = set()
    in_time = True
    with on_cluster(jobs) if isinstance(jobs, str) else _processes(jobs) as (pool, width):
        while True:
            while len(waiting) < 2 * width and (task := list(islice(every, CHUNK))):
                left = None if end is None else max(0.0, end - time.monotonic())
                waiting.add(pool.submit(_part, task, problem, left))
            if not waiting:
                break
            done, waiting = wait(waiting, PAUSE, FIRST_COMPLETED)
            for one in done:
                part, whole = one.result()
                seen.add(part)
                in_time &= whole
            look()
    if not in_time:
        raise TimeIsUp


def _part(task: Sequence[MarkSets], problem: Problem, seconds: float | None) -> tuple[Seen, bool]:
    """What some skeletons lead to, and whether there was time for all of it."""
    seen, end = Seen(), None if seconds is None else time.monotonic() + seconds

    def look() -> None:
        if end is not None and time.monotonic() >= end:
            raise TimeIsUp

    pause = _now_and_then(look)
    try:
        for skeleton in task:
            seen.look_at(skeleton, problem, pause)
    except TimeIsUp:
        return seen, False
    return seen, True
