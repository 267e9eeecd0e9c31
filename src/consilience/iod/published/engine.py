"""``engine="iod"``: the published algorithm, from local graphs to the list of PAGs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from consilience.graph.marksets import MarkSets
from consilience.iod.local import Local
from consilience.iod.published.candidates import close, orientations, skeletons
from consilience.iod.published.union import Variant, removable_edges, unite
from consilience.iod.validate import is_solution

__all__ = ["Solutions", "enumerate_pags"]

CHUNK = 32
"""Skeletons per task: enough that a process works longer than it takes to hand it the task, and few enough that time limits are kept and
progress is told, both of which happen between tasks."""

Report = Callable[[int, int], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Solutions:
    """The valid PAGs as matrices of marks, how many graphs were looked at before validation, and whether the search came to its end."""

    pags: tuple[MarkSets, ...]
    candidates: int
    complete: bool = True


def enumerate_pags(n: int, locals_: Sequence[Local], variant: Variant, jobs: int, report: Report) -> Solutions:
    """All PAGs over n nodes that agree with every data set. ``report`` is told (candidates, solutions) as they grow; False ends it."""
    union = unite(n, locals_, variant)
    removable = removable_edges(union, locals_)
    everything = (1 << n) - 1
    tasks = _chunks(skeletons(union, removable, locals_))
    seen: set[Key] = set()
    found: dict[Key, MarkSets] = {}
    for candidates, solutions in _run(tasks, locals_, everything, jobs):
        seen |= candidates
        found |= solutions
        if not report(len(seen), len(found)):
            return Solutions(tuple(found[key] for key in sorted(found)), len(seen), complete=False)
    return Solutions(tuple(found[key] for key in sorted(found)), len(seen))


def _chunks(graphs: Iterator[MarkSets]) -> Iterator[list[MarkSets]]:
    while part := list(islice(graphs, CHUNK)):
        yield part


Key = tuple[int, ...]
Part = tuple[set[Key], dict[Key, MarkSets]]


def _key(marks: MarkSets) -> Key:
    """What tells two graphs over the same nodes apart."""
    return (*marks.circle, *marks.arrow, *marks.tail)


def _run(tasks: Iterable[list[MarkSets]], locals_: Sequence[Local], everything: int, jobs: int) -> Iterator[Part]:
    if jobs == 1:
        for task in tasks:
            yield _solve(task, locals_, everything)
        return
    from joblib import Parallel, delayed  # noqa: PLC0415  only where several processes are asked for

    yield from Parallel(n_jobs=jobs, return_as="generator")(delayed(_solve)(task, locals_, everything) for task in tasks)


def _solve(graphs: Sequence[MarkSets], locals_: Sequence[Local], everything: int) -> Part:
    """The candidates that some skeletons lead to, and those of them that are solutions."""
    seen: set[Key] = set()
    found: dict[Key, MarkSets] = {}
    for skeleton in graphs:
        begun: set[Key] = set()  # different sets of triples may make the same arrowheads
        for oriented in orientations(skeleton, locals_):
            if _key(oriented) in begun:
                continue
            begun.add(_key(oriented))
            for candidate in close(oriented):
                key = _key(candidate)
                if key in seen:
                    continue
                seen.add(key)
                if is_solution(candidate, locals_, everything):
                    found[key] = candidate
    return seen, found
