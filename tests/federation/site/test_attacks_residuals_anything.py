"""Whatever a server sends for tests of residuals is answered at its length or refused in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from consilience import errors
from consilience.citest.question import Question
from consilience.data.basis import Expansion
from consilience.data.responses import Coded
from consilience.data.spline import Knots
from consilience.protocol.grid import Cells, Grid
from consilience.protocol.mean_products import MeanProducts, MeanSet
from consilience.protocol.messages import Announced
from consilience.protocol.place import Place
from consilience.protocol.residual_products import ProductAsk, ResidualProducts
from consilience.protocol.residuals import BasisAsk, MeanAsk
from consilience.settings.choices import Method
from tests.federation.helpers import ROWS, Wire, mixed_clients, point

NAMES = st.sampled_from(["A", "B", "C", "D", "E", "Q", ""])
ODD_SETS = st.lists(NAMES, max_size=3).map(tuple)
SETS = st.lists(st.sampled_from("ABCDE"), max_size=4, unique=True).map(lambda names: tuple(sorted(names))) | ODD_SETS
FLOATS = st.floats() | st.floats(-4.0, 4.0) | st.sampled_from([0.0, 1e30, -1e300])
BYTES = st.lists(FLOATS, max_size=6).map(lambda numbers: point(*numbers)) | st.binary(max_size=17)
WHOLE = st.integers(-3, 9) | st.sampled_from([5000, 2**31, -(2**63)])
LADDERS = st.lists(FLOATS, min_size=49, max_size=49).map(sorted) | st.lists(FLOATS, max_size=3)
KNOTS = st.builds(Knots, LADDERS.map(tuple), st.booleans())
SCORES = st.dictionaries(NAMES, st.lists(FLOATS, max_size=4).map(tuple), max_size=2) | st.just({"D": (0.1, 0.3, 0.6, 0.9)})
CODED = st.builds(Coded, st.dictionaries(NAMES, WHOLE, max_size=2) | st.just({}), st.dictionaries(NAMES, KNOTS, max_size=2), SCORES)
EXPANSIONS = st.builds(Expansion, SETS, WHOLE, WHOLE)
CELLS = st.lists(st.builds(Cells, NAMES, BYTES, st.booleans()), max_size=3).map(tuple)
MEANS = st.lists(st.builds(MeanSet, SETS, EXPANSIONS, SETS), max_size=2).map(tuple)
ASKS = st.lists(st.builds(ProductAsk, WHOLE, WHOLE, SETS, st.tuples(BYTES, BYTES), st.lists(BYTES, max_size=2).map(tuple)), max_size=2)
MODELS = st.lists(st.builds(MeanAsk, WHOLE, NAMES, BYTES, BYTES, st.lists(WHOLE, max_size=3).map(tuple)), max_size=3)
QUESTIONS = st.lists(st.builds(Question, NAMES, NAMES, SETS), max_size=2).map(tuple)
BODIES: st.SearchStrategy[Any] = st.one_of(
    st.builds(Place, SETS, st.dictionaries(NAMES, WHOLE, max_size=2)),
    st.builds(Grid, CELLS, st.booleans(), SETS),
    st.builds(MeanProducts, MEANS, CODED, st.booleans(), st.booleans()),
    st.builds(
        ResidualProducts,
        st.lists(st.builds(BasisAsk, SETS, EXPANSIONS, BYTES), max_size=2).map(tuple),
        MODELS.map(tuple),
        ASKS.map(tuple),
        CODED,
        st.booleans(),
        st.booleans(),
        st.booleans(),
        st.booleans(),
        QUESTIONS,
    ),
)


FINITE = st.floats(-4.0, 4.0) | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def well_formed(draw: st.DrawFn) -> Any:
    """In order but for the numbers: these get far into a site."""
    ladder = tuple(sorted(draw(st.lists(FINITE, min_size=49, max_size=49))))
    coded = Coded({"A": draw(st.integers(-40, 40))}, {"A": Knots(ladder, draw(st.booleans()))})
    if draw(st.booleans()):
        return MeanProducts((MeanSet(("A", "B"), Expansion(("A",), draw(st.integers(0, 9))), ("B", "C")),), coded, True, False)
    means = [MeanAsk(0, name, point(draw(FINITE)), point(abs(draw(FINITE))), (draw(st.integers(-60, 60)),)) for name in "BC"]
    basis = BasisAsk(("A", "B"), Expansion(("A",), 0, -1), point(draw(FINITE)))
    combine = draw(st.just((b"", b"")) | st.tuples(FINITE.map(point), FINITE.map(point)))
    return ResidualProducts((basis,), tuple(means), (ProductAsk(0, 1, ("A", "B", "C"), combine),), coded, True, False)


def honest(body: Any) -> tuple[Announced, ...]:
    sets = [s for s in body.samples() if len(set(s)) == len(s) and set(s) <= set("ABCDE")]
    return tuple(Announced(s, 2, 2 * ROWS) for s in sets)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(body=BODIES | well_formed())
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_request_is_answered_at_its_length_or_refused(body: Any) -> None:
    wire = Wire.open(mixed_clients(2), method=Method.RESIDUAL)
    before = len(wire.clients[0].record.entries)
    try:
        answer = wire.send(body, honest(body))
    except errors.ConsilienceError:
        assert wire.clients[0].record.entries[-1].refused
    else:
        assert len(answer) == wire.length(body)
    assert len(wire.clients[0].record.entries) == before + 1
