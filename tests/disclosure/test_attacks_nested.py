"""A passive server subtracts sums over nested variable sets.

Each attack stands twice. With the rules off (``min_cell=1``, as the package was before it had any) it recovers its number, to the digits
that the assertion says: so it is known to work. Over the defaults of a network it finds what the consent announces, and under ``strict``
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

from consilience.protocol.locate import Locate
from consilience.protocol.products import Products
from tests.disclosure.derivation import (
    Knowledge,
    Part,
    Record,
    alone,
    assert_same,
    between,
    deviation,
    fewest,
    knowledge_of,
    own,
    parts_of_sites,
    too_small,
    units,
)
from tests.disclosure.scenes import AGGREGATE, KINDS, MIN_CELL, MIN_ROWS, OFF, STRICT, serve, studied, table

both = pytest.mark.parametrize("rules", [AGGREGATE, STRICT], ids=["aggregate", "strict"])


def whole(frames: Mapping[str, pl.DataFrame]) -> dict[str, Knowledge]:
    """What is known of sites that have left incomplete rows out."""
    return {site: Knowledge(frozenset(frame.columns)) for site, frame in frames.items()}


def small_parts(record: Record, known: Mapping[str, Knowledge]) -> list[tuple[str, Part]]:
    return [(site, part) for site, part in parts_of_sites(record.sums(), known) if too_small(part, MIN_ROWS, MIN_CELL)]


def small_differences(record: Record) -> list[Part]:
    """Differences of sums over nested sets that break the rules, whoever's rows they are: no knowledge of the sites is needed."""
    sums = record.sums()
    pairs = [(less, more) for less in sums for more in sums if set(less.variables) < set(more.variables) and less.sites == more.sites]
    found = [less.part.minus(more.part.over(less.variables)) for less, more in pairs]
    return [part for part in (*found, *(r.part for r in sums)) if too_small(part, MIN_ROWS, MIN_CELL)]


# a site that lacks a variable

THIRD_LACKS_Z = {"a": table(1), "b": table(2), "c": table(3, {"p": 35, "q": 23, "r": 2}, "CX")}
"""The core use case: {C, X} has three contributors and {C, X, Z} two. At c two patients have level r."""


def test_without_rules_nested_sets_give_the_third_site() -> None:
    record = studied(THIRD_LACKS_Z, OFF)
    found = alone(record.sums(), knowledge_of(THIRD_LACKS_Z), "c", ("C", "X"))
    assert found is not None
    assert (found.rows, found.cells) == (60, [35, 23, 2])
    assert_same(found, own(THIRD_LACKS_Z["c"], record.schema, ("C", "X")))


def test_in_aggregate_they_give_its_sums_without_rare_levels_as_announced() -> None:
    record = studied(THIRD_LACKS_Z, AGGREGATE)
    found = alone(record.sums(), knowledge_of(THIRD_LACKS_Z), "c", ("C", "X"))
    assert found is not None, "the consent announces that c's sums can be worked out"
    assert_same(found, own(THIRD_LACKS_Z["c"].filter(pl.col("C") != "r"), record.schema, ("C", "X")))
    assert not small_parts(record, knowledge_of(THIRD_LACKS_Z))
    assert not small_differences(record)


def test_in_strict_they_give_no_site() -> None:
    server, record = serve(THIRD_LACKS_Z, STRICT)
    results = server.test_all(max_given=2)
    known = knowledge_of(THIRD_LACKS_Z)
    assert parts_of_sites(record.sums(), known) == []
    assert fewest(record.sums(), known, most=1) == 2
    assert 0 < results["informative"].sum() < len(results), "some tests are refused for it, and some are not"
    assert all(len(reason) > 20 for reason in results.filter(~pl.col("informative"))["reason"])


