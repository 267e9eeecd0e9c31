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


def study(*sites: dict[str, object], kinds: dict[str, str]) -> list[cs.Client]:
    levels = {name: sorted({v for s in sites for v in s[name]}) for name, kind in kinds.items() if kind in ("ordinal", "multinomial")}  # type: ignore[attr-defined]
    return [cs.Client(f"s{k}", pl.DataFrame(site), kinds=kinds, levels=levels) for k, site in enumerate(sites)]


@pytest.mark.parametrize("kind", ["binary", "ordinal", "multinomial"])
@pytest.mark.parametrize("given", [(), ("Z",)])
def test_no_information_is_no_independence(kind: str, given: tuple[str, ...]) -> None:
    """X varies where Y is constant, and Y where X is: the data cannot speak, in whichever way they are asked."""
    rng = np.random.default_rng(1)
    high = 2 if kind == "binary" else 3
    here = [{"X": rng.normal(size=60), "Y": np.full(60, k % 2 * (high - 1)), "Z": rng.normal(size=60)} for k in range(2)]
    there = [{"X": np.full(60, 0.1), "Y": rng.integers(0, high, 60), "Z": rng.normal(size=60)} for _ in range(2)]
    clients = study(*here, *there, kinds={"X": "continuous", "Y": kind, "Z": "continuous"})
    for test in [cs.pooled(clients), *(cs.Server(clients, site_effects=v) for v in VARIANTS)]:
        found = next(d for d in test.test("X", "Y", given).directions if d.response == "Y")
        assert (found.informative, found.df, found.p_value) == (False, 0, 1.0)
        assert "X does not vary" in found.reason
        assert "at any site where Y varies" in found.reason


def test_discovery_takes_no_separation_from_it() -> None:
    rng = np.random.default_rng(1)
    codes = [np.zeros(80, dtype=int), rng.integers(0, 2, 80)]
    sites = [{"X": rng.integers(0, 2, 80) if k < 2 else codes[0], "Y": codes[0] if k < 2 else codes[1]} for k in range(4)]
    result = cs.Server(study(*sites, kinds={"X": "binary", "Y": "binary"})).test("X", "Y")
    assert not result.informative
    assert "X does not vary at any site where Y varies" in result.reason


def test_levels_spelt_differently_at_two_sites_are_two_contrasts_not_three() -> None:
    """Twice a logit: yes against no at one site, Y against N at the other. The statistic is the sum, and so are the degrees of freedom."""
    rng = np.random.default_rng(3)
    sites = []
    for words in (("no", "yes"), ("N", "Y")):
        x = rng.normal(size=80)
        sites.append({"X": x, "M": np.array(words)[(0.5 * x + rng.logistic(size=80) > 0).astype(int)]})
    clients = study(*sites, kinds={"X": "continuous", "M": "multinomial"})
    single = [cs.pooled([pl.DataFrame(s)]).test("X", "M") for s in sites]
    wanted = sum(next(d for d in r.directions if d.response == "M").statistic for r in single)
    for result in every_way(clients, ("X", "M")).values():
        found = next(d for d in result.directions if d.response == "M")
        assert found.df == 2
        assert found.statistic == pytest.approx(wanted, rel=1e-7)


def test_a_threshold_that_no_site_has_rows_around_counts_for_nothing() -> None:
    """Levels 1, 2 at one site and 3, 4 at the other: of three thresholds two have slopes that somebody can tell."""
    rng = np.random.default_rng(4)
    sites = [{"X": rng.normal(size=80), "S": low + rng.integers(0, 2, 80)} for low in (1, 3)]
    clients = study(*sites, kinds={"X": "continuous", "S": "ordinal"})
    for result in every_way(clients, ("X", "S"), ordinal="generalized").values():
        assert next(d for d in result.directions if d.response == "S").df == 2


def test_a_gap_that_runs_away_takes_the_sites_of_its_level_with_it() -> None:
    """Levels 1, 2 at one site, 2, 3 at another, 2 alone at the third: nobody holds the gap, and X varies at the third only."""
    rng = np.random.default_rng(5)
    still = np.full(50, 0.1)
    sites = [{"X": still, "S": 1 + rng.integers(0, 2, 50)}, {"X": still, "S": 2 + rng.integers(0, 2, 50)}]
    clients = study(*sites, {"X": rng.normal(size=50), "S": np.full(50, 2)}, kinds={"X": "continuous", "S": "ordinal"})
    for result in every_way(clients, ("X", "S")).values():
        assert not next(d for d in result.directions if d.response == "S").informative
