"""Contradictions: what is named cannot hold together, and can with any one of it left out. Judged by brute force over all classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import consilience as cs
from consilience.citest.question import Question
from consilience.graph import MAG, Oracle
from consilience.iod.evidence import Decision, Source
from tests.iod.brute_force import ALPHA, Evidence, World, random_datasets, weight

WORLDS = {n: World(n) for n in (4, 5)}


def check_core(evidence: Evidence, conflicts: tuple[Decision, ...], why: object) -> None:
    """No class agrees with all of these decisions, and some class does with all but any one."""
    assert all((decision.kind == Source.SEPARATION) == (decision.p_value > ALPHA) for decision in conflicts), why  # type: ignore[operator]
    rows = evidence.of(conflicts)
    assert len(rows), why
    assert not rows.all(axis=0).any(), why
    for left_out in range(len(rows)):
        assert np.delete(rows, left_out, axis=0).all(axis=0).any(), (why, str(conflicts[left_out]))


@pytest.mark.slow
@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize(("n", "cases"), [(4, 80), pytest.param(5, 40, marks=pytest.mark.slow)])
def test_cores_contradict_and_are_minimal(n: int, cases: int, graded: bool) -> None:
    world, empty = WORLDS[n], 0
    for seed in range(cases):
        rng = np.random.default_rng([n, seed])
        flips = [0.05, 0.1, 0.15][seed % 3]
        test = world.test(world.some_class(rng), random_datasets(rng, n, n - 1), seed=seed, flips=flips, graded=graded)
        evidence = Evidence(world, test)
        found = cs.discover(test, limit=1, resolve="strict")
        if evidence.consistent:
            assert found.pags, seed
            assert found.conflicts == (), seed
        else:
            assert found.pags == (), seed
            assert found.complete, seed
            check_core(evidence, found.conflicts, seed)
            empty += 1
    assert empty > cases / 10


@pytest.mark.slow
def test_cores_with_answers_missing() -> None:
    """Data sets whose tests are not complete, on their own or next to others."""
    world, empty = WORLDS[4], 0
    for seed in range(80):
        rng = np.random.default_rng([7, seed])
        max_given = [None, 1][seed % 2]
        test = world.test(world.some_class(rng), random_datasets(rng, 4, 3), seed=seed, flips=0.2, silent=0.05, graded=True)
        evidence = Evidence(world, test, max_given)
        found = cs.discover(test, max_given=max_given, limit=1, resolve="strict")
        assert bool(found.pags) == bool(evidence.consistent), seed
        if not evidence.consistent:
            check_core(evidence, found.conflicts, seed)
            empty += any(not local.complete for local in evidence.locals_)
    assert empty > 3


class Told(Oracle):
    """p-values by question; all others are small."""

    p_values: dict[tuple[str, str, str], float]

    def _answer(self, question: Question) -> cs.CIResult:
        right = super()._answer(question)
        return replace(right, p_value=self.p_values.get((question.x, question.y, "".join(question.given)), 1e-6))


def test_a_contradiction_in_words() -> None:
    """Two data sets say that B is a collider, so no cause of A, C or D; the third that it is one of A or D."""
    told = Told(MAG.parse("A --> B, C --> B, D --> B"), ["ABC", "BCD", "ABD"])
    told.p_values = {("A", "C", ""): 0.3, ("C", "D", ""): 0.2, ("A", "D", "B"): 0.9}
    found = cs.discover(told, resolve="strict")
    assert found.pags == ()
    check_core(Evidence(WORLDS[4], told), found.conflicts, "words")
    separations, others = ([d for d in found.conflicts if (d.kind == Source.SEPARATION) is so] for so in (True, False))
    assert [str(decision) for decision in separations] == [
        "A and C are independent (p = 0.3)",
        "C and D are independent (p = 0.2)",
        "A and D are independent given B (p = 0.9)",
    ]
    for decision in others:
        assert decision.kind == Source.ADJACENCY
        assert decision.text.startswith(f"{decision.x} and {decision.y} are dependent, whatever is given (2 tests of data set")
        assert "p = 1e-06)" in decision.text
    for decision in found.conflicts:
        assert decision.p_value is not None
        assert decision.weight == weight(decision.p_value)


@pytest.mark.slow
def test_other_sites_decide_what_a_data_set_takes_over() -> None:
    """The core names the decisions once, even where several data sets share them."""
    world = WORLDS[4]
    seen = 0
    for seed in range(60):
        rng = np.random.default_rng([8, seed])
        test = world.test(world.some_class(rng), [(0, 1, 2, 3), (0, 1, 2), (1, 2, 3), (0, 1, 2, 3)], seed=seed, flips=0.15, graded=True)
        found = cs.discover(test, resolve="strict")
        assert len(set(found.conflicts)) == len(found.conflicts)
        if not found.pags:
            check_core(Evidence(world, test), found.conflicts, seed)
            seen += 1
    assert seen > 5
