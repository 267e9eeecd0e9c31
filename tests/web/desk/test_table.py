"""A table as its owner's plan makes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from consilience.data.errors import HarmoniseError, ReadError
from consilience.data.harmonise import Plan, as_toml
from consilience.data.harmonise.columns import ColumnPlan
from consilience.data.harmonise.derived import read_derived
from consilience.data.judging import Standing
from consilience.data.kinds import Kind
from consilience.data.sources import Loaded, Reading, load_bytes
from consilience.federation import Client
from consilience.web.desk.labels import labels_in
from consilience.web.desk.origin import Origin, listed_files, options_of
from consilience.web.desk.table import SiteTable

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


def made_of(frame: pl.DataFrame) -> SiteTable:
    return SiteTable(Origin("table.csv"), Loaded(frame))


@pytest.fixture
def table() -> SiteTable:
    made = made_of(FRAME)
    made.decide(ColumnPlan(name="sex", recode=(("Male", "M"), ("female", "F"), ("male", "M")), rename="gender"))
    made.decide(ColumnPlan(name="age", missing=("unknown",), decimal=","))
    made.decide(ColumnPlan(name="stage", kind="ordinal", levels=("low", "mid", "high")))
    made.decide(ColumnPlan(name="id", drop=True))
    return made


def test_a_plan_joins_levels_makes_gaps_and_reads_commas(table: SiteTable) -> None:
    assert table.column("gender").to_list() == ["M", "F", "M", None]
    assert table.column("age").to_list() == [61.5, None, 70.0, 71.0]
    assert table.profile("age").kind is Kind.CONTINUOUS


def test_what_goes_to_a_study_is_repaired_renamed_and_without_the_rest(table: SiteTable) -> None:
    """A column without a value cannot be a variable, and stays out by itself."""
    assert table.repaired().columns == ["gender", "age", "stage"]
    assert table.repaired({"gender"}).columns == ["age", "stage"]
    client = Client("site", table.only(table.used()))
    assert client.declarations["stage"].variable.levels == ("low", "mid", "high")
    assert client.declarations["gender"].variable.levels == ("F", "M")
    assert client.plan.digest == table.plan.digest
    assert list(Client("site", table.only(["age"])).declarations) == ["age"]


def test_the_table_as_read_is_not_changed(table: SiteTable) -> None:
    table.repaired()
    assert table.frame.equals(FRAME)
    table.decide(ColumnPlan(name="sex"))
    assert table.column("sex").to_list() == FRAME["sex"].to_list()
    assert "sex" not in {column.name for column in table.plan.columns}


def test_a_step_that_cannot_be_done_changes_nothing(table: SiteTable) -> None:
    before = table.plan
    for wrong in (
        ColumnPlan(name="stage", unit="mg/dl -> mmol/l", analyte="cholesterol"),
        ColumnPlan(name="id", rename="age"),
        ColumnPlan(name="stage", unit="furlong -> m"),
        ColumnPlan(name="nothing", date="age at nobody"),
    ):
        with pytest.raises(HarmoniseError):
            table.decide(wrong)
    with pytest.raises(HarmoniseError):
        table.derive([read_derived("old", "agee > 60")])
    assert table.plan == before


def test_derived_variables_are_variables_like_others(table: SiteTable) -> None:
    table.derive([read_derived("old", {"expression": "age > 65", "kind": "binary"})])
    assert table.derived_profile(table.plan.derived[0]).kind is Kind.BINARY
    assert table.used()[-1] == "old"
    assert table.repaired()["old"].to_list() == [False, None, True, True]


def test_the_plan_comes_back_from_its_file(table: SiteTable) -> None:
    table.derive([read_derived("old", {"expression": "age > 65", "kind": "binary"})])
    again = made_of(FRAME)
    again.follow(Plan.parse(as_toml(table.plan)))
    assert again.plan.digest == table.plan.digest
    assert again.repaired().equals(table.repaired())


@pytest.mark.parametrize(
    "plan",
    [
        {"columns": {'odd "name"\n\x7f': {"recode": {"a b": "", '"': "\\", "ä": "1"}, "levels": ["1", "\\"]}}},
        {"columns": {"": {"drop": True}, "x.y": {"range": [float("-inf"), 3], "factor": 1 / 3, "offset": -1e-300}}},
        {"columns": {}, "derived": {"b c": '"x y" + 1', "a": {"expression": '"b c" > 1', "kind": "binary"}}},
        {},
    ],
)
def test_every_plan_can_be_written_and_read(plan: dict[str, Any]) -> None:
    made = Plan.read(plan)
    assert Plan.parse(as_toml(made)).plain() == made.plain()
    assert Plan.parse(as_toml(made)).digest == made.digest


@pytest.mark.parametrize(
    ("column", "spelling", "values"),
    [
        (pl.Series("x", [0, 1, None]), {"1": "yes", "0": "no"}, ["no", "yes", None]),
        (pl.Series("x", [1.0, 2.0, float("nan")]), {"1": "3"}, [3, 2, None]),
        (pl.Series("x", [True, False]), {"1": "ja"}, ["ja", "0"]),
        (pl.Series("x", ["a", "b"], dtype=pl.Enum(["a", "b"])), {"a": "A"}, ["A", "b"]),
        (pl.Series("x", ["a", "b"], dtype=pl.Categorical), {"a": ""}, [None, "b"]),
    ],
)
def test_every_type_of_column_can_be_respelled(column: pl.Series, spelling: dict[str, str], values: list[object]) -> None:
    table = made_of(column.to_frame())
    table.decide(ColumnPlan(name="x", recode=tuple(sorted(spelling.items()))))
    assert table.column("x").to_list() == values


def test_what_could_not_be_read_is_refused_until_its_owner_says_how() -> None:
    text = "cells\tage\n" + "".join(f"{10 + i},{100 + i}\t{i}.5\n" for i in range(40))
    table = SiteTable(Origin("t.tsv"), load_bytes(text.encode(), "t.tsv", "this site"))
    profile = table.profile("cells")
    assert profile.standing is Standing.REFUSED
    assert "decimal mark" in profile.trouble
    assert table.used() == ["age"]
    table.decide(ColumnPlan(name="cells", decimal=","))
    assert table.profile("cells").usable
    assert table.column("cells")[0] == 10.1


def test_labels_to_spell_are_few_or_the_odd_ones() -> None:
    assert labels_in(pl.Series([10, 9, 9])) == {"9": 2, "10": 1}
    assert labels_in(pl.Series([f"text {n}" for n in range(1000)])) == {}
    assert labels_in(pl.Series([n / 7 for n in range(1000)])) == {}
    assert labels_in(pl.Series([f"{n},5" for n in range(300)] + ["?", "none"])) == {"?": 1, "none": 1}


def test_files_are_tables_of_the_folder_and_not_below_or_hidden(tmp_path: Path) -> None:
    for name in ("b.csv", "A.PARQUET", "c.docx", ".d.csv", "f.xlsx", "g.csv.gz"):
        (tmp_path / name).write_text("x")
    (tmp_path / "e.csv").mkdir()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "1.parquet").write_text("x")
    assert [path.name for path in listed_files(tmp_path)] == ["A.PARQUET", "b.csv", "f.xlsx", "g.csv.gz", "parts"]
    assert listed_files(tmp_path / "nothing") == []


def test_an_origin_can_be_read_again_in_another_way(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a;b\n1.234;x\n5.678;y\n")
    first, again = Origin("t.csv", path=file).load(), Origin("t.csv", path=file, reading=Reading(thousands=".")).load()
    assert first.frame["a"].to_list() == [1.234, 5.678]
    assert again.frame["a"].to_list() == [1234, 5678]
    assert Origin("t.csv", content=file.read_bytes()).load().frame.equals(first.frame)
    with pytest.raises(ReadError, match="not kept"):
        Origin("t.csv").load()
    with pytest.raises(ReadError, match="begins with postgresql"):
        Origin("x", address=str(file)).load()
    assert options_of(Origin("x", address="postgresql://host/db")) == ("table", "query")
