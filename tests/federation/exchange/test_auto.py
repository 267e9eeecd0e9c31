"""``method="auto"``: nested models where they hold, residuals where they do not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.protocol.diagnose import Diagnose
from consilience.protocol.residual_products import ResidualProducts
from tests.federation.helpers import Spy, lose

ASKED = [("X", "Y", ["Z"]), ("W", "Z"), ("V", "W", ["Z"])]


def clients(seed: int = 0) -> list[cs.Client]:
    """X and Y are parabolas in Z, and independent given it; V and W are noise."""
    rng, found = np.random.default_rng(seed), []
    for k in range(4):
        z = rng.normal(size=300)
        columns = {"Z": z, "V": rng.normal(size=300), "W": rng.normal(size=300)}
        columns |= {name: z**2 + rng.normal(size=300) for name in "XY"}
        found.append(cs.Client(f"s{k}", pl.DataFrame(columns)))
    return found


def test_residuals_answer_where_lines_do_not_hold() -> None:
    sites = clients()
    got = cs.Server(sites, method="auto").test_many(ASKED)
    lines, curves = (cs.Server(sites, method=m).test_many(ASKED) for m in ("fedci", "residual"))
    assert [r.method for r in got] == ["residual", "fedci", "fedci"]
    assert [r.p_value for r in got] == [curves[0].p_value, lines[1].p_value, lines[2].p_value]
    assert [r.diagnostics for r in got] == [r.diagnostics for r in lines]
    assert lines[0].p_value < 1e-10 < 1e-3 < got[0].p_value


@pytest.mark.slow
def test_counts_that_scatter_more_the_larger_they_are_are_left_to_residuals() -> None:
    """Negative binomials have the variance μ + μ²/2, and the likelihood test one factor for all rows: it rejects up to 0.2 of true ones."""
    for seed in range(5):
        rng, found = np.random.default_rng(seed), []
        for k in range(4):
            z = rng.normal(size=500)
            counts = {name: rng.poisson(np.exp(1.0 + 0.6 * z) * rng.gamma(2.0, 0.5, 500)) for name in "XY"}
            found.append(cs.Client(f"s{k}", pl.DataFrame(counts | {"Z": z}), kinds={"X": "count", "Y": "count"}))
        got = cs.Server(found, method="auto").test("X", "Y", ["Z"])
        assert got.method == "residual"
        assert got.diagnostics is not None
        assert got.diagnostics.variance_p < 0.01
        assert got.p_value > 1e-3


def test_few_rows_of_counts_are_left_to_residuals_without_a_check() -> None:
    """A hundred rows do not show how counts scatter; a count among the given variables is no response, and changes nothing."""
    rng, sites = np.random.default_rng(1), []
    for k in range(4):
        z = rng.normal(size=30)
        columns = {"Z": z, "W": rng.normal(size=30), "N": rng.poisson(np.exp(1.0 + 0.6 * z))}
        sites.append(cs.Client(f"s{k}", pl.DataFrame(columns), kinds={"N": "count"}))
    asked = [("N", "W", ["Z"]), ("W", "Z", ["N"])]
    got = cs.Server(sites, method="auto").test_many(asked)
    assert [r.method for r in got] == ["residual", "fedci"]
    assert got[0].p_value == cs.Server(sites, method="residual").test(*asked[0]).p_value
    assert got[0].diagnostics is not None
    assert [r.method for r in cs.pooled(sites, method="auto").test_many(asked)] == ["residual", "fedci"]


def test_it_is_the_same_where_all_rows_are_in_one_place() -> None:
    sites = clients(1)
    wanted = cs.pooled(sites, method="auto").test_many(ASKED)
    for got, want in zip(cs.Server(sites, method="auto").test_many(ASKED), wanted, strict=True):
        assert got.method == want.method
        assert got.p_value == pytest.approx(want.p_value, rel=1e-6)


def test_a_setting_against_diagnostics_does_not_hold_here() -> None:
    assert cs.Server(clients(), method="auto", diagnostics=False).test(*ASKED[0]).method == "residual"


def test_nothing_is_asked_twice() -> None:
    server = cs.Server(clients(), method="auto")
    spy = Spy(server)
    server.test_many(ASKED)
    assert len(spy.of(Diagnose)) == 1
    before = server.rounds
    server.test_many(ASKED)
    assert server.rounds == before
    assert len(spy.of(ResidualProducts)) <= 2


@pytest.mark.parametrize("at", [2, 3, 4])
def test_a_site_that_goes_on_the_way_is_done_without(at: int) -> None:
    server = cs.Server(clients(), method="auto")
    lose(server, 3, at)
    got = server.test_many(ASKED)
    wanted = cs.Server(clients()[:3], method="auto").test_many(ASKED)
    assert [r.method for r in got] == [r.method for r in wanted] == ["residual", "fedci", "fedci"]
    for a, b in zip(got, wanted, strict=True):
        assert a.n == b.n
        assert a.p_value == pytest.approx(b.p_value, rel=1e-5)


def test_a_discovery_says_how_often() -> None:
    found = cs.discover(cs.Server(clients(), method="auto"))
    counted = found.tests["method"].to_list().count("residual")
    assert counted > 0
    assert (
        str(found.diagnosis)
        == f"in {counted} of {found.tests.height} tests the linear model does not hold: method='residual' answers there"
    )
