"""Tests of residuals: federated = pooled on random studies, what they are robust to, and what they say when they cannot tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.errors import OptionError
from tests.federation.helpers import assert_alone
from tests.federation.test_equality import questions
from tests.random_studies import random_study, with_wards

pytestmark = pytest.mark.filterwarnings("ignore::consilience.DoubtfulDataWarning")  # random tables look odd at times

VARIANTS: dict[str, dict[str, Any]] = {
    "linear": {},
    "smooth": {"alternatives": "smooth"},
    "wards": {"cluster": "ward"},
    "smooth, wards": {"alternatives": "smooth", "cluster": "ward"},
    "common slopes": {"site_slopes": False},
}


EXACT = ("X is an exact function of the conditioning variables", "X does not vary within any site in the rows of this test")


def assert_same(got: cs.CIResult, wanted: cs.CIResult) -> None:
    if wanted.informative and wanted.contributors == 1:
        assert_alone(got, wanted)
        return
    assert (got.n, got.contributors, got.informative) == (wanted.n, wanted.contributors, wanted.informative), f"{got} {wanted}"
    for a, b in zip(got.directions, wanted.directions, strict=True):
        assert a.df == b.df
        assert a.statistic == pytest.approx(b.statistic, rel=1e-6, abs=1e-9)
    assert got.p_value == pytest.approx(wanted.p_value, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("seed", range(4))
def test_federated_equals_pooled_on_random_studies(seed: int, name: str) -> None:
    """Missing values, absent variables, all kinds, sites without some levels. ``benchmarks/residual_equality.py`` does 200."""
    seed = 10 * seed + list(VARIANTS).index(name)
    clients, asked = with_wards(random_study(seed), seed), questions(seed)
    schema = dict(cs.Server(clients, method="residual", cluster="ward").schema)
    wanted = cs.pooled(clients, method="residual", schema=schema, **VARIANTS[name]).test_many(asked)
    got = cs.Server(clients, method="residual", schema=schema, **VARIANTS[name]).test_many(asked)
    for a, b in zip(got, wanted, strict=True):
        assert_same(a, b)


def sites(count: int = 3, rows: int = 120, seed: int = 1, shift: float = 0.5) -> list[pl.DataFrame]:
    """X and Y are squares of Z, and independent given Z."""
    rng = np.random.default_rng(seed)
    found = []
    for k in range(count):
        z = rng.normal(size=rows) + shift * k
        x, y = (z - shift * k) ** 2 + rng.normal(size=rows), (z - shift * k) ** 2 + rng.normal(size=rows)
        found.append(pl.DataFrame({"X": x, "Y": y, "Z": z, "ward": rng.integers(0, 12, rows)}))
    return found


def clients(frames: list[pl.DataFrame], *columns: str) -> list[cs.Client]:
    return [cs.Client(f"s{k}", frame.select(columns or list("XYZ"))) for k, frame in enumerate(frames)]


def test_a_square_that_is_known_is_no_dependence() -> None:
    frames = sites(rows=60)
    assert cs.Server(clients(frames)).test("X", "Y", ["Z"]).p_value < 1e-10
    got = cs.Server(clients(frames), method="residual").test("X", "Y", ["Z"])
    assert got.p_value > 0.01
    assert cs.Server(clients(frames), method="residual").test("X", "Y").p_value < 1e-5


def test_units_shifts_and_swapped_variables_do_not_matter() -> None:
    frames = sites()
    plain = cs.Server(clients(frames), method="residual").test("X", "Y", ["Z"])
    moved = [f.with_columns(X=pl.col("X") * 1e6 - 3e7, Y=pl.col("Y") * -1e-5, Z=pl.col("Z") * 4096.0 + 1e4) for f in frames]
    assert cs.Server(clients(moved), method="residual").test("X", "Y", ["Z"]).p_value == pytest.approx(plain.p_value, rel=1e-6)
    assert cs.Server(clients(frames)[::-1], method="residual").test("Y", "X", ["Z"]).p_value == pytest.approx(plain.p_value, rel=1e-9)


def test_sites_with_no_value_in_common_have_curves_about_their_own_centres() -> None:
    """Shifted by ten thousand standard deviations against each other, as other devices or other clocks are."""
    frames = sites(shift=1e4)
    got = cs.Server(clients(frames), method="residual").test("X", "Y", ["Z"])
    assert_same(got, cs.pooled(clients(frames), method="residual").test("X", "Y", ["Z"]))
    near = cs.Server(clients(sites(shift=0.0)), method="residual").test("X", "Y", ["Z"])
    assert got.p_value == pytest.approx(near.p_value, abs=0.2)
    assert got.p_value > 0.01


def test_a_sentinel_far_out_is_answered() -> None:
    frames = sites()
    frames[0] = frames[0].with_columns(Z=pl.when(pl.int_range(pl.len()) == 3).then(1e12).otherwise(pl.col("Z")))
    got = cs.Server(clients(frames), method="residual").test("X", "Y", ["Z"])
    assert got.p_value > 0.001
    assert_same(got, cs.pooled(clients(frames), method="residual").test("X", "Y", ["Z"]))


def test_rows_of_one_ward_count_as_one() -> None:
    effect = np.random.default_rng(5).normal(size=(3, 12))
    clustered = []
    for k, frame in enumerate(sites(rows=240, seed=3)):
        ward = pl.Series(effect[k][frame["ward"].to_numpy()])
        clustered.append(frame.with_columns(X=pl.col("X") + 3.0 * ward, Y=pl.col("Y") + ward))
    rows = cs.Server(clients(clustered), method="residual").test("X", "Y", ["Z"])
    wards = cs.Server(clients(clustered, "X", "Y", "Z", "ward"), method="residual", cluster="ward").test("X", "Y", ["Z"])
    assert rows.p_value < 1e-6 * wards.p_value


def test_a_row_for_each_ward_is_no_cluster() -> None:
    """But for the leverage's exponent, which is the same then, too."""
    frames = [f.with_columns(ward=pl.int_range(pl.len())) for f in sites()]
    plain = cs.Server(clients(frames), method="residual").test("X", "Y", ["Z"])
    single = cs.Server(clients(frames, "X", "Y", "Z", "ward"), method="residual", cluster="ward").test("X", "Y", ["Z"])
    assert single.directions[0].statistic == pytest.approx(plain.directions[0].statistic, rel=1e-9)


