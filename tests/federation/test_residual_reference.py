"""The federated test of residuals equals its definition, written down a second time without the package."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.interpolate import BSpline

from consilience import Client, Server
from consilience.simulate.violations import draw_kind
from tests.federation.residual_reference import bsplines, residual_test, roughness

KINDS = ("continuous", "binary", "ordinal", "multinomial")
GIVEN: tuple[tuple[str, ...], ...] = ((), ("Z",), ("W", "Z"), ("W",), ("V", "W", "Z"))


class Study:
    """Two to four sites of 30 to 69 rows with five variables of random kinds that depend on each other; Z is continuous."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        rows = rng.integers(30, 70, size=rng.integers(2, 5))
        self.site = np.repeat(np.arange(len(rows)), rows)
        self.kinds = dict(zip("VWXYZ", rng.choice(KINDS, size=5).tolist(), strict=True)) | {"Z": "continuous"}
        self.columns: dict[str, np.ndarray] = {}
        signal = np.zeros(len(self.site))
        for v in "ZWVXY":
            drawn = draw_kind(self.kinds[v], 0.5 * signal + 0.5 * rng.normal(size=len(rows))[self.site], rng)
            self.columns[v] = drawn if self.kinds[v] == "continuous" else drawn.astype(np.int64)
            signal = signal + 0.5 * (drawn - drawn.mean())
        self.ward = rng.integers(40, size=len(self.site)) + 1000 * self.site

    def server(self, *, clusters: bool) -> Server:
        frame = pl.DataFrame(self.columns | ({"ward": self.ward} if clusters else {}))
        levels = {v: range(4) for v, kind in self.kinds.items() if kind in ("ordinal", "multinomial")}
        parts = [frame.filter(pl.Series(self.site == k)) for k in range(self.site.max() + 1)]
        clients = [Client(f"s{k}", part, kinds=self.kinds, levels=levels) for k, part in enumerate(parts)]
        return Server(clients, method="residual", alternatives="linear", cluster="ward" if clusters else None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_the_federated_test_is_its_definition(seed: int) -> None:
    study, clusters = Study(seed), seed % 4 == 3
    server, answered = study.server(clusters=clusters), 0
    for given in GIVEN:
        found = server.test("X", "Y", given)
        ladders = {v: np.array(k.ladder) for v, k in server._sums.residual.knots.items()}
        numbers = {v: (study.columns[v], ladders[v]) for v in given if study.kinds[v] == "continuous"}
        factors = {v: study.columns[v] for v in given if study.kinds[v] != "continuous"}
        x, y = ((study.kinds[v], study.columns[v]) for v in "XY")
        wanted = residual_test(x, y, numbers, factors, study.site, study.ward if clusters else None)
        assert found.informative == (wanted is not None)
        if wanted is not None:
            answered += 1
            assert found.directions[0].df == wanted.df
            assert found.directions[0].statistic == pytest.approx(wanted.statistic, rel=1e-6)
            assert found.p_value == pytest.approx(wanted.p_value, rel=1e-6)
    assert answered >= 3


def test_splines_of_the_reference_are_splines() -> None:
    """Against scipy's: values inside, tangents outside, and the penalty by a fine grid."""
    knots = np.array([-1.3, -0.2, 0.1, 0.9, 2.0])
    whole = np.concatenate([[knots[0]] * 3, knots, [knots[-1]] * 3])
    peer = BSpline(whole, np.eye(7)[:, 1:-1], 3)
    x = np.linspace(-1.3, 2.0, 101)
    assert bsplines(x, knots) == pytest.approx(peer(x), abs=1e-12)
    outside = np.array([-3.0, 4.0])
    tangents = [peer(-1.3) - 1.7 * peer.derivative()(-1.3), peer(2.0) + 2.0 * peer.derivative()(2.0)]
    assert bsplines(outside, knots) == pytest.approx(np.array(tangents), abs=1e-12)
    grid = np.linspace(-1.3, 2.0, 200_001)
    second = peer.derivative(2)(0.5 * (grid[1:] + grid[:-1]))
    assert roughness(knots) == pytest.approx(second.T @ second * (grid[1] - grid[0]), rel=1e-5)
