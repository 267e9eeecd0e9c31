"""Random site effects: federated = mixed models of pooled rows fitted by other means, at the boundary and under invariances too."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience import errors
from consilience.protocol.evaluate import Evaluate, ModelAsk
from tests.federation.helpers import Spy, Wire, mixed_clients, point, refused
from tests.federation.mixed_models import statistic
from tests.federation.test_equality import assert_same, questions
from tests.random_studies import random_study

pytestmark = pytest.mark.filterwarnings("ignore::consilience.DoubtfulDataWarning")  # random tables look odd at times


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_federated_equals_the_mixed_models_of_scipy(seed: int) -> None:
    clients = random_study(seed, rows=(15, 60), constant=0.0)
    server = cs.Server(clients, site_effects="random")
    kinds = {name: variable.kind.value for name, variable in server.schema.items()}
    seen = 0
    for got in server.test_many(questions(seed)[:1]):
        for d in got.directions:
            if d.informative and not d.separated:
                wanted = statistic(clients, kinds, d.response, d.predictor, got.given)
                assert d.statistic == pytest.approx(wanted, rel=1e-6, abs=1e-6), (got, d)
                seen += 1
    assert seen or not got.informative or any(d.separated for d in got.directions)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_masked_sums_over_sites_equal_plain_ones(seed: int) -> None:
    clients, asked = random_study(seed, constant=0.0), questions(seed)[:3]
    # the plain law, which random effects have in any case: a site alone does its own test, and that has the law of the setting
    wanted = cs.pooled(clients, site_effects="random", small_sample=False).test_many(asked)
    for got, want in zip(cs.Server(clients, site_effects="random", small_sample=False).test_many(asked), wanted, strict=True):
        assert_same(got, want)


def clients_of(site: np.ndarray, columns: dict[str, np.ndarray], **options: object) -> list[cs.Client]:
    frame = pl.DataFrame(columns)
    return [cs.Client(f"s{k}", frame.filter(pl.Series(site == k)), **options) for k in np.unique(site)]  # type: ignore[arg-type]


def small_sites(seed: int = 1, shift: float = 0.8, sites: int = 12, rows: int = 9) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    site = np.repeat(np.arange(sites), rows)
    a = rng.normal(size=sites)[site] + rng.normal(size=len(site))
    b = shift * rng.normal(size=sites)[site] + 0.3 * a + rng.normal(size=len(site))
    c = (shift * rng.normal(size=sites)[site] + 0.5 * a + rng.logistic(size=len(site)) > 0).astype(int)
    d = np.digitize(shift * rng.normal(size=sites)[site] + 0.5 * b + rng.logistic(size=len(site)), [-0.8, 0.7])
    return site, {"A": a, "B": b, "C": c, "D": d}


KINDS = {"A": "continuous", "B": "continuous", "C": "binary", "D": "ordinal"}
LEVELS = {"C": [0, 1], "D": [0, 1, 2]}


def statistics(clients: list[cs.Client], asked: list[tuple[str, str, list[str]]]) -> list[float]:
    results = cs.Server(clients, site_effects="random").test_many(asked)
    assert all(r.converged for r in results)
    return [d.statistic for r in results for d in r.directions]


ASKED: list[tuple[str, str, list[str]]] = [("A", "B", []), ("A", "C", ["D"]), ("B", "D", ["A"])]


@pytest.mark.slow
def test_units_and_shifts_do_not_matter() -> None:
    site, columns = small_sites()
    plain = statistics(clients_of(site, columns, kinds=KINDS, levels=LEVELS), ASKED)
    moved = columns | {"A": 1e6 + 1e4 * columns["A"], "B": -3e-7 * columns["B"]}
    np.testing.assert_allclose(statistics(clients_of(site, moved, kinds=KINDS, levels=LEVELS), ASKED), plain, rtol=1e-6, atol=1e-7)


def test_reversed_levels_and_the_order_of_sites_do_not_matter() -> None:
    site, columns = small_sites()
    plain = statistics(clients_of(site, columns, kinds=KINDS, levels=LEVELS), ASKED)
    turned = columns | {"C": 1 - columns["C"], "D": 2 - columns["D"]}
    backward = clients_of(site, turned, kinds=KINDS, levels=LEVELS)[::-1]
    np.testing.assert_allclose(statistics(backward, ASKED), plain, rtol=1e-7, atol=1e-8)


def test_without_variance_between_sites_it_is_the_test_without_site_effects() -> None:
    """Every site has the same rows: the estimated variance is zero, and so the statistic is that of one common intercept."""
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 10))
    c = (a + rng.normal(size=10) > 0).astype(int)
    site = np.repeat(np.arange(6), 10)
    columns = {"A": np.tile(a, 6), "B": np.tile(a * 0.2 + b, 6), "C": np.tile(c, 6)}
    clients = clients_of(site, columns, kinds={k: KINDS[k] for k in "ABC"}, levels={"C": [0, 1]})
    random = cs.Server(clients, site_effects="random").test_many([("A", "B"), ("B", "C")])
    none = cs.Server(clients, site_effects="none").test_many([("A", "B"), ("B", "C")])
    for got, want in zip(random, none, strict=True):
        for d, e in zip(got.directions, want.directions, strict=True):
            assert d.statistic == pytest.approx(e.statistic, rel=1e-8, abs=1e-9)
            assert d.loglik_restricted == pytest.approx(e.loglik_restricted, rel=1e-9)


def test_a_predictor_of_sites_is_tested() -> None:
    """With intercepts of their own sites say nothing on what is constant within them; here it has a degree of freedom."""
    site, columns = small_sites()
    columns["G"] = np.random.default_rng(2).normal(size=12)[site]
    clients = clients_of(site, columns, kinds=KINDS | {"G": "continuous"}, levels=LEVELS)
    assert not cs.Server(clients).test("C", "G").informative
    result = cs.Server(clients, site_effects="random").test("C", "G")
    assert [d.df for d in result.directions if d.response == "C"] == [1]
    assert result.informative


def test_a_response_that_varies_only_between_sites_is_refused() -> None:
    site, columns = small_sites()
    columns["C"] = (site % 2).astype(int)
    clients = clients_of(site, columns, kinds=KINDS, levels=LEVELS)
    by_c = next(d for d in cs.Server(clients, site_effects="random").test("A", "C").directions if d.response == "C")
    assert by_c.reason == "C does not vary within any site in the rows of this test"


def test_sites_with_a_constant_response_count() -> None:
    """Dropped under fixed effects; here they say how large the variance is."""
    site, columns = small_sites()
    columns["C"] = np.where(site < 4, 1, columns["C"])
    clients = clients_of(site, columns, kinds=KINDS, levels=LEVELS)
    kinds = {"A": "continuous", "C": "binary"}
    for d in cs.Server(clients, site_effects="random").test("A", "C").directions:
        assert d.statistic == pytest.approx(statistic(clients, kinds, d.response, d.predictor, []), abs=1e-6)


def test_one_site_alone_does_its_ordinary_test() -> None:
    """There is no variance to estimate over one site."""
    site, columns = small_sites(rows=30)
    clients = clients_of(site, columns, kinds=KINDS, levels=LEVELS)
    without = {"kinds": {k: v for k, v in KINDS.items() if k != "D"}, "levels": {"C": [0, 1]}}
    clients = [clients[0], *(cs.Client(c.name, c.frame.drop("D"), **without) for c in clients[1:])]  # type: ignore[arg-type]
    random, plain = (cs.Server(clients, site_effects=e).test("A", "D") for e in ("random", "profiled"))
    assert random.contributors == 1
    assert random.p_value == pytest.approx(plain.p_value)


def test_generalized_ordinal_responses_are_refused_with_a_way_out() -> None:
    with pytest.raises(errors.OptionError, match="site_effects='profiled'"):
        cs.Server(mixed_clients(2), site_effects="random", ordinal="generalized")


def test_fisher_ignores_it() -> None:
    clients = mixed_clients(3)
    assert cs.fisher(clients, site_effects="random").test("A", "B").p_value == cs.fisher(clients).test("A", "B").p_value


def test_a_continuous_response_is_evaluated_only_here() -> None:
    gaussian = ModelAsk("A", ("B",), ("A", "B"), (0,), (), point(0.1, 1.0, 0.0, 0.5))
    wire = Wire.open(mixed_clients(3))
    with refused(wire.clients[0], errors.OutsideSchemaError):
        wire.send(wire.evaluate(gaussian), [wire.everywhere("A", "B")])


def test_no_number_of_a_single_site_is_asked_for() -> None:
    """β has one common intercept and one standard deviation, however many sites there are."""
    server = cs.Server(mixed_clients(5), site_effects="random")
    spy = Spy(server)
    server.test("A", "C")
    lengths = {len(m.point) for request in spy.of(Evaluate) for m in request.models}  # type: ignore[attr-defined]
    assert lengths == {2, 3, 4}
