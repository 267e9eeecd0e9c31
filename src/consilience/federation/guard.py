"""What a site checks before it answers. It does not trust the server to keep the study's rules.

Every check that fails is a refusal with a name of its own (see :mod:`consilience.errors`) and a line in the ledger; nothing has left
the site then.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from hashlib import sha256

import msgspec
import numpy as np

from consilience.citest.question import Question
from consilience.citest.requests import Evaluate, LocalTests, Locate, ModelAsk, Products, Request, Survey, samples_of
from consilience.data.design import n_columns
from consilience.data.kinds import Kind
from consilience.data.table import Table
from consilience.federation.memory import Memory, Places, Points, Units
from consilience.federation.messages import VERSION, Announced, RoundRequest, encode_message
from consilience.federation.terms import Method, Terms
from consilience.glm.layout import Family, SiteEffects, n_parameters
from consilience.protocol.errors import (
    DisclosureError,
    FalseCountsError,
    OutsideSchemaError,
    RepeatedQuestionError,
    WrongShapeError,
    WrongTermsError,
)

__all__ = ["Guard"]


class Guard:
    """One site's checks in one study. Its memory knows which model was answered at which β with which sites."""

    def __init__(self, table: Table, terms: Terms, memory: Memory) -> None:
        self.table, self.terms, self.memory = table, terms, memory
        self._announced: dict[tuple[str, ...], Announced] = {}
        self._known: set[tuple[object, ...]] = set()

    def new_run(self) -> None:
        """Forget what was announced for other sites; remember what was answered."""
        self._announced.clear()

    def check(self, request: RoundRequest, members: frozenset[bytes]) -> None:
        """Raise the refusal that ``request``, for a roster of ``members``, deserves; return if there is none."""
        if request.version != VERSION:
            raise WrongTermsError(f"Messages must be of version {VERSION}; got {request.version}. Update the older side.")
        for announced in request.announced:
            self._check_announced(announced, len(members))
        self._check_schema(request.body)
        self._check_sizes(request.body)
        self._check_method(request.body)
        self._check_coding(request.body)
        self._check_limits(request.body)
        if isinstance(request.body, Evaluate):
            self._check_models(request.body, members)

    def _check_announced(self, announced: Announced, n_sites: int) -> None:
        """Take an announced sum, unless it cannot be true."""
        self._check_names(announced.variables)
        held = self.table.holds(announced.variables)
        own = self.table.complete(announced.variables).n if held else 0
        others = announced.contributors - (own > 0)
        if not 0 <= others <= n_sites - 1 or announced.rows < own + others:
            # what this site has is not said: the message goes back to the server
            raise FalseCountsError(
                f"{announced.contributors} contributors with {announced.rows} rows were announced for {', '.join(announced.variables)}, "
                f"which cannot be, by what this site has and the {n_sites} sites of the roster. Ask the study's server."
            )
        if self._announced.setdefault(announced.variables, announced) != announced:
            raise FalseCountsError(f"Other counts were announced for {', '.join(announced.variables)} before, in the same run.")

    def _check_sizes(self, request: Request) -> None:
        """No test given more variables than agreed: two are tested, the others are the conditioning set."""
        if self.terms.max_given is None or isinstance(request, Locate):
            return
        sets = request.sets if isinstance(request, Survey) else samples_of(request)
        largest = max(sets, key=len, default=())
        if len(largest) > self.terms.max_given + 2:
            raise WrongTermsError(
                f"The study's conditioning sets have at most {self.terms.max_given} variables, so that a request is over at most "
                f"{self.terms.max_given + 2}; got {len(largest)}."
            )

    def _check_method(self, request: Request) -> None:
        """Only what the study's method needs: p-values with Fisher's, sums of models with the other; no locations but where agreed."""
        if isinstance(request, Survey):
            return
        if isinstance(request, LocalTests) != (self.terms.method is Method.FISHER):
            raise WrongTermsError(f"The study's method is {self.terms.method}; got a request of another.")
        common = self.terms.effects is SiteEffects.NONE
        located = isinstance(request, Locate) or (isinstance(request, Products | Evaluate) and request.locations is not None)
        if not isinstance(request, LocalTests) and located != common:
            raise WrongTermsError(
                f"With site effects {self.terms.effects} columns are {'' if common else 'not '}moved by common locations."
            )

    def _check_coding(self, request: Request) -> None:
        """Units and locations are those of the first request: another unit would be another guise of the same question."""
        if isinstance(request, Survey | LocalTests):
            return
        limit = 1100
        for name, exponent in request.exponents.items():
            self._check_continuous((name,))
            if abs(exponent) > limit:
                raise WrongShapeError(f"A unit's exponent must lie within ±{limit}; got {exponent} for {name!r}.")
        if self.memory.exponents is None:
            self.memory.take(Units(request.exponents))
        if request.exponents != self.memory.exponents:
            raise WrongTermsError("Units must stay what they were in the study's first request for sums.")
        if not isinstance(request, Locate):
            self._check_locations(request.locations)

    def _check_locations(self, locations: dict[str, float] | None) -> None:
        for name, location in (locations or {}).items():
            self._check_continuous((name,))
            if not math.isfinite(location):
                raise WrongShapeError(f"A location must be a finite number; got {location} for {name!r}.")
        if not self.memory.located:
            self.memory.take(Places(locations))
        if locations != self.memory.locations:
            raise WrongTermsError("Locations must stay what they were in the study's first request for cross-products.")

    def _check_limits(self, request: Request) -> None:
        """No sum over too few sites or rows, and no test alone unless this is the only site that can do it."""
        alone = tuple(q.variables for q in request.alone) if isinstance(request, Products) else ()
        sums = request.sets if isinstance(request, Products) else samples_of(request)
        for variables in sums:
            self._check_limit(variables, single=isinstance(request, LocalTests))
        for variables in alone:
            self._check_limit(variables, single=True)
            if not self.terms.disclosure.alone(self._announced[variables].contributors):
                raise DisclosureError(f"No site answers alone on {', '.join(variables)}: others have the rows for it too.")

    def _check_limit(self, variables: tuple[str, ...], *, single: bool) -> None:
        found = self._announced.get(variables)
        if found is None:
            raise DisclosureError(f"A sum over the rows of {', '.join(variables)} needs its counts announced first; there are none.")
        limits = self.terms.disclosure
        reason = limits.refusal(found.contributors, found.rows)
        if not reason and not single and limits.alone(found.contributors):
            reason = "only one site has the rows for it, which answers with statistics alone"
        if reason:
            raise DisclosureError(f"No sum over {', '.join(variables)}: {reason}.")

    def _check_names(self, names: Iterable[str]) -> None:
        names = tuple(names)
        strange = [name for name in names if name not in self.table.schema]
        if strange:
            raise OutsideSchemaError(f"The study's variables are {', '.join(self.table.schema)}; got {strange[0]!r}.")
        if len(set(names)) < len(names):
            raise OutsideSchemaError(f"A variable may stand once in a set; got {', '.join(names)}.")

    def _check_schema(self, request: Request) -> None:
        """Every variable is the study's, and of the kind that the question needs."""
        if isinstance(request, Survey):
            for variables in request.sets:
                self._check_names(variables)
            self._check_continuous(request.spreads)
        elif isinstance(request, Locate):
            self._check_continuous(request.variables)
        elif isinstance(request, Products):
            for variables in request.sets:
                self._check_names(variables)
            self._check_questions(request.alone)
        elif isinstance(request, LocalTests):
            self._check_questions(request.questions)
        if isinstance(request, Products | LocalTests | Evaluate) and request.ordinal is not self.terms.ordinal:
            raise WrongTermsError(f"The study models ordinal responses as {self.terms.ordinal}; got {request.ordinal}.")
        if isinstance(request, Products | LocalTests) and request.ridge != self.terms.ridge:
            raise WrongTermsError(f"The study's ridge is {self.terms.ridge}; got {request.ridge}.")

    def _check_continuous(self, names: tuple[str, ...]) -> None:
        self._check_names(names)
        for name in names:
            if self.table.schema[name].kind is not Kind.CONTINUOUS:
                raise OutsideSchemaError(f"{name!r} is {self.table.schema[name].kind.value} in this study, not continuous.")

    def _check_questions(self, questions: tuple[Question, ...]) -> None:
        for question in questions:
            self._check_names((question.x, question.y, *question.given))

    def _check_models(self, request: Evaluate, members: frozenset[bytes]) -> None:
        if request.effects is not self.terms.effects:
            raise WrongTermsError(f"The study's site effects are {self.terms.effects}; got {request.effects}.")
        if request.n_sites != len(members):
            raise WrongTermsError(f"The roster has {len(members)} sites; got a request for {request.n_sites}.")
        digests = []
        for model in request.models:
            self._check_model(model, request)
            digests.append(_canonical(model))
            before = self.memory.answered.get(digests[-1])
            if before is not None and members < before:
                raise RepeatedQuestionError(
                    f"The model {model.response} ~ {' + '.join(model.predictors) or '1'} was answered at this point with "
                    f"{len(before)} sites; asked for again with {len(members)}, the difference would be the missing site's numbers. "
                    f"Begin at another point."
                )
        new = tuple(digest for digest in dict.fromkeys(digests) if digest not in self.memory.answered)
        if new:
            self.memory.take(Points(new, tuple(sorted(members))))

    def _check_model(self, model: ModelAsk, request: Evaluate) -> None:
        shape = model.shape(self.table.schema, request.ordinal) if model.response in self.table.schema else None
        key = (model.response, model.predictors, model.sample, model.keep, model.levels)
        if key not in self._known:
            self._check_design(model)
            self._known.add(key)
        assert shape is not None
        wanted = n_parameters(shape, request.effects, request.n_sites)
        barrier = shape.family is Family.GENERALIZED
        if len(model.beta) != 8 * wanted or not np.isfinite(model.point).all() or not 0.0 <= model.mu <= float(barrier):
            raise WrongShapeError(
                f"The model {model.response} ~ {' + '.join(model.predictors) or '1'} has {wanted} parameters, all finite; "
                f"got {len(model.beta) / 8:g}."
            )

    def _check_design(self, model: ModelAsk) -> None:
        schema = self.table.schema
        self._check_names((model.response, *model.predictors))
        self._check_names(model.sample)
        if list(model.sample) != sorted(model.sample) or list(model.predictors) != sorted(model.predictors):
            raise OutsideSchemaError(f"The variables of a model must be sorted; got {', '.join((*model.predictors, *model.sample))}.")
        if not set(model.sample) >= {model.response, *model.predictors}:
            raise OutsideSchemaError(f"A model's sample must be complete on its variables; got {', '.join(model.sample)}.")
        response = schema[model.response]
        if not response.kind.is_discrete:
            raise OutsideSchemaError(f"{model.response!r} is continuous and needs no model to be evaluated; its cross-products say all.")
        in_order = all(a < b for a, b in zip(model.levels, model.levels[1:], strict=False))
        if len(model.levels) < 2 or not in_order or model.levels[0] < 0 or model.levels[-1] >= len(response.levels):
            raise OutsideSchemaError(f"{model.response!r} has the levels 0 to {len(response.levels) - 1}; got {list(model.levels)}.")
        width = n_columns(schema, model.predictors)
        increasing = all(a < b for a, b in zip(model.keep, model.keep[1:], strict=False))
        if not increasing or (model.keep and not 0 <= model.keep[0] <= model.keep[-1] < width):
            raise WrongShapeError(f"The predictors {', '.join(model.predictors)} have {width} columns; got the choice {list(model.keep)}.")


def _canonical(model: ModelAsk) -> bytes:
    """A digest of the model with one way of writing zero: a question in another guise is the same question."""
    plain = msgspec.structs.replace(model, beta=(model.point + 0.0).tobytes())
    return sha256(encode_message(plain)).digest()[:16]
