"""The census: who contributes, who sits out, and which sums strict leaves."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from consilience.data.schema import Schema
from consilience.disclosure.census import Census, apply
from consilience.disclosure.shield import shield
from consilience.disclosure.statement import Statement
from consilience.settings.choices import Isolation, Method
from consilience.settings.terms import Terms
from tests.disclosure.sites import SCHEMA, table

AGGREGATE = Terms(min_cell=5)
STRICT = Terms(min_cell=5, isolation=Isolation.STRICT)


def census(terms: Terms, *held: str, schema: Schema = SCHEMA) -> Census:
    """Whole sites that have the variables of each text."""
    return Census({bytes([i]): Statement(tuple(names), True, 10) for i, names in enumerate(held)}, terms, schema)


def sites(found: frozenset[bytes]) -> set[int]:
    return {site[0] for site in found}


def test_without_rules_nobody_sits_out_and_nothing_is_refused() -> None:
    said = {b"1": Statement(("A",), False, 1), b"2": Statement((), True, 0)}
    found = Census(said, Terms(), SCHEMA)
    assert not any(found.sits_out(site) for site in said)
    assert found.refusal(("A", "B")) == ""
    assert found.contributors(["A"]) == {b"1"}
    mine = shield(table({"A": [1.0]}), Terms(), 1)
    assert apply(mine, found, b"2") is mine.table


@pytest.mark.parametrize("terms", [AGGREGATE, STRICT])
def test_a_site_with_too_few_rows_sits_out(terms: Terms) -> None:
    found = Census({b"1": Statement(("A",), True, 9), b"2": Statement(("A",), True, 10)}, terms, SCHEMA)
    assert (found.sits_out(b"1"), found.sits_out(b"2")) == (True, False)
    assert found.contributors(("A",)) == {b"2"}
    mine = shield(table({"A": [1.0] * 12}), terms, 5)
    assert apply(mine, found, b"2") is mine.table
    assert apply(mine, found, b"1").n_rows == 0


def test_with_strict_a_site_with_gaps_sits_out() -> None:
    said = {b"1": Statement(("A",), False, 10)}
    assert Census(said, STRICT, SCHEMA).sits_out(b"1")
    assert not Census(said, AGGREGATE, SCHEMA).sits_out(b"1")


def test_aggregate_refuses_nothing() -> None:
    found = census(AGGREGATE, "ABC", "AB", "A")
    assert {found.refusal(names) for names in itertools.combinations("ABCDE", 2)} == {""}
    assert found.pairs() == (1, 1)


def test_strict_leaves_all_where_all_have_the_same() -> None:
    found = census(STRICT, "ABCDE", "ABCDE")
    assert {found.refusal(names) for size in (1, 2, 3, 5) for names in itertools.combinations("ABCDE", size)} == {""}
    assert found.pairs() == (10, 10)


def test_strict_refuses_what_subtracts_to_one_site() -> None:
    """The review's attack: three sites have A and B, two of them C. The one set or the other, not both; pairs with C are more."""
    found = census(STRICT, "ABC", "ABC", "AB")
    assert [found.refusal(names) for names in ("AC", "BC", "ABC")] == ["", "", ""]
    assert "fewer than 2 sites alone" in found.refusal("AB")
    assert found.pairs() == (2, 3)


def test_strict_refuses_sums_over_one_site() -> None:
    found = census(STRICT, "ABC", "AB", "AB")
    assert found.refusal(("A", "C")) == 'one site would be summed over, and isolation="strict" asks for 2'
    assert found.refusal("AB") == ""
    assert found.refusal("DE") == "", "nobody has it: there is nothing to sum"


def test_strict_asks_for_min_contributors() -> None:
    found = census(Terms(isolation=Isolation.STRICT, min_contributors=3), "ABC", "ABC", "ABC", "AB", "AB")
    assert "fewer than 3" in (found.refusal("AB") or found.refusal("AC"))
    more = census(Terms(isolation=Isolation.STRICT, min_contributors=3), "ABC", "ABC", "ABC", "AB", "AB", "AB")
    assert more.pairs() == (3, 3)


def test_strict_keeps_single_variables_where_they_are_summed_over() -> None:
    """A and both pairs with it cannot be had together: nobody needs A alone, or every test does."""
    plain = census(STRICT, "ABC", "AB", "AC", "AB")
    assert (plain.refusal("A") != "", plain.pairs()) == (True, (2, 2))
    alone = census(Terms(isolation=Isolation.STRICT, method=Method.RESIDUAL), "ABC", "AB", "AC", "AB")
    assert [alone.refusal(names) for names in ("A", "C", "AC")] == ["", "", ""]
    assert alone.pairs() == (1, 2), "A is over four sites, B over three of them: the fourth alone"
    more = census(Terms(isolation=Isolation.STRICT, method=Method.RESIDUAL), "ABC", "ABC", "ABD", "ABD")
    assert more.pairs() == (5, 5)


def test_the_census_does_not_depend_on_the_order_of_statements() -> None:
    held = ["ABC", "AB", "ABD", "CDE", "ACE", "ABCDE"]
    said = {bytes([i]): Statement(tuple(names), True, 10) for i, names in enumerate(held)}
    sets = [names for size in (1, 2, 3) for names in itertools.combinations("ABCDE", size)]
    one, two = (Census(dict(order), STRICT, SCHEMA) for order in (said.items(), reversed(said.items())))
    assert [one.refusal(names) for names in sets] == [two.refusal(names) for names in sets]
    assert sites(one.contributors("AB")) == {0, 1, 2, 5}


@pytest.mark.slow
def test_many_sites_take_bounded_time() -> None:
    rng = np.random.default_rng(0)
    names = [f"x{i:02}" for i in range(30)]
    schema = Schema(dict.fromkeys(names, "continuous"))
    said = {i.to_bytes(2, "big"): Statement(tuple(n for n in names if rng.random() < 0.9), True, 10) for i in range(40)}
    for least in (2, 3, 5):
        start = time.process_time()
        found = Census(said, Terms(isolation=Isolation.STRICT, min_contributors=least), schema)
        may, could = found.pairs()
        assert 0 < may <= could
        assert time.process_time() - start < 20.0
