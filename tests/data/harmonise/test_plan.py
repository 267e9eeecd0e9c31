"""A site's plan: every step against values by hand, in the order that is written down, on tables and on lazy tables."""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from consilience.data.errors import HarmoniseError
from consilience.data.harmonise import Plan
from consilience.data.sources.loaded import Loaded

ROOT = Path(__file__).parents[3]


def column(values: list[Any], **steps: Any) -> list[Any]:
    found = Plan.of({"x": steps}).apply(pl.DataFrame({"x": values}), "muenster")
    return found.frame.to_series().to_list()


@pytest.mark.parametrize(
    ("values", "steps", "expected"),
    [
        ([1, -9, 3], {"missing": [-9]}, [1, None, 3]),
        ([1.0, -9.0, float("nan")], {"missing": "-9"}, [1.0, None, None]),
        (["1", "k.A.", "2.5"], {"missing": ["k.A."]}, [1.0, None, 2.5]),
        (["1", "k.A.", "x"], {"missing": ["k.A."]}, ["1", None, "x"]),
        (["007", "?", "1"], {"missing": ["?"]}, ["007", None, "1"]),
        (["233 mg/dl", "201MG/DL", " 99.5 mg / dl"], {"strip": "mg/dl"}, [233.0, 201.0, 99.5]),
        (["1,5", "1.234,25", "−2"], {"decimal": ","}, [1.5, 1234.25, -2.0]),
        (["1.5", "1,234.25", None], {"decimal": "."}, [1.5, 1234.25, None]),
        ([1.5, 2.5], {"decimal": ","}, [1.5, 2.5]),
        (["5,2 mmol/l", "k.A."], {"strip": "mmol/l", "decimal": ",", "missing": ["k.A."]}, [5.2, None]),
        (["M", "F ", "?", None], {"recode": {"M": "male", "F": "female", "?": ""}}, ["male", "female", None, None]),
        ([1, 2, 9], {"recode": {1: "a", 2: "b"}}, ["a", "b", "9"]),
        ([1.0, 2.0, 2.5], {"recode": {"1": "10"}}, [10.0, 2.0, 2.5]),
        (["ja", "nein"], {"recode": {"ja": 1, "nein": 0}}, [1.0, 0.0]),
        ([True, False, None], {"recode": {"1": "yes", "0": "no"}}, ["yes", "no", None]),
        ([386.664, 0.0], {"unit": "mg/dl -> mmol/l", "analyte": "cholesterol"}, [10.0, 0.0]),
        ([212.0, 32.0], {"unit": "°F → °C"}, [100.0, 0.0]),
        ([1.0, 2.0], {"factor": 10, "offset": 1}, [11.0, 21.0]),
        ([1, 2], {"offset": -1}, [0.0, 1.0]),
        ([1.0, 50.0, 0.1, None], {"range": [0.5, 30]}, [1.0, None, None, None]),
        ([1, 50], {"range": [0.5, float("inf")]}, [1, 50]),
        ([100.0, 1000.0], {"unit": "cm -> m", "range": [0.5, 2.5]}, [1.0, None]),
        ([date(2020, 1, 31), None], {"date": "days since 2020-01-01"}, [30, None]),
        (["2020-01-31", "31.01.2021"], {"date": "year"}, [2020, 2021]),
        ([datetime(2020, 1, 31, 8)], {"date": "year"}, [2020]),
        ([date(1960, 1, 1)], {"date": "age at 2020-01-01", "range": [0, 120]}, [21915 / 365.25]),
    ],
)
def test_a_step_does_what_it_says(values: list[Any], steps: dict[str, Any], expected: list[Any]) -> None:
    assert column(values, **steps) == expected


def test_the_order_of_steps_is_fixed() -> None:
    plan = Plan.parse("""
        columns.b = { drop = true, unit = "cm -> m", missing = [999], rename = "height", range = [0, 2.5] }
        derived.bmi = "weight / height ** 2"
    """)
    found = plan.apply(pl.DataFrame({"weight": [80.0, 80.0, 80.0], "b": [200.0, 999.0, 400.0]}))
    assert found.frame.to_dict(as_series=False) == {"weight": [80.0] * 3, "bmi": [20.0, None, None]}
    assert [change.step for change in found.changes] == ["missing", "unit", "range", "rename", "derived", "drop"]


def test_changes_tell_before_and_after() -> None:
    found = Plan.of({"x": {"missing": [-9], "unit": "mg/dl -> mmol/l", "analyte": "chol"}}).apply(
        pl.DataFrame({"x": [-9.0, 386.664, 773.328]})
    )
    codes, unit = found.changes
    assert (codes.rows, codes.emptied, codes.before.numbers, codes.after.missing) == (1, 1, (-9.0, 386.664, 773.328), 1)
    assert (unit.rows, unit.before.numbers, unit.after.numbers) == (2, (386.664, 579.996, 773.328), (10.0, 15.0, 20.0))
    assert unit.examples == (("386.664", "10"), ("773.328", "20"))
    text = "\n".join(found.lines())
    assert "x: '-9' made missing; 1 value changed to missing" in text
    assert "mg/dl -> mmol/l, chol: × 0.0258622; 2 values changed" in text


