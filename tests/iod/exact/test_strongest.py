"""``resolve="strongest"``: the graphs whose contradicted decisions, sorted by weight, come first. Judged by brute force."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

import consilience as cs
from consilience.settings.choices import Resolve
from tests.data.real_tables import RealStudy, studies
from tests.iod.brute_force import Evidence, World, random_datasets

WORLDS = {n: World(n) for n in (4, 5)}


def first_classes(evidence: Evidence) -> list[int]:
    """The classes that contradict fewest decisions of the heaviest weight, of these fewest of the next, and so on."""
    order = sorted(range(len(evidence._weights)), key=lambda i: -round(evidence._weights[i], 9))
    left = np.arange(evidence.classes)
    for _, group in groupby(order, key=lambda i: round(evidence._weights[i], 9)):
        wrong = (~evidence.right[list(group)][:, left]).sum(axis=0)
        left = left[wrong == wrong.min()]
    return left.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize(("n", "cases"), [(4, 30), (5, 12)])
def test_the_classes_that_come_first_and_no_others(n: int, cases: int, graded: bool) -> None:
    world, contradictory = WORLDS[n], 0
    for seed in range(cases):
        rng = np.random.default_rng([n, seed])
        test = world.test(world.some_class(rng), random_datasets(rng, n, n - 1), seed=seed, flips=0.05, graded=graded)
        evidence = Evidence(world, test)
        wanted = first_classes(evidence)
        found = cs.discover(test, resolve="strongest", limit=None, time_limit=None)
        assert set(found.pags) == world.pags(wanted), seed
        assert len(found.pags) == len(wanted), seed
        assert found.complete
        assert found.resolution.proved
        least = float(evidence.cost.min()) / 1000
        assert found.resolution.bound <= least + 1e-2, seed  # what is said to be given up by every graph is
        contradictory += found.resolution.how is Resolve.STRONGEST
    assert contradictory > cases // 4


@pytest.mark.slow
def test_auto_is_strict_where_decisions_agree_and_strongest_where_not() -> None:
    world = WORLDS[5]
    seen = set()
    for seed in range(10):
        rng = np.random.default_rng([7, seed])
        test = world.test(world.some_class(rng), random_datasets(rng, 5, 4), seed=seed, flips=0.05, graded=True)
        auto, strict = cs.discover(test), cs.discover(test, resolve="strict")
        seen.add(auto.resolution.how)
        if strict.pags:
            assert auto.pags == strict.pags
            assert auto.resolution.how is Resolve.STRICT
        else:
            assert auto.pags == cs.discover(test, resolve="strongest").pags
            assert auto.overruled
    assert seen == {Resolve.STRICT, Resolve.STRONGEST}


def test_stronger_decisions_are_given_as_reasons() -> None:
    study = RealStudy("anes96", 8)
    found = cs.discover(study.pooled(), alpha=0.05)
    reasons = found.resolution.reasons
    assert reasons
    for overruled, stronger in reasons.items():
        assert overruled in found.overruled
        assert stronger
        assert all((one.weight or 0.0) >= (overruled.weight or 0.0) for one in stronger)


@pytest.mark.slow
def test_the_order_of_columns_and_sites_does_not_matter() -> None:
    frames = list(RealStudy("whas500", 8).frames().values())
    one = cs.discover(cs.pooled(frames))
    turned = [frame.select(reversed(frame.columns)) for frame in reversed(frames)]
    other = cs.discover(cs.pooled(turned))
    assert set(one.pags) == set(other.pags)
    assert one.resolution.given_up == pytest.approx(other.resolution.given_up, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("study", studies(8), ids=str)
def test_real_tables_have_an_answer(study: RealStudy) -> None:
    test = study.pooled()
    for alpha in (0.05, 0.01):
        found = cs.discover(test, alpha=alpha, limit=200)
        assert found.pags
        assert found.resolution.proved
        strict = cs.discover(test, alpha=alpha, resolve="strict", limit=1)
        assert bool(strict.pags) == (found.resolution.how is Resolve.STRICT)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("resolve", ["auto", "strongest", "optimal"])
def test_there_is_an_answer_at_any_time_limit(resolve: str, seconds: float) -> None:
    test = RealStudy("diabetes", 10).pooled()
    found = cs.discover(test, resolve=resolve, time_limit=seconds, limit=50)
    assert found.pags
    resolution = found.resolution
    assert resolution.bound <= resolution.given_up + 1e-9
    assert resolution.proved or not found.complete
    if resolution.undecided:
        assert "considered" in found.headline


@pytest.mark.slow
def test_the_optimum_gives_up_no_more_than_the_strongest() -> None:
    for table in ("whas500", "actg175"):
        test = RealStudy(table, 8).pooled()
        strongest = cs.discover(test, resolve="strongest").resolution
        optimal = cs.discover(test, resolve="optimal", time_limit=20.0).resolution
        assert optimal.given_up <= strongest.given_up + 1e-3
        assert optimal.bound <= optimal.given_up + 1e-9
        assert strongest.bound <= optimal.given_up + 1e-3


def test_a_graph_at_once_is_a_mag_and_obeys_what_is_known() -> None:
    world = WORLDS[5]
    rng = np.random.default_rng(3)
    test = world.test(world.some_class(rng), random_datasets(rng, 5, 4), seed=3, flips=0.1, graded=True)
    known = cs.Knowledge(tiers=[["A", "B"], ["C", "D", "E"]])
    for knowledge in (None, known):
        found = cs.discover(test, time_limit=0.0, knowledge=knowledge)
        assert found.pags
        assert not found.complete
        if knowledge is not None:  # nobody in the second tier causes anybody in the first
            assert not any(edge.endswith(("--> A", "--> B")) and edge[0] in "CDE" for edge in map(str, found.pags[0].edges))
