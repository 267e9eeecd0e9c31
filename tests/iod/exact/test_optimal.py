"""``resolve="optimal"``: all graphs that contradict tests of the least weight, and no others. Judged by brute force over all classes."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import consilience as cs
from consilience.graph import MAG, Oracle
from tests.iod.brute_force import Evidence, World, random_datasets, weight
from tests.iod.solver.test_conflict import check_core

WORLDS = {n: World(n) for n in (3, 4, 5)}


@pytest.mark.slow
@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize(("n", "cases"), [(3, 20), (4, 30), pytest.param(5, 8, marks=pytest.mark.slow)])
def test_the_cheapest_classes_and_what_was_overruled(n: int, cases: int, graded: bool) -> None:
    world, given_up = WORLDS[n], 0
    for seed in range(cases):
        rng = np.random.default_rng([n, seed])
        max_given = [None, None, 1][seed % 3] if n < 5 else None
        flips, silent = ([0.05, 0.15, 0.3] if n < 5 else [0.02, 0.05, 0.08])[seed % 3], [0.0, 0.05][seed % 2]
        test = world.test(world.some_class(rng), random_datasets(rng, n, n - 1), seed=seed, flips=flips, silent=silent, graded=graded)
        evidence = Evidence(world, test, max_given)
        cost = evidence.cost
        best = np.flatnonzero(cost == cost.min()).tolist()
        found = cs.discover(test, max_given=max_given, resolve="optimal", limit=None)
        assert set(found.pags) == world.pags(best), seed
        assert len(found.pags) == len(best), seed
        assert found.complete, seed
        assert {(d.x, d.y, d.given) for d in found.overruled} == evidence.contradicted(best), seed
        assert found.conflicts == cs.discover(test, max_given=max_given, limit=1, resolve="strict").conflicts, seed
        assert bool(found.conflicts) == (not evidence.consistent), seed
        if found.conflicts:
            check_core(evidence, found.conflicts, seed)
        given_up += bool(found.overruled)
    assert given_up > cases / 10


@pytest.mark.slow
def test_many_tests_are_not_weighed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are too many tests, the decisions of local graphs are weighed instead, and the tests without conditioning."""
    monkeypatch.setattr(import_module("consilience.iod.weighing"), "MOST_TESTS", 0)
    world = WORLDS[4]
    for seed in range(30):
        rng = np.random.default_rng([5, seed])
        max_given = [None, None, 1][seed % 3]
        test = world.test(world.some_class(rng), random_datasets(rng, 4, 3), seed=seed, flips=0.2, graded=seed % 2 == 0)
        evidence = Evidence(world, test, max_given)
        cost = evidence.cost_of_findings
        best = np.flatnonzero(cost == cost.min()).tolist()
        found = cs.discover(test, max_given=max_given, resolve="optimal", limit=None)
        assert set(found.pags) == world.pags(best), seed
        assert len(found.pags) == len(best), seed
        overruled = {ruling.decision for ruling, row in zip(evidence.rulings, evidence.agree, strict=True) if not row[best].all()}
        single = {asked for asked in evidence.contradicted(best) if not asked[2]} - evidence.said
        told = set(found.overruled)
        assert {decision for decision in told if decision.kind != "connection"} == overruled, seed
        assert {(d.x, d.y, d.given) for d in told if d.kind == "connection"} == single, seed
        assert found.settings["weighed"] == len(evidence.rulings) + len({a for a in evidence.asked if not a[2]} - evidence.said)


@pytest.mark.slow
def test_each_graph_tells_what_it_gives_up() -> None:
    world = WORLDS[4]
    ties = 0
    for seed in range(30):
        rng = np.random.default_rng([2, seed])
        test = world.test(world.some_class(rng), random_datasets(rng, 4, 3), seed=seed, flips=0.2)
        found = cs.discover(test, resolve="optimal")
        evidence = Evidence(world, test)
        classes = {pag: c for c in range(evidence.classes) for pag in world.pags([c]) if pag in found.pags}
        for number, pag in enumerate(found.pags):
            told = found.contradicted(number)
            assert {(d.x, d.y, d.given) for d in told} == evidence.contradicted([classes[pag]]), seed
            assert found.scores[number] == pytest.approx(sum(weight(d.p_value or 0.0) for d in told)), seed
        ties += len({frozenset(map(found.contradicted, [number])) for number in range(len(found.pags))}) > 1
    assert ties > 0


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 5])
def test_without_errors_the_strict_list(n: int) -> None:
    world = WORLDS[n]
    for seed in range(20 if n < 5 else 8):
        rng = np.random.default_rng([3, seed])
        test = world.test(world.some_class(rng), random_datasets(rng, n, 3))
        strict, optimal = cs.discover(test, resolve="strict"), cs.discover(test, resolve="optimal")
        assert strict.pags == optimal.pags, seed
        assert optimal.overruled == optimal.conflicts == (), seed


def test_one_wrong_answer_among_strong_ones_is_the_one_that_is_overruled() -> None:
    """Of A --> B --> C the independence of A and C given B is missed, narrowly; nothing else is."""

    class Narrow(Oracle):
        def _answer(self, question):  # type: ignore[no-untyped-def]
            right = super()._answer(question)
            values = {("A", "B", ()): 1e-9, ("A", "B", ("C",)): 1e-7, ("B", "C", ()): 0.06, ("B", "C", ("A",)): 1e-9, ("A", "C", ()): 1e-9}
            p = values.get((question.x, question.y, question.given), 0.8)
            return cs.CIResult(right.x, right.y, right.given, p, 100, 1, 1, True, "", True, ())

    found = cs.discover(Narrow(MAG.parse("A --> B, B --> C")), resolve="optimal")
    strict = cs.discover(Narrow(MAG.parse("A --> B, B --> C")), resolve="strict")
    assert [str(pag) for pag in found.pags] == ["A o-o B, B o-o C"]
    assert [(d.x, d.y, d.given) for d in found.overruled] == [("B", "C", ())]
    assert strict.pags != found.pags
