"""The yardstick for tests of residuals: all rows in one place, columns of every site in one matrix.

Only knots, columns and constants are those of the federated test. Fits are made from the rows themselves, by orthogonal factors of the
matrix with every site's intercept and slopes in it; nothing is swept at a site, squared before it is factored, or summed over sites.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from consilience.citest.interface import CITest, Progress
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.data.basis import Expansion, columns, roughness, widths
from consilience.data.kinds import Kind
from consilience.data.responses import Coded, mid_ranks, response_columns
from consilience.data.schema import Schema
from consilience.data.spline import LADDER, Knots, own_knots
from consilience.data.table import Table
from consilience.federation.exchange.find_knots import FEWEST_CELLS
from consilience.federation.exchange.knots import coarse_edges, fine_edges, knots_from, lie_apart, n_cells
from consilience.federation.exchange.residual import FEWEST_ROWS, MOST_COLUMNS, ROWS_PER_PRODUCT
from consilience.federation.exchange.residual_plan import Columns, columns_for, fewest_rows, parts_of
from consilience.federation.exchange.residual_sums import Plan, Products, expansions_for, part_of, result_of, silent_result
from consilience.federation.pooled_fit import PooledDesign, PooledFit
from consilience.federation.pooled_labels import as_labels
from consilience.frames import pl
from consilience.glm.kernel import Floats
from consilience.protocol.desk import Smoothing
from consilience.protocol.expanded import n_own_curves, own_curves, own_lines, own_main
from consilience.protocol.mean_products import ROWS_PER_COLUMN
from consilience.protocol.place import Placed, middle_half
from consilience.protocol.residual_products import MOST_PRODUCTS, UNORDERED
from consilience.settings.declaration import DEFAULTS
from consilience.wording import counted

__all__ = ["PooledResidual"]

Index = NDArray[np.intp]


class PooledResidual(CITest):
    """Tests of residuals on the rows of all sites together; made by :func:`consilience.pooled` with ``method="residual"``."""

    def __init__(
        self, frames: dict[str, pl.DataFrame], schema: Schema, *, slopes: bool = True, features: bool = False, cluster: str | None = None
    ) -> None:
        self.schema, self.sites, self.variables = schema, tuple(frames), tuple(schema)
        self.datasets = tuple(dict.fromkeys(frozenset(f.columns) & frozenset(schema) for f in frames.values()))
        self._slopes, self._features = slopes, features
        parts = [as_labels(frame, schema, name) for name, frame in frames.items()]
        self._table = Table(pl.concat(parts, how="diagonal"), schema, "the pooled data")
        self._site = np.repeat(np.arange(len(parts)), [part.height for part in parts])
        self._cluster = None
        if cluster is not None:
            tables = [Table(frame, schema, name, cluster) for name, frame in frames.items()]
            codes = [table.cluster for table in tables if table.cluster is not None]
            starts = np.cumsum([0, *(int(code.max(initial=-1)) + 1 for code in codes)])
            self._cluster = np.concatenate([code + start for code, start in zip(codes, starts, strict=False)])
        self._coded = Coded({name: _exponent(values) for name, values in self._table.numbers.items()}, self._knots(), self._scores())

    def __repr__(self) -> str:
        sites, rows = counted(len(self.sites), "site"), counted(self._table.n_rows, "row")
        return f"PooledResidual({sites}: {', '.join(self.sites)}; {counted(len(self.variables), 'variable')}; {rows})"

    def _scores(self) -> dict[str, tuple[float, ...]]:
        codes = {name: c for name, c in self._table.codes.items() if self.schema[name].kind is Kind.ORDINAL}
        return {name: mid_ranks(np.bincount(c[c >= 0], minlength=len(self.schema[name].levels)).tolist()) for name, c in codes.items()}

    def _knots(self) -> dict[str, Knots]:
        """Quantiles from counts, as the federated test finds them; values of variables with centred knots are centred here for good."""
        found: dict[str, Knots] = {}
        for name in list(self._table.numbers):
            values = self._table.numbers[name]
            per_site = [middle_half(values[self._site == k]) for k in range(len(self.sites))]
            votes = [(centre, spread) for centre, spread in per_site if spread > 0.0]
            if not votes:
                found[name] = Knots((0.0,) * (LADDER + 1))
                continue
            centre, spread = np.mean(votes, axis=0).tolist()
            placed = Placed(len(votes), centre, spread)
            own = np.array([centre for centre, _ in per_site])[self._site]
            edges, counts = _counted(values, coarse_edges(placed, centred=False))
            centred = lie_apart(counts)
            if centred:
                self._table.numbers[name] = values = values - own
                edges, counts = _counted(values, coarse_edges(placed, centred=True))
            n = n_cells(int((~np.isnan(values)).sum()), DEFAULTS.min_rows)
            finer = fine_edges(edges, counts, n) if n >= FEWEST_CELLS else np.empty(0)
            if len(finer) >= FEWEST_CELLS - 1:
                edges, counts = _counted(values, finer)
            found[name] = knots_from(edges, counts, centred=False)
        return found

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Answer checked questions, in order."""
        results = []
        for question in questions:
            results.append(self._answer(question))
            if progress is not None:
                progress(len(results), len(questions))
        return results

    def _answer(self, question: Question) -> CIResult:
        rows = self._table.complete(question.variables) if self._table.holds(question.variables) else None
        if rows is None or rows.n == 0:
            reason = f"no site has a row with values for {', '.join(question.variables)} together"
            return silent_result(question, reason, 0, 0, 0)
        index = np.arange(rows.n) if rows.index is None else rows.index
        contributors = len(np.unique(self._site[index]))
        design = self._design(tuple(sorted(question.given)), index)
        if design is None or rows.n <= FEWEST_ROWS:
            return silent_result(question, f"{rows.n} rows are too few", rows.n, contributors, 0)
        fits, made = list[PooledFit](), list[Columns]()
        x, y = self.schema[question.x], self.schema[question.y]
        least = fewest_rows(x, y, rows.n, clustered=self._cluster is not None)
        for variable in (x, y):
            response = self._responses(variable.name, index)
            fit = design.fit(response, levels=variable.kind in UNORDERED)
            if isinstance(fit, str):
                return silent_result(question, f"{variable.name} {fit}", rows.n, contributors, 0)
            knots = self._coded.knots.get(variable.name) if self._features else None
            units = np.zeros(response.shape[1])
            found = columns_for(variable, self._level_counts(variable.name, index), least, fit.residual.T @ fit.residual, units, knots)
            if found is None:
                return silent_result(question, f"no level of {variable.name} is frequent enough", rows.n, contributors, 0)
            fits.append(fit)
            made.append(found)
        parts = parts_of(made[0], made[1], numbers=not (x.kind.is_discrete or y.kind.is_discrete))
        known = self._cluster is None and x.kind in UNORDERED and y.kind in UNORDERED
        plan = Plan(made[0], made[1], parts, known)
        d = made[0].combine.shape[1] * made[1].combine.shape[1]
        if d > MOST_PRODUCTS or max(len(part.products) for part in parts) * ROWS_PER_PRODUCT > rows.n:
            return silent_result(question, f"{d} products of residuals are too many for {rows.n} rows", rows.n, contributors, 0)
        return self._test(question, plan, fits[0], fits[1], index, contributors)

    def _columns(self, expansion: Expansion, index: Index) -> Floats:
        return columns(self._table, expansion, index, self._coded.knots, dict.fromkeys(self._table.numbers, 0.0))

    def _responses(self, name: str, index: Index) -> Floats:
        zero = dict.fromkeys(self._table.numbers, 0.0)
        return response_columns(self._table, name, index, self._coded, zero, features=self._features)

    def _level_counts(self, name: str, index: Index) -> Floats:
        codes = self._table.codes.get(name)
        return np.empty(0) if codes is None else np.bincount(codes[index], minlength=len(self.schema[name].levels)).astype(np.float64)

    def _test(self, question: Question, plan: Plan, x: PooledFit, y: PooledFit, index: Index, contributors: int) -> CIResult:
        n = len(index)
        a, b = x.residual @ plan.x.combine, y.residual @ plan.y.combine
        products = np.einsum("ni,nj->nij", a, b).reshape(n, -1)
        if self._cluster is not None:
            _, codes = np.unique(self._cluster[index], return_inverse=True)
            sums: Floats = np.stack([np.bincount(codes, weights=column) for column in products.T], axis=1).astype(np.float64)
            weighted = sums * ((1.0 - x.cluster_leverage(codes)) * (1.0 - y.cluster_leverage(codes)))[:, None] ** -0.25
        else:
            weighted = products * ((1.0 - x.leverage) * (1.0 - y.leverage))[:, None] ** -0.25
        squares = weighted.T @ weighted
        if plan.known:
            squares = np.zeros_like(squares)
            for i, weight in enumerate(((1.0 - x.leverage) * (1.0 - y.leverage)) ** -0.5):
                spreads = [c.T @ _multinomial(f.fitted[i]) @ c for f, c in ((x, plan.x.combine), (y, plan.y.combine))]
                squares += weight * np.kron(spreads[0], spreads[1])
        halves = tuple(part_of(squares, part) for part in plan.parts)
        fourths = [float((((weighted @ half) ** 2).sum(axis=1) ** 2).sum()) for half in halves]
        found = Products(plan, float(len(weighted)), products.sum(axis=0), halves, fourths, 0)
        return result_of(question, found, n, contributors, clustered=self._cluster is not None)

    def _design(self, given: tuple[str, ...], index: Index) -> PooledDesign | None:
        knots, rows = self._coded.knots, len(index)
        curved = any(not self.schema[name].kind.is_discrete for name in given)
        most = min(MOST_COLUMNS, rows // ROWS_PER_COLUMN)
        fitting = (e for e in expansions_for(given, rows, curved=curved) if widths(self.schema, e, knots).all <= most)
        expansion = next(fitting, None)
        if expansion is None:
            return None
        wide = widths(self.schema, expansion, knots)
        made = self._columns(expansion, index)
        site, how = self._site[index], Smoothing(self._slopes, self._features)
        own: list[Floats] = []
        for k in np.unique(site):
            here = site == k
            n = int(here.sum())
            block = [np.ones((n, 1)), made[here, : own_main(wide, n, slopes=self._slopes)]]
            count = n_own_curves(wide, n, how)
            for j in own_lines(wide, n, how) if count else []:
                u = made[here, j]
                block.append(own_curves(u, own_knots(u, count) if count > 1 else (), count))
            whole = np.zeros((rows, sum(part.shape[1] for part in block)))
            whole[here] = np.concatenate(block, axis=1)
            own.append(whole)
        rough = roughness(self.schema, expansion, knots)
        return PooledDesign(np.concatenate(own, axis=1), made, wide.free, wide.curves, rough)


def _multinomial(fitted: Floats) -> Floats:
    """The covariance of level indicators with these means, the shares of all levels made shares again."""
    p = np.clip([1.0 - fitted.sum(), *fitted], 0.0, 1.0)
    p = p[1:] / p.sum()
    return np.diag(p) - np.outer(p, p)


def _counted(values: Floats, edges: Floats) -> tuple[Floats, Floats]:
    known = values[~np.isnan(values)]
    return edges, np.bincount(np.searchsorted(edges, known, side="right"), minlength=len(edges) + 1).astype(np.float64)


def _exponent(values: Floats) -> int:
    spread = float(np.nanstd(values)) if np.isfinite(values).any() else 0.0
    return round(float(np.log2(spread))) if spread > 0.0 else 0
