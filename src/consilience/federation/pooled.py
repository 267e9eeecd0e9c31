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
from consilience.data.kinds import Kind, Variable
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.federation.exchange.batch import batch, drive
from consilience.federation.exchange.sums import FitOptions, Sums
from consilience.federation.pooled_labels import as_labels
from consilience.federation.site.own_tests import desk_for
from consilience.glm.kernel import Floats
from consilience.protocol.catalogue import AnyRequest
from consilience.protocol.desk import Desk
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
        diagnostics: bool = DEFAULTS.diagnostics,
    ) -> None:
        self.schema = schema
        self.sites = tuple(frames)
        self.variables = tuple(schema)
        self.datasets = tuple(dict.fromkeys(frozenset(f.columns) & frozenset(schema) for f in frames.values()))
        parts = [as_labels(frame, schema, name).with_columns(pl.lit(name).alias(SITE)) for name, frame in frames.items()]
        factor = Variable(SITE, Kind.MULTINOMIAL, tuple(frames))
        full = Schema([*schema.values(), factor])
        self._desk = desk_for(Table(pl.concat(parts, how="diagonal"), full, "the pooled data", site=SITE if site_factor else None))
        always = (SITE,) if site_factor else ()
        self._sums = Sums(full, FitOptions(SiteEffects.NONE, ordinal, ridge, 1, always, diagnostics=diagnostics))
        self._frames, self._parts = frames, list[Desk]()

    def __repr__(self) -> str:
        sites, rows = counted(len(self.sites), "site"), counted(self._desk.table.n_rows, "row")
        return f"Pooled({sites}: {', '.join(self.sites)}; {counted(len(self.variables), 'variable')}; {rows})"

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Answer checked questions, in order."""
        results = drive(batch(questions, self._sums, progress), self._ask)
        return [replace(r, contributors=self._sites(r)) for r in results]

    def _ask(self, request: AnyRequest) -> Floats:
        """All rows together; but what is said of sites is the sum of what each of them says."""
        if not request.of_sites:
            return self._desk.answer(request)
        if not self._parts:
            self._parts = [desk_for(Table(frame, self.schema, name)) for name, frame in self._frames.items()]
        total: Floats = np.sum([desk.answer(request) for desk in self._parts], axis=0)
        return total

    def _sites(self, result: CIResult) -> int:
        """How many sites have rows in a test."""
        table = self._desk.table
        if result.n == 0:
            return 0
        rows = table.complete((result.x, result.y, *result.given))
        codes = table.codes[SITE]
        return len(np.unique(codes if rows.index is None else codes[rows.index]))