def test_features_find_what_covariance_cannot() -> None:
    rng = np.random.default_rng(2)
    frames = [pl.DataFrame({"X": (x := rng.normal(size=150)), "Y": x**2 + rng.normal(size=150)}) for _ in range(3)]
    linear = cs.Server(clients(frames, "X", "Y"), method="residual").test("X", "Y")
    smooth = cs.Server(clients(frames, "X", "Y"), method="residual", alternatives="smooth").test("X", "Y")
    assert linear.p_value > 1e-4
    assert smooth.p_value < 1e-12
    assert [d.df for d in smooth.directions] == [1, 3, 3, 1]
    assert all(d.symmetric for d in smooth.directions)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "given", "mean"),
    [
        (500, ("Z", "W"), lambda k, z, w: z * w + 3.0 * (-1) ** k),  # X² has the slope 2a along ZW, with the site's intercept a
        (800, ("Z", "W"), lambda k, z, w: (z * w + k - 1.5) / 0.3),  # curves f of X have the mean f(ZW + a)
        (30, ("Z",), lambda k, z, w: 2.0 * (k - 1.5) * z),  # X² has the bend b² of the site's slope b
    ],
)
def test_curves_of_x_bend_as_intercepts_and_slopes_of_sites_do(rows: int, given: tuple[str, ...], mean: Any) -> None:
    """X and Y are independent given Z and W, and so are curves of them."""
    rejected = 0
    for seed in range(8):
        rng, clients = np.random.default_rng(seed), []
        for k in range(4):
            z, w, e, f = rng.normal(size=(4, rows))
            clients.append(cs.Client(f"s{k}", pl.DataFrame({"X": mean(k, z, w) + e, "Y": mean(k, z, w) + f, "Z": z, "W": w})))
        rejected += cs.Server(clients, method="residual", alternatives="smooth").test("X", "Y", given).p_value < 0.01
    assert rejected <= 1


