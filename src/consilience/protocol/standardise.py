"""Outcomes under an intervention, at fitted models: sums of predictions with x set to given values, of their gradients and products."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Annotated

import msgspec
import numpy as np

from consilience.data.design import Coding, build, centre, column_names
from consilience.data.kinds import Kind
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.glm.crowd import Crowds
from consilience.glm.kernel import Floats
from consilience.glm.layout import Ordinal, SiteEffects, n_parameters
from consilience.glm.standard import (
    Intervention,
    Robust,
    Standard,
    n_outcomes,
    robust_of_numbers,
    robust_size,
    standard_of,
    standard_size,
)
from consilience.protocol.desk import Desk
from consilience.protocol.errors import OutsideSchemaError, WrongShapeError
from consilience.protocol.evaluate import ModelAsk, check_design, recoded
from consilience.protocol.guard import Guard
from consilience.protocol.request import MANY, Request, VariableSet
from consilience.settings.choices import Method
from consilience.wording import counted

__all__ = ["ROWS_PER_PREDICTION", "STEPS", "StandardAsk", "Standardise"]

STEPS = 2
"""Values that a number is set to: one below and one above its middle."""
ROWS_PER_PREDICTION = 5
"""Rows that the sums need for each prediction and column."""


class StandardAsk(msgspec.Struct, frozen=True):
    """A model of y at its fitted parameters, and the values that all rows get as their x.

    ``values`` are those of a number, from its mean at the site (or from the common location), in its unit; of a discrete x they are
    positions of levels. A continuous y has none: what its slopes say needs no predictions, only how its residuals scatter. ``dispersion``
    is that of a count.
    """

    model: ModelAsk
    x: str
    values: tuple[float, ...] = ()
    dispersion: float = 1.0

    def parameters(self, schema: Schema, ordinal: Ordinal, *, common: bool) -> int:
        """How many parameters the point has: those that all sites share, and one set of intercepts where it is ``common``."""
        if schema[self.model.response].kind is Kind.CONTINUOUS:
            return len(self.model.keep)
        return n_parameters(self.model.shape(schema, ordinal), SiteEffects.NONE if common else SiteEffects.PROFILED, 1)

    def outcomes(self, schema: Schema, ordinal: Ordinal) -> int:
        """Numbers that are predicted of a row, at all values together."""
        return n_outcomes(self.model.shape(schema, ordinal)) * len(self.values)

    def breadth(self, schema: Schema, ordinal: Ordinal) -> int:
        """Predictions and columns whose products are summed."""
        return len(self.model.keep) + (self.outcomes(schema, ordinal) if self.values else 0)

    def size(self, schema: Schema, ordinal: Ordinal, *, common: bool) -> int:
        """How many numbers the answer has."""
        parameters = self.parameters(schema, ordinal, common=common)
        if schema[self.model.response].kind is Kind.CONTINUOUS:
            return robust_size(parameters)
        return standard_size(self.outcomes(schema, ordinal), parameters)

    def check(self, guard: Guard, ordinal: Ordinal, *, common: bool) -> None:
        """A model of the study over exactly its sample, with x among its predictors, at numbers that are some."""
        model, schema = self.model, guard.table.schema
        check_design(model, guard)
        if set(model.sample) != {model.response, *model.predictors}:
            raise OutsideSchemaError(f"An effect is estimated on the rows of its own variables; got {', '.join(model.sample)}.")
        if self.x not in model.predictors:
            raise OutsideSchemaError(f"The model {model.words()} says nothing of {self.x!r}, which is no predictor of it.")
        wanted = self.parameters(schema, ordinal, common=common)
        fine = np.isfinite([*model.point, *self.values, self.dispersion]).all() and self.dispersion > 0 and model.mu == 0.0
        if len(model.beta) != 8 * wanted or not fine:
            raise WrongShapeError(f"The model {model.words()} has {wanted} parameters, all finite; got {len(model.beta) / 8:g}.")
        self._check_values(schema)
        guard.leaves_rows(model.sample, self.breadth(schema, ordinal), ROWS_PER_PREDICTION)

    def _check_values(self, schema: Schema) -> None:
        x, continuous = schema[self.x], schema[self.model.response].kind is Kind.CONTINUOUS
        most = 0 if continuous else len(x.levels) if x.kind.is_discrete else STEPS
        levels = not x.kind.is_discrete or all(value in range(len(x.levels)) for value in self.values)
        ascending = all(a < b for a, b in zip(self.values, self.values[1:], strict=False))
        if len(self.values) > most or bool(self.values) is continuous or not levels or not ascending:
            raise WrongShapeError(f"{self.x!r} is set to at most {most} ascending values, or to none; got {list(self.values)}.")

    def name(self) -> bytes:
        """A digest of what is asked, without its point."""
        model = self.model
        return sha256(msgspec.msgpack.encode(("standardise", self.x, model.response, model.predictors))).digest()[:16]

    def point(self) -> bytes:
        """A digest of all that a server chooses."""
        return sha256(msgspec.msgpack.encode(self)).digest()[:16]

    def answer(self, table: Table, ordinal: Ordinal, coding: Coding, crowds: Crowds) -> Floats:
        """A site's numbers, on its own rows."""
        model, schema = self.model, table.schema
        design = build(table, model.spec, model.keep, Coding(coding.exponents, coding.locations or {}))
        if schema[model.response].kind is Kind.CONTINUOUS:
            response = np.ldexp(design.response.astype(np.float64), -coding.exponents.get(model.response, 0))
            return robust_of_numbers(centre(design.columns, None), response, model.point, crowds.of_numbers(model.spec))
        if model.levels:
            design = replace(design, response=recoded(table, model, design.response))
        does = self._does(schema)
        if coding.centre_at_site and len(design.response):
            plain = design.columns[:1].copy()
            middle = plain - centre(design.columns, design.weights)[:1]  # columns are centred in place
            does = self._does(schema, middle[0])
        shape, common = model.shape(schema, ordinal), not coding.centre_at_site
        return standard_of(
            design, shape, model.point, does, common=common, dispersion=self.dispersion, crowd=crowds.of(model.spec, crossed=common)
        )

    def _does(self, schema: Schema, middle: Floats | None = None) -> Intervention:
        """The values as they stand in columns: those of levels less the ``middle`` of the site, those of numbers as they are."""
        names = column_names(schema, self.model.predictors)
        own = [(place, names[j][1]) for place, j in enumerate(self.model.keep) if names[j][0] == self.x]
        places = [place for place, _ in own]
        if not schema[self.x].kind.is_discrete:
            return Intervention(places, [[value] for value in self.values])
        lessened = np.zeros(len(places)) if middle is None else middle[places]
        return Intervention(places, [(np.array([level == value for _, level in own]) - lessened).tolist() for value in self.values])


