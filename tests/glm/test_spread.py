"""The step of a standard deviation: it ends at the maximum of functions that are even and not concave."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from consilience.glm.layout import Total
from consilience.glm.solver import FitProblem, Newton
from consilience.glm.spread import spread_step

Function = Callable[[float], tuple[float, float, float]]


def sites(variance: float, rows: float, count: float = 30.0) -> Function:
    """Minus deviance of ``count`` site means with this variance (of which 1/rows is noise), with slope and curvature: the balanced case."""

    def at(s: float) -> tuple[float, float, float]:
        grown = 1.0 + rows * s * s
        c = count * variance * rows
        value = -0.5 * count * math.log(grown) - 0.5 * c / grown
        d1 = -0.5 * count / grown + 0.5 * c / grown**2  # by `grown`, whose derivative by s is 2 rows s
        d2 = 0.5 * count / grown**2 - c / grown**3
        return value, d1 * 2 * rows * s, -(d2 * (2 * rows * s) ** 2 + d1 * 2 * rows)

    return at


@pytest.mark.parametrize("rows", [1.0, 20.0, 1000.0])
@pytest.mark.parametrize("start", [0.0, 0.01, 0.5, 10.0])
@pytest.mark.parametrize("truth", [0.0, 0.05, 0.3, 1.0, 30.0])
def test_it_finds_the_maximum_in_few_rounds(rows: float, start: float, truth: float) -> None:
    variance = truth**2 + (0.5 if truth == 0.0 else 1.0) / rows  # less than the noise alone: the maximum is at zero
    function = sites(variance, rows)
    newton = Newton(FitProblem(np.array([start]), np.zeros(1), 0, spread=True))
    while newton.fit is None:
        value, slope, curvature = function(float(newton.beta[0]))
        newton.tell(Total(False, value, 0.0, 0.0, np.array([slope]), np.array([[curvature]])))
    assert newton.fit.converged
    assert newton.fit.loglik == pytest.approx(function(truth)[0], abs=1e-6)
    assert newton.fit.rounds <= 16


@pytest.mark.parametrize("start", [0.0, 0.5])
@pytest.mark.parametrize("truth", [0.018, 0.0])
def test_many_rows_at_few_sites_end_in_few_rounds(start: float, truth: float) -> None:
    """The maximum is next to zero, where it bends up: a step off zero by a quarter was too long however often it was halved."""
    count, rows = 4, 2500.0
    function = sites(truth**2 + (1.0 if truth else 0.5) / rows, rows, count)
    newton = Newton(FitProblem(np.array([0.0, start]), np.ones(2), 0, spread=True, sites=count))
    while newton.fit is None:
        value, slope, curvature = function(float(newton.beta[1]))
        about_mean = count * rows / (1.0 + rows * float(newton.beta[1]) ** 2)
        score, info = np.array([-about_mean * newton.beta[0], slope]), np.diag([about_mean, curvature])
        newton.tell(Total(False, value - 0.5 * about_mean * float(newton.beta[0]) ** 2, 0.0, 0.0, score, info))
    assert newton.fit.converged
    assert newton.fit.loglik == pytest.approx(function(truth)[0], abs=1e-8)
    assert newton.fit.rounds <= 5


def test_steps_are_odd_in_the_spread() -> None:
    for s, g, h in ((0.5, 1.0, 2.0), (0.5, -1.0, 2.0), (0.5, 1.0, -2.0), (0.5, -1.0, -2.0)):
        there, gain = spread_step(s, g, h)
        back, same = spread_step(-s, -g, h)
        assert (back, same) == (-there, gain)
        assert there * g > 0
        assert gain > 0


@pytest.mark.parametrize("slope", [-1e-18, 0.0, 1e-18])
@pytest.mark.parametrize("s", [-1e-17, 0.0, 1e-17])
def test_a_saddle_is_left_whatever_rounding_says(s: float, slope: float) -> None:
    step, gain = spread_step(s, slope, -3.0)
    assert abs(step) >= 0.1
    assert gain > 0.01


def test_a_fit_that_passes_its_ceiling_ends_as_separated() -> None:
    newton = Newton(FitProblem(np.array([1.0]), np.zeros(1), 0, ceiling=(0, 100.0)))
    while newton.fit is None:  # log ω has no maximum
        omega = float(newton.beta[0])
        newton.tell(Total(False, math.log(omega), 0.0, 0.0, np.array([1 / omega]), np.array([[1 / omega**2]])))
    assert newton.fit.separated
    assert newton.fit.loglik > math.log(100.0)
