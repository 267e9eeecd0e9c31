"""How strong: federated = pooled, what is absent where nothing may be known, signs, and how often intervals have the truth in them."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.citest.size import Measure
from tests.federation.test_equality import questions
from tests.random_studies import random_study

pytestmark = pytest.mark.filterwarnings("ignore::consilience.DoubtfulDataWarning")  # random tables look odd at times


def assert_same_sizes(got: cs.CIResult, wanted: cs.CIResult, se: float) -> int:
    """Estimates to 1e-6 of a standard deviation or of a logarithm; how many were compared."""
    count = 0
    for a, b in zip(got.directions, wanted.directions, strict=True):
        assert (a.sign, len(a.sizes)) == (b.sign, len(b.sizes)), f"{a} {b}"
        for one, other in zip(a.sizes, b.sizes, strict=True):
            names = ("measure", "response", "predictor", "level", "reference", "outcome", "against")
            assert [getattr(one, name) for name in names] == [getattr(other, name) for name in names]
            ratio = Measure(one.measure).ratio
            numbers = [(math.log(s.estimate) if ratio else s.estimate) for s in (one, other)]
            assert numbers[0] == pytest.approx(numbers[1], abs=1e-6)
            if one.se is not None:
                assert one.se == pytest.approx(other.se, rel=se)
            count += 1
    assert got.strength == pytest.approx(wanted.strength, abs=1e-6)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["profiled", "joint", "none"])
def test_sizes_equal_the_pooled_analysis(variant: str) -> None:
    count = 0
    for seed in range(4):
        clients, asked = random_study(seed, counts=seed % 2 == 1, sites=(2, 6)), questions(seed)
        wanted = cs.pooled(clients, site_effects=variant).test_many(asked)
        for got, want in zip(cs.Server(clients, site_effects=variant).test_many(asked), wanted, strict=True):
            if got.contributors > 1:
                count += assert_same_sizes(got, want, 3e-4)
            else:  # one site tests alone and sends what it always sent
                assert all(d.sizes == () and d.sign is None for d in got.directions)
                assert got.size is None
    assert count > 50


@pytest.mark.slow
@pytest.mark.parametrize("alternatives", ["linear", "smooth"])
def test_sizes_of_residuals_equal_the_pooled_analysis(alternatives: str) -> None:
    seen = set()
    for seed in (0, 1, 2):
        clients, asked = random_study(seed, rows=(100, 200), sites=(2, 3)), questions(seed)
        wanted = cs.pooled(clients, method="residual", alternatives=alternatives).test_many(asked)
        server = cs.Server(clients, method="residual", alternatives=alternatives)
        for got, want in zip(server.test_many(asked), wanted, strict=True):
            if got.contributors < 2 or not got.informative:
                assert got.size is None
                continue
            assert got.size is not None
            assert want.size is not None
            seen.add(got.size.measure)
            assert (got.sign, got.size.measure) == (want.sign, want.size.measure)
            assert got.size.estimate == pytest.approx(want.size.estimate, abs=1e-9)
            assert got.strength == abs(got.size.estimate)
            if got.size.low is not None:
                assert (got.size.low, got.size.high) == pytest.approx((want.size.low, want.size.high), abs=1e-9)
    assert seen == {"correlation", "association"}


def two_sites(n: int = 200, seed: int = 3) -> list[cs.Client]:
    rng, made = np.random.default_rng(seed), []
    for k in range(2):
        a = rng.normal(size=n) + k
        b = a < rng.logistic(size=n)
        c = np.digitize(-a + rng.logistic(size=n), [-1.0, 0.5])
        d = np.array(["p", "q", "r"])[np.argmax(np.stack([rng.gumbel(size=n), a + rng.gumbel(size=n), rng.gumbel(size=n)]), axis=0)]
        e = np.digitize(c + rng.logistic(size=n), [0.0, 1.0, 2.0])
        frame = pl.DataFrame({"A": a, "B": np.where(b, "yes", "no"), "C": c, "D": d, "E": e})
        levels = {"B": ["no", "yes"], "C": range(3), "D": ["p", "q", "r"], "E": range(4)}
        kinds = {"B": "binary", "C": "ordinal", "D": "multinomial", "E": "ordinal"}
        made.append(cs.Client(f"s{k}", frame, kinds=kinds, levels=levels))
    return made


def test_signs_say_which_way() -> None:
    server = cs.Server(two_sites())
    assert server.test("A", "B").sign == "−"
    assert server.test("A", "C").sign == "−"
    assert server.test("B", "C").sign == "+"
    assert server.test("A", "D").sign == ""  # three levels without an order
    assert server.test("C", "E").sign == "+"  # several numbers on both sides: their trend


def test_signs_of_residuals_say_which_way_whatever_level_is_frequent() -> None:
    for label in ("no", "yes"):
        clients = []
        for k in range(2):
            rng = np.random.default_rng(k)
            a = rng.normal(size=200)
            b = a + rng.normal(size=200) > (0.8 if label == "no" else -0.8)
            clients.append(cs.Client(f"s{k}", pl.DataFrame({"A": a, "B": np.where(b, "yes", "no")}), levels={"B": ["no", "yes"]}))
        told = cs.Server(clients, method="residual").test("A", "B")
        assert told.sign == "+"
        assert told.size is not None
        assert told.size.low is not None
        assert told.size.low > 0


def test_coordinates_tell_sizes_without_intervals() -> None:
    """Their information is too large; a round more would be needed, and is not asked for."""
    clients = two_sites()
    told = cs.Server(clients, site_effects="coordinate").test("A", "B")
    wanted = cs.Server(clients).test("A", "B")
    for got, want in zip(told.directions, wanted.directions, strict=True):
        assert got.sizes[0].estimate == pytest.approx(want.sizes[0].estimate, rel=1e-5)
        assert (got.sizes[0].se is None) == (got.response == "B")


def test_fishers_method_knows_no_size() -> None:
    told = cs.fisher(two_sites()).test("A", "B")
    assert (told.size, told.sign, told.strength, told.in_words()) == (None, None, None, "")


def test_a_level_that_is_predicted_perfectly_has_no_size() -> None:
    rng = np.random.default_rng(0)
    clients = []
    for k in range(2):
        a = rng.normal(size=80)
        clients.append(cs.Client(f"s{k}", pl.DataFrame({"A": a, "B": a > 0.1, "C": rng.normal(size=80)})))
    told = cs.Server(clients).test("A", "B", ["C"])
    by_b = next(d for d in told.directions if d.response == "B")
    assert (by_b.separated, by_b.sizes) == (True, ())
    assert told.size is not None  # the other direction has one
    assert told.size.response == "A"


def test_levels_that_no_site_compares_have_no_size() -> None:
    """One site has p and q, the other r and s: nobody can tell p from r."""
    rng, clients = np.random.default_rng(0), []
    for k, levels in enumerate((["p", "q"], ["r", "s"])):
        frame = pl.DataFrame({"A": rng.normal(size=90), "D": rng.choice(levels, size=90)})
        clients.append(cs.Client(f"s{k}", frame, kinds={"D": "multinomial"}, levels={"D": list("pqrs")}))
    told = cs.Server(clients).test("A", "D")
    (by_a,) = (d for d in told.directions if d.response == "A")
    assert (by_a.df, by_a.sizes) == (2, ())
    assert told.strength is not None


def test_a_ridge_shrinks_sizes() -> None:
    clients = two_sites()
    free, shrunk = cs.Server(clients).test("A", "B"), cs.Server(clients, ridge=0.5).test("A", "B")
    for a, b in zip(free.directions, shrunk.directions, strict=True):
        none = Measure(a.sizes[0].measure).none
        assert abs(b.sizes[0].estimate - none) < abs(a.sizes[0].estimate - none)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fedci", "residual"])
def test_intervals_have_the_truth_in_them(method: str) -> None:
    """80 pairs of numbers in 60 rows, 80 of a number and two levels: 95 of 100, and chance leaves 90 to 99 of 160."""
    rng, pairs, slope = np.random.default_rng(11), 80, 0.5
    frames = []
    for k in range(2):
        n = 30 if method == "fedci" else 80
        columns: dict[str, np.ndarray] = {}
        for i in range(pairs):
            x = rng.normal(size=n)
            columns |= {f"X{i}": x + k, f"Y{i}": slope * x + rng.normal(size=n) - k}
            columns[f"B{i}"] = (slope * x + rng.logistic(size=n) > 0).astype(np.int64)
        frames.append(pl.DataFrame(columns))
    server = cs.Server([cs.Client(f"s{k}", frame) for k, frame in enumerate(frames)], method=method, diagnostics=False)
    told = server.test_many([(f"X{i}", f"Y{i}") for i in range(pairs)])
    hits = 0
    for i, one in enumerate(told):
        if method == "fedci":
            size = next(d for d in one.directions if d.response == f"Y{i}").sizes[0]
            sd = {name: np.sqrt(np.mean([np.var(f[name].to_numpy()) for f in frames])) for name in (f"X{i}", f"Y{i}")}
            truth = slope * sd[f"X{i}"] / sd[f"Y{i}"]
        else:
            assert one.size is not None
            size, truth = one.size, slope / math.sqrt(1.0 + slope**2)
        assert size.low is not None
        assert size.high is not None
        hits += size.low <= truth <= size.high
    if method == "fedci":
        for i, one in enumerate(server.test_many([(f"X{i}", f"B{i}") for i in range(pairs)])):
            size = next(d for d in one.directions if d.response == f"B{i}").sizes[0]
            sd_x = np.sqrt(np.mean([np.var(f[f"X{i}"].to_numpy()) for f in frames]))
            assert size.low is not None
            assert size.high is not None
            hits += size.low <= math.exp(slope * sd_x) <= size.high
    share = hits / (2 * pairs if method == "fedci" else pairs)
    assert 0.89 <= share <= 0.995