def test_levels_are_told_before_and_after() -> None:
    (change,) = Plan.of({"count": {"recode": {"M": "male", "x": ""}}}).apply(pl.DataFrame({"count": ["M", "F", "M", "x"]})).changes
    assert dict(change.before.levels) == {"M": 2, "F": 1, "x": 1}
    assert dict(change.after.levels) == {"male": 2, "F": 1}
    assert (change.rows, change.emptied) == (3, 1)


def test_a_lazy_table_stays_lazy_and_gives_the_same(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1.0, -9.0, 3.0], "s": ["M", "F", "?"], "t": ["1 kg", "2 kg", "3 kg"]})
    plan = Plan.of(
        {
            "columns": {"a": {"missing": [-9]}, "s": {"recode": {"?": ""}}, "t": {"strip": "kg", "unit": "kg -> g", "rename": "w"}},
            "derived": {"d": "a + w"},
        }
    )
    frame.write_parquet(tmp_path / "x.parquet")
    eager, lazy = plan.apply(frame), plan.apply(pl.scan_parquet(tmp_path / "x.parquet"))
    assert isinstance(lazy.frame, pl.LazyFrame)
    assert_frame_equal(lazy.frame.collect(), eager.frame)
    assert lazy.changes == eager.changes


def test_an_empty_plan_changes_nothing() -> None:
    frame = pl.DataFrame({"a": [1, 2], "c": pl.Series(["x", "y"], dtype=pl.Categorical)})
    found = Plan().apply(frame)
    assert_frame_equal(found.frame, frame)
    assert (found.changes, found.findings, Plan().lines()) == ((), (), [])


@pytest.mark.parametrize(
    ("values", "steps", "words"),
    [
        (
            ["233 mg/dl", "6.1 mmol/l", "haemolytic"],
            {"strip": "mg/dl"},
            "2 values that cannot be read so, such as '6.1 mmol/l', 'haemolytic'",
        ),
        (["1,5", "x"], {"decimal": ","}, "1 value that cannot be read so, such as 'x'"),
        (["nan", "inf"], {"decimal": "."}, "2 values"),
        (["233 mg/dl"], {"unit": "cm -> m"}, "cannot be read so"),
        (["01/02/2020"], {"date": "year"}, "such as '01/02/2020'"),
        ([1.5], {"date": "year"}, "is to be read as dates, and has the type Float64"),
        ([date(2020, 1, 1)], {"range": [0, 1]}, "has the type Date"),
        ([date(2020, 1, 1)], {"date": "age at admision"}, "There is no column 'admision'"),
        (["M"], {"recode": {"M": "male"}, "range": [0, 1]}, "is no column of numbers"),
    ],
)
def test_what_cannot_be_done_is_an_error_that_names_the_values(values: list[Any], steps: dict[str, Any], words: str) -> None:
    with pytest.raises(HarmoniseError, match=re.escape(words)) as caught:
        column(values, **steps)
    assert "'muenster'" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("columns.chol.unti = 'mg/dl'", "[columns.chol] has no key 'unti'. Did you mean 'unit'?"),
        ("colums.chol.drop = true", "got 'colums'. Did you mean 'columns'?"),
        ("columns.chol = 3", "is a table of steps"),
        ("columns.chol.drop = 1", "drop of [columns.chol] is true or false"),
        ("columns.chol.range = [3]", "is two numbers"),
        ("columns.chol.range = [3, 1]", "from the lower to the higher end"),
        ("columns.chol.unit = 'mg/dl -> mmol'", "is no unit of the table"),
        ("columns.age.unit = 'mg/dl -> mmol/l'", "depends on the substance"),
        ("columns.chol = {unit = 'mg/dl -> mmol/l', factor = 2}", "give one of them"),
        ("columns.chol.factor = 0", "a finite number, not 0"),
        ("columns.chol.decimal = ';'", "',' or '.'"),
        ("columns.chol.date = 'soon'", "A date becomes"),
        ("columns.chol.kind = 'numeric'", "must be one of continuous"),
        ("columns.chol.recode = {}", "from old to new levels"),
        ("columns.chol = {recode = {a = 'b'}, factor = 2}", "levels or numbers"),
        ("columns = 3", "[columns] is a table"),
        ("derived.x = 3", "is an expression"),
        ("derived.x = 'log('", "'x' of [derived]"),
        ("derived.x = {expression = 'a', knd = 'b'}", "has no key 'knd'"),
        ("columns.a.rename = 'x'\nderived.x = 'b'", "'x' is given twice"),
        ("columns.a = [", "cannot be read as a site's file (TOML)"),
        ("a = " + "[" * 10_000, "cannot be read as a site's file (TOML)"),
    ],
)
def test_a_file_that_is_wrong_names_the_entry(text: str, words: str) -> None:
    with pytest.raises(HarmoniseError, match=re.escape(words)) as caught:
        Plan.parse(text, "muenster.toml")
    assert "muenster.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"Age": {"drop": True}}, "names a column 'Age', which the table does not have. Did you mean 'age'?"),
        ({"age": {"rename": "sex"}}, "two columns would be called 'sex'"),
        ({"derived": {"age": "1"}}, "two columns would be called 'age'"),
        ({"derived": {"x": "aeg + 1"}}, "There is no column 'aeg' here. Did you mean 'age'"),
    ],
)
def test_a_plan_that_does_not_fit_the_table_is_an_error(plan: dict[str, Any], words: str) -> None:
    with pytest.raises(HarmoniseError, match=re.escape(words)):
        Plan.of(plan).apply(pl.DataFrame({"age": [1], "sex": ["f"]}))


