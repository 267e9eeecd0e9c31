"""A server that does not keep to the rules, at a site that does not trust it.

Every refusal is a typed error with exactly one line in the site's ledger, and nothing has left the site then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import consilience as cs
from consilience import errors
from consilience.citest.question import Question
from consilience.federation.site.half import SiteHalf
from consilience.glm.kernel import Floats
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.protocol.evaluate import Evaluate, ModelAsk
from consilience.protocol.local_tests import LocalTests
from consilience.protocol.locate import Locate
from consilience.protocol.messages import Announced, RoundRequest
from consilience.protocol.products import Products
from consilience.protocol.survey import Survey
from consilience.secagg import Identity, RunKey, SignedKey
from consilience.secagg.agreement import _signed_context
from consilience.settings.choices import Dropout, Method, SingleSite
from tests.federation.helpers import LOGIT, ROWS, Wire, mixed_clients, mixed_frames, point, refused, unmasked

change = msgspec.structs.replace
SURVEY = Survey((("A", "B"),))
PRODUCTS = Products((("A", "B"),), {})


def terms_of(body: Any) -> dict[str, Any]:
    """Terms on which such a request is made."""
    if isinstance(body, LocalTests):
        return {"method": Method.FISHER}
    located = isinstance(body, Locate) or getattr(body, "locations", None) is not None
    return {"effects": SiteEffects.NONE} if located else {}


@pytest.fixture
def wire() -> Wire:
    return Wire.open(mixed_clients(2))


@pytest.fixture
def three() -> Wire:
    return Wire.open(mixed_clients(3))


# rounds


@pytest.mark.parametrize("number", [7, 6, 0], ids=["the same", "the one before", "the first, which was skipped"])
def test_a_round_is_answered_once_and_never_out_of_order(wire: Wire, number: int) -> None:
    wire.send(SURVEY, round=7)
    with refused(wire.clients[0], errors.RepeatedRoundError):
        wire.send(SURVEY, round=number)
    assert len(wire.send(SURVEY, round=8)) == wire.length(SURVEY)


@pytest.mark.parametrize("number", [-1, 2**64, 2**70])
def test_a_round_has_a_number_of_64_bits(wire: Wire, number: int) -> None:
    with refused(wire.clients[0], errors.RoundNumberError):
        wire.send(SURVEY, round=number)


def test_a_round_that_was_refused_is_used_up(wire: Wire) -> None:
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(PRODUCTS, round=3)
    with refused(wire.clients[0], errors.RepeatedRoundError):
        wire.send(SURVEY, round=3)


def enter_and_ask_again(wire: Wire, body: Survey) -> bytes | Floats:
    wire.participants[0].enter(wire.run, wire.keys)
    return wire.send(body, round=0)


def test_entering_a_run_twice_does_not_open_its_rounds_again(wire: Wire) -> None:
    """Same keys, same round, same masks: two answers under one mask differ by what they hide."""
    wire.send(Survey((("A", "B"),)), round=0)
    with pytest.raises(errors.ConsilienceError):
        enter_and_ask_again(wire, Survey((("D",),)))


def test_a_runs_id_is_used_once(wire: Wire) -> None:
    """A fresh key under an old id, with the others' old keys, would be another way to open its rounds again."""
    with refused(wire.clients[0], errors.WrongRosterError):
        wire.participants[0].offer(wire.run)


def test_a_run_that_was_left_is_not_entered_again(three: Wire) -> None:
    old, keys = three.run, three.keys
    three.begin(three.participants[:2], b"run 2")
    with refused(three.clients[0], errors.WrongRosterError):
        three.participants[0].enter(old, keys[:2])


# rosters


@pytest.mark.parametrize(
    "changes",
    [{"roster": bytes(32)}, {"roster": b""}, {"run": b"run 2"}, {"run": b""}],
    ids=["another digest", "no digest", "another run", "no run"],
)
def test_a_request_for_other_sites_than_the_keys_were_of(wire: Wire, changes: dict[str, bytes]) -> None:
    with refused(wire.clients[0], errors.WrongRosterError):
        wire.send(SURVEY, **changes)


def test_the_digest_of_an_earlier_run_is_of_no_use(three: Wire) -> None:
    old = {"run": three.run, "roster": three.digest}
    three.begin(three.participants[:2], b"run 2")
    with refused(three.clients[0], errors.WrongRosterError):
        three.send(SURVEY, **old)


def test_nothing_is_answered_before_keys_are_exchanged() -> None:
    wire = Wire(mixed_clients(2))
    with refused(wire.clients[0], errors.OutOfTurnError):
        wire.send(SURVEY)


def offers(wire: Wire, run: bytes = b"run 1") -> list[SignedKey]:
    return [p.offer(run) for p in wire.participants]


