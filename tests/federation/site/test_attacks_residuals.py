"""A server that misuses the requests of tests of residuals: to single out rows, or to ask for what was not agreed on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from consilience import errors
from consilience.citest.question import Question
from consilience.data.basis import Expansion
from consilience.data.responses import Coded
from consilience.data.spline import Knots
from consilience.protocol.grid import Cells, Grid
from consilience.protocol.mean_products import MeanProducts, MeanSet
from consilience.protocol.messages import Announced
from consilience.protocol.place import Place
from consilience.protocol.request import Request
from consilience.protocol.residual_products import ProductAsk, ResidualProducts
from consilience.protocol.residuals import BasisAsk, MeanAsk
from consilience.settings.choices import Alternatives, Method
from tests.federation.helpers import ROWS, Wire, mixed_clients, point, refused
from tests.federation.site.attacks import change

LADDER = Knots(tuple(0.125 * i - 3.0 for i in range(49)))
CODED = Coded({"A": 0, "B": 0}, {"A": LADDER})
LINE = Expansion(("A",), 0, -1)
BASIS = BasisAsk(("A", "B"), LINE, point(1.0))
MEANS = (MeanAsk(0, "B", point(0.5), point(1.0), (0,)), MeanAsk(0, "C", point(0.1), point(1.0), (-1,)))
ASKED = ProductAsk(0, 1, ("A", "B", "C"))
PRODUCTS = ResidualProducts((BASIS,), MEANS, (ASKED,), CODED, True, False)
SUMS = MeanProducts((MeanSet(("A", "B"), Expansion(("A",), 4), ("B", "C")),), CODED, True, False)
COARSE = Grid((Cells.of("A", np.array([-1.0, 0.0, 1.0]), centred=False),), False)
FINE = change(COARSE, fine=True)


@pytest.fixture
def wire() -> Wire:
    return Wire.open(mixed_clients(2, columns="ABC"), method=Method.RESIDUAL)


def honest(wire: Wire, body: Request) -> list[Announced]:
    return [Announced(s, len(wire.clients), ROWS * len(wire.clients)) for s in body.samples()]


@pytest.mark.parametrize("body", [Place(("A",), {"A": 0, "B": 0}), COARSE, FINE, SUMS, PRODUCTS], ids=lambda b: type(b).__name__)
def test_honest_requests_are_answered_and_need_their_counts(wire: Wire, body: Request) -> None:
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(body)
    assert len(wire.total(body, honest(wire, body))) == body.length(wire.schema)
    line = wire.clients[0].record.entries[-1]
    assert (line.what, line.numbers, line.masked_with) == (body.words(), body.length(wire.schema), 1)


@pytest.mark.parametrize("body", [Place(("A",), {"A": 0, "B": 0}), COARSE, SUMS, PRODUCTS], ids=lambda b: type(b).__name__)
@pytest.mark.parametrize("method", [Method.FEDCI, Method.FISHER])
def test_a_study_of_another_method_answers_none_of_them(body: Request, method: Method) -> None:
    wire = Wire.open(mixed_clients(2, columns="ABC"), method=method)
    with refused(wire.clients[0], errors.WrongTermsError):
        wire.send(body, honest(wire, body))


@pytest.mark.parametrize("body", [SUMS, PRODUCTS, COARSE, Place(("A",), {"A": 0, "B": 0})], ids=lambda b: type(b).__name__)
def test_limits_hold(body: Request) -> None:
    wire = Wire.open(mixed_clients(3, columns="ABC"), method=Method.RESIDUAL, min_rows=200)
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(body, honest(wire, body))


# cells and knots: a variable is cut once


@pytest.mark.parametrize(
    ("edges", "error"),
    [
        ((), errors.WrongShapeError),
        ((1.0, 1.0), errors.WrongShapeError),
        ((1.0, 0.0), errors.WrongShapeError),
        ((0.0, math.inf), errors.WrongShapeError),
        ((math.nan,), errors.WrongShapeError),
        (tuple(range(20)), errors.DisclosureError),
    ],
)
@pytest.mark.parametrize("fine", [False, True])
def test_cells_that_are_none_or_too_fine(wire: Wire, edges: Sequence[float], error: type[Exception], *, fine: bool) -> None:
    body = Grid((Cells.of("A", np.array(edges), centred=False),), fine)
    with refused(wire.clients[0], error):
        wire.send(body, honest(wire, body))


@pytest.mark.parametrize("body", [COARSE, FINE], ids=["coarse", "fine"])
def test_rows_are_not_counted_between_other_values(wire: Wire, body: Grid) -> None:
    """Bisection would find every single value."""
    wire.send(body, honest(wire, body))
    wire.send(body, honest(wire, body))
    moved = change(body, cells=(Cells.of("A", np.array([-1.0, 0.0, 1.0 + 1e-9]), centred=False),))
    with refused(wire.clients[0], errors.WrongTermsError):
        wire.send(moved, honest(wire, moved))
    wire.begin(wire.participants, b"run 2")
    with refused(wire.clients[0], errors.WrongTermsError):
        wire.send(moved, honest(wire, moved))


@pytest.mark.parametrize(
    "coded",
    [
        change(CODED, knots={"A": Knots(tuple(0.1 * i for i in range(49)))}),
        change(CODED, knots={"A": change(LADDER, centred=True)}),
        change(CODED, exponents={"A": 8, "B": 0}),
    ],
    ids=["other knots", "centred", "other units"],
)
def test_knots_and_units_stay(wire: Wire, coded: Coded) -> None:
    wire.send(SUMS, honest(wire, SUMS))
    for body in (change(SUMS, coded=coded), change(PRODUCTS, coded=coded)):
        with refused(wire.clients[0], errors.WrongTermsError):
            wire.send(body, honest(wire, body))


@pytest.mark.parametrize(
    "coded",
    [
        change(CODED, knots={}),
        change(CODED, knots={"A": Knots((0.0, 1.0))}),
        change(CODED, knots={"A": Knots(tuple(-float(i) for i in range(49)))}),
        change(CODED, knots={"A": Knots((math.nan,) * 49)}),
        change(CODED, scores={"C": (0.5,)}),
        change(CODED, scores={"C": (0.5, math.nan)}),
    ],
    ids=str,
)
def test_a_coding_that_is_none(wire: Wire, coded: Coded) -> None:
    body = change(SUMS, coded=coded)
    with refused(wire.clients[0], errors.WrongShapeError):
        wire.send(body, honest(wire, SUMS))


# means and products


def test_more_columns_than_the_rows_can_hide(wire: Wire) -> None:
    body = change(SUMS, sets=(MeanSet(("A", "B"), Expansion(("A",), 60), ("B",)),))
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(body, honest(wire, body))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"slopes": False}, errors.WrongTermsError),
        ({"features": True}, errors.WrongTermsError),
        ({"clustered": True}, errors.WrongTermsError),
        ({"bases": (change(BASIS, turn=point(1.0)[:7]),)}, errors.WrongShapeError),
        ({"bases": (change(BASIS, turn=point(math.nan)),)}, errors.WrongShapeError),
        ({"bases": (change(BASIS, sample=("B",)),)}, errors.OutsideSchemaError),
        ({"models": (change(MEANS[0], basis=1), MEANS[1])}, errors.WrongShapeError),
        ({"models": (change(MEANS[0], coefficients=point(0.5, 0.5)), MEANS[1])}, errors.WrongShapeError),
        ({"models": (change(MEANS[0], coefficients=point(math.inf)), MEANS[1])}, errors.WrongShapeError),
        ({"models": (change(MEANS[0], shrink=point(-1.0)), MEANS[1])}, errors.WrongShapeError),
        ({"models": (change(MEANS[0], units=(5000,)), MEANS[1])}, errors.WrongShapeError),
        ({"models": (change(MEANS[0], response="A"), MEANS[1])}, errors.OutsideSchemaError),
        ({"tests": (change(ASKED, x=2),)}, errors.WrongShapeError),
        ({"tests": (change(ASKED, x=1),)}, errors.OutsideSchemaError),
        ({"tests": (change(ASKED, sample=("B", "C")),)}, errors.OutsideSchemaError),
        ({"tests": (change(ASKED, combine=(point(1.0, 1.0), b"")),)}, errors.WrongShapeError),
        ({"tests": (change(ASKED, combine=(point(math.nan), b"")),)}, errors.WrongShapeError),
        ({"tests": (change(ASKED, halves=(point(1.0),)),)}, errors.WrongShapeError),
        ({"fourths": True}, errors.WrongShapeError),
        ({"alone": (Question("B", "C"),)}, errors.DisclosureError),
        ({"alone": (Question("B", "Q"),)}, errors.OutsideSchemaError),
    ],
    ids=str,
)
def test_products_that_were_not_agreed_on(wire: Wire, changes: dict[str, Any], error: type[Exception]) -> None:
    body = change(PRODUCTS, **changes)
    known = [Announced(s, 2, 2 * ROWS) for s in body.samples() if set(s) <= set("ABC")]
    with refused(wire.clients[0], error):
        wire.send(body, known)


def test_a_test_is_not_probed_at_points_of_the_servers_choice(wire: Wire) -> None:
    """Residuals at chosen coefficients would weigh single rows out; three points are what a forgetful server may need."""
    answered = 0
    for b in range(6):
        body = change(PRODUCTS, models=(change(MEANS[0], coefficients=point(float(b))), MEANS[1]))
        if answered < 3:
            wire.send(body, honest(wire, body))
            answered += 1
            continue
        with refused(wire.clients[0], errors.RepeatedQuestionError):
            wire.send(body, honest(wire, body))
    turned = change(PRODUCTS, tests=(change(ASKED, x=1, y=0),))  # before: three more points for the other order of its variables
    with refused(wire.clients[0], errors.RepeatedQuestionError):
        wire.send(turned, honest(wire, turned))
    wire.send(change(PRODUCTS, models=(change(MEANS[0], coefficients=point(0.0)), MEANS[1])), honest(wire, PRODUCTS))


def test_columns_cannot_be_combined_to_probe_either(wire: Wire) -> None:
    for scale in (1.0, 2.0, 3.0):
        body = change(PRODUCTS, tests=(change(ASKED, combine=(point(scale), b"")),))
        wire.send(body, honest(wire, body))
    body = change(PRODUCTS, tests=(change(ASKED, combine=(point(4.0), b"")),))
    with refused(wire.clients[0], errors.RepeatedQuestionError):
        wire.send(body, honest(wire, body))


def test_features_are_asked_for_where_agreed_and_only_there() -> None:
    wire = Wire.open(mixed_clients(2, columns="ABC"), method=Method.RESIDUAL, alternatives=Alternatives.SMOOTH)
    with refused(wire.clients[0], errors.WrongTermsError):
        wire.send(SUMS, honest(wire, SUMS))
    body = change(SUMS, features=True)
    with refused(wire.clients[0], errors.WrongShapeError):  # B has no knots
        wire.send(body, honest(wire, body))
    body = change(body, coded=change(CODED, knots={"A": LADDER, "B": LADDER}))
    assert len(wire.total(body, honest(wire, body))) == body.length(wire.schema)
