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
from consilience.citest.result import CIResult, untold
from consilience.data.basis import Expansion, roughness, widths
from consilience.data.kinds import Kind
from consilience.data.responses import Coded
from consilience.federation.exchange.batch import CHUNK, Exchange, Rounds, next_of
from consilience.federation.exchange.find_knots import find_knots
from consilience.federation.exchange.levels import thin_levels
from consilience.federation.exchange.residual_plan import Columns, columns_for, fewest_rows, parts_of
from consilience.federation.exchange.residual_sums import Basis, Mean, Plan, Products, expansions_for, part_of, result_of, silent_result
from consilience.federation.exchange.same_rows import SameRows
from consilience.federation.exchange.sums import Sums
from consilience.glm.kernel import Floats
from consilience.glm.smooth import MOST_PARAMETERS, axes, smooth
from consilience.protocol.mean_products import ROWS_PER_COLUMN, MeanProducts, MeanSet
from consilience.protocol.residual_products import MOST_PRODUCTS, UNORDERED, AloneResidual, ProductAsk, ResidualProducts
from consilience.protocol.residuals import BasisAsk, MeanAsk
from consilience.protocol.single import SingleRequest
from consilience.protocol.survey import Survey

__all__ = ["residual_batch"]

EXACT = 1e-12
"""A residual sum of squares below this share of the total is rounding: the variable is a function of the conditioning variables."""
ROUNDING = 1e-13
"""The variance that rounding may leave of a variable which sites' own columns explain wholly, in the study's unit, which is 16 standard
deviations at most: cross-products are right to some 1e-16 of themselves."""
ROWS_PER_PRODUCT, FEWEST_ROWS, MOST_COLUMNS = 5, 20, 250
"""Rows that a test needs for each product of residuals that it tests together, and in any case; columns that a mean has at most."""


