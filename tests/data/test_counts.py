"""Counts: what may be one, where it is said, and what a model without predictors makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import consilience as cs
from consilience.data.counts import MOST_COUNT, count_sums, saturated
from consilience.data.design import Coding, ModelSpec, build
from consilience.data.errors import InfiniteValueError, KindConflictError, KindError
from consilience.data.infer import declare
from consilience.data.kinds import Kind, Variable
from consilience.data.profile.profiling import profile_column
from consilience.data.schema import Schema, unite
from consilience.data.table import Table
from consilience.settings.studyfile import parse_study


def declared(values: list[Any], **options: Any) -> Any:
    return declare(pl.DataFrame({"N": pl.Series("N", values, strict=False)}), "muenster", {"N": "count"}, **options)["N"]


@pytest.mark.parametrize("values", [[0, 3, None], [0.0, 2.0, float("nan")], ["4", "0"], [True, False], [MOST_COUNT, 1]])
def test_whole_numbers_from_zero_may_be_counts(values: list[Any]) -> None:
    found = declared(values)
    assert (found.variable.kind, found.variable.levels, found.reason) == (Kind.COUNT, (), "declared")


@pytest.mark.parametrize(("values", "said"), [([1, -2], "-2"), ([1.5, 2.0], "1.5"), ([MOST_COUNT + 1, 1], "1000000001")])
def test_other_numbers_are_refused_with_the_way_out(values: list[Any], said: str) -> None:
    message = rf"whole number from 0 to 1000000000; 'N' of 'muenster' holds {said}\. .*missing.*declare 'N' continuous"
    with pytest.raises(
        KindError, match=rf"'N' of 'muenster' is declared a count and holds {said}; .*whole number from 0 .*kinds=.*missing="
    ):
        declared(values)
    with pytest.raises(KindError, match=message):
        Table(pl.DataFrame({"N": values}), Schema({"N": "count"}), "muenster")


def test_text_and_infinite_numbers_are_no_counts() -> None:
    with pytest.raises(KindError, match=r"declared count but holds 'many'"):
        declared(["1", "many"])
    with pytest.raises(InfiniteValueError):
        declared([1.0, float("inf")])
    with pytest.raises(KindError, match=r"says that 'N' is a count, but 'muenster' holds 'many'"):
        Table(pl.DataFrame({"N": ["1", "many"]}), Schema({"N": "count"}), "muenster")


def test_a_count_has_no_levels() -> None:
    with pytest.raises(KindError, match="declared count and given levels"):
        declared([1, 2], levels={"N": [1, 2]})
    with pytest.raises(KindError, match="'N' is a count and cannot have levels"):
        Variable("N", Kind.COUNT, ("1",))
    assert Schema({"N": "count"})["N"].n_columns == 1


def test_a_count_is_never_inferred() -> None:
    frame = pl.DataFrame({"visits": [3 * i for i in range(40)]})
    assert declare(frame, "muenster")["visits"].variable.kind is Kind.CONTINUOUS


def test_sites_must_agree_that_it_is_a_count() -> None:
    one = declare(pl.DataFrame({"N": list(range(20))}), "a", {"N": "count"})
    other = declare(pl.DataFrame({"N": list(range(0, 40, 2))}), "b")
    with pytest.raises(KindConflictError, match=r"'N' is a count at 'a' \(declared\) but continuous at 'b' \(integers, 20 distinct\)"):
        unite({"a": one, "b": other})
    # a site that has seen one value only goes with the others
    assert unite({"a": one, "b": declare(pl.DataFrame({"N": [0, 0]}), "b")})["N"].kind is Kind.COUNT


def test_a_client_shows_it() -> None:
    client = cs.Client("muenster", pl.DataFrame({"N": [0, 1, 4]}), kinds={"N": "count"})
    assert "N: count" in repr(client)
    assert client.variables.row(0, named=True)["kind"] == "count"


def test_a_profile_has_a_histogram_of_whole_numbers() -> None:
    found = profile_column(pl.Series("N", [0.0, 1.0, 1.0, 4.0] * 6), "count")
    assert (found.kind, found.low, found.high, found.levels) == (Kind.COUNT, 0.0, 4.0, ())
    assert sum(one.count for one in found.bins) == 24
    assert all(one.low == int(one.low) for one in found.bins)


def test_a_study_file_keeps_it(tmp_path: Any) -> None:
    assert parse_study('variables.visits = "count"', tmp_path / "trial.toml").schema["visits"].kind is Kind.COUNT


def test_the_best_likelihood_is_that_of_a_mean_for_every_row() -> None:
    y = np.array([0.0, 1.0, 2.0, 40.0, 63.0, 64.0, 65.0, 1000.0])
    assert_allclose(saturated(y)[1:], stats.poisson.logpmf(y[1:], y[1:]), rtol=1e-10)
    assert saturated(y)[0] == 0.0


@pytest.mark.parametrize("scale", [1, 1000])
def test_a_model_without_predictors_is_the_sites_mean(scale: int) -> None:
    y = scale * np.array([0.0, 3.0, 1.0, 7.0, 2.0])
    likelihood, degrees = count_sums(y)
    assert likelihood == pytest.approx(float(stats.poisson.logpmf(y, y.mean()).sum()), rel=1e-12)
    assert degrees == 4
    # about a mean that all agree on: the total settles the rest
    about, rows = count_sums(y, None, 2.5 * scale)
    assert about + y.sum() * np.log(y.mean() / (2.5 * scale)) == pytest.approx(likelihood, rel=1e-12)
    assert rows == 5


def test_a_site_that_counted_nothing_leaves_no_degrees_of_freedom() -> None:
    assert count_sums(np.zeros(7)) == (0.0, 0.0)
    # rows of three sites together: four and two rows with counts, and one row for the parameter of the third
    y, site = np.array([1.0, 0, 2, 1, 0, 0, 0, 3, 1]), np.array([0, 0, 0, 0, 1, 1, 1, 2, 2], dtype=np.int32)
    assert count_sums(y, site, 1.0)[1] == 4 + 1 + 2


@pytest.mark.parametrize("largest", [5, 5000])
def test_small_counts_are_compressed_with_discrete_predictors(largest: int) -> None:
    frame = pl.DataFrame({"C": [0, 1, 1, 1, 0], "N": [2, largest, largest, 0, 2]})
    table = Table(frame, Schema({"C": "binary", "N": "count"}), "muenster")
    design = build(table, ModelSpec("N", ("C",), ("C", "N")), [0], Coding({}))
    total = design.response if design.weights is None else design.weights * design.response
    assert total.sum() == 2 * largest + 4
    assert len(design.response) == (3 if largest == 5 else 5)
