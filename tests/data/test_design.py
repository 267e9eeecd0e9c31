"""Design matrices and cross-products of one site, against what numpy makes of the same rows directly."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from consilience.data import design as module
from consilience.data.design import Coding, ModelSpec, build, column_names, compress, cross_products, n_columns
from consilience.data.schema import Schema
from consilience.data.table import Table

SCHEMA = Schema(
    {
        "A": "continuous",
        "B": "continuous",
        "C": "binary",
        "D": ("ordinal", [1, 2, 3, 4]),
        "E": ("multinomial", "pqrs"),
        "K": "continuous",
    }
)
CENTRED, PLAIN = Coding({}), Coding({}, {})


def make_table(n: int = 200, missing: float = 0.1, seed: int = 0, shift: float = 50.0) -> Table:
    """A site with every kind, missing values, a constant column K, and no row with D = 3 or E = s."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "A": shift + rng.normal(0.0, 3.0, n),
        "B": rng.normal(size=n),
        "C": rng.integers(0, 2, n),
        "D": rng.choice([1, 2, 4], n),
        "E": rng.choice(list("pqr"), n),
        "K": np.full(n, 0.1),
    }
    frame = pl.DataFrame(columns)
    lost = {name: pl.Series(rng.random(n) >= missing) for name in "ABCDE"}
    return Table(frame.with_columns(pl.when(keep).then(pl.col(name)).alias(name) for name, keep in lost.items()), SCHEMA, "muenster")


TABLE = make_table()


def direct(table: Table, sample: str, variables: str) -> np.ndarray[Any, Any]:
    """The columns of ``variables`` over the rows complete on ``sample``, uncentred, by the definition."""
    complete = np.ones(table.n_rows, dtype=bool)
    for name in sample:
        complete &= table.codes[name] >= 0 if name in table.codes else ~np.isnan(table.numbers[name])
    columns = []
    for name in variables:
        if name in table.codes:
            columns += [(table.codes[name] == level).astype(float) for level in range(1, len(SCHEMA[name].levels))]
        else:
            columns.append(table.numbers[name])
    return np.stack(columns, axis=1)[complete]


def test_columns_are_named_over_the_levels_of_the_study() -> None:
    """Not only over those a site has seen: no row here has the third level of D or the fourth of E."""
    names = [("A", 0), ("C", 1), ("D", 1), ("D", 2), ("D", 3), ("E", 1), ("E", 2), ("E", 3)]
    assert column_names(SCHEMA, ["A", "C", "D", "E"]) == names
    assert n_columns(SCHEMA, ["A", "C", "D", "E"]) == len(names)
    assert n_columns(SCHEMA, []) == 0


@pytest.mark.parametrize(("predictors", "sample"), [("AB", "ABC"), ("AE", "ABCE"), ("DE", "CDE"), ("ABDE", "ABCDE"), ("D", "BCD")])
@pytest.mark.parametrize("coding", [CENTRED, PLAIN], ids=["centred", "plain"])
def test_a_design_is_its_rows(predictors: str, sample: str, coding: Coding) -> None:
    """Repeating every row as often as its weight says gives the uncompressed design, in some order."""
    X = direct(TABLE, sample, predictors)
    y = direct(TABLE, sample, "C")[:, 0]
    if coding.centre_at_site:
        X = X - X.mean(axis=0)
    design = build(TABLE, ModelSpec("C", tuple(predictors), tuple(sample)), range(X.shape[1]), coding)
    repeats = np.ones(len(design.response), dtype=int) if design.weights is None else design.weights.astype(int)
    found = np.column_stack([design.response, design.columns]).repeat(repeats, axis=0)
    expected = np.column_stack([y, X])
    assert found.shape == expected.shape
    assert_allclose(found[np.lexsort(found.T.round(9))], expected[np.lexsort(expected.T.round(9))], atol=1e-9)


def test_only_discrete_models_are_compressed() -> None:
    discrete = build(TABLE, ModelSpec("C", ("D", "E"), ("C", "D", "E")), range(6), CENTRED)
    mixed = build(TABLE, ModelSpec("C", ("A", "D"), ("A", "C", "D")), range(4), CENTRED)
    assert discrete.weights is not None
    assert len(discrete.weights) <= 2 * 3 * 3
    assert discrete.weights.sum() == TABLE.complete("CDE").n
    assert mixed.weights is None
    assert len(mixed.columns) == TABLE.complete("ACD").n


