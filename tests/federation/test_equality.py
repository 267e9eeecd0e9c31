"""Federated = pooled, on 200 random mixed data sets: every statistic to 1e-6, every df exactly.

With ``small_sample=False``, so that no statistic is left out for want of rows, and without diagnostics, which are compared elsewhere
(``exchange/test_diagnosis.py``) and change no statistic. Profiled sums are masked, as by default; those of the other ways are plain, since
masks change no statistic of any (``test_masking.py``)."""

from __future__ import annotations

import numpy as np
import pytest

import consilience as cs
from consilience.citest.question import all_questions
from tests.federation.helpers import assert_alone
from tests.random_studies import random_study

pytestmark = pytest.mark.filterwarnings("ignore::consilience.DoubtfulDataWarning")  # random tables look odd at times

VARIANTS = {"profiled": True, "coordinate": False, "joint": False}
"""Ways of site effects, and whether sums are masked."""
PER_STUDY = 5


def questions(seed: int) -> list[tuple[str, str, tuple[str, ...]]]:
    every = all_questions("UVWXYZ", 2)
    chosen = np.random.default_rng(seed + 10**6).choice(len(every), PER_STUDY, replace=False)
    return [(every[i].x, every[i].y, every[i].given) for i in chosen]


def assert_same(got: cs.CIResult, wanted: cs.CIResult, tolerance: float = 1e-6) -> None:
    if wanted.informative and wanted.contributors == 1:
        assert_alone(got, wanted)
        return
    assert (got.n, got.contributors, got.informative) == (wanted.n, wanted.contributors, wanted.informative)
    for a, b in zip(got.directions, wanted.directions, strict=True):
        assert (a.response, a.df) == (b.response, b.df)
        assert a.converged
        assert b.converged
        # a slope that goes to infinity is followed as far as the likelihood tells, and the rest is a limit: six digits of it are promised
        within = max(tolerance, 1e-6) if a.separated or b.separated else tolerance
        assert a.statistic == pytest.approx(b.statistic, rel=within, abs=1e-9), f"{got} {a} {b}"
    assert got.p_value == pytest.approx(wanted.p_value, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_all_variants_equal_the_pooled_analysis(block: int) -> None:
    for seed in range(10 * block, 10 * block + 10):
        clients = random_study(seed)
        asked = questions(seed)[:3]
        wanted = cs.pooled(clients, small_sample=False, diagnostics=False).test_many(asked)
        for variant, masking in VARIANTS.items():
            # kept until the next is there, which need not encode the tables again
            server = cs.Server(clients, site_effects=variant, masking=masking, small_sample=False, diagnostics=False)
            for got, want in zip(server.test_many(asked), wanted, strict=True):
                assert_same(got, want)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
@pytest.mark.parametrize("shifts", [0.8, 3.0])
def test_counts_equal_the_pooled_analysis(block: int, shifts: float) -> None:
    """To 1e-8 (a slope at infinity: 1e-6), the dispersion too, also where means of sites differ by orders of magnitude or are zero."""
    for seed in range(3 * block, 3 * block + 3):
        clients = random_study(seed, counts=True, shifts=shifts, constant=0.0)
        asked = questions(seed)
        wanted = cs.pooled(clients, diagnostics=False).test_many(asked)
        for variant, masking in VARIANTS.items():
            server = cs.Server(clients, site_effects=variant, masking=masking, diagnostics=False)
            for got, want in zip(server.test_many(asked), wanted, strict=True):
                assert_same(got, want, 1e-8)
                for a, b in zip(got.directions, want.directions, strict=True) if got.contributors > 1 else ():
                    assert a.residual_df == b.residual_df
                    assert a.dispersion == pytest.approx(b.dispersion, rel=1e-8)


def test_counts_without_site_effects_equal_pooled_rows() -> None:
    clients = random_study(2, counts=True)
    asked = questions(2)
    wanted = cs.pooled(clients, site_effects="none").test_many(asked)
    for got, want in zip(cs.Server(clients, site_effects="none").test_many(asked), wanted, strict=True):
        assert_same(got, want, 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_generalized_ordinal_equals_pooled_too(seed: int) -> None:
    """Also where the maximum lies on the boundary of valid probabilities (levels missing in the middle at small sites)."""
    clients = random_study(seed, rows=(120, 200), sites=(2, 4))
    asked = questions(seed)
    wanted = cs.pooled(clients, ordinal="generalized", small_sample=False, diagnostics=False).test_many(asked)
    for variant in VARIANTS:
        server = cs.Server(clients, site_effects=variant, ordinal="generalized", small_sample=False, diagnostics=False)
        for got, want in zip(server.test_many(asked), wanted, strict=True):
            assert_same(got, want)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_laws_for_small_samples_and_refusals_are_the_same_too(seed: int) -> None:
    clients = random_study(seed, rows=(20, 60), sites=(2, 6))
    asked = questions(seed)
    for got, want in zip(cs.Server(clients).test_many(asked), cs.pooled(clients).test_many(asked), strict=True):
        assert_same(got, want)
        if got.contributors > 1 or not got.informative:  # a site that tests alone sends neither laws nor reasons
            assert [(d.law, d.residual_df, not d.reason) for d in got.directions] == [
                (d.law, d.residual_df, not d.reason) for d in want.directions
            ]


def test_no_site_effects_equals_pooled_rows_without_a_site_factor() -> None:
    clients = random_study(5)
    asked = questions(5)
    wanted = cs.pooled(clients, site_effects=False).test_many(asked)
    for got, want in zip(cs.Server(clients, site_effects="none").test_many(asked), wanted, strict=True):
        assert_same(got, want)


@pytest.mark.slow
def test_clients_in_any_order_and_rows_split_in_any_way() -> None:
    clients = random_study(11, sites=(4, 4))
    asked = questions(11)
    forward = cs.Server(clients).test_many(asked)
    backward = cs.Server(clients[::-1]).test_many(asked)
    for a, b in zip(forward, backward, strict=True):
        assert_same(a, b, 1e-9)
    # without site effects it does not matter which rows are where
    shuffled = cs.simulate.mixed_sites(n=600, sites=1, seed=2)["site1"]
    whole = cs.Server([cs.Client("all", shuffled)], site_effects="none", min_contributors=1).test_all(max_given=1)
    parts = [cs.Client(f"part{i}", shuffled[i::3]) for i in range(3)]
    split = cs.Server(parts, site_effects="none").test_all(max_given=1)
    np.testing.assert_allclose(split["p_value"], whole["p_value"], rtol=1e-7, atol=1e-300)


def test_a_site_that_lacks_a_variable_changes_nothing() -> None:
    frames = cs.simulate.mixed_sites(n=800, sites=4, seed=4, absent={3: ["E"]})
    clients = [cs.Client(name, frame) for name, frame in frames.items()]
    with_it = cs.Server(clients).test("C", "E", ["A", "D"])
    without = cs.Server(clients[:3], schema=cs.Server(clients).schema).test("C", "E", ["A", "D"])
    assert with_it.contributors == without.contributors == 3
    assert with_it.p_value == without.p_value
    assert with_it.directions == without.directions


@pytest.mark.slow
def test_a_batch_gives_what_single_tests_give() -> None:
    clients = random_study(3)
    asked = questions(3)
    together = cs.Server(clients).test_many(asked)
    for question, result in zip(asked, together, strict=True):
        alone = cs.Server(clients).test(*question)
        assert alone.p_value == pytest.approx(result.p_value, rel=1e-9)


def test_asking_twice_costs_no_round() -> None:
    server = cs.Server(random_study(6))
    first = server.test_many(questions(6))
    rounds = server.rounds
    again = server.test_many(questions(6))
    assert server.rounds == rounds
    assert [r.p_value for r in again] == [r.p_value for r in first]
