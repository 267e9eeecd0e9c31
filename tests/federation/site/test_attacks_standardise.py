"""Requests for outcomes under interventions, as a server should not make them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from consilience.glm.layout import Ordinal
from consilience.protocol import errors
from consilience.protocol.evaluate import ModelAsk
from consilience.protocol.messages import Announced
from consilience.protocol.standardise import StandardAsk, Standardise
from consilience.settings.choices import Method
from tests.federation.helpers import LOGIT, ROWS, Wire, mixed_clients, point, refused

NUMBERS = ModelAsk("A", ("B", "C"), ("A", "B", "C"), (0, 1), (), point(0.25, -0.5))
ASK = StandardAsk(LOGIT, "A", (-0.5, 0.5))
LINE = StandardAsk(NUMBERS, "B")
LEVELS = StandardAsk(ModelAsk("C", ("D",), ("C", "D"), (0, 1, 2), (0, 1), point(0.25, 0.1, 0.0)), "D", (0.0, 1.0, 3.0))


def request(*asks: StandardAsk) -> Standardise:
    return Standardise(asks, Ordinal.PROPORTIONAL, {})


def changed(ask: StandardAsk, **changes: Any) -> StandardAsk:
    model = {name: value for name, value in changes.items() if name in ModelAsk.__struct_fields__}
    own = {name: value for name, value in changes.items() if name not in model}
    return msgspec.structs.replace(ask, model=msgspec.structs.replace(ask.model, **model), **own)


def test_an_honest_request_is_answered_and_in_the_ledger(wire: Wire) -> None:
    body = request(ASK, LINE, LEVELS)
    told = [wire.everywhere("A", "C"), wire.everywhere("A", "B", "C"), wire.everywhere("C", "D")]
    assert len(wire.total(body, told)) == body.length(wire.schema)
    assert wire.clients[0].record.entries[-1].what == body.words()


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (changed(ASK, values=()), errors.WrongShapeError),
        (changed(ASK, values=(-0.5, 0.0, 0.5)), errors.WrongShapeError),
        (changed(ASK, values=(0.5, -0.5)), errors.WrongShapeError),
        (changed(ASK, values=(0.5, 0.5)), errors.WrongShapeError),
        (changed(ASK, values=(0.5, float("inf"))), errors.WrongShapeError),
        (changed(LINE, values=(0.5,)), errors.WrongShapeError),
        (changed(LEVELS, values=(0.0, 4.0)), errors.WrongShapeError),
        (changed(LEVELS, values=(0.5, 1.0)), errors.WrongShapeError),
        (changed(ASK, beta=point(0.1, 0.2)), errors.WrongShapeError),
        (changed(ASK, beta=point(float("nan"))), errors.WrongShapeError),
        (changed(ASK, mu=0.5), errors.WrongShapeError),
        (changed(ASK, dispersion=0.0), errors.WrongShapeError),
        (changed(ASK, dispersion=float("inf")), errors.WrongShapeError),
        (changed(ASK, keep=(1,)), errors.WrongShapeError),
        (changed(ASK, levels=(0, 2)), errors.OutsideSchemaError),
        (changed(ASK, response="Q"), errors.OutsideSchemaError),
        (changed(ASK, x="C"), errors.OutsideSchemaError),
        (changed(ASK, sample=("A", "B", "C")), errors.OutsideSchemaError),
    ],
)
def test_what_does_not_fit_is_refused(wire: Wire, ask: StandardAsk, error: type[Exception]) -> None:
    told = [wire.everywhere("A", "C"), wire.everywhere("A", "B", "C"), wire.everywhere("C", "D")]
    with refused(wire.clients[0], error):
        wire.send(request(ask), told)


def test_sums_need_their_counts(wire: Wire) -> None:
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(request(ASK))


@pytest.mark.parametrize("terms", [{"network": True}, {"method": Method.FISHER}], ids=str)
def test_it_must_be_agreed_on(terms: dict[str, Any]) -> None:
    wire = Wire.open(mixed_clients(2), **terms)
    with refused(wire.clients[0], errors.WrongTermsError):
        wire.send(request(ASK), [wire.everywhere("A", "C")])


def test_an_effect_is_answered_in_few_points_whatever_its_values(wire: Wire) -> None:
    told = [wire.everywhere("A", "C")]
    for value in (0.1, 0.2, 0.3, 0.1):
        wire.send(request(changed(ASK, beta=point(value))), told)
    with refused(wire.clients[0], errors.RepeatedQuestionError):
        wire.send(request(changed(ASK, beta=point(0.4))), told)
    with refused(wire.clients[0], errors.RepeatedQuestionError):
        wire.send(request(changed(ASK, beta=point(0.1), values=(-0.25, 0.25))), told)


def test_no_point_is_answered_again_with_a_site_fewer(three: Wire) -> None:
    told = Announced(("A", "C"), 3, 3 * ROWS)
    three.send(request(ASK), [told])
    three.begin(three.participants[:2], b"run 2")
    fewer = Announced(("A", "C"), 2, 2 * ROWS)
    with refused(three.clients[0], errors.RepeatedQuestionError):
        three.send(request(ASK), [fewer])
    three.send(request(changed(ASK, beta=point(0.26))), [fewer])


def test_many_predictions_need_many_rows(wire: Wire) -> None:
    """Two sites of 40 rows bear sixteen: three outcomes of E at four levels of D, and its three columns, are fifteen."""
    model = ModelAsk("E", ("D",), ("D", "E"), (0, 1, 2), (0, 1, 2, 3), point(*[0.1] * 9))
    wire.send(request(StandardAsk(model, "D", (0.0, 1.0, 2.0, 3.0))), [wire.everywhere("D", "E")])
    wider = ModelAsk("E", ("A", "B", "D"), ("A", "B", "D", "E"), (0, 1, 2, 3, 4), (0, 1, 2, 3), point(*[0.1] * 15))
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(request(StandardAsk(wider, "D", (0.0, 1.0, 2.0, 3.0))), [wire.everywhere("A", "B", "D", "E")])
