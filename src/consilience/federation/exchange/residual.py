"""Tests of residuals as an exchange: smooth means of X and of Y given Z, then sums of products of what they leave.

The generalised covariance measure (Shah and Peters 2020), from sums alone. Every mean of every test is fitted in the same rounds::

    survey      who can contribute how many rows, per variable set               one round, once per set
    place       where a continuous variable lies                                 one round, once per variable
    grid        how many rows between which values; counts of ordered levels     two rounds, once per variable
    means       cross-products of columns and responses, per sample              one round; fits in closed form
    residuals   sums of products of residuals, and of their squares, per test    one round
    fourths     fourth moments, where a test has several products                one round
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from consilience.citest.interface import Progress
from consilience.citest.question import Question
from consilience.citest.result import CIResult, Direction
from consilience.data.basis import Expansion, roughness, widths
from consilience.data.kinds import Kind
from consilience.data.responses import Coded, mid_ranks, n_responses
from consilience.data.spline import LADDER, Knots
from consilience.federation.exchange.batch import CHUNK, Exchange, Rounds
from consilience.federation.exchange.knots import coarse_edges, fine_edges, knots_from, lie_apart, n_cells
from consilience.federation.exchange.residual_sums import (
    Basis,
    Mean,
    Products,
    pieces_for,
    result_of,
    root_of_inverse,
    silent_result,
)
from consilience.federation.exchange.sums import Sums
from consilience.glm.smooth import MOST_PARAMETERS, axes, smooth
from consilience.protocol.catalogue import AnyRequest
from consilience.protocol.grid import Cells, Grid
from consilience.protocol.mean_products import ROWS_PER_COLUMN, MeanProducts, MeanSet
from consilience.protocol.place import Place
from consilience.protocol.residual_products import MOST_PRODUCTS, AloneResidual, ProductAsk, ResidualProducts
from consilience.protocol.residuals import BasisAsk, MeanAsk
from consilience.protocol.survey import Survey

__all__ = ["residual_batch"]

FEWEST_CELLS = 3
"""With fewer cells in the second look than this, the first look says as much."""
EXACT = 1e-12
"""A residual sum of squares below this share of the total is rounding: the variable is a function of the conditioning variables."""
ROWS_PER_PRODUCT = 5
"""Rows that a test needs for each product of residuals."""


def residual_batch(questions: Sequence[Question], sums: Sums, progress: Progress | None = None) -> Exchange:
    """Answer ``questions``; what is learnt on the way stays in ``sums``."""
    results: list[CIResult] = []
    for start in range(0, len(questions), CHUNK):
        steps = _Residuals(questions[start : start + CHUNK], sums)
        yield from steps.run()
        found = steps.results()
        sums.finished |= {result_question(r): r for r in found}
        results += found
        if progress is not None:
            progress(len(results), len(questions))
    return results


def result_question(result: CIResult) -> Question:
    """The question that a result answers."""
    return Question(result.x, result.y, result.given)


@dataclass(frozen=True, slots=True)
class _Test:
    """A question with the keys of its two means; without them it is answered by one site ``alone``, or not at all for a ``reason``."""

    question: Question
    x: Mean | None = None
    y: Mean | None = None
    alone: bool = False
    reason: str = ""

    @property
    def means(self) -> tuple[Mean, ...]:
        return () if self.x is None or self.y is None else (self.x, self.y)


@dataclass(slots=True, eq=False)
class _Residuals:
    questions: Sequence[Question]
    sums: Sums
    tests: list[_Test] = field(default_factory=list)
    rounds: int = 0

    def run(self) -> Rounds:
        """The rounds, in order."""
        yield from self._survey()
        yield from self._find_knots()
        self._plan()
        yield from self._fit()
        yield from self._multiply()
        yield from self._raise()

    def _asked(self, request: AnyRequest) -> AnyRequest:
        self.rounds += 1
        return request

    def _survey(self) -> Rounds:
        """Counts of every test, of every mean alone, and of every variable that needs knots or scores."""
        sums, sets = self.sums, dict[tuple[str, ...], None]()
        for question in self.questions:
            everything = question.variables
            for missing in (None, question.x, question.y):
                sets[tuple(v for v in everything if v != missing)] = None
        sets |= {(name,): None for name in (*self._curved(), *self._scored())}
        new = tuple(s for s in sets if s not in sums.counts)
        spreads = sums.continuous() if sums.exponents is None else ()
        if new or spreads:
            request = Survey(new, spreads)
            sums.take(request.read((yield self._asked(request)), sums.schema))

    def _curved(self) -> list[str]:
        """Continuous variables that need knots."""
        sums = self.sums
        names = {name for q in self.questions for name in (q.variables if sums.options.features else q.given)}
        return [name for name in sorted(names) if sums.schema[name].kind is Kind.CONTINUOUS]

    def _scored(self) -> list[str]:
        """Ordinal variables that need scores."""
        names = {name for q in self.questions for name in (q.x, q.y)}
        return [name for name in sorted(names) if self.sums.schema[name].kind is Kind.ORDINAL]

    def _allowed(self, names: list[str], known: dict[str, object]) -> tuple[str, ...]:
        limits, counts = self.sums.options.disclosure, self.sums.counts
        return tuple(n for n in names if n not in known and not limits.refusal(*counts[n,]) and not limits.alone(counts[n,][0]))

    def _find_knots(self) -> Rounds:
        """Quantiles of every conditioning variable: a first look that widens outwards, then cells that hold equal shares."""
        sums, found = self.sums, self.sums.residual
        names, levels = self._allowed(self._curved(), dict(found.knots)), self._allowed(self._scored(), dict(found.scores))
        placed = {}
        if names:
            place = Place(names, sums.exponents or {})
            placed = place.read((yield self._asked(place)), sums.schema)
        flat = tuple(name for name in names if placed[name].spread <= 0.0)
        found.knots |= {name: Knots((placed[name].centre,) * (LADDER + 1)) for name in flat}
        names = tuple(name for name in names if name not in flat)
        if names or levels:
            both = [Cells.of(n, coarse_edges(placed[n], centred=c), centred=c) for n in names for c in (False, True)]
            look = Grid(tuple(both), False, levels)
            counted = look.read((yield self._asked(look)), sums.schema)
            found.scores |= {name: mid_ranks(counts.tolist()) for name, counts in counted.levels.items()}
            chosen: dict[str, tuple[Cells, np.ndarray]] = {}
            for i, name in enumerate(names):
                centred = lie_apart(counted.cells[2 * i])
                chosen[name] = both[2 * i + centred], counted.cells[2 * i + centred]
            yield from self._look_closer(chosen)

    def _look_closer(self, chosen: dict[str, tuple[Cells, np.ndarray]]) -> Rounds:
        sums = self.sums
        fine: list[Cells] = []
        for name, (cells, counts) in chosen.items():
            sums.residual.knots[name] = knots_from(cells.bounds, counts, centred=cells.centred)
            n = n_cells(sums.rows((name,)), sums.options.disclosure.min_rows)
            edges = fine_edges(cells.bounds, counts, n) if n >= FEWEST_CELLS else np.empty(0)
            if len(edges) >= FEWEST_CELLS - 1:
                fine.append(Cells.of(name, edges, centred=cells.centred))
        if fine:
            request = Grid(tuple(fine), True)
            found = request.read((yield self._asked(request)), sums.schema)
            for cells, counts in zip(fine, found.cells, strict=True):
                sums.residual.knots[cells.variable] = knots_from(cells.bounds, counts, centred=cells.centred)

    def _plan(self) -> None:
        """The two means of every test, each over a sample that stands for all sets with the same rows."""
        sums, limits = self.sums, self.sums.options.disclosure
        alike: dict[frozenset[str], _SameRows] = {}
        for question in self.questions:
            same = alike.setdefault(frozenset(question.given), _SameRows(sums))
            for missing in (question.x, question.y):
                same.join(question.variables, tuple(v for v in question.variables if v != missing))
        for question in self.questions:
            contributors, rows = sums.counts[question.variables]
            reason = limits.refusal(contributors, rows)
            if rows == 0:
                reason = f"no site has a row with values for {', '.join(question.variables)} together"
            if reason or limits.alone(contributors):
                self.tests.append(_Test(question, alone=not reason, reason=reason))
                continue
            sample = alike[frozenset(question.given)].first(question.variables)
            basis = Basis(sample, self._expansion(question.given, rows))
            self.tests.append(_Test(question, Mean(question.x, basis), Mean(question.y, basis), reason=self._too_many(question, rows)))

    def _too_many(self, question: Question, rows: int) -> str:
        d = math.prod(n_responses(self.sums.schema, name, features=self.sums.options.features) for name in (question.x, question.y))
        if d <= MOST_PRODUCTS and d * ROWS_PER_PRODUCT <= rows:
            return ""
        enough = f"there should be {ROWS_PER_PRODUCT} rows for each, and {MOST_PRODUCTS} at most"
        return f"{d} products of residuals are too many for {rows} rows: {enough}"

    def _expansion(self, given: tuple[str, ...], rows: int) -> Expansion:
        """As many columns as the rows can bear: first the pairs go, then the curves."""
        schema, knots = self.sums.schema, self.sums.residual.knots
        given = tuple(sorted(given))
        pieces = pieces_for(rows) if any(not schema[name].kind.is_discrete for name in given) else 0
        for tried in (Expansion(given, pieces), Expansion(given, pieces, False), Expansion(given, 0, False)):
            if widths(schema, tried, knots).all * ROWS_PER_COLUMN <= rows:
                return tried
        return Expansion(given, 0, False)

    def _coded(self) -> Coded:
        found = self.sums.residual
        return Coded(self.sums.exponents or {}, found.knots, found.scores)

    def _open(self) -> list[_Test]:
        """Tests whose products are not known."""
        return [test for test in self.tests if test.means and not test.reason and test.question not in self.sums.residual.products]

    def _fit(self) -> Rounds:
        """Cross-products of every sample and set of columns; then every mean, in closed form."""
        sums, found, options = self.sums, self.sums.residual, self.sums.options
        wanted: dict[Basis, dict[str, None]] = {}
        for mean in (m for test in self._open() for m in test.means if m not in found.fits):
            wanted.setdefault(mean.basis, {})[mean.response] = None
        allowed = {b: names for b, names in wanted.items() if self._fits(b)}
        if not allowed:
            return
        sets = tuple(MeanSet(basis.sample, basis.expansion, tuple(sorted(names))) for basis, names in allowed.items())
        request = MeanProducts(sets, self._coded(), options.slopes, options.features)
        totals = request.read((yield self._asked(request)), sums.schema)
        for basis, total in zip(allowed, totals, strict=True):
            wide = widths(sums.schema, basis.expansion, found.knots)
            found.totals[basis] = total
            if basis not in found.axes:
                found.axes[basis] = axes(total.gram, roughness(sums.schema, basis.expansion, found.knots), wide, total.n)
            for name in total.products:
                levels = sums.schema[name].kind.is_discrete
                found.fits[Mean(name, basis)] = smooth(
                    found.axes[basis], total.products[name], total.squares[name], total.n, total.local, levels=levels
                )

    def _fits(self, basis: Basis) -> bool:
        rows = self.sums.rows(basis.sample)
        return widths(self.sums.schema, basis.expansion, self.sums.residual.knots).all * ROWS_PER_COLUMN <= rows

    def _refusal(self, test: _Test) -> str:
        """Why a test with fits is not informative, or the empty string."""
        found = self.sums.residual
        for mean in test.means:
            if mean not in found.fits:
                return f"{self.sums.rows(mean.basis.sample)} rows are too few for a model given {', '.join(test.question.given)}"
            fit, total = found.fits[mean], found.totals[mean.basis]
            squares = np.diag(total.squares[mean.response]) if mean.response in total.squares else np.ones(1)
            if not (squares > 0).any():
                return f"{mean.response} does not vary within any site in the rows of this test"
            if (fit.rss <= EXACT * squares).all():
                return f"{mean.response} is an exact function of the conditioning variables"
            if fit.edf > (MOST_PARAMETERS + 0.1) * total.n:
                return f"{int(total.n)} rows are too few for the {fit.edf:.0f} parameters of the model of {mean.response}"
        return ""

    def _multiply(self) -> Rounds:
        """Products of residuals of every test, and the tests that one site does alone."""
        sums, found = self.sums, self.sums.residual
        tests = [test for test in self._open() if not self._refusal(test)]
        alone = tuple(test.question for test in self.tests if test.alone and test.question not in found.alone)
        if not tests and not alone:
            return
        request = self._request(tests, {}, alone)
        read = request.read((yield self._asked(request)), sums.schema)
        for test, total in zip(tests, read.tests, strict=True):
            half = root_of_inverse(total.squares)
            fourth = None
            if total.fourth is not None:
                fourth = total.fourth / float(total.squares[0, 0]) ** 2 if total.squares[0, 0] > 0 else 0.0
            found.products[test.question] = Products(total, half, fourth, self.rounds)
        found.alone |= {question: (answer, self.rounds) for question, answer in read.alone.items()}

    def _raise(self) -> Rounds:
        """Fourth moments of tests with several products."""
        sums, found = self.sums, self.sums.residual
        tests = [t for t in self.tests if t.question in found.products and t.means]
        tests = [t for t in tests if (p := found.products[t.question]).fourth is None and p.half.shape[1]]
        if not tests:
            return
        request = self._request(tests, {test.question: found.products[test.question].half for test in tests}, ())
        read = request.read((yield self._asked(request)), sums.schema)
        for test, fourth in zip(tests, read.fourths, strict=True):
            found.products[test.question].fourth = fourth
            found.products[test.question].rounds = self.rounds

    def _request(self, tests: list[_Test], halves: dict[Question, np.ndarray], alone: tuple[Question, ...]) -> ResidualProducts:
        found, options = self.sums.residual, self.sums.options
        means = list(dict.fromkeys(m for test in tests for m in test.means))
        turns: dict[tuple[Basis, int], int] = {}
        bases: list[BasisAsk] = []
        models: dict[Mean, tuple[int, MeanAsk]] = {}
        for i, mean in enumerate(means):
            fit = found.fits[mean]
            key = (mean.basis, id(fit.axes))
            if key not in turns:
                turns[key] = len(bases)
                bases.append(BasisAsk(mean.basis.sample, mean.basis.expansion, _bytes(fit.axes.turn)))
            n = found.totals[mean.basis].n
            units = tuple(round(math.log2(math.sqrt(rss / n))) if rss > 0 else 0 for rss in fit.rss.tolist())
            models[mean] = i, MeanAsk(turns[key], mean.response, _bytes(fit.coefficients), _bytes(fit.shrink), units)
        asks = tuple(
            ProductAsk(models[m.x][0], models[m.y][0], m.question.variables, _bytes(halves[m.question]) if halves else b"")
            for m in tests
            if m.x is not None and m.y is not None
        )
        return ResidualProducts(
            tuple(bases),
            tuple(ask for _, ask in models.values()),
            asks,
            self._coded(),
            options.slopes,
            options.features,
            options.clustered,
            bool(halves),
            alone,
        )

    def results(self) -> list[CIResult]:
        """The results, in the order of the questions."""
        return [self._result(test) for test in self.tests]

    def _result(self, test: _Test) -> CIResult:
        question, found = test.question, self.sums.residual
        contributors, n = self.sums.counts[question.variables]
        if test.alone:
            return _alone(question, *found.alone[question], n, contributors)
        if question in found.products:
            return result_of(question, found.products[question], n, contributors)
        return silent_result(question, test.reason or self._refusal(test), n, contributors, self.rounds)


def _alone(question: Question, answer: AloneResidual, rounds: int, n: int, contributors: int) -> CIResult:
    df = round(answer.df)
    if df == 0:
        return silent_result(question, "the one site that measures these variables cannot tell from its rows", n, contributors, rounds)
    p = math.exp(-answer.minus_log_p)
    only = Direction(question.y, question.x, answer.statistic, df, p, math.nan, math.nan, symmetric=True)
    return CIResult(question.x, question.y, question.given, p, n, contributors, rounds, directions=(only,))


def _bytes(values: np.ndarray) -> bytes:
    """Doubles as they travel, so that every site computes at the same bits."""
    return np.ascontiguousarray(values, dtype="<f8").tobytes()


class _SameRows:
    """Sets with the same conditioning variables, joined where one contains the other and both have as many rows: the same rows, then."""

    def __init__(self, sums: Sums) -> None:
        self.sums, self.to = sums, dict[tuple[str, ...], tuple[str, ...]]()

    def first(self, variables: tuple[str, ...]) -> tuple[str, ...]:
        """The set that stands for all with the same rows."""
        while (above := self.to.get(variables, variables)) != variables:
            variables = above
        return variables

    def join(self, large: tuple[str, ...], small: tuple[str, ...]) -> None:
        """Join the two if they have the same rows; of sets that are joined, the smallest stands for all."""
        if not small or self.sums.rows(large) != self.sums.rows(small):
            return
        low, high = sorted((self.first(large), self.first(small)), key=lambda s: (len(s), s))
        self.to[high] = low
