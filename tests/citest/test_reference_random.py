"""Random site effects against R on pooled rows: lme4::lmer and glmer, ordinal::clmm."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import consilience as cs

FOLDER = Path(__file__).parents[1] / "reference"
TESTS = json.loads((FOLDER / "random.json").read_text())["tests"]


def clients() -> list[cs.Client]:
    frame = pl.read_csv(FOLDER / "data" / "random.csv")
    declared = json.loads((FOLDER / "data" / "random_variables.json").read_text())
    kinds = {name: spec["kind"] for name, spec in declared.items()}
    levels = {name: spec["levels"] for name, spec in declared.items() if "levels" in spec}
    parts = frame.partition_by("site", as_dict=True).items()
    return [cs.Client(str(site), part.drop("site"), kinds=kinds, levels=levels) for (site,), part in parts]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["pooled", "federated"])
def test_statistics_and_log_likelihoods_are_those_of_r(how: str) -> None:
    """Also where the variance is estimated as zero, where a response is constant at some sites, and for predictors of sites."""
    sites = clients()
    test: cs.CITest = cs.pooled(sites, site_effects="random") if how == "pooled" else cs.Server(sites, site_effects="random")
    seen = 0
    for want, got in zip(TESTS, test.test_many([(t["x"], t["y"], t["given"]) for t in TESTS]), strict=True):
        found = {d.response: d for d in got.directions}
        for d in want["directions"]:
            ours = found[d["response"]]
            assert ours.converged
            assert ours.df == d["df"]
            assert ours.loglik_restricted == pytest.approx(d["loglik_restricted"], abs=1e-4), (want, ours)
            assert ours.loglik_unrestricted == pytest.approx(d["loglik_unrestricted"], abs=1e-4), (want, ours)
            assert ours.statistic == pytest.approx(d["statistic"], abs=1e-4), (want, ours)
            seen += 1
    assert seen >= 35


def test_a_response_without_variance_within_sites_is_no_answer() -> None:
    result = cs.Server(clients(), site_effects="random").test("A", "G")
    by_g = next(d for d in result.directions if d.response == "G")
    assert not by_g.informative
    assert "exact function" in by_g.reason
    assert result.informative
