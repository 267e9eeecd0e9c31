"""Whether models hold: against regressions of all rows in one matrix, against the pooled analysis, and where the answer is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import consilience as cs
from consilience.data.features import feature_plan, widen
from consilience.data.schema import Schema
from tests.federation.test_equality import questions
from tests.random_studies import random_study

pytestmark = pytest.mark.filterwarnings("ignore::consilience.DoubtfulDataWarning")  # random tables look odd at times

SIZES = (90, 140, 60)


def drawn(seed: int, response: str = "continuous") -> list[pl.DataFrame]:
    """Three sites with two numbers, three levels, and a response that is linear in them."""
    rng, frames = np.random.default_rng(seed), []
    for k, n in enumerate(SIZES):
        z, x, d = rng.normal(k, 1.5, n), rng.normal(size=n), rng.integers(0, 3, n)
        eta = 0.6 * z - 0.5 * x + 0.7 * (d == 1) - k
        y: Any = eta + rng.normal(size=n) if response == "continuous" else (eta + rng.logistic(size=n) > 0).astype(int)
        frames.append(pl.DataFrame({"Z": z, "X": x, "D": ["abc"[i] for i in d], "Y": y}))
    return frames


def matrices(frames: list[pl.DataFrame]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of all rows: sites as dummies, columns centred at the sites with their features after them, the response, the codes of sites."""
    schema = Schema({"D": ("multinomial", "abc"), "X": "continuous", "Z": "continuous"})
    columns, sites, raw = [("D", 1), ("D", 2), ("X", 0), ("Z", 0)], [], []
    for k, frame in enumerate(frames):
        matrix = np.column_stack([frame["D"] == "b", frame["D"] == "c", frame["X"], frame["Z"]]).astype(float)
        raw.append(matrix - matrix.mean(axis=0))
        sites += [k] * frame.height
    within = np.concatenate(raw)
    spreads = np.sqrt((within**2).mean(axis=0))
    scales = [None, None, round(np.log2(spreads[2])), round(np.log2(spreads[3]))]
    wide = np.concatenate([widen(part, feature_plan(schema, columns), scales, None) for part in raw])
    codes = np.array(sites)
    response = np.concatenate([frame["Y"].to_numpy().astype(float) for frame in frames])
    return (codes[:, None] == np.arange(len(frames))).astype(float), wide, response, codes


def left(matrix: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, int]:
    """Residuals of a regression by orthogonal factors, and its rank."""
    q = np.linalg.svd(matrix, full_matrices=False)
    kept = q[0][:, q[1] > 1e-10 * q[1][0]]
    return y - kept @ (kept.T @ y), kept.shape[1]


def checked(frames: list[pl.DataFrame], **options: Any) -> Any:
    """What is found for the model Y ~ D + X + Z alone."""
    server = cs.Server([cs.Client(f"s{k}", f) for k, f in enumerate(frames)], **options)
    server.test("X", "Y", ["Z", "D"])
    return next(found for model, found in server._sums.checked.items() if model.response == "Y")


