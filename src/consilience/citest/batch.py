"""A batch of tests as an exchange of requests and sums, without any I/O.

:func:`batch` is a generator: it yields a request, is sent the sum of the sites' answers, and returns the results. Whoever drives it
decides how requests travel and how sums are made. Every model of every test is fitted in the same rounds::

    survey      who can contribute how many rows, per variable set         one round, once per set
    (locate)    where the numbers lie; only without site effects           one round, once per study
    products    level counts and cross-products per sample                 one round; ranks, and fits in closed form
    evaluate    log-likelihood, score, information of every open model     one round per Newton step, all models together
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import ThreadpoolController

from consilience.citest.interface import Progress
from consilience.citest.likelihood import Sketch, alone_directions, closed_form, direction, problem, refusal, result, silent, sketch
from consilience.citest.question import Question
from consilience.citest.requests import ALONE_FIELDS, Evaluate, Locate, ModelAsk, Products, Request, Survey, products_length
from consilience.citest.result import CIResult, Direction
from consilience.citest.study import Model, ProductsTotal, Study
from consilience.glm.kernel import Floats
from consilience.glm.layout import SiteEffects, answer_size, unpack
from consilience.glm.solver import Newton

__all__ = ["Exchange", "batch", "drive"]

Exchange = Generator[Request, Floats, list[CIResult]]
_threads = ThreadpoolController()
CHUNK = 2048
"""Tests per batch of rounds: bounds the length of one message, not the number of tests."""


def batch(questions: Sequence[Question], study: Study, progress: Progress | None = None) -> Exchange:
    """Answer ``questions``; what is learnt on the way stays in ``study``, also when the generator is closed half-way."""
    results: list[CIResult] = []
    for start in range(0, len(questions), CHUNK):
        steps = _Batch(questions[start : start + CHUNK], study)
        exchange = steps.run()
        try:
            request = next(exchange)
            while request is not None:
                request = exchange.send((yield request))
                if progress is not None:
                    progress(len(results) + len(steps.answered()), len(questions))
            results += steps.results()
        finally:
            study.finished |= {test.question: steps.result(test) for test in steps.answered()}
    if progress is not None:
        progress(len(results), len(questions))
    return results


def drive(steps: Exchange, ask: Callable[[Request], Floats]) -> list[CIResult]:
    """Run an exchange to its end: ``ask`` turns a request into the sum of the sites' answers."""
    # designs are narrow: one BLAS thread is faster than several that wait for each other
    with _threads.limit(limits=1, user_api="blas"):
        try:
            request = next(steps)
            while True:
                request = steps.send(ask(request))
        except StopIteration as stop:
            results: list[CIResult] = stop.value
            return results
        finally:
            steps.close()  # what is finished is written down before whoever catches an error looks for it


@dataclass(frozen=True, slots=True, eq=False)
class _Test:
    """A question and its four models: (restricted, full) with y as the response, then with x.

    Without models it is answered by one site ``alone``, or not at all for a ``reason``.
    """

    question: Question
    sample: tuple[str, ...]
    models: tuple[tuple[Model, Model], ...] = ()
    alone: bool = False
    reason: str = ""


