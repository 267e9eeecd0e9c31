"""Background knowledge in both engines, against every member of every class."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
import pytest

import consilience as cs
from consilience.errors import KnowledgeError
from consilience.graph import MAG, Oracle
from consilience.iod.evidence import Decision, Source
from consilience.iod.knowledge import Knowledge
from consilience.iod.relations import Relation
from tests.iod.brute_force import Evidence, World, random_datasets
from tests.iod.mag_enumeration import Bools

WORLD = World(4)
NAMES = WORLD.names
RELATIONS = (Relation.EDGE, Relation.DIRECTED, Relation.CAUSES)


def random_knowledge(rng: np.random.Generator, mag: MAG, true: float, relations: Sequence[Relation] = RELATIONS) -> Knowledge:
    """Tiers and statements of these forms, of which about a share ``true`` holds in the MAG."""
    while True:
        order = rng.permutation(NAMES).tolist()
        cut, end = sorted(rng.integers(0, 5, size=2).tolist())
        tiers = [order[:cut], order[cut:end]] if rng.uniform() < 0.5 else []
        statements: dict[str, list[tuple[str, str, str]]] = {"required": [], "forbidden": []}
        for key, holds in (("required", True), ("forbidden", False)):
            for _ in range(int(rng.integers(0, 3))):
                every = [(a, relation.value, b) for a, b in permutations(NAMES, 2) for relation in relations]
                fitting = [s for s in every if Knowledge(required=[s]).allows(mag) is holds]
                pool = fitting if fitting and rng.uniform() < true else every
                statements[key].append(pool[int(rng.integers(len(pool)))])
        try:
            known = Knowledge(tiers=tiers, **statements)
        except KnowledgeError:
            continue
        if known and (Knowledge(tiers=tiers).allows(mag) or rng.uniform() > true):
            return known


def pieces(known: Knowledge) -> dict[str, Knowledge]:
    """Each item on its own, by its words."""
    alone = [Knowledge(tiers=pair) for pair in combinations(known.tiers, 2)]
    alone += [Knowledge(required=[s]) for s in known.required] + [Knowledge(forbidden=[s]) for s in known.forbidden]
    return {piece.items(NAMES)[0].text: piece for piece in alone}


def check_core(
    world: World, evidence: Evidence, known: Knowledge, conflicts: Sequence[Decision], why: object, told: dict[str, Knowledge] | None = None
) -> None:
    """No MAG agrees with all of this, and some MAG does with all but any one."""
    told = pieces(known) if told is None else told
    rows: list[Bools] = []
    for decision in conflicts:
        if decision.kind == Source.KNOWLEDGE:
            assert decision.p_value is None
            assert decision.weight is None
            rows.append(world.obeying(told[decision.text]))
        else:
            rows.append(evidence.of([decision])[0][world.every.class_of])
    assert rows, why
    assert not np.all(rows, axis=0).any(), why
    for left_out in range(len(rows)):
        rest = [row for number, row in enumerate(rows) if number != left_out]
        assert not rest or np.all(rest, axis=0).any(), (why, str(conflicts[left_out]))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(2))
def test_classes_with_members_that_obey_and_the_marks_that_these_share(block: int) -> None:
    more_marks = empty = 0
    for seed in range(30 * block, 30 * block + 30):
        rng = np.random.default_rng([1, seed])
        truth, datasets = WORLD.some_class(rng), random_datasets(rng, 4)
        test = WORLD.test(truth, datasets)
        known = random_knowledge(rng, test.graph, true=0.8)  # type: ignore[arg-type]
        consistent = WORLD.every.consistent_classes(datasets, truth).tolist()
        obeying = WORLD.obeying(known, consistent)
        wanted = WORLD.shown(consistent, obeying)
        exact, published = (cs.discover(test, knowledge=known, engine=engine, limit=None, resolve="strict") for engine in ("exact", "iod"))
        assert set(exact.pags) == wanted, (seed, known)
        assert exact.pags == published.pags, (seed, known)
        assert len(exact.pags) == len({c for c in consistent if obeying[WORLD.every.class_of == c].any()}), (seed, known)
        assert exact.complete
        assert exact.knowledge is known
        more_marks += not wanted <= WORLD.pags(consistent)
        if not wanted:
            empty += 1
            assert exact.conflicts == published.conflicts
            assert any(decision.kind == Source.KNOWLEDGE for decision in exact.conflicts), seed
            check_core(WORLD, Evidence(WORLD, test), known, exact.conflicts, (seed, known))
        else:
            assert exact.conflicts == ()
    assert more_marks > 3
    assert empty > 0


@pytest.mark.slow
def test_knowledge_against_the_data() -> None:
    """Random statements, most of which the data contradict."""
    for seed in range(40):
        rng = np.random.default_rng([2, seed])
        truth = WORLD.some_class(rng)
        test = WORLD.test(truth, random_datasets(rng, 4, 3), seed=seed, flips=[0.0, 0.1][seed % 2], graded=True)
        known = random_knowledge(rng, test.graph, true=0.0)  # type: ignore[arg-type]
        evidence = Evidence(WORLD, test)
        obeying = WORLD.obeying(known, evidence.consistent)
        found = cs.discover(test, knowledge=known, limit=None, resolve="strict")
        assert set(found.pags) == WORLD.shown(evidence.consistent, obeying), (seed, known)
        if not found.pags:
            check_core(WORLD, evidence, known, found.conflicts, (seed, known))


@pytest.mark.slow
def test_optimal_never_gives_knowledge_up() -> None:
    for seed in range(25):
        rng = np.random.default_rng([3, seed])
        test = WORLD.test(WORLD.some_class(rng), random_datasets(rng, 4, 3), seed=seed, flips=0.1, graded=True)
        known = random_knowledge(rng, test.graph, true=0.4)  # type: ignore[arg-type]
        evidence = Evidence(WORLD, test)
        obeying = WORLD.obeying(known)
        classes = np.unique(WORLD.every.class_of[obeying])
        if not len(classes):
            continue
        best = classes[evidence.cost[classes] == evidence.cost[classes].min()].tolist()
        found = cs.discover(test, knowledge=known, resolve="optimal", limit=None)
        assert set(found.pags) == WORLD.shown(best, obeying), (seed, known)
        assert len(found.pags) == len(best)
        assert {(d.x, d.y, d.given) for d in found.overruled} == evidence.contradicted(best), seed
        assert all(decision.kind != Source.KNOWLEDGE for decision in found.overruled)


@pytest.mark.slow
def test_with_selection_bias() -> None:
    world = World(4, selection_bias=True)
    for seed in range(25):
        rng = np.random.default_rng([4, seed])
        truth, datasets = world.some_class(rng), random_datasets(rng, 4)
        test = world.test(truth, datasets)
        known = random_knowledge(rng, test.graph, true=0.9)  # type: ignore[arg-type]
        consistent = world.every.consistent_classes(datasets, truth).tolist()
        found = cs.discover(test, knowledge=known, selection_bias=True, limit=None, resolve="strict")
        assert set(found.pags) == world.shown(consistent, world.obeying(known, consistent)), (seed, known)


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts",
    [
        {"required": ["A => B"], "forbidden": ["A --> B", "A => C", "A => D"]},
        {"required": ["A => B"], "forbidden": ["A --> B", "A --> C", "A --> D"]},
        {"tiers": [["C"], ["A"], ["B"]], "required": ["A => B"], "forbidden": ["A *-* B", "A *-* D"]},
        {"required": ["A => B", "B => C", "A *-* C"], "forbidden": ["A *-* B", "B *-* C", "A *-* D", "B *-* D"]},
    ],
    ids=str,
)
@pytest.mark.parametrize("engine", ["exact", "iod"])
def test_knowledge_that_contradicts_itself_over_these_variables(parts: dict[str, list[str]], engine: str) -> None:
    """Nothing that shows without knowing which variables there are; the data have no part in it."""
    known = Knowledge(**parts)  # type: ignore[arg-type]
    test = WORLD.test(3, [(0, 1), (2, 3)])
    found = cs.discover(test, knowledge=known, engine=engine, resolve="strict")
    assert not WORLD.obeying(known).any()
    assert found.pags == ()
    assert found.complete
    check_core(WORLD, Evidence(WORLD, test), known, found.conflicts, known)
    if engine == "exact":
        optimal = cs.discover(test, knowledge=known, resolve="optimal")
        assert optimal.pags == ()
        assert optimal.complete
        assert optimal.conflicts == found.conflicts


def test_knowledge_settles_directions() -> None:
    chain = Oracle(MAG.parse("A --> B, B --> C"))
    for engine in ("exact", "iod"):
        (pag,) = cs.discover(chain, knowledge=Knowledge(tiers=[["A"], ["B"], ["C"]]), engine=engine).pags
        assert str(pag) == "A o-> B, B --> C"


def test_empty_knowledge_changes_nothing() -> None:
    test = WORLD.test(40, [(0, 1, 2), (1, 2, 3)])
    for engine in ("exact", "iod"):
        assert cs.discover(test, knowledge=Knowledge(), engine=engine).pags == cs.discover(test, engine=engine).pags


def test_unknown_variables_are_refused_before_any_test_is_run() -> None:
    said: list[str] = []
    with pytest.raises(KnowledgeError, match="'Z'"):
        cs.discover(Oracle(MAG.parse("A --> B")), knowledge=Knowledge(required=["A => Z"]), progress=said.append)
    assert said == []
