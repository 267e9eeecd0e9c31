"""The shield: groups of enough rows without rare levels, nothing invented, the same whatever the order of rows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.disclosure.fold import MOST_GROUPS, narrow
from consilience.disclosure.patterns import patterns_of
from consilience.disclosure.shield import LeftOut, shield
from consilience.disclosure.statement import Statement
from consilience.settings.choices import Cells, Isolation
from consilience.settings.terms import Terms
from tests.disclosure.sites import SCHEMA, random_site, table, values

AGGREGATE = Terms(min_cell=5)
STRICT = Terms(min_cell=5, isolation=Isolation.STRICT)


def groups(of: Table) -> list[tuple[tuple[str, ...], np.ndarray[Any, Any]]]:
    """Variables and rows of every pattern, found row by row."""
    found = dict[tuple[str, ...], list[int]]()
    columns = values(of)
    for row in range(of.n_rows):
        found.setdefault(tuple(name for name in columns if not np.isnan(columns[name][row])), []).append(row)
    return [(names, np.array(rows)) for names, rows in found.items() if names]


def check(of: Table, min_rows: int, min_cell: int) -> None:
    for names, rows in groups(of):
        assert len(rows) >= min_rows
        for name in names:
            if name in of.codes:
                counts = np.bincount(of.codes[name][rows])
                assert all(count == 0 or count >= min_cell for count in counts)


seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@given(seeds, st.sampled_from([2, 5]), st.sampled_from([1, 4, 10]), st.sampled_from(Isolation))
def test_groups_are_large_and_levels_are_not_rare(rng: np.random.Generator, min_cell: int, min_rows: int, isolation: Isolation) -> None:
    terms = Terms(min_cell=min_cell, min_rows=min_rows, isolation=isolation)
    found = shield(random_site(rng, 120), terms, min_cell)
    check(found.table, min_rows, min_cell)
    assert found.statement.variables == tuple(name for name in SCHEMA if name in found.table.names)
    assert found.statement.rows in {0, min_rows}
    assert found.statement.whole == (len(groups(found.table)) <= 1)
    assert found.statement.whole or isolation is Isolation.AGGREGATE


@given(seeds, st.sampled_from([AGGREGATE, STRICT]))
def test_a_shielded_table_is_shielded(rng: np.random.Generator, terms: Terms) -> None:
    once = shield(random_site(rng, 120), terms, 5)
    twice = shield(once.table, terms, 5)
    assert twice.table is once.table
    assert twice.statement == once.statement
    assert (twice.rows_left_out, twice.values_left_out, twice.left_out) == (0, 0, LeftOut())


@given(seeds, st.sampled_from([AGGREGATE, STRICT]))
def test_the_order_of_rows_changes_nothing(rng: np.random.Generator, terms: Terms) -> None:
    site = random_site(rng, 120)
    order = rng.permutation(site.n_rows)
    found, moved = shield(site, terms, 5), shield(site.subset(order), terms, 5)
    assert found[1:] == moved[1:]
    assert found.digest() == moved.digest()
    rows = sorted(str(row) for row in zip(*values(found.table).values(), strict=True))
    assert rows == sorted(str(row) for row in zip(*values(moved.table).values(), strict=True))


@given(seeds, st.sampled_from([AGGREGATE, STRICT]))
def test_nothing_is_invented_and_all_that_is_lost_is_counted(rng: np.random.Generator, terms: Terms) -> None:
    site = random_site(rng, 120)
    found = shield(site, terms, 5)
    before, after = values(site), values(found.table)
    rows = [tuple(before[name][i] for name in before) for i in range(site.n_rows)]
    left = list(rows)
    for i in range(found.table.n_rows):
        row = {name: after[name][i] for name in after if not np.isnan(after[name][i])}
        match = next(j for j, one in enumerate(left) if all(one[list(before).index(name)] == value for name, value in row.items()))
        del left[match]
    held = sum(not np.isnan(value) for row in rows for value in row)
    kept = sum(not np.isnan(value) for column in after.values() for value in column)
    assert found.values_left_out == held - kept
    assert found.rows_before == sum(not all(np.isnan(value) for value in row) for row in rows)
    if found.values_left_out:
        assert found.rows_left_out == found.rows_before - found.table.n_rows
        assert found.rows_left_out == found.left_out.others + sum(level.rows for level in found.left_out.levels)


def test_without_rules_nothing_changes() -> None:
    site = table({"A": [1.0, None], "B": [0, 1]})
    found = shield(site, Terms(), 1)
    assert found.table is site
    assert found[1:] == (Statement(("A", "B"), False, 2), 0, 0, 2, LeftOut(), Cells.TOLD)


def test_a_site_without_gaps_and_rare_levels_is_as_it_was() -> None:
    site = table({"A": [1.0, 2.0] * 10, "B": [0, 1] * 10})
    for terms in (AGGREGATE, STRICT):
        assert shield(site, terms, 5).table is site


def test_a_difference_of_few_rows_is_a_small_count() -> None:
    site = table({"A": [1.0, 2.0] * 10, "C": [None] * 3 + [1.0] * 17})
    assert shield(site, Terms(min_cell=5, min_rows=1), 5).rows_left_out == 3
    assert shield(site, Terms(min_cell=2, min_rows=1), 2).table is site


def test_rows_with_a_rare_level_go_and_what_they_make_rare_goes_too() -> None:
    """Two rows with D = r go; with one of them one of five E = 4, so that its other four are too few."""
    levels = {"D": ["p"] * 19 + ["q"] * 19 + ["r"] * 2, "E": ["1"] * 18 + ["2"] * 17 + ["4"] * 5}
    found = shield(table({"A": [0.5] * 40, **levels}), AGGREGATE, 5)
    assert [(level.variable, level.code, level.rows) for level in found.left_out.levels] == [("D", 2, 2), ("E", 3, 3)]
    assert found.table.n_rows == 35
    check(found.table, 10, 5)


def test_a_site_may_ask_for_more_than_the_study() -> None:
    site = table({"B": [0] * 30 + [1] * 8, "A": [0.5] * 38})
    assert shield(site, AGGREGATE, 5).table is site
    assert shield(site, AGGREGATE, 9).table.n_rows == 30


def test_a_variable_goes_where_its_rare_level_would_take_the_site_with_it() -> None:
    found = shield(table({"A": [0.5] * 12, "B": [0] * 9 + [1] * 3, "C": [1.0] * 12}), AGGREGATE, 5)
    assert found.statement == Statement(("A", "C"), True, 10)
    assert found.left_out.variables == ("B",)
    assert (found.rows_left_out, found.values_left_out, found.left_out.hidden) == (0, 12, 12)


def test_few_rows_join_others_that_have_less() -> None:
    """Four rows without A lose C, too, since twenty others have B alone."""
    columns = {"A": [1.0] * 30 + [None] * 24, "B": [0, 1] * 27, "C": [1.0] * 34 + [None] * 20}
    found = shield(table(columns), AGGREGATE, 5)
    assert {names: len(rows) for names, rows in groups(found.table)} == {("A", "B", "C"): 30, ("B",): 24}
    assert (found.rows_left_out, found.left_out) == (0, LeftOut(hidden=4))


def test_a_level_is_left_out_in_all_groups_or_in_none() -> None:
    columns = {"A": [1.0] * 400 + [None] * 403, "D": ["p", "q"] * 200 + ["p", "q"] * 200 + ["r"] * 3, "C": [0.5] * 803}
    columns["D"][0] = "r"
    found = shield(table(columns), AGGREGATE, 5)
    assert [(level.variable, level.code, level.rows) for level in found.left_out.levels] == [("D", 2, 4)]


def test_a_digest_tells_whether_a_value_has_changed() -> None:
    tables = (
        {"A": [1.0, None], "B": [0, 1]},
        {"A": [1.0, None], "B": [0, None]},
        {"A": [None, 1.0], "B": [0, 1]},
        {"A": [1.0, None]},
        {"A": []},
    )
    assert len({shield(table(columns), Terms(), 1).digest() for columns in tables}) == len(tables)


def test_too_few_rows_are_none() -> None:
    for terms in (AGGREGATE, STRICT):
        found = shield(table({"A": [1.0] * 9, "B": [0] * 9}), terms, 5)
        assert (found.table.n_rows, found.statement, found.rows_left_out) == (0, Statement((), True, 0), 9)


def test_strict_keeps_what_is_worth_most() -> None:
    """A variable that most rows lack goes; a few rows that lack another go."""
    columns = {"A": [1.0, 2.0] * 50, "B": [0, 1] * 50, "C": [1.0] * 20 + [None] * 80, "D": [None] * 5 + ["p"] * 80 + ["q"] * 15}
    found = shield(table(columns), STRICT, 5)
    assert found.statement == Statement(("A", "B", "D"), True, 10)
    assert found.table.n_rows == 95


def test_with_strict_what_does_not_vary_is_not_contributed() -> None:
    """Centred it is zero, and a sum over two sites would be the other's. Here D does not vary any more when its rare level is gone."""
    columns = {"A": [1.0, 2.0] * 20, "B": [1] * 40, "C": [0.5] * 40, "D": ["p"] * 38 + ["q"] * 2, "E": ["1", "2"] * 20}
    found = shield(table(columns), STRICT, 5)
    assert found.statement == Statement(("A", "E"), True, 10)
    assert found.left_out.variables == ("B", "C", "D")
    assert shield(table(columns), AGGREGATE, 5).statement.variables == ("A", "B", "C", "D", "E")
    assert shield(table({"B": [1] * 40}), STRICT, 5).table.n_rows == 0


