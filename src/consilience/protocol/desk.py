"""What a site has before it when it computes an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.data.averages import Averages
from consilience.data.responses import Coded
from consilience.data.table import Table
from consilience.glm.crowd import Crowds
from consilience.glm.kernel import Floats
from consilience.glm.layout import Ordinal
from consilience.protocol.request import Request

if TYPE_CHECKING:  # copies have desks of their own
    from consilience.protocol.replicates import Copies

__all__ = ["Desk", "OwnResiduals", "OwnTests", "Smoothing"]

T = TypeVar("T")
CACHE_BYTES = 96 << 20
"""Room for the kernels of one site: those of a batch of eighty tests over some ten thousand rows. What does not fit is built anew, which
costs time and never memory."""

OwnTests = Callable[[tuple[Question, ...], Ordinal, float, bool], list[CIResult]]
"""A site's own tests on its own rows: questions, the model of ordinal responses, the ridge, whether laws are for small samples."""


class Smoothing(NamedTuple):
    """How smooth means are made: slopes of conditioning variables for every site, features of continuous responses."""

    slopes: bool
    features: bool


OwnResiduals = Callable[[tuple[Question, ...], Smoothing, Coded], list[CIResult]]
"""A site's own tests of residuals, on the study's knots and scores as far as it has some."""


class Desk:
    """A site's encoded table, what requests keep from one round to the next, and its own tests.

    How a site tests on its own rows is passed in: it is the same test that is done over all sites, and it lies above this room. With
    ``rounds_own`` its p-values are rounded before they are summed (Fisher's method). Scores and information that are about fewer than
    ``fewest`` of its rows are not told (:mod:`consilience.glm.crowd`), nor columns that are (:mod:`consilience.data.coarsening`); 1 is no
    such rule. ``copies`` are the desks over resampled rows, None at a desk over a copy.
    """

    def __init__(
        self,
        table: Table,
        own_tests: OwnTests,
        own_residuals: OwnResiduals,
        cache_bytes: int = CACHE_BYTES,
        *,
        rounds_own: bool = False,
        fewest: int = 1,
    ) -> None:
        self.table, self.own_tests, self.own_residuals, self.cache_bytes = table, own_tests, own_residuals, cache_bytes
        self.rounds_own, self.fewest, self.crowds = rounds_own, fewest, Crowds(table, fewest)
        self.averages = Averages(table)
        self.copies: Copies | None = None
        self._kept: dict[type, Any] = {}

    def answer(self, request: Request, site: int = 0) -> Floats:
        """The flat vector for ``request``; ``site`` is this site's position, needed where intercepts are joint."""
        return request.answer(self, site)

    def keep(self, kind: type[T], make: Callable[[], T] | None = None) -> T:
        """What a kind of request keeps between rounds, in a class of its own; made when it is first asked for."""
        if kind not in self._kept:
            self._kept[kind] = kind() if make is None else make()
        kept: T = self._kept[kind]
        return kept
