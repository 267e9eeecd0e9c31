"""Situations in which a linear model is wrong: each is what it says, and X and Y are independent given Z in it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from consilience import Client
from consilience.errors import OptionError
from consilience.simulate.violations import CODES, ICC, SITUATIONS, WARD, Drawn, situation

OTHERS = [name for name in SITUATIONS if " given " not in name]
PAIRS = [name for name in SITUATIONS if " given " in name]


def columns(drawn: Drawn) -> dict[str, np.ndarray]:
    rows = pl.concat(drawn.frames.values())
    return {name: rows[name].to_numpy().astype(float) for name in rows.columns}


def within(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    return values - (np.bincount(groups, values) / np.bincount(groups))[groups]


@pytest.mark.parametrize("name", OTHERS)
def test_data_are_as_declared(name: str) -> None:
    drawn = situation(name, n=403, seed=5)
    assert sum(frame.height for frame in drawn.frames.values()) == 403
    assert len(drawn.frames) == SITUATIONS[name].sites
    assert {"X", "Y", *drawn.given} == set(drawn.kinds)
    for site, frame in drawn.frames.items():
        assert set(frame.columns) == set(drawn.kinds) | ({drawn.cluster} if drawn.cluster else set())
        kinds = {v: "continuous" if kind == "count" else kind for v, kind in drawn.kinds.items()}
        client = Client(site, frame.select(list(kinds)), kinds=kinds, levels=drawn.levels)
        assert set(client.declarations) == set(kinds)


def test_every_pair_of_kinds_is_there_given_every_kind() -> None:
    assert len(PAIRS) == 15 * 5
    for name in PAIRS:
        drawn = situation(name, n=120, seed=1)
        assert name == f"{drawn.kinds['X']} – {drawn.kinds['Y']} given {drawn.kinds['Z']}"


def test_a_seed_gives_the_same_data() -> None:
    first, again, other = (situation("sine", n=40, seed=seed) for seed in ([1, 2], [1, 2], [1, 3]))
    for site, frame in first.frames.items():
        assert frame.equals(again.frames[site])
        assert not frame.equals(other.frames[site])


@pytest.mark.parametrize(
    ("name", "signal"),
    [("square", lambda z: z**2), ("sine", lambda z: np.sin(2 * z)), ("step", lambda z: z > 0.3), ("linear", lambda z: 0.5 * z)],
)
def test_what_is_left_of_the_true_mean_is_noise_without_covariance(name: str, signal) -> None:  # type: ignore[no-untyped-def]
    drawn = situation(name, n=40_000, seed=2)
    found, site = columns(drawn), np.repeat(np.arange(4), 10_000)
    left = {v: within(found[v] - signal(found["Z"]), site) for v in "XY"}
    assert [left[v].std() for v in "XY"] == pytest.approx([1.0, 1.0], abs=0.02)
    assert abs(np.corrcoef(left["X"], left["Y"])[0, 1]) < 0.02
    # and without the mean there is a covariance, which a model without it would find
    assert np.corrcoef(*(within(found[v], site) for v in "XY"))[0, 1] > 0.1


def test_noise_grows_with_z() -> None:
    found = columns(situation("noise grows", n=40_000, seed=3))
    site = np.repeat(np.arange(4), 10_000)
    left = within(found["X"] - 0.5 * found["Z"], site) / np.exp(0.7 * found["Z"])
    low, high = found["Z"] < -0.5, found["Z"] > 0.5
    assert 0.7 < left[high].std() / np.sqrt(1.0) < 1.3
    assert (found["X"] - 0.5 * found["Z"])[high].var() > 4 * left[low].var()


def test_slopes_and_spreads_differ_between_sites() -> None:
    slopes = [np.polyfit(f["Z"].to_numpy(), f["X"].to_numpy(), 1)[0] for f in situation("slopes by site", 8_000, 4).frames.values()]
    assert slopes == pytest.approx([-1.5, -0.5, 0.5, 1.5], abs=0.1)
    spreads = [(f["X"] - 0.5 * f["Z"]).std() for f in situation("noise by site", 8_000, 4).frames.values()]
    assert spreads == pytest.approx(np.geomspace(0.3, 4.0, 4), rel=0.06)


def test_patients_of_a_ward_are_alike() -> None:
    drawn = situation("wards", n=40_000, seed=6)
    found = columns(drawn)
    assert set(np.unique(found["ward"], return_counts=True)[1]) == {WARD}
    for frame in drawn.frames.values():
        left = (frame["X"] - 0.5 * frame["Z"]).to_numpy()
        means = np.array([left[frame["ward"].to_numpy() == w].mean() for w in frame["ward"].unique()])
        assert means.var() == pytest.approx(ICC, rel=0.35)
    wards = [set(frame["ward"]) for frame in drawn.frames.values()]
    assert not wards[0] & wards[1]


def test_counts_have_their_mean_and_more_variance_where_they_should() -> None:
    plain, inflated = columns(situation("counts", 40_000, 7)), columns(situation("zero-inflated", 40_000, 7))
    near = np.abs(plain["Z"]) < 0.05
    assert plain["X"][near].mean() == pytest.approx(np.e, rel=0.06)
    assert plain["X"][near].var() == pytest.approx(np.e, rel=0.15)
    near = np.abs(inflated["Z"]) < 0.05
    assert inflated["X"][near].var() > 2 * inflated["X"][near].mean()
    assert (inflated["X"] == 0).mean() > 0.3


def test_text_codes_are_many() -> None:
    drawn = situation("codes", n=600, seed=1)
    assert drawn.levels == {"X": range(CODES)}
    assert columns(drawn)["X"].max() < CODES


def test_what_does_not_exist_is_an_error_in_words() -> None:
    with pytest.raises(OptionError, match="situation"):
        situation("cubic", n=100, seed=1)
    with pytest.raises(OptionError, match="n must be"):
        situation("linear", n=3, seed=1)
