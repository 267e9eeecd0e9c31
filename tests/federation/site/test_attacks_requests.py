"""A server that asks for what does not exist, or was not agreed on.

Every refusal is a typed error with exactly one line in the site's ledger, and nothing has left the site then.
"""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

import consilience as cs
from consilience import errors
from consilience.citest.question import Question
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.protocol.evaluate import ModelAsk
from consilience.protocol.local_tests import LocalTests
from consilience.protocol.locate import Locate
from consilience.protocol.messages import Announced, RoundRequest
from consilience.protocol.products import Products
from consilience.protocol.survey import Survey
from consilience.protocol.version import VERSION
from tests.federation.helpers import LOGIT, ROWS, Wire, mixed_clients, mixed_frames, point, refused
from tests.federation.site.attacks import PRODUCTS, SURVEY, change, terms_of

# parameters


@pytest.mark.parametrize(
    "changes",
    [
        {"beta": b""},
        {"beta": point(0.0, 0.0)},
        {"beta": b"1234567"},
        {"beta": point(math.nan)},
        {"beta": point(-math.inf)},
        {"mu": -1e-9},
        {"mu": 1e9},
        {"mu": math.nan},
        {"keep": (1,), "beta": point(0.0)},
        {"keep": (-1,), "beta": point(0.0)},
        {"keep": (0, 0), "beta": point(0.0, 0.0)},
        {"keep": (0, 1, 2, 3, 4), "beta": point(*[0.0] * 5)},
        {"keep": (), "beta": point(0.0)},
        {"response": "D", "sample": ("A", "D"), "levels": (0, 1, 2, 3)},
    ],
    ids=str,
)
def test_parameters_that_do_not_fit_the_model(wire: Wire, changes: dict[str, Any]) -> None:
    model = change(LOGIT, **changes)
    with refused(wire.clients[0], errors.WrongShapeError):
        wire.send(wire.evaluate(model), [wire.everywhere(*model.sample)])


def test_one_bad_model_among_good_ones_spoils_the_round(wire: Wire) -> None:
    models = [LOGIT, change(LOGIT, beta=point(math.nan)), change(LOGIT, beta=point(1.0))]
    with refused(wire.clients[0], errors.WrongShapeError):
        wire.send(wire.evaluate(*models), [wire.everywhere("A", "C")])


@pytest.mark.parametrize(
    "changes",
    [
        {"response": "Q"},
        {"predictors": ("Q",)},
        {"sample": ("A", "C", "Q")},
        {"response": "A", "predictors": ("C",)},
        {"levels": (0, 2)},
        {"levels": (-1, 0)},
        {"levels": (1, 0)},
        {"levels": (0, 0)},
        {"levels": (0,), "beta": point()},
        {"levels": (), "beta": point()},
        {"sample": ("C",)},
        {"sample": ("A",)},
        {"sample": ("A", "A", "C")},
        {"sample": ()},
        {"predictors": ("A", "A"), "keep": (0, 1), "beta": point(0.0, 0.0)},
        {"predictors": ("C",)},
    ],
    ids=str,
)
def test_a_model_outside_the_schema(wire: Wire, changes: dict[str, Any]) -> None:
    model = change(LOGIT, **changes)
    known = [wire.everywhere(*model.sample)] if set(model.sample) <= set("ABCDE") and len(set(model.sample)) == len(model.sample) else []
    error = errors.OutsideSchemaError if known else (errors.OutsideSchemaError, errors.DisclosureError)
    before = len(wire.clients[0].record.entries)
    with pytest.raises(error):
        wire.send(wire.evaluate(model), known)
    line = wire.clients[0].record.entries[-1]
    assert len(wire.clients[0].record.entries) == before + 1
    assert (bool(line.refused), line.numbers, line.bytes) == (True, 0, 0)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({}, None),
        ({"levels": (0, 1)}, errors.OutsideSchemaError),
        ({"levels": (0,)}, errors.OutsideSchemaError),
        ({"beta": point(0.0, 0.0)}, errors.WrongShapeError),
        ({"mu": 0.01}, errors.WrongShapeError),
        ({"response": "A", "predictors": ("N",)}, errors.OutsideSchemaError),
    ],
    ids=str,
)
def test_a_model_of_a_count_has_no_levels(changes: dict[str, Any], error: type[Exception] | None) -> None:
    frames = [frame.select("A").with_columns(pl.Series("N", range(ROWS)) % 5) for frame in mixed_frames(2)]
    wire = Wire.open([cs.Client(f"site{i}", frame, kinds={"N": "count"}) for i, frame in enumerate(frames)])
    model = change(ModelAsk("N", ("A",), ("A", "N"), (0,), (), point(0.0)), **changes)
    if error is None:
        wire.send(wire.evaluate(model), [wire.everywhere("A", "N")])
        return
    with refused(wire.clients[0], error):
        wire.send(wire.evaluate(model), [wire.everywhere("A", "N")])


