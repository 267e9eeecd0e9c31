"""What sums over many copies of few rows tell, and that the rules on draws take it away.

An attacker who has all sums of a site (a server with the help of all others) sees, of a level in each copy, how many rows it has, the sum
of a number over them and the sum of its squares: cross-products with the level's indicator. Each attack is shown to work where rows are
drawn without rules, and finds nothing where a study has them.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.disclosure.fold import Limits
from consilience.disclosure.resampling import LEAST, Draws
from tests.disclosure.lattice import reduced

SCHEMA = Schema({"A": "continuous", "E": ("multinomial", "pq")})
LIMITS = Limits(10, 5)
COPIES = 100
KNOWN = 2.0**20
"""Numbers are whole multiples of 2⁻²⁰ here, so that sums are exact, as they are in the ring."""


def table_of(rare: int, common: int = 200) -> Table:
    values = np.round(np.random.default_rng(4).normal(50.0, 9.0, size=rare + common) * KNOWN) / KNOWN
    return Table(pl.DataFrame({"A": values, "E": ["p"] * rare + ["q"] * common}), SCHEMA, "muenster")


def sums_of(table: Table, draws: Draws, copies: int) -> np.ndarray:
    """Of the rare level in each copy: rows, sum, sum of squares."""
    found = []
    for k in range(1, copies + 1):
        copy = table.repeated(draws.times(k))
        values = copy.numbers["A"][copy.codes["E"] == 0]
        found.append((len(values), values.sum(), (values * values).sum()))
    return np.array(found)


def single_rows(sums: np.ndarray) -> set[float]:
    """Rows by which two copies differ: the square of the difference of sums is the difference of the sums of squares."""
    found = set()
    for one, other in combinations(sums, 2):
        rows, total, squares = one - other
        if abs(rows) == 1.0 and abs(rows * total * total - squares) < 1e-6:
            found.add(float(rows * total))
    return found


def test_copies_that_differ_by_a_row_tell_it_and_rare_levels_are_not_drawn() -> None:
    table = table_of(6)
    values = set(table.numbers["A"][:6].tolist())
    told = single_rows(sums_of(table, Draws(table, b"s"), COPIES))
    assert told
    assert all(min(abs(row - value) for value in values) < 1e-6 for row in told)
    ruled = sums_of(table, Draws(table, b"s", LIMITS), COPIES)
    assert single_rows(ruled) == set()
    assert (ruled == ruled[0]).all()


def test_of_levels_that_are_drawn_no_two_copies_differ_by_few_rows() -> None:
    """By far: with the least that is drawn, the nearest two of as many copies as there are differ in ten rows and more."""
    table = table_of(LEAST)
    draws = Draws(table, b"s", LIMITS)
    weights = [np.ones(LEAST, dtype=np.intp), *(draws.times(k)[:LEAST] for k in range(1, COPIES + 1))]
    different = [np.count_nonzero(a != b) for a, b in combinations({w.tobytes(): w for w in weights}.values(), 2)]
    assert min(different) >= 10
    assert single_rows(sums_of(table, draws, COPIES)) == set()


def test_no_copy_has_few_rows_of_a_level() -> None:
    table = table_of(6)
    plain = [int(count) for count in sums_of(table, Draws(table, b"s"), COPIES)[:, 0]]
    assert any(0 < count < LIMITS.cell for count in plain)
    for rare in (6, LEAST):
        counts = sums_of(table_of(rare), Draws(table_of(rare), b"s", LIMITS), COPIES)[:, 0]
        assert counts.min() >= LIMITS.cell


def relations(vectors: np.ndarray) -> list[list[int]]:
    """Small whole numbers with which rows of a matrix of whole numbers add up to nothing."""
    m, d = vectors.shape
    large = 1 << 80
    basis = [[int(i == j) for j in range(m)] + [large * int(vectors[i, c]) for c in range(d)] for i in range(m)]
    return [row[:m] for row in reduced(basis) if not any(row[m:])]


@pytest.mark.slow
def test_more_copies_than_rows_tell_every_row() -> None:
    """The hidden subset sum: neither rows nor weights are known, and both are found (P. Nguyen and J. Stern 1999).

    Relations between the sums of the copies, as short as they can be, hold between the weights of every row. What is orthogonal to all of
    them is the lattice of the weights, and these are its shortest vectors without a negative number. With them, rows are a solution of
    linear equations.
    """
    table = table_of(3)
    draws, copies = Draws(table, b"s"), 9
    weights = np.array([draws.times(k)[:3] for k in range(1, copies + 1)])
    assert np.linalg.matrix_rank(weights) == 3
    sums = np.rint(sums_of(table, draws, copies)[:, 1] * KNOWN).astype(np.int64)  # of a number alone
    short = sorted(relations(sums[:, None]), key=lambda u: sum(a * a for a in u))[: copies - 3]
    assert not (np.array(short) @ weights).any()
    found = np.array(relations(np.array(short).T)).T  # what is orthogonal to the relations: copies × 3
    combined = [found @ np.array(c) for c in product(range(-3, 4), repeat=3)]
    guessed = np.empty((copies, 0))
    for vector in sorted((v for v in combined if (v >= 0).all() and v.any()), key=lambda v: (v * v).sum()):
        if np.linalg.matrix_rank(np.column_stack([guessed, vector])) > guessed.shape[1]:
            guessed = np.column_stack([guessed, vector])
    rows = np.linalg.lstsq(guessed, sums / KNOWN, rcond=None)[0]
    assert sorted(rows) == pytest.approx(sorted(table.numbers["A"][:3]), abs=1e-6)


def test_there_are_never_more_different_copies_than_half_the_rows() -> None:
    """So that the weights of different copies, with those of the rows themselves, satisfy no relation that sums could show."""
    for rare in (LEAST, 47, 90):
        table = table_of(rare)
        draws = Draws(table, b"s", LIMITS)
        weights = np.unique([draws.times(k)[:rare] for k in range(1, 2 * COPIES)], axis=0)
        assert len(weights) == rare // 2
        assert np.linalg.matrix_rank(np.vstack([weights, np.ones(rare)])) == len(weights) + 1
