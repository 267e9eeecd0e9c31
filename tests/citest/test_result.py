"""Results: made from a question, shown in a notebook, handed over to pandas."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import consilience as cs
from consilience import errors
from consilience.citest.result import to_frame

UP = cs.Direction("Y", "X", 4.5, 1, 0.034, -100.0, -97.75)
DOWN = cs.Direction("X", "Y", float("nan"), 0, 1.0, float("nan"), float("nan"), converged=False, separated=True, reason="X does not vary")


def test_a_question_makes_its_result() -> None:
    found = cs.Question("X", "Y", ("Z",)).result(np.float32(0.25), n=12, contributors=3)
    assert found == cs.CIResult("X", "Y", ("Z",), 0.25, 12, 3, 0, True, "", True, (), ())
    assert type(found.p_value) is float


def test_a_reason_makes_a_result_uninformative() -> None:
    found = cs.Question("X", "Y").result(1.0, reason="too few rows")
    assert not found.informative
    assert str(found) == "X ⫫ Y: p = 1 (n = 0, 1 site); not informative: too few rows"


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf"), "0.5", None])
def test_a_p_value_is_between_zero_and_one(value: Any) -> None:
    with pytest.raises(errors.OptionError, match="between 0 and 1"):
        cs.Question("X", "Y").result(value)


def test_all_but_the_question_and_the_p_value_has_a_default() -> None:
    short = cs.CIResult("X", "Y", (), 0.5)
    assert short == cs.CIResult("X", "Y", (), 0.5, 0, 0, 0, True, "", True, ())
    assert str(short) == "X ⫫ Y: p = 0.5 (n = 0, 0 sites)"


def test_a_notebook_shows_a_table() -> None:
    found = cs.CIResult("X", "Y", ("Z",), 0.068, 120, 2, 6, directions=(UP, DOWN), converged=False)
    table = ET.fromstring(found._repr_html_())
    assert (
        table.findtext("caption") == "X ⫫ Y | Z: p = 0.068; n = 120; contributors: 2; not converged; X and Y: strength 0.19 of 1, given Z"
    )
    rows = [[cell.text or "" for cell in row] for row in table.iter("tr")]
    assert rows == [
        ["response", "predictor", "statistic", "df", "p-value", "size (95 % interval)", "notes"],
        ["Y", "X", "4.5", "1", "0.034", "", ""],
        ["X", "Y", "nan", "0", "1", "", "not converged; separated; X does not vary"],
    ]


def test_names_and_reasons_are_escaped() -> None:
    name = '<script>alert("x")</script>'
    shown = cs.CIResult(
        name, "Y", (name,), 1.0, reason=name, informative=False, directions=(cs.Direction(name, "Y", 0, 0, 1, 0, 0, reason=name),)
    )
    text = shown._repr_html_()
    assert "<script" not in text
    assert ET.fromstring(text).find(".//td").text == name  # type: ignore[union-attr]


def test_a_result_without_directions_is_shown_too() -> None:
    shown = ET.fromstring(cs.Question("X", "Y").result(1.0, reason="a < b & c")._repr_html_())
    assert [element.tag for element in shown.iter()] == ["p"]
    assert "not informative: a < b & c" in str(shown.text)


def test_tables_go_to_pandas() -> None:
    """What ``consilience[pandas]`` promises: text, numbers, truths and the lists of conditioning variables."""
    results = [cs.CIResult("X", "Y", ("Z", "V"), 0.068, 120, 2, 6, directions=(UP, DOWN)), cs.Question("X", "V").result(1.0, reason="why")]
    frame = to_frame(results).to_pandas()
    assert list(frame.columns) == to_frame(results).columns
    assert [list(given) for given in frame["given"]] == [["Z", "V"], []]
    assert frame["p_value"].tolist() == [0.068, 1.0]
    assert frame["informative"].tolist() == [True, False]
    assert np.isnan(frame["statistic_y"][1])


def test_a_discovery_goes_to_pandas() -> None:
    found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D")))
    frame = found.tests.to_pandas()
    assert len(frame) == found.tests.height
    assert frame["x"].tolist() == found.tests["x"].to_list()
