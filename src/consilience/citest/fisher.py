"""Fisher's method as an exchange: every site tests on its own rows, and -2 log p is summed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from consilience.citest.batch import Exchange
from consilience.citest.combine import fisher
from consilience.citest.interface import Progress
from consilience.citest.question import Question
from consilience.citest.requests import LOCAL_FIELDS, LocalTests, Survey
from consilience.citest.result import CIResult
from consilience.citest.study import Study

__all__ = ["fisher_batch"]


def fisher_batch(questions: Sequence[Question], study: Study, progress: Progress | None = None) -> Exchange:
    """Two rounds: who could contribute how many rows, then the sums of -2 log p where that is allowed."""
    new = tuple(dict.fromkeys(q.variables for q in questions if q.variables not in study.counts))
    if new:
        counts = np.rint((yield Survey(new))).astype(np.int64).reshape(-1, 2)
        study.counts |= {variables: (int(sites), int(rows)) for variables, (sites, rows) in zip(new, counts, strict=True)}
    limits = study.options.disclosure
    reasons = {q: limits.refusal(*study.counts[q.variables]) if study.rows(q.variables) else "no site has rows for it" for q in questions}
    asked = tuple(q for q in dict.fromkeys(questions) if not reasons[q])
    sums: dict[Question, list[float]] = {}
    if asked:
        total = yield LocalTests(asked, study.options.ordinal, study.options.ridge)
        sums = dict(zip(asked, total.reshape(-1, LOCAL_FIELDS).tolist(), strict=True))
    results = [_result(q, reasons[q], sums.get(q, [0.0, 0.0, 0.0])) for q in questions]
    study.finished |= dict(zip(questions, results, strict=True))
    if progress is not None:
        progress(len(questions), len(questions))
    return results


def _result(question: Question, reason: str, sums: Sequence[float]) -> CIResult:
    contributors, n, statistic = round(sums[0]), round(sums[1]), sums[2]
    return CIResult(
        question.x,
        question.y,
        question.given,
        fisher(statistic, contributors),
        n,
        contributors,
        rounds=2,
        informative=contributors > 0,
        reason="" if contributors else reason or "no site can test this on its own rows",
        converged=True,
        directions=(),
    )
