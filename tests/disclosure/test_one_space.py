"""Curves of one number that are asked for many times: whatever the requests, one space of functions, with no more of them than clumps."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from consilience.data.altered import altered_columns
from consilience.data.basis import Expansion
from consilience.data.clumps import clump_bounds
from consilience.data.coarsening import alterations
from consilience.data.responses import Coded, altered_features, response_columns
from consilience.data.schema import Schema
from consilience.data.spline import LADDER, NESTED, Knots, spline
from consilience.data.table import Table
from consilience.federation.site.own_tests import desk_for
from consilience.protocol.mean_products import MeanProducts, MeanSet
from tests.disclosure.scenes import MIN_CELL

KINDS = Schema(dict.fromkeys(("W", "X", "Y"), "continuous"))
GIVEN = (("X",), ("W", "X"))
SHORT = (-1, 0, 1, 3)
ZERO = dict.fromkeys(KINDS, 0.0)


def site(seed: int, n: int) -> tuple[Table, dict[str, Knots]]:
    """A table, and knots at quantiles of all sites together, as an honest server has them."""
    rng = np.random.default_rng(seed)
    table = Table(pl.DataFrame(rng.normal(size=(n, 3)), schema=["W", "X", "Y"]), KINDS, "muenster")
    everybody = rng.normal(size=(4000, 2))
    ladders = np.quantile(everybody, np.linspace(0.0, 1.0, LADDER + 1), axis=0).T
    return table, {name: Knots(tuple(ladder.tolist())) for name, ladder in zip("WX", ladders, strict=True)}


def requests() -> list[Expansion]:
    """All that a server may ask for of X alone, and of X beside W."""
    return [Expansion(given, pieces, short) for given in GIVEN for pieces in NESTED[1:] for short in SHORT]


def of_x(expansion: Expansion, knots: dict[str, Knots]) -> list[int]:
    """Which columns of an expansion are X's line and its curves."""
    numbers = len(expansion.given)
    before = numbers + (numbers == 2 and expansion.short >= 0)
    before += sum(spline(knots[name], expansion.pieces).n_curved for name in expansion.given[:-1])
    return [numbers - 1, *range(before, before + spline(knots["X"], expansion.pieces).n_curved)]


def told(table: Table, knots: dict[str, Knots]) -> np.ndarray:
    """A row for each of the site's, a column for each function of X that it tells of, in whatever request; the first is constant."""
    rows, columns = table.complete(["W", "X", "Y"]), [np.ones((table.n_rows, 1))]
    for expansion in requests():
        made = altered_columns(table, expansion, None, knots, {}, alterations(table, expansion, rows, knots, {}, MIN_CELL))
        columns.append(made[:, of_x(expansion, knots)])
    coded = Coded({}, knots)
    features = altered_features(table, "X", None, coded, ZERO, MIN_CELL)
    columns.append(response_columns(table, "X", None, coded, ZERO, features=True, altered=features)[:, 1:])
    return np.concatenate(columns, axis=1)


def directions(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal combinations of columns, and how the columns make them."""
    scale = np.maximum(np.abs(columns).max(axis=0), 1e-300)
    left, size, right = np.linalg.svd(columns / scale, full_matrices=False)
    kept = size > 1e-7 * size[0]
    return left[:, kept], (right[kept] / size[kept, None]).T / scale[:, None]


def effective(combinations: np.ndarray) -> np.ndarray:
    """How many rows each combination, a row, is about: besides the value of most of them, since a constant can be added."""
    about = np.abs(combinations - np.median(combinations, axis=1, keepdims=True))
    return about.sum(axis=1) ** 2 / (about**2).sum(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "seed"), [(n, seed) for n in (24, 60, 100, 150, 250, 400) for seed in range(2)] + [(250, 5)])
def test_all_requests_together_tell_no_more_functions_than_there_are_clumps(n: int, seed: int) -> None:
    """And the combination that is most about a row between the outermost is about ``min_cell`` rows or more.

    Of curves as asked for beside others that were altered there were up to 42 at 150 rows, which are 30 clumps, and in 21 of 72 tables of
    40 to 400 rows some combination of them was about fewer than five rows, down to 2.2.
    """
    table, knots = site(seed, n)
    found, _ = directions(told(table, knots))
    x = table.numbers["X"]
    assert found.shape[1] <= len(clump_bounds(x, MIN_CELL)) + 1 <= n // MIN_CELL
    inner = np.argsort(x)[MIN_CELL:-MIN_CELL]
    assert effective(found[inner] @ found.T).min() >= MIN_CELL


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_sums_of_many_requests_are_about_as_many_rows(seed: int) -> None:
    """A server that follows the protocol adds the products of Y with all curves of X that it was told, so that all rows but one cancel."""
    n = 150
    table, knots = site(seed, n)
    desk, coded, rows = desk_for(table, fewest=MIN_CELL), Coded({}, knots), table.complete(["W", "X", "Y"])
    columns, products = [np.ones((n, 1))], [np.zeros(1)]
    for expansion in requests():
        request = MeanProducts((MeanSet(("W", "X", "Y"), expansion, ("Y",)),), coded, slopes=False, features=False)
        (total,) = request.read(desk.answer(request), KINDS)
        wanted = of_x(expansion, knots)
        made = altered_columns(table, expansion, None, knots, {}, alterations(table, expansion, rows, knots, {}, MIN_CELL))
        columns.append(made[:, wanted])
        products.append(total.products["Y"][wanted, 0])
    found, how = directions(np.concatenate(columns, axis=1))
    x, y = table.numbers["X"], table.numbers["Y"]
    inner = np.argsort(x)[MIN_CELL:-MIN_CELL]
    patient = int(inner[(found[inner] ** 2).sum(axis=1).argmax()])
    combination = found @ found[patient]
    came_out = float(how @ found[patient] @ np.concatenate(products))
    assert came_out == pytest.approx(float(combination @ (y - y.mean())), abs=1e-6), "the sums that were told are of these columns"
    assert effective(combination[None])[0] >= MIN_CELL
