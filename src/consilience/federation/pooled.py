"""The yardstick: all rows in one place, the site as a factor in every model.

Nothing is federated here: one table, one design matrix with site dummies, the same response
models. What the federated test computes must equal this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from consilience.citest.interface import CITest, Progress
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.data.design import ModelSpec
from consilience.data.kinds import Kind, Variable
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.federation.exchange.batch import batch, drive
from consilience.federation.exchange.sums import FitOptions, Sums
from consilience.federation.pooled_rank import pooled_rank
from consilience.federation.site.own_tests import desk_for
from consilience.settings.choices import Ordinal, SiteEffects
from consilience.settings.declaration import DEFAULTS
from consilience.wording import counted

__all__ = ["Pooled"]

SITE = "(site)"


class Pooled(CITest):
    """CI tests on the rows of all sites together; made by :func:`consilience.pooled`."""

    def __init__(
        self,
        frames: dict[str, pl.DataFrame],
        schema: Schema,
        *,
        site_factor: bool = True,
        ordinal: Ordinal = DEFAULTS.ordinal,
        ridge: float = DEFAULTS.ridge,
        small_sample: bool = DEFAULTS.small_sample,
    ) -> None:
        self.schema = schema
        self.sites = tuple(frames)
        self.variables = tuple(schema)
        self.datasets = tuple(dict.fromkeys(frozenset(f.columns) & frozenset(schema) for f in frames.values()))
        parts = [_as_labels(frame, schema, name, centred=site_factor) for name, frame in frames.items()]
        factor = Variable(SITE, Kind.MULTINOMIAL, tuple(frames))
        full = Schema([*schema.values(), factor])
        self._desk = desk_for(Table(pl.concat(parts, how="diagonal"), full, "the pooled data"))
        self._ordinal = ordinal
        always = (SITE,) if site_factor else ()
        self._sums = Sums(full, FitOptions(SiteEffects.NONE, ordinal, ridge, 1, always, small_sample=small_sample))
        if site_factor:
            self._sums.rank_of = self._rank_of

    def __repr__(self) -> str:
        sites, rows = counted(len(self.sites), "site"), counted(self._desk.table.n_rows, "row")
        return f"Pooled({sites}: {', '.join(self.sites)}; {counted(len(self.variables), 'variable')}; {rows})"

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Answer checked questions, in order."""
        results = drive(batch(questions, self._sums, progress), self._desk.answer)
        return [replace(r, contributors=self._sites(r)) for r in results]

    def _rank_of(self, model: ModelSpec, predictor: str, levels: tuple[int, ...]) -> int:
        return pooled_rank(self._desk.table, SITE, model, predictor, levels, self._ordinal)

    def _sites(self, result: CIResult) -> int:
        """How many sites have rows in a test."""
        table = self._desk.table
        if result.n == 0:
            return 0
        rows = table.complete((result.x, result.y, *result.given))
        codes = table.codes[SITE]
        return len(np.unique(codes if rows.index is None else codes[rows.index]))


def _as_labels(frame: pl.DataFrame, schema: Schema, owner: str, *, centred: bool) -> pl.DataFrame:
    """Columns in types that concatenate: numbers as floats, levels as their labels; and the site.

    Where the site is a factor, numbers are ``centred`` at it: that moves its dummy's coefficient and no likelihood, and keeps the digits of
    columns that differ between sites by millions of standard deviations. At the median, so that one wild value moves nothing.
    """
    table = Table(frame, schema, owner)
    columns: dict[str, pl.Series] = {}
    for name, numbers in table.numbers.items():
        known = numbers[~np.isnan(numbers)]
        place = float(np.median(known)) if centred and len(known) else 0.0
        columns[name] = pl.Series(name, numbers - place)
    for name, codes in table.codes.items():
        levels = schema[name].levels
        columns[name] = pl.Series(name, [levels[c] if c >= 0 else None for c in codes.tolist()], dtype=pl.String)
    return pl.DataFrame(columns).with_columns(pl.lit(owner).alias(SITE))