def test_what_is_odd_is_noticed() -> None:
    found = Plan.of({"x": {"range": [0, 30]}, "s": {"recode": {"N": "no"}}}).apply(
        pl.DataFrame({"x": [200.0, 210.0, 5.0], "s": ["a", "b", "c"]})
    )
    assert {finding.code: finding.grade.value for finding in found.findings} == {"range-empties": "doubtful", "recode-absent": "notice"}


def test_the_digest_is_of_what_is_said_and_not_of_how() -> None:
    one = Plan.parse("columns.a = {missing = [-9], drop = false}\ncolumns.b.recode = {x = 'y', z = ''}")
    two = Plan.of({"b": {"recode": {"z": "", "x": "y"}}, "a": {"missing": "-9"}})
    assert one.digest == two.digest
    others = [
        {"a": {"missing": [-8]}},
        {"a": {"missing": [-9]}},
        {"columns": {}, "derived": {"a": "1"}},
        {"columns": {}, "derived": {"a": "2"}},
    ]
    assert len({one.digest, *(Plan.of(other).digest for other in others)}) == 5


def test_the_example_of_the_documentation_is_a_plan(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "harmonising.md").read_text(encoding="utf-8")
    (tmp_path / "site.toml").write_text(re.findall(r"```toml\n(.*?)```", text, re.DOTALL)[0], encoding="utf-8")
    frame = pl.DataFrame(
        {
            "Cholesterin": ["386,664 mg/dl", "k.A."],
            "sex": ["M", "?"],
            "temp": [98.6, 212.0],
            "birth": [date(1950, 1, 1), date(1990, 1, 1)],
            "admission": [date(2020, 1, 1), date(2020, 1, 1)],
            "weight": [80, 90],
            "height": [200, 150],
            "smoker": ["no", "yes"],
        }
    )
    plan = Plan.of(tmp_path / "site.toml")
    found = plan.apply(frame).frame
    assert found["chol"].to_list() == [10.0, None]
    assert found["temp"].to_list() == pytest.approx([37.0, 100.0])
    assert found["bmi"].to_list() == [20.0, 40.0]
    assert (found["old"].to_list(), found["risk"].to_list()) == ([True, False], ["high", "high"])
    assert "admission" not in found.columns
    assert plan.kinds == {"sex": "multinomial", "risk": "ordinal"}
    assert plan.levels == {"sex": ("female", "male"), "risk": ("low", "high")}
    assert plan.units == {"chol": ("mmol/l", "cholesterol")}
    assert len(plan.lines()) == 8


def test_a_column_may_be_given_the_name_of_one_that_is_dropped() -> None:
    frame = pl.DataFrame({"age": [700, 800], "age_years": [61, 70], "sex": ["m", "f"]})
    steps = {"age": {"drop": True}, "age_years": {"rename": "age"}}
    found = Plan.of({"columns": steps, "derived": {"old": "age > 65"}}).apply(frame)
    assert found.frame.to_dict(as_series=False) == {"age": [61, 70], "sex": ["m", "f"], "old": [False, True]}
    assert [(change.column, change.step) for change in found.changes] == [("age_years", "rename"), ("old", "derived"), ("age", "drop")]
    said = Plan.of(steps).applied(Loaded(frame, emptied={"age": {"-9": 3}, "age_years": {"k.A.": 1}})).loaded
    assert said.emptied == {"age": {"k.A.": 1}}  # of the one that is there


def test_two_columns_are_not_given_the_name_of_one_that_is_dropped() -> None:
    frame = pl.DataFrame({"a": [1], "b": [2], "c": [3]})
    with pytest.raises(HarmoniseError, match="'a' is given twice"):
        Plan.of({"a": {"drop": True}, "b": {"rename": "a"}, "c": {"rename": "a"}}).apply(frame)
    swapped = Plan.of({"a": {"drop": True, "rename": "b"}, "b": {"rename": "a"}}).apply(frame).frame
    assert swapped.to_dict(as_series=False) == {"a": [2], "c": [3]}
