"""The ways out that findings name, taken by one click; and the check, which sorts what was found."""

from __future__ import annotations

import polars as pl
import pytest

from consilience.data.finding import Finding, Grade, Remedy, Step, recoding
from consilience.data.harmonise.columns import ColumnPlan
from consilience.data.sources import Loaded, load_bytes
from consilience.web.desk.checking import table_check
from consilience.web.desk.origin import Origin
from consilience.web.desk.remedies import taken
from consilience.web.desk.table import SiteTable

PLAN = ColumnPlan(name="x", missing=("-9",), recode=(("m", "male"),))


@pytest.mark.parametrize(
    ("remedy", "attribute", "value"),
    [
        (Remedy(Step.MISSING, "x", "99"), "missing", ("-9", "99")),
        (Remedy(Step.KIND, "x", "ordinal"), "kind", "ordinal"),
        (Remedy(Step.DECIMAL, value=","), "decimal", ","),
        (Remedy(Step.UNIT, "x", "mg/dl -> mmol/l"), "unit", "mg/dl -> mmol/l"),
        (Remedy(Step.UNIT, "x", "mg/dl"), "unit", "mg/dl"),
        (Remedy(Step.STRIP, "x", "mg/dl"), "strip", "mg/dl"),
        (Remedy(Step.STRIP, "x", "mg/dl"), "unit", "mg/dl"),
        (Remedy(Step.STRIP, "x", "points"), "unit", ""),
        (Remedy(Step.FACTOR, "x", "0.0259"), "factor", 0.0259),
        (Remedy(Step.RANGE, "x", "20, 300"), "range", (20.0, 300.0)),
        (Remedy(Step.LEVELS, "x", "I,II"), "levels", ("I", "II")),
        (Remedy(Step.DATE, "x", "days since 2000-01-01"), "date", "days since 2000-01-01"),
        (Remedy(Step.RENAME, "x", "age"), "rename", "age"),
        (Remedy(Step.DROP, "x"), "drop", True),
        (recoding("x", {"w": "female"}), "recode", (("m", "male"), ("w", "female"))),
    ],
)
def test_a_way_out_is_added_to_the_plan(remedy: Remedy, attribute: str, value: object) -> None:
    made = taken(PLAN, remedy)
    assert made is not None
    assert getattr(made, attribute) == value
    assert made.name == "x"


@pytest.mark.parametrize(
    "remedy",
    [
        Remedy(Step.MISSING, "x", "-9"),
        Remedy(Step.THOUSANDS, value=","),
        Remedy(Step.RECODE, "x", "'old' = 'new', …"),
        Remedy(Step.LEVELS, "x", "lowest,...,highest"),
        Remedy(Step.UNIT, "x", "old -> new"),
        Remedy(Step.RANGE, "x", "…"),
        Remedy(Step.DATE, "x", "days"),
    ],
)
def test_what_needs_a_choice_is_no_button(remedy: Remedy) -> None:
    assert taken(PLAN, remedy) is None


def test_every_way_out_of_a_file_can_be_taken_and_helps() -> None:
    """Whatever a page offers as a button can be done, and the finding is then gone."""
    text = "chol\tcells\tcrp\n" + "".join(
        f"{150 + i * 7 % 83} mg/dl\t{4 + i % 7},{100 + i}\t{-9 if i % 10 == 3 else i % 37}\n" for i in range(200)
    )
    for column in ("chol", "cells", "crp"):
        table = SiteTable(Origin("t.tsv"), load_bytes(text.encode(), "t.tsv", "this site"))
        first = table.profile(column).signs[0]
        made = taken(table.column_plan(column), first.remedies[0])
        assert made is not None
        table.decide(made)
        assert table.profile(column).usable, column
        assert first.code not in {sign.code for sign in table.profile(column).signs}


def test_the_check_has_what_is_used_first_and_what_is_grave_before_that() -> None:
    used, other = (Finding(code, grade, code, (code,)) for code, grade in (("a", Grade.REFUSED), ("b", Grade.REFUSED)))
    light = Finding("c", Grade.NOTICE, "c", ("c",))
    found = table_check([light, other, used, light], {"a", "c"})
    assert found.used == (used, light)
    assert found.rest == (other,)
    assert found.headline == "1 refused, 0 doubtful, 1 notice"


def test_what_is_left_out_is_not_said() -> None:
    table = SiteTable(Origin("t"), Loaded(pl.DataFrame({"id": [f"p{i}" for i in range(60)], "age": [i / 7 for i in range(60)]})))
    assert [finding.code for finding in table.noticed()] == ["identifier"]
    table.decide(ColumnPlan(name="id", drop=True))
    assert table.noticed() == []
