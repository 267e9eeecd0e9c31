"""Masks change no result and hide every number: what one site sends looks like noise, what it holds does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import consilience as cs
from consilience.citest.question import all_questions
from consilience.glm.layout import SiteEffects
from consilience.protocol.messages import Announced
from consilience.protocol.products import Products
from consilience.protocol.survey import Survey
from consilience.secagg import encode
from tests.federation.helpers import Wire, mixed_clients, tap, unmasked
from tests.random_studies import random_study

pytestmark = pytest.mark.filterwarnings("ignore::consilience.DoubtfulDataWarning")  # random tables look odd at times

EFFECTS = tuple(e.value for e in SiteEffects)


def questions(seed: int, count: int = 4) -> list[tuple[str, str, tuple[str, ...]]]:
    every = all_questions("UVWXYZ", 2)
    return [(every[i].x, every[i].y, every[i].given) for i in np.random.default_rng(seed).choice(len(every), count, replace=False)]


def assert_equal(masked: list[cs.CIResult], plain: list[cs.CIResult]) -> None:
    assert len(masked) == len(plain) > 0
    for a, b in zip(masked, plain, strict=True):
        assert (a.n, a.contributors, a.informative, a.reason, a.converged) == (b.n, b.contributors, b.informative, b.reason, b.converged)
        assert a.p_value == pytest.approx(b.p_value, rel=1e-9, abs=1e-12)
        for one, two in zip(a.directions, b.directions, strict=True):
            assert (one.response, one.df, one.reason) == (two.response, two.df, two.reason)
            assert one.statistic == pytest.approx(two.statistic, rel=0, abs=1e-9, nan_ok=True)  # a site alone tells no statistic


def test_sums_are_masked_unless_a_study_says_otherwise() -> None:
    default, plain = cs.Server(mixed_clients(2)), cs.Server(mixed_clients(2), masking=False)
    assert default.terms.masking
    for server, kind in ((default, bytes), (plain, np.ndarray)):
        sent = tap(server)
        server.test("A", "C")
        assert [len(replies) for replies in sent.values()] == [server.rounds] * 2
        assert all(isinstance(reply, kind) for replies in sent.values() for reply in replies)


@pytest.mark.slow
@pytest.mark.parametrize("effects", EFFECTS)
@pytest.mark.parametrize("sites", [2, 3, 9, 20])
def test_masks_change_no_statistic(sites: int, effects: str) -> None:
    """Random kinds, missing values, absent variables, small sites that lack levels."""
    clients, asked = random_study(sites, rows=(25, 45), sites=(sites, sites)), questions(sites)
    masked, plain = (cs.Server(clients, site_effects=effects, masking=masking).test_many(asked) for masking in (True, False))
    assert_equal(masked, plain)


@pytest.mark.slow
@pytest.mark.parametrize("effects", [effects for effects in EFFECTS if effects != "random"])  # which are refused there
@pytest.mark.parametrize("sites", [2, 7])
def test_masks_change_no_statistic_of_generalized_ordinal_models(sites: int, effects: str) -> None:
    clients = mixed_clients(sites, columns="ACD")
    asked = [("A", "D"), ("C", "D", ["A"])]
    options = {"site_effects": effects, "ordinal": "generalized"}
    masked, plain = (cs.Server(clients, masking=masking, **options).test_many(asked) for masking in (True, False))  # type: ignore[arg-type]
    assert_equal(masked, plain)


@pytest.mark.slow
@pytest.mark.parametrize("effects", EFFECTS)
def test_masks_change_no_statistic_of_mixed_sites(effects: str) -> None:
    clients = mixed_clients(4, missing=0.05, absent={2: ["E"], 3: ["B"]})
    asked = [(q.x, q.y, q.given) for q in all_questions("ABCDE", 1)]
    masked, plain = (cs.Server(clients, site_effects=effects, masking=masking).test_many(asked) for masking in (True, False))
    assert_equal(masked, plain)


@pytest.mark.slow
@pytest.mark.parametrize("sites", [2, 20])
def test_masks_change_no_p_value_of_fishers_method(sites: int) -> None:
    clients, asked = random_study(sites, rows=(25, 45), sites=(sites, sites)), questions(sites)
    masked, plain = (cs.fisher(clients, masking=masking).test_many(asked) for masking in (True, False))
    assert_equal(masked, plain)
    assert any(r.informative for r in masked)


def test_numbers_of_any_unit_survive_the_ring() -> None:
    """Fixed point has an absolute precision; the units of the data must not matter to it."""
    frames = cs.simulate.mixed_sites(n=120, sites=3, seed=2)
    for unit in (1e-30, 1e-9, 1e12, 1e30):
        clients = [cs.Client(name, f.with_columns(pl.col("A") * unit)) for name, f in frames.items()]
        masked, plain = (cs.Server(clients, masking=masking).test_many([("A", "B"), ("A", "C", ["B"])]) for masking in (True, False))
        assert_equal(masked, plain)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"site_effects": e} for e in EFFECTS] + [{"method": "fisher"}], ids=str)
def test_a_run_repeated_with_fresh_keys_is_the_same_to_the_last_bit(options: dict[str, Any]) -> None:
    clients = mixed_clients(3, columns="ACDE")
    one, two = (cs.Server(clients, **options).test_all(max_given=1) for _ in range(2))
    assert one.equals(two)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"site_effects": e} for e in EFFECTS] + [{"method": "fisher"}], ids=str)
def test_the_order_of_clients_does_not_matter_to_the_last_bit(options: dict[str, Any]) -> None:
    """Sums in the ring are exact: they have no order. (Sums of floats have one.)"""
    clients = mixed_clients(4, columns="ACDE", missing=0.02)
    one, two = (cs.Server(order, **options).test_all(max_given=1) for order in (clients, clients[2:] + clients[1::-1]))
    assert one.equals(two)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"site_effects": e} for e in EFFECTS] + [{"method": "fisher"}], ids=str)
def test_new_identities_change_nothing(options: dict[str, Any]) -> None:
    """Fingerprints order the sites of a roster, at random. Only joint has parameters in that order, and rounds differently then."""
    first, *others = (
        [r.p_value for r in cs.Server(mixed_clients(4, columns="ACE", missing=0.02), **options).test_many([("A", "C", ["E"]), ("C", "E")])]
        for _ in range(4)
    )
    for other in others:
        if options.get("site_effects") == "joint":
            assert other == pytest.approx(first, rel=1e-9)
        else:
            assert other == first


# what one site sends

LEVELS = 1150
"""One variable of so many levels has cross-products of 660 000 numbers: 10.6 MB in one round."""


def large_round(masked: bool) -> tuple[list[bytes], int]:
    """What a site that contributes and one that does not send in a round of 10 MB."""
    rng = np.random.default_rng(1)
    levels = {"K": range(LEVELS)}
    held = pl.DataFrame({"A": rng.normal(size=60), "K": rng.integers(0, LEVELS, 60)})
    clients = [
        cs.Client("holds", held, kinds={"K": "multinomial"}, levels=levels),
        cs.Client("lacks", held.select("A")),
        cs.Client("holds too", held.reverse(), kinds={"K": "multinomial"}, levels=levels),
    ]
    wire = Wire.open(clients, masking=masked)
    body = Products((("K",),), {})
    message = wire.request(body, [Announced(("K",), 2, 120)])
    replies = [p.answer(message) for p in wire.participants]
    return [r if isinstance(r, bytes) else encode(r, terms=3).to_bytes() for r in replies], wire.length(body)


def looks_uniform(data: bytes) -> bool:
    """Chi-square over byte values, and the correlation of each byte with the next one and with its like in the next number."""
    values = np.frombuffer(data, np.uint8)
    if stats.chisquare(np.bincount(values, minlength=256)).pvalue < 1e-7:
        return False
    x = values - 127.5
    normal = [float(x[:-lag] @ x[lag:]) / (x.var() * len(x) ** 0.5) for lag in (1, 16)]
    return max(map(abs, normal)) < 5.5


@pytest.mark.slow
def test_what_a_site_sends_is_indistinguishable_from_noise() -> None:
    (holds, lacks, holds_too), length = large_round(masked=True)
    assert len(holds) == len(lacks) == length >= 10_000_000
    assert looks_uniform(holds)
    assert looks_uniform(lacks)
    difference = np.bitwise_xor(np.frombuffer(holds, np.uint8), np.frombuffer(lacks, np.uint8))
    assert looks_uniform(difference.tobytes())
    found = unmasked([holds, lacks, holds_too])
    assert found[0] == 120
    assert found[1 : LEVELS + 1].sum() == 120


@pytest.mark.slow
def test_the_same_numbers_without_masks_are_nothing_like_noise() -> None:
    """The test above can tell."""
    (holds, lacks, _), length = large_round(masked=False)
    assert len(holds) == len(lacks) == length
    assert not looks_uniform(holds)
    assert not looks_uniform(lacks)
    assert set(lacks) == {0}


@pytest.mark.slow
def test_what_a_site_sends_in_real_rounds_is_noise() -> None:
    """All answers of whole runs one after the other, from a site that has all variables and one that has none of them but A."""
    clients = mixed_clients(3, absent={1: list("BCDE")})
    sent: dict[str, bytes] = {c.name: b"" for c in clients}
    while len(sent["site0"]) < 1_000_000:
        server = cs.Server(clients)
        replies = tap(server)
        server.test_all(max_given=2)
        sent = {name: data + b"".join(replies[name]) for name, data in sent.items()}
    assert len({len(data) for data in sent.values()}) == 1
    assert all(looks_uniform(data) for data in sent.values())


def test_equal_questions_have_unequal_answers() -> None:
    """Every round has masks of its own: also a site that sends zeros never sends the same bytes twice."""
    wire = Wire.open(mixed_clients(2, absent={1: ["B"]}))
    body = Survey((("B",),))
    for to in (0, 1):
        assert len({wire.send(body, to=to) for _ in range(20)}) == 20


def test_without_one_sites_answer_the_sum_is_noise() -> None:
    wire = Wire.open(mixed_clients(4))
    message = wire.request(Survey((("A", "B"), ("C",))))
    replies = [p.answer(message) for p in wire.participants]
    np.testing.assert_array_equal(unmasked(replies), [4, 160, 4, 160])
    for left_out in range(4):
        partial = unmasked([r for i, r in enumerate(replies) if i != left_out])
        assert (np.abs(partial) > 1e6).all()  # of 2^63: one in 10^12 is not
