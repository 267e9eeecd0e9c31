"""One site's answers to requests, from its encoded table alone."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from consilience.citest.batch import batch, drive
from consilience.citest.combine import chi2_log_sf, log_symmetric
from consilience.citest.question import Question
from consilience.citest.requests import (
    ALONE_FIELDS,
    Evaluate,
    LocalTests,
    Locate,
    ModelAsk,
    Products,
    Request,
    Survey,
    coding_of,
    products_length,
)
from consilience.citest.result import CIResult
from consilience.citest.study import Options, Study
from consilience.data.design import build, cross_products
from consilience.data.table import Table
from consilience.glm.kernel import Floats, Kernel
from consilience.glm.layout import Shape, SiteEffects, answer_size, n_parameters, pack
from consilience.glm.site_effects import WarmStart, answer, make_kernel
from consilience.protocol.errors import OutsideSchemaError

__all__ = ["SiteWorker"]

CACHE_BYTES = 96 << 20
EXPONENT_STEP = 8
"""Spreads are told in powers of 2⁸ only: enough to keep numbers in range, and little more than the unit."""


class SiteWorker:
    """Answers requests over one table. It keeps designs (up to ``cache_bytes``) and, within a run, its intercepts.

    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> table = Table(pl.DataFrame({"C": [0, 1, 1]}), Schema({"C": "binary"}), "muenster")
    >>> SiteWorker(table).answer(Survey((("C",),)))
    array([1., 3.])
    """

    def __init__(self, table: Table, cache_bytes: int = CACHE_BYTES) -> None:
        self.table = table
        self._kernels: dict[Any, Kernel | None] = {}
        self._cache_bytes, self._cached = cache_bytes, 0
        self._run: int | None = None
        self._warm: dict[Any, WarmStart | None] = {}
        self._local_run: int | None = None
        self._local_results: dict[Question, CIResult] = {}

    def answer(self, request: Request, site: int = 0) -> Floats:
        """The flat vector for ``request``; ``site`` is this site's position, needed where intercepts are joint."""
        if isinstance(request, Survey):
            return self._survey(request)
        if isinstance(request, Locate):
            return self._locate(request)
        if isinstance(request, Products):
            return self._products(request)
        if isinstance(request, LocalTests):
            return self._local(request)
        return self._evaluate(request, site)

    def _survey(self, request: Survey) -> Floats:
        answer: list[float] = []
        for variables in request.sets:
            n = self.table.complete(variables).n if self.table.holds(variables) else 0
            answer += [float(n > 0), float(n)]
        for name in request.spreads:
            values = self.table.numbers.get(name)
            spread = 0.0 if values is None else float(np.nanstd(values))
            votes = spread > 0.0 and math.isfinite(spread)
            answer += [1.0, EXPONENT_STEP * round(math.log2(spread) / EXPONENT_STEP)] if votes else [0.0, 0.0]
        return np.array(answer)

    def _locate(self, request: Locate) -> Floats:
        answer: list[float] = []
        for name in request.variables:
            values = self.table.numbers.get(name, np.empty(0))
            values = values[~np.isnan(values)]
            answer += [float(len(values)), float(np.ldexp(values, -request.exponents.get(name, 0)).sum())]
        return np.array(answer)

    def _products(self, request: Products) -> Floats:
        schema = self.table.schema
        parts: list[Floats] = []
        for variables in request.sets:
            if not self.table.holds(variables):
                parts.append(np.zeros(products_length(schema, variables)))
                continue
            found = cross_products(self.table, variables, coding_of(request))
            parts += [np.array([float(found.n)]), found.levels, found.nulls, found.sums, found.gram[np.triu_indices(len(found.sums))]]
        parts.append(self._alone(request))
        return np.concatenate(parts)

    def _alone(self, request: Products) -> Floats:
        """The questions that only one site can answer: zeros everywhere but there."""
        vector = np.zeros((len(request.alone), ALONE_FIELDS))
        mine = [i for i, q in enumerate(request.alone) if self.table.holds(q.variables) and self.table.complete(q.variables).n]
        own = LocalTests(tuple(request.alone[i] for i in mine), request.ordinal, request.ridge)
        for i, result in zip(mine, self.test_alone(own), strict=True):
            by_y, by_x = result.directions
            flags = result.converged + 2 * by_y.separated + 4 * by_x.separated
            vector[i] = [by_y.statistic, by_y.df, by_x.statistic, by_x.df, flags]
        return vector.ravel()

    def _evaluate(self, request: Evaluate, site: int) -> Floats:
        if request.run != self._run:
            self._run, self._warm = request.run, {}
            if self._cached > self._cache_bytes // 2:
                self._kernels, self._cached = {}, 0
        parts: list[Floats] = [np.empty(0)]
        seen: dict[Any, Floats] = {}
        for model in request.models:
            shape = model.shape(self.table.schema, request.ordinal)
            if not self.table.holds(model.sample):
                parts.append(np.zeros(answer_size(n_parameters(shape, request.effects, request.n_sites))))
                continue
            rows = self.table.complete(model.sample)
            key = (model.response, model.predictors, rows.key, model.keep, model.levels)
            point = (key, model.beta, model.mu)
            if point not in seen:  # samples that differ elsewhere may be the same rows here
                seen[point] = self._one(model, shape, request, site, key)
            parts.append(seen[point])
        return np.concatenate(parts)

    def _one(self, model: ModelAsk, shape: Shape, request: Evaluate, site: int, key: Any) -> Floats:
        kernel = self._kernel(model, shape, request, key)
        warm = self._warm.get(key)
        total, self._warm[key] = answer(kernel, shape, request.effects, model.point, site, request.n_sites, warm)
        return pack(total)

    def _kernel(self, model: ModelAsk, shape: Shape, request: Evaluate, key: Any) -> Kernel | None:
        coding = coding_of(request)
        locations = None if coding.locations is None else tuple(sorted(coding.locations.items()))
        full_key = (key, shape, request.effects, model.mu, tuple(sorted(coding.exponents.items())), locations)
        if full_key in self._kernels:
            return self._kernels[full_key]
        design = build(self.table, model.rows, model.keep, coding)
        code = np.full(len(self.table.schema[model.response].levels), -1, dtype=np.int32)
        code[list(model.levels)] = np.arange(len(model.levels), dtype=np.int32)
        response = code[design.response]
        if (response < 0).any():
            raise OutsideSchemaError(f"The levels of {model.response!r} in a model must be all that occur in its sample.")
        kernel = make_kernel(replace(design, response=response), shape, request.effects, model.mu)
        # Models are asked for in the same order every round: where they do not all fit, dropping the oldest would drop just the one
        # needed next. What is kept stays for the run; what does not fit is built anew.
        size = 4 * design.nbytes + 512
        if self._cached + size <= self._cache_bytes:
            self._kernels[full_key] = kernel
            self._cached += size
        return kernel

    def _local(self, request: LocalTests) -> Floats:
        if request.run != self._local_run:
            self._local_run, self._local_results = request.run, {}
        new = tuple(q for q in request.questions if q not in self._local_results)
        fresh = self.test_alone(LocalTests(new, request.ordinal, request.ridge))
        self._local_results |= dict(zip(new, fresh, strict=True))
        vector = np.zeros((len(request.questions), request.fields))
        for i, question in enumerate(request.questions):
            result = self._local_results[question]
            logs = [chi2_log_sf(d.statistic, d.df) for d in result.directions if d.informative]
            if logs:
                log_p = logs[0] if len(logs) == 1 else log_symmetric(logs[0], logs[1])
                vector[i] = [1.0, result.n] if request.count else [-2.0 * log_p]
        return vector.ravel()

    def test_alone(self, request: LocalTests) -> list[CIResult]:
        """The site's own tests: the same models, fitted on its own rows only."""
        study = Study(self.table.schema, Options(SiteEffects.PROFILED, request.ordinal, request.ridge))
        return drive(batch(request.questions, study), SiteWorker(self.table, self._cache_bytes).answer)