def stranger(run: bytes = b"run 1") -> SignedKey:
    return RunKey.generate(Identity.generate(), run).signed


@pytest.mark.parametrize(
    "tamper",
    [
        lambda keys: [*keys, stranger()],
        lambda keys: [*keys[:2], stranger()],
        lambda keys: keys[:2],
        lambda keys: keys[1:],
        lambda keys: keys[:1],
        lambda keys: [],
    ],
    ids=["a site more", "a stranger for a site", "a site fewer", "without the own key", "alone", "nobody"],
)
def test_the_first_run_is_of_exactly_the_sites_agreed_on(tamper: Callable[[list[SignedKey]], list[SignedKey]]) -> None:
    wire = Wire(mixed_clients(3))
    keys = offers(wire)
    with refused(wire.clients[0], errors.WrongRosterError):
        wire.participants[0].enter(b"run 1", tamper(keys))
    with refused(wire.clients[0], errors.OutOfTurnError):  # and the run has not begun
        wire.send(SURVEY)


def test_a_site_that_left_may_not_come_back(three: Wire) -> None:
    three.begin(three.participants[:2], b"run 2")
    keys = offers(three, b"run 3")
    with refused(three.clients[0], errors.WrongRosterError):
        three.participants[0].enter(b"run 3", keys)


def test_a_site_does_not_stay_behind_alone(three: Wire) -> None:
    keys = offers(three, b"run 2")
    with refused(three.clients[0], errors.WrongRosterError):
        three.participants[0].enter(b"run 2", keys[:1])


def test_not_fewer_sites_than_a_sum_needs() -> None:
    wire = Wire.open(mixed_clients(3), min_contributors=3)
    keys = offers(wire, b"run 2")
    with refused(wire.clients[0], errors.WrongRosterError):
        wire.participants[0].enter(b"run 2", keys[:2])


def test_a_study_that_stops_has_no_smaller_run() -> None:
    wire = Wire.open(mixed_clients(3), on_dropout=Dropout.STOP)
    keys = offers(wire, b"run 2")
    with refused(wire.clients[0], errors.WrongRosterError):
        wire.participants[0].enter(b"run 2", keys[:2])


def test_a_run_whose_key_was_never_offered(wire: Wire) -> None:
    keys = [wire.keys[0], wire.participants[1].offer(b"run 2")]
    with refused(wire.clients[0], errors.WrongRosterError):
        wire.participants[0].enter(b"run 2", keys)


def of_low_order(participant: SiteHalf) -> SignedKey:
    """A site that signs a point with which every secret is zero."""
    point = bytes(32)
    return SignedKey(participant.identity.public_bytes, point, b"run 1", participant.identity.sign(_signed_context(b"run 1", point)))


def swapped(key: SignedKey) -> SignedKey:
    """The server's own X25519 key under a site's identity and signature: the classical man in the middle."""
    own = X25519PrivateKey.generate().public_key().public_bytes_raw()
    return SignedKey(key.identity, own, key.run_id, key.signature)


@pytest.mark.parametrize(
    ("forge", "error"),
    [
        (lambda key, _: swapped(key), errors.BadSignatureError),
        (lambda key, _: SignedKey(key.identity, key.x25519, key.run_id, bytes(64)), errors.BadSignatureError),
        (lambda key, _: SignedKey(key.identity, key.x25519, b"run 0", key.signature), errors.BadSignatureError),
        (lambda _, p: p.offer(b"run 0"), errors.WrongRunError),
        (lambda _, p: of_low_order(p), errors.WeakKeyError),
    ],
    ids=["swapped key", "no signature", "run id changed", "key of another run", "low-order point"],
)
def test_a_forged_key_is_found_out(forge: Callable[[SignedKey, SiteHalf], SignedKey], error: type[Exception]) -> None:
    wire = Wire(mixed_clients(2))
    keys = offers(wire)
    forged = forge(keys[1], wire.participants[1])
    with refused(wire.clients[0], error):
        wire.participants[0].enter(b"run 1", [keys[0], forged])


def test_one_site_twice_in_a_run(wire: Wire) -> None:
    keys = [*offers(wire, b"run 2"), RunKey.generate(wire.clients[1].identity, b"run 2").signed]
    with refused(wire.clients[0], errors.RepeatedSiteError):
        wire.participants[0].enter(b"run 2", keys)


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
    for version in (0, 2):
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


# the same question twice


def test_a_question_may_be_repeated_with_the_same_sites(three: Wire) -> None:
    """It is the same sum: nothing new is said."""
    told = [three.everywhere("A", "C")]
    first, again = three.total(three.evaluate(LOGIT), told), three.total(three.evaluate(LOGIT), told)
    np.testing.assert_allclose(first, again, rtol=1e-4)  # a search over intercepts begins where the last one ended
    three.begin(three.participants, b"run 2")
    three.total(three.evaluate(LOGIT), told)


