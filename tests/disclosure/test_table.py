"""Copies of a table with fewer rows and values (what the shield makes)."""

from __future__ import annotations

import numpy as np
import polars as pl

from consilience.data.schema import Schema
from consilience.data.table import Table
from tests.disclosure.sites import table, values


def test_a_copy_is_the_table_of_the_rows_that_stay() -> None:
    whole = table({"A": [1.0, 2.0, None, 4.0], "B": [0, 1, 1, None]})
    made = whole.subset(np.array([3, 0, 2]), {"A": np.array([True, False, False, False])})
    wanted = table({"A": [4.0, None, None], "B": [None, 0, 1]})
    assert str(values(made)) == str(values(wanted))
    assert {name: gaps.tolist() for name, gaps in made.missing.items()} == {"A": [False, True, True], "B": [True, False, False]}
    assert made.complete(["A", "B"]).n == 0
    assert made.complete(["B"]).n == 2
    assert whole.complete(["A", "B"]).n == 2, "the table itself is as it was"


def test_what_does_not_change_is_shared() -> None:
    whole = table({"A": [1.0, 2.0], "B": [0, 1]})
    made = whole.subset(None, {"B": np.array([True, False])})
    assert made.numbers["A"] is whole.numbers["A"]
    assert whole.codes["B"].tolist() == [0, 1]
    assert vars(made).keys() == vars(whole).keys(), "whatever a table has, a copy has"


def test_a_copy_without_rows_holds_nothing() -> None:
    made = table({"A": [1.0, 2.0], "B": [0, 1]}).subset(np.zeros(0, dtype=np.intp))
    assert (made.n_rows, made.names, made.holds(["A"])) == (0, frozenset(), False)


def test_clusters_go_with_their_rows() -> None:
    frame = pl.DataFrame({"A": [1.0, 2.0, 3.0], "ward": ["x", "y", "x"]})
    made = Table(frame, Schema({"A": "continuous"}), "muenster", cluster="ward").subset(np.array([1, 2]))
    assert made.cluster is not None
    assert made.cluster.tolist() == [1, 0]
