"""The five methods of the study, on the tables of one simulation.

The federated ones run the same batches as :class:`consilience.Server`, over the same site workers, but without keys, masks and ledgers:
masking changes sums by less than 2⁻⁶⁰, and a study of thousands of runs must not pay for it. Tables are encoded once for all methods. What
comes out is equal to the server's (tested).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import polars as pl

from consilience.citest.batch import Exchange, batch, drive
from consilience.citest.combine import chi2_log_sf, log_symmetric
from consilience.citest.fisher import fisher_batch
from consilience.citest.pooled import Pooled
from consilience.citest.question import Question
from consilience.citest.requests import LocalTests, Request
from consilience.citest.result import CIResult
from consilience.citest.site import SiteWorker
from consilience.citest.study import Disclosure, Options, Study
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.glm.kernel import Floats
from consilience.glm.layout import SiteEffects

__all__ = ["ComparedMethod", "Outcome", "run_methods"]


class ComparedMethod(StrEnum):
    """What is compared: fedCI with the default site effects, as printed, and its coordinate variant; Fisher's method; all rows together."""

    FEDCI = "fedci"
    JOINT = "joint"
    COORDINATE = "coordinate"
    FISHER = "fisher"
    POOLED = "pooled"

    @property
    def label(self) -> str:
        """The name in tables and figures."""
        return LABELS[self]

    @property
    def federated(self) -> bool:
        """True for the variants of fedCI."""
        return self in EFFECTS


LABELS = {
    ComparedMethod.FEDCI: "fedCI",
    ComparedMethod.JOINT: "fedCI (joint)",
    ComparedMethod.COORDINATE: "fedCI-CA",
    ComparedMethod.FISHER: "Fisher",
    ComparedMethod.POOLED: "Pooled",
}
EFFECTS = {
    ComparedMethod.FEDCI: SiteEffects.PROFILED,
    ComparedMethod.JOINT: SiteEffects.JOINT,
    ComparedMethod.COORDINATE: SiteEffects.COORDINATE,
}


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What one method said: log p per question (NaN where it could not answer), tests that did not converge, processor seconds."""

    log_p: tuple[float, ...]
    not_converged: int
    seconds: float


def run_methods(
    frames: Mapping[str, pl.DataFrame],
    schema: Schema,
    questions: Sequence[Question],
    methods: Sequence[ComparedMethod] = tuple(ComparedMethod),
) -> dict[ComparedMethod, Outcome]:
    """Every method's answers to ``questions``, on the frames of several sites.

    >>> from consilience.simulate.sites import from_graph
    >>> made = from_graph("A --> B, B --> C", n=300, sites=3, seed=1)
    >>> found = run_methods(made.frames, made.schema, [Question("A", "C"), Question("A", "C", ("B",))])
    >>> [abs(found[ComparedMethod.FEDCI].log_p[i] - found[ComparedMethod.POOLED].log_p[i]) < 1e-6 for i in (0, 1)]
    [True, True]
    """
    tables = {name: Table(frame, schema, name) for name, frame in frames.items()}
    outcomes = {}
    for method in methods:
        start = time.process_time()
        if method is ComparedMethod.POOLED:
            results = Pooled(dict(frames), schema).answer(questions)
            log_p, not_converged = [_log_p(result) for result in results], _failures(results)
        else:
            log_p, not_converged = _federated(method, list(tables.values()), schema, questions)
        outcomes[method] = Outcome(tuple(log_p), not_converged, time.process_time() - start)
    return outcomes


def _federated(method: ComparedMethod, tables: list[Table], schema: Schema, questions: Sequence[Question]) -> tuple[list[float], int]:
    options = Options(EFFECTS.get(method, SiteEffects.PROFILED), n_sites=len(tables), disclosure=Disclosure())
    study = Study(schema, options)
    if method is ComparedMethod.FISHER:
        return _fisher(fisher_batch(questions, study), _summed(tables))
    results = drive(batch(questions, study), _summed(tables))
    return [_log_p(result) for result in results], _failures(results)


def _summed(tables: Sequence[Table]) -> Callable[[Request], Floats]:
    """A round: every site's answer, added up."""
    workers = [SiteWorker(table) for table in tables]

    def ask(request: Request) -> Floats:
        total: Floats = np.sum([worker.answer(request, site) for site, worker in enumerate(workers)], axis=0)
        return total

    return ask


def _fisher(exchange: Exchange, ask: Callable[[Request], Floats]) -> tuple[list[float], int]:
    """Fisher's method, with log p from the sums of -2 log p that pass by: p itself may be too small for a float."""
    sums: dict[Question, float] = {}

    def listen(request: Request) -> Floats:
        total = ask(request)
        if isinstance(request, LocalTests) and not request.count:
            sums.update(zip(request.questions, total.tolist(), strict=True))
        return total

    results = drive(exchange, listen)
    logs = []
    for result in results:
        statistic = sums.get(Question(result.x, result.y, result.given))
        logs.append(math.nan if statistic is None else chi2_log_sf(statistic, 2 * result.contributors))
    return logs, _failures(results)


def _log_p(result: CIResult) -> float:
    logs = [chi2_log_sf(d.statistic, d.df) for d in result.directions if d.informative]
    if not logs:
        return math.nan
    return logs[0] if len(logs) == 1 else log_symmetric(logs[0], logs[1])


def _failures(results: Sequence[CIResult]) -> int:
    return sum(not result.converged for result in results)
