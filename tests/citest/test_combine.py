"""P-values from statistics, and one p-value from several."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln, log_ndtr, logsumexp
from scipy.stats import chi2, combine_pvalues, f

from consilience.citest.combine import chi2_log_sf, chi2_sf, f_log_sf, f_sf, fisher, log_symmetric, symmetric

STATISTICS = [
    0.0,
    1e-12,
    1e-3,
    0.5,
    1.0,
    3.84,
    10.0,
    50.0,
    200.0,
    600.0,
    1200.0,
    1300.0,
    1400.0,
    1430.0,
    1450.0,
    1480.0,
    1500.0,
    3000.0,
    1e4,
    1e5,
]


def log_tail(x: float, df: int) -> float:
    """log P(χ²_df > x) in closed form, where scipy's own ends in log 0.

    Q(a + 1, z) = Q(a, z) + z^a e^-z / Γ(a + 1), from Q(0, z) = 0 for even df and Q(½, x/2) = 2 Φ(-√x) for odd df.
    """
    z, first = 0.5 * x, 0.5 * (df % 2)
    terms = [a * np.log(z) - z - gammaln(a + 1.0) for a in np.arange(first, 0.5 * df)]
    return float(logsumexp([*terms, *([np.log(2.0) + log_ndtr(-np.sqrt(x))] if df % 2 else [])]))


@pytest.mark.parametrize("df", range(1, 41))
def test_the_log_tail_agrees_with_scipy_as_far_as_that_goes(df: int) -> None:
    near = [x for x in STATISTICS if chi2.sf(x, df) > 1e-300]
    assert len(near) > 8
    assert_allclose([chi2_log_sf(x, df) for x in near], chi2.logsf(near, df), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("df", range(1, 41))
def test_the_log_tail_beyond_the_smallest_float(df: int) -> None:
    """With no seam where the method changes."""
    far = [x for x in STATISTICS if x > 100.0]
    assert_allclose([chi2_log_sf(x, df) for x in far], [log_tail(x, df) for x in far], rtol=1e-12)


def test_the_log_tail_falls_everywhere() -> None:
    for df in (1, 2, 7, 40):
        tail = [chi2_log_sf(x, df) for x in np.linspace(1200.0, 1500.0, 601)]
        assert (np.diff(tail) < 0).all()


@pytest.mark.parametrize("df", [1, 2, 40])
@pytest.mark.parametrize("x", [0.0, 0.1, 3.84, 100.0])
def test_the_tail_is_the_exponential_of_the_log_tail(df: int, x: float) -> None:
    assert_allclose(chi2_sf(x, df), chi2.sf(x, df), rtol=1e-12)
    assert_allclose(math.exp(chi2_log_sf(x, df)), chi2_sf(x, df), rtol=1e-12)


@pytest.mark.parametrize("df", [1, 2, 3, 9])
@pytest.mark.parametrize("residual", [1, 2, 15, 400, 1e6])
def test_the_tail_of_f_agrees_with_scipy_as_far_as_that_goes(df: int, residual: float) -> None:
    near = [x for x in STATISTICS if f.sf(x / df, df, residual) > 1e-300]
    assert len(near) > 8
    assert_allclose([f_sf(x, df, residual) for x in near], f.sf(np.divide(near, df), df, residual), rtol=1e-10)
    assert_allclose([f_log_sf(x, df, residual) for x in near], f.logsf(np.divide(near, df), df, residual), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("residual", [300, 5000, 1e6])
def test_the_log_tail_of_f_beyond_the_smallest_float(residual: float) -> None:
    """Closed forms: (1 + x/r)^(-r/2) for df = 2, times (1 + r/2 · x/(r + x)) for df = 4; no seam where the method changes."""
    for x in (1000.0, 1200.0, 1280.0, 1290.0, 1300.0, 1320.0, 5000.0, 1e8):
        log_power = -0.5 * residual * math.log1p(x / residual)
        assert f_log_sf(x, 2, residual) == pytest.approx(log_power, rel=1e-12)
        assert f_log_sf(x, 4, residual) == pytest.approx(log_power + math.log1p(0.5 * residual * x / (residual + x)), rel=1e-12)
    tail = [f_log_sf(x, 1, residual) for x in np.linspace(1200.0, 30000.0, 400)]
    assert (np.diff(tail) < 0).all()


def test_many_residual_degrees_of_freedom_are_chi_squared() -> None:
    for x in (0.5, 10.0, 1400.0):
        assert f_log_sf(x, 3, 1e12) == pytest.approx(chi2_log_sf(x, 3), rel=1e-6)
    assert f_sf(4.0, 1, 5) > chi2_sf(4.0, 1)


def test_a_tail_below_the_smallest_float_is_zero_and_no_error() -> None:
    assert chi2_sf(1e5, 1) == 0.0
    assert chi2_log_sf(1e5, 2) == pytest.approx(-5e4, rel=1e-12)


@pytest.mark.parametrize(
    ("p_y", "p_x", "p"), [(0.01, 0.03, 0.02), (0.01, 0.015, 0.015), (0.5, 0.9, 0.9), (1.0, 1.0, 1.0), (0.0, 0.7, 0.0), (0.2, 0.2, 0.2)]
)
def test_symmetric(p_y: float, p_x: float, p: float) -> None:
    """min{2 min(p), max(p)}, whichever direction comes first, and never above one."""
    assert symmetric(p_y, p_x) == symmetric(p_x, p_y) == p
    if p_y and p_x:
        assert_allclose(log_symmetric(math.log(p_y), math.log(p_x)), math.log(p), atol=1e-15)
        assert log_symmetric(math.log(p_y), math.log(p_x)) == log_symmetric(math.log(p_x), math.log(p_y))


def test_log_symmetric_where_p_itself_is_no_float() -> None:
    assert log_symmetric(-1000.0, -3000.0) == pytest.approx(-3000.0 + math.log(2.0))


def test_fisher_with_the_numbers_of_the_paper() -> None:
    assert round(fisher(-2.0 * (math.log(0.0918) + math.log(0.3253)), 2), 4) == 0.1347


@pytest.mark.parametrize("p_values", [[0.3], [0.5, 0.5], [0.01, 0.2, 0.9], [1.0, 1.0], [1e-200, 0.4]])
def test_fisher_agrees_with_scipy(p_values: list[float]) -> None:
    statistic = -2.0 * sum(math.log(p) for p in p_values)
    assert_allclose(fisher(statistic, len(p_values)), combine_pvalues(p_values, method="fisher").pvalue, rtol=1e-10)


def test_fisher_of_no_site_is_one() -> None:
    assert fisher(0.0, 0) == 1.0
