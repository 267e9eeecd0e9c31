"""One run of the study: data, every method's answers, and the graphs that they lead to."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec
import numpy as np

from consilience.citest.question import Question
from consilience.graph import PAG, Oracle, normalised_shd
from consilience.iod import discover
from consilience.reproduction.design import ALPHA, Run, StudyGraph
from consilience.reproduction.tabled import TabledTest
from consilience.simulate.methods import ComparedMethod, run_methods
from consilience.simulate.sites import from_graph

__all__ = ["Record", "RunOutcome", "best_shd", "do_run", "find_pags", "reference_pags"]


class RunOutcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one method found in one run.

    ``log_p`` has an entry per question, None where the test could not be done; ``shd`` is None where no PAG agrees with all decisions.
    """

    log_p: tuple[float | None, ...]
    not_converged: int
    pags: int
    shd: float | None
    seconds: float


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The outcome of one run, as it is kept on disk."""

    graph: int
    n: int
    sites: int
    replication: int
    kinds: dict[str, str]
    found: dict[ComparedMethod, RunOutcome]
    seconds: float

    @property
    def run(self) -> Run:
        """The run that this is the record of."""
        return Run(self.replication, self.graph, self.n, self.sites)


def do_run(run: Run, graph: StudyGraph, methods: Sequence[ComparedMethod] = tuple(ComparedMethod)) -> Record:
    """Simulate, test, discover, compare.

    >>> from consilience.reproduction.design import study_graphs
    >>> record = do_run(Run(0, 0, 500, 4), study_graphs(1)[0], [ComparedMethod.FEDCI, ComparedMethod.POOLED])
    >>> record.found[ComparedMethod.FEDCI].shd == record.found[ComparedMethod.POOLED].shd
    True
    """
    start = time.process_time()
    made = from_graph(graph.pag, n=run.n, sites=run.sites, seed=run.seed, exclusive=graph.exclusive)
    questions = graph.questions
    reference = reference_pags(str(graph.pag), graph.exclusive)
    outcomes = run_methods(made.frames, made.schema, questions, methods)
    known: dict[object, tuple[PAG, ...]] = {}
    found = {}
    for method, outcome in outcomes.items():
        begun = time.process_time()
        key = _decisions(outcome.log_p)
        if key not in known:
            known[key] = find_pags(questions, outcome.log_p, graph.datasets)
        seconds = outcome.seconds + time.process_time() - begun
        log_p = tuple(None if math.isnan(value) else value for value in outcome.log_p)
        found[method] = RunOutcome(log_p, outcome.not_converged, len(known[key]), best_shd(known[key], reference), seconds)
    kinds = {name: variable.kind.value for name, variable in made.schema.items()}
    return Record(run.graph, run.n, run.sites, run.replication, kinds, found, time.process_time() - start)


def find_pags(questions: Sequence[Question], log_p: Sequence[float], datasets: Iterable[Iterable[str]]) -> tuple[PAG, ...]:
    """IOD on decisions that are there already; strict: contradictions leave no PAG."""
    p_values = {q: math.exp(value) for q, value in zip(questions, log_p, strict=True) if not math.isnan(value)}
    return discover(TabledTest(p_values, datasets), alpha=ALPHA, resolve="strict", time_limit=None).pags


def _decisions(log_p: Sequence[float]) -> object:
    """All that discovery depends on: which tests reject, which cannot be done, and how the others rank.

    Of several sets that separate a pair, the one with the largest p-value is kept; ranks are dense, so that ties stay ties.
    """
    logs = np.array(log_p)
    kept = logs > math.log(ALPHA)
    ranks = np.zeros(len(logs), dtype=np.int64)
    ranks[kept] = 1 + np.unique(logs[kept], return_inverse=True)[1]
    ranks[np.isnan(logs)] = -1
    return tuple(ranks.tolist())


@lru_cache(maxsize=256)
def reference_pags(pag: str, exclusive: tuple[str, str]) -> tuple[PAG, ...]:
    """The list that a perfect test would lead to, with the same overlap of variables."""
    graph = StudyGraph(PAG.parse(pag), exclusive)
    return discover(Oracle(graph.pag, graph.datasets), resolve="strict", time_limit=None).pags


def best_shd(found: Sequence[PAG], reference: Sequence[PAG]) -> float | None:
    """The least normalised distance between a PAG of one list and one of the other; None if a list is empty.

    >>> best_shd([PAG.parse("A o-> B, B <-o C")], [PAG.parse("A o-o B, B o-o C"), PAG.parse("A o-> B, C")])
    0.3333333333333333
    """
    if set(found) & set(reference):
        return 0.0
    return min((normalised_shd(one, other) for one in found for other in reference), default=None)
