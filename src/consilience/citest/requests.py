"""What a server asks of a site, as typed messages, and how long the answer is.

Every answer is one flat vector of floats whose length follows from the request and the study's schema alone. A site that cannot
contribute sends zeros of that length; only sums over sites are ever looked at.
"""

from __future__ import annotations

import msgspec
import numpy as np

from consilience.citest.question import Question
from consilience.data.design import Coding, Model, n_columns
from consilience.data.schema import Schema
from consilience.glm.kernel import Floats
from consilience.glm.layout import Ordinal, Shape, SiteEffects, answer_size, family_of, n_parameters

__all__ = [
    "Evaluate",
    "LocalTests",
    "Locate",
    "ModelAsk",
    "Products",
    "Request",
    "Survey",
    "answer_length",
    "products_length",
    "samples_of",
]

ALONE_FIELDS = 5


class Survey(msgspec.Struct, frozen=True, tag="survey"):
    """Per variable set: (holds it with a complete row?, complete rows). Per name in ``spreads``: (votes?, exponent of its spread)."""

    sets: tuple[tuple[str, ...], ...]
    spreads: tuple[str, ...] = ()


class Locate(msgspec.Struct, frozen=True, tag="locate"):
    """Per continuous variable: (rows, sum in units of two to its exponent). Asked only where sites have no intercepts of their own."""

    variables: tuple[str, ...]
    exponents: dict[str, int]


class Products(msgspec.Struct, frozen=True, tag="products"):
    """Cross-products of all columns, per variable set.

    n, level counts, log-likelihoods of discrete variables without predictors, column sums, upper triangle of the cross-products.
    Then, per question of ``alone``, from the one site that can answer it and zeros from all others: statistic and df with y as the
    response, statistic and df with x as the response, and flags (1: converged, 2 and 4: a level is predicted perfectly).
    """

    sets: tuple[tuple[str, ...], ...]
    exponents: dict[str, int]
    locations: dict[str, float] | None = None
    alone: tuple[Question, ...] = ()
    ordinal: Ordinal = Ordinal.PROPORTIONAL
    ridge: float = 0.0


class ModelAsk(msgspec.Struct, frozen=True):
    """One model at one β. ``keep`` are its estimable columns, ``levels`` the response levels that occur in the study's sample."""

    response: str
    predictors: tuple[str, ...]
    sample: tuple[str, ...]
    keep: tuple[int, ...]
    levels: tuple[int, ...]
    beta: bytes
    mu: float = 0.0

    @property
    def rows(self) -> Model:
        """The model without its parameters."""
        return Model(self.response, self.predictors, self.sample)

    @property
    def point(self) -> Floats:
        """β as an array."""
        return np.frombuffer(self.beta, dtype="<f8")

    def shape(self, schema: Schema, ordinal: Ordinal) -> Shape:
        """The model's size."""
        return Shape(family_of(schema[self.response].kind, len(self.levels), ordinal), len(self.keep), len(self.levels))


class Evaluate(msgspec.Struct, frozen=True, tag="evaluate"):
    """Many models at once: for each the vector that :mod:`consilience.glm.layout` describes, one after the other.

    ``run`` names the batch: within it a site starts its search over intercepts where it ended last time.
    """

    run: int
    models: tuple[ModelAsk, ...]
    effects: SiteEffects
    ordinal: Ordinal
    n_sites: int
    exponents: dict[str, int]
    locations: dict[str, float] | None = None


class LocalTests(msgspec.Struct, frozen=True, tag="local"):
    """The site's own tests. With ``count``, per question: (can it answer?, rows); else: -2 log p.

    ``run`` names the batch: between counting and summing a site keeps its results.
    """

    questions: tuple[Question, ...]
    ordinal: Ordinal
    ridge: float = 0.0
    count: bool = False
    run: int = 0

    @property
    def fields(self) -> int:
        """Numbers per question."""
        return 2 if self.count else 1


Request = Survey | Locate | Products | Evaluate | LocalTests


def products_length(schema: Schema, variables: tuple[str, ...]) -> int:
    """Numbers per variable set in the answer to :class:`Products`.

    >>> products_length(Schema({"A": "continuous", "C": "binary"}), ("A", "C"))
    9
    """
    p = n_columns(schema, variables)
    levels = [len(schema[name].levels) for name in variables if schema[name].kind.is_discrete]
    return 1 + sum(levels) + len(levels) + p + p * (p + 1) // 2


def answer_length(request: Request, schema: Schema) -> int:
    """Length of the answer to any request.

    >>> answer_length(Survey((("A", "C"),), ("A",)), Schema({"A": "continuous", "C": "binary"}))
    4
    """
    if isinstance(request, Survey):
        return 2 * len(request.sets) + 2 * len(request.spreads)
    if isinstance(request, Locate):
        return 2 * len(request.variables)
    if isinstance(request, Products):
        return sum(products_length(schema, variables) for variables in request.sets) + ALONE_FIELDS * len(request.alone)
    if isinstance(request, LocalTests):
        return request.fields * len(request.questions)
    return sum(model_length(model, request, schema) for model in request.models)


def model_length(model: ModelAsk, request: Evaluate, schema: Schema) -> int:
    """Numbers for one model of an :class:`Evaluate` request."""
    return answer_size(n_parameters(model.shape(schema, request.ordinal), request.effects, request.n_sites))


def samples_of(request: Request) -> tuple[tuple[str, ...], ...]:
    """The variable sets over whose complete rows a request sums anything but counts.

    >>> samples_of(Products((("A", "C"),), {}, alone=(Question("C", "B"),)))
    (('A', 'C'), ('B', 'C'))
    """
    if isinstance(request, Survey):
        return ()
    if isinstance(request, Locate):
        return tuple((name,) for name in request.variables)
    if isinstance(request, Products):
        return (*request.sets, *(q.variables for q in request.alone))
    if isinstance(request, LocalTests):
        return tuple(q.variables for q in request.questions)
    return tuple(dict.fromkeys(model.sample for model in request.models))


def coding_of(request: Products | Evaluate) -> Coding:
    """How a request wants columns coded."""
    return Coding(request.exponents, request.locations)
