"""``resolve="strongest"``: what contradicts stronger decisions is overruled. Judged by brute force over all classes."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import consilience as cs
from consilience.citest.interface import CITest
from consilience.graph import MAG, PAG, Oracle
from consilience.iod.clock import Clock
from consilience.iod.evidence import Decision
from consilience.iod.exact.strongest import Course
from consilience.settings.choices import Resolve
from tests.iod.brute_force import Evidence, World, prices, random_datasets

WORLDS = {n: World(n) for n in (3, 4, 5)}


def fewest(weights: np.ndarray, right: np.ndarray) -> list[int]:
    """The columns in which the fewest of the heaviest are wrong, then of the next heaviest, and so on."""
    left = np.arange(right.shape[1])
    for weight in sorted(set(weights.tolist()), reverse=True):
        wrong = (~right[weights == weight][:, left]).sum(axis=0)
        left = left[wrong == wrong.min()]
    return left.tolist()


def by_definition(evidence: Evidence) -> list[int]:
    return fewest(prices(evidence.weights), evidence.right)


def case(world: World, seed: int, flips: float, *, graded: bool, silent: float = 0.0) -> CITest:
    rng = np.random.default_rng([world.n, seed])
    truth, datasets = world.some_class(rng), random_datasets(rng, world.n, world.n - 1)
    return world.test(truth, datasets, seed=seed, flips=flips, silent=silent, graded=graded)


@pytest.mark.slow
@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize(("n", "cases"), [(3, 20), (4, 40), (5, 20)])
def test_lexicographically_fewest_by_brute_force(n: int, cases: int, graded: bool) -> None:
    """With p-values of 0 and 1 there are two weights only: all of it is ties."""
    world, overruled = WORLDS[n], 0
    for seed in range(cases):
        test = case(world, seed, 0.05 if n == 5 else 0.2, graded=graded, silent=[0.0, 0.05][seed % 2])
        evidence = Evidence(world, test)
        best = by_definition(evidence)
        found = cs.discover(test, resolve="strongest", limit=None)
        assert set(found.pags) == world.pags(best), seed
        assert len(found.pags) == len(best), seed
        assert found.complete, seed
        assert found.resolution.proved, seed
        assert found.resolution.undecided == 0, seed
        assert {(d.x, d.y, d.given) for d in found.resolution.overruled} == evidence.contradicted(best), seed
        total = min(sum(decision.weight or 0.0 for decision in found.contradicted(k)) for k in range(len(found.pags)))
        assert found.resolution.given_up == pytest.approx(total, abs=1e-2), seed
        cost = evidence.cost.min() / 1000
        assert found.resolution.bound <= cost + 1e-9, seed
        assert cost <= found.resolution.given_up + 1e-2, seed
        overruled += bool(found.overruled)
    assert overruled > cases / 10


@pytest.mark.slow
def test_with_undirected_edges() -> None:
    world, overruled = World(4, selection_bias=True), 0
    for seed in range(30):
        test = case(world, seed, 0.15, graded=seed % 2 == 0)
        best = by_definition(Evidence(world, test))
        found = cs.discover(test, resolve="strongest", selection_bias=True, limit=None)
        assert set(found.pags) == world.pags(best), seed
        overruled += bool(found.overruled)
    assert overruled > 3


@pytest.mark.slow
@pytest.mark.parametrize("selection_bias", [False, True])
def test_findings_instead_of_tests(monkeypatch: pytest.MonkeyPatch, selection_bias: bool) -> None:
    """Where there are too many tests: the decisions of local graphs, and the tests without conditioning."""
    monkeypatch.setattr(import_module("consilience.iod.discover"), "MOST_TESTS", 0)
    for n, cases in ((4, 40), (5, 10)) if not selection_bias else ((4, 30),):
        world = World(n, selection_bias=selection_bias)
        for seed in range(cases):
            test = case(world, seed, 0.2 if n == 4 else 0.08, graded=seed % 4 != 0)
            evidence = Evidence(world, test)
            more = [i for i, asked in enumerate(evidence.asked) if not asked[2] and asked not in evidence.said]
            weights = prices([*(r.decision.weight or 0.0 for r in evidence.rulings), *(evidence.weights[i] for i in more)])
            best = fewest(weights, np.vstack([evidence.agree, evidence.right[more]]))
            found = cs.discover(test, resolve="strongest", selection_bias=selection_bias, limit=None)
            assert set(found.pags) == world.pags(best), (n, seed)


def renamed(pag: PAG, names: dict[str, str]) -> PAG:
    return PAG.parse("".join(names.get(letter, letter) for letter in str(pag)))


class Renamed(CITest):
    """The answers of another test, under other names and with its sites in another order."""

    def __init__(self, test: CITest, names: dict[str, str], order: list[int]) -> None:
        self._test, self._back = test, {new: old for old, new in names.items()}
        self.variables = tuple(names.values())
        self.datasets = tuple(frozenset(names[name] for name in list(test.datasets)[i]) for i in order)

    def answer(self, asked, progress=None):  # type: ignore[no-untyped-def]
        results = []
        for q in asked:
            x, y = sorted((self._back[q.x], self._back[q.y]))
            old = self._test.test(x, y, given=sorted(self._back[z] for z in q.given))
            results.append(replace(old, x=q.x, y=q.y, given=q.given))
        return results


@pytest.mark.slow
@pytest.mark.parametrize("most", [0, 100])
def test_neither_the_order_of_columns_nor_of_sites_matters(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(import_module("consilience.iod.discover"), "MOST_TESTS", most)
    overruled = 0
    for seed in range(20):
        test = case(WORLDS[4 + seed % 2], seed, 0.1, graded=seed % 3 != 0)
        rng = np.random.default_rng(seed)
        before = sorted(test.variables)
        names = dict(zip(before, rng.permutation(before).tolist(), strict=True))
        found = cs.discover(test, resolve="strongest", limit=None)
        other = cs.discover(Renamed(test, names, rng.permutation(len(test.datasets)).tolist()), resolve="strongest", limit=None)
        assert {renamed(pag, names) for pag in found.pags} == set(other.pags), seed
        assert found.resolution.given_up == pytest.approx(other.resolution.given_up), seed
        assert len(found.resolution.overruled) == len(other.resolution.overruled), seed
        overruled += bool(found.overruled)
    assert overruled > 5


@pytest.mark.slow
@pytest.mark.parametrize("graded", [False, True])
def test_reasons_are_contradictions_and_stronger(graded: bool) -> None:
    world, seen = WORLDS[5], 0
    for seed in range(15):
        test = case(world, seed, 0.05, graded=graded)
        evidence = Evidence(world, test)
        right = dict(zip(evidence.asked, evidence.right, strict=True))

        def agreeing(decision: Decision, right: dict = right) -> np.ndarray:  # type: ignore[type-arg]
            return right[decision.x, decision.y, decision.given]

        found = cs.discover(test, resolve="strongest")
        for decision, stronger in found.resolution.reasons.items():
            assert stronger, seed
            assert decision in found.resolution.overruled, seed
            assert not np.all([agreeing(d) for d in (decision, *stronger)], axis=0).any(), seed
            assert all((d.weight or 0.0) > (decision.weight or 0.0) - 1e-3 for d in stronger), seed
            assert not set(stronger) & set(found.resolution.reasons), seed
            seen += 1
    assert seen > 3 or not graded


@pytest.mark.slow
def test_optimal_never_gives_up_more_and_bounds_are_valid() -> None:
    world = WORLDS[5]
    for seed in range(12):
        test = case(world, seed, 0.08, graded=True)
        strongest, optimal = (cs.discover(test, resolve=how, limit=5) for how in ("strongest", "optimal"))
        assert optimal.resolution.proved, seed
        assert optimal.resolution.given_up == optimal.resolution.bound, seed
        assert strongest.resolution.bound - 1e-9 <= optimal.resolution.given_up <= strongest.resolution.given_up + 1e-9, seed


def test_auto_is_strict_where_decisions_agree_and_strongest_where_they_do_not() -> None:
    world, seen = WORLDS[4], set()
    for seed in range(12):
        test = case(world, seed, 0.15, graded=True)
        strict, auto = cs.discover(test, resolve="strict"), cs.discover(test, resolve="auto")
        if strict.pags:
            assert auto.pags == strict.pags, seed
            assert auto.resolution.how is Resolve.STRICT, seed
            assert auto.settings["weighed"] == 0, seed
        else:
            strongest = cs.discover(test, resolve="strongest")
            assert auto.pags == strongest.pags, seed
            assert auto.resolution == strongest.resolution, seed
            assert auto.resolution.how is Resolve.STRONGEST, seed
            assert auto.conflicts == strict.conflicts, seed
        assert auto.pags, seed
        seen.add(auto.resolution.how)
    assert len(seen) == 2


def test_knowledge_is_never_given_up() -> None:
    oracle = Oracle(MAG.parse("A --> B, B --> C"))
    known = cs.Knowledge(forbidden=["A *-* B"])
    found = cs.discover(oracle, resolve="strongest", knowledge=known)
    assert found.pags
    assert not any({edge.a, edge.b} == {"A", "B"} for edge in found.summary.edges())
    assert found.resolution.overruled


def test_a_graph_at_hand_is_accepted_without_asking() -> None:
    """Where everything agrees, one answer of the solver is enough for all decisions."""
    problem = import_module("tests.iod.exact.problems").of(Oracle(MAG.parse("A --> B, B --> C, C --> D")))
    course = Course(problem)
    asked = 0

    class Counted(Clock):
        def tick(self) -> None:
            nonlocal asked
            asked += 1

    assert course.run(Counted())
    assert course.undecided == 0
    assert not course.overruled
    assert asked <= len(course.groups) + 2
