"""Few rows: exact laws for continuous responses, scaled ones for the others, and a refusal where none holds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import consilience as cs
from consilience.citest.laws import Law, log_tail, tail
from consilience.citest.rounding import told_statistic
from tests.federation.helpers import assert_alone


def frames(rows: int, sites: int, seed: int = 0) -> list[pl.DataFrame]:
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(sites):
        z = rng.normal(size=rows)
        y = 0.5 * z + rng.normal(size=rows)
        made.append(pl.DataFrame({"X": z + rng.normal(size=rows), "Y": y, "Z": z, "C": (rng.random(rows) < 0.5).astype(int)}))
    return made


def clients(rows: int, sites: int, seed: int = 0) -> list[cs.Client]:
    return [cs.Client(f"s{k}", frame) for k, frame in enumerate(frames(rows, sites, seed))]


def f_test(parts: list[pl.DataFrame]) -> float:
    """Y ~ site + Z against Y ~ site + Z + X, by least squares on the columns themselves."""
    whole = pl.concat([p.with_columns(site=pl.lit(k)) for k, p in enumerate(parts)])
    dummies = np.eye(len(parts))[whole["site"].to_numpy()]
    small = np.column_stack([dummies, whole["Z"].to_numpy()])
    large = np.column_stack([small, whole["X"].to_numpy()])
    y = whole["Y"].to_numpy()
    rss = [float(np.sum((y - d @ np.linalg.lstsq(d, y, rcond=None)[0]) ** 2)) for d in (small, large)]
    left = len(y) - large.shape[1]
    return float(stats.f.sf((rss[0] - rss[1]) / (rss[1] / left), 1, left))


@pytest.mark.parametrize(("rows", "sites"), [(5, 3), (4, 6), (40, 2)])
def test_a_continuous_response_has_the_p_value_of_the_f_test(rows: int, sites: int) -> None:
    wanted = f_test(frames(rows, sites))
    for test in (cs.pooled(clients(rows, sites)), cs.Server(clients(rows, sites))):
        found = test.test("X", "Y", ["Z"]).directions[0]
        assert (found.response, found.law, found.residual_df) == ("Y", "F", rows * sites - sites - 2)
        assert found.p_value == pytest.approx(wanted, rel=1e-9)


def test_the_plain_law_is_there_for_who_asks_for_it() -> None:
    for test in (cs.pooled(clients(5, 3), small_sample=False), cs.Server(clients(5, 3), small_sample=False)):
        for found in test.test("X", "Y", ["Z"]).directions:
            assert found.law == "chi2"
            assert found.p_value == pytest.approx(stats.chi2.sf(found.statistic, 1), rel=1e-12)


def test_a_discrete_response_has_a_scaled_statistic() -> None:
    result = cs.Server(clients(30, 3)).test("X", "C", ["Z"])
    found = next(d for d in result.directions if d.response == "C")
    assert (found.law, found.residual_df) == ("scaled chi2", 90 - 3 - 2)
    assert found.p_value == pytest.approx(stats.chi2.sf(found.statistic * 85 / 90, 1), rel=1e-12)


def test_too_few_rows_for_a_discrete_response_are_no_answer() -> None:
    """20 sites of 3 rows: 60 rows for 21 parameters, fewer than four each. The other direction is exact, and stands."""
    result = cs.Server(clients(3, 20)).test("X", "C")
    by = {d.response: d for d in result.directions}
    assert not by["C"].informative
    assert "60 rows are too few for the 21 parameters of the model of C" in by["C"].reason
    assert by["X"].informative
    assert result.p_value == by["X"].p_value


def test_the_one_site_that_can_test_uses_the_laws_of_small_samples() -> None:
    first, *others = frames(20, 3)
    sites = [cs.Client("a", first), *(cs.Client(f"b{k}", f.drop("C")) for k, f in enumerate(others))]
    found = cs.Server(sites).test("X", "C", ["Z"])
    wanted = cs.pooled([first]).test("X", "C", ["Z"])
    assert_alone(found, wanted)


def test_fisher_combines_p_values_of_the_small_sample_laws() -> None:
    parts = frames(12, 3)
    alone = [told_statistic(cs.pooled([p]).test("X", "Y", ["Z"]).log_p) for p in parts]
    found = cs.fisher(clients(12, 3)).test("X", "Y", ["Z"]).p_value
    assert found == pytest.approx(stats.chi2.sf(sum(alone), 2 * len(alone)), rel=1e-9)


@pytest.mark.parametrize("df", [1, 3, 12])
@pytest.mark.parametrize("left", [1, 8, 500])
def test_tails_are_those_of_scipy_and_their_logarithms_go_on_beyond(df: int, left: int) -> None:
    n = left + df + 2
    for f in (0.0, 0.01, 1.0, 4.0, 300.0):
        statistic = n * np.log1p(f * df / left)
        assert tail(Law.F, statistic, df, n, left) == pytest.approx(stats.f.sf(f, df, left), rel=1e-9)
        assert log_tail(Law.F, statistic, df, n, left) == pytest.approx(stats.f.logsf(f, df, left), rel=1e-9, abs=1e-12)
    # e^{-T/n} = x: far out the tail is x^{ν/2} / (ν/2 · B), and each further unit of T takes ν/2n from its logarithm
    far, farther = (log_tail(Law.F, t, df, n, left) for t in (4e4 * n / left, 4e4 * n / left + n))
    assert farther - far == pytest.approx(-left / 2, rel=1e-9)