def shrink(three: Wire) -> list[Announced]:
    """Answer with three sites, lose one."""
    three.total(three.evaluate(LOGIT), [three.everywhere("A", "C")])
    three.begin(three.participants[:2], b"run 2")
    return [Announced(("A", "C"), 2, 2 * ROWS)]


def test_a_question_is_not_repeated_with_fewer_sites(three: Wire) -> None:
    """The difference of the two sums would be the missing site's numbers."""
    told = shrink(three)
    for participant in (0, 1):
        with refused(three.clients[participant], errors.RepeatedQuestionError):
            three.send(three.evaluate(LOGIT), told, to=participant)
    others = [change(LOGIT, beta=point(0.5)), LOGIT]
    with refused(three.clients[0], errors.RepeatedQuestionError):
        three.send(three.evaluate(*others), told)


def test_with_fewer_sites_a_fit_goes_on_at_another_point(three: Wire) -> None:
    told = shrink(three)
    model = change(LOGIT, beta=point(0.26))
    assert len(three.send(three.evaluate(model), told)) == three.length(three.evaluate(model))


def test_what_a_run_of_three_was_asked_a_later_run_of_two_is_not_after_one_more(three: Wire) -> None:
    """The memory outlives runs, and a repetition with all sites does not wipe it."""
    told = [three.everywhere("A", "C")]
    three.total(three.evaluate(LOGIT), told)
    three.begin(three.participants, b"run 2")
    three.total(three.evaluate(LOGIT), told)
    three.begin(three.participants[1:], b"run 3")
    with refused(three.clients[1], errors.RepeatedQuestionError):
        three.send(three.evaluate(LOGIT), [Announced(("A", "C"), 2, 2 * ROWS)], to=1)


TWO = ModelAsk("C", ("A", "B"), ("A", "B", "C"), (0, 1), (0, 1), point(0.25, 0.0))
GUISES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "minus zero": ({"beta": point(0.25, -0.0)}, {}),
    "a logit has no barrier": ({"mu": 0.5}, {}),
    "the sample in another order": ({"sample": ("C", "B", "A")}, {}),
    "the predictors in another order": ({"predictors": ("B", "A"), "beta": point(0.0, 0.25)}, {}),
    "another unit": ({"beta": point(0.25 * 2**8, 0.0)}, {"exponents": {"A": 8}}),
}


@pytest.mark.parametrize("guise", GUISES)
def test_the_same_question_in_another_guise_is_the_same_question(three: Wire, guise: str) -> None:
    """Each of these has the log-likelihood of the first question: asked with one site fewer, it gives the missing one's."""
    changes, coding = GUISES[guise]
    three.total(three.evaluate(TWO), [three.everywhere("A", "B", "C")])
    three.begin(three.participants[:2], b"run 2")
    model = change(TWO, **changes)
    with pytest.raises(errors.RefusalError):
        three.send(three.evaluate(model, **coding), [Announced(model.sample, 2, 2 * ROWS)])


# sums over too few


@pytest.mark.parametrize(
    ("announced", "words"),
    [
        (None, "announced first"),
        (Announced(("B", "A"), 2, 80), "announced first"),
        (Announced(("A", "B", "C"), 2, 80), "announced first"),
        (Announced(("A", "B"), 1, 40), "only one site"),
        (Announced(("A", "B"), 0, 0), "cannot be"),
        (Announced(("A", "B"), -1, 80), "cannot be"),
        (Announced(("A", "B"), 3, 120), "cannot be"),
        (Announced(("A", "B"), 2, ROWS - 1), "cannot be"),
        (Announced(("A", "B"), 2, ROWS), "cannot be"),
        (Announced(("A", "B"), 2, -(2**62)), "cannot be"),
    ],
    ids=str,
)
@pytest.mark.parametrize("body", [PRODUCTS, "evaluate"], ids=["products", "evaluate"])
def test_no_sum_that_was_not_announced_or_cannot_be(wire: Wire, announced: Announced | None, words: str, body: Any) -> None:
    if body == "evaluate":
        body = wire.evaluate(change(LOGIT, predictors=("A",)))
        announced = announced and change(
            announced, variables=tuple("C" if v == "B" else "B" if v == "C" else v for v in announced.variables)
        )
    with refused(wire.clients[0], errors.FalseCountsError if words == "cannot be" else errors.DisclosureError) as caught:
        wire.send(body, [] if announced is None else [announced])
    assert words in str(caught.value)


