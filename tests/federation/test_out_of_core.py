"""A table larger than the memory it may take: the results of the same table in memory, and clear words where there are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from consilience.data.errors import OutOfMemoryError, ReadError
from consilience.data.streamed import Streamed
from consilience.errors import OptionError
from consilience.federation import Client, Server, pooled
from consilience.settings.choices import Isolation
from consilience.settings.terms import Terms

N, LITTLE = 400, 40_000
OPTIONS: list[dict[str, Any]] = [
    {},
    {"site_effects": "none"},
    {"site_effects": "joint"},
    {"site_effects": "coordinate"},
    {"ordinal": "generalized"},
    {"method": "fisher"},
    {"min_cell": 5, "min_rows": 10},
    {"min_cell": 5, "cells": "refuse"},
    {"min_cell": 5, "isolation": "strict", "single_site": "refuse", "on_dropout": "stop"},
]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("table", "streamed"):
        monkeypatch.setattr(f"consilience.data.{module}.BLOCK_ROWS", 64)
        monkeypatch.setattr(f"consilience.data.{module}.PART_BLOCKS", 2)
    monkeypatch.setattr("consilience.data.streamed.BLOCKS_HELD", 1)
    monkeypatch.setattr("consilience.data.streamed.PARTS_HELD", 1)
    monkeypatch.setattr("consilience.data.quartiles.SAMPLE", 32)


def frame_of(site: int, *, gaps: bool) -> pl.DataFrame:
    """All kinds of variables; three rows of a level that no rule lets be told."""
    rng = np.random.default_rng([3, site])
    z = rng.normal(size=N)
    a = z + rng.normal(size=N) + 5 * site
    b = 0.3 * a + rng.normal(size=N)
    e = np.array(list("pqs"))[np.clip(np.round(z + rng.normal(size=N)), 0, 2).astype(int)]
    e[[5, 90, 333]] = "t"
    columns = {
        "a": a,
        "b": 1e6 + b,
        "d": (rng.logistic(size=N) < 0.2 * a - 0.5).astype(int),
        "e": e,
        "g": np.clip(np.round(0.2 * b + rng.normal(size=N) + 1), 0, 3).astype(int),
        "h": rng.poisson(np.exp(0.3 + 0.1 * b - 0.1 * site)),
    }
    frame = pl.DataFrame(columns)
    if not gaps:
        return frame
    return frame.with_columns(pl.when(pl.Series(rng.random(N) < 0.1)).then(None).otherwise(pl.col(c)).alias(c) for c in ("a", "d", "g"))


def client_of(path: Path | str, name: str = "registry", *, streamed: bool = True, **options: Any) -> Client:
    kinds = {"h": "count", "g": "ordinal"} | options.pop("kinds", {})
    made = Client(name, str(path), kinds=kinds, memory=LITTLE if streamed else None, **options)
    assert (made.lazy is not None) is streamed
    return made


def written(folder: Path, site: int, *, gaps: bool = True) -> Path:
    path = folder / f"site {site}.parquet"
    frame_of(site, gaps=gaps).write_parquet(path, row_group_size=70)
    return path


def assert_same(found: pl.DataFrame, whole: pl.DataFrame) -> None:
    for column, dtype in whole.schema.items():
        if dtype == pl.Float64:
            np.testing.assert_allclose(found[column].to_numpy(), whole[column].to_numpy(), rtol=1e-9, atol=1e-9, err_msg=column)
        else:
            assert found[column].to_list() == whole[column].to_list(), column


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_results_are_those_of_the_table_in_memory(tmp_path: Path, options: dict[str, Any], gaps: bool) -> None:
    paths = [written(tmp_path, site, gaps=gaps) for site in range(2)]
    tables = [
        Server([client_of(path, path.stem, streamed=streamed) for path in paths], **options).test_all(max_given=1)
        for streamed in (False, True)
    ]
    assert_same(tables[1], tables[0])


def test_a_streamed_site_and_one_in_memory_work_together(tmp_path: Path) -> None:
    paths = [written(tmp_path, site) for site in range(2)]
    found = [
        Server([client_of(paths[0], "one", streamed=streamed), client_of(paths[1], "two", streamed=False)])
        .test("a", "g", given=["e"])
        .p_value
        for streamed in (False, True)
    ]
    assert found[1] == pytest.approx(found[0], rel=1e-9)


def test_levels_alone_are_tested_without_a_look_at_numbers(tmp_path: Path) -> None:
    paths = [written(tmp_path, site) for site in range(2)]
    found = [Server([client_of(path, path.stem, streamed=streamed) for path in paths]).test("d", "e").p_value for streamed in (False, True)]
    assert found[1] == pytest.approx(found[0], rel=1e-9)


@pytest.mark.parametrize("terms", [Terms(min_cell=5), Terms(min_cell=5, min_rows=30, isolation=Isolation.STRICT)], ids=["levels", "strict"])
def test_what_takes_part_is_what_would_of_the_table_in_memory(tmp_path: Path, terms: Terms) -> None:
    path = written(tmp_path, 0)
    whole, found = (client_of(path, streamed=streamed) for streamed in (False, True))
    schema = Server([whole], min_contributors=1).schema
    expected, got = whole.shielded(schema, terms), found.shielded(schema, terms)
    assert got[1:] == expected[1:]
    assert got.rows_left_out > 0
    assert isinstance(got.table, Streamed)
    assert (got.table.n_rows, got.table.names) == (expected.table.n_rows, expected.table.names)
    for variables in (["a", "e"], ["d", "e", "g"], ["b"]):
        if expected.table.holds(variables):
            assert got.table.complete(variables).n == expected.table.complete(variables).n


def test_the_digest_is_of_the_rows_in_any_order_and_of_nothing_else(tmp_path: Path) -> None:
    frame, digests = frame_of(0, gaps=True), list[bytes]()
    changed = frame.with_columns(pl.when(pl.int_range(pl.len()) == 7).then(pl.col("b") + 1e-9).otherwise(pl.col("b")).alias("b"))
    swapped = frame.with_columns(pl.col("b").reverse())  # the same values of every column, in other rows
    for number, table in enumerate((frame, frame.sample(fraction=1.0, shuffle=True, seed=1), changed, swapped)):
        table.write_parquet(tmp_path / f"{number}.parquet", row_group_size=70)
        client = client_of(tmp_path / f"{number}.parquet")
        digests.append(client.shielded(Server([client], min_contributors=1).schema, Terms(min_cell=5)).digest())
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


@pytest.mark.parametrize("source", ["*.parquet", ""], ids=["a pattern", "a folder"])
def test_files_of_a_folder_are_one_table(tmp_path: Path, source: str) -> None:
    frame = frame_of(0, gaps=True)
    for number in range(4):
        frame[number * 100 : (number + 1) * 100].write_parquet(tmp_path / f"part {number}.parquet")
    (tmp_path / "notes.txt").write_text("no table")
    whole, found = (client_of(f"{tmp_path}/{source}", streamed=streamed) for streamed in (False, True))
    assert whole.frame.equals(frame)
    assert (found.rows, found.facts) == (N, whole.facts)
    assert repr(found) == repr(whole)


def test_a_database_is_read_in_batches(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    frame = frame_of(0, gaps=True)
    with duckdb.connect(str(tmp_path / "registry.duckdb")) as connection:
        connection.register("rows", frame.to_arrow())
        connection.execute("CREATE TYPE level AS ENUM ('t', 's', 'q', 'p')")
        connection.execute("CREATE TABLE patients AS SELECT * REPLACE (e::level AS e, d::DECIMAL(4, 0) AS d) FROM rows")
        connection.execute("CREATE TABLE other AS SELECT 1 AS one")
    with pytest.raises(ReadError, match="must be said"):
        client_of(tmp_path / "registry.duckdb")
    tables = [
        Server([client_of(tmp_path / "registry.duckdb", streamed=s, **which)], min_contributors=1).test_all(max_given=0)
        for s, which in (
            (False, {"table": "patients"}),
            (True, {"table": "patients"}),
            (True, {"query": "SELECT *, 1 AS constant FROM patients", "variables": frame.columns}),
        )
    ]
    assert_same(tables[1], tables[0])
    assert_same(tables[2], tables[0])


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"method": "residual"}, "method='residual'"),
        ({"method": "auto"}, "method='auto'"),
        ({"site_effects": "random"}, "site_effects='random'"),
    ],
)
def test_what_needs_all_rows_is_refused_before_the_study_begins(tmp_path: Path, options: dict[str, Any], named: str) -> None:
    client = client_of(written(tmp_path, 0))
    with pytest.raises(OutOfMemoryError, match=named):
        Server([client], min_contributors=1, **options)


def test_other_ways_to_all_rows_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, 0)
    client = client_of(path)
    server = Server([client], min_contributors=1)
    with pytest.raises(OutOfMemoryError, match="whole columns at once"):
        server.effect("a", "b")
    assert server.test("a", "b").converged  # and goes on
    with pytest.raises(OutOfMemoryError, match="all of its rows at once"):
        pooled([client])
    with pytest.raises(OutOfMemoryError, match="missing values"):
        client_of(path, missing=["-9"])
    with pytest.raises(OutOfMemoryError, match="changes values"):
        client_of(path, harmonise={"b": {"factor": 2.0}})
    assert set(client_of(path, harmonise={"b": {"rename": "new"}, "a": {"drop": True}}).facts) == {"new", "d", "e", "g", "h"}


def test_memory_that_is_not_enough_for_a_block_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, 0)
    with pytest.raises(OutOfMemoryError, match="groups of its rows"):
        Client("registry", path, memory=10_000)
    with pytest.raises(OptionError, match="such as '2 GB'"):
        Client("registry", path, memory="much")


def test_a_table_that_changes_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path, 0)
    for changed in (frame_of(0, gaps=True).head(N - 1), frame_of(1, gaps=True)):
        server = Server([client_of(path)], min_contributors=1, min_cell=5)
        changed.write_parquet(path)
        with pytest.raises(ReadError, match=r"has changed|cannot be read any more"):
            server.test("a", "b", given=["e"])
        written(tmp_path, 0)
