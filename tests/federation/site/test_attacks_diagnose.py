"""Requests on whether models hold, as a server should not make them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from consilience.citest.question import Question
from consilience.glm.layout import Ordinal
from consilience.protocol import errors
from consilience.protocol.diagnose import Diagnose, DiagnoseAsk
from consilience.protocol.evaluate import ModelAsk
from consilience.protocol.local_tests import LocalTests
from consilience.protocol.messages import Announced
from consilience.settings.choices import Method
from tests.federation.helpers import LOGIT, ROWS, Wire, mixed_clients, point, refused

NUMBERS = ModelAsk("A", ("B", "C"), ("A", "B", "C"), (0, 1), (), point(0.25, -0.5))
ASK = DiagnoseAsk(LOGIT, (0,), 2)
LINE = DiagnoseAsk(NUMBERS, (0, 0), 3)


def request(*asks: DiagnoseAsk) -> Diagnose:
    return Diagnose(asks, Ordinal.PROPORTIONAL, {})


def changed(ask: DiagnoseAsk, **changes: Any) -> DiagnoseAsk:
    model = {name: value for name, value in changes.items() if name in ModelAsk.__struct_fields__}
    own = {name: value for name, value in changes.items() if name not in model}
    return msgspec.structs.replace(ask, model=msgspec.structs.replace(ask.model, **model), **own)


def test_an_honest_request_is_answered_and_in_the_ledger(wire: Wire) -> None:
    body = request(ASK, LINE)
    told = [wire.everywhere("A", "C"), wire.everywhere("A", "B", "C")]
    assert len(wire.total(body, told)) == body.length(wire.schema)
    assert wire.clients[0].record.entries[-1].what == body.words()


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (changed(ASK, features=3), errors.WrongShapeError),
        (changed(ASK, features=-1), errors.WrongShapeError),
        (changed(ASK, scales=()), errors.WrongShapeError),
        (changed(ASK, scales=(65,)), errors.WrongShapeError),
        (changed(ASK, beta=point(0.1, 0.2)), errors.WrongShapeError),
        (changed(ASK, beta=point(float("nan"))), errors.WrongShapeError),
        (changed(ASK, mu=0.5), errors.WrongShapeError),
        (changed(ASK, dispersion=0.0), errors.WrongShapeError),
        (changed(ASK, dispersion=float("inf")), errors.WrongShapeError),
        (changed(ASK, keep=(1,)), errors.WrongShapeError),
        (changed(ASK, levels=(0, 2)), errors.OutsideSchemaError),
        (changed(ASK, response="Q"), errors.OutsideSchemaError),
    ],
)
def test_what_does_not_fit_is_refused(wire: Wire, ask: DiagnoseAsk, error: type[Exception]) -> None:
    with refused(wire.clients[0], error):
        wire.send(request(ask), [wire.everywhere("A", "C")])


def test_sums_need_their_counts(wire: Wire) -> None:
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(request(ASK))


@pytest.mark.parametrize("terms", [{"diagnostics": False}, {"method": Method.FISHER}, {"method": Method.RESIDUAL}], ids=str)
def test_it_must_be_agreed_on(terms: dict[str, Any]) -> None:
    wire = Wire.open(mixed_clients(2), **terms)
    with refused(wire.clients[0], errors.WrongTermsError):
        wire.send(request(ASK), [wire.everywhere("A", "C")])


def test_method_auto_needs_it_whatever_the_setting_says() -> None:
    wire = Wire.open(mixed_clients(2), method=Method.AUTO, diagnostics=False)
    wire.send(request(ASK), [wire.everywhere("A", "C")])
    with refused(wire.clients[0], errors.WrongTermsError):
        wire.send(LocalTests((Question("A", "C"),), Ordinal.PROPORTIONAL, 0.0, True, 2), [wire.everywhere("A", "C")])


def test_a_model_is_looked_at_in_few_points(wire: Wire) -> None:
    told = [wire.everywhere("A", "C")]
    for value in (0.1, 0.2, 0.3, 0.1):
        wire.send(request(changed(ASK, beta=point(value))), told)
    with refused(wire.clients[0], errors.RepeatedQuestionError):
        wire.send(request(changed(ASK, beta=point(0.4))), told)
    with refused(wire.clients[0], errors.RepeatedQuestionError):
        wire.send(request(changed(ASK, beta=point(0.1), scales=(1,))), told)


def test_no_point_is_looked_at_again_with_a_site_fewer(three: Wire) -> None:
    told = Announced(("A", "C"), 3, 3 * ROWS)
    three.send(request(ASK), [told])
    three.begin(three.participants[:2], b"run 2")
    fewer = Announced(("A", "C"), 2, 2 * ROWS)
    with refused(three.clients[0], errors.RepeatedQuestionError):
        three.send(request(ASK), [fewer])
    three.send(request(changed(ASK, beta=point(0.26))), [fewer])


def test_many_columns_need_many_rows(wire: Wire) -> None:
    """Two sites of 40 rows bear eight columns."""
    model = ModelAsk("A", ("B", "C", "D", "E"), ("A", "B", "C", "D", "E"), tuple(range(8)), (), point(*[0.1] * 8))
    told = [wire.everywhere("A", "B", "C", "D", "E")]
    wire.send(request(DiagnoseAsk(model, (0,) * 8, 0)), told)
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(request(DiagnoseAsk(model, (0,) * 8, 1)), told)
