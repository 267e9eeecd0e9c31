"""What a site checks before it answers. It does not trust the server to keep the study's rules.

Every check that fails is a refusal with a name of its own (see :mod:`consilience.errors`) and a line in the ledger; nothing has left
the site then.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from consilience.citest.question import Question
from consilience.citest.requests import Evaluate, LocalTests, Locate, ModelAsk, Products, Request, Survey, samples_of
from consilience.data.design import n_columns
from consilience.data.kinds import Kind
from consilience.data.table import Table
from consilience.errors import (
    DisclosureError,
    OutsideSchemaError,
    RepeatedQuestionError,
    WrongShapeError,
    WrongTermsError,
)
from consilience.federation.messages import VERSION, Announced, RoundRequest
from consilience.federation.terms import Terms
from consilience.glm.layout import n_parameters

__all__ = ["Guard"]


class Guard:
    """One site's checks in one study. It remembers which model was answered at which β with which sites."""

    def __init__(self, table: Table, terms: Terms) -> None:
        self.table, self.terms = table, terms
        self._answered: dict[ModelAsk, frozenset[bytes]] = {}
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
        self._check_limits(request.body)
        if isinstance(request.body, Evaluate):
            self._check_models(request.body, members)

    def _check_announced(self, announced: Announced, n_sites: int) -> None:
        """Take an announced sum, unless it cannot be true."""
        self._check_names(announced.variables)
        held = self.table.holds(announced.variables)
        own = self.table.complete(announced.variables).n if held else 0
        least_rows = own + max(announced.contributors - (own > 0), 0)
        if announced.contributors > n_sites or announced.rows < least_rows or announced.contributors < (own > 0):
            raise DisclosureError(
                f"{announced.contributors} contributors with {announced.rows} rows were announced for {', '.join(announced.variables)}, "
                f"which cannot be: this site has {own} of them, and the roster {n_sites} sites. Ask the study's server."
            )
        self._announced[announced.variables] = announced

    def _check_limits(self, request: Request) -> None:
        """No sum over too few sites or rows, and no test alone unless this is the only site that can do it."""
        limits = self.terms.disclosure
        alone = {q.variables for q in request.alone} if isinstance(request, Products) else set()
        for variables in samples_of(request):
            found = self._announced.get(variables)
            if found is None:
                raise DisclosureError(f"A sum over the rows of {', '.join(variables)} needs its counts announced first; there are none.")
            reason = limits.refusal(found.contributors, found.rows)
            single = found.contributors == 1 and limits.min_contributors > 1
            if not reason and single and variables not in alone and not isinstance(request, LocalTests):
                reason = "only one site has the rows for it, which answers with statistics alone"
            if not reason and variables in alone and not single:
                reason = f"{found.contributors} sites have the rows for it, so that no site answers alone"
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
        for model in request.models:
            self._check_model(model, request)
            before = self._answered.get(model)
            if before is not None and members < before:
                raise RepeatedQuestionError(
                    f"The model {model.response} ~ {' + '.join(model.predictors) or '1'} was answered at this point with "
                    f"{len(before)} sites; asked for again with {len(members)}, the difference would be the missing site's numbers. "
                    f"Begin at another point."
                )
        for model in request.models:
            self._answered.setdefault(model, members)

    def _check_model(self, model: ModelAsk, request: Evaluate) -> None:
        shape = model.shape(self.table.schema, request.ordinal) if model.response in self.table.schema else None
        key = (model.response, model.predictors, model.sample, model.keep, model.levels)
        if key not in self._known:
            self._check_design(model)
            self._known.add(key)
        assert shape is not None
        wanted = n_parameters(shape, request.effects, request.n_sites)
        if len(model.beta) != 8 * wanted or not np.isfinite(model.point).all() or not 0.0 <= model.mu <= 1.0:
            raise WrongShapeError(
                f"The model {model.response} ~ {' + '.join(model.predictors) or '1'} has {wanted} parameters, all finite; "
                f"got {len(model.beta) / 8:g}."
            )

    def _check_design(self, model: ModelAsk) -> None:
        schema = self.table.schema
        self._check_names((model.response, *model.predictors))
        self._check_names(model.sample)
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
