"""What is said of every MAG that agrees, by counting a list or by asking the solver, against all MAGs there are."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import consilience as cs
from consilience.iod import Summary
from consilience.iod.clock import Clock
from consilience.iod.exact.outline import outline
from consilience.iod.search_problem import SearchProblem
from consilience.iod.solver.encoding import encode_priced
from consilience.iod.solver.listing import list_classes
from tests.graph.test_ancestry import ancestors_of
from tests.iod.brute_force import Evidence, World, random_datasets
from tests.iod.cases import random_case
from tests.iod.mag_enumeration import ARROW, NONE, TAIL, Bools
from tests.iod.test_knowledge_engines import random_knowledge

WORLDS = {4: World(4), 5: World(5), "biased": World(4, selection_bias=True)}
CUT = ({"limit": None}, {"limit": 1})
BOTH = (*CUT, {"limit": None, "engine": "iod"})


def status(has: Bools) -> str:
    return "all" if has.all() else "some" if has.any() else "none"


def mark(there: np.ndarray) -> str:
    """What these MAGs have at an end."""
    kinds = set(there.tolist()) - {NONE}
    return "none" if not kinds else "either" if kinds == {ARROW, TAIL} else "arrow" if kinds == {ARROW} else "tail"


def truth(mags: np.ndarray, names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Rows of a summary's columns on MAGs."""
    ancestors = ancestors_of(mags)
    return [
        (
            *(names[x], names[y], status(mags[:, x, y] != NONE), mark(mags[:, y, x]), mark(mags[:, x, y])),
            *(status(ancestors[:, x, y]), status(ancestors[:, y, x])),
        )
        for x, y in combinations(range(len(names)), 2)
    ]


def said(summary: Summary) -> list[tuple[str, ...]]:
    return summary.frame.select("x", "y", "edge", "mark_at_x", "mark_at_y", "x_causes_y", "y_causes_x").rows()


def check(
    world: World, test: cs.CITest, classes: Iterable[int], ways: Iterable[dict[str, Any]], obeying: Bools | None = None, **more: Any
) -> bool:
    """Every way says what all MAGs of these classes say that obey. False if there are none."""
    chosen = np.isin(world.every.class_of, list(classes))
    mags = world.every.mags[chosen if obeying is None else chosen & obeying]
    if not len(mags):
        return False
    wanted = truth(mags, world.names)
    for way in ways:
        summary = cs.discover(test, **way, **more).summary
        assert said(summary) == wanted, way
        assert summary.complete
    return True


@pytest.mark.slow
@pytest.mark.parametrize("known", [False, True], ids=["plain", "known"])
def test_four_variables(known: bool) -> None:
    world = WORLDS[4]
    for seed in range(40):
        rng = np.random.default_rng([6, seed])
        test = world.test(world.some_class(rng), random_datasets(rng, 4, 2))
        about = random_knowledge(rng, test.graph, true=1.0) if known else None  # type: ignore[arg-type]
        classes = Evidence(world, test).consistent
        obeying = None if about is None else world.obeying(about, classes)
        assert check(world, test, classes, BOTH, obeying, knowledge=about), seed


@pytest.mark.slow
def test_five_variables() -> None:
    world = WORLDS[5]
    for seed in range(60):
        number, datasets = random_case(seed)
        classes = world.every.consistent_classes(datasets, number).tolist()
        assert check(world, world.test(number, datasets), classes, CUT), seed


@pytest.mark.slow
def test_decisions_that_were_given_up() -> None:
    world, given_up = WORLDS[4], 0
    for seed in range(30):
        rng = np.random.default_rng([7, seed])
        test = world.test(world.some_class(rng), random_datasets(rng, 4, 3), seed=seed, flips=0.15, graded=seed % 2 == 0)
        evidence = Evidence(world, test)
        best = np.flatnonzero(evidence.cost == evidence.cost.min()).tolist()
        assert check(world, test, best, CUT, resolve="optimal"), seed
        given_up += not evidence.consistent
    assert given_up > 5


@pytest.mark.slow
def test_selection_bias() -> None:
    world = WORLDS["biased"]
    for seed in range(30):
        rng = np.random.default_rng([8, seed])
        number, datasets = world.some_class(rng), random_datasets(rng, 4, 2)
        classes = world.every.consistent_classes(datasets, number).tolist()
        assert check(world, world.test(number, datasets), classes, CUT, selection_bias=True), seed


@pytest.mark.slow
def test_decisions_that_are_assumed() -> None:
    """A program in which decisions may be given up has other answers than its list, unless what was assumed for the list is again."""
    world, cut = WORLDS[4], 0
    for seed in range(30):
        rng = np.random.default_rng([9, seed])
        test = world.test(world.some_class(rng), random_datasets(rng, 4, 2))
        evidence = Evidence(world, test)
        problem = SearchProblem(4, evidence.locals_, evidence.rulings, evidence.rulings)
        program = encode_priced(problem)
        first = len(problem.decisions)
        listing = list_classes(program, Clock(), 1, [program.holds(first + k) for k in range(len(problem.weighed))])
        told = outline(problem, listing, listing.pags, Clock())
        mags = world.every.mags[np.isin(world.every.class_of, evidence.consistent)]
        rows = [
            (world.names[x], world.names[y], edge, told.ends[y, x], told.ends[x, y], told.ancestors[x, y], told.ancestors[y, x])
            for (x, y), edge in told.edges.items()
        ]
        assert rows == truth(mags, world.names), seed
        cut += not listing.complete
    assert cut > 5
