"""A batch of tests as an exchange of requests and sums, without any I/O.

:func:`batch` is a generator: it yields a request, is sent the sum of the sites' answers, and returns the results. Whoever drives it
decides how requests travel and how sums are made. Every model of every test is fitted in the same rounds::

    survey      who can contribute how many rows, per variable set         one round, once per set
    (locate)    where the numbers lie; only with a common intercept        one round, once per study
    products    level counts and cross-products per sample                 one round; ranks, and fits in closed form
    (refit)     residual sums of Gaussian models; only where digits are lost  one round, rarely two
    evaluate    log-likelihood, score, information of every open model     one round per Newton step, all models together
    (diagnose)  what the full models miss                                  one round, if the study wants to know
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from consilience.citest.interface import Progress
from consilience.citest.question import Question
from consilience.citest.result import CIResult, Direction, silent
from consilience.data.design import ModelSpec
from consilience.federation.exchange.diagnosis import combine_directions, diagnose_request, judge
from consilience.federation.exchange.freedom import degrees, freedom, gap_is_open, slope_positions, without_faint
from consilience.federation.exchange.levels import thin_levels
from consilience.federation.exchange.likelihood import (
    MOST_ROUNDS,
    Reference,
    Sketch,
    closed_form,
    direction,
    no_information,
    problem,
    reference,
    refusal,
    result,
    settled,
    sketch,
    too_steep,
)
from consilience.federation.exchange.refined import Refinement, worn
from consilience.federation.exchange.sizes import Sizer, slopes_of
from consilience.federation.exchange.sums import Sums
from consilience.glm.kernel import Floats
from consilience.glm.layout import SiteEffects
from consilience.glm.solver import Newton
from consilience.parallel import one_thread
from consilience.protocol.evaluate import Evaluate, ModelAsk
from consilience.protocol.locate import Locate
from consilience.protocol.products import AloneAnswer, Products
from consilience.protocol.refit import LineAsk, Refit
from consilience.protocol.request import VariableSet
from consilience.protocol.single import SingleRequest
from consilience.protocol.survey import Survey

__all__ = ["Exchange", "batch", "drive", "next_of"]

Rounds = Generator[SingleRequest, Floats, None]
Exchange = Generator[SingleRequest, Floats, list[CIResult]]
R = TypeVar("R")
CHUNK = 2048
"""Tests per batch of rounds: bounds the length of one message, not the number of tests."""


def batch(questions: Sequence[Question], sums: Sums, progress: Progress | None = None) -> Exchange:
    """Answer ``questions``; what is learnt on the way stays in ``sums``, also when the generator is closed half-way."""
    results: list[CIResult] = []
    for start in range(0, len(questions), CHUNK):
        steps = _Batch(questions[start : start + CHUNK], sums)
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


def next_of(rounds: Rounds, total: Floats) -> SingleRequest | None:
    """Hand a sum over, and take the next request; None when there is nothing left to ask."""
    try:
        return rounds.send(total)
    except StopIteration:
        return None


def drive(steps: Generator[SingleRequest, Floats, list[R]], ask: Callable[[SingleRequest], Floats]) -> list[R]:
    """Run an exchange to its end: ``ask`` turns a request into the sum of the sites' answers."""
    with one_thread():
        try:
            request = next(steps)
            while True:
                request = steps.send(ask(request))
        except StopIteration as stop:
            results: list[R] = stop.value
            return results
        finally:
            steps.close()  # what is finished is written down before whoever catches an error looks for it


@dataclass(frozen=True, slots=True, eq=False)
class _Test:
    """A question and its four models: (restricted, full) with y as the response, then with x.

    Without models it is answered by one site ``alone``, or not at all for a ``reason``.
    """

    question: Question
    sample: VariableSet
    models: tuple[tuple[ModelSpec, ModelSpec], ...] = ()
    alone: bool = False
    reason: str = ""


