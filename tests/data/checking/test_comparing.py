"""Each thing that is compared between sites: found where it is, and not where it is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from consilience.data.checking.comparing import compare
from consilience.data.checking.names import one_letter_apart
from consilience.data.checking.site import SiteFacts, quoted
from consilience.data.facts import facts_of
from consilience.data.finding import Asker, Grade
from consilience.data.infer import declare
from tests.data.checking.tables import ROWS, found, normal, site

HEART = Path(__file__).parents[4] / "shared" / "data" / "heart"


@pytest.mark.parametrize(("one", "other"), [("Age", "age"), ("AGE", "age"), ("blood pressure", "blood_pressure"), ("HbA1c", "hba1c")])
def test_names_that_differ_by_case_or_space_are_doubtful(one: str, other: str) -> None:
    (finding,) = found("names", site("a", {one: normal(60, 9, 1)}), site("b", {other: normal(60, 9, 2)}))
    assert finding.grade is Grade.DOUBTFUL
    assert set(finding.columns) == {one, other}
    assert "rename" in finding.said(Asker.COMMAND)


def test_the_name_that_more_sites_have_is_kept() -> None:
    sites = [site(name, {column: normal(60, 9, i)}) for i, (name, column) in enumerate([("a", "age"), ("b", "Age"), ("c", "age")])]
    (finding,) = found("names", *sites)
    assert (finding.remedies[0].column, finding.remedies[0].value) == ("Age", "age")


def test_names_that_one_site_tells_apart_are_two_variables() -> None:
    assert found("names", site("a", {"t": normal(0, 1, 1), "T": normal(0, 1, 2)}), site("b", {"T": normal(0, 1, 3)})) == []


def test_a_name_with_another_letter_or_of_the_same_substance_is_a_notice() -> None:
    for one, other in (("smoker", "smokr"), ("chol", "cholesterol")):
        (finding,) = found("names", site("a", {one: normal(5, 1, 1)}), site("b", {other: normal(5, 1, 2)}))
        assert finding.grade is Grade.NOTICE


@pytest.mark.parametrize(
    ("one", "other"), [("weight", "height"), ("visit1", "visit2"), ("hdl", "ldl"), ("sbp", "dbp"), ("hypertension", "hypotension")]
)
def test_names_of_other_things_are_let_be(one: str, other: str) -> None:
    assert not one_letter_apart(one, other)
    assert found("names", site("a", {one: normal(5, 1, 1)}), site("b", {other: normal(5, 1, 2)})) == []


@pytest.mark.parametrize(
    ("name", "mean", "deviation", "factor", "offset", "words"),
    [
        ("chol", 220.0, 40.0, 1 / 38.67, 0.0, "mg/dl -> mmol/l"),
        ("creatinine", 1.1, 0.3, 88.4, 0.0, "µmol/l -> mg/dl"),
        ("weight", 80.0, 10.0, 2.2046, 0.0, "lb -> kg"),
        ("temperature", 37.0, 0.6, 1.8, 32.0, "°F -> °C"),
        ("height", 172.0, 9.0, 0.01, 0.0, ""),
        ("marker", 5.0, 1.0, 1000.0, 0.0, ""),
    ],
)
def test_two_units_are_found_with_the_way_out(name: str, mean: float, deviation: float, factor: float, offset: float, words: str) -> None:
    here, there = (
        site("a", {name: normal(mean, deviation, 1)}),
        site("b", {name: normal(1.04 * mean if not offset else mean, deviation, 2) * factor + offset}),
    )
    (finding,) = found("units", here, there)
    assert finding.grade is Grade.DOUBTFUL
    if words:
        one, _, other = words.partition(" -> ")
        assert finding.remedies[0].value in (words, f"{other} -> {one}")


def test_of_three_sites_the_odd_one_is_named() -> None:
    sites = [site("a", {"chol": normal(6, 1, 1)}), site("b", {"chol": normal(230, 40, 2)}), site("c", {"chol": normal(5.8, 1, 3)})]
    (finding,) = found("units", *sites)
    assert finding.sites[0] == "b"
    assert "'b'" in finding.words


def test_sicker_patients_are_no_other_unit() -> None:
    """Twice the median, but the middle halves overlap; or three times, with another spread."""
    assert found("units", site("a", {"crp": np.exp(normal(1, 1, 1))}), site("b", {"crp": np.exp(normal(1.8, 1, 2))})) == []
    assert found("units", site("a", {"dose": normal(10, 1, 1)}), site("b", {"dose": normal(31, 20, 2)})) == []
    assert found("units", site("a", {"age": normal(40, 9, 1)}), site("b", {"age": normal(71, 8, 2)})) == []


def test_a_code_throughout_is_doubtful_where_others_have_numbers() -> None:
    zeros, others = site("a", {"chol": np.zeros(ROWS)}), site("b", {"chol": normal(230, 40, 2)})
    (finding,) = found("constant-code", zeros, others)
    assert finding.grade is Grade.DOUBTFUL
    assert "--missing '0'" in finding.said(Asker.COMMAND)
    assert found("units", zeros, others) == []


def test_one_value_of_levels_is_a_notice_and_no_code() -> None:
    """A hospital for veterans has men only, and may write them as 0."""
    one, other = site("a", {"sex": [0] * ROWS}), site("b", {"sex": [0, 1] * (ROWS // 2)})
    assert found("constant-code", one, other) == []
    assert [f.grade for f in found("constant-here", one, other)] == [Grade.NOTICE]
    assert found("constant-here", one, one) == []


def test_a_level_of_one_site_is_a_notice_and_a_spelling_is_not_one() -> None:
    (finding,) = found("lonely-level", site("a", {"g": ["p", "q"] * 50}), site("b", {"g": ["p", "r"] * 50, "h": [1.5, 2.5] * 50}))[:1]
    assert "'q'" in finding.words
    assert found("lonely-level", site("a", {"s": ["M", "F"] * 50}), site("b", {"s": ["male", "female"] * 50})) == []
    assert found("lonely-level", site("a", {"g": ["p", "q"] * 50}), site("b", {"g": ["q", "p"] * 50})) == []


def test_levels_with_few_rows_everywhere() -> None:
    some = site("a", {"g": ["p"] * 90 + ["q"] * 3 + ["r"] * 7})
    (finding,) = found("rare-level", some, site("b", {"g": ["p"] * 90 + ["q"] * 1 + ["r"] * 2}))
    assert "'q'" in finding.words
    assert "'r'" not in finding.words
    assert found("rare-level", some, site("b", {"g": ["p"] * 90 + ["q"] * 9})) == []


def test_variables_of_one_site() -> None:
    (finding,) = found("unshared", site("a", {"x": normal(0, 1, 1), "y": normal(0, 1, 2)}), site("b", {"x": normal(0, 1, 3)}))
    assert finding.columns == ("y",)
    assert found("unshared", site("a", {"x": normal(0, 1, 1)})) == []


def test_one_table_under_two_names() -> None:
    columns = {"x": normal(0, 1, 1), "g": ["p", "q"] * (ROWS // 2)}
    (finding,) = found("same-rows", site("a", columns), site("b", dict(reversed(columns.items()))))
    assert finding.sites == ("a", "b")
    assert found("same-rows", site("a", columns), site("b", columns | {"x": normal(0, 1, 2)})) == []
    assert found("same-rows", site("a", {"g": ["p", "q"]}), site("b", {"g": ["q", "p"]})) == []


def test_names_in_a_sentence() -> None:
    assert quoted(["a"]) == "'a'"
    assert quoted([]) == ""
    assert quoted("abc") == "'a', 'b' and 'c'"


@pytest.mark.skipif(not HEART.is_dir(), reason="the UCI Heart Disease data are not beside the repository")
def test_four_real_hospitals_have_true_findings_only() -> None:
    frames = {path.stem: pl.read_csv(path, null_values="?") for path in sorted(HEART.glob("*.csv"))}
    sites = [SiteFacts(name, facts_of(frame), declare(frame, name)) for name, frame in frames.items()]
    grave = [finding for finding in compare(sites) if finding.grade is not Grade.NOTICE]
    assert [(f.code, f.columns, f.sites[:1]) for f in grave] == [("constant-code", ("chol",), ("switzerland",))]
