"""Whether linear models hold, in results, reports and files of before."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.iod.report import render
from tests.iod.report.helpers import read, small

COLUMNS = ("linear_p", "curvature_p", "variance_p", "slopes_p", "i_squared", "method")


@pytest.fixture(scope="module")
def curved() -> cs.Discovery:
    rng, clients = np.random.default_rng(0), []
    for k in range(3):
        z = rng.normal(size=300)
        clients.append(cs.Client(f"s{k}", pl.DataFrame({"Z": z, "X": z**2 + rng.normal(size=300), "W": rng.normal(size=300)})))
    return cs.discover(cs.Server(clients))


def test_a_discovery_counts_the_tests_whose_models_do_not_hold(curved: cs.Discovery) -> None:
    bad = sum(p is not None and p < 1e-6 for p in curved.tests["linear_p"])
    assert 0 < bad < curved.tests.height
    assert str(curved.diagnosis) == f"in {bad} of {curved.tests.height} tests the linear model does not hold: use method='residual'"
    assert json.loads(json.dumps(curved.to_dict()))["diagnosis"] == str(curved.diagnosis)


def test_the_report_lists_them(curved: cs.Discovery) -> None:
    section = next(s for s in read(render(curved)).one("main").all("section") if s.attributes["id"] == "linear")
    assert str(curved.diagnosis)[1:] in section.text
    assert len(section.one("tbody").all("tr")) == curved.diagnosis.doubtful


def test_the_report_of_a_result_without_them_says_so() -> None:
    section = next(s for s in read(render(small())).one("main").all("section") if s.attributes["id"] == "linear")
    assert "was not looked at" in section.text
    assert not section.all("table")


def test_results_are_read_back_with_them_and_without(curved: cs.Discovery) -> None:
    told = json.loads(json.dumps(curved.to_dict()))
    again = cs.Discovery.from_dict(told)
    assert again.diagnosis == curved.diagnosis
    assert again.tests.select(COLUMNS).equals(curved.tests.select(COLUMNS))
    for test in told["tests"]:
        for name in COLUMNS:
            del test[name]
    del told["diagnosis"]
    old = cs.Discovery.from_dict(told)
    assert str(old.diagnosis) == "whether linear models hold was not looked at"
    assert "was not looked at" in render(old)
    assert old.redecide(alpha=0.01).diagnosis.made == 0


def test_redeciding_keeps_them(curved: cs.Discovery) -> None:
    assert curved.redecide(alpha=0.01).diagnosis == curved.diagnosis
