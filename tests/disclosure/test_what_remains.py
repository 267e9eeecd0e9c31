"""What still comes out, over all rules: the honest rest that ``docs/privacy.md`` lists, each as the attack itself.

A test here that fails because the number does not come out any more is good news: change the page, then the test.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.protocol.evaluate import Evaluate
from consilience.protocol.messages import Announced
from consilience.protocol.products import Products
from tests.disclosure.derivation import Record, Released, alone, assert_same, fewest, knowledge_of, own, sites_apart, too_small
from tests.disclosure.scenes import AGGREGATE, MIN_CELL, MIN_ROWS, OFF, STRICT, serve, studied, table

both = pytest.mark.parametrize("rules", [AGGREGATE, STRICT], ids=["aggregate", "strict"])
THREE = {"a": table(1), "b": table(2), "c": table(3)}

ONE_VARIES = THREE | {site: THREE[site].with_columns(Z=pl.lit(7.0)) for site in "ab"}
"""Z has one value at a and at b. They contribute to every sum, and add nothing to cross-products."""


def test_in_aggregate_a_number_that_varies_at_one_site_only_is_that_sites_own() -> None:
    """Cross-products of Z with everything, over many rows of c. In strict a and b do not contribute what is the same in all their rows."""
    record = studied(ONE_VARIES, AGGREGATE)
    found = [r.part.over(("X", "Z")) for r in record.sums() if set(r.variables) >= {"X", "Z"}]
    assert found
    wanted = own(ONE_VARIES["c"], record.schema, ("X", "Z"))
    for part in found:
        np.testing.assert_allclose(part.gram[1], wanted.gram[1], rtol=1e-8)
        assert part.rows >= MIN_ROWS
    assert not [r for r in studied(ONE_VARIES, STRICT).sums() if "Z" in r.variables]


ONE_HAS_R = {"a": table(1, {"p": 50, "q": 40}), "b": table(2, {"p": 45, "q": 45}), "c": table(3, {"p": 50, "q": 30, "r": 12})}


@both
def test_a_level_that_occurs_at_one_site_only_is_that_sites_own(rules: dict[str, Any]) -> None:
    """How often r occurs at c, and what those rows add up to; never for fewer rows than ``min_cell``."""
    record = studied(ONE_HAS_R, rules)
    found = [r.part.over(("C", "X")) for r in record.sums() if set(r.variables) >= {"C", "X"}]
    assert found
    wanted = own(ONE_HAS_R["c"], record.schema, ("C", "X"))
    for part in found:
        assert part.levels["C"][2] == 12 >= MIN_CELL
        np.testing.assert_allclose(part.gram[1, 1:], wanted.gram[1, 1:], rtol=1e-8)


ONE_PATIENT = THREE | {"a": THREE["a"].with_columns(Z=pl.lit(0.0)), "b": THREE["b"].with_columns(Z=pl.lit(0.0))}
ONE_PATIENT["c"] = ONE_PATIENT["c"].with_columns(Z=pl.when(pl.int_range(pl.len()) == 17).then(3.0).otherwise(0.0))
"""A number that is zero for all patients but one is a level of one patient in disguise."""


def test_in_strict_a_number_that_is_the_same_for_all_but_one_patient_is_in_no_sum_if_it_varies_at_one_site() -> None:
    assert not [r for r in studied(ONE_PATIENT, STRICT).sums() if "Z" in r.variables]


def test_in_strict_such_a_number_still_tells_of_few_patients_if_it_varies_at_two_sites() -> None:
    """One patient of a, and one of c: the sum of squares is theirs alone."""
    frames = ONE_PATIENT | {"a": ONE_PATIENT["a"].with_columns(Z=pl.when(pl.int_range(pl.len()) == 5).then(3.0).otherwise(0.0))}
    found = next(r.part.over(("X", "Z")) for r in studied(frames, STRICT).sums() if set(r.variables) >= {"X", "Z"})
    wanted = sum(3.0**2 * (1 - 1 / frames[site].height) for site in "ac")
    np.testing.assert_allclose(found.gram[1, 1], wanted, rtol=1e-8)


def test_in_aggregate_a_number_that_is_the_same_for_all_but_one_patient_gives_that_patient() -> None:
    """Rules on levels do not see it: declare such a variable as levels, or leave it out. Its product with X is 3 (x - mean)."""
    record = studied(ONE_PATIENT, AGGREGATE)
    found = next(r.part.over(("X", "Z")) for r in record.sums() if set(r.variables) >= {"X", "Z"})
    n, value = ONE_PATIENT["c"].height, 3.0
    np.testing.assert_allclose(found.gram[1, 1], value**2 * (1 - 1 / n), rtol=1e-8)
    deviation = ONE_PATIENT["c"]["X"][17] - ONE_PATIENT["c"]["X"].mean()
    np.testing.assert_allclose(found.gram[0, 1] / value, deviation, rtol=1e-7)


def with_d(frame: pl.DataFrame, both: dict[str, int]) -> pl.DataFrame:
    """A second discrete variable: so many rows of each level of C have it."""
    rank, many = pl.int_range(pl.len()).over("C"), pl.col("C").replace_strict(both)
    return frame.with_columns(D=pl.when(rank < many).then(pl.lit("yes")).otherwise(pl.lit("no")))


TWO_WAY = {
    "a": with_d(table(1), {"p": 20, "q": 15, "r": 6}),
    "b": with_d(table(2), {"p": 20, "q": 15, "r": 6}),
    "c": with_d(table(3, {"p": 30, "q": 30}, "CX"), {"p": 12, "q": 1}),
}
SCHEMA = {"C": ("multinomial", ["p", "q", "r"]), "D": ("binary", ["no", "yes"]), "X": "continuous", "Z": "continuous"}
"""At c, 30 patients have q and 13 have D, and one has both."""


def test_in_aggregate_cells_of_two_variables_at_one_site_come_out() -> None:
    """Announced before consent, and not refused: leaving out by pairs of levels would itself make the pair dependent. Strict closes it."""
    record = studied(TWO_WAY, AGGREGATE, schema=SCHEMA)
    found = alone(record.sums(), knowledge_of(TWO_WAY), "c", ("C", "D"))
    assert found is not None
    assert found.cells == [30, 30, 0, 47, 13]
    both_levels = found.gram[0, 2] + found.levels["C"][1] * found.levels["D"][1] / found.n
    assert round(both_levels) == 1
    strict = studied(TWO_WAY, STRICT, schema=SCHEMA)
    assert alone(strict.sums(), knowledge_of(TWO_WAY), "c", ("C", "D")) is None


UNLIKE = {
    "a": table(1, {"p": 15, "q": 12, "r": 6}),
    "b": table(2, {"p": 11, "q": 9, "r": 14}),
    "c": table(3, {"p": 20, "q": 13, "r": 8}),
    "d": table(4, {"p": 24, "q": 7, "r": 11}),
}


@both
@pytest.mark.parametrize("sites", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_whole_numbers_tell_sites_apart(rules: dict[str, Any], sites: int) -> None:
    """What no linear algebra sees: counts are whole, and cross-products that are centred at each site have their squares, over n, in them.

    So a sum over four sites is four tables, if not whose. This is why no site relies on another for its rare levels; and what strict
    promises is about adding and subtracting only.
    """
    frames = dict(list(UNLIKE.items())[:sites])
    record = studied(frames, rules)
    part = next(r.part.over(("C",)) for r in record.sums() if "C" in r.variables)
    tables = [[15, 12, 6], [11, 9, 14], [20, 13, 8], [24, 7, 11]][:sites]
    assert sites_apart(part, "C", sites) == [tables]


COLLUDING = {"a": table(1), "b": table(2, {"p": 30, "q": 28, "r": 2}), "c": table(3, columns="CX"), "d": table(4, columns="CX")}


def test_a_site_that_colludes_takes_itself_away() -> None:
    """All but one of those that are always in a sum together are enough, not all but one of the study. What is left was shielded for it."""
    record = studied(COLLUDING, AGGREGATE)
    known = knowledge_of(COLLUDING)
    told = own(COLLUDING["a"], record.schema, ("C", "X", "Z"))
    sums = [*record.sums(), Released(frozenset("a"), ("C", "X", "Z"), told)]
    found = alone(sums, known, "b", ("C", "X", "Z"))
    assert found is not None
    assert_same(found, own(COLLUDING["b"].filter(pl.col("C") != "r"), record.schema, ("C", "X", "Z")))


def test_in_strict_as_many_sites_must_collude_as_are_agreed_less_one() -> None:
    """Every combination is about three sites or more, so that two of them still have to be told."""
    frames = {f"s{i}": table(i, columns="CXZ" if i < 3 else "CX") for i in range(6)}
    record, known = studied(frames, {**STRICT, "min_contributors": 3}), knowledge_of(frames)
    assert fewest(record.sums(), known, most=2) == 3
    told = [Released(frozenset({site}), ("C", "X", "Z"), own(frames[site], record.schema, ("C", "X", "Z"))) for site in ("s0", "s1")]
    assert alone([*record.sums(), told[0]], known, "s2", ("C", "X")) is None
    assert alone([*record.sums(), *told], known, "s2", ("C", "X", "Z")) is not None


HALF, OTHER = {"p": 20, "q": 15, "r": 6}, {"p": 20, "q": 15, "r": 6}
NEVER_BOTH = {site: table(k, columns="CXW", lacking={"X": HALF, "W": OTHER}) for k, site in enumerate("abc")} | {
    "d": table(4, columns="CXW")
}
"""a, b and c have X in half of their rows and W in the other half: they contribute both, and no row with both."""


def test_in_aggregate_a_lie_about_sites_with_gaps_is_not_seen() -> None:
    """Statements say which variables a site has, not which of them together. What comes out is d's, over many rows, shielded for it.

    A server that does not lie has one contributor here, and makes no sum. In strict all sites are whole, and their statements say it all.
    """
    asked = ("C", "W", "X")
    server, record = serve(NEVER_BOTH, AGGREGATE)
    server._transport.ask(Products((asked,), {}), [Announced(asked, 3, 300)])
    (found,) = (r.part for r in record.sums())
    assert_same(found, own(NEVER_BOTH["d"], record.schema, asked))
    assert not too_small(found, MIN_ROWS, MIN_CELL)


def crossed(seed: int, n: int, together: int) -> pl.DataFrame:
    """Two discrete variables; so many rows have the later level of both."""
    rng, at = np.random.default_rng(seed), np.arange(n)
    x = rng.normal(50.0, 1.0, n)
    d, e = (at % 3 == 0), (at % 3 == 1) | ((at % 3 == 0) & (at < 3 * together))
    b = np.where(x + rng.normal(0.0, 1.5, n) > 50.5, "yes", "no")
    return pl.DataFrame({"B": b, "D": np.where(d, "m", "f"), "E": np.where(e, "new", "old"), "X": x})


CROSSED = {"a": crossed(1, 90, 0), "b": crossed(2, 120, 0), "c": crossed(3, 70, 1)}
LEVELS = {"B": ("binary", ["no", "yes"]), "D": ("binary", ["f", "m"]), "E": ("binary", ["old", "new"]), "X": "continuous"}


def numbers_in_the_cell(server: cs.Server) -> list[float]:
    """No lie, one test, one sum: between D and E the information is Σ p(1 - p) over the rows with both levels. Where that is about one
    patient, its p is a function of X, up to which side of the middle it is on.
    """
    record = Record(server)
    server.test("B", "X", given=["D", "E"])
    seen = [
        (model.point, total)
        for one in record.seen
        if isinstance(one.request, Evaluate)
        for model, total in zip(one.request.models, one.request.read(one.total, server.schema), strict=True)
        if model.predictors == ("D", "E", "X") and model.point[2]
    ]
    locations = next(one.request.locations for one in record.seen if isinstance(one.request, Evaluate))
    exponents = next(one.request.exponents for one in record.seen if isinstance(one.request, Evaluate))
    (by_d, by_e, by_x, constant), total = seen[-1]
    weight = total.info[0, 1]
    linear = np.log((1 + np.sqrt(1 - 4 * weight)) / (1 - np.sqrt(1 - 4 * weight)))
    return [locations["X"] + 2.0 ** exponents.get("X", 0) * (sign * linear - constant - by_d - by_e) / by_x for sign in (-1, 1)]


@both
def test_a_patient_alone_in_a_cell_of_two_levels_has_a_number_in_the_information_of_a_model(rules: dict[str, Any]) -> None:
    """(With intercepts of sites the sums of the other rows are in it, too.)"""
    server = cs.Server([cs.Client(site, frame) for site, frame in CROSSED.items()], schema=LEVELS, **rules, site_effects="none")
    assert min(abs(one - CROSSED["c"]["X"][0]) for one in numbers_in_the_cell(server)) < 1e-6


def foreseen(seed: int, n: int, together: int) -> pl.DataFrame:
    """The same, but that those with both levels have so much of X that B is certain, all but the first."""
    rng, at = np.random.default_rng(seed), np.arange(n)
    d, e = (at % 3 == 0), (at % 3 == 1) | ((at % 3 == 0) & (at < 3 * together))
    x = np.where(d & e, rng.normal(53.5, 0.3, n), rng.normal(50.0, 1.5, n))
    x[0] = 51.05
    b = np.where((x + rng.normal(0.0, 0.5, n) > 50.5) | (d & e), "yes", "no")
    return pl.DataFrame({"B": b, "D": np.where(d, "m", "f"), "E": np.where(e, "new", "old"), "X": x})


FORESEEN = {"a": foreseen(1, 400, 0), "b": foreseen(2, 480, 0), "c": foreseen(3, 600, 60)}


@both
@pytest.mark.parametrize("cells", ["told", "refuse"])
def test_one_of_sixty_patients_in_a_cell_has_not_where_all_others_are_foreseen(rules: dict[str, Any], cells: str) -> None:
    """Sums are about many rows with each level, and about one with both: without rules its number comes out, the others of the cell are
    in the third digit. Where sites share an intercept, rows with both levels are counted, and the site says nothing.
    """

    def told(**more: Any) -> bool:
        server = cs.Server([cs.Client(site, frame) for site, frame in FORESEEN.items()], schema=LEVELS, site_effects="none", **more)
        with np.errstate(invalid="ignore"):  # noise need not be a weight
            return any(abs(one - 51.05) < 0.02 for one in numbers_in_the_cell(server))

    assert told(**OFF)
    assert not told(**rules, cells=cells)