@pytest.mark.parametrize("seed", range(3))
def test_curvature_is_the_f_test_of_features(seed: int) -> None:
    frames = drawn(seed)
    dummies, wide, y, _ = matrices(frames)
    (small, p), (large, q) = left(np.hstack([dummies, wide[:, :4]]), y), left(np.hstack([dummies, wide]), y)
    statistic = ((small @ small - large @ large) / (q - p)) / (large @ large / (len(y) - q))
    assert checked(frames).curvature_p == pytest.approx(stats.f.sf(statistic, q - p, len(y) - q), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_slopes_are_compared_as_by_chow(seed: int) -> None:
    frames = drawn(seed)
    dummies, wide, y, codes = matrices(frames)
    own = np.hstack([wide[:, :4] * (codes == k)[:, None] for k in range(3)])
    (small, p), (large, q) = left(np.hstack([dummies, wide[:, :4]]), y), left(np.hstack([dummies, own]), y)
    statistic = ((small @ small - large @ large) / (q - p)) / (large @ large / (len(y) - q))
    found = checked(frames)
    assert found.slopes_p == pytest.approx(stats.f.sf(statistic, q - p, len(y) - q), rel=1e-9)
    assert found.i_squared == pytest.approx(max(0.0, 1.0 - 1.0 / statistic), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_variances_are_compared_as_by_koenker(seed: int) -> None:
    frames = drawn(seed)
    dummies, wide, y, codes = matrices(frames)
    residuals, _ = left(np.hstack([dummies, wide[:, :4]]), y)
    n = np.array(SIZES)[codes]
    squares = residuals**2 * n / (n - 1)
    rest, rank = left(np.hstack([dummies, wide]), squares)
    about = squares - squares.mean()
    statistic = len(y) * (1.0 - rest @ rest / (about @ about))
    assert checked(frames).variance_p == pytest.approx(stats.chi2.sf(statistic, rank - 1), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_curvature_of_a_logit_is_the_score_test(seed: int) -> None:
    frames = drawn(seed, "binary")
    dummies, wide, y, _ = matrices(frames)
    narrow, every = np.hstack([dummies, wide[:, :4]]), np.hstack([dummies, wide])
    beta = np.zeros(7)
    for _ in range(30):
        mean = 1.0 / (1.0 + np.exp(-narrow @ beta))
        beta += np.linalg.solve((narrow * (mean * (1 - mean))[:, None]).T @ narrow, narrow.T @ (y - mean))
    score = every.T @ (y - mean)
    statistic = score @ np.linalg.pinv((every * (mean * (1 - mean))[:, None]).T @ every) @ score
    df = every.shape[1] - 7
    factor = 1.0 - every.shape[1] / len(y)  # parameters against rows, as for likelihood ratios in small samples
    assert checked(frames).curvature_p == pytest.approx(stats.chi2.sf(factor * statistic, df), rel=1e-6)


def same(got: cs.CIResult, wanted: cs.CIResult, tolerance: float) -> None:
    assert (got.diagnostics is None) == (wanted.diagnostics is None), got
    if got.diagnostics is None or wanted.diagnostics is None:
        return
    for name in ("curvature_p", "variance_p", "slopes_p", "i_squared"):
        a, b = getattr(got.diagnostics, name), getattr(wanted.diagnostics, name)
        assert (a is None) == (b is None), f"{got}: {name}"
        least = tolerance if name == "i_squared" else 1e-12  # I² is a difference from one
        assert a is None or a == pytest.approx(b, rel=tolerance, abs=least), f"{got}: {name}"


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_federated_diagnostics_equal_the_pooled_ones(block: int) -> None:
    """All kinds, missing values, absent variables. Steps by coordinates end further from the maximum, and the information with them."""
    for seed in range(3 * block, 3 * block + 3):
        clients = random_study(seed, counts=bool(seed % 2))
        asked = questions(seed)
        wanted = cs.pooled(clients).test_many(asked)
        for variant, tolerance in (("profiled", 1e-6), ("joint", 1e-6), ("coordinate", 1e-4)):
            server = cs.Server(clients, site_effects=variant, masking=variant == "profiled")  # masks change nothing: test_masking.py
            for got, want in zip(server.test_many(asked), wanted, strict=True):
                if got.contributors > 1:
                    same(got, want, tolerance)


def test_one_intercept_for_all_sites_is_looked_at_in_the_same_way() -> None:
    frames = drawn(0)
    clients = [cs.Client(f"s{k}", f) for k, f in enumerate(frames)]
    got = cs.Server(clients, site_effects="none").test("X", "Y", ["Z"])
    same(got, cs.pooled(clients, site_effects="none").test("X", "Y", ["Z"]), 1e-6)
    assert got.diagnostics is not None


def test_where_nobody_looks_there_is_nothing() -> None:
    clients = [cs.Client(f"s{k}", f) for k, f in enumerate(drawn(0))]
    for options in ({"diagnostics": False}, {"method": "fisher"}, {"method": "residual"}, {"site_effects": "random"}):
        found = cs.Server(clients, **options).test("X", "Y", ["Z"])  # type: ignore[arg-type]
        assert found.diagnostics is None
        assert found.linear_p is None
    alone = cs.Server([clients[0], cs.Client("t", drawn(1)[1].drop("Y"))]).test("X", "Y")
    assert alone.informative
    assert alone.diagnostics is None


def test_a_level_that_is_predicted_perfectly_is_not_looked_at() -> None:
    rng = np.random.default_rng(0)
    frames = [pl.DataFrame({"C": (x > 0).astype(int), "X": x}) for x in rng.normal(size=(3, 80))]
    server = cs.Server([cs.Client(f"s{k}", f) for k, f in enumerate(frames)])
    server.test("C", "X")
    assert {model.response for model in server._sums.checked} == {"X"}


BAD = {
    "Z²": lambda z, w, k, e: z**2 + e,
    "sin 2Z": lambda z, w, k, e: np.sin(2 * z) + e,
    "Z·W": lambda z, w, k, e: z * w + e,
    "variance exp Z": lambda z, w, k, e: z + np.exp(0.7 * z) * e,
    "slopes of sites": lambda z, w, k, e: (-1.5, -0.5, 0.5, 1.5)[k] * z + e,
    "noise of sites": lambda z, w, k, e: z + (0.3, 1.0, 2.0, 4.0)[k] * e,
    "binary, Z²": lambda z, w, k, e: (z**2 - 1 + 1.7 * e > 0).astype(int),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_what_makes_a_false_edge_is_seen(name: str) -> None:
    """With 2,000 rows in all: in ten of ten studies, after the correction that a study of eighty tests makes."""
    for seed in range(10):
        rng, clients = np.random.default_rng(seed), []
        for k in range(4):
            z, w = rng.normal(size=(2, 500))
            columns = {"Z": z, "W": w} | {v: BAD[name](z, w, k, rng.normal(size=500)) for v in "XY"}
            clients.append(cs.Client(f"s{k}", pl.DataFrame(columns)))
        found = cs.Server(clients, masking=False).test("X", "Y", ["Z", "W"]).linear_p
        assert found is not None
        assert found < 0.05 / 80


def _linear(kind: str, eta: np.ndarray, rng: np.random.Generator) -> Any:
    if kind == "continuous":
        return eta + rng.normal(size=len(eta))
    if kind == "binary":
        return (eta + rng.logistic(size=len(eta)) > 0).astype(int)
    if kind == "ordinal":
        return np.digitize(eta + rng.logistic(size=len(eta)), [-1.0, 0.5])
    if kind == "count":
        return rng.poisson(np.exp(0.5 + 0.5 * eta))
    noise = rng.gumbel(size=(3, len(eta)))
    return [("p", "q", "r")[i] for i in np.argmax(noise + np.stack([0 * eta, eta, -eta]), axis=0)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["continuous", "binary", "ordinal", "multinomial", "count"])
def test_models_that_hold_are_seldom_doubted(kind: str) -> None:
    """60 studies of 4 sites with 100 rows: of 60 p-values more than 9 are below 0.05 in 1 of 1,000 cases, if 5% are expected."""
    found = []
    for seed in range(60):
        rng, clients = np.random.default_rng(seed), []
        for k in range(4):
            z, x = rng.normal(size=(2, 100))
            levels = {"Y": [0, 1, 2]} if kind == "ordinal" else {}
            frame = pl.DataFrame({"Z": z, "X": x, "Y": _linear(kind, 0.6 * z - 0.4 * x, rng)})
            clients.append(cs.Client(f"s{k}", frame, kinds={"Y": kind}, levels=levels))
        server = cs.Server(clients, masking=False)
        server.test("X", "Y", ["Z"])
        found.append(next(f for model, f in server._sums.checked.items() if model.response == "Y"))
    for name in ("curvature_p", "variance_p", "slopes_p"):
        made = [p for f in found if (p := getattr(f, name)) is not None]
        assert len(made) in (0, 60)
        assert sum(p < 0.05 for p in made) <= 9


@pytest.mark.parametrize("size", [1e6, 1e9])
def test_a_wild_value_closes_no_study(size: float) -> None:
    """Its fourth power fits no sum: what can be said is said, and the test goes on."""
    frames = drawn(0)
    wild = pl.when(pl.int_range(pl.len()) == 0).then(size)
    for name in "XYZ":
        changed = [frames[0].with_columns(wild.otherwise(pl.col(name)).alias(name)), *frames[1:]]
        found = cs.Server([cs.Client(f"s{k}", f) for k, f in enumerate(changed)]).test("X", "Y", ["Z"])
        assert found.informative
        assert found.diagnostics is not None
