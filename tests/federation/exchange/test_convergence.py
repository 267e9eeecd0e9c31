"""Fits that are hard: every variant reaches the pooled maximum, or says that it has none to tell."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.citest.laws import Law
from consilience.federation.exchange.likelihood import Reference, direction, result
from consilience.glm.solver import Fit

VARIANTS = ("profiled", "coordinate", "joint")


def binary(make: Callable[[int, np.ndarray, np.random.Generator], dict[str, np.ndarray]]) -> list[cs.Client]:
    rng = np.random.default_rng(0)
    return [cs.Client(f"s{k}", pl.DataFrame(make(k, rng.normal(size=60), rng))) for k in range(3)]


def separated(k: int, x: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"X": x, "Y": (x > 0.1 * k).astype(int), "Z": rng.normal(size=60)}


def collinear(k: int, x: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"X": x, "Z": x + 1e-3 * rng.normal(size=60), "Y": (x + rng.logistic(size=60) > 0).astype(int)}


def outlier(k: int, x: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    y = (x + rng.logistic(size=60) > 0).astype(int)
    return {"X": np.where((np.arange(60) == 0) & (k == 0), 1e6, x), "Y": y, "Z": rng.normal(size=60)}


@pytest.mark.slow
@pytest.mark.parametrize("make", [separated, collinear, outlier])
@pytest.mark.parametrize("given", [(), ("Z",)])
def test_coordinates_that_creep_go_on_with_the_profile(make: Callable[..., dict[str, np.ndarray]], given: tuple[str, ...]) -> None:
    clients = binary(make)
    wanted = next(d for d in cs.pooled(clients).test("X", "Y", given).directions if d.response == "Y")
    for variant in VARIANTS:
        server = cs.Server(clients, site_effects=variant)
        found = next(d for d in server.test("X", "Y", given).directions if d.response == "Y")
        assert found.converged
        assert found.statistic == pytest.approx(wanted.statistic, rel=1e-6, abs=1e-7)
        assert server.rounds < 120


@pytest.mark.slow
def test_ten_thresholds_with_levels_missing_here_and_there() -> None:
    rng = np.random.default_rng(3)
    clients = []
    for k in range(3):
        x = rng.normal(size=150)
        y = np.digitize(0.5 * x + rng.logistic(size=150), np.linspace(-3.0, 3.0, 9))
        y[y == 3 + k] = 2 + k
        clients.append(cs.Client(f"s{k}", pl.DataFrame({"X": x, "Y": y}), kinds={"Y": "ordinal"}, levels={"Y": range(10)}))
    wanted = cs.pooled(clients, ordinal="generalized").test("X", "Y").directions[0]
    for variant in VARIANTS:
        found = cs.Server(clients, ordinal="generalized", site_effects=variant).test("X", "Y").directions[0]
        assert found.converged
        assert found.statistic == pytest.approx(wanted.statistic, rel=1e-6)
        assert found.df == wanted.df < 9  # levels that sites lack tie slopes of neighbouring thresholds


def test_a_fit_that_did_not_converge_is_no_answer() -> None:
    done, lost = Fit(-10.0, 5, converged=True), Fit(-9.0, 200, converged=False)
    law = Reference(Law.CHI2, 50.0, 0)
    question = cs.Question("X", "Y")
    bad, good = direction("Y", "X", 1, done, lost, law, gaussian=False), direction("X", "Y", 1, done, done, law, gaussian=False)
    assert (bad.informative, bad.converged, bad.p_value) == (False, False, 1.0)
    neither = result(question, (bad, bad), 50, 2, 200)
    assert (neither.informative, neither.converged, neither.reason) == (False, False, "the models of Y did not reach their maximum")
    one = result(question, (bad, good), 50, 2, 200)
    assert (one.informative, one.converged, one.p_value) == (True, True, good.p_value)
    assert not question.result(0.5, converged=False).informative
