"""Do fitted models hold? Sums over each of them with features that straight lines lack, at its fitted parameters: once a model."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Annotated, ClassVar

import msgspec
import numpy as np

from consilience.data.design import Coding, build, column_names, counts_rows
from consilience.data.features import MOST_SCALE, feature_plan, widen
from consilience.data.kinds import Kind
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.glm.crowd import Crowds
from consilience.glm.kernel import Floats
from consilience.glm.layout import Family, Ordinal, Shape
from consilience.glm.misfit import Misfit, Widened, in_range, misfit_of_counts, misfit_of_levels, misfit_of_numbers, misfit_size
from consilience.protocol.desk import Desk
from consilience.protocol.diagnose_many import answer_many
from consilience.protocol.errors import OutsideSchemaError, WrongShapeError
from consilience.protocol.evaluate import ModelAsk, check_design, intercepts_near, recoded
from consilience.protocol.guard import Guard
from consilience.protocol.request import MANY, Request, VariableSet
from consilience.settings.choices import Method
from consilience.wording import counted

__all__ = ["ROWS_PER_COLUMN", "Diagnose", "DiagnoseAsk"]

ROWS_PER_COLUMN = 10
"""Rows that the sums need for each column and feature: with fewer there are fewer features."""


class DiagnoseAsk(msgspec.Struct, frozen=True):
    """A model at its fitted slopes (and threshold gaps), with features.

    ``scales`` has an exponent of two for each column, of the spread of a number (zero for a level); ``features`` says how many of the
    model's features are looked at; ``dispersion`` is that of a count, or the unit in which residuals of a number are counted.
    """

    model: ModelAsk
    scales: tuple[int, ...]
    features: int
    dispersion: float = 1.0

    def widened(self, schema: Schema, ordinal: Ordinal) -> Widened:
        """The model's size without and with features."""
        if schema[self.model.response].kind is Kind.CONTINUOUS:
            return Widened(Shape(Family.LOGIT, len(self.model.keep), 2), self.features)
        return Widened(self.model.shape(schema, ordinal), self.features)

    def plan(self, schema: Schema) -> list[tuple[int, ...]]:
        """Which columns are multiplied for each feature that is asked for."""
        return feature_plan(schema, self._columns(schema))[: self.features]

    def _columns(self, schema: Schema) -> list[tuple[str, int]]:
        names = column_names(schema, self.model.predictors)
        return [names[j] for j in self.model.keep]

    def check(self, guard: Guard, ordinal: Ordinal) -> None:
        """A model of the study, with features that it has, at numbers that are some."""
        model, schema = self.model, guard.table.schema
        check_design(model, guard)
        if set(model.sample) != {model.response, *model.predictors}:  # full models alone are looked at: others would be points again
            raise OutsideSchemaError(f"A model is looked at on the rows of its own variables; got {', '.join(model.sample)}.")
        most = len(feature_plan(schema, self._columns(schema)))
        if not 0 <= self.features <= most or len(self.scales) != len(model.keep) or any(abs(s) > MOST_SCALE for s in self.scales):
            raise WrongShapeError(
                f"The model {model.words()} has {most} features and {len(model.keep)} scales within ±{MOST_SCALE}; "
                f"got {self.features} and {list(self.scales)}."
            )
        wanted = self.widened(schema, ordinal).shape.n_shared
        fine = np.isfinite(model.point).all() and np.isfinite(self.dispersion) and self.dispersion > 0 and model.mu == 0.0
        if len(model.beta) != 8 * wanted or not fine:
            raise WrongShapeError(f"The model {model.words()} has {wanted} parameters in common, all finite; got {len(model.beta) / 8:g}.")
        guard.leaves_rows(model.sample, len(model.keep) + self.features, ROWS_PER_COLUMN)

    def name(self) -> bytes:
        """A digest of the model without its point."""
        return sha256(msgspec.msgpack.encode(("diagnose", self.model.response, self.model.predictors, self.model.sample))).digest()[:16]

    def point(self) -> bytes:
        """A digest of all that a server chooses."""
        return sha256(msgspec.msgpack.encode(self)).digest()[:16]

    def is_counted(self, table: Table) -> bool:
        """True if all variables of the model are discrete, so that its rows are few, however many the table has."""
        return self.model.response in table.codes and counts_rows(table, self.model.spec)

    def answer(
        self, table: Table, ordinal: Ordinal, exponents: dict[str, int], intercepts: Floats | None = None, crowds: Crowds | None = None
    ) -> Floats:
        """A site's numbers, on its own rows. ``intercepts`` are where a search over them may begin; ``crowds`` what it may tell."""
        model, schema = self.model, table.schema
        # centred at the site whatever the site effects are: the slopes are what is looked at, and the site's intercepts are its own here
        design = build(table, model.spec, model.keep, Coding(exponents))
        plan = self.plan(schema)
        names = self._columns(schema)
        scales = [None if schema[name].kind.is_discrete else s for (name, _), s in zip(names, self.scales, strict=True)]
        least, levels = (1.0, None) if crowds is None else (crowds.fewest, crowds.levels(model.spec, names))
        if design.weights is None and len(design.response):
            # once more: what rounding left of the means of a number far from zero would show in features and fourth powers
            np.subtract(design.columns, np.add.reduce(design.columns) / len(design.response), out=design.columns)
        columns = widen(design.columns, plan, scales, design.weights, least, levels)
        widened, kind = self.widened(schema, ordinal), schema[model.response].kind
        if kind is Kind.CONTINUOUS:
            numbers = np.ldexp(design.response.astype(np.float64), -exponents.get(model.response, 0))
            about = numbers - (numbers.mean() if len(numbers) else 0.0)
            return misfit_of_numbers(columns, about, model.point, widened, self.dispersion)
        crowd = None if crowds is None else crowds.of(model.spec)
        if kind is Kind.COUNT:
            return misfit_of_counts(replace(design, columns=columns), model.point, widened, self.dispersion, crowd)
        response = recoded(table, model, design.response)
        return misfit_of_levels(replace(design, columns=columns, response=response), model.point, widened, intercepts, crowd)