def test_a_site_with_too_few_rows_sits_out() -> None:
    """Its sums would come out, and are over fewer rows than any sum may be."""
    frames = {**THIRD_LACKS_Z, "c": table(3, {"p": 5, "q": 2}, "CX")}
    without = alone(studied(frames, OFF).sums(), knowledge_of(frames), "c", ("C", "X"))
    assert without is not None
    assert without.rows == 7
    record = studied(frames, AGGREGATE)
    found = alone(record.sums(), knowledge_of(frames), "c", ("C", "X"))
    assert found is None or found.rows == 0


FOUR_SUMS = {
    **{f"a{i}": table(i, columns="CXZW") for i in (1, 2)},
    **{f"b{i}": table(10 + i, columns="CXZ") for i in (1, 2)},
    **{f"c{i}": table(20 + i, columns="CXW") for i in (1, 2)},
    "d": table(30, {"p": 30, "q": 26, "r": 3}, "CX"),
}
"""Contributors of nested sets differ by two sites or more. Four sums together are about d alone."""


def test_without_rules_longer_combinations_single_a_site_out() -> None:
    """{C,X} - {C,X,Z} - {C,X,W} + {C,X,Z,W}: a rule on pairs of sets does not see it."""
    record, known = studied(FOUR_SUMS, OFF), knowledge_of(FOUR_SUMS)
    for less in record.sums():
        for more in record.sums():
            if set(less.variables) < set(more.variables):
                assert len(units(less, known)) - len(units(more, known)) != 1
    assert_same(_found(alone(record.sums(), known, "d", ("C", "X"))), own(FOUR_SUMS["d"], record.schema, ("C", "X")))


def test_with_rules_longer_combinations_find_no_more() -> None:
    known = knowledge_of(FOUR_SUMS)
    record = studied(FOUR_SUMS, AGGREGATE)
    found = _found(alone(record.sums(), known, "d", ("C", "X")))
    assert_same(found, own(FOUR_SUMS["d"].filter(pl.col("C") != "r"), record.schema, ("C", "X")))
    strict = studied(FOUR_SUMS, STRICT)
    assert parts_of_sites(strict.sums(), known) == []
    assert fewest(strict.sums(), known, most=1) == 2


@pytest.mark.parametrize("least", [2, 3])
def test_in_strict_no_combination_is_about_fewer_sites_than_agreed(least: int) -> None:
    """Six sites that lack one variable or another, three by three: the rank argument, over everything that was released."""
    lacking = ("CXZW", "CXZ", "CXW", "CX", "XZW", "CXZ")
    frames = {f"s{i}": table(i, columns=columns) for i, columns in enumerate(lacking)}
    record = studied(frames, {**STRICT, "min_contributors": least})
    assert record.sums()
    assert fewest(record.sums(), knowledge_of(frames), most=least - 1) == least


@pytest.mark.parametrize("method", ["fedci", "fisher", "residual", "auto"])
@pytest.mark.parametrize("least", [2, 3])
def test_in_strict_that_holds_for_sums_of_every_kind(method: str, least: int) -> None:
    """Counts, scores, products of residuals, p-values: the sets of contributors of all requests span no vector about few sites."""
    frames = {f"s{i}": table(i, columns=columns) for i, columns in enumerate(("CXZW", "CXZ", "CXW", "CX", "XZW", "CXZ"))}
    record, known = studied(frames, {**STRICT, "min_contributors": least}, method=method), knowledge_of(frames)
    held = {variables: [site for site in frames if set(variables) <= known[site].variables] for _, variables in record.asked()}
    matrix = np.array([[float(site in sites) for site in frames] for sites in held.values() if sites])
    assert len(matrix)
    rank = np.linalg.matrix_rank(matrix)
    for size in range(1, least):
        for few in combinations(range(len(frames)), size):
            others = [i for i in range(len(frames)) if i not in few]
            assert np.linalg.matrix_rank(matrix[:, others]) == rank, f"a combination is about {few} alone"


# rows by which a site's complete cases differ

ONE_ROW_LACKS_Z = {"a": table(1), "b": table(2), "c": table(3, lacking={"Z": {"q": 1}})}


