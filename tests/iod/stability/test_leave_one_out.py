"""Leaving out a site: the study of the others, and whoever disagrees with them is named."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.citest.question import all_questions
from consilience.citest.result import Direction
from consilience.citest.size import Size
from consilience.iod.stability.influence import influence
from consilience.protocol.errors import DisclosureError
from consilience.protocol.replicates import Replicate
from tests.federation.helpers import mixed_clients, mixed_frames
from tests.iod.stability.test_equality import ask

METHODS: list[dict[str, Any]] = [
    {"method": "fedci"},
    {"method": "fedci", "site_effects": "coordinate"},
    {"method": "fedci", "site_effects": "joint"},
    {"method": "fedci", "site_effects": "none"},
    {"method": "fedci", "site_effects": "random"},
    {"method": "residual"},
    {"method": "fisher"},
    {"method": "fedci", "min_cell": 5},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", METHODS, ids=lambda o: "-".join(map(str, o.values())))
def test_what_is_left_is_the_study_of_the_others(options: dict[str, Any]) -> None:
    frames = list(cs.simulate.mixed_sites(n=480, sites=4, seed=5).values())
    clients = [cs.Client(f"site{k}", frame) for k, frame in enumerate(frames)]
    server = cs.Server(clients, **options)
    questions = list(all_questions(server.variables, 1))
    names = {own: name for name, own in server.fingerprints.items()}
    for replicate, found in server.answer_together({Replicate(without=own): ask(questions) for own in names}):
        others = cs.Server([c for c in clients if c.name != names[replicate.without]], schema=server.schema, **options, diagnostics=False)
        for got, wanted in zip(found, others.test_many(questions), strict=True):
            assert got.p_value == pytest.approx(wanted.p_value, abs=1e-7), got
            assert (got.n, got.contributors, got.informative) == (wanted.n, wanted.contributors, wanted.informative)


def test_the_site_that_disagrees_is_named_and_what_hangs_on_whom_is_said() -> None:
    frames = {name: frame.select("A", "B", "C") for name, frame in cs.simulate.mixed_sites(n=1200, sites=4, seed=3).items()}
    clean = cs.discover([cs.Client(name, frame) for name, frame in frames.items()], leave_one_out=True).stability
    assert clean is not None
    assert clean.suspect is None
    assert clean.sites is not None
    assert clean.sites["influence"].to_list() == pytest.approx([1.0] * 4, abs=1.9)
    frames["site2"] = frames["site2"].with_columns(-pl.col("B"))
    found = cs.discover([cs.Client(name, frame) for name, frame in frames.items()], leave_one_out=True).stability
    assert found is not None
    assert found.suspect == "site2"
    assert any("site2 says something else" in words for words in found.in_words())
    assert "suspect: site2" in repr(found)
    again = type(found).from_dict(found.to_dict())
    assert again.to_dict() == found.to_dict()
    assert again.hanging() == found.hanging()


def test_an_edge_that_one_site_alone_has_hangs_on_it() -> None:
    rng = np.random.default_rng(2)

    def frame(slope: float) -> pl.DataFrame:
        a = rng.normal(size=200)
        return pl.DataFrame({"A": a, "B": slope * a + rng.normal(size=200)})

    clients = [cs.Client(name, frame(slope)) for name, slope in (("one", 0.0), ("two", 0.0), ("three", 1.0))]
    found = cs.discover(clients, leave_one_out=True).stability
    assert found is not None
    assert found.hanging() == {"three": [("A", "B")]}
    assert "Without three A – B would not be there." in found.in_words()
    assert found.sites is not None
    rows = {row["site"]: row for row in found.sites.iter_rows(named=True)}
    assert (rows["three"]["lost"], rows["three"]["decisions"]) == (1, 1)
    assert (rows["one"]["lost"], rows["one"]["gained"]) == (0, 0)


def test_not_under_strict_isolation() -> None:
    server = cs.Server(mixed_clients(4, columns="ABC"), isolation="strict", single_site="refuse", on_dropout="stop")
    with pytest.raises(DisclosureError, match="strict"):
        cs.discover(server, leave_one_out=True)


def test_d_is_standard_normal_where_sites_are_alike() -> None:
    """Hausman's variance, in the simplest of models: means of normal sizes with known variances."""
    rng = np.random.default_rng(8)
    changes = []
    for _ in range(400):
        own = rng.normal(size=3) / np.sqrt([100.0, 200.0, 300.0]) + 0.3
        rows = [100, 200, 300]
        means = [float(np.average(own[k:], weights=rows[k:])) for k in (0, 1)]
        sizes = [Size("slope", mean, 1 / math.sqrt(sum(rows[k:])), 0, 0, "Y", "X") for k, mean in enumerate(means)]
        results = [cs.CIResult("X", "Y", (), 0.5, 600, 3, directions=(Direction("Y", "X", 1.0, 1, 0.5, 0, 0, sizes=(s,)),)) for s in sizes]
        change = influence(*results)
        assert change is not None
        changes.append(change)
    assert np.mean(changes) == pytest.approx(0.0, abs=0.15)
    assert np.mean(np.square(changes)) == pytest.approx(1.0, abs=0.22)


def test_evidence_stands_in_where_no_size_is_told() -> None:
    def told(p: float, n: int) -> cs.CIResult:
        return cs.CIResult("X", "Y", (), p, n, 3)

    assert influence(told(0.5, 300), told(0.5, 300)) is None  # it has no rows for it
    z = 1.959964
    assert influence(told(0.05, 400), told(0.05, 300)) == pytest.approx((z / 300**0.5 - z / 20) / (1 / 300 - 1 / 400) ** 0.5, abs=1e-5)


def test_a_site_without_the_rows_has_no_influence_on_a_test() -> None:
    frames = mixed_frames(3)
    clients = [cs.Client(f"site{k}", f.select("A", "B", *(["C"] if k < 2 else []))) for k, f in enumerate(frames)]
    found = cs.discover(clients, leave_one_out=True).stability
    assert found is not None
    assert found.without is not None
    rows = found.without.filter((pl.col("site") == "site2") & (pl.col("y") == "C"))
    assert rows["change"].null_count() == rows.height > 0
    assert not rows["changed"].any()
