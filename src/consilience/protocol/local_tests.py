"""A site's own p-values, for Fisher's method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.citest.rounding import told_statistic
from consilience.data.schema import Schema
from consilience.glm.kernel import Floats
from consilience.glm.layout import Ordinal
from consilience.protocol.desk import Desk
from consilience.protocol.guard import Guard
from consilience.protocol.request import MANY, Request, VariableSet
from consilience.settings.choices import Method
from consilience.wording import counted

__all__ = ["LocalTests"]


class LocalTests(Request, frozen=True, tag="local"):
    """The site's own tests. With ``count``, per question: (can it answer?, rows); else: -2 log p.

    ``run`` names the batch: between counting and summing a site keeps its results. A site does not know how many others can test, so in a
    study where one may answer alone all round their p-values: nobody has to be believed that the sum has other terms.
    """

    questions: Annotated[tuple[Question, ...], MANY]
    ordinal: Ordinal
    ridge: float = 0.0
    count: bool = False
    run: int = 0
    small_sample: bool = True

    @property
    def fields(self) -> int:
        """Numbers per question."""
        return 2 if self.count else 1

    def length(self, schema: Schema) -> int:
        """Two numbers a question when counting, one when summing."""
        return self.fields * len(self.questions)

    def samples(self) -> tuple[VariableSet, ...]:
        """The variables of every question."""
        return tuple(q.variables for q in self.questions)

    def check(self, guard: Guard) -> None:
        """Questions over the study's variables, with its models, where the method is Fisher's and the sums have enough terms."""
        guard.knows_questions(self.questions)
        guard.fits_like(self.ordinal, self.ridge, small_sample=self.small_sample)
        guard.not_too_large(self.samples())
        guard.is_method(Method.FISHER)
        for variables in self.samples():
            guard.allows_sum(variables, single=True)

    def answer(self, desk: Desk, site: int) -> Floats:
        """The site's own tests, done once for both rounds of a batch."""
        done = desk.keep(_Done)
        if self.run != done.run:
            done.run, done.results = self.run, {}
        new = tuple(q for q in self.questions if q not in done.results)
        done.results |= dict(zip(new, desk.own_tests(new, self.ordinal, self.ridge, self.small_sample), strict=True))
        vector = np.zeros((len(self.questions), self.fields))
        for i, question in enumerate(self.questions):
            result = done.results[question]
            if result.informative:
                # on the log scale: a p-value of 1e-400 is an ordinary one in large data, and zero as a float
                statistic = told_statistic(result.log_p) if desk.rounds_own else -2.0 * result.log_p
                vector[i] = [1.0, result.n] if self.count else [statistic]
        return vector.ravel()

    def read(self, total: Floats, schema: Schema) -> dict[Question, tuple[float, ...]]:
        """Per question (sites that can answer, their rows), or (Σ -2 log p,)."""
        numbers = total.reshape(-1, self.fields)
        if self.count:
            numbers = np.rint(numbers)
        return dict(zip(self.questions, map(tuple, numbers.tolist()), strict=True))

    def words(self) -> str:
        """What is asked for, in words.

        >>> LocalTests((Question("A", "B"),), Ordinal.PROPORTIONAL).words()
        'own p-values of 1 test'
        """
        what = "whether and with how many rows this site can do" if self.count else "own p-values of"
        return f"{what} {counted(len(self.questions), 'test')}"


@dataclass(slots=True)
class _Done:
    """Results of the batch under way."""

    run: int | None = None
    results: dict[Question, CIResult] = field(default_factory=dict)