class Standardise(Request, frozen=True, tag="standardise"):
    """Many effects, each at the fitted parameters of its model: the vectors of :mod:`consilience.glm.standard`, one after the other.

    >>> Standardise((), Ordinal.PROPORTIONAL, {}).words()
    'outcomes under 0 interventions: sums of predictions, of their gradients and products'
    """

    effects: Annotated[tuple[StandardAsk, ...], MANY]
    ordinal: Ordinal
    exponents: dict[str, int]
    locations: dict[str, float] | None = None

    @property
    def common(self) -> bool:
        """True where all sites have one intercept."""
        return self.locations is not None

    def length(self, schema: Schema) -> int:
        """The effects, one after the other."""
        return sum(ask.size(schema, self.ordinal, common=self.common) for ask in self.effects)

    def samples(self) -> tuple[VariableSet, ...]:
        """The samples of the models, each once."""
        return tuple(dict.fromkeys(ask.model.sample for ask in self.effects))

    def check(self, guard: Guard) -> None:
        """Effects that the study has agreed to, of its models and in its units, with enough terms in every sum, each at few points and at
        none that was answered with more sites.
        """
        guard.fits_like(self.ordinal)
        guard.not_too_large(self.samples())
        guard.is_method(Method.FEDCI)
        guard.may_estimate([(ask.x, ask.model.response) for ask in self.effects])
        guard.moves_columns(moved=self.common)
        for variables in self.samples():
            guard.knows(variables)
            guard.allows_sum(variables)
        for ask in self.effects:
            ask.check(guard, self.ordinal, common=self.common)
        guard.keeps_units(self.exponents)
        guard.keeps_locations(self.locations)
        guard.diagnoses([(ask.name(), ask.point()) for ask in self.effects], "Outcomes under an intervention")

    def answer(self, desk: Desk, site: int) -> Floats:
        """Every effect on this site's rows; zeros for a sample it does not hold."""
        table, coding, parts = desk.table, Coding(self.exponents, self.locations), [np.empty(0)]
        for ask in self.effects:
            if table.holds(ask.model.sample):
                parts.append(ask.answer(table, self.ordinal, coding, desk.crowds))
            else:
                parts.append(np.zeros(ask.size(table.schema, self.ordinal, common=self.common)))
        return np.concatenate(parts)

    def read(self, total: Floats, schema: Schema) -> list[Standard | Robust]:
        """The sums of the effects, in their order."""
        found, position = list[Standard | Robust](), 0
        for ask in self.effects:
            size = ask.size(schema, self.ordinal, common=self.common)
            part = total[position : position + size]
            parameters = ask.parameters(schema, self.ordinal, common=self.common)
            continuous = schema[ask.model.response].kind is Kind.CONTINUOUS
            outcomes = 0 if continuous else ask.outcomes(schema, self.ordinal)
            found.append(Robust.read(part, parameters) if continuous else Standard.read(part, outcomes, parameters))
            position += size
        return found

    def words(self) -> str:
        """What is asked for, in words."""
        return f"outcomes under {counted(len(self.effects), 'intervention')}: sums of predictions, of their gradients and products"
