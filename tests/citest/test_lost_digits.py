"""Numbers that are hard on floating point: nearly collinear columns, far locations, sentinels; against long doubles on the pooled rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience import errors
from tests.federation.helpers import lose


def residual(response: np.ndarray, others: list[np.ndarray]) -> np.ndarray:
    """What orthogonal columns leave of a response; thrice, so that nothing is left of rounding."""
    for _ in range(3):
        for other in others:
            response = response - other * (other @ response) / (other @ other)
    return response


def exact(frames: list[pl.DataFrame], y: str, x: str, z: str) -> float:
    """n log(RSS₀/RSS₁) in long doubles, from residuals and never from differences of squares."""

    def centred(name: str) -> np.ndarray:
        parts = [f[name].to_numpy().astype(np.longdouble) for f in frames]
        return np.concatenate([p - p.mean() for p in parts])

    given = centred(z)
    left, added = residual(centred(y), [given]), residual(centred(x), [given])
    rest = residual(left, [added])
    return float(len(left) * np.log((left @ left) / (rest @ rest)))


def admissions(rows: int, seed: int = 1) -> list[pl.DataFrame]:
    """The time of admission in seconds, the time of a sample about a minute apart, and something else."""
    rng = np.random.default_rng(seed)
    frames = []
    for _ in range(4):
        t = 1.7e9 + np.round(rng.uniform(0.0, 3.15e7, size=rows))
        frames.append(pl.DataFrame({"T": t, "L": t + 60.0 * rng.normal(size=rows), "X": rng.normal(size=rows)}))
    return frames


@pytest.mark.parametrize("question", [("L", "X", "T"), ("T", "X", "L"), ("L", "T", "X")])
@pytest.mark.parametrize("rows", [50, 2500])
def test_times_that_are_a_minute_apart(question: tuple[str, str, str], rows: int) -> None:
    frames = admissions(rows)
    x, y, z = question
    clients = [cs.Client(f"s{k}", f) for k, f in enumerate(frames)]
    for test in (cs.Server(clients), cs.Server(clients, site_effects="joint"), cs.pooled(clients)):
        for d in test.test(x, y, [z]).directions:
            assert d.statistic == pytest.approx(exact(frames, d.response, d.predictor, z), rel=1e-6)


def test_ordinary_numbers_cost_no_further_round() -> None:
    frames = [f.select("T", "X", L=pl.col("L") + 1e7 * pl.col("X").shuffle(seed=1)) for f in admissions(200)]
    assert cs.Server([cs.Client(f"s{k}", f) for k, f in enumerate(frames)]).test("L", "X", ["T"]).rounds == 2
    assert cs.Server([cs.Client(f"s{k}", f) for k, f in enumerate(admissions(200))]).test("L", "X", ["T"]).rounds == 3


def test_an_exact_function_is_still_told_from_a_near_one() -> None:
    frames = [f.with_columns(L=2.0 * pl.col("T") + 5.0) for f in admissions(50)]
    found = cs.Server([cs.Client(f"s{k}", f) for k, f in enumerate(frames)]).test("L", "X", ["T"])
    by = {d.response: d.reason for d in found.directions}
    assert by["L"] == "L is an exact function of the conditioning variables"


def test_a_site_lost_after_residuals_were_summed() -> None:
    """The sites that are left are asked at other slopes: the difference of two sums at one point would be the lost site's."""
    frames = admissions(50)
    server = cs.Server([cs.Client(f"s{k}", f) for k, f in enumerate(frames)])
    lose(server, 3, at=3)
    server.test("L", "X", ["T"])
    server.test("L", "X")
    found = server.test("L", "X", ["T"])
    assert len(server.participants) == 3
    for d in found.directions:
        assert d.statistic == pytest.approx(exact(frames[:3], d.response, d.predictor, "T"), rel=1e-6)


