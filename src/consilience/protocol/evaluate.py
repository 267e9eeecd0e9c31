"""Log-likelihood, score and information of many models, each at parameters of its own: one step of all iterative fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from consilience.data.averages import Averages
from consilience.data.design import Coding, Design, ModelSpec, build, column_names, counts_rows, cross_products, n_columns
from consilience.data.kinds import Kind
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.glm.blocked import Blocked, answer_together
from consilience.glm.crowd import Crowds, sets_of_block
from consilience.glm.gaussian import Moments
from consilience.glm.kernel import Floats, Kernel
from consilience.glm.layout import Family, ModelSize, Ordinal, Shape, SiteEffects, Total, family_of, model_size, pack, unpack
from consilience.glm.site_effects import Steps, WarmStart, answer, make_kernel, steps
from consilience.protocol.desk import Desk
from consilience.protocol.errors import OutsideSchemaError, WrongShapeError, WrongTermsError
from consilience.protocol.framing import encode
from consilience.protocol.guard import Guard
from consilience.protocol.request import MANY, Request, VariableSet
from consilience.settings.choices import Method
from consilience.wording import counted

__all__ = ["MOST_STEPS", "Evaluate", "ModelAsk", "blocked_kernel", "check_design", "intercepts_near", "recoded"]

MOST_STEPS = 250
"""Points at which one model is answered by the same sites: the longest fit by coordinates, and the longest with profiled information, which
follows where that has not converged. Ordinary fits take six to ten."""
_FALLBACK = {SiteEffects.COORDINATE: SiteEffects.PROFILED}
"""Where steps by coordinates do not converge, the server may ask for the profiled information: a sum of the same kind on the same rows."""


class ModelAsk(msgspec.Struct, frozen=True):
    """One model at one β. ``keep`` are its estimable columns, ``levels`` the response levels that occur in the study's sample.

    A count has no levels.
    """

    response: str
    predictors: tuple[str, ...]
    sample: VariableSet
    keep: tuple[int, ...]
    levels: tuple[int, ...]
    beta: bytes
    mu: float = 0.0

    @staticmethod
    def of(model: ModelSpec, keep: tuple[int, ...], levels: tuple[int, ...], beta: Floats, mu: float) -> ModelAsk:
        """A model at β; β travels as little-endian doubles, so that every site computes at the same bits."""
        point = np.ascontiguousarray(beta, dtype="<f8").tobytes()
        return ModelAsk(model.response, model.predictors, model.sample, keep, levels, point, mu)

    @property
    def spec(self) -> ModelSpec:
        """The model without its parameters."""
        return ModelSpec(self.response, self.predictors, self.sample)

    @property
    def point(self) -> Floats:
        """β as an array."""
        return np.frombuffer(self.beta, dtype="<f8")

    def shape(self, schema: Schema, ordinal: Ordinal) -> Shape:
        """The model's size."""
        return Shape(family_of(schema[self.response].kind, len(self.levels), ordinal), len(self.keep), len(self.levels))

    def words(self) -> str:
        """The model as a formula."""
        return f"{self.response} ~ {' + '.join(self.predictors) or '1'}"