def test_rows_without_any_value_are_not_counted() -> None:
    site = table({"A": [1.0] * 12 + [None] * 3, "B": [1] * 12 + [None] * 3})
    found = shield(site, AGGREGATE, 5)
    assert found.table is site
    assert (found.rows_before, found.statement) == (12, Statement(("A", "B"), True, 10))


def test_narrowing_finds_the_best_set_of_three() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        has, rows = rng.random((6, 3)) < 0.7, rng.integers(0, 30, 6)
        scores = [
            (int(rows[has[:, list(kept)].all(axis=1)].sum()) * len(kept) * (len(kept) - 1) // 2, kept)
            for size in (2, 3)
            for kept in itertools.combinations(range(3), size)
        ]
        sets = narrow(has, rows)
        if sets and max(scores)[0] > 0:
            got = np.flatnonzero(sets[0])
            assert int(rows[has[:, got].all(axis=1)].sum()) * len(got) * (len(got) - 1) // 2 >= 0.8 * max(scores)[0]


@pytest.mark.parametrize("isolation", Isolation)
def test_thousands_of_patterns_are_folded_in_bounded_time(isolation: Isolation) -> None:
    rng = np.random.default_rng(3)
    names = [f"x{i:02}" for i in range(16)]
    numbers = rng.normal(size=(16, 5000))
    numbers[rng.random(numbers.shape) < 0.3] = np.nan
    site = Table(pl.DataFrame(dict(zip(names, numbers, strict=True))), Schema(dict.fromkeys(names, "continuous")), "muenster")
    assert len(patterns_of(site).has) > 4 * MOST_GROUPS
    found = shield(site, Terms(min_cell=5, isolation=isolation), 5)
    assert found.values_left_out < 16 * 5000
    assert min(patterns_of(found.table).rows) >= 10


def test_patterns_of_many_columns() -> None:
    names = [f"x{i:02}" for i in range(70)]
    numbers = np.zeros((70, 141))
    for i in range(70):
        numbers[i, 2 * i : 2 * i + 2] = np.nan
    site = Table(pl.DataFrame(dict(zip(names, numbers, strict=True))), Schema(dict.fromkeys(names, "continuous")), "muenster")
    found = patterns_of(site)
    assert len(found.has) == 71
    assert sorted(found.rows) == [1] + [2] * 70
    assert all((~found.has[found.of_row[row]]).sum() == 1 for row in range(140))
