"""Fisher's method as an exchange: every site tests on its own rows, and -2 log p is summed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from consilience.citest.batch import Exchange
from consilience.citest.combine import fisher
from consilience.citest.interface import Progress
from consilience.citest.question import Question
from consilience.citest.requests import LocalTests, Survey
from consilience.citest.result import CIResult
from consilience.citest.study import Study
from consilience.glm.kernel import Floats

__all__ = ["fisher_batch"]


def fisher_batch(questions: Sequence[Question], study: Study, progress: Progress | None = None) -> Exchange:
    """Three rounds: who has the rows, who can test on them, then the sums of -2 log p where that is allowed.

    A site may have the rows and still not be able to test, so that a sum would have fewer terms than rows suggest.
    """
    new = tuple(dict.fromkeys(q.variables for q in questions if q.variables not in study.counts))
    if new:
        counts = _pairs((yield Survey(new)))
        study.counts |= dict(zip(new, counts, strict=True))
    study.runs += 1
    limits, options = study.options.disclosure, study.options
    reasons = {q: limits.refusal(*study.counts[q.variables]) if study.rows(q.variables) else "no site has rows for it" for q in questions}
    able: dict[Question, tuple[int, int]] = {}
    asked = tuple(q for q in reasons if not reasons[q])
    if asked:
        total = yield LocalTests(asked, options.ordinal, options.ridge, count=True, run=study.runs)
        able = dict(zip(asked, _pairs(total), strict=True))
        reasons |= {q: limits.refusal(*able[q]) if able[q][0] else "no site can test this on its own rows" for q in asked}
    asked = tuple(q for q in asked if not reasons[q])
    sums: dict[Question, float] = {}
    if asked:
        total = yield LocalTests(asked, options.ordinal, options.ridge, run=study.runs)
        sums = dict(zip(asked, total.tolist(), strict=True))
    results = [_result(q, reasons[q], able.get(q, (0, 0)), sums.get(q)) for q in questions]
    study.finished |= dict(zip(questions, results, strict=True))
    if progress is not None:
        progress(len(questions), len(questions))
    return results


def _pairs(total: Floats) -> list[tuple[int, int]]:
    return [(int(sites), int(rows)) for sites, rows in np.rint(total).astype(np.int64).reshape(-1, 2)]


def _result(question: Question, reason: str, able: tuple[int, int], statistic: float | None) -> CIResult:
    contributors, n = able
    return CIResult(
        question.x,
        question.y,
        question.given,
        1.0 if statistic is None else fisher(statistic, contributors),
        n,
        contributors,
        rounds=3,
        informative=statistic is not None,
        reason=reason,
        converged=True,
        directions=(),
    )
