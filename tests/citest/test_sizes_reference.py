"""Sizes of associations against statsmodels: OLS, Logit, OrderedModel, MNLogit and quasi-Poisson with site dummies, on pooled rows.

Estimates agree to 1e-6. Standard errors of fits in steps are those of the last point that was asked for, one step before the estimate.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.miscmodels.ordinal_model import OrderedModel

import consilience as cs

KINDS = {"stage": "ordinal", "visits": "count", "smoker": "binary", "ward": "multinomial"}
LEVELS = {"stage": [0, 1, 2, 3], "smoker": ["no", "yes"], "ward": ["p", "q", "r"]}
SE = 1e-4
"""How far a standard error from the last point may be from that at the maximum, as a share."""


@cache
def frames() -> list[pl.DataFrame]:
    rng, made = np.random.default_rng(4), []
    for k, n in enumerate((160, 220, 190)):
        salt = rng.normal(size=n) + k
        age = 50 + 10 * (0.6 * salt + rng.normal(size=n))
        u = (age - 50) / 10
        smoker = rng.random(n) < 1 / (1 + np.exp(0.3 - 0.6 * u + 0.2 * k))
        ward = np.argmax(np.stack([rng.gumbel(size=n), 0.4 * u + rng.gumbel(size=n), 0.3 * k - 0.3 * u + rng.gumbel(size=n)]), axis=0)
        made.append(
            pl.DataFrame(
                {
                    "salt": salt,
                    "age": age,
                    "bp": 120 + 8 * (0.3 * u - 0.4 * smoker + rng.normal(size=n)),
                    "smoker": np.where(smoker, "yes", "no"),
                    "stage": np.digitize(0.7 * u + rng.logistic(size=n) + 0.3 * k, [-1.0, 0.5, 1.5]),
                    "ward": np.array(["p", "q", "r"])[ward],
                    "visits": rng.poisson(np.exp(0.5 + 0.2 * u + 0.3 * smoker) * rng.gamma(2.0, 0.5, size=n)),
                }
            )
        )
    return made


@cache
def server() -> cs.Server:
    return cs.Server([cs.Client(f"s{k}", frame, kinds=KINDS, levels=LEVELS) for k, frame in enumerate(frames())])


def whole() -> pl.DataFrame:
    return pl.concat([frame.with_columns(site=pl.lit(k)) for k, frame in enumerate(frames())])


def design(predictor: str, given: tuple[str, ...], *, constant: bool = True) -> np.ndarray:
    """Predictor first, divided by its standard deviation within sites; then what is given, then sites."""
    rows = whole()
    sites = np.stack([(rows["site"] == k).to_numpy().astype(float) for k in range(0 if constant else 1, 3)], axis=1)
    parts = [np.atleast_2d(coded(name).T).T / (within(name) if name == predictor else 1.0) for name in (predictor, *given)]
    return np.concatenate([*parts, sites], axis=1)


def coded(name: str) -> np.ndarray:
    column = whole()[name]
    if name not in LEVELS:
        return column.to_numpy().astype(float)
    return np.stack([(column == level).to_numpy().astype(float) for level in LEVELS[name][1:]], axis=1)


def within(name: str) -> float:
    """The standard deviation about the means of sites, with n in the denominator; of levels 1."""
    if name in LEVELS:
        return 1.0
    rows = whole()
    left = rows[name] - rows.select(pl.col(name).mean().over("site"))[name]
    return float(np.sqrt((left**2).mean()))  # type: ignore[operator,arg-type]


def codes(name: str) -> np.ndarray:
    return whole()[name].replace_strict(dict(zip(LEVELS[name], range(9), strict=False))).to_numpy()


def direction(response: str, predictor: str, given: tuple[str, ...]) -> cs.Direction:
    told = server().test(predictor, response, given)
    (found,) = (d for d in told.directions if d.response == response)
    assert found.sizes
    return found


CASES = [("age", ("salt",)), ("smoker", ("age",)), ("ward", ("age", "salt")), ("stage", ()), ("visits", ("smoker",))]


@pytest.mark.parametrize(("predictor", "given"), CASES)
def test_slopes_are_those_of_least_squares(predictor: str, given: tuple[str, ...]) -> None:
    found, sd = direction("bp", predictor, given), within("bp")
    fit = sm.OLS(whole()["bp"].to_numpy() / sd, design(predictor, given)).fit()
    for place, size in enumerate(found.sizes):
        assert (size.measure, size.estimate) == ("slope", pytest.approx(fit.params[place], abs=1e-9))
        assert size.se == pytest.approx(fit.bse[place], rel=1e-9)
        assert (size.low, size.high) == pytest.approx(tuple(fit.conf_int()[place]), abs=1e-9)


@pytest.mark.parametrize(("predictor", "given"), [("age", ("salt",)), ("bp", ("age", "ward")), ("ward", ("age",)), ("stage", ("bp",))])
def test_odds_of_two_levels_are_those_of_a_logit(predictor: str, given: tuple[str, ...]) -> None:
    found = direction("smoker", predictor, given)
    fit = sm.Logit(codes("smoker"), design(predictor, given)).fit(disp=0, tol=1e-12)
    check_odds(found, fit.params, fit.bse)
    assert {(size.outcome, size.against) for size in found.sizes} == {("yes", "no")}


@pytest.mark.slow
def test_odds_of_ordered_levels_are_those_of_a_proportional_model() -> None:
    for predictor, given in (("age", ("salt",)), ("smoker", ("age",))):
        X = design(predictor, given, constant=False)
        # its search ends where rounding lets it gain nothing more, and calls that a failure
        fit = OrderedModel(codes("stage"), X, distr="logit").fit(method="bfgs", disp=0, gtol=1e-9, maxiter=500, warn_convergence=False)
        check_odds(direction("stage", predictor, given), fit.params[: X.shape[1]], fit.bse[: X.shape[1]])


def test_odds_of_unordered_levels_are_those_of_a_multinomial_model() -> None:
    for predictor, given in (("age", ("salt",)), ("smoker", ("age",))):
        fit = sm.MNLogit(codes("ward"), design(predictor, given)).fit(disp=0, method="newton", tol=1e-12)
        found = direction("ward", predictor, given)
        assert [(size.outcome, size.against) for size in found.sizes] == [("q", "p"), ("r", "p")]
        check_odds(found, fit.params[0], fit.bse[0])


def test_rates_are_those_of_a_quasi_poisson_model() -> None:
    for predictor, given in (("age", ("smoker",)), ("smoker", ("age", "salt"))):
        found = direction("visits", predictor, given)
        fit = sm.GLM(whole()["visits"].to_numpy(), design(predictor, given), family=sm.families.Poisson()).fit(scale="X2", tol=1e-13)
        (size,) = found.sizes
        assert size.measure == "rate ratio"
        assert np.log(size.estimate) == pytest.approx(fit.params[0], abs=1e-6)
        assert size.se == pytest.approx(fit.bse[0], rel=SE)
        reach = stats.t.ppf(0.975, fit.df_resid) * fit.bse[0]
        assert np.log([size.low, size.high]) == pytest.approx([fit.params[0] - reach, fit.params[0] + reach], abs=1e-5)  # type: ignore[list-item]


def check_odds(found: cs.Direction, params: Any, errors: Any) -> None:
    """Estimates and standard errors, and intervals that are wider by what the scaled law takes from the statistic."""
    wider = np.sqrt(found.rows / found.residual_df)
    for place, size in enumerate(found.sizes):
        assert size.measure == "odds ratio"
        assert np.log(size.estimate) == pytest.approx(params[place], abs=2e-6)
        assert size.se == pytest.approx(errors[place], rel=SE)
        reach = stats.norm.ppf(0.975) * wider * size.se
        assert np.log([size.low, size.high]) == pytest.approx([np.log(size.estimate) - reach, np.log(size.estimate) + reach])  # type: ignore[list-item]


def test_strength_is_the_partial_correlation_between_numbers() -> None:
    rows = whole()
    Z = np.column_stack([rows["salt"].to_numpy(), *((rows["site"] == k).to_numpy().astype(float) for k in range(3))])
    left = [sm.OLS(rows[name].to_numpy(), Z).fit().resid for name in ("age", "bp")]
    told = server().test("age", "bp", ["salt"])
    correlation = np.corrcoef(*left)[0, 1]
    assert told.strength == pytest.approx(abs(correlation), abs=1e-9)
    assert told.sign == ("+" if correlation > 0 else "−")


@pytest.mark.slow
def test_slopes_with_random_effects_are_those_of_a_mixed_model() -> None:
    """Eight sites, one spread of intercepts; standard deviations about the common mean."""
    rng = np.random.default_rng(5)
    parts = []
    for _ in range(8):
        x = rng.normal(size=60) + rng.normal()
        parts.append(pl.DataFrame({"X": x, "Y": 0.4 * x + rng.normal() + rng.normal(size=60)}))
    told = cs.Server([cs.Client(f"s{k}", part) for k, part in enumerate(parts)], site_effects="random").test("X", "Y")
    (size,) = next(d for d in told.directions if d.response == "Y").sizes
    x, y = (np.concatenate([part[name].to_numpy() for part in parts]) for name in "XY")
    design = np.column_stack([np.ones(480), x / x.std()])
    fit = sm.MixedLM(y / y.std(), design, groups=np.repeat(range(8), 60)).fit(reml=False, gtol=1e-10)
    assert size.estimate == pytest.approx(fit.fe_params[1], abs=1e-5)
    # its own standard errors let the variances vary, too; held at their estimates they are those of generalised least squares
    V = fit.scale * np.eye(480) + float(np.asarray(fit.cov_re).item()) * np.kron(np.eye(8), np.ones((60, 60)))
    assert size.se == pytest.approx(np.sqrt(np.linalg.inv(design.T @ np.linalg.solve(V, design))[1, 1]), rel=1e-4)
