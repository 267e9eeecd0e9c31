"""Sites whose response does not vary: when they still speak, and when nobody does."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import consilience as cs

VARIANTS = ("profiled", "coordinate", "joint")


def every_way(clients: list[cs.Client], question: tuple[str, str], **options: str) -> dict[str, cs.CIResult]:
    """The pooled answer and that of every variant."""
    found = {"pooled": cs.pooled(clients, **options).test(*question)}
    return found | {v: cs.Server(clients, site_effects=v, **options).test(*question) for v in VARIANTS}


def same_middle(seed: int) -> list[cs.Client]:
    """Two sites where S varies with X; three where S is always 2 and X is three times as wide."""
    rng = np.random.default_rng(seed)
    clients = []
    for k in range(5):
        x = (1.0 if k < 2 else 3.0) * rng.normal(size=60)
        s = 1 + np.digitize(0.35 * x + rng.logistic(size=60), [-1.0, 1.0]) if k < 2 else np.full(60, 2)
        frame = pl.DataFrame({"X": x, "S": s})
        clients.append(cs.Client(f"s{k}", frame, kinds={"S": "ordinal"}, levels={"S": [1, 2, 3]}))
    return clients


@pytest.mark.parametrize("seed", range(3))
def test_a_site_with_one_middle_level_speaks_through_the_common_gaps(seed: int) -> None:
    """Its level's probability is the share between two thresholds a finite gap apart: slopes matter to it. (R: case same_middle.)"""
    found = every_way(same_middle(seed), ("X", "S"))
    wanted = found.pop("pooled").directions[0]
    assert wanted.response == "S"
    for result in found.values():
        assert result.directions[0].statistic == pytest.approx(wanted.statistic, rel=1e-7)
        assert result.directions[0].loglik_unrestricted == pytest.approx(wanted.loglik_unrestricted, rel=1e-9)
        assert result.directions[0].converged


@pytest.mark.parametrize("level", [1, 3])
def test_a_site_with_the_lowest_or_the_highest_level_only_says_nothing(level: int) -> None:
    clients = same_middle(0)
    ends = [cs.Client(f"e{k}", c.frame.with_columns(S=pl.lit(level)), kinds={"S": "ordinal"}) for k, c in enumerate(clients[2:])]
    for variant in VARIANTS:
        with_them = cs.Server(clients[:2] + ends, site_effects=variant).test("X", "S").directions[0]
        without = cs.Server(clients[:2], site_effects=variant).test("X", "S").directions[0]
        assert with_them.statistic == pytest.approx(without.statistic, rel=1e-7)


def test_with_a_slope_per_threshold_one_middle_level_says_nothing() -> None:
    """There each site has thresholds of its own, which leave the middle on both sides."""
    clients = same_middle(0)
    with_them = cs.Server(clients, ordinal="generalized").test("X", "S").directions[0]
    without = cs.Server(clients[:2], ordinal="generalized").test("X", "S").directions[0]
    assert with_them.statistic == pytest.approx(without.statistic, rel=1e-7)
