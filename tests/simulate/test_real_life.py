"""Data in which nothing is linear: what they are made of, and that the graph still says which variables are independent."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from consilience.citest.question import Question
from consilience.errors import OptionError
from consilience.simulate.methods import ask_sites
from consilience.simulate.real_life import WARD, WARD_ROWS, real_life

NUMBERS = {"A": "continuous", "B": "continuous", "C": "continuous"}


def test_a_seed_gives_the_same_data_and_another_does_not() -> None:
    first, again, other = (real_life("A --> B", n=90, sites=3, seed=seed) for seed in (1, 1, 2))
    assert all(frame.equals(again.frames[name]) for name, frame in first.frames.items())
    assert not first.frames["site1"].equals(other.frames["site1"])


def test_wards_lie_within_sites() -> None:
    made = real_life("A --> B", n=500, sites=4, seed=1)
    wards = [set(frame[WARD]) for frame in made.frames.values()]
    assert all(not a & b for i, a in enumerate(wards) for b in wards[:i])
    assert all(frame[WARD].value_counts()["count"].max() == WARD_ROWS for frame in made.frames.values())


def test_wards_and_sites_move_a_variable() -> None:
    made = real_life("A, B", n=20_000, sites=2, seed=3, kinds={"A": "continuous", "B": "continuous"})
    for frame in made.frames.values():
        means = frame.group_by(WARD).agg(pl.col("A").mean())["A"].to_numpy()
        # a fifth of the variance of the noise, and what 25 rows leave of the noise itself
        assert means.var() == pytest.approx(0.2 + 1 / WARD_ROWS, rel=0.3)


def test_a_bent_effect_is_found_by_smooth_features() -> None:
    """Over twenty models every dependence is found; a straight line misses the even ones."""
    missed = {"linear": 0, "smooth": 0}
    for seed in range(20):
        made = real_life("A --> B", n=1500, sites=2, seed=seed, kinds={"A": "continuous", "B": "continuous"})
        for alternatives in missed:
            ask = [Question("A", "B")]
            (found,) = ask_sites(made.frames, made.schema, ask, method="residual", alternatives=alternatives, cluster=WARD)
            missed[alternatives] += found.p_value > 0.01
    assert missed["smooth"] <= 1
    assert missed["linear"] >= 2


def test_separated_variables_are_independent_given_their_cause() -> None:
    """The linear test rejects far too often; that of residuals at most as often as chance has it (1 in 10⁴ to see more than seven)."""
    rejected = {"fedci": 0, "residual": 0}
    for seed in range(40):
        made = real_life("C --> A, C --> B", n=1000, sites=4, seed=seed, kinds=NUMBERS)
        ask = [Question("A", "B", ("C",))]
        rejected["fedci"] += ask_sites(made.frames, made.schema, ask)[0].p_value < 0.05
        rejected["residual"] += ask_sites(made.frames, made.schema, ask, method="residual", cluster=WARD)[0].p_value < 0.05
    assert rejected["residual"] <= 7
    assert rejected["fedci"] >= 12


def test_every_kind_is_drawn() -> None:
    kinds = {"A": "continuous", "B": "binary", "C": "ordinal", "D": "multinomial"}
    made = real_life("A --> B, B --> C, C --> D", n=2000, sites=2, seed=5, kinds=kinds)
    frame = pl.concat(made.frames.values())
    assert {v: made.schema[v].kind.value for v in made.schema} == kinds
    assert [frame[v].n_unique() for v in "BCD"] == [2, 4, 4]
    assert np.isfinite(frame["A"].to_numpy()).all()


def test_more_sites_than_rows_is_an_error() -> None:
    with pytest.raises(OptionError, match="n must be"):
        real_life("A --> B", n=2, sites=3, seed=1)