@pytest.mark.parametrize("response", ["C", "D"])
def test_the_sums_of_a_compressed_design_are_those_of_its_rows(response: str) -> None:
    others = {"C": "DE", "D": "CE"}[response]
    X, n = direct(TABLE, "CDE", others), TABLE.complete("CDE").n
    design = build(TABLE, ModelSpec(response, tuple(others), ("C", "D", "E")), range(X.shape[1]), CENTRED)
    w = design.weights
    assert w is not None
    centred = X - X.mean(axis=0)
    assert_allclose(w @ design.columns, np.zeros(X.shape[1]), atol=1e-12 * n)
    assert_allclose((design.columns * w[:, None]).T @ design.columns, centred.T @ centred, atol=1e-10)
    counts = np.bincount(TABLE.codes[response][TABLE.complete("CDE").index])
    assert_array_equal(np.bincount(design.response, weights=w), counts)


def test_columns_may_be_chosen() -> None:
    model = ModelSpec("C", ("A", "D"), ("A", "C", "D"))
    everything, some = build(TABLE, model, range(4), CENTRED), build(TABLE, model, [0, 3], CENTRED)
    assert_array_equal(some.columns, everything.columns[:, [0, 3]])
    assert build(TABLE, model, [], CENTRED).columns.shape == (TABLE.complete("ACD").n, 0)


@pytest.mark.parametrize("shift", [0.0, 1e9, -12345.678])
@pytest.mark.parametrize("predictors", ["A", "AK", "ADE", "DE"])
def test_centred_columns_sum_to_zero(predictors: str, shift: float) -> None:
    p = n_columns(SCHEMA, predictors)
    design = build(make_table(shift=shift), ModelSpec("C", tuple(predictors), ("C", *predictors)), range(p), CENTRED)
    means = np.average(design.columns, axis=0, weights=design.weights)
    assert_allclose(means, np.zeros(p), atol=1e-15 * (1.0 + abs(shift)))


@pytest.mark.parametrize("n", [3, 7, 10, 1000])
@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e17, -2.7e-9])
def test_a_constant_column_is_exactly_zero(n: int, value: float) -> None:
    """Not the rounding of its mean, which would count as variation."""
    table = Table(pl.DataFrame({"K": [value] * n, "B": np.arange(n) * 0.1, "C": [0, 1, *[1] * (n - 2)]}), SCHEMA, "muenster")
    design = build(table, ModelSpec("C", ("B", "K"), ("B", "C", "K")), [0, 1], CENTRED)
    assert_array_equal(design.columns[:, 1], np.zeros(n))
    gram = cross_products(table, ["B", "C", "K"], CENTRED).gram
    assert_array_equal(gram[2], np.zeros(3))


@pytest.mark.parametrize("variables", ["D", "DE", "E"])
def test_levels_without_rows_and_levels_of_all_rows_are_exactly_zero(variables: str) -> None:
    """A level that no row has, or that every row has, is a constant column."""
    table = Table(pl.DataFrame({"C": [0, 1, 1] * 5, "D": [2] * 15, "E": list("pqr") * 5}), SCHEMA, "muenster")
    gram = cross_products(table, variables, CENTRED).gram
    constant = [i for i, (name, level) in enumerate(column_names(SCHEMA, variables)) if name == "D" or level == 3]
    assert_array_equal(gram[constant], np.zeros((len(constant), len(gram))))


