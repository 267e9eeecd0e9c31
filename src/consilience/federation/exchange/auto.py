"""Nested models where they hold, products of residuals where they do not: two exchanges, one after the other, over the same sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from consilience.citest.diagnostics import doubtful
from consilience.citest.interface import Progress
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.data.kinds import Kind
from consilience.data.schema import Schema
from consilience.federation.exchange.batch import Exchange, batch
from consilience.federation.exchange.residual import residual_batch
from consilience.federation.exchange.sums import Sums
from consilience.settings.choices import Method

__all__ = ["COUNTS_TELL", "auto_batch", "in_doubt", "instead"]

COUNTS_TELL = 2000
"""Rows from which on the check of variances sees it where counts scatter faster than their means, as real ones do. With fewer, tests of
counts are left to residuals without a check: nested models rejected 0.13 of true independences at n = 100, residuals 0.06."""


def auto_batch(questions: Sequence[Question], sums: Sums, progress: Progress | None = None) -> Exchange:
    """Answer ``questions`` by nested models, then those whose models do not hold by residuals; what is learnt stays in ``sums``."""
    first = yield from batch(questions, sums, progress)
    again = in_doubt(questions, first, sums.schema)
    second = (yield from residual_batch(again, sums)) if again else []
    results = instead(questions, first, dict(zip(again, second, strict=True)))
    sums.finished |= dict(zip(questions, results, strict=True))
    return results


def in_doubt(questions: Sequence[Question], results: Sequence[CIResult], schema: Schema) -> list[Question]:
    """The questions whose linear models do not hold, by Holm's correction over all of them, and those of counts in few rows.

    >>> from consilience.citest.result import silent
    >>> asked = [Question("A", "C"), Question("A", "B")]
    >>> found = [CIResult(q.x, q.y, (), 0.5, 100, 2, 1, directions=(silent(q.y, q.x, ""),)) for q in asked]
    >>> in_doubt(asked, found, Schema({"A": "continuous", "B": "continuous", "C": "count"}))
    [Question(x='A', y='C', given=())]
    """
    flags = doubtful(r.linear_p for r in results)
    return [q for q, r, flag in zip(questions, results, flags, strict=True) if flag or (r.n < COUNTS_TELL and _counted(q, schema))]


def _counted(question: Question, schema: Schema) -> bool:
    return any(schema[name].kind is Kind.COUNT for name in (question.x, question.y))


def instead(questions: Sequence[Question], first: Sequence[CIResult], second: dict[Question, CIResult]) -> list[CIResult]:
    """The first results, but for those that the second replace; each says by which method it was found.

    A test of residuals that cannot speak replaces nothing: the nested models that do not hold stay, with what was found against them.
    """
    found = list[CIResult]()
    for question, result in zip(questions, first, strict=True):
        other = second.get(question)
        if other is None or not other.informative:
            found.append(replace(result, method=Method.FEDCI.value))
        else:
            rounds = result.rounds + other.rounds
            found.append(replace(other, rounds=rounds, diagnostics=result.diagnostics, method=Method.RESIDUAL.value))
    return found
