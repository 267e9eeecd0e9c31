"""Fisher's method as an exchange: every site tests on its own rows, and -2 log p is summed."""

from __future__ import annotations

from collections.abc import Sequence

from consilience.citest.combine import fisher
from consilience.citest.interface import Progress
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.citest.rounding import ToldP
from consilience.federation.exchange.batch import Exchange
from consilience.federation.exchange.sums import Sums
from consilience.protocol.local_tests import LocalTests
from consilience.protocol.survey import Survey

__all__ = ["fisher_batch"]


def fisher_batch(questions: Sequence[Question], sums: Sums, progress: Progress | None = None) -> Exchange:
    """Three rounds: who has the rows, who can test on them, then the sums of -2 log p where that is allowed.

    A site may have the rows and still not be able to test, so that a sum would have fewer terms than rows suggest.
    """
    limits, options, schema = sums.options.disclosure, sums.options, sums.schema
    reasons = {q: sums.withheld(q.variables) for q in questions}
    new = tuple(dict.fromkeys(q.variables for q in questions if q.variables not in sums.counts and not reasons[q]))
    if new:
        survey = Survey(new)
        sums.counts |= survey.read((yield survey), schema).counts
    sums.runs += 1
    open_ = [q for q in reasons if not reasons[q]]
    reasons |= {q: limits.refusal(*sums.counts[q.variables]) if sums.rows(q.variables) else "no site has rows for it" for q in open_}
    able: dict[Question, tuple[int, int]] = {}
    asked = tuple(q for q in reasons if not reasons[q])
    if asked:
        count = LocalTests(asked, options.ordinal, options.ridge, count=True, run=sums.runs, small_sample=options.small_sample)
        able = {q: (int(sites), int(rows)) for q, (sites, rows) in count.read((yield count), schema).items()}
        reasons |= {q: limits.refusal(*able[q]) if able[q][0] else "no site can test this on its own rows" for q in asked}
    asked = tuple(q for q in asked if not reasons[q])
    if asked:
        tests = LocalTests(asked, options.ordinal, options.ridge, run=sums.runs, small_sample=options.small_sample)
        sums.combined |= {q: statistic for q, (statistic,) in tests.read((yield tests), schema).items()}
    allowed = set(asked)
    results = [
        _result(q, reasons[q], able.get(q, (0, 0)), sums.combined[q] if q in allowed else None, rounded=limits.rounds_alone)
        for q in questions
    ]
    sums.finished |= dict(zip(questions, results, strict=True))
    if progress is not None:
        progress(len(questions), len(questions))
    return results


def _result(question: Question, reason: str, able: tuple[int, int], statistic: float | None, *, rounded: bool) -> CIResult:
    contributors, n = able
    p = 1.0 if statistic is None else fisher(statistic, contributors)
    if rounded and contributors == 1 and statistic is not None:  # the one site's own, as it told it: not a hair beside it
        p = ToldP.of(-0.5 * statistic).p_value
    return CIResult(
        question.x,
        question.y,
        question.given,
        p,
        n,
        contributors,
        rounds=3,
        informative=statistic is not None,
        reason=reason,
        converged=True,
        directions=(),
    )
