"""Columns with features over blocks of rows: those that all rows at once have, and the same word on which of them are about few rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from consilience.data import wide
from consilience.data.averages import Averages
from consilience.data.design import Coding, ModelSpec, build, centre, column_names
from consilience.data.features import feature_plan, widen
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.data.wide import Wide, find_features
from consilience.glm.crowd import Crowds

LEAST = 5
SCHEMA = Schema({"A": "continuous", "B": "continuous", "E": ("multinomial", "pqr"), "F": "binary", "H": "count", "Y": "continuous"})


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consilience.data.table.BLOCK_ROWS", 32)
    monkeypatch.setattr("consilience.data.table.PART_BLOCKS", 2)
    monkeypatch.setattr("consilience.data.quartiles.SAMPLE", 16)


def table_of(seed: int) -> Table:
    """Numbers that are nearly always one value, a constant, one far from zero, levels that few rows have, and gaps."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([40, 150, 400]))
    sparse = np.where(rng.random(n) < rng.choice([0.01, 0.05, 0.5]), rng.normal(size=n), 0.25)
    numbers = [sparse, np.full(n, 0.1), rng.normal(size=n) + 1e6, rng.choice([-1.0, 1.0], n)]
    frame = pl.DataFrame(
        {
            "A": numbers[int(rng.integers(4))],
            "B": numbers[int(rng.integers(4))],
            "E": np.array(list("pqr"))[np.minimum(rng.geometric(0.7, n) - 1, 2)],
            "F": (rng.random(n) < rng.choice([0.03, 0.4])).astype(int),
            "H": rng.poisson(rng.choice([0.05, 2.0]), n),
            "Y": rng.normal(size=n),
        }
    )
    gaps = rng.random(n) < 0.1
    return Table(frame.with_columns(pl.when(pl.Series(gaps)).then(None).otherwise(pl.col("A")).alias("A")), SCHEMA, "muenster")


def models(table: Table) -> list[tuple[ModelSpec, list[int]]]:
    """Of all predictors, of levels alone, and of counts whose rows are counted."""
    found = list[tuple[ModelSpec, list[int]]]()
    for response, predictors in (("Y", ("A", "B", "E")), ("F", ("A", "E", "H")), ("Y", ("E", "F")), ("H", ("E", "F")), ("H", ("B", "F"))):
        spec = ModelSpec(response, predictors, tuple(sorted((response, *predictors))))
        found.append((spec, list(range(len(column_names(table.schema, predictors))))))
    return found


@pytest.mark.parametrize("fewest", [1, LEAST])
def test_features_over_blocks_are_those_over_all_rows(fewest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, passes = Counter[bool](), Counter[str]()
    slowly = wide.lengthy
    monkeypatch.setattr(wide, "lengthy", lambda columns: passes.update(["median"]) or slowly(columns))
    for seed in range(60):
        table, crowds = table_of(seed), Crowds(table_of(seed), fewest)
        averages, coding = Averages(table), Coding({"B": 3})
        averages.find(spec.sample for spec, _ in models(table))
        made, expected = list[Wide](), []
        for spec, keep in models(table):
            names = column_names(table.schema, spec.predictors)
            plan = feature_plan(table.schema, names)
            scales = [None if table.schema[name].kind.is_discrete else -1 for name, _ in names]
            levels = crowds.levels(spec, names)
            design = build(table, spec, keep, coding)
            whole = centre(design.columns.copy(), design.weights)
            expected.append(
                (design, widen(whole, plan, scales, design.weights, float(fewest), None if design.weights is not None else levels))
            )
            means = averages.columns(spec.sample, names, coding)
            made.append(Wide(spec, keep, coding, means, plan, scales, 0.0, levels, float(fewest)))
        find_features(table, made)
        for (design, columns), each in zip(expected, made, strict=True):
            found = each.design(table)
            p = len(each.keep)
            if design.weights is None:
                np.testing.assert_allclose(found.columns, columns, rtol=0, atol=1e-9)
            else:  # counted: the same rows as often
                assert found.weights is not None
                for part in (found, design):
                    assert part.weights is not None
                together = [np.dot(w * c.T, c) for w, c in ((found.weights, found.columns), (design.weights, columns))]
                np.testing.assert_allclose(together[0], together[1], rtol=1e-9, atol=1e-9)
            silent = (columns[:, p:] == 0.0).all(axis=0)
            assert ((found.columns[:, p:] == 0.0).all(axis=0) == silent).all(), seed
            seen.update(silent.tolist())
    assert min(seen[True], seen[False]) > 50, "features of both kinds are among these"
    assert (passes["median"] > 10) is (fewest > 1), "and some whose median was looked for"


def test_a_table_that_has_only_distinct_rows_knows_its_levels() -> None:
    seen = set[bool]()
    for table, (spec, _) in ((made, model) for made in map(table_of, range(10)) for model in models(made)):
        names = column_names(table.schema, spec.predictors)
        whole = Crowds(table, LEAST).levels(spec, names)
        counted = Crowds(_Counted.of(table), LEAST).levels(spec, names)
        assert whole is not None
        assert counted is not None
        assert (counted.n, counted.rows, counted.rare) == (whole.n, whole.rows, whole.rare)
        seen |= {bool(few) for few in whole.rare.values()}
    assert seen == {True, False}


class _Counted(Table):
    """A table that says its distinct rows."""

    @classmethod
    def of(cls, table: Table) -> Table:
        made = object.__new__(cls)
        made.__dict__.update(table.__dict__)
        return made

    def distinct(self) -> tuple[Table, np.ndarray]:
        keys = np.column_stack(
            [*(self.codes[name] for name in sorted(self.codes)), *(np.isnan(self.numbers[n]) for n in sorted(self.numbers))]
        )
        rows, times = np.unique(keys, axis=0, return_counts=True)
        names, split = sorted(self.codes), len(self.codes)
        codes = {name: rows[:, j].astype(np.int32) for j, name in enumerate(names)}
        numbers = {name: np.where(rows[:, split + j] > 0, np.nan, 0.0) for j, name in enumerate(sorted(self.numbers))}
        return Table.of_arrays(self.schema, numbers, codes), times
