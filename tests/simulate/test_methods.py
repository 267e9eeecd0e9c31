"""The study's short cut gives what the public tests give."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.citest.question import Question
from consilience.reproduction.design import study_graphs
from consilience.reproduction.runs import find_pags
from consilience.simulate import from_graph
from consilience.simulate.methods import ComparedMethod, run_methods


@pytest.mark.slow
def test_every_method_equals_its_public_counterpart() -> None:
    """Under the plain χ² of the paper, which the paper's study keeps."""
    graph = study_graphs(2)[1]
    made = from_graph(graph.pag, n=600, sites=4, seed=3, exclusive=graph.exclusive)
    clients = made.clients()
    public = {
        ComparedMethod.FEDCI: cs.Server(clients, small_sample=False),
        ComparedMethod.JOINT: cs.Server(clients, site_effects="joint", small_sample=False),
        ComparedMethod.COORDINATE: cs.Server(clients, site_effects="coordinate", small_sample=False),
        ComparedMethod.FISHER: cs.fisher(clients, small_sample=False, single_site="refuse"),
        ComparedMethod.POOLED: cs.pooled(clients, small_sample=False),
    }
    found = run_methods(made.frames, made.schema, graph.questions)
    for method, test in public.items():
        wanted = [math.log(result.p_value) for result in test.answer(graph.questions)]
        assert found[method].log_p == pytest.approx(wanted, rel=1e-7, abs=1e-7), method
        pags = cs.discover(test, alpha=0.05).pags
        assert find_pags(graph.questions, found[method].log_p, graph.datasets) == pags
    assert np.abs(np.subtract(found[ComparedMethod.FISHER].log_p, found[ComparedMethod.POOLED].log_p)).max() > 0.1


def test_p_values_too_small_for_a_float_have_a_logarithm() -> None:
    rng = np.random.default_rng(1)
    frames = {}
    for name in ("one", "two"):
        x = rng.normal(size=3000)
        frames[name] = pl.DataFrame({"X": x, "Y": x + 0.3 * rng.normal(size=3000)})
    found = run_methods(frames, cs.Schema({"X": "continuous", "Y": "continuous"}), [Question("X", "Y")])
    for outcome in found.values():
        assert -20_000 < outcome.log_p[0] < -1000
    assert found[ComparedMethod.FEDCI].log_p[0] == pytest.approx(found[ComparedMethod.POOLED].log_p[0], rel=1e-9)


def test_a_test_that_cannot_be_done_has_none() -> None:
    frames = {name: pl.DataFrame({"X": [1.0] * 30, "Y": np.linspace(0, 1, 30)}) for name in ("one", "two")}
    found = run_methods(frames, cs.Schema({"X": "continuous", "Y": "continuous"}), [Question("X", "Y")])
    assert all(math.isnan(outcome.log_p[0]) for outcome in found.values())