@dataclass(slots=True, eq=False)
class _Batch:
    questions: Sequence[Question]
    study: Study
    tests: list[_Test] = field(default_factory=list)
    sketches: dict[Model, Sketch] = field(default_factory=dict)
    finished: dict[Model, int] = field(default_factory=dict)
    open: dict[Model, Newton] = field(default_factory=dict)
    alone: dict[Question, tuple[float, ...]] = field(default_factory=dict)
    rounds: int = 0
    ready: int = 0

    def run(self) -> Generator[Request | None, Floats, None]:
        """The rounds, in order; yields None when there is nothing left to ask."""
        for step in (self._survey, self._locate, self._plan, self._products, self._evaluate):
            steps = step()
            if steps is None:
                continue
            for request in steps:
                self.rounds += 1
                self._take(request, (yield request))
        yield None

    def _take(self, request: Request, total: Floats) -> None:
        """Read a sum into the study."""
        if isinstance(request, Survey):
            self._read_survey(request, total)
        elif isinstance(request, Locate):
            parts = total.reshape(-1, 2)
            exponents = self.study.exponents or {}
            means = np.divide(parts[:, 1], parts[:, 0], out=np.zeros(len(parts)), where=parts[:, 0] > 0)
            self.study.locations = {
                name: float(np.ldexp(mean, exponents.get(name, 0))) for name, mean in zip(request.variables, means, strict=True)
            }
        elif isinstance(request, Products):
            position = 0
            for variables in request.sets:
                length = products_length(self.study.schema, variables)
                part = total[position : position + length]
                self.study.products[variables] = ProductsTotal.read(part, self.study.schema, variables, self.study.options.effects)
                position += length
            numbers = total[position:].reshape(-1, ALONE_FIELDS).tolist()
            self.alone |= dict(zip(request.alone, map(tuple, numbers), strict=True))
        else:
            self._read_evaluate(total)

    def _survey(self) -> Iterable[Request] | None:
        always = self.study.options.always
        sets: dict[tuple[str, ...], None] = {}
        for question in self.questions:
            sample = tuple(sorted((*question.variables, *always)))
            for missing in (None, question.x, question.y):
                sets[tuple(v for v in sample if v != missing)] = None
        if self.study.options.effects is SiteEffects.NONE:
            sets |= {(name,): None for name in self.study.continuous()}
        new = tuple(s for s in sets if s not in self.study.counts)
        spreads = self.study.continuous() if self.study.exponents is None else ()
        return [Survey(new, spreads)] if new or spreads else None

    def _read_survey(self, request: Survey, total: Floats) -> None:
        whole = np.rint(total).astype(np.int64)
        for i, variables in enumerate(request.sets):
            self.study.counts[variables] = (int(whole[2 * i]), int(whole[2 * i + 1]))
        if self.study.exponents is None:
            votes = whole[2 * len(request.sets) :].reshape(-1, 2)
            self.study.exponents = {
                name: round(exponents / n) if n else 0 for name, (n, exponents) in zip(request.spreads, votes.tolist(), strict=True)
            }

    def _locate(self) -> Iterable[Request] | None:
        study = self.study
        if study.options.effects is not SiteEffects.NONE or study.locations is not None:
            return None
        limits = study.options.disclosure
        known = tuple(n for n in study.continuous() if study.counts[n,][0] > 1 or limits.min_contributors == 1)
        known = tuple(n for n in known if not limits.refusal(*study.counts[n,]))
        if not known:  # of the others nobody may learn where they lie, and no sum needs it
            study.locations = {}
            return None
        return [Locate(known, study.exponents or {})]

    def _plan(self) -> None:
        """The models of every test, each with the smallest sample that has the same rows: equal models are fitted once."""
        study = self.study
        always = study.options.always
        for question in self.questions:
            sample = tuple(sorted((*question.variables, *always)))
            contributors, rows = study.counts[sample]
            if rows == 0:
                reason = f"no site has a row with values for {', '.join(question.variables)} together"
            else:
                reason = study.options.disclosure.refusal(contributors, rows)
            if reason or study.options.disclosure.alone(contributors):
                self.tests.append(_Test(question, sample, alone=not reason, reason=reason))
                continue
            pairs = []
            for response, predictor in ((question.y, question.x), (question.x, question.y)):
                restricted = self._model(response, (*question.given, *always), sample)
                full = self._model(response, (*question.given, *always, predictor), sample)
                pairs.append((restricted, full))
            self.tests.append(_Test(question, sample, tuple(pairs)))

    def _model(self, response: str, predictors: tuple[str, ...], sample: tuple[str, ...]) -> Model:
        own = tuple(sorted((response, *predictors)))
        same_rows = own in self.study.counts and self.study.rows(own) == self.study.rows(sample)
        return Model(response, tuple(sorted(predictors)), own if same_rows else sample)

    def _models(self) -> Iterable[Model]:
        return dict.fromkeys(m for test in self.tests for pair in test.models for m in pair)

    def _products(self) -> Iterable[Request] | None:
        study = self.study
        needed = sorted({m.sample for m in self._models()}, key=lambda s: (-len(s), s))
        asked: list[tuple[str, ...]] = []
        for sample in needed:
            rows = study.rows(sample)
            if study.cover(sample) or any(study.rows(a) == rows and set(sample) <= set(a) for a in asked):
                continue
            asked.append(sample)
        alone = tuple(test.question for test in self.tests if test.alone)
        if not asked and not alone:
            return None
        options = study.options
        return [Products(tuple(asked), study.exponents or {}, study.locations, alone, options.ordinal, options.ridge)]

    def _evaluate(self) -> Generator[Request, None, None]:
        self._open_models()
        self.study.runs += 1
        study, options = self.study, self.study.options
        while self.open:
            asks = tuple(self._ask(model, newton) for model, newton in self.open.items())
            yield Evaluate(study.runs, asks, options.effects, options.ordinal, options.n_sites, study.exponents or {}, study.locations)

    def _open_models(self) -> None:
        """Sketch every model; fit what has a closed form; start the others that an informative comparison needs."""
        study = self.study
        self.ready = self.rounds
        for model in self._models():
            found = study.cover(model.sample)
            assert found is not None
            shape = self.sketches[model] = sketch(model, found, study)
            fit = None if model in study.fits else closed_form(model, shape, found, study)
            if fit is not None:
                study.fits[model] = fit
        for test in self.tests:
            for restricted, full in test.models:
                if self._refusal(test, restricted, full):
                    continue
                for model in (restricted, full):
                    if model not in study.fits and model not in self.open:
                        begin = study.starts.get(model) if study.restarted else None
                        self.open[model] = Newton(problem(self.sketches[model], study, begin))
                        study.starts[model] = self.open[model].beta

    def _ask(self, model: Model, newton: Newton) -> ModelAsk:
        shape = self.sketches[model]
        beta = np.ascontiguousarray(newton.beta, dtype="<f8").tobytes()
        return ModelAsk(model.response, model.predictors, model.sample, shape.keep, shape.levels, beta, newton.mu)

    def _read_evaluate(self, total: Floats) -> None:
        position = 0
        for model, newton in list(self.open.items()):
            size = len(newton.beta)
            newton.tell(unpack(total[position : position + answer_size(size)], size))
            self.study.starts[model] = newton.beta
            position += answer_size(size)
            if newton.fit is not None:
                self.study.fits[model] = newton.fit
                self.finished[model] = self.rounds
                del self.open[model]

    def _refusal(self, test: _Test, restricted: Model, full: Model) -> str:
        sites = self.study.counts[test.sample][0]
        return refusal(test.question, full.response, self.sketches[restricted], self.sketches[full], self.study, sites)

    def answered(self) -> list[_Test]:
        """Tests that have all they need."""
        return [test for test in self.tests if self._is_answered(test)]

    def _is_answered(self, test: _Test) -> bool:
        if test.alone:
            return test.question in self.alone
        fits, sketches = self.study.fits, self.sketches
        return all(
            pair[0] in sketches and pair[1] in sketches and (all(m in fits for m in pair) or bool(self._refusal(test, *pair)))
            for pair in test.models
        )

    def results(self) -> list[CIResult]:
        """The results, in the order of the questions."""
        return [self.result(test) for test in self.tests]

    def result(self, test: _Test) -> CIResult:
        """The result of an answered test."""
        question, study = test.question, self.study
        contributors, n = study.counts[test.sample]
        if test.alone:
            return result(question, alone_directions(question, self.alone[question]), n, contributors, self.ready)
        if not test.models:
            both = tuple(silent(r, p, test.reason) for r, p in ((question.y, question.x), (question.x, question.y)))
            return result(question, both, n, contributors, self.ready, test.reason)
        done = [self.finished.get(m, 0) for pair in test.models for m in pair]
        directions = tuple(self._direction(test, restricted, full) for restricted, full in test.models)
        return result(question, directions, n, contributors, max(*done, self.ready))

    def _direction(self, test: _Test, restricted: Model, full: Model) -> Direction:
        question, response = test.question, full.response
        predictor = question.y if response == question.x else question.x
        reason = self._refusal(test, restricted, full)
        if reason:
            return silent(response, predictor, reason)
        small, large = self.sketches[restricted], self.sketches[full]
        df = (large.rank - small.rank) * large.per_column
        fits = self.study.fits
        return direction(response, predictor, df, fits[restricted], fits[full], gaussian=large.shape is None)