def residual_batch(questions: Sequence[Question], sums: Sums, progress: Progress | None = None) -> Exchange:
    """Answer ``questions``; what is learnt on the way stays in ``sums``."""
    results: list[CIResult] = []
    for start in range(0, len(questions), CHUNK):
        steps = _Residuals(questions[start : start + CHUNK], sums)
        rounds = steps.run()
        try:
            request = next(rounds, None)
            while request is not None:
                request = next_of(rounds, (yield request))
                if progress is not None:
                    progress(len(results) + len(steps.answered()), len(questions))
            results += steps.results()
        finally:
            sums.finished |= {test.question: steps.result(test) for test in steps.answered()}
    if progress is not None:
        progress(len(results), len(questions))
    return results


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
    told: dict[Question, CIResult] = field(default_factory=dict)

    def run(self) -> Rounds:
        """The rounds, in order."""
        yield from self._survey()
        yield from find_knots(self._curved(), self._scored(), self.sums, self._asked)
        self._plan()
        yield from self._fit()
        yield from self._multiply()
        yield from self._raise()

    def _asked(self, request: SingleRequest) -> SingleRequest:
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
        new = tuple(s for s in sets if s not in sums.counts and not sums.withheld(s))
        spreads = sums.spread() if sums.exponents is None else ()
        if new or spreads:
            request = Survey(new, spreads)
            sums.take(request.read((yield self._asked(request)), sums.schema))

    def _curved(self) -> list[str]:
        """Continuous variables that need knots."""
        sums = self.sums
        names = {name for q in self.questions for name in (q.variables if sums.options.features else q.given)}
        return [name for name in sorted(names) if not sums.schema[name].kind.is_discrete]

    def _scored(self) -> list[str]:
        """Ordinal variables that need scores."""
        names = {name for q in self.questions for name in (q.x, q.y)}
        return [name for name in sorted(names) if self.sums.schema[name].kind is Kind.ORDINAL]

    def _plan(self) -> None:
        """The two means of every test, each over a sample that stands for all sets with the same rows."""
        sums, limits = self.sums, self.sums.options.disclosure
        alike: dict[frozenset[str], SameRows] = {}
        for question in self.questions:
            same = alike.setdefault(frozenset(question.given), SameRows(sums))
            for missing in (question.x, question.y):
                same.join(question.variables, tuple(v for v in question.variables if v != missing))
        for question in self.questions:
            contributors, rows = sums.counted(question.variables)
            withheld = sums.withheld(question.variables)
            reason = withheld or limits.refusal(contributors, rows) or thin_levels(question, sums.schema, rows)
            if rows == 0 and not withheld:
                reason = f"no site has a row with values for {', '.join(question.variables)} together"
            if reason or limits.alone(contributors):
                self.tests.append(_Test(question, alone=not reason, reason=reason))
                continue
            unplaced = self._unplaced(question)
            if unplaced:
                self.tests.append(_Test(question, reason=unplaced))
                continue
            sample = self._sample(question, alike[frozenset(question.given)])
            expansion = self._expansion(question.given, rows)
            few = f"{rows} rows are too few: there should be more than {FEWEST_ROWS}" if rows <= FEWEST_ROWS else ""
            if expansion is None:
                few = f"{rows} rows are too few for a model given {', '.join(question.given)}"
            if few or expansion is None:
                self.tests.append(_Test(question, reason=few))
                continue
            basis = Basis(sample, expansion)
            self.tests.append(_Test(question, Mean(question.x, basis), Mean(question.y, basis)))

    def _sample(self, question: Question, same: SameRows) -> tuple[str, ...]:
        """The sample that stands for all with the same rows, unless a site of this test keeps one of its variables and x or y apart.

        Of such a site the sample has the rows, and what it says of them has nothing of x or of y: the means would be those of the others.
        """
        found, census = same.first(question.variables), self.sums.census
        if census is None:
            return found
        sites = census.contributors(question.variables)
        shown = all(census.contributors({*found, name}) >= sites for name in (question.x, question.y))
        return found if shown else question.variables

    def _unplaced(self, question: Question) -> str:
        """Why nobody can say where a variable lies that a smooth model or a score needs, or the empty string.

        Under strict isolation a sum over a set of variables may be made where one over a part of it is not.
        """
        found, schema = self.sums.residual, self.sums.schema
        curved = question.variables if self.sums.options.features else question.given
        names = [n for n in curved if not schema[n].kind.is_discrete and n not in found.knots]
        names += [n for n in (question.x, question.y) if schema[n].kind is Kind.ORDINAL and n not in found.scores]
        why = next((reason for n in names if (reason := self.sums.withheld((n,)))), "")
        return f"a smooth model needs to know where {names[0]} lies, which it is not told: {why}" if why else ""

    def _expansion(self, given: tuple[str, ...], rows: int) -> Expansion | None:
        """The richest columns that the rows can bear; none if they cannot bear any."""
        schema, knots = self.sums.schema, self.sums.residual.knots
        curved = any(not schema[name].kind.is_discrete for name in given)
        most = min(MOST_COLUMNS, rows // ROWS_PER_COLUMN)
        census = self.sums.census
        tried = expansions_for(tuple(sorted(given)), rows, curved=curved, nested=census is not None and census.terms.min_cell > 1)
        return next((e for e in tried if widths(schema, e, knots).all <= most), None)

    def _coded(self) -> Coded:
        found = self.sums.residual
        return Coded(self.sums.exponents or {}, found.knots, found.scores)

    def _open(self) -> list[_Test]:
        """Tests whose products are not known."""
        return [test for test in self.tests if test.means and test.question not in self.sums.residual.products]

    def _fit(self) -> Rounds:
        """Cross-products of every sample and set of columns; then every mean, in closed form."""
        sums, found, options = self.sums, self.sums.residual, self.sums.options
        wanted: dict[Basis, dict[str, None]] = {}
        for mean in (m for test in self._open() for m in test.means if m not in found.fits):
            wanted.setdefault(mean.basis, {})[mean.response] = None
        if not wanted:
            return
        sets = tuple(MeanSet(basis.sample, basis.expansion, tuple(sorted(names))) for basis, names in wanted.items())
        request = MeanProducts(sets, self._coded(), options.slopes, options.features)
        totals = request.read((yield self._asked(request)), sums.schema)
        for basis, total in zip(wanted, totals, strict=True):
            if basis not in found.axes:
                wide = widths(sums.schema, basis.expansion, found.knots)
                found.axes[basis] = axes(total.gram, roughness(sums.schema, basis.expansion, found.knots), wide, total.n)
            for name in total.products:
                levels = sums.schema[name].kind in UNORDERED
                mean, products, squares = Mean(name, basis), total.products[name], total.squares[name]
                found.totals[mean] = total
                found.fits[mean] = smooth(found.axes[basis], products, squares, total.n, total.local, levels=levels)

    def _refusal(self, test: _Test) -> str:
        """Why a test with fits is not informative, or the empty string."""
        found = self.sums.residual
        for mean in test.means:
            fit, total = found.fits[mean], found.totals[mean]
            squares = np.diag(total.squares[mean.response])
            if not (squares > 0).any():
                return f"{mean.response} does not vary within any site in the rows of this test"
            if (fit.rss <= np.maximum(EXACT * squares, ROUNDING * total.n)).all():
                return f"{mean.response} is an exact function of the conditioning variables"
            if fit.edf > (MOST_PARAMETERS + 0.1) * total.n:
                return f"{int(total.n)} rows are too few for the {fit.edf:.0f} parameters of the model of {mean.response}"
        return ""

    def _planned(self, test: _Test) -> Plan | str:
        """What a test multiplies, or why it multiplies nothing."""
        refusal = self._refusal(test)
        if refusal:
            return refusal
        schema, found, options = self.sums.schema, self.sums.residual, self.sums.options
        x, y = schema[test.question.x], schema[test.question.y]
        columns: list[Columns] = []
        n = found.totals[test.means[0]].n
        least = fewest_rows(x, y, n, clustered=options.clustered)
        for variable, mean in zip((x, y), test.means, strict=True):
            fit, counts = found.fits[mean], found.totals[mean].counts[mean.response]
            knots = found.knots.get(variable.name) if options.features else None
            made = columns_for(variable, counts, least, fit.left, np.array(self._units(mean)), knots)
            if made is None:
                return f"no level of {variable.name} is frequent enough: it needs {math.ceil(least)} rows"
            columns.append(made)
        parts = parts_of(columns[0], columns[1], numbers=not (x.kind.is_discrete or y.kind.is_discrete))
        d = columns[0].combine.shape[1] * columns[1].combine.shape[1]
        if d > MOST_PRODUCTS or max(len(part.products) for part in parts) * ROWS_PER_PRODUCT > n:
            return f"{d} products of residuals are too many for {n:.0f} rows: there should be {ROWS_PER_PRODUCT} rows for each"
        known = not options.clustered and x.kind in UNORDERED and y.kind in UNORDERED
        return Plan(columns[0], columns[1], parts, known)

    def _units(self, mean: Mean) -> tuple[int, ...]:
        fit, n = self.sums.residual.fits[mean], self.sums.residual.totals[mean].n
        return tuple(round(0.5 * math.log2(rss / n)) if rss > 0 else 0 for rss in fit.rss.tolist())

    def _multiply(self) -> Rounds:
        """Products of residuals of every test, and the tests that one site does alone."""
        sums, found = self.sums, self.sums.residual
        plans = {test.question: plan for test in self._open() if not isinstance(plan := self._planned(test), str)}
        tests = [test for test in self._open() if test.question in plans]
        alone = tuple(test.question for test in self.tests if test.alone and test.question not in found.alone)
        if not tests and not alone:
            return
        request = self._request(tests, plans, {}, alone)
        read = request.read((yield self._asked(request)), sums.schema)
        for test, total in zip(tests, read.tests, strict=True):
            plan, squares = plans[test.question], total.squares
            halves = tuple(part_of(squares, part) for part in plan.parts)
            fourths = [0.0] if plan.known else None
            if total.fourth is not None:
                fourths = [total.fourth / float(squares[0, 0]) ** 2 if squares[0, 0] > 0 else 0.0]
            found.products[test.question] = Products(plan, total.units, total.sums, halves, fourths, self.rounds)
        found.alone |= {question: (answer, self.rounds) for question, answer in read.alone.items()}

    def _raise(self) -> Rounds:
        """Fourth moments of tests with several products of unknown variance."""
        sums, found = self.sums, self.sums.residual
        open_ = {q: p for q, p in found.products.items() if p.fourths is None}
        tests = [test for test in self.tests if test.question in open_ and any(h.shape[1] for h in open_[test.question].halves)]
        if not tests:
            return
        asked = {test.question: open_[test.question] for test in tests}
        request = self._request(tests, {q: p.plan for q, p in asked.items()}, {q: p.halves for q, p in asked.items()}, ())
        read = request.read((yield self._asked(request)), sums.schema)
        for products, fourths in zip(asked.values(), read.fourths, strict=True):
            given = iter(fourths.tolist())
            products.fourths = [next(given) if half.shape[1] else 0.0 for half in products.halves]
            products.rounds = self.rounds

    def _request(
        self, tests: list[_Test], plans: dict[Question, Plan], halves: dict[Question, tuple[Floats, ...]], alone: tuple[Question, ...]
    ) -> ResidualProducts:
        found, options = self.sums.residual, self.sums.options
        turns: dict[tuple[Basis, int], int] = {}
        bases: list[BasisAsk] = []
        models: dict[Mean, tuple[int, MeanAsk]] = {}
        for i, mean in enumerate(dict.fromkeys(m for test in tests for m in test.means)):
            fit = found.fits[mean]
            key = (mean.basis, id(fit.axes))
            if key not in turns:
                turns[key] = len(bases)
                bases.append(BasisAsk(mean.basis.sample, mean.basis.expansion, _bytes(fit.axes.turn)))
            models[mean] = i, MeanAsk(turns[key], mean.response, _bytes(fit.coefficients), _bytes(fit.shrink), self._units(mean))
        asks: list[ProductAsk] = []
        for test in tests:
            x, y = (models[mean][0] for mean in test.means)
            plan = plans[test.question]
            combine = (_matrix(plan.x.combine), _matrix(plan.y.combine))
            roots = tuple(_bytes(half) for half in halves.get(test.question, ()) if half.shape[1])
            asks.append(ProductAsk(x, y, test.question.variables, combine, roots))
        means = tuple(ask for _, ask in models.values())
        how = (options.slopes, options.features, options.clustered, bool(halves))
        return ResidualProducts(tuple(bases), means, tuple(asks), self._coded(), *how, alone)

    def results(self) -> list[CIResult]:
        """The results, in the order of the questions."""
        return [self.result(test) for test in self.tests]

    def result(self, test: _Test) -> CIResult:
        """The result of an answered test, made once."""
        if test.question not in self.told:
            self.told[test.question] = self._result(test)
        return self.told[test.question]

    def answered(self) -> list[_Test]:
        """Tests with all their sums, and those for which none will be asked."""
        return [test for test in self.tests if self._is_answered(test)]

    def _is_answered(self, test: _Test) -> bool:
        found = self.sums.residual
        if test.alone:
            return test.question in found.alone
        if test.question in found.products:
            products = found.products[test.question]
            return products.fourths is not None or not any(half.shape[1] for half in products.halves)
        return not test.means or (all(mean in found.fits for mean in test.means) and isinstance(self._planned(test), str))

    def _result(self, test: _Test) -> CIResult:
        question, found = test.question, self.sums.residual
        contributors, n = self.sums.counted(question.variables)
        if test.alone:
            return _alone(question, *found.alone[question], n, contributors)
        if question in found.products:
            return result_of(question, found.products[question], n, contributors, clustered=self.sums.options.clustered)
        reason = test.reason or str(self._planned(test))
        return silent_result(question, reason, n, contributors, self.rounds)


def _alone(question: Question, answer: AloneResidual, rounds: int, n: int, contributors: int) -> CIResult:
    df = round(answer.df)
    if df == 0:
        return silent_result(question, "the one site that measures these variables cannot tell from its rows", n, contributors, rounds)
    only = untold(question.y, question.x, df, symmetric=True)
    return CIResult(question.x, question.y, question.given, answer.p_value, n, contributors, rounds, directions=(only,))


def _matrix(values: Floats) -> bytes:
    """A change of columns as it travels; nothing for one that changes nothing."""
    return b"" if values.shape[0] == values.shape[1] and (values == np.eye(len(values))).all() else _bytes(values)


def _bytes(values: Floats) -> bytes:
    """Doubles as they travel, so that every site computes at the same bits."""
    return np.ascontiguousarray(values, dtype="<f8").tobytes()