class Evaluate(Request, frozen=True, tag="evaluate"):
    """Many models at once: for each the vector that :mod:`consilience.glm.layout` describes, one after the other.

    ``run`` names the batch: within it a site starts its search over intercepts where it ended last time.
    """

    run: int
    models: Annotated[tuple[ModelAsk, ...], MANY]
    effects: SiteEffects
    ordinal: Ordinal
    n_sites: int
    exponents: dict[str, int]
    locations: dict[str, float] | None = None

    def size(self, model: ModelAsk, schema: Schema) -> ModelSize:
        """How long a model's β and its answer are."""
        kind = schema[model.response].kind
        return model_size(kind, len(model.levels), len(model.keep), self.ordinal, self.effects, self.n_sites)

    def length(self, schema: Schema) -> int:
        """The models, one after the other."""
        return sum(self.size(model, schema).answer for model in self.models)

    def samples(self) -> tuple[VariableSet, ...]:
        """The samples of the models, each once."""
        return tuple(dict.fromkeys(model.sample for model in self.models))

    def check(self, guard: Guard) -> None:
        """Models over the study's variables and in its units, with enough terms in every sum, each at a bounded number of points, none of
        which was answered with more sites.
        """
        guard.fits_like(self.ordinal)
        guard.not_too_large(self.samples())
        guard.is_method(Method.FEDCI)
        guard.moves_columns(moved=self.locations is not None)
        for variables in self.samples():
            guard.allows_sum(variables)
        if self.effects not in (guard.terms.effects, _FALLBACK.get(guard.terms.effects)):
            raise WrongTermsError(f"The study's site effects are {guard.terms.effects}; got {self.effects}.")
        if self.n_sites != len(guard.members):
            raise WrongTermsError(f"The roster has {len(guard.members)} sites; got a request for {self.n_sites}.")
        for model in self.models:
            self._check_model(model, guard)
        guard.keeps_units(self.exponents)
        guard.keeps_locations(self.locations)
        guard.steps([(_name(model), _canonical(model), model.words) for model in self.models], MOST_STEPS)

    def _check_model(self, model: ModelAsk, guard: Guard) -> None:
        key = (model.response, model.predictors, model.sample, model.keep, model.levels)
        if key not in guard.passed:  # a model's design stays the same over all its steps
            check_design(model, guard, self.effects)
            guard.passed.add(key)
        shape, wanted, _ = self.size(model, guard.table.schema)
        barrier = shape.family is Family.GENERALIZED
        if len(model.beta) != 8 * wanted or not np.isfinite(model.point).all() or not 0.0 <= model.mu <= float(barrier):
            raise WrongShapeError(f"The model {model.words()} has {wanted} parameters, all finite; got {len(model.beta) / 8:g}.")

    def answer(self, desk: Desk, site: int) -> Floats:
        """Every model at its point, on this site's rows; zeros for a sample it does not hold."""
        bench, table = desk.keep(_Bench, lambda: _Bench(desk.table, desk.cache_bytes, desk.crowds, desk.averages)), desk.table
        bench.begin(self)
        # samples that differ elsewhere may be the same rows here, and are answered once
        points = [(_key(model, table), model.beta, model.mu) if table.holds(model.sample) else None for model in self.models]
        asked = {point: model for point, model in zip(points, self.models, strict=True) if point is not None}
        found = bench.evaluate(asked, self, site)
        parts = [
            np.zeros(self.size(model, table.schema).answer) if point is None else found[point]
            for point, model in zip(points, self.models, strict=True)
        ]
        return np.concatenate([np.empty(0), *parts])

    def read(self, total: Floats, schema: Schema) -> list[Total]:
        """The sums of the models, in their order."""
        found, position = list[Total](), 0
        for model in self.models:
            size = self.size(model, schema)
            found.append(unpack(total[position : position + size.answer], size.parameters))
            position += size.answer
        return found

    def words(self) -> str:
        """What is asked for, in words.

        >>> Evaluate(0, (), SiteEffects.PROFILED, Ordinal.PROPORTIONAL, 2, {}).words()
        'log-likelihood, score and information of 0 models of nothing'
        """
        responses = sorted({model.response for model in self.models})
        return f"log-likelihood, score and information of {counted(len(self.models), 'model')} of {', '.join(responses) or 'nothing'}"


def check_design(model: ModelAsk, guard: Guard, effects: SiteEffects | None = None) -> None:
    """A model that the study can have asked for, written in the one way there is: a question in another guise is the same question.

    A continuous response is fitted in steps only where site ``effects`` are random; None where steps are not what is asked for.
    """
    schema = guard.table.schema
    guard.knows((model.response, *model.predictors))
    guard.knows(model.sample)
    if list(model.sample) != sorted(model.sample) or list(model.predictors) != sorted(model.predictors):
        raise OutsideSchemaError(f"The variables of a model must be sorted; got {', '.join((*model.predictors, *model.sample))}.")
    guard.samples_test(model.sample, {model.response, *model.predictors})
    response = schema[model.response]
    if response.kind is Kind.CONTINUOUS and effects not in (None, SiteEffects.RANDOM):
        raise OutsideSchemaError(f"{model.response!r} is continuous and needs no model to be evaluated; its cross-products say all.")
    in_order = all(a < b for a, b in zip(model.levels, model.levels[1:], strict=False))
    if not response.kind.is_discrete:
        if model.levels:
            raise OutsideSchemaError(f"{model.response!r} is a number and has no levels; got {list(model.levels)}.")
    elif len(model.levels) < 2 or not in_order or model.levels[0] < 0 or model.levels[-1] >= len(response.levels):
        raise OutsideSchemaError(f"{model.response!r} has the levels 0 to {len(response.levels) - 1}; got {list(model.levels)}.")
    width = n_columns(schema, model.predictors)
    increasing = all(a < b for a, b in zip(model.keep, model.keep[1:], strict=False))
    if not increasing or (model.keep and not 0 <= model.keep[0] <= model.keep[-1] < width):
        raise WrongShapeError(f"The predictors {', '.join(model.predictors)} have {width} columns; got the choice {list(model.keep)}.")


