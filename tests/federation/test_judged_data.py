"""What is found about data counts for whoever uses it: refused variables stop their tests, doubtful ones warn once, others do not block."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience import errors

RNG = np.random.default_rng(8)


def frame(n: int = 90, **columns: Any) -> pl.DataFrame:
    return pl.DataFrame({"A": RNG.normal(size=n), "B": RNG.normal(size=n), **columns})


def test_a_conflict_in_a_column_that_no_test_uses_blocks_nothing() -> None:
    a, b = frame(K=RNG.normal(size=90)), frame(K=RNG.integers(0, 3, 90))
    server = cs.Server([cs.Client("a", a), cs.Client("b", b)])
    assert server.test("A", "B").informative
    with pytest.raises(errors.KindConflictError, match="'K' is continuous at 'a'"):
        server.test("A", "B", ["K"])
    with pytest.raises(errors.KindConflictError, match="'K'"):
        cs.discover(server)


def test_levels_spelled_differently_are_refused_with_the_recoding() -> None:
    a, b = frame(sex=["M", "F"] * 45), frame(sex=["male", "female"] * 45)
    server = cs.Server([cs.Client("a", a), cs.Client("b", b)])
    with pytest.raises(errors.LevelConflictError, match="'male' = 'M'"):
        server.test("A", "sex")


def test_a_suspected_code_warns_once_where_it_is_used() -> None:
    a = frame(chol=[0.0] * 9 + RNG.normal(200, 20, 81).round(1).tolist())
    server = cs.Server([cs.Client("a", a), cs.Client("b", frame(chol=RNG.normal(200, 20, 90)))])
    server.test("A", "B")
    with pytest.warns(cs.DoubtfulDataWarning, match="'chol' of 'a' has 0 in 9 rows"):
        server.test("A", "chol")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        server.test("A", "chol")


def test_a_hospital_whose_cholesterol_is_zero_throughout_is_named() -> None:
    clients = [cs.Client("a", frame(chol=RNG.normal(200, 20, 90))), cs.Client("b", frame(chol=[0] * 90))]
    with pytest.warns(cs.DoubtfulDataWarning, match="'chol' is 0 in every row of 'b'"):
        cs.pooled(clients).test("A", "chol")


@pytest.mark.parametrize("levels", [200, 300])
def test_random_codes_give_no_p_value_also_as_condition(levels: int) -> None:
    codes = [f"c{i % levels}" for i in RNG.permutation(600)]
    parts = [frame(600, X=codes).slice(300 * k, 300) for k in range(2)]
    server = cs.Server([cs.Client(f"s{k}", part) for k, part in enumerate(parts)])
    for question in (("A", "X"), ("A", "B", ["X"])):
        with pytest.raises(errors.KindError, match="more than 50"):
            server.test(*question)  # type: ignore[arg-type]


def test_columns_are_chosen_by_name_and_near_names_are_said() -> None:
    data = frame(id=list(range(90)), when=["2024-01-31"] * 90)
    client = cs.Client("a", data)
    assert client.variables.select("name", "verdict").rows() == [("A", "sure"), ("B", "sure"), ("id", "excluded"), ("when", "excluded")]
    assert list(cs.Client("a", data, variables=["A", "id"]).declarations) == ["A", "id"]
    with pytest.raises(errors.UnknownVariableError, match="Did you mean 'when'"):
        cs.Client("a", data, variables=["When"])