@pytest.mark.parametrize("size", [1e6, 1e9])
def test_sites_that_lie_millions_of_standard_deviations_apart(size: float) -> None:
    frames = list(cs.simulate.mixed_sites(n=400, sites=4, seed=3).values())
    moved = [f.with_columns(A=pl.col("A") + size * k, B=pl.col("B") - 2 * size * k) for k, f in enumerate(frames)]
    asked = [("A", "B", ["C"]), ("A", "C", ["B"]), ("B", "D", ["A"])]
    wanted = [d.statistic for r in cs.pooled(frames).test_many(asked) for d in r.directions]
    for make in (cs.pooled, cs.Server):
        clients = [cs.Client(f"s{k}", f) for k, f in enumerate(moved)]
        found = [d.statistic for r in make(clients).test_many(asked) for d in r.directions]
        np.testing.assert_allclose(found, wanted, rtol=1e-9 * size)


def test_units_that_do_not_go_together_are_named() -> None:
    frames = admissions(50)
    frames[0] = frames[0].with_columns(X=pl.col("X") * 1e24)
    clients = [cs.Client(f"s{k}", f) for k, f in enumerate(frames)]
    with pytest.raises(errors.RingRangeError, match=r"'X' is at least 2\^16 times as wide here.*Bring 'X' to one unit"):
        cs.Server(clients).test("X", "L")
    assert "'X' is about 2^6" in clients[0].record.entries[-1].refused  # by how much is for the site's own eyes


@pytest.mark.parametrize("kind", ["continuous", "binary", "ordinal", "multinomial"])
@pytest.mark.parametrize("where", ["X", "Y", "Z"])
def test_a_variable_that_varies_at_one_site_only_is_answered_alike_by_all(kind: str, where: str) -> None:
    """At the others it is 0.1 throughout, of which rounding leaves a spread of 1e-17."""
    rng = np.random.default_rng(0)
    clients = []
    for k in range(3):
        x, z = rng.normal(size=60), rng.normal(size=60)
        y = np.digitize(x + z + rng.logistic(size=60), [0.0] if kind == "binary" else [-1.0, 1.0]).astype(float)
        columns = {"X": x, "Z": z, "Y": y + 0.1 * rng.normal(size=60) if kind == "continuous" else y.astype(int)}
        if k:
            columns[where] = np.full(60, 0.1) if where != "Y" or kind == "continuous" else np.full(60, k % 2)
        levels = {"Y": [0, 1, 2]} if kind in ("ordinal", "multinomial") else {}
        clients.append(cs.Client(f"s{k}", pl.DataFrame(columns), kinds={"X": "continuous", "Y": kind, "Z": "continuous"}, levels=levels))
    for given in ([], ["Z"]):
        wanted = cs.pooled(clients).test("X", "Y", given)
        for variant in ("profiled", "coordinate", "joint"):
            found = cs.Server(clients, site_effects=variant).test("X", "Y", given)
            assert found.informative == wanted.informative
            for a, b in zip(found.directions, wanted.directions, strict=True):
                assert (a.informative, a.df) == (b.informative, b.df)
                assert a.statistic == pytest.approx(b.statistic, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("sentinel", [1e12, -1e12, 1e15])
@pytest.mark.parametrize("how", ["profiled", "none", "pooled", "pooled none"])
def test_a_sentinel_in_a_row_that_the_test_drops_changes_nothing(how: str, sentinel: float) -> None:
    rng = np.random.default_rng(2)
    frames = []
    for _ in range(3):
        x = rng.normal(size=200)
        frames.append(pl.DataFrame({"X": x, "Y": 0.4 * x + rng.normal(size=200), "C": (x + rng.logistic(size=200) > 0).astype(int)}))
    hidden = pl.DataFrame({"X": [sentinel], "Y": [None], "C": [None]}, schema=frames[0].schema)

    def statistics(parts: list[pl.DataFrame]) -> list[float]:
        clients = [cs.Client(f"s{k}", p) for k, p in enumerate(parts)]
        effects = "none" if "none" in how else "profiled"
        test = cs.pooled(clients, site_effects=effects) if "pooled" in how else cs.Server(clients, site_effects=effects)
        return [d.statistic for r in test.test_many([("X", "Y"), ("X", "C"), ("X", "Y", ["C"])]) for d in r.directions]

    got, wanted = statistics([pl.concat([frames[0], hidden]), *frames[1:]]), statistics(frames)
    # 10¹⁵ leaves squares of the others some twelve bits in the ring
    np.testing.assert_allclose(got, wanted, rtol=1e-6 if abs(sentinel) < 1e15 else 1e-3)