def _name(model: ModelAsk) -> bytes:
    """A digest of the model without its point, and without what a server chooses beside it: columns and levels that it leaves out."""
    return sha256(msgspec.msgpack.encode(("evaluate", model.response, model.predictors, model.sample))).digest()[:16]


def _canonical(model: ModelAsk) -> bytes:
    """A digest of the model with one way of writing zero: -0.0 is another guise of the same point."""
    # 16 bytes of a digest are kept for every model and step, on disk and for the life of a study; two points that share them by chance
    # would cost one refusal, and that only after a site was lost
    plain = msgspec.structs.replace(model, beta=(model.point + 0.0).tobytes(), mu=model.mu + 0.0)
    return sha256(encode(plain)).digest()[:16]


@dataclass(frozen=True, slots=True, eq=False)
class _Whole:
    """Cross-products and sums of all columns of some variables, and where each column stands."""

    variables: VariableSet
    place: dict[tuple[str, int], int]
    n: int
    gram: Floats
    sums: Floats


@dataclass(slots=True, eq=False)
class _Bench:
    """A site's kernels and warm starts.

    Models are asked for in the same order every round: where they do not all fit, dropping the oldest would drop just the one needed next.
    So what is kept stays for the run, and what does not fit is built anew each time.
    """

    table: Table
    room: int
    crowds: Crowds
    averages: Averages
    kernels: dict[Any, Kernel | Moments | None] = field(default_factory=dict)
    samples: dict[Any, _Whole] = field(default_factory=dict)
    used: int = 0
    run: int | None = None
    warm: dict[Any, WarmStart | None] = field(default_factory=dict)
    coding: Coding = field(default_factory=lambda: Coding({}))
    units: Any = None

    def begin(self, request: Evaluate) -> None:
        """A new batch searches intercepts afresh, and makes room if the last one has left little."""
        self.coding = Coding(request.exponents, request.locations)
        locations = None if request.locations is None else tuple(sorted(request.locations.items()))
        self.units = tuple(sorted(request.exponents.items())), locations
        if request.run == self.run:
            return
        self.run, self.warm = request.run, {}
        if self.used > self.room // 2:
            self.kernels, self.samples, self.used = {}, {}, 0

    def evaluate(self, asked: Mapping[Any, ModelAsk], request: Evaluate, site: int) -> dict[Any, Floats]:
        """The parts of the answer, by point: a model's key, its parameters and its barrier."""
        blocked = self.table.many and request.effects is not SiteEffects.RANDOM
        if blocked:  # one pass for the means of all models
            self.averages.find(model.sample for model in asked.values() if not self._counted(model))
        found, runs = dict[Any, Floats](), dict[Any, Steps[tuple[Total, WarmStart | None]]]()
        for point, model in asked.items():
            key, shape = point[0], request.size(model, self.table.schema).shape
            make = self._blocked if blocked and not self._counted(model) else self._kernel
            arguments = make(model, shape, request, key), shape, request.effects, model.point, site, request.n_sites, self.warm.get(key)
            if blocked:
                runs[point] = steps(*arguments)
            else:  # one kernel at a time: not all need be kept
                total, self.warm[key] = answer(*arguments)
                found[point] = pack(total)
        for point, (total, warm) in zip(runs, answer_together(self.table, list(runs.values())), strict=True):
            found[point], self.warm[point[0]] = pack(total), warm
        return found

    def _counted(self, model: ModelAsk) -> bool:
        """True if all variables of a model are discrete, so that its rows are few, however many the table has."""
        return model.response in self.table.codes and counts_rows(self.table, model.spec)

    def _blocked(self, model: ModelAsk, shape: Shape, request: Evaluate, key: Any) -> Kernel | None:
        """A kernel over blocks of rows, which takes no room."""
        del key
        spec, coding, names = model.spec, self.coding, column_names(self.table.schema, model.predictors)
        means = self.averages.columns(model.sample, [names[j] for j in model.keep], coding)
        design = partial(build, model=spec, keep=model.keep, coding=coding, means=means)
        return blocked_kernel(self.averages, self.crowds, model, shape, request.effects, design, model.mu)

    def _kernel(self, model: ModelAsk, shape: Shape, request: Evaluate, key: Any) -> Kernel | Moments | None:
        full_key = (key, shape, request.effects, model.mu, self.units)
        if full_key in self.kernels:
            return self.kernels[full_key]
        if shape.family is Family.GAUSSIAN:
            moments = self.kernels[full_key] = self._moments(model, request)
            return moments
        design = build(self.table, model.spec, model.keep, self.coding)
        if model.levels:
            design = replace(design, response=recoded(self.table, model, design.response))
        kernel = make_kernel(
            design, shape, request.effects, model.mu, self.crowds.of(model.spec, crossed=request.effects is SiteEffects.NONE)
        )
        # four times the design: itself, and what a kernel derives from it, twice as much to be integrated; 512 bytes for what Python adds
        size = (8 if request.effects is SiteEffects.RANDOM else 4) * design.nbytes + 512
        if self.used + size <= self.room:
            self.kernels[full_key] = kernel
            self.used += size
        return kernel

    def _moments(self, model: ModelAsk, request: Evaluate) -> Moments:
        """What a Gaussian model needs of this site's rows: cross-products about its own means, and sums about the common locations."""
        key = (self.table.complete(model.sample).key, self.units)
        kept = self.samples.get(key)
        if kept is None or not set(model.sample) <= set(kept.variables):
            # all samples with the same rows are parts of the same cross-products
            samples = [sample for sample in request.samples() if self.table.holds(sample) and self.table.complete(sample).key == key[0]]
            kept = self.samples[key] = self._whole(
                tuple(sorted({v for sample in samples for v in sample}.union(kept.variables if kept else ())))
            )
        predictors = column_names(self.table.schema, model.predictors)
        columns = [kept.place[predictors[j]] for j in model.keep]
        return Moments.of(kept.n, kept.gram, kept.sums, columns, kept.place[model.response, 0])

    def _whole(self, variables: VariableSet) -> _Whole:
        inner = cross_products(self.table, variables, Coding(self.coding.exponents))
        sums = cross_products(self.table, variables, self.coding).sums
        place = {name: i for i, name in enumerate(column_names(self.table.schema, variables))}
        return _Whole(variables, place, inner.n, inner.gram, sums)


