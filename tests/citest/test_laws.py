"""Which response has which law, its logarithm, and where a setting for few rows has no say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.citest.laws import Law
from tests.federation.helpers import assert_alone

EFFECTS = ("profiled", "coordinate", "joint")


def clients(rows: int = 40, sites: int = 3) -> list[cs.Client]:
    """A is continuous, B binary, N a count, all of them dependent; at the last site nothing was counted."""
    rng = np.random.default_rng(5)
    made = []
    for k in range(sites):
        a = rng.normal(size=rows)
        b = (0.8 * a + rng.logistic(size=rows) > 0).astype(int)
        n = rng.poisson(np.exp(0.5 + 0.3 * a + 0.2 * b)) * (k < sites - 1)
        made.append(cs.Client(f"s{k}", pl.DataFrame({"A": a, "B": b, "N": n}), kinds={"N": "count"}))
    return made


def directions(test: cs.CITest, *names: str) -> dict[str, Any]:
    return {d.response: d for x, y in ("AB", "AN", "BN") for d in test.test(x, y).directions if d.response in names}


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("effects", [*EFFECTS, "none"])
def test_every_response_has_its_law(effects: str, small: bool) -> None:
    wanted = {"A": Law.F, "B": Law.SCALED, "N": Law.QUASI} if small else {"A": Law.CHI2, "B": Law.CHI2, "N": Law.QUASI}
    for test in (cs.Server(clients(), site_effects=effects, small_sample=small), cs.pooled(clients(), small_sample=small)):
        found = directions(test, "A", "B", "N")
        assert {name: d.law for name, d in found.items()} == wanted
        for d in found.values():
            assert d.log_p == pytest.approx(math.log(d.p_value), rel=1e-12)


@pytest.mark.slow
def test_counts_and_random_effects_do_not_ask_how_few_the_rows_are() -> None:
    for effects, name in (("profiled", "N"), ("random", "A"), ("random", "B")):
        found = []
        for small in (True, False):
            test = cs.Server(clients(), site_effects=effects, small_sample=small)
            found.append(next(d for d in test.test("A", "N" if name == "N" else "B").directions if d.response == name))
        assert found[0] == found[1]
        assert found[0].law == (Law.QUASI if name == "N" else Law.CHI2)


@pytest.mark.slow
def test_random_effects_need_no_four_rows_for_a_parameter() -> None:
    """Two rows at each of twelve sites: too few for thirteen intercepts and slopes, not for one intercept, one slope and one variance."""
    few = clients(rows=2, sites=12)
    fixed, mixed = (cs.Server(few, site_effects=effects).test("A", "B") for effects in ("profiled", "random"))
    by = [next(d for d in result.directions if d.response == "B") for result in (fixed, mixed)]
    assert [d.informative for d in by] == [False, True]
    assert "24 rows are too few" in by[0].reason


def test_the_one_site_that_can_test_a_count_sends_a_rounded_p_value() -> None:
    first, *others = clients()
    sites = [first, *(cs.Client(c.name, c.frame.drop("B"), kinds={"N": "count"}) for c in others)]
    found, wanted = cs.Server(sites).test("B", "N", ["A"]), cs.pooled([first]).test("B", "N", ["A"])
    assert_alone(found, wanted)
    assert Law.QUASI in {d.law for d in wanted.directions}


@pytest.mark.parametrize("effects", EFFECTS)
def test_a_predictor_that_varies_where_nothing_was_counted_says_nothing(effects: str) -> None:
    """Its column has a rank, its slope no information: no degree of freedom, and no answer from that direction."""
    made = []
    for k, client in enumerate(clients()):
        level = client.frame["B"] if k == 2 else pl.Series("B", np.ones(client.frame.height, dtype=int))
        made.append(cs.Client(client.name, client.frame.with_columns(level), kinds={"N": "count", "B": "binary"}, levels={"B": [0, 1]}))
    for test in (cs.Server(made, site_effects=effects), cs.pooled(made)):
        result = test.test("B", "N")
        by = {d.response: d for d in result.directions}
        assert not by["N"].informative
        assert by["N"].reason == "B does not vary at any site where N varies"
        assert not result.informative
