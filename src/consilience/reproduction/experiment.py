"""The whole study: runs that are not on disk yet, over several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from joblib import Parallel, delayed

from consilience.options import check_number
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

    def run(self, jobs: int = LOCAL.jobs, progress: Progress | None = None) -> Results:
        """Compute what is missing over ``jobs`` processes; all results."""
        check_number("jobs", jobs, least=1)
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

    def _work(self, todo: list[Run], cases: list[int], jobs: int) -> Iterator[None]:
        if jobs == 1:
            for run in todo:
                _keep_run(run, self.plan.graphs, self._records)
                yield
            for number in cases:
                _keep_case(number, self.plan.cases, self._cases)
                yield
            return
        tasks = [delayed(_keep_run)(run, self.plan.graphs, self._records) for run in todo]
        tasks += [delayed(_keep_case)(number, self.plan.cases, self._cases) for number in cases]
        yield from Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(tasks)

    def results(self) -> Results:
        """What is on disk, in the order of the plan."""
        records = (self._records.read(run.key) for run in self.plan.runs())
        cases = (self._cases.read(case_key(number)) for number in range(self.plan.cases))
        return Results(self.plan, tuple(r for r in records if r is not None), tuple(c for c in cases if c is not None))


def _keep_run(run: Run, graphs: int, records: RecordFolder[Record]) -> None:
    records.write(run.key, do_run(run, study_graphs(graphs)[run.graph]))


def _keep_case(number: int, cases: int, records: RecordFolder[VariantCase]) -> None:
    records.write(case_key(number), do_case(number, cases))
