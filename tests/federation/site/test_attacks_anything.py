"""Whatever a server sends is answered at its length or refused in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from consilience import errors
from consilience.citest.question import Question
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.protocol.evaluate import Evaluate, ModelAsk
from consilience.protocol.local_tests import LocalTests
from consilience.protocol.locate import Locate
from consilience.protocol.messages import Announced, RoundRequest
from consilience.protocol.products import Products
from consilience.protocol.survey import Survey
from tests.federation.helpers import ROWS, Wire, mixed_clients, point
from tests.federation.site.attacks import SURVEY, terms_of

# anything at all

NAMES = st.sampled_from(["A", "B", "C", "D", "E", "Q", ""])
ODD_SETS = st.lists(NAMES, max_size=4).map(tuple)
SETS = st.lists(st.sampled_from("ABCDE"), max_size=4, unique=True).map(tuple)
FLOATS = st.floats() | st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e30, -1e300])
WHOLE = st.integers(-3, 5) | st.sampled_from([5000, -5000, 2**31, 2**63 - 1, -(2**63)])
UNITS = st.just({}) | st.dictionaries(st.sampled_from("AB"), st.integers(-1200, 1200)) | st.dictionaries(NAMES, WHOLE, max_size=3)
LOCATIONS = st.none() | st.dictionaries(st.sampled_from("AB"), FLOATS) | st.dictionaries(NAMES, FLOATS, max_size=3)
ODD_QUESTIONS = st.lists(st.builds(Question, NAMES, NAMES, ODD_SETS), max_size=3).map(tuple)
QUESTIONS = st.lists(st.permutations("ABCDE").map(lambda v: Question(v[0], v[1], tuple(v[2:4]))), max_size=3).map(tuple)
ODD_ORDINALS = st.sampled_from(Ordinal)
ORDINALS = st.just(Ordinal.PROPORTIONAL)
BETAS = st.lists(FLOATS, max_size=8).map(lambda numbers: point(*numbers)) | st.binary(max_size=17)
PLACES = st.lists(WHOLE, max_size=4).map(tuple)
ODD_MODELS = st.builds(ModelAsk, NAMES, ODD_SETS, ODD_SETS, PLACES, PLACES, BETAS, FLOATS)


@st.composite
def models(draw: st.DrawFn) -> ModelAsk:
    """Well formed but for the numbers: these get far into a site."""
    response = draw(st.sampled_from("CDE"))
    predictors = tuple(sorted(draw(st.sets(st.sampled_from([v for v in "ABCDE" if v != response]), max_size=3))))
    width = sum({"A": 1, "B": 1, "C": 1, "D": 3, "E": 3}[v] for v in predictors)
    keep = tuple(sorted(draw(st.sets(st.integers(0, width - 1))))) if width else ()
    n_levels = 2 if response == "C" else 4
    levels = tuple(sorted(draw(st.just(range(n_levels)) | st.sets(st.integers(0, n_levels - 1), min_size=2))))
    many = len(levels) > 2
    size = len(keep) * (len(levels) - 1 if many and response == "E" else 1) + (len(levels) - 2 if many and response == "D" else 0)
    numbers = st.floats(-3, 3) | st.floats(allow_nan=False, allow_infinity=False)
    beta = draw(st.lists(numbers, min_size=size, max_size=size))
    if draw(st.booleans()) and response == "D" and many:  # thresholds in order
        beta[len(keep) :] = sorted(abs(b) for b in beta[len(keep) :])
    sample = tuple(sorted({response, *predictors, *draw(st.sets(st.sampled_from("ABCDE"), max_size=1))}))
    return ModelAsk(response, predictors, sample, keep, levels, point(*beta))


WELL_FORMED: st.SearchStrategy[Any] = st.one_of(
    st.builds(Products, st.lists(SETS, max_size=2).map(tuple), UNITS, LOCATIONS, st.just(()), ORDINALS),
    st.builds(LocalTests, QUESTIONS, ORDINALS, st.just(0.0), st.booleans(), WHOLE),
    st.builds(
        Evaluate,
        WHOLE,
        st.lists(models(), min_size=1, max_size=3).map(tuple),
        st.just(SiteEffects.PROFILED),
        ORDINALS,
        st.just(2),
        UNITS,
    ),
)
BODIES: st.SearchStrategy[Any] = st.one_of(
    st.builds(Survey, st.lists(SETS | ODD_SETS, max_size=3).map(tuple), ODD_SETS),
    st.builds(Locate, ODD_SETS, UNITS),
    st.builds(Products, st.lists(ODD_SETS, max_size=2).map(tuple), UNITS, LOCATIONS, ODD_QUESTIONS, ODD_ORDINALS, FLOATS),
    st.builds(LocalTests, ODD_QUESTIONS, ODD_ORDINALS, FLOATS),
    st.builds(
        Evaluate, WHOLE, st.lists(ODD_MODELS, max_size=3).map(tuple), st.sampled_from(SiteEffects), ODD_ORDINALS, WHOLE, UNITS, LOCATIONS
    ),
)
RUMOURS = st.lists(st.builds(Announced, SETS | ODD_SETS, WHOLE, WHOLE | st.just(80)), max_size=2).map(tuple)


def honest(body: Any) -> tuple[Announced, ...]:
    """Counts of all that a request touches, so that it is not refused for want of them."""
    sets = [*getattr(body, "sets", ()), *((v,) for v in getattr(body, "variables", ())), *(m.sample for m in getattr(body, "models", ()))]
    sets += [q.variables for q in (*getattr(body, "alone", ()), *getattr(body, "questions", ()))]
    return tuple(Announced(s, 2, 2 * ROWS) for s in dict.fromkeys(sets) if len(set(s)) == len(s) and set(s) <= set("ABCDE"))


CLIENTS = mixed_clients(2)


def outcome(wire: Wire, body: Any, announced: tuple[Announced, ...]) -> str:
    """The name of the refusal, or nothing; checked against the ledger."""
    ledger = wire.clients[0].record
    before = ledger.entries
    try:
        answer = wire.send(body, announced)
    except errors.ConsilienceError as error:
        wanted = (type(error).__name__, 0, 0)
    else:
        assert len(answer) == wire.length(body)
        wanted = ("", len(answer) // 16, len(answer))
    *kept, line = ledger.entries
    assert tuple(kept) == before
    assert (line.refused.partition(":")[0], line.numbers, line.bytes) == wanted
    return wanted[0]


LENIENT = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(body=WELL_FORMED)
@LENIENT
def test_any_numbers_are_answered_at_their_length_or_refused_in_words(body: Any) -> None:
    """In messages that are otherwise in order."""
    outcome(Wire.open(CLIENTS, **terms_of(body)), body, honest(body))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(body=BODIES, truth=st.booleans(), rumours=RUMOURS, effects=st.sampled_from(SiteEffects))
@LENIENT
def test_any_message_is_answered_at_its_length_or_refused_in_words(
    body: Any, truth: bool, rumours: tuple[Announced, ...], effects: SiteEffects
) -> None:
    outcome(Wire.open(CLIENTS, effects=effects), body, honest(body) if truth else rumours)


@pytest.mark.slow
@given(run=st.binary(max_size=40), number=st.integers(-(2**70), 2**70), roster=st.binary(max_size=40), version=st.integers(-3, 3))
@settings(max_examples=60, deadline=None)
def test_any_envelope_but_the_right_one_is_refused(run: bytes, number: int, roster: bytes, version: int) -> None:
    wire = Wire.open(CLIENTS)
    before = len(CLIENTS[0].record.entries)
    with pytest.raises(errors.ConsilienceError):
        wire.participants[0].answer(RoundRequest(run, number, roster, SURVEY, (), version))
    assert len(CLIENTS[0].record.entries) == before + 1
