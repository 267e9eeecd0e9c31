"""A table as its owner has repaired it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from consilience.data.kinds import Kind
from consilience.federation import Client
from consilience.web.desk.table import Decision, SiteTable, labels_in, listed_files, respelled

FRAME = pl.DataFrame(
    {
        "sex": ["male", "female", "Male", None],
        "age": ["61,5", "unknown", "70", "71"],
        "stage": ["low", "high", "mid", "low"],
        "id": ["a1", "a2", "a3", "a4"],
        "nothing": [None, None, None, None],
    },
    schema_overrides={"nothing": pl.String},
)


@pytest.fixture
def table() -> SiteTable:
    made = SiteTable("table.csv", FRAME)
    made.decide("sex", Decision(spelling={"male": "M", "Male": "M", "female": "F"}, called="gender"))
    made.decide("age", Decision(spelling={"unknown": ""}, comma=True))
    made.decide("stage", Decision(kind="ordinal", levels=("low", "mid", "high")))
    made.decide("id", Decision(excluded=True))
    return made


def test_spelling_joins_levels_and_makes_gaps(table: SiteTable) -> None:
    assert table.column("sex").to_list() == ["M", "F", "M", None]
    assert table.column("age").to_list() == [61.5, None, 70.0, 71.0]
    assert table.profile("age").kind is Kind.CONTINUOUS


def test_what_goes_to_a_study_is_repaired_renamed_and_without_the_rest(table: SiteTable) -> None:
    """A column without a value cannot be a variable, and stays out by itself."""
    assert table.repaired().columns == ["gender", "age", "stage"]
    assert table.repaired({"gender"}).columns == ["age", "stage"]
    client = Client("site", table.repaired(), kinds=table.kinds(), levels=table.levels())
    assert client.declarations["stage"].variable.levels == ("low", "mid", "high")
    assert client.declarations["gender"].variable.levels == ("F", "M")


def test_the_table_as_read_is_not_changed(table: SiteTable) -> None:
    table.repaired()
    assert table.frame.equals(FRAME)
    table.decide("sex", Decision())
    assert table.column("sex").to_list() == FRAME["sex"].to_list()


@pytest.mark.parametrize(
    ("column", "spelling", "values"),
    [
        (pl.Series("x", [0, 1, None]), {"1": "yes", "0": "no"}, ["no", "yes", None]),
        (pl.Series("x", [1.0, 2.0, float("nan")]), {"1": "3"}, [3, 2, None]),
        (pl.Series("x", [True, False]), {"1": "ja"}, ["ja", "0"]),
        (pl.Series("x", ["a", "b"], dtype=pl.Enum(["a", "b"])), {"a": "A"}, ["A", "b"]),
        (pl.Series("x", ["a", "b"], dtype=pl.Categorical), {"a": ""}, [None, "b"]),
        (pl.Series("x", ["a", "b"]), {"a": "a"}, ["a", "b"]),
    ],
)
def test_every_type_of_column_can_be_respelled(column: pl.Series, spelling: dict[str, str], values: list[object]) -> None:
    found = respelled(column, Decision(spelling=spelling))
    assert found.to_list() == values
    assert found.name == "x"


def test_labels_to_spell_are_few_or_the_odd_ones() -> None:
    assert labels_in(pl.Series([10, 9, 9])) == {"9": 2, "10": 1}
    assert labels_in(pl.Series([f"text {n}" for n in range(1000)])) == {}
    assert labels_in(pl.Series([n / 7 for n in range(1000)])) == {}
    assert labels_in(pl.Series([f"{n},5" for n in range(300)] + ["?", "none"])) == {"?": 1, "none": 1}


def test_files_are_tables_of_the_folder_and_not_below_or_hidden(tmp_path: Path) -> None:
    for name in ("b.csv", "A.PARQUET", "c.tsv", "c.pdf", ".d.csv"):
        (tmp_path / name).write_text("x")
    (tmp_path / "e.csv").mkdir()
    assert [path.name for path in listed_files(tmp_path)] == ["A.PARQUET", "b.csv", "c.tsv"]
    assert listed_files(tmp_path / "nothing") == []
