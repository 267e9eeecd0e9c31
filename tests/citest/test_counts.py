"""Tests with counts: against R's glm(quasipoisson) and statsmodels, what must not matter, and what cannot be told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from scipy import stats

import consilience as cs
from consilience.citest.rounding import told_statistic
from consilience.federation.exchange import likelihood
from tests.federation.helpers import assert_alone

FOLDER = Path(__file__).parents[1] / "reference"
TESTS = json.loads((FOLDER / "counts.json").read_text())["tests"]
KINDS = dict.fromkeys("NMLR", "count") | {"C": "binary"}
EFFECTS = ("profiled", "coordinate", "joint")


def r_clients() -> list[cs.Client]:
    frame = pl.read_csv(FOLDER / "data" / "counts.csv")
    return [cs.Client(str(site), part.drop("site"), kinds=KINDS) for (site,), part in frame.partition_by("site", as_dict=True).items()]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["pooled", *EFFECTS])
def test_statistics_are_those_of_r(how: str) -> None:
    """Quasi-Poisson with site as a factor, and F from the dispersion of the larger model."""
    clients = r_clients()
    test: cs.CITest = cs.pooled(clients) if how == "pooled" else cs.Server(clients, site_effects=how)
    results = test.test_many([(t["x"], t["y"], t["given"]) for t in TESTS])
    compared = 0
    for want, got in zip(TESTS, results, strict=True):
        found = {d.response: d for d in got.directions}
        for d in want["directions"]:
            ours = found[d["response"]]
            assert ours.df == d["df"]
            assert ours.loglik_restricted == pytest.approx(d["loglik_restricted"], rel=1e-9)
            assert ours.loglik_unrestricted == pytest.approx(d["loglik_unrestricted"], rel=1e-9)
            if "f" in d:
                assert ours.residual_df == d["residual_df"]
                assert ours.dispersion == pytest.approx(d["dispersion"], rel=1e-8)
                assert ours.statistic / ours.df == pytest.approx(d["f"], rel=1e-7, abs=1e-9)
                assert ours.p_value == pytest.approx(d["p"], rel=1e-7)
                compared += 1
    assert compared >= 15


def frames(seed: int = 3, rows: int = 120) -> dict[str, pl.DataFrame]:
    """Three sites with means of their own: X and Y count, A is continuous, C binary."""
    rng = np.random.default_rng(seed)
    found = {}
    for k, shift in enumerate((-0.5, 0.4, 1.2)):
        a, c = rng.normal(size=rows), rng.integers(0, 2, rows)
        x = rng.poisson(np.exp(shift + 0.4 * a))
        y = rng.poisson(np.exp(1.0 - shift + 0.3 * a + 0.2 * c) * rng.gamma(2.0, 0.5, size=rows))
        found[f"s{k}"] = pl.DataFrame({"X": x, "Y": y, "A": a, "C": c})
    return found


def server(data: dict[str, pl.DataFrame], **options: Any) -> cs.Server:
    return cs.Server([cs.Client(name, frame, kinds={"X": "count", "Y": "count"}) for name, frame in data.items()], **options)


def same(one: cs.CIResult, other: cs.CIResult, tolerance: float = 1e-8) -> None:
    for a, b in zip(one.directions, other.directions, strict=True):
        assert (a.df, a.residual_df) == (b.df, b.residual_df)
        assert a.statistic == pytest.approx(b.statistic, rel=tolerance, abs=1e-10)
        assert a.dispersion == pytest.approx(b.dispersion, rel=tolerance)
    assert one.p_value == pytest.approx(other.p_value, rel=10 * tolerance)


def test_log_likelihoods_are_those_of_statsmodels() -> None:
    data = frames()
    whole = pl.concat([f.with_columns(pl.lit(name).alias("site")) for name, f in data.items()])
    site = whole.select("site").to_dummies().to_numpy().astype(float)
    by_y = next(d for d in server(data).test("X", "Y", ["A"]).directions if d.response == "Y")
    fits = []
    for names in (["A"], ["A", "X"]):
        design = np.column_stack([site, *(whole[n].to_numpy() for n in names)])
        fits.append(sm.GLM(whole["Y"].to_numpy(), design, family=sm.families.Poisson()).fit(tol=1e-14))
    small, large = fits
    assert by_y.loglik_restricted == pytest.approx(small.llf, rel=1e-10)
    assert by_y.loglik_unrestricted == pytest.approx(large.llf, rel=1e-10)
    assert by_y.dispersion == pytest.approx(large.pearson_chi2 / large.df_resid, rel=1e-8)
    assert by_y.p_value == pytest.approx(stats.f.sf(2 * (large.llf - small.llf) / by_y.dispersion, 1, large.df_resid), rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("effects", [*EFFECTS, "none"])
def test_units_and_shifts_of_predictors_do_not_matter(effects: str) -> None:
    data = frames()
    asked = [("X", "Y", ["A"]), ("A", "Y", ["X"])]
    wanted = server(data, site_effects=effects).test_many(asked)
    for change in (pl.col("A") * 1e-9, pl.col("A") + 1000.0):
        moved = {name: f.with_columns(change) for name, f in data.items()}
        for one, other in zip(wanted, server(moved, site_effects=effects).test_many(asked), strict=True):
            same(one, other)


def test_x_and_y_may_be_swapped() -> None:
    one, other = server(frames()).test("X", "Y", ["A", "C"]), server(frames()).test("Y", "X", ["A", "C"])
    assert one.p_value == other.p_value
    assert one.directions == other.directions[::-1]


@pytest.mark.slow
def test_the_order_of_sites_does_not_matter() -> None:
    data = frames()
    for effects in EFFECTS:
        one = server(data, site_effects=effects).test("X", "Y", ["A"])
        same(one, server(dict(reversed(data.items())), site_effects=effects).test("X", "Y", ["A"]))


def test_rows_that_stand_twice_double_the_likelihood_and_keep_pearson_per_row() -> None:
    data = frames()
    twice = {name: pl.concat([f, f]) for name, f in data.items()}
    one, two = server(data).test("X", "Y", ["A"]), server(twice).test("X", "Y", ["A"])
    for a, b in zip(one.directions, two.directions, strict=True):
        assert b.loglik_unrestricted == pytest.approx(2 * a.loglik_unrestricted, rel=1e-10)
        assert b.dispersion * b.residual_df == pytest.approx(2 * a.dispersion * a.residual_df, rel=1e-8)


def test_a_count_with_two_values_is_a_binary_predictor() -> None:
    data = {name: f.with_columns((pl.col("X") > 1).cast(pl.Int64)) for name, f in frames().items()}
    as_binary = cs.Server([cs.Client(n, f, kinds={"X": "binary", "Y": "count"}) for n, f in data.items()])
    one, other = (next(d for d in s.test("X", "Y", ["A"]).directions if d.response == "Y") for s in (server(data), as_binary))
    assert one.statistic == pytest.approx(other.statistic, rel=1e-9)


def test_compressed_rows_say_what_rows_say() -> None:
    """Discrete predictors only: rows are counted; a constant continuous one keeps them apart and adds nothing."""
    data = {name: f.with_columns(pl.lit(1.0).alias("one")) for name, f in frames().items()}
    test = server(data)
    one, other = test.test("C", "Y"), test.test("C", "Y", ["one"])
    assert one.directions[0].statistic == pytest.approx(other.directions[0].statistic, rel=1e-9)
    assert one.directions[0].dispersion == pytest.approx(other.directions[0].dispersion, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("effects", EFFECTS)
def test_a_site_that_counted_nothing_changes_nothing(effects: str) -> None:
    data = frames()
    quiet = data | {"s9": data["s0"].with_columns(pl.lit(0).alias("Y"))}
    one, other = (server(d, site_effects=effects).test("A", "Y", ["C"]) for d in (data, quiet))
    a, b = one.directions[0], other.directions[0]
    assert (a.response, a.residual_df) == ("Y", b.residual_df)
    assert b.statistic == pytest.approx(a.statistic, rel=1e-8)
    pooled = cs.pooled([cs.Client(n, f, kinds={"X": "count", "Y": "count"}) for n, f in quiet.items()]).test("A", "Y", ["C"])
    assert pooled.directions[0].statistic == pytest.approx(a.statistic, rel=1e-8)
    assert pooled.directions[0].residual_df == a.residual_df


@pytest.mark.parametrize("how", ["pooled", *EFFECTS])
def test_means_may_differ_by_any_factor_between_sites(how: str) -> None:
    rng = np.random.default_rng(8)
    data = {}
    for name, mean in {"a": 0.2, "b": 30.0, "c": 1e6}.items():
        a = rng.normal(size=80)
        data[name] = pl.DataFrame({"A": a, "X": rng.poisson(2.0, 80), "Y": rng.poisson(mean * np.exp(0.3 * a))})
    clients = [cs.Client(name, f, kinds={"X": "count", "Y": "count"}) for name, f in data.items()]
    test: cs.CITest = cs.pooled(clients) if how == "pooled" else cs.Server(clients, site_effects=how)
    found = test.test("X", "Y", ["A"])
    assert found.converged
    same(found, cs.Server(clients).test("X", "Y", ["A"]))


def test_counts_that_nothing_scatters_are_an_exact_function() -> None:
    rng = np.random.default_rng(5)
    data = {}
    for name in "ab":
        c = rng.integers(0, 2, 50)
        data[name] = pl.DataFrame({"C": c, "Y": 2 + 3 * c, "X": rng.poisson(2.0, 50)})
    found = server(data).test("X", "Y", ["C"])
    by_y, by_x = found.directions
    assert by_y.reason == "Y is an exact function of the conditioning variables"
    assert by_x.reason == "Y does not vary within any site once C is known in the rows of this test"
    # and where the predictor itself says all, there is no doubt
    assert server(data).test("C", "Y").directions[0].p_value < 1e-100


@pytest.mark.slow
def test_a_level_where_nothing_was_counted_is_separated() -> None:
    data = {name: f.with_columns(pl.when(pl.col("C") == 1).then(0).otherwise(pl.col("Y")).alias("Y")) for name, f in frames().items()}
    clients = [cs.Client(name, f, kinds={"X": "count", "Y": "count"}) for name, f in data.items()]
    wanted = cs.pooled(clients).test("X", "Y", ["C"])
    for effects in EFFECTS:
        found = cs.Server(clients, site_effects=effects).test("X", "Y", ["C"])
        assert found.converged
        assert found.directions[0].separated
        assert found.directions[0].statistic == pytest.approx(wanted.directions[0].statistic, rel=1e-6)


def test_too_few_rows_above_zero_are_said() -> None:
    frame = pl.DataFrame({"A": [0.1, 0.5, 0.9], "B": [1.0, 0.3, 0.2], "Y": [1, 0, 2]})
    quiet = pl.DataFrame({"A": np.linspace(0, 1, 30), "B": np.linspace(0, 1, 30) ** 2, "Y": [0] * 30})
    clients = [cs.Client(n, f, kinds={"Y": "count"}) for n, f in {"a": frame, "b": quiet}.items()]
    found = cs.Server(clients).test("A", "Y", ["B"])
    assert found.directions[0].reason == "the rows of sites with a Y above zero are too few for the 2 slopes of its model"


def test_one_site_alone_says_the_p_value_of_its_own_test() -> None:
    data = frames()
    clients = [cs.Client("s0", data["s0"], kinds={"X": "count", "Y": "count"}), cs.Client("s1", data["s1"].select("A", "C"))]
    alone = cs.Server(clients).test("X", "Y", ["A"])
    wanted = cs.pooled(clients[:1]).test("X", "Y", ["A"])
    assert_alone(alone, wanted)


def test_fishers_method_takes_p_values_from_f() -> None:
    data = frames(rows=25)
    clients = [cs.Client(name, f, kinds={"X": "count", "Y": "count"}) for name, f in data.items()]
    own = [told_statistic(cs.pooled([client]).test("X", "Y", ["A"]).log_p) for client in clients]
    assert cs.fisher(clients).test("X", "Y", ["A"]).p_value == pytest.approx(stats.chi2.sf(sum(own), 2 * len(own)), rel=1e-7)


def test_a_ridge_shrinks_both_models_alike() -> None:
    plain, ridge = (server(frames(), ridge=r).test("X", "Y", ["A"]).directions[0] for r in (0.0, 1e-3))
    assert ridge.converged
    assert ridge.statistic == pytest.approx(plain.statistic, rel=0.1)
    assert ridge.statistic != plain.statistic


def test_site_effects_without_a_model_of_counts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likelihood, "EFFECTS_OF_COUNTS", ())
    with pytest.raises(cs.errors.OptionError, match=r"'Y' is a count, .*site_effects='profiled'.*declare 'Y' continuous"):
        server(frames()).test("A", "Y")
    assert server(frames()).test("A", "C").informative