class Diagnose(Request, frozen=True, tag="diagnose"):
    """Many models, each at its fitted parameters: for each the vector that :mod:`consilience.glm.misfit` describes.

    >>> Diagnose((), Ordinal.PROPORTIONAL, {}).words()
    'what 0 models miss: score and information of curved columns, slopes and variances of sites'
    """

    of_sites: ClassVar[bool] = True
    models: Annotated[tuple[DiagnoseAsk, ...], MANY]
    ordinal: Ordinal
    exponents: dict[str, int]

    def _size(self, ask: DiagnoseAsk, schema: Schema) -> int:
        kind = schema[ask.model.response].kind
        return misfit_size(ask.widened(schema, self.ordinal), squares=not kind.is_discrete, robust=kind is Kind.COUNT)

    def length(self, schema: Schema) -> int:
        """The models, one after the other."""
        return sum(self._size(ask, schema) for ask in self.models)

    def samples(self) -> tuple[VariableSet, ...]:
        """The samples of the models, each once."""
        return tuple(dict.fromkeys(ask.model.sample for ask in self.models))

    def check(self, guard: Guard) -> None:
        """Models of the study with enough terms in every sum, each at few points, and at none that was answered with more sites."""
        guard.fits_like(self.ordinal)
        guard.not_too_large(self.samples())
        guard.is_method(Method.FEDCI)
        guard.may_diagnose()
        for variables in self.samples():
            guard.knows(variables)
            guard.allows_sum(variables)
        for ask in self.models:
            ask.check(guard, self.ordinal)
        guard.keeps_units(self.exponents)
        guard.diagnoses([(ask.name(), ask.point()) for ask in self.models])

    def answer(self, desk: Desk, site: int) -> Floats:
        """Every model on this site's rows; zeros for a sample it does not hold."""
        table = desk.table
        held = {i: ask for i, ask in enumerate(self.models) if table.holds(ask.model.sample)}
        many = {i: ask for i, ask in held.items() if table.many and not ask.is_counted(table)}
        found = dict(zip(many, answer_many(desk, list(many.values()), self.ordinal, self.exponents), strict=True))
        for i, ask in held.items():
            if i not in many:
                found[i] = ask.answer(table, self.ordinal, self.exponents, intercepts_near(desk, ask.model), desk.crowds)
        nothing = {i: np.zeros(self._size(ask, table.schema)) for i, ask in enumerate(self.models) if i not in held}
        found = {i: in_range(part) for i, part in found.items()} | nothing
        return np.concatenate([np.empty(0), *(found[i] for i in range(len(self.models)))])

    def read(self, total: Floats, schema: Schema) -> list[Misfit]:
        """The sums of the models, in their order."""
        found, position = list[Misfit](), 0
        for ask in self.models:
            size = self._size(ask, schema)
            found.append(Misfit.read(total[position : position + size], ask.widened(schema, self.ordinal)))
            position += size
        return found

    def words(self) -> str:
        """What is asked for, in words."""
        return f"what {counted(len(self.models), 'model')} miss: score and information of curved columns, slopes and variances of sites"
