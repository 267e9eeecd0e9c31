"""Residual sums of Gaussian models at given slopes: asked where cross-products have lost the digits that matter."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, NamedTuple

import msgspec
import numpy as np

from consilience.data.design import Coding, ModelSpec, n_columns, residual_sums
from consilience.data.schema import Schema
from consilience.data.summing import residual_sums_of
from consilience.glm.kernel import Floats
from consilience.protocol.desk import Desk
from consilience.protocol.errors import OutsideSchemaError, WrongShapeError
from consilience.protocol.framing import encode
from consilience.protocol.guard import Guard
from consilience.protocol.request import MANY, Request, VariableSet
from consilience.settings.choices import Method
from consilience.wording import counted

__all__ = ["MOST_LINES", "LineAsk", "LineSums", "Refit"]

MOST_LINES = 10
"""Points at which one model is answered by the same sites. One is enough, two are rare, and no fit asks for more than four. All of them
follow from the cross-products, but for their last digits, which are of the rows."""


class LineAsk(msgspec.Struct, frozen=True):
    """One Gaussian model at given slopes. ``keep`` are its estimable columns; slopes travel as little-endian doubles."""

    response: str
    predictors: tuple[str, ...]
    sample: VariableSet
    keep: tuple[int, ...]
    slopes: bytes

    @staticmethod
    def of(model: ModelSpec, keep: tuple[int, ...], slopes: Floats) -> LineAsk:
        """A model at slopes."""
        return LineAsk(model.response, model.predictors, model.sample, keep, np.ascontiguousarray(slopes, dtype="<f8").tobytes())

    @property
    def spec(self) -> ModelSpec:
        """The model without its slopes."""
        return ModelSpec(self.response, self.predictors, self.sample)

    @property
    def point(self) -> Floats:
        """The slopes as an array."""
        return np.frombuffer(self.slopes, dtype="<f8")

    def words(self) -> str:
        """The model as a formula."""
        return f"{self.response} ~ {' + '.join(self.predictors) or '1'}"

    @property
    def name(self) -> bytes:
        """A digest of the model without its point."""
        return sha256(msgspec.msgpack.encode(("refit", self.response, self.predictors, self.sample))).digest()[:16]

    @property
    def digest(self) -> bytes:
        """What a site remembers of an answered point, with one way of writing zero."""
        plain = msgspec.structs.replace(self, slopes=(self.point + 0.0).tobytes())
        return sha256(b"refit" + encode(plain)).digest()[:16]


class LineSums(NamedTuple):
    """Summed squares of the residuals r, their products with the columns, and, about common locations, the sums of both."""

    squares: float
    products: Floats
    total: float
    columns: Floats


class Refit(Request, frozen=True, tag="refit"):
    """Per model Σr², X'r, Σr and ΣX at its slopes. All are functions of cross-products that were summed before, with more digits."""

    models: Annotated[tuple[LineAsk, ...], MANY]
    exponents: dict[str, int]
    locations: dict[str, float] | None = None

    def length(self, schema: Schema) -> int:
        """Two numbers a model, and two a column."""
        return sum(2 + 2 * len(model.keep) for model in self.models)

    def samples(self) -> tuple[VariableSet, ...]:
        """The samples of the models, each once."""
        return tuple(dict.fromkeys(model.sample for model in self.models))

    def check(self, guard: Guard) -> None:
        """As for cross-products of the same sets; each model at few points, and at none twice with fewer sites."""
        for model in self.models:
            _check(model, guard)
        guard.not_too_large(self.samples())
        guard.is_method(Method.FEDCI)
        guard.moves_columns(moved=self.locations is not None)
        for variables in self.samples():
            guard.allows_sum(variables)
        guard.keeps_units(self.exponents)
        guard.keeps_locations(self.locations)
        guard.steps([(model.name, model.digest, model.words) for model in self.models], MOST_LINES)

    def answer(self, desk: Desk, site: int) -> Floats:
        """Every model at its slopes, on this site's rows; zeros for a sample it does not hold."""
        table, coding = desk.table, Coding(self.exponents, self.locations)
        held = [model for model in self.models if table.holds(model.sample)]
        lines = [(model.spec, model.keep, model.point) for model in held]
        if table.many:
            sums = residual_sums_of(desk.averages, lines, coding)
        else:
            sums = [residual_sums(table, *line, coding) for line in lines]
        found = dict(zip(held, sums, strict=True))
        return np.concatenate([np.empty(0), *(found.get(model, np.zeros(2 + 2 * len(model.keep))) for model in self.models)])

    def read(self, total: Floats, schema: Schema) -> list[LineSums]:
        """The sums of the models, in their order."""
        found, position = list[LineSums](), 0
        for model in self.models:
            p = len(model.keep)
            part = total[position : position + 2 + 2 * p]
            found.append(LineSums(float(part[0]), part[2 : 2 + p], float(part[1]), part[2 + p :]))
            position += 2 + 2 * p
        return found

    def words(self) -> str:
        """What is asked for, in words.

        >>> Refit((LineAsk("A", ("B",), ("A", "B"), (0,), bytes(8)),), {}).words()
        'sums of squared residuals, and of their products with columns, of 1 linear model of A'
        """
        responses, models = ", ".join(sorted({model.response for model in self.models})), counted(len(self.models), "linear model")
        return f"sums of squared residuals, and of their products with columns, of {models} of {responses or 'nothing'}"


def _check(model: LineAsk, guard: Guard) -> None:
    guard.knows((model.response, *model.predictors))
    guard.knows(model.sample)
    guard.knows_numbers((model.response,))
    if list(model.sample) != sorted(model.sample) or list(model.predictors) != sorted(model.predictors):
        raise OutsideSchemaError(f"The variables of a model must be sorted; got {', '.join((*model.predictors, *model.sample))}.")
    guard.samples_test(model.sample, {model.response, *model.predictors})
    width = n_columns(guard.table.schema, model.predictors)
    increasing = all(a < b for a, b in zip(model.keep, model.keep[1:], strict=False))
    if not increasing or (model.keep and not 0 <= model.keep[0] <= model.keep[-1] < width):
        raise WrongShapeError(f"The predictors {', '.join(model.predictors)} have {width} columns; got the choice {list(model.keep)}.")
    if len(model.slopes) != 8 * len(model.keep) or not np.isfinite(model.point).all():
        raise WrongShapeError(f"The model of {model.response} has {len(model.keep)} slopes, all finite; got {len(model.slopes) / 8:g}.")