def test_what_cannot_be_told_is_said_so() -> None:
    frames = sites(rows=30)
    few = cs.Server(clients([f[:5] for f in frames]), method="residual").test("X", "Y", ["Z"])
    assert not few.informative
    assert "too few" in few.reason
    constant = [f.with_columns(X=pl.lit(float(k))) for k, f in enumerate(frames)]
    assert "does not vary within any site" in cs.Server(clients(constant), method="residual").test("X", "Y", ["Z"]).reason
    exact = [f.with_columns(X=2.0 * pl.col("Z") + 1.0) for f in frames]
    assert cs.Server(clients(exact), method="residual").test("X", "Y", ["Z"]).reason in EXACT
    wards = cs.Server(clients([f.with_columns(ward=pl.lit(1)) for f in frames], "X", "Y", "Z", "ward"), method="residual", cluster="ward")
    assert "3 clusters at 3 sites are too few" in wards.test("X", "Y", ["Z"]).reason
    rng = np.random.default_rng(1)
    codes = [f.with_columns(X=pl.Series([f"c{i}" for i in rng.permutation(20)])) for f in sites(rows=20)]
    declared = [cs.Client(f"s{k}", f.select("X", "Y"), kinds={"X": "multinomial"}) for k, f in enumerate(codes)]
    assert "no level of X is frequent enough" in cs.Server(declared, method="residual").test("X", "Y").reason


def test_a_test_that_one_site_alone_can_do_is_its_own() -> None:
    frames = sites(rows=80)
    lacking = [frames[0], *(f.drop("X") for f in frames[1:])]
    parts = [cs.Client(f"s{k}", f.drop("ward")) for k, f in enumerate(lacking)]
    got = cs.Server(parts, method="residual").test("X", "Y", ["Z"])
    assert got.contributors == 1
    assert_alone(got, cs.pooled(parts, method="residual").test("X", "Y", ["Z"]))
    assert not cs.Server(parts, method="residual", single_site="refuse").test("X", "Y", ["Z"]).informative


def test_rounds_are_few_and_nothing_is_asked_twice() -> None:
    server = cs.Server(clients(sites(rows=40)), method="residual")
    first = server.test_all()
    assert server.rounds <= 7
    rounds = server.rounds
    again = server.test_all()
    assert server.rounds == rounds
    assert again["p_value"].to_list() == first["p_value"].to_list()


def test_a_run_can_be_cancelled_between_rounds_and_goes_on() -> None:
    server, told = cs.Server(clients(sites(rows=40)), method="residual"), list[tuple[int, int]]()

    def stop(done: int, of: int) -> None:
        told.append((done, of))
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        server.test_many([("X", "Y"), ("X", "Y", ["Z"])], progress=stop)
    assert told == [(0, 2)] * 3
    server.test_many([("X", "Y"), ("X", "Y", ["Z"])], progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (2, 2)
    assert server.rounds == 6


def test_clusters_need_a_column_that_is_no_variable() -> None:
    frames = sites(rows=40)
    with pytest.raises(OptionError, match="needs method='residual'"):
        cs.Server(clients(frames, "X", "Y", "ward"), cluster="ward")
    with pytest.raises(cs.errors.ClusterError, match="has no such column"):
        cs.Server(clients(frames, "X", "Y"), method="residual", cluster="ward")
    server = cs.Server(clients(frames, "X", "Y", "ward"), method="residual", cluster="ward")
    assert server.variables == ("X", "Y")
    with pytest.raises(cs.errors.ClusterError, match="cannot be a variable"):
        cs.Server(clients(frames, "X", "Y", "ward"), schema={"X": "continuous", "ward": "continuous"}, method="residual", cluster="ward")
    with pytest.raises(OptionError, match="fisher"):
        cs.pooled(clients(frames), method="fisher")