def _key(model: ModelAsk, table: Table) -> Any:
    """A model at this site: samples that differ elsewhere may be the same rows here."""
    return model.response, model.predictors, table.complete(model.sample).key, model.keep, model.levels


def intercepts_near(desk: Desk, model: ModelAsk) -> Floats | None:
    """The site's own intercepts as they are expected at ``model``'s slopes, where its fit has left them; None if it has not."""
    warm = desk.keep(_Bench, lambda: _Bench(desk.table, desk.cache_bytes, desk.crowds, desk.averages)).warm.get(_key(model, desk.table))
    return None if warm is None or len(warm.shared) != len(model.point) else warm.predict(model.point)


def blocked_kernel(
    averages: Averages,
    crowds: Crowds,
    model: ModelAsk,
    shape: Shape,
    effects: SiteEffects,
    design: Callable[[Table], Design],
    mu: float = 0.0,
) -> Blocked | None:
    """The kernel of a model over blocks of rows, of which ``design`` makes a block's part; None where intercepts absorb all there is."""
    table, spec, n = averages.table, model.spec, averages.table.complete(model.sample).n
    if n == 0:
        totals = Design(np.zeros((0, shape.n_columns)), np.empty(0), None)
    elif model.levels:
        counts = averages.levels(model.sample, model.response)
        codes = np.flatnonzero(counts)
        response = recoded(table, model, codes)
        totals = Design(np.zeros((len(codes), shape.n_columns)), response, counts[codes].astype(np.float64))
    else:
        mean = averages.total(model.sample, model.response) / n
        totals = Design(np.zeros((1, shape.n_columns)), np.array([mean]), np.array([float(n)]))
    head = make_kernel(totals, shape, effects, mu)
    if head is None:
        return None
    sets = None
    if crowds.fewest > 1 and not counts_rows(table, spec):
        discrete = [name for name in model.predictors if name in table.codes]
        levels = [(name, int(code)) for name in discrete for code in np.flatnonzero(averages.levels(model.sample, name))]
        sets = partial(sets_of_block, spec, levels, crossed=effects is SiteEffects.NONE)
    coded = partial(_coded, model, design) if model.levels else design
    return Blocked(table, model.sample, head, coded, (model.response, model.levels), sets, crowds.fewest)


def _coded(model: ModelAsk, design: Callable[[Table], Design], block: Table) -> Design:
    """A block's design, its response coded among the levels that occur."""
    made = design(block)
    return Design(made.columns, recoded(block, model, made.response), made.weights)


def recoded(table: Table, model: ModelAsk, response: NDArray[Any]) -> NDArray[np.int32]:
    """Codes among the levels that occur."""
    if len(model.levels) == len(table.schema[model.response].levels):
        return response.astype(np.int32, copy=False)
    code = np.full(len(table.schema[model.response].levels), -1, dtype=np.int32)
    code[list(model.levels)] = np.arange(len(model.levels), dtype=np.int32)
    found: NDArray[np.int32] = code[response]
    if (found < 0).any():
        raise OutsideSchemaError(f"The levels of {model.response!r} in a model must be all that occur in its sample.")
    return found
