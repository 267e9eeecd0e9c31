"""Power: what more rows and more sites bring, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from scipy import stats

import consilience as cs
from consilience.simulate import Power, power


@pytest.mark.slow
def test_power_grows_with_rows_and_sites_and_fisher_has_less() -> None:
    found = power(0.35, sites=(2, 8), rows=(15, 60), replications=40, seed=2)
    at = {(m, k, n): p for m, k, n, p in found.table.select("method", "sites", "rows", "power").iter_rows()}
    assert at["fedci", 2, 15] < at["fedci", 2, 60] <= at["fedci", 8, 60]
    assert at["fedci", 2, 15] < at["fedci", 8, 15]
    assert at["fisher", 8, 15] < at["fedci", 8, 15] - 0.1
    assert found.table["n"].to_list() == [k * n for k, n in found.table.select("sites", "rows").iter_rows()]


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [("binary", "ordinal"), ("multinomial", "continuous"), ("ordinal", "multinomial")])
def test_without_an_effect_the_level_is_kept_and_with_one_it_is_found(kinds: tuple[str, str]) -> None:
    null, real = (power(effect, kinds=kinds, given=1, sites=3, rows=100, replications=40, methods=["fedci"]) for effect in (0.0, 2.5))
    assert null.table["low"][0] <= 0.05 <= null.table["high"][0] + 0.02
    assert real.table["power"][0] > 0.9


@pytest.mark.slow
def test_the_power_of_a_gaussian_test_is_what_theory_says() -> None:
    """Two sites of 30 rows: t² ~ noncentral F(1, 57) with noncentrality β² Σ (x - x̄_site)², about 58 β²."""
    found = power(0.4, sites=2, rows=30, replications=250, methods=["fedci"], site_shift=0.0, jobs=1)
    expected = stats.ncf.sf(stats.f.isf(0.05, 1, 57), 1, 57, 58 * 0.16)
    assert found.table["low"][0] - 0.02 <= expected <= found.table["high"][0] + 0.02


def test_the_fewest_rows_that_are_enough() -> None:
    rows = [("fedci", 2, 50, 100, 0.5), ("fedci", 2, 100, 200, 0.85), ("fedci", 2, 200, 400, 0.9), ("fedci", 4, 50, 200, 0.7)]
    names = ("method", "sites", "rows", "n", "power")
    table = pl.DataFrame([{**dict(zip(names, row, strict=True)), "low": 0.0, "high": 1.0} for row in rows])
    found = Power(table, 0.05, 0.8)
    assert found.needed().rows() == [("fedci", 2, 100, 200, 0.85), ("fedci", 4, None, None, None)]
    assert found.needed(0.88)["rows"].to_list() == [200, None]
    assert "2 sites: 100 rows each (power 0.85)" in str(found)
    assert "4 sites: more rows than were tried" in str(found)


@pytest.mark.slow
def test_the_drawing(tmp_path: Path) -> None:
    found = power(0.5, sites=(2, 3), rows=(20, 40), replications=3)
    path = found.to_svg(tmp_path / "power.svg")
    text = path.read_text(encoding="utf-8")
    assert ET.fromstring(text).tag.endswith("svg")
    assert "3 sites" in text
    assert "Fisher" in text


def test_seeds_give_the_same_table() -> None:
    one, same, other = (power(0.3, sites=2, rows=40, replications=25, seed=seed, methods=["fedci"]).table for seed in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)


def test_bad_input() -> None:
    for options, words in (
        ({"methods": ["magic"]}, "methods must be one of"),
        ({"kinds": ("counts", "binary")}, "kind of 'X'"),
        ({"sites": 1}, "at least two"),
        ({"rows": ()}, "at least one number"),
        ({"alpha": 1.0}, "alpha must lie between"),
        ({"target": 0.0}, "target must lie between"),
        ({"replications": 0}, "replications"),
    ):
        with pytest.raises(cs.errors.OptionError, match=words):
            power(0.3, **{"sites": 2, "rows": 20, "replications": 1, **options})  # type: ignore[arg-type]
