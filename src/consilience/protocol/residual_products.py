"""Products of the residuals of two smooth means, and their squares: what a test of residuals is made of."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from typing import Annotated, NamedTuple

import msgspec
import numpy as np

from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.citest.rounding import ToldP
from consilience.data.kinds import Kind
from consilience.data.responses import Coded, n_responses
from consilience.data.schema import Schema
from consilience.glm.kernel import Floats
from consilience.glm.layout import upper
from consilience.protocol.desk import Desk, Smoothing
from consilience.protocol.errors import OutsideSchemaError, WrongShapeError
from consilience.protocol.guard import Guard
from consilience.protocol.mean_products import ROWS_PER_COLUMN, check_expansion, check_responses, own_sample
from consilience.protocol.products import alone_words
from consilience.protocol.products_of import Moments
from consilience.protocol.request import MANY, Request, VariableSet
from consilience.protocol.residuals import BasisAsk, MeanAsk, Tested, moments
from consilience.settings.choices import Method
from consilience.wording import counted

__all__ = ["AloneResidual", "ProductAsk", "ProductTotal", "ResidualProducts", "ResidualsRead"]

MOST_UNIT = 1100
MOST_PRODUCTS, MOST_HALVES = 256, 8
"""Products of residual columns in one test, whose squares are a matrix; and parts of them that fourth moments are asked for."""
UNORDERED = (Kind.BINARY, Kind.MULTINOMIAL)


class ProductAsk(msgspec.Struct, frozen=True):
    """One test: the positions of its two models, its sample, how their columns are combined before they are multiplied.

    ``combine`` holds a matrix for each variable (doubles, a row per column; empty: as they are): levels that are rare are merged.
    ``halves`` are roots V^-1/2 for fourth moments, once V is known (doubles, a row per product).
    """

    x: int
    y: int
    sample: VariableSet
    combine: tuple[bytes, bytes] = (b"", b"")
    halves: tuple[bytes, ...] = ()

    def combined(self, sizes: Sequence[int]) -> tuple[int, int]:
        """Columns of both variables once they are combined, of models with so many."""
        x, y = (len(m) // (8 * sizes[i]) if m else sizes[i] for m, i in zip(self.combine, (self.x, self.y), strict=True))
        return x, y

    def products(self, sizes: Sequence[int]) -> int:
        """How many products of columns there are.

        >>> ProductAsk(0, 1, ("A", "E")).products([1, 2])
        2
        """
        x, y = self.combined(sizes)
        return x * y


class AloneResidual(NamedTuple):
    """All that leaves the one site that can do a test: its rounded p-value and the degrees of freedom. Zeros where it cannot tell.

    ``digits`` and ``exponent`` are a :class:`~consilience.citest.rounding.ToldP`; why no statistic, see
    :class:`~consilience.protocol.products.AloneAnswer`.
    """

    digits: float
    exponent: float
    df: float

    @staticmethod
    def of(result: CIResult) -> AloneResidual:
        """Site: pack a result of its own."""
        if not result.informative:
            return AloneResidual(0.0, 0.0, 0.0)
        return AloneResidual(*ToldP.of(result.log_p), result.directions[0].df)

    @property
    def p_value(self) -> float:
        """Server: the p-value, as rounded by the site."""
        return ToldP(self.digits, self.exponent).p_value if round(self.df) else 1.0


class ProductTotal(NamedTuple):
    """Sums of one test: independent units (rows or clusters), Σ r, V, and Σ w² r⁴ where r is one number of unknown variance."""

    units: float
    sums: Floats
    squares: Floats
    fourth: float | None


class ResidualsRead(NamedTuple):
    """What a sum of answers says: per test its products, or its fourth moments; the answers of single sites per question."""

    tests: list[ProductTotal]
    fourths: list[Floats]
    alone: dict[Question, AloneResidual]


class ResidualProducts(Request, frozen=True, tag="residuals"):
    """Per test: units, sums of products of residuals, upper triangle of their weighted squares, and the fourth power where there is one.

    With ``fourths`` instead one number for every half of a test: Σ |V^-1/2 r|⁴. Then, per question of ``alone``, an
    :class:`AloneResidual` from the one site that can answer it and zeros from all others.
    """

    bases: Annotated[tuple[BasisAsk, ...], MANY]
    models: Annotated[tuple[MeanAsk, ...], MANY]
    tests: Annotated[tuple[ProductAsk, ...], MANY]
    coded: Coded
    slopes: bool
    features: bool
    clustered: bool = False
    fourths: bool = False
    alone: Annotated[tuple[Question, ...], MANY] = ()

    def _sizes(self, schema: Schema) -> list[int]:
        """Columns of the response of every model."""
        return [n_responses(schema, model.response, features=self.features) for model in self.models]

    def _known(self, test: ProductAsk, schema: Schema) -> bool:
        """True if the variance follows from the means: both variables have levels without order, and rows are independent."""
        return not self.clustered and all(schema[self.models[i].response].kind in UNORDERED for i in (test.x, test.y))

    def _length(self, test: ProductAsk, d: int, schema: Schema) -> int:
        return len(test.halves) if self.fourths else 1 + d + d * (d + 1) // 2 + (d == 1 and not self._known(test, schema))

    def length(self, schema: Schema) -> int:
        """The tests, one after the other, then the questions for a site alone."""
        sizes = self._sizes(schema)
        tests = sum(self._length(test, test.products(sizes), schema) for test in self.tests)
        return tests + len(AloneResidual._fields) * len(self.alone)

    def samples(self) -> tuple[VariableSet, ...]:
        """Samples of tests and of models, each once, and the variables of the questions for a site alone."""
        means = (own_sample(self.bases[m.basis].expansion, m.response) for m in self.models if 0 <= m.basis < len(self.bases))
        own = (*(test.sample for test in self.tests), *(basis.sample for basis in self.bases), *means)
        return tuple(dict.fromkeys((*own, *(q.variables for q in self.alone))))

    def check(self, guard: Guard) -> None:
        """Two means of each test, over the same variables and as agreed, at one point for good; enough terms in every sum."""
        guard.knows_questions(self.alone)
        guard.not_too_large(self.samples())
        guard.is_method(Method.RESIDUAL)
        guard.reads_coding(self.coded)
        guard.expands_like(slopes=self.slopes, features=self.features)
        guard.clusters(clustered=self.clustered)
        alone = {question.variables for question in self.alone}
        summed = {test.sample for test in self.tests}
        for variables in self.samples():
            guard.knows(variables)
            # with the others it is only said which rows a mean was fitted on; what is summed is over the samples of tests
            if variables not in alone and (variables in summed or not guard.withheld(variables)):
                guard.allows_sum(variables)
        for question in self.alone:
            guard.allows_alone(question.variables)
        self._check_shapes(guard)
        guard.keeps_coding(self.coded)
        guard.settles([(self._name(test), self._point(test)) for test in self.tests])

    def _check_shapes(self, guard: Guard) -> None:
        schema = guard.table.schema
        ranks, sizes = list[int](), list[int]()
        for basis in self.bases:
            p = check_expansion(basis.sample, basis.expansion, (), self.coded, guard)
            rank = len(basis.turn) // (8 * p) if p else 0
            if len(basis.turn) != 8 * p * rank or not np.isfinite(np.frombuffer(basis.turn, dtype="<f8")).all():
                raise WrongShapeError(
                    f"The columns given {', '.join(basis.expansion.given)} are {p}; got a change of them that does not fit."
                )
            ranks.append(rank)
        for model in self.models:
            if not 0 <= model.basis < len(self.bases):
                raise WrongShapeError(f"A mean must be over one of the {len(self.bases)} sets of columns; got {model.basis}.")
            check_responses(self.bases[model.basis].expansion, (model.response,), self.coded, guard)
            sizes.append(n_responses(schema, model.response, features=self.features))
            model.check(ranks[model.basis], sizes[-1], MOST_UNIT)
        for test in self.tests:
            guard.leaves_rows(test.sample, self._check_test(test, sizes), ROWS_PER_COLUMN)

    def _check_test(self, test: ProductAsk, sizes: Sequence[int]) -> int:
        """Raise unless a test is one of models with so many columns; tell how many products it has."""
        if not (0 <= test.x < len(self.models) and 0 <= test.y < len(self.models)):
            raise WrongShapeError(f"A test is of two of the {len(self.models)} means; got {test.x} and {test.y}.")
        x, y = self.models[test.x], self.models[test.y]
        given = self.bases[x.basis].expansion.given
        if given != self.bases[y.basis].expansion.given or x.response == y.response:
            raise OutsideSchemaError("A test is of two variables given the same others.")
        if test.sample != tuple(sorted({x.response, y.response, *given})):
            raise OutsideSchemaError(f"The sample of a test is complete on its variables; got {', '.join(test.sample)}.")
        for i, matrix, size in zip((test.x, test.y), test.combine, test.combined(sizes), strict=True):
            rows = sizes[i]
            if matrix and (len(matrix) != 8 * rows * size or not 0 < size <= rows or not np.isfinite(_doubles(matrix)).all()):
                raise WrongShapeError(
                    f"The {rows} columns of {self.models[i].response} can be combined to so many at most, by finite numbers."
                )
        d = test.products(sizes)
        if d > MOST_PRODUCTS:
            raise WrongShapeError(f"A test has at most {MOST_PRODUCTS} products of residuals; got {d}.")
        if bool(test.halves) != self.fourths or len(test.halves) > MOST_HALVES:
            raise WrongShapeError(f"Fourth moments need one to {MOST_HALVES} roots of inverses, and only they do.")
        for half in test.halves:
            if len(half) % (8 * d) or not 0 < len(half) <= 8 * d * d or not np.isfinite(_doubles(half)).all():
                raise WrongShapeError(f"A root of an inverse has {d} rows, as many columns at most, and finite numbers.")
        return d

    def _name(self, test: ProductAsk) -> bytes:
        """A test without its point, the same for both orders of its variables."""
        x, y = self.models[test.x], self.models[test.y]
        names = (*sorted((x.response, y.response)), self.bases[x.basis].expansion.given)
        return sha256(msgspec.msgpack.encode((self.fourths, *names))).digest()[:16]

    def _point(self, test: ProductAsk) -> bytes:
        """All that its answer depends on."""
        parts = [(self.models[i], self.bases[self.models[i].basis]) for i in (test.x, test.y)]
        bare = [(basis.expansion, basis.turn, m.response, m.coefficients, m.shrink, m.units) for m, basis in parts]
        return sha256(msgspec.msgpack.encode((bare, test.combine, test.halves))).digest()[:16]

    def answer(self, desk: Desk, site: int) -> Floats:
        """The site's own sums; zeros for a sample it does not hold."""
        schema, sizes = desk.table.schema, self._sizes(desk.table.schema)
        position, at = dict[int, int](), 0
        for i, test in enumerate(self.tests):
            position[i] = at
            at += self._length(test, test.products(sizes), schema)
        vector = np.zeros(at)

        def given(i: int) -> tuple[str, ...]:
            return self.bases[self.models[self.tests[i].x].basis].expansion.given

        held = [i for i, test in enumerate(self.tests) if desk.table.holds(test.sample) and desk.table.complete(test.sample).n]
        how = Smoothing(self.slopes, self.features)
        for _, group in groupby(sorted(held, key=given), key=given):
            found = moments(desk, self.bases, self.models, [self._tested(i, sizes, schema) for i in group], self.coded, how)
            for i, each in found.items():
                packed = self._pack(each, schema, self.tests[i])
                vector[position[i] : position[i] + len(packed)] = packed
        return np.concatenate([vector, self._answer_alone(desk).ravel()])

    def _tested(self, i: int, sizes: Sequence[int], schema: Schema) -> Tested:
        test = self.tests[i]
        own, d = (sizes[test.x], sizes[test.y]), test.products(sizes)
        x, y = (_doubles(m).reshape(size, -1) if m else np.eye(size) for m, size in zip(test.combine, own, strict=True))
        halves = tuple(_doubles(half).reshape(d, -1) for half in test.halves)
        return Tested(i, test.x, test.y, test.sample, (x, y), halves, self._known(test, schema))

    def _pack(self, found: Moments, schema: Schema, test: ProductAsk) -> Floats:
        if self.fourths:
            return found.fourths
        one = len(found.sums) == 1 and not self._known(test, schema)
        triangle = found.squares[upper(len(found.sums))]
        return np.concatenate([[float(found.units)], found.sums, triangle, found.fourths if one else []])

    def _answer_alone(self, desk: Desk) -> Floats:
        vector, table = np.zeros((len(self.alone), len(AloneResidual._fields))), desk.table
        mine = [i for i, q in enumerate(self.alone) if table.holds(q.variables) and table.complete(q.variables).n]
        if mine:
            results = desk.own_residuals(tuple(self.alone[i] for i in mine), Smoothing(self.slopes, self.features), self.coded)
            for i, result in zip(mine, results, strict=True):
                vector[i] = AloneResidual.of(result)
        return vector

    def read(self, total: Floats, schema: Schema) -> ResidualsRead:
        """The parts again."""
        found, at, sizes = ResidualsRead([], [], {}), 0, self._sizes(schema)
        for test in self.tests:
            d = test.products(sizes)
            part = total[at : at + self._length(test, d, schema)]
            at += len(part)
            if self.fourths:
                found.fourths.append(part)
                continue
            squares = np.zeros((d, d))
            rows, cols = upper(d)
            squares[rows, cols] = squares[cols, rows] = part[1 + d : 1 + d + len(rows)]
            fourth = float(part[-1]) if d == 1 and not self._known(test, schema) else None
            found.tests.append(ProductTotal(float(np.rint(part[0])), part[1 : 1 + d], squares, fourth))
        numbers = total[at:].reshape(-1, len(AloneResidual._fields)).tolist()
        found.alone.update({q: AloneResidual(*row) for q, row in zip(self.alone, numbers, strict=True)})
        return found

    def words(self) -> str:
        """What is asked for, in words.

        >>> ResidualProducts((), (), (), Coded({}), True, False, alone=(Question("A", "B"),)).words()
        'the rounded p-value of 1 test that one site alone can do'
        """
        what = "fourth moments of products" if self.fourths else "products"
        by = ", summed by cluster" if self.clustered else ""
        words = f"{what} of residuals and their squares{by}, of {counted(len(self.tests), 'test')}" if self.tests else ""
        alone = alone_words(len(self.alone))
        return "; ".join(part for part in (words, alone) if part) or "nothing"


def _doubles(values: bytes) -> Floats:
    return np.frombuffer(values, dtype="<f8") if len(values) % 8 == 0 else np.full(1, np.nan)
