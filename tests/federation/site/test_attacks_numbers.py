"""A server that asks at points where numbers overflow, and listens to the refusals.

Every refusal is a typed error with exactly one line in the site's ledger, and nothing has left the site then.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience import errors
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.protocol.evaluate import ModelAsk
from consilience.protocol.locate import Locate
from consilience.protocol.messages import Announced
from consilience.protocol.products import Products
from tests.federation.helpers import LOGIT, ROWS, Wire, mixed_clients, mixed_frames, point, refused
from tests.federation.site.attacks import PRODUCTS, SURVEY, change


def huge() -> list[cs.Client]:
    frames = mixed_frames(2)
    return [cs.Client(f"site{i}", f.with_columns(pl.col("A") * 1e30)) for i, f in enumerate(frames)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("exponent", [0, -20])
@pytest.mark.parametrize("kind", ["products", "locate"])
def test_numbers_that_do_not_fit_the_ring_stay_at_the_site(exponent: int, kind: str) -> None:
    wire = Wire.open(huge(), effects=SiteEffects.NONE)
    body = Locate(("A",), {"A": exponent}) if kind == "locate" else Products((("A", "B"),), {"A": exponent}, {})
    told = [Announced(("A",), 2, 2 * ROWS), Announced(("A", "B"), 2, 2 * ROWS)]
    with refused(wire.clients[0], errors.RingRangeError):
        wire.send(body, told)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("network", [False, True])
def test_over_a_network_the_ledger_has_no_number_either(network: bool) -> None:
    """It is handed over for an audit: before, the sum that did not fit stood there, a single extreme value squared."""
    wire = Wire.open(huge(), effects=SiteEffects.NONE, network=network)
    with refused(wire.clients[0], errors.RingRangeError):
        wire.send(Locate(("A",), {"A": 0}), [Announced(("A",), 2, 2 * ROWS)])
    assert ("got " in wire.clients[0].record.entries[-1].refused) is not network


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("effects", [SiteEffects.PROFILED, SiteEffects.COORDINATE])
@pytest.mark.parametrize("slope", [1e3, 1e18, 1e100, 1e200, 1.7e308, -1.7e308, 5e-324])
@pytest.mark.parametrize("ordinal", Ordinal)
def test_points_far_out_are_answered_or_refused(effects: SiteEffects, slope: float, ordinal: Ordinal) -> None:
    wire = Wire.open(mixed_clients(2), effects=effects, ordinal=ordinal)
    ordinal_point = point(slope, 1.0, 2.0) if ordinal is Ordinal.PROPORTIONAL else point(slope, -slope, slope)
    models = [
        change(LOGIT, beta=point(slope)),
        ModelAsk("D", ("A",), ("A", "D"), (0,), (0, 1, 2, 3), ordinal_point),
        ModelAsk("E", ("A",), ("A", "E"), (0,), (0, 1, 2, 3), point(slope, -slope, 0.0)),
    ]
    for model in models:
        body = wire.evaluate(model)
        try:
            answer = wire.send(body, [wire.everywhere(*model.sample)])
        except errors.ConsilienceError:
            continue
        assert len(answer) == wire.length(body)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("exponent", [5000, -5000, 2**31, -(2**31), 2**40, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("kind", ["products", "locate", "evaluate"])
def test_units_of_any_size_are_answered_or_refused(kind: str, exponent: int) -> None:
    """Whatever an integer of a message may hold."""
    wire = Wire.open(mixed_clients(2), effects=SiteEffects.NONE if kind == "locate" else SiteEffects.PROFILED)
    units = {"A": exponent}
    bodies = {
        "products": Products((("A", "C"),), units),
        "locate": Locate(("A",), units),
        "evaluate": wire.evaluate(LOGIT, exponents=units),
    }
    body: Any = bodies[kind]
    before = len(wire.clients[0].record.entries)
    try:
        answer = wire.send(body, [wire.everywhere("A", "C"), wire.everywhere("A")])
    except errors.ConsilienceError:
        pass
    else:
        assert len(answer) == wire.length(body)
    assert len(wire.clients[0].record.entries) == before + 1


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("location", [math.nan, math.inf, -1e308, 1e18])
def test_locations_of_any_size_are_answered_or_refused(location: float) -> None:
    wire = Wire.open(mixed_clients(2), effects=SiteEffects.NONE)
    told = [wire.everywhere("A", "C")]
    bodies: list[Any] = [
        Products((("A", "C"),), {}, {"A": location}),
        wire.evaluate(change(LOGIT, beta=point(1.0, 0.0)), locations={"A": location}),
    ]
    for body in bodies:
        try:
            answer = wire.send(body, told)
        except errors.ConsilienceError:
            continue
        assert len(answer) == wire.length(body)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", ["rows", "range"])
def test_a_refusal_tells_the_server_nothing_of_the_data(case: str) -> None:
    """The error goes back to the server; what it says must follow from the request alone. The ledger may say more."""
    frames = mixed_frames(2)
    clients = [cs.Client("site", frames[0]), cs.Client("site", frames[1].with_columns(pl.col("A") * 3)[5:])]
    said = []
    for client in clients:
        wire = Wire.open([client, *mixed_clients(1, seed=9)], effects=SiteEffects.NONE)
        if case == "rows":
            body, told = PRODUCTS, [Announced(("A", "B"), 2, 20)]
        else:
            body, told = Products((("A", "B"),), {"A": -40}, {}), [Announced(("A", "B"), 2, 2 * ROWS)]
        with pytest.raises(errors.ConsilienceError) as caught:
            wire.send(body, told)
        said.append(str(caught.value))
    assert said[0] == said[1]


def answers(wire: Wire, body: Any, told: list[Announced]) -> bool:
    try:
        wire.send(body, told)
    except errors.ConsilienceError:
        return False
    return True


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_refusals_for_range_are_no_means_to_search_for_a_sites_number() -> None:
    """Far out the log-likelihood is -t times a sum over this site's rows alone; it leaves the ring at a t that tells the sum."""
    wire = Wire.open(mixed_clients(2), effects=SiteEffects.NONE)
    answered, refused_at = 1.0, 1e300
    for _ in range(150):
        t = math.sqrt(answered) * math.sqrt(refused_at)
        if answers(wire, wire.evaluate(change(LOGIT, beta=point(t, 0.0)), locations={}), [wire.everywhere("A", "C")]):
            answered = t
        else:
            refused_at = t
    a, c = (wire.clients[0].frame[name].to_numpy() for name in "AC")
    secret = np.abs(a[(a > 0) != c]).sum()
    assert 2.0**61 / answered != pytest.approx(secret, rel=1e-6), "found by bisection"


def test_refusals_of_announcements_are_no_means_to_search_for_a_sites_rows() -> None:
    wire = Wire.open(mixed_clients(2, missing=0.1))
    low, high = 0, 1000
    while high - low > 1:
        rows = (low + high) // 2
        if answers(wire, SURVEY, [Announced(("A", "B"), 2, rows)]):
            high = rows
        else:
            low = rows
    secret = wire.clients[0].frame.select("A", "B").drop_nulls().height
    assert high - 1 != secret, "found by bisection"


@pytest.mark.parametrize("body", [Locate(("A",), {"A": -8}), Products((("A", "B"),), {"A": -8}, {})], ids=["locate", "products"])
def test_units_are_agreed_once(body: Any) -> None:
    """Else a site could be asked in ever smaller units until its own sum does not fit the ring."""
    wire = Wire.open(mixed_clients(2), effects=SiteEffects.NONE)
    told = [wire.everywhere("A"), wire.everywhere("A", "B")]
    wire.send(change(body, exponents={"A": 0}), told)
    with refused(wire.clients[0], errors.WrongTermsError):
        wire.send(body, told)
