"""The yardstick for ``method="auto"``: the two pooled tests, and the same choice between them."""

from __future__ import annotations

from collections.abc import Sequence

from consilience.citest.interface import CITest, Progress
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.federation.exchange.auto import in_doubt, instead
from consilience.federation.pooled import Pooled
from consilience.federation.pooled_residual import PooledResidual

__all__ = ["PooledAuto"]


class PooledAuto(CITest):
    """Nested models where they hold and residuals where they do not, on all rows together; made by :func:`consilience.pooled`."""

    def __init__(self, linear: Pooled, residual: PooledResidual) -> None:
        self._linear, self._residual = linear, residual
        self.schema, self.sites, self.variables, self.datasets = linear.schema, linear.sites, linear.variables, linear.datasets

    def __repr__(self) -> str:
        return repr(self._linear).replace("Pooled(", "PooledAuto(", 1)

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Answer checked questions, in order."""
        first = self._linear.answer(questions, progress)
        again = in_doubt(questions, first, self.schema)
        second = self._residual.answer(again) if again else []
        return instead(questions, first, dict(zip(again, second, strict=True)))