@pytest.mark.parametrize("variables", ["A", "AB", "CDE", "D", "ACDE", "ABCDEK"])
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("coding", [CENTRED, PLAIN], ids=["centred", "plain"])
@pytest.mark.parametrize("chunk", [1 << 15, 7, 200], ids=lambda c: f"chunks of {c}")
def test_cross_products(variables: str, missing: float, coding: Coding, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts, sums and products equal those of the matrix as a whole, however many rows are coded at a time."""
    monkeypatch.setattr(module, "CHUNK", chunk)
    table = make_table(missing=missing, seed=1)
    X = direct(table, variables, variables)
    found = cross_products(table, tuple(variables), coding)
    kept = table.complete(variables).index if missing else slice(None)
    levels = [np.bincount(table.codes[v][kept], minlength=len(SCHEMA[v].levels)) for v in variables if v in table.codes]
    assert found.n == len(X)
    assert_array_equal(found.levels, np.concatenate([*levels, np.empty(0)]))
    if coding.centre_at_site:
        X = X - X.mean(axis=0)
    else:
        assert_allclose(found.sums, X.sum(axis=0), rtol=1e-12)
    assert_allclose(found.gram, X.T @ X, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("power", [10, 30, 51])
def test_centred_cross_products_survive_any_shift(power: int) -> None:
    """Whole numbers moved by a power of two are exact; the mean of the moved ones is not, and what it lacks is made up for."""
    values = np.random.default_rng(2).integers(-5, 6, (1001, 2)).astype(float)
    tables = [Table(pl.DataFrame(values + shift, schema=["A", "B"]), SCHEMA, "muenster") for shift in (0.0, 2.0**power)]
    here, there = (cross_products(table, "AB", CENTRED).gram for table in tables)
    assert_allclose(there, here, rtol=1e-10)


@pytest.mark.parametrize("variables", ["A", "AC"])
def test_exponents_and_locations(variables: str) -> None:
    """A column is (number - location) / 2^exponent, and the exponent changes nothing but the unit."""
    exponents, locations = {"A": 3}, {"A": 48.0}
    X = direct(TABLE, variables, variables)
    X[:, 0] = (X[:, 0] - 48.0) / 8.0
    found = cross_products(TABLE, variables, Coding(exponents, locations))
    assert_allclose(found.sums, X.sum(axis=0), rtol=1e-12)
    assert_allclose(found.gram, X.T @ X, rtol=1e-12)
    design = build(TABLE, ModelSpec("C", ("A",), ("A", "C")), [0], Coding(exponents, locations))
    assert_array_equal(design.columns[:, 0], (direct(TABLE, "AC", "A")[:, 0] - 48.0) / 8.0)
    centred = cross_products(TABLE, variables, Coding(exponents)).gram
    assert centred[0, 0] * 64.0 == cross_products(TABLE, variables, CENTRED).gram[0, 0]


def test_no_complete_row() -> None:
    table = Table(pl.DataFrame({"A": [1.0, None], "B": [None, 1.0], "C": [0, None], "D": [None, 1]}), SCHEMA, "muenster")
    for variables in ("AB", "CD", "ACD"):
        found = cross_products(table, variables, CENTRED)
        assert found.n == 0
        assert not found.gram.any()
        assert not found.levels.any()
    assert len(build(table, ModelSpec("C", ("A",), ("A", "B", "C")), [0], CENTRED).columns) == 0


@pytest.mark.parametrize("names", ["C", "CDE", "EDC"])
def test_compression_counts_every_distinct_row_once(names: str) -> None:
    rows = TABLE.complete(names)
    codes, weights = compress(TABLE, names, rows)
    raw = np.stack([TABLE.codes[name][rows.index] for name in names])
    distinct, counts = np.unique(raw, axis=1, return_counts=True)
    found = np.stack([codes[name] for name in names])
    order = np.lexsort(found[::-1])
    assert_array_equal(found[:, order], distinct)
    assert_array_equal(weights[order], counts)


@pytest.mark.parametrize(("n_variables", "n_levels"), [(8, 4), (8, 20), (40, 4)], ids=["counted", "sorted", "beyond 62 bits"])
def test_compression_of_many_levels(n_variables: int, n_levels: int) -> None:
    """The three ways to find distinct rows agree with numpy's."""
    rng = np.random.default_rng(3)
    names = [f"V{i}" for i in range(n_variables)]
    schema = Schema({name: ("multinomial", range(n_levels)) for name in names})
    values = rng.integers(0, n_levels, (30, n_variables)).repeat(2, axis=0)
    table = Table(pl.DataFrame(values, schema=names), schema, "muenster")
    codes, weights = compress(table, names, table.complete(names))
    distinct, counts = np.unique(values, axis=0, return_counts=True)
    found = np.stack([codes[name] for name in names], axis=1)
    order = np.lexsort(found.T[::-1])
    assert_array_equal(found[order], distinct)
    assert_array_equal(weights[order], counts)
