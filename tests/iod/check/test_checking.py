"""The check as a whole: what it finds, how it is said, and that it says nothing where there is nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.data.finding import Grade
from consilience.iod.check.estimate import Estimate, estimate_of, most_tests

ROWS = 120


def frame(seed: int, **more: object) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    columns = {"age": draw.normal(60, 9, ROWS).round(2), "marker": draw.normal(5, 1, ROWS), "sex": draw.choice(["f", "m"], ROWS)}
    return pl.DataFrame(columns | more)


def clients(*frames: pl.DataFrame) -> list[cs.Client]:
    return [cs.Client(name, one) for name, one in zip("abcd", frames, strict=False)]


def codes(found: cs.Check) -> set[str]:
    return {finding.code for finding in found.findings if finding.grade is not Grade.NOTICE}


def test_tables_that_fit_have_nothing_to_say() -> None:
    found = cs.check(clients(frame(1), frame(2)), estimate=False)
    assert found.ok
    assert found.findings == ()
    assert {pair.fate.value for pair in found.pairs.pairs} == {"together"}
    assert str(found).startswith("2 sites, 3 variables: 0 refused, 0 doubtful, 0 notices.")


def test_everything_that_does_not_fit_is_said_at_once() -> None:
    other = frame(2).with_columns(pl.col("sex").replace({"f": "female", "m": "male"}), marker=pl.col("marker") * 1000)
    found = cs.check(clients(frame(1), other.rename({"age": "Age"})), estimate=False)
    assert not found.ok
    assert codes(found) >= {"spelling-conflict", "units", "names"}
    assert [finding.grade for finding in found.findings] == sorted(
        (finding.grade for finding in found.findings), key=[Grade.REFUSED, Grade.DOUBTFUL, Grade.NOTICE].index
    )


def test_pairs_that_nobody_tests_and_that_one_site_tests_alone() -> None:
    found = cs.check(clients(frame(1).drop("age"), frame(2).drop("marker")), estimate=False)
    said = {finding.code: finding.words for finding in found.across}
    assert "'age' and 'marker'" in said["pairs-never"]
    assert "2 pairs" in said["pairs-alone"]


def test_a_part_of_a_table_under_another_name_is_found_by_its_rows() -> None:
    whole = frame(1)
    found = cs.check(clients(whole, whole.sample(80, seed=3)), estimate=False)
    (finding,) = (f for f in found.across if f.code == "same-rows")
    assert "80 of 80" in finding.words or "the same 80 rows" in finding.words
    assert "same-rows" not in codes(cs.check(clients(whole, frame(2)), estimate=False))


def test_rows_of_few_values_that_coincide_are_no_copies() -> None:
    draw = np.random.default_rng(1)
    one, two = (pl.DataFrame({name: draw.integers(0, 2, ROWS) for name in "xyz"}) for _ in range(2))
    assert "same-rows" not in codes(cs.check(clients(one, two), estimate=False))


def test_the_bounds_on_tests_hold_in_a_discovery() -> None:
    sites = clients(frame(1), frame(2))
    bounds = estimate_of(sites, clock=(i / 100 for i in range(100)).__next__)
    assert bounds is not None
    assert (bounds.least_tests, bounds.most_tests) == (3, 6)
    assert bounds.seconds > 0
    assert bounds.timed > 1
    asked = cs.discover(cs.Server(sites)).tests.height
    assert bounds.least_tests <= asked <= bounds.most_tests


def test_a_slow_test_is_measured_once() -> None:
    bounds = estimate_of(clients(frame(1), frame(2)), clock=iter(range(0, 1000, 50)).__next__)
    assert bounds is not None
    assert (bounds.timed, bounds.seconds) == (1, 50)
    assert "minutes" in str(bounds)


def test_where_nothing_can_be_tested_there_is_no_estimate() -> None:
    assert estimate_of(clients(frame(1).select("age"), frame(2).select("age"))) is None
    assert "could not be measured" in str(Estimate(3, 6))
    assert most_tests([frozenset("AB"), frozenset("ABC")]) == 6


def test_a_check_of_nobody_is_an_error() -> None:
    with pytest.raises(cs.errors.StudyError, match="at least one client"):
        cs.check([])


def test_json_and_page_have_all_of_it_and_escape_it(tmp_path: Path) -> None:
    nasty = frame(1).rename({"marker": "<script>alert(1)</script>"})
    found = cs.check(clients(nasty, frame(2)))
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["ok"] == found.ok
    assert len(plain["sites"]) == 2
    assert plain["estimate"]["least_tests"] == found.estimate.least_tests if found.estimate else False
    found.to_html(tmp_path / "check.html")
    text = (tmp_path / "check.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert "<script>alert" not in found._repr_html_()
    for finding in found.findings:
        assert finding.grade.value in text
