"""The yardstick: all rows in one place, the site as a factor in every model.

Nothing is federated here: one table, one design matrix with site dummies, the same response
models. What the federated test computes must equal this. With random site effects the likelihood is a sum over sites by its
definition; the sum is made here, of plain numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from consilience.citest.interface import CITest, Progress
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.data.design import ModelSpec
from consilience.data.kinds import Kind, Variable
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.federation.exchange.batch import batch, drive
from consilience.federation.exchange.sums import FitOptions, Sums
from consilience.federation.pooled_labels import as_labels
from consilience.federation.pooled_rank import pooled_rank
from consilience.federation.site.own_tests import desk_for
from consilience.frames import pl
from consilience.glm.kernel import Floats
from consilience.protocol.desk import Desk
from consilience.protocol.single import SingleRequest
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
        effects: SiteEffects = DEFAULTS.site_effects,
        ordinal: Ordinal = DEFAULTS.ordinal,
        ridge: float = DEFAULTS.ridge,
        small_sample: bool = DEFAULTS.small_sample,
        diagnostics: bool = DEFAULTS.diagnostics,
    ) -> None:
        self.schema = schema
        self.sites = tuple(frames)
        self.variables = tuple(schema)
        self.datasets = tuple(dict.fromkeys(frozenset(f.columns) & frozenset(schema) for f in frames.values()))
        self._desks: list[Desk]
        self._ordinal = ordinal
        self._frames, self._parts = frames, list[Desk]()
        if effects is SiteEffects.RANDOM:
            self._desks = [desk_for(Table(frame, schema, name)) for name, frame in frames.items()]
            self._sums = Sums(schema, FitOptions(effects, ordinal, ridge, len(frames), small_sample=small_sample))
            return
        always = () if effects is SiteEffects.NONE else (SITE,)
        parts = [
            as_labels(frame, schema, name, centred=bool(always)).with_columns(pl.lit(name).alias(SITE)) for name, frame in frames.items()
        ]
        factor = Variable(SITE, Kind.MULTINOMIAL, tuple(frames))
        # without ranges: every site was held to them, and centred numbers are others
        full = Schema([*(replace(v, range=None) for v in schema.values()), factor])
        self._desks = [desk_for(Table(pl.concat(parts, how="diagonal"), full, "the pooled data", site=SITE if always else None))]
        self._sums = Sums(full, FitOptions(SiteEffects.NONE, ordinal, ridge, 1, always, small_sample=small_sample, diagnostics=diagnostics))
        if always:
            self._sums.rank_of = self._rank_of

    def __repr__(self) -> str:
        sites, rows = counted(len(self.sites), "site"), counted(sum(desk.table.n_rows for desk in self._desks), "row")
        return f"Pooled({sites}: {', '.join(self.sites)}; {counted(len(self.variables), 'variable')}; {rows})"

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Answer checked questions, in order."""
        results = drive(batch(questions, self._sums, progress), self._ask)
        if self._sums.options.effects is SiteEffects.RANDOM:
            return results
        return [replace(r, contributors=self._sites(r)) for r in results]

    def _ask(self, request: SingleRequest) -> Floats:
        """All rows together; but what is said of sites is the sum of what each of them says."""
        desks = self._desks
        if request.of_sites:
            self._parts = desks = self._parts or [desk_for(Table(frame, self.schema, name)) for name, frame in self._frames.items()]
        total: Floats = np.sum([desk.answer(request, site) for site, desk in enumerate(desks)], axis=0)
        return total

    def _rank_of(self, model: ModelSpec, predictor: str, levels: tuple[int, ...]) -> int:
        return pooled_rank(self._desks[0].table, SITE, model, predictor, levels, self._ordinal)

    def _sites(self, result: CIResult) -> int:
        """How many sites have rows in a test."""
        table = self._desks[0].table
        if result.n == 0:
            return 0
        rows = table.complete((result.x, result.y, *result.given))
        codes = table.codes[SITE]
        return len(np.unique(codes if rows.index is None else codes[rows.index]))