@pytest.mark.parametrize(
    "body",
    [
        Survey((("A", "Q"),)),
        Survey((("A", "A"),)),
        Survey((), ("C",)),
        Survey((), ("Q",)),
        Locate(("C",), {}),
        Locate(("Q",), {}),
        Locate(("A", "A"), {}),
        Products((("A", "Q"),), {}),
        Products((("A", "A"),), {}),
        Products((), {}, alone=(Question("A", "Q"),)),
        Products((), {}, alone=(Question("A", "A"),)),
        Products((), {}, alone=(Question("A", "B", ("B",)),)),
        LocalTests((Question("Q", "A"),), Ordinal.PROPORTIONAL),
        LocalTests((Question("A", "B", ("C", "C")),), Ordinal.PROPORTIONAL),
    ],
    ids=str,
)
def test_variables_outside_the_schema(body: Any) -> None:
    wire = Wire.open(mixed_clients(2), **terms_of(body))
    with refused(wire.clients[0], errors.OutsideSchemaError):
        wire.send(body)


def test_an_announced_set_is_checked_like_any_other(wire: Wire) -> None:
    for variables in (("Q",), ("A", "A")):
        with refused(wire.clients[0], errors.OutsideSchemaError):
            wire.send(SURVEY, [Announced(variables, 2, 80)])


@pytest.mark.parametrize("ordinal", Ordinal)
@pytest.mark.parametrize(
    ("response", "levels", "beta"),
    [("D", (0, 1), point(0.0)), ("D", (0, 1, 2), None), ("E", (0, 1, 3), point(0.0, 0.0)), ("E", (2, 3), point(0.0))],
    ids=["ordinal as binary", "ordinal", "multinomial", "multinomial as binary"],
)
def test_levels_that_leave_out_some_of_this_sites_rows(ordinal: Ordinal, response: str, levels: tuple[int, ...], beta: Any) -> None:
    """The levels of a model are all that occur anywhere: a site that has another one is being lied to."""
    wire = Wire.open(mixed_clients(2), ordinal=ordinal)
    if beta is None:
        beta = point(0.0, 1.0) if ordinal is Ordinal.PROPORTIONAL else point(0.0, 0.0)
    model = ModelAsk(response, ("A",), ("A", response), (0,), levels, beta)
    before = len(wire.clients[0].record.entries)
    with pytest.raises(errors.ConsilienceError):
        wire.send(wire.evaluate(model), [wire.everywhere("A", response)])
    assert len(wire.clients[0].record.entries) == before + 1


# terms


def test_other_versions_are_not_read(wire: Wire) -> None:
    for version in (0, VERSION - 1, VERSION + 1):
        with refused(wire.clients[0], errors.WrongTermsError):
            wire.send(SURVEY, version=version)


@pytest.mark.parametrize(
    "changes",
    [
        {"ordinal": Ordinal.GENERALIZED},
        {"n_sites": 1},
        {"n_sites": 3},
        *({"effects": e} for e in SiteEffects if e is not SiteEffects.PROFILED),
    ],
    ids=str,
)
def test_models_on_other_terms_than_agreed(wire: Wire, changes: dict[str, Any]) -> None:
    with refused(wire.clients[0], errors.WrongTermsError):
        wire.send(wire.evaluate(LOGIT, **changes), [wire.everywhere("A", "C")])


@pytest.mark.parametrize(
    "body",
    [
        Products((("A", "B"),), {}, ordinal=Ordinal.GENERALIZED),
        Products((("A", "B"),), {}, ridge=0.1),
        LocalTests((Question("A", "B"),), Ordinal.GENERALIZED),
        LocalTests((Question("A", "B"),), Ordinal.PROPORTIONAL, 1e-12),
        LocalTests((Question("A", "B"),), Ordinal.PROPORTIONAL, math.nan),
    ],
    ids=str,
)
def test_sums_on_other_terms_than_agreed(body: Any) -> None:
    wire = Wire.open(mixed_clients(2), **terms_of(body))
    with refused(wire.clients[0], errors.WrongTermsError):
        wire.send(body, [wire.everywhere("A", "B")])


def test_where_sites_have_intercepts_nobody_asks_where_their_numbers_lie(wire: Wire) -> None:
    """Profiled: each site keeps its location to itself. Sums of raw values, and cross-products about zero, would tell."""
    with refused(wire.clients[0], errors.WrongTermsError):
        wire.send(Locate(("A",), {}), [wire.everywhere("A")])
    with refused(wire.clients[0], errors.WrongTermsError):
        wire.send(Products((("A", "B"),), {}, {"A": 0.0, "B": 0.0}), [wire.everywhere("A", "B")])


def test_in_a_study_by_fishers_method_only_p_values_leave_a_site() -> None:
    server = cs.fisher(mixed_clients(2))
    server.test("A", "B")
    participant, (run, digest) = server._transport._sites[0], server._transport._run or (b"", b"")
    with refused(server.clients[0], errors.WrongTermsError):
        participant.answer(RoundRequest(run, 99, digest, PRODUCTS, (Announced(("A", "B"), 2, 2 * ROWS),)))


def test_in_a_study_of_common_models_no_p_value_of_one_site_leaves_it(wire: Wire) -> None:
    with refused(wire.clients[0], errors.WrongTermsError):
        wire.send(LocalTests((Question("A", "B"),), Ordinal.PROPORTIONAL), [wire.everywhere("A", "B")])