@dataclass(slots=True, eq=False)
class _Batch:
    questions: Sequence[Question]
    sums: Sums
    tests: list[_Test] = field(default_factory=list)
    sketches: dict[ModelSpec, Sketch] = field(default_factory=dict)
    finished: dict[ModelSpec, int] = field(default_factory=dict)
    open: dict[ModelSpec, Newton] = field(default_factory=dict)
    alone: dict[Question, AloneAnswer] = field(default_factory=dict)
    told: dict[Question, CIResult] = field(default_factory=dict)
    rounds: int = 0
    ready: int = 0
    _sizer: Sizer = field(init=False)

    def __post_init__(self) -> None:
        self._sizer = Sizer(self.sums)

    def run(self) -> Rounds:
        """The rounds, in order."""
        yield from self._survey()
        yield from self._locate()
        self._plan()
        yield from self._products()
        self._open_models()
        yield from self._refit()
        yield from self._evaluate()
        yield from self._diagnose()

    def _asked(self, request: SingleRequest) -> SingleRequest:
        self.rounds += 1
        return request

    def _survey(self) -> Rounds:
        """Counts of every sample that a model of these tests may have.

        Three variable sets per question: R = {X, Y} ∪ Z itself, whose complete rows all four models are fitted on, and R without X and
        R without Y, on which the restricted models alone could be. Where a smaller set has as many complete rows as R, they are the same
        rows, so a model over the smaller set is the same model in every test that shares it: one fit serves all of them. That takes the
        tests of five variables from 320 fits to 80, at the price of two more counts a test.
        """
        sums, always = self.sums, self.sums.options.always
        sets: dict[VariableSet, None] = {}
        for question in self.questions:
            sample = tuple(sorted((*question.variables, *always)))
            for missing in (None, question.x, question.y):
                sets[tuple(v for v in sample if v != missing)] = None
        if sums.options.effects.common:
            sets |= {(name,): None for name in sums.numbers()}
        new = tuple(s for s in sets if s not in sums.counts and not sums.withheld(s))
        spreads = sums.spread() if sums.exponents is None else ()
        if new or spreads:
            request = Survey(new, spreads)
            sums.take(request.read((yield self._asked(request)), sums.schema))

    def _locate(self) -> Rounds:
        sums, limits = self.sums, self.sums.options.disclosure
        if not sums.options.effects.common or sums.locations is not None:
            return
        known = tuple(n for n in sums.numbers() if sums.counted((n,))[0] > 1 or limits.min_contributors == 1)
        known = tuple(n for n in known if not sums.refusal((n,)))
        if not known:  # of the others nobody may learn where they lie, and no sum needs it
            sums.locations = {}
            return
        request = Locate(known, sums.exponents or {})
        sums.locations = request.read((yield self._asked(request)), sums.schema)

    def _plan(self) -> None:
        """The models of every test, each with the smallest sample that has the same rows: equal models are fitted once."""
        sums, limits, always = self.sums, self.sums.options.disclosure, self.sums.options.always
        for question in self.questions:
            sample = tuple(sorted((*question.variables, *always)))
            contributors, rows = sums.counted(sample)
            reason = sums.withheld(sample)
            if not reason and rows == 0:
                reason = f"no site has a row with values for {', '.join(question.variables)} together"
            elif not reason:
                reason = limits.refusal(contributors, rows) or thin_levels(question, sums.schema, rows)
            if reason or limits.alone(contributors):
                self.tests.append(_Test(question, sample, alone=not reason, reason=reason))
                continue
            pairs = []
            for response, predictor in ((question.y, question.x), (question.x, question.y)):
                restricted = self._model(response, (*question.given, *always), sample)
                full = self._model(response, (*question.given, *always, predictor), sample)
                pairs.append((restricted, full))
            self.tests.append(_Test(question, sample, tuple(pairs)))

    def _model(self, response: str, predictors: tuple[str, ...], sample: VariableSet) -> ModelSpec:
        own = tuple(sorted((response, *predictors)))
        same_rows = own in self.sums.counts and self.sums.rows(own) == self.sums.rows(sample)
        return ModelSpec(response, tuple(sorted(predictors)), own if same_rows else sample)

    def _models(self) -> dict[ModelSpec, None]:
        return dict.fromkeys(m for test in self.tests for pair in test.models for m in pair)

    def _products(self) -> Rounds:
        """Cross-products of every sample that is not covered by a larger set with the same rows, known or asked for in this round."""
        sums, options = self.sums, self.sums.options
        needed = sorted({m.sample for m in self._models()}, key=lambda s: (-len(s), s))
        asked: list[VariableSet] = []
        for sample in needed:
            rows = sums.rows(sample)
            if sums.cover(sample) or any(sums.rows(a) == rows and set(sample) <= set(a) for a in asked):
                continue
            asked.append(sample)
        alone = tuple(test.question for test in self.tests if test.alone)
        if asked or alone:
            request = Products(
                tuple(asked), sums.exponents or {}, sums.locations, alone, options.ordinal, options.ridge, options.small_sample
            )
            found = request.read((yield self._asked(request)), sums.schema)
            sums.products |= found.sets
            self.alone |= found.alone

    def _open_models(self) -> None:
        """Sketch every model; fit what has a closed form; start the others that an informative comparison needs."""
        sums = self.sums
        self.ready = self.rounds
        for model in self._models():
            found = sums.cover(model.sample)
            assert found is not None
            shape = self.sketches[model] = sketch(model, found, sums)
            fit = None if model in sums.fits else closed_form(model, shape, found, sums)
            if fit is not None:
                sums.fits[model] = fit
        for test in self.tests:
            for restricted, full in test.models:
                if self._refusal(test, restricted, full):
                    continue
                for model in (restricted, full):
                    if model not in sums.fits and model not in self.open:
                        begin = sums.starts.get(model) if sums.restarted else None
                        found = sums.cover(model.sample)
                        assert found is not None
                        self.open[model] = Newton(problem(model, self.sketches[model], found, sums, begin))
                        sums.starts[model] = self.open[model].beta

    def _refit(self) -> Rounds:
        """Gaussian fits that cross-products tell too little of: see :mod:`consilience.federation.exchange.refined`."""
        sums, open_ = self.sums, dict[ModelSpec, Refinement]()
        wanted = dict.fromkeys(m for test in self.tests for pair in test.models if not self._refusal(test, *pair) for m in pair)
        for model in wanted:
            found = sums.cover(model.sample)
            assert found is not None
            if model not in sums.refined and worn(model, self.sketches[model], found, sums):
                open_[model] = Refinement(model, self.sketches[model], found, sums)
        sums.refined |= set(open_)
        while open_:
            asks = tuple(LineAsk.of(model, self.sketches[model].keep, fit.slopes) for model, fit in open_.items())
            request = Refit(asks, sums.exponents or {}, sums.locations)
            totals = request.read((yield self._asked(request)), sums.schema)
            for (model, refinement), total in zip(list(open_.items()), totals, strict=True):
                refinement.tell(total)
                if refinement.fit is not None:
                    sums.fits[model] = refinement.fit
                    self.finished[model] = self.rounds
                    del open_[model]

    def _evaluate(self) -> Rounds:
        """All fits. Those that coordinate ascent does not bring to an end go on with the sites' profiled information."""
        sums = self.sums
        yield from self._climb(sums.options.effects)
        if sums.options.effects is not SiteEffects.COORDINATE:
            return
        for model in self._models():
            fit = sums.fits.get(model)
            if fit is not None and not fit.converged and fit.rounds:
                found = sums.cover(model.sample)
                assert found is not None
                again = problem(model, self.sketches[model], found, sums)
                self.open[model] = Newton(replace(again, quadratic=True, most_rounds=MOST_ROUNDS))
        if self.open:
            yield from self._climb(SiteEffects.PROFILED)

    def _climb(self, effects: SiteEffects) -> Rounds:
        """One step of every open model a round, until none is open. A fit does not wait for another, only for the round."""
        sums, options = self.sums, self.sums.options
        sums.runs += 1
        while self.open:
            asks = tuple(self._ask(model, newton) for model, newton in self.open.items())
            request = Evaluate(sums.runs, asks, effects, options.ordinal, options.n_sites, sums.exponents or {}, sums.locations)
            totals = request.read((yield self._asked(request)), sums.schema)
            for (model, newton), total in zip(list(self.open.items()), totals, strict=True):
                shape = self.sketches[model]
                if not effects.common and model not in sums.freedom and not (total.infeasible or total.withheld):
                    sums.freedom[model] = freedom(total.info, self._slopes(model))
                newton.tell(total)
                sums.starts[model] = newton.beta
                if newton.fit is not None:
                    if model in sums.freedom and shape.shape is not None and gap_is_open(newton.fit.beta, shape.shape):
                        sums.freedom[model] = freedom(without_faint(total.info, shape), self._slopes(model))
                    if newton.fit.converged:
                        self._keep_slopes(model, newton, effects)
                    sums.fits[model] = settled(newton.fit, model, shape, sums)
                    self.finished[model] = self.rounds
                    del self.open[model]

    def _keep_slopes(self, model: ModelSpec, newton: Newton, effects: SiteEffects) -> None:
        """What a fit in steps says of the sizes of its predictors. Coordinates come with an information that is too large to say more."""
        assert newton.state.total is not None
        info = None if effects is SiteEffects.COORDINATE else newton.state.total.info
        random = effects is SiteEffects.RANDOM
        self.sums.slopes[model] = slopes_of(newton, info, self.sketches[model], random=random)

    def _diagnose(self) -> Rounds:
        """Whether the full models of all tests hold."""
        sums = self.sums
        full = {m: self.sketches[m] for t in self.tests for r, m in t.models if m not in sums.checked and not self._refusal(t, r, m)}
        asked = diagnose_request(full, sums)
        if asked is None:
            return
        models, request = asked
        totals = request.read((yield self._asked(request)), sums.schema)
        for model, ask, total in zip(models, request.models, totals, strict=True):
            sums.checked[model] = judge(total, full[model], ask, sums)

    def _ask(self, model: ModelSpec, newton: Newton) -> ModelAsk:
        shape = self.sketches[model]
        return ModelAsk.of(model, shape.keep, shape.levels, newton.beta, newton.mu)

    def _slopes(self, model: ModelSpec) -> dict[str, list[int]]:
        shape = self.sketches[model]
        assert shape.shape is not None
        return slope_positions(model, shape.keep, shape.shape, self.sums.schema)

    def _degrees(self, restricted: ModelSpec, full: ModelSpec, predictor: str) -> int:
        """Degrees of freedom of a comparison whose fits are there."""
        small, large, sums = self.sketches[restricted], self.sketches[full], self.sums
        if large.shape is None:
            return large.rank - small.rank
        if sums.rank_of is not None:
            found = sums.rank_of(full, predictor, large.levels)
        elif sums.options.effects.common:  # one intercept, or one law of intercepts: every row speaks on every slope
            return (large.rank - small.rank) * large.per_column
        else:
            found = sums.freedom[full][predictor]
        return degrees(found, self._slopes(full)[predictor], sums.fits[full].beta, large)

    def _refusal(self, test: _Test, restricted: ModelSpec, full: ModelSpec) -> str:
        sites = self.sums.counts[test.sample][0]
        return refusal(test.question, full.response, self.sketches[restricted], self.sketches[full], self.sums, sites)

    def answered(self) -> list[_Test]:
        """Tests that have all they need."""
        return [test for test in self.tests if self._is_answered(test)]

    def _is_answered(self, test: _Test) -> bool:
        if test.alone:
            return test.question in self.alone
        fits, sketches = self.sums.fits, self.sketches
        return all(
            pair[0] in sketches and pair[1] in sketches and (all(m in fits for m in pair) or bool(self._refusal(test, *pair)))
            for pair in test.models
        )

    def results(self) -> list[CIResult]:
        """The results, in the order of the questions."""
        return [self.result(test) for test in self.tests]

    def result(self, test: _Test) -> CIResult:
        """The result of an answered test, made once."""
        if test.question not in self.told:
            self.told[test.question] = self._result(test)
        return self.told[test.question]

    def _result(self, test: _Test) -> CIResult:
        question = test.question
        contributors, n = self.sums.counted(test.sample)
        if test.alone:
            told = self.alone[question]
            return replace(result(question, told.directions(question), n, contributors, self.ready), p_value=told.p_value)
        if not test.models:
            both = tuple(silent(r, p, test.reason) for r, p in ((question.y, question.x), (question.x, question.y)))
            return result(question, both, n, contributors, self.ready, test.reason)
        done = [self.finished.get(m, 0) for pair in test.models for m in pair]
        directions = tuple(self._direction(test, restricted, full) for restricted, full in test.models)
        answer = result(question, directions, n, contributors, max(*done, self.ready))
        return replace(answer, diagnostics=combine_directions(self.sums.checked.get(full) for _, full in test.models))

    def _direction(self, test: _Test, restricted: ModelSpec, full: ModelSpec) -> Direction:
        question, response = test.question, full.response
        predictor = question.y if response == question.x else question.x
        reason = self._refusal(test, restricted, full)
        if reason:
            return silent(response, predictor, reason)
        fits = self.sums.fits
        if fits[restricted].withheld or fits[full].withheld:
            return silent(response, predictor, too_steep(response))
        df = self._degrees(restricted, full, predictor)
        if df == 0:
            return silent(response, predictor, no_information(question, response))
        law = self._law(test, full)
        told = direction(response, predictor, df, fits[restricted], fits[full], law, gaussian=self.sketches[full].gaussian)
        if not told.informative:
            return told
        found = self.sums.cover(full.sample)
        assert found is not None
        sizes, sign = self._sizer.sized(told, full, self.sketches[full], found)
        return replace(told, sizes=sizes, sign=sign)

    def _law(self, test: _Test, full: ModelSpec) -> Reference:
        return reference(self.sketches[full], self.sums, self.sums.counts[test.sample][0])