def test_without_rules_two_sets_that_differ_by_one_row_give_that_patient() -> None:
    record = studied(ONE_ROW_LACKS_Z, OFF)
    found = _found(between(record.sums(), knowledge_of(ONE_ROW_LACKS_Z), "c", "Z", ("C", "X")))
    assert (found.rows, found.cells) == (1, [0, 1, 0]), "the patient's level of C"
    patient, others = _split(ONE_ROW_LACKS_Z["c"], "Z")
    n = others.height
    apart = [(patient["C"][0] == level) - (others["C"] == level).mean() for level in "qr"] + [patient["X"][0] - others["X"].mean()]
    row = deviation(found)
    np.testing.assert_allclose(row * np.sign(row[0]), np.array(apart) * np.sqrt(n / (n + 1)), rtol=1e-7)


@both
def test_with_rules_no_row_comes_out(rules: dict[str, Any]) -> None:
    record = studied(ONE_ROW_LACKS_Z, rules)
    assert record.sums()
    assert small_differences(record) == []
    assert small_parts(record, knowledge_of(ONE_ROW_LACKS_Z)) == []
    if rules is STRICT:
        assert parts_of_sites(record.sums(), whole(ONE_ROW_LACKS_Z)) == []


SOME_ROWS_LACK_Z = {"a": table(1), "b": table(2), "c": table(3, {"p": 40, "q": 30, "r": 8}, lacking={"Z": {"p": 9, "q": 7, "r": 1}})}
"""At c 17 rows have no Z, and one of them has level r: enough rows, and a cell of one patient."""


def test_without_rules_the_rows_without_a_value_come_out_as_a_group() -> None:
    record = studied(SOME_ROWS_LACK_Z, OFF)
    found = _found(between(record.sums(), knowledge_of(SOME_ROWS_LACK_Z), "c", "Z", ("C", "X")))
    assert (found.rows, found.cells) == (17, [9, 7, 1])
    some, others = _split(SOME_ROWS_LACK_Z["c"], "Z")
    apart = np.array([some["X"].mean() - others["X"].mean()]) ** 2 * some.height * others.height / (some.height + others.height)
    wanted = own(some, record.schema, ("X",)).gram[0, 0] + apart
    np.testing.assert_allclose(found.over(("X",)).gram[0, 0], wanted, rtol=1e-8)


@both
def test_with_rules_a_group_of_rows_has_many_rows_and_no_small_cell(rules: dict[str, Any]) -> None:
    record = studied(SOME_ROWS_LACK_Z, rules)
    assert record.sums()
    assert small_differences(record) == []
    assert small_parts(record, knowledge_of(SOME_ROWS_LACK_Z)) == []
    if rules is STRICT:
        assert parts_of_sites(record.sums(), whole(SOME_ROWS_LACK_Z)) == []


HIDDEN = {
    "a": table(1, columns="CXZW"),
    "b": table(2, columns="CXZW"),
    "c": table(3, columns="CXZ", lacking={"Z": {"p": 2}}),
    "d": table(4, columns="CXZW", lacking={"Z": {"p": 6, "q": 6}}),
}
"""In the difference of two sums c's two rows are among twelve of d. W, which c does not measure, takes d away."""


def test_without_rules_rows_hidden_among_another_sites_rows_come_out() -> None:
    """({C,X} - {C,X,Z}) - ({C,X,W} - {C,X,Z,W}): a rule on differences of two sets sees 14 rows, and then 12."""
    record = studied(HIDDEN, OFF)
    found = _found(between(record.sums(), knowledge_of(HIDDEN), "c", "Z", ("C", "X")))
    assert (found.rows, found.cells) == (2, [2, 0, 0])
    some, others = _split(HIDDEN["c"], "Z")
    apart = (some["X"].mean() - others["X"].mean()) ** 2 * 2 * others.height / (2 + others.height)
    np.testing.assert_allclose(found.over(("X",)).gram[0, 0], own(some, record.schema, ("X",)).gram[0, 0] + apart, rtol=1e-7)


