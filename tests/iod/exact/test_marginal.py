"""Contradictions that show in some of the variables: they are contradictions, and looking for them changes no answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import consilience as cs
from consilience.graph.marksets import bits
from consilience.iod.answers import Answers
from consilience.iod.clock import Clock
from consilience.iod.evidence import rulings, verdicts
from consilience.iod.exact import strongest
from consilience.iod.exact.marginal import contradiction, neighbourhoods
from consilience.iod.local import read_local
from consilience.iod.search_problem import SearchProblem
from consilience.iod.skeleton import search
from tests.iod.brute_force import Evidence, World, random_datasets
from tests.iod.exact.test_strongest import first_classes

WORLDS = {n: World(n) for n in (4, 5)}


def problem_of(n: int, seed: int, flips: float) -> SearchProblem:
    rng, world = np.random.default_rng([11, n, seed]), WORLDS[n]
    test = world.test(world.some_class(rng), random_datasets(rng, n, n - 1), seed=seed, flips=flips, graded=True)
    answers = Answers(test, test.variables, 0.05)
    held = [sum(1 << test.variables.index(name) for name in names) for names in test.datasets]
    locals_ = [read_local(one) for one in search(n, held, answers, None, lambda *_: None)]
    found = rulings(locals_, answers)
    return SearchProblem(n, locals_, found, [*found, *verdicts(answers)])


@pytest.mark.slow
def test_decisions_that_are_all_true_clash_in_no_marginal() -> None:
    for seed in range(12):
        problem = problem_of(5, seed, 0.0)
        others = dict(enumerate(problem.weighed))
        for variables in range(1, 1 << 5):
            if variables.bit_count() in (3, 4):
                assert contradiction(problem, (), others, variables, Clock(), -1) is None, (seed, variables)


@pytest.mark.slow
def test_what_clashes_in_a_marginal_clashes() -> None:
    """No class agrees with the decisions that are named, as a look at all of them says."""
    every = [mag.working() for mag in WORLDS[4].mags]
    seen = 0
    for seed in range(25):
        problem = problem_of(4, seed, 0.15)
        others = dict(enumerate(problem.weighed))
        for variables in (0b0111, 0b1011, 0b1101, 0b1110):
            core = contradiction(problem, (), others, variables, Clock(), -1)
            if core is not None:
                seen += 1
                named = replace(problem, weighed=[others[key] for key in core])
                assert all(named.contradicted(mag) for mag in every), (seed, variables)
    assert seen > 5


@pytest.mark.slow
def test_looking_in_marginals_first_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strongest, "FEW_VARIABLES", 3)
    monkeypatch.setattr(strongest, "DEAD_ENDS", (1, 1, 1))
    asked = []
    plain = strongest.contradiction
    monkeypatch.setattr(strongest, "contradiction", lambda *rest: asked.append(plain(*rest)) or asked[-1])
    world = WORLDS[5]
    for seed in range(12):
        rng = np.random.default_rng([5, seed])
        test = world.test(world.some_class(rng), random_datasets(rng, 5, 4), seed=seed, flips=0.1, graded=seed % 2 == 0)
        wanted = world.pags(first_classes(Evidence(world, test)))
        found = cs.discover(test, resolve="strongest", limit=None, time_limit=None)
        assert set(found.pags) == wanted, seed
    assert any(core is not None for core in asked)
    assert any(core is None for core in asked)


def test_neighbourhoods_hold_what_they_are_for() -> None:
    problem = problem_of(5, 3, 0.0)
    wanted = [next(ruling for ruling in problem.weighed if ruling.separated is not None)]
    x, y, given = wanted[0].separated or (0, 0, 0)
    for size in (4, 5):
        found = list(neighbourhoods(wanted, list(problem.weighed), 5, size))
        assert len(set(found)) == len(found) > 0
        for variables in found:
            assert variables.bit_count() == max(size, 1 + (1 << x | 1 << y | given).bit_count())
            assert {x, y, *bits(given)} <= set(bits(variables))
