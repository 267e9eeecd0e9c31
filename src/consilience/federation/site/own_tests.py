"""A site's tests on its own rows: the same exchange as over all sites, with one site that answers itself."""

from __future__ import annotations

from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.data.responses import Coded
from consilience.data.table import Table
from consilience.disclosure.resampling import Draws
from consilience.federation.exchange.batch import batch, drive
from consilience.federation.exchange.residual import residual_batch
from consilience.federation.exchange.residual_sums import ResidualSums
from consilience.federation.exchange.sums import FitOptions, Sums
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.protocol.desk import CACHE_BYTES, Desk, Smoothing
from consilience.protocol.replicates import Copies

__all__ = ["desk_for"]


def desk_for(
    table: Table,
    *,
    rounds_own: bool = False,
    fewest: int = 1,
    cache_bytes: int = CACHE_BYTES,
    draws: Draws | None = None,
    own: bytes = b"",
) -> Desk:
    """A site's desk over its encoded table. ``rounds_own``: a sum of p-values may turn out to be this site's own.

    ``fewest`` is for sums that leave the site. Of its own tests only p-values do, and no rule ends the fits behind them. ``draws`` are
    those of copies of its rows, and ``own`` its fingerprint, by which replicates without it are known; None if it has none.

    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> from consilience.protocol.survey import Survey
    >>> desk = desk_for(Table(pl.DataFrame({"C": [0, 1, 1]}), Schema({"C": "binary"}), "muenster"))
    >>> desk.answer(Survey((("C",),)))
    array([1., 3.])
    """

    def own_tests(questions: tuple[Question, ...], ordinal: Ordinal, ridge: float, small_sample: bool) -> list[CIResult]:  # noqa: FBT001
        # a desk of its own: what the study's rounds keep, warm starts above all, must not depend on tests that came between
        sums = Sums(table.schema, FitOptions(SiteEffects.PROFILED, ordinal, ridge, small_sample=small_sample))
        return drive(batch(questions, sums), desk_for(table).answer)

    def own_residuals(questions: tuple[Question, ...], how: Smoothing, coded: Coded) -> list[CIResult]:
        clustered = table.cluster is not None
        options = FitOptions(SiteEffects.PROFILED, slopes=how.slopes, features=how.features, clustered=clustered)
        known = ResidualSums(dict(coded.knots), dict(coded.scores))
        return drive(residual_batch(questions, Sums(table.schema, options, residual=known)), desk_for(table).answer)

    def desk_over(copy: Table, room: int, often: int) -> Desk:
        return desk_for(copy, rounds_own=rounds_own, fewest=fewest * often if fewest > 1 else 1, cache_bytes=room)

    desk = Desk(table, own_tests, own_residuals, cache_bytes, rounds_own=rounds_own, fewest=fewest)
    desk.copies = None if draws is None else Copies(draws, own, desk_over)
    return desk
