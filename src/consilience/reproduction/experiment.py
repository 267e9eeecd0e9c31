"""The whole study: runs that are not on disk yet, over several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from consilience.parallel import Jobs, check_jobs, spread
from consilience.reproduction.design import ALPHA, SEED, Run, study_graphs
from consilience.reproduction.record_folder import RecordFolder, claim_folder, code_digest
from consilience.reproduction.runs import Record, do_run
from consilience.reproduction.sizes import SIZES, Plan, Size
from consilience.reproduction.variants import VariantCase, case_key, do_case
from consilience.settings import LOCAL

__all__ = ["Experiment", "Results"]

Progress = Callable[[int, int], None]
"""Told (done, all) whenever a run is finished; an exception that it raises stops the study, which can be continued."""


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """All that a study has found: its plan, a record per run, and the cases of appendix D."""

    plan: Plan
    records: tuple[Record, ...]
    cases: tuple[VariantCase, ...]


class Experiment:
    """A study of one size, with its results in ``folder``.

    :meth:`run` computes what is missing; it can be interrupted, killed and repeated. Results of other code are refused.
    """

    def __init__(self, folder: Path, size: Size | Plan = Size.DEFAULT) -> None:
        self.plan = size if isinstance(size, Plan) else SIZES[size]
        self.folder = folder
        self._records: RecordFolder[Record] = RecordFolder(folder / "runs", Record)
        self._cases: RecordFolder[VariantCase] = RecordFolder(folder / "variants", VariantCase)

    def run(self, jobs: Jobs = LOCAL.jobs, progress: Progress | None = None) -> Results:
        """Compute what is missing over ``jobs`` processes, or on the cluster of a Dask scheduler; all results."""
        check_jobs(jobs)
        claim_folder(self.folder, {"alpha": ALPHA, "code": code_digest(), "seed": SEED})
        tell = progress or (lambda _done, _all: None)
        todo = [run for run in self.plan.runs() if self._records.read(run.key) is None]
        cases = [number for number in range(self.plan.cases) if self._cases.read(case_key(number)) is None]
        total = len(self.plan.runs()) + self.plan.cases
        done = total - len(todo) - len(cases)
        tell(done, total)
        for _ in self._work(todo, cases, jobs):
            done += 1
            tell(done, total)
        return self.results()

    def _work(self, todo: list[Run], cases: list[int], jobs: Jobs) -> Iterator[None]:
        """Runs first, then cases; what comes back is written here, since a worker may have another disk."""
        tasks = [*((run, self.plan.graphs) for run in todo), *((number, self.plan.cases) for number in cases)]
        for place, found in spread(_do, tasks, jobs):
            if isinstance(found, Record):
                self._records.write(todo[place].key, found)
            else:
                self._cases.write(case_key(cases[place - len(todo)]), found)
            yield

    def results(self) -> Results:
        """What is on disk, in the order of the plan."""
        records = (self._records.read(run.key) for run in self.plan.runs())
        cases = (self._cases.read(case_key(number)) for number in range(self.plan.cases))
        return Results(self.plan, tuple(r for r in records if r is not None), tuple(c for c in cases if c is not None))


def _do(task: Run | int, of: int) -> Record | VariantCase:
    """A run of so many graphs, or a case of so many."""
    return do_case(task, of) if isinstance(task, int) else do_run(task, study_graphs(of)[task.graph])