@both
def test_with_rules_nothing_is_hidden_that_could_come_out(rules: dict[str, Any]) -> None:
    """Each site sees to its own rows, so it does not matter whose they are among."""
    record = studied(HIDDEN, rules)
    assert record.sums()
    known = whole(HIDDEN) if rules is STRICT else {**whole(HIDDEN), "d": knowledge_of(HIDDEN)["d"]}
    for what in (known, knowledge_of(HIDDEN)):
        assert small_parts(record, what) == []
    if rules is STRICT:
        assert parts_of_sites(record.sums(), known) == []
        assert fewest(record.sums(), known, most=1) == 2


# levels that few patients have

RARE = {"a": table(1, {"p": 90, "q": 60}), "b": table(2, {"p": 80, "q": 70}), "c": table(3, {"p": 89, "q": 60, "r": 1})}
"""One patient of 450 has level r."""


def test_without_rules_a_level_of_one_patient_gives_that_patient() -> None:
    """No subtraction is needed: the cross-product of the level's column with X *is* the patient's deviation from the site's mean."""
    (first, *_) = [r.part for r in studied(RARE, OFF).sums() if set(r.variables) >= {"C", "X"}]
    found = first.over(("C", "X"))
    assert found.cells[2] == 1
    patient = RARE["c"].filter(pl.col("C") == "r")["X"][0]
    np.testing.assert_allclose(found.gram[1, 2], patient - RARE["c"]["X"].mean(), rtol=1e-8)


@both
def test_with_rules_a_level_has_many_rows_or_none(rules: dict[str, Any]) -> None:
    record = studied(RARE, rules)
    assert record.sums()
    assert small_differences(record) == []
    assert {r.part.levels["C"][2] for r in record.sums() if "C" in r.variables} == {0.0}
    assert {round(r.part.n) for r in record.sums()} == {449}


def _found(part: Part | None) -> Part:
    assert part is not None, "the attack does not work, so that its refusal would show nothing"
    return part


def _split(frame: pl.DataFrame, lacking: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows without a value, and the others."""
    return frame.filter(pl.col(lacking).is_null()), frame.filter(pl.col(lacking).is_not_null())


def test_the_scenes_are_those_of_a_network() -> None:
    assert (MIN_ROWS, MIN_CELL, AGGREGATE["on_dropout"], KINDS["C"][0]) == (10, 5, "stop", "multinomial")


# where numbers lie: a sum without the values far outside, beside one with them

FAR_OUT = 98765.432
ONE_FAR_OUT = {"a": table(1), "b": table(2), "c": table(3)}
ONE_FAR_OUT["b"] = ONE_FAR_OUT["b"].with_columns(X=pl.when(pl.int_range(pl.len()) == 17).then(FAR_OUT).otherwise(pl.col("X")))


@pytest.mark.parametrize("effects", ["none", "random"])
@both
def test_a_value_far_outside_is_not_the_difference_of_two_sums(rules: dict[str, Any], effects: str) -> None:
    """Before: locations were of 245 rows, cross-products of 246, and one sum less the other was that patient's value, to every digit."""
    server, record = serve(ONE_FAR_OUT, rules, site_effects=effects)
    server.test("X", "Z")
    located = next(one for one in record.seen if isinstance(one.request, Locate))
    summed = next(one for one in record.seen if isinstance(one.request, Products) and one.request.sets == (("X", "Z"),))
    at, unit = located.request.variables.index("X"), 2.0 ** located.request.exponents["X"]
    rows, total = located.total[2 * at], located.total[2 * at + 1] * unit
    n, sums = summed.total[0], summed.total[1] * unit
    assert n == rows  # before: one more
    whole = sums + n * summed.request.locations["X"]
    assert whole == pytest.approx(pl.concat(ONE_FAR_OUT.values())["X"].sum(), rel=1e-9)
    assert abs(whole - total - FAR_OUT) > 1.0  # before: 0