def test_no_sum_below_the_studys_limits() -> None:
    for contributors, rows in ((2, 130), (3, 129)):
        wire = Wire.open(mixed_clients(3), min_contributors=3, min_rows=130)
        with refused(wire.clients[0], errors.DisclosureError):
            wire.send(PRODUCTS, [Announced(("A", "B"), contributors, rows)])
    wire = Wire.open(mixed_clients(3), min_contributors=3, min_rows=130)
    wire.send(PRODUCTS, [Announced(("A", "B"), 3, 130)])
    with refused(wire.clients[0], errors.FalseCountsError):  # one run, one count
        wire.send(PRODUCTS, [Announced(("A", "B"), 3, 131)])


def test_nothing_alone_that_several_sites_can_do(wire: Wire) -> None:
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(Products((), {}, alone=(Question("A", "B"),)), [wire.everywhere("A", "B")])


@pytest.mark.parametrize(
    "body",
    [Products((), {}, alone=(Question("A", "B"),)), LocalTests((Question("A", "B"),), Ordinal.PROPORTIONAL)],
    ids=["alone", "fisher"],
)
def test_nothing_alone_where_the_study_refuses(body: Any) -> None:
    wire = Wire.open(mixed_clients(2, absent={1: ["B"]}), single_site=SingleSite.REFUSE, **terms_of(body))
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(body, [Announced(("A", "B"), 1, ROWS)])


@pytest.mark.parametrize(
    "body",
    [
        Products((("A", "B"),), {}),
        Products((("A", "B"),), {}, alone=(Question("A", "B"),)),
        Products((("A", "B"),), {}, alone=(Question("B", "A"),)),
    ],
    ids=["products", "products under cover of the test alone", "the same, turned round"],
)
def test_what_one_site_has_alone_leaves_it_as_statistics_only(body: Products) -> None:
    """Else the sum is that site's cross-products, since all others send zeros."""
    wire = Wire.open(mixed_clients(2, absent={1: ["B"]}))
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(body, [Announced(("A", "B"), 1, ROWS)])


def test_a_model_of_one_site_is_never_evaluated() -> None:
    wire = Wire.open(mixed_clients(2, absent={1: ["B"]}))
    model = change(LOGIT, predictors=("B",), sample=("B", "C"))
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(wire.evaluate(model), [Announced(("B", "C"), 1, ROWS)])


def test_no_location_of_what_one_site_has_alone() -> None:
    wire = Wire.open(mixed_clients(2, absent={1: ["B"]}), effects=SiteEffects.NONE)
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(Locate(("B",), {}), [Announced(("B",), 1, ROWS)])


def test_a_site_without_the_rows_knows_that_not_all_contribute() -> None:
    """Only that site can see the lie, and by refusing it protects the one whose numbers the sum would be."""
    wire = Wire.open(mixed_clients(2, absent={1: ["B"]}))
    with refused(wire.clients[1], errors.FalseCountsError):
        wire.send(PRODUCTS, [Announced(("A", "B"), 2, 2 * ROWS)], to=1)


def test_announcements_end_with_their_run(three: Wire) -> None:
    three.send(PRODUCTS, [three.everywhere("A", "B")])
    three.begin(three.participants[:2], b"run 2")
    with refused(three.clients[0], errors.DisclosureError):
        three.send(PRODUCTS)


def test_an_announcement_holds_for_the_rest_of_the_run(wire: Wire) -> None:
    wire.send(PRODUCTS, [wire.everywhere("A", "B")])
    assert len(wire.send(PRODUCTS)) == wire.length(PRODUCTS)


def test_sites_that_are_told_different_things_in_one_round_give_noise() -> None:
    """Sent to ask for something they do not have, all but one site would add zeros, and the sum be that one's numbers."""
    wire = Wire.open(mixed_clients(3, absent={1: ["B"], 2: ["B"]}))
    wanted, empty = Products((("A", "C"),), {}), Products((("B", "C"),), {})
    to_one = wire.request(wanted, [wire.everywhere("A", "C")])
    to_others = change(to_one, body=empty, announced=(Announced(("B", "C"), 2, 3 * ROWS),))
    found = unmasked([wire.participants[0].answer(to_one), *(p.answer(to_others) for p in wire.participants[1:])])
    frame = mixed_frames(3)[0]
    own = [ROWS, ROWS - frame["C"].sum(), frame["C"].sum()]
    assert not np.allclose(found[:3], own), "the sum is one site's counts"


# numbers


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


@given(run=st.binary(max_size=40), number=st.integers(-(2**70), 2**70), roster=st.binary(max_size=40), version=st.integers(-3, 3))
@settings(max_examples=60, deadline=None)
def test_any_envelope_but_the_right_one_is_refused(run: bytes, number: int, roster: bytes, version: int) -> None:
    wire = Wire.open(CLIENTS)
    before = len(CLIENTS[0].record.entries)
    with pytest.raises(errors.ConsilienceError):
        wire.participants[0].answer(RoundRequest(run, number, roster, SURVEY, (), version))
    assert len(CLIENTS[0].record.entries) == before + 1
