"""Pooled against independent software: R (ordinal::clm, VGAM::vglm, lm, glm) and statsmodels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

import consilience as cs

FOLDER = Path(__file__).parents[1] / "reference"
TESTS = json.loads((FOLDER / "reference.json").read_text())["tests"]
VARIABLES = json.loads((FOLDER / "data" / "variables.json").read_text())
CASES = sorted(VARIABLES)


def clients_of(case: str) -> list[cs.Client]:
    frame = pl.read_csv(FOLDER / "data" / f"{case}.csv")
    kinds = {name: spec["kind"] for name, spec in VARIABLES[case].items()}
    levels = {name: spec["levels"] for name, spec in VARIABLES[case].items() if "levels" in spec}
    return [
        cs.Client(str(site), part.drop("site"), kinds=kinds, levels=levels)
        for (site,), part in frame.partition_by("site", as_dict=True).items()
    ]


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[str, list[cs.Client]]:
    return request.param, clients_of(request.param)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["pooled", "profiled"])
@pytest.mark.parametrize("ordinal", ["proportional", "generalized"])
def test_statistics_and_df_are_those_of_r(case: tuple[str, list[cs.Client]], ordinal: str, how: str) -> None:
    name, clients = case
    test: cs.CITest = cs.pooled(clients, ordinal=ordinal) if how == "pooled" else cs.Server(clients, ordinal=ordinal)
    wanted = [t for t in TESTS if t["case"] == name and t["ordinal"] == ordinal]
    if name == "same_middle" and ordinal == "generalized":
        pytest.skip("R's thresholds of this case run away where there is a slope per threshold")
    assert len(wanted) >= 5
    results = test.test_many([(t["x"], t["y"], t["given"]) for t in wanted])
    for want, got in zip(wanted, results, strict=True):
        found = {d.response: d for d in got.directions}
        for d in want["directions"]:
            ours = found[d["response"]]
            assert ours.df == d["df"], (name, want, ours)
            assert ours.statistic == pytest.approx(d["statistic"], rel=1e-4, abs=1e-6), (name, want, ours)
            if ours.informative:
                assert ours.loglik_unrestricted == pytest.approx(d["loglik_unrestricted"], abs=1e-4)
                assert ours.loglik_restricted == pytest.approx(d["loglik_restricted"], abs=1e-4)
        for d in want.get("skipped", []):  # R cannot fit an exact linear function of the predictors; here it is not informative
            assert not found[d["response"]].informative


def _loglik(kind: str, y: pl.Series, design: np.ndarray) -> float:
    if kind == "continuous":
        return float(sm.OLS(y.to_numpy(), design).fit().llf)
    if kind == "binary":
        return float(sm.Logit(y.to_numpy(), design).fit(disp=0, tol=1e-12).llf)
    codes = np.unique(y.to_numpy(), return_inverse=True)[1]
    return float(sm.MNLogit(codes, design).fit(disp=0, method="newton", tol=1e-12).llf)


def _columns(frame: pl.DataFrame, names: list[str]) -> np.ndarray:
    parts = [np.ones((frame.height, 1))]
    for name in names:
        column = frame[name]
        if column.dtype == pl.Float64:
            parts.append(column.to_numpy()[:, None])
        else:
            parts.append(frame.select(name).to_dummies(drop_first=True).to_numpy().astype(float))
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize(("x", "y", "given"), [("A", "B", ["C"]), ("C", "E", ["A"]), ("C", "D", ["B", "E"]), ("A", "E", ["B", "D"])])
def test_pooled_equals_statsmodels(x: str, y: str, given: list[str]) -> None:
    """OLS, Logit and MNLogit with site dummies; the ordinal response is left to R."""
    frames = cs.simulate.mixed_sites(n=900, sites=3, seed=12)
    whole = pl.concat([f.with_columns(pl.lit(name).alias("site")) for name, f in frames.items()])
    result = cs.pooled(frames.values()).test(x, y, given)
    for d in result.directions:
        if d.response == "D":
            continue
        kind = {"A": "continuous", "B": "continuous", "C": "binary", "E": "multinomial"}[d.response]
        restricted = _loglik(kind, whole[d.response], _columns(whole, [*given, "site"]))
        full = _loglik(kind, whole[d.response], _columns(whole, [*given, "site", d.predictor]))
        assert d.statistic == pytest.approx(2 * (full - restricted), rel=1e-6, abs=1e-7)
        assert d.loglik_unrestricted == pytest.approx(full, rel=1e-9)
