"""Exogenous, unconfounded and separate variables in both engines, against every member of every class."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import consilience as cs
from consilience.errors import KnowledgeError
from consilience.graph import MAG, Oracle
from consilience.iod.evidence import Source
from consilience.iod.knowledge import Knowledge
from consilience.iod.relations import Relation
from tests.iod.brute_force import Evidence, World, random_datasets
from tests.iod.mag_enumeration import ARROW, Bools, Enumeration
from tests.iod.test_knowledge_engines import check_core, random_knowledge

WORLD = World(4)


def obeying(known: Knowledge, every: Enumeration) -> Bools:
    """Which MAGs obey what is said of groups, by definition, for all of them at once."""
    at = {name: i for i, name in enumerate("ABCDE"[: every.n])}
    inside = [at[name] for name in known.exogenous]
    outside = [i for i in at.values() if i not in inside]
    heads = every.mags == ARROW
    wrong = heads[:, outside][:, :, inside].any(axis=(1, 2))
    for group in known.unconfounded:
        for a, b in combinations([at[name] for name in group], 2):
            wrong |= heads[:, a, b] & heads[:, b, a]
    for group in known.separate:
        for a, b in combinations([at[name] for name in group], 2):
            wrong |= every.mags[:, a, b] != 0
    return ~wrong


def random_groups(rng: np.random.Generator, names: tuple[str, ...], mag: MAG, true: float) -> Knowledge:
    """Groups of all forms, which obey the MAG about as often as ``true`` says."""

    def some(least: int, most: int) -> list[str]:
        found: list[str] = rng.permutation(names)[: int(rng.integers(least, most + 1))].tolist()
        return found

    while True:
        known = Knowledge(
            exogenous=some(0, len(names) - 2),
            unconfounded=[some(2, 3) for _ in range(int(rng.integers(0, 2)))],
            separate=[some(2, 3)] if rng.uniform() < 0.4 else [],
        )
        if known and (known.allows(mag) or rng.uniform() > true):
            return known


def pieces(known: Knowledge) -> dict[str, Knowledge]:
    """Each item on its own, by its words; that of an exogenous variable as statements, since it leaves its edges to the others open."""
    outside = [name for name in WORLD.names if name not in known.exogenous]
    texts = [item.text for item in known.items(WORLD.names)][: len(known.exogenous)]
    found = {text: Knowledge(forbidden=[(y, "*->", e) for y in outside]) for text, e in zip(texts, known.exogenous, strict=True)}
    alone = [Knowledge(unconfounded=[group]) for group in known.unconfounded] + [Knowledge(separate=[group]) for group in known.separate]
    return found | {piece.items(WORLD.names)[0].text: piece for piece in alone}


@pytest.mark.slow
@pytest.mark.parametrize("block", range(2))
def test_classes_with_members_that_obey_and_the_marks_that_these_share(block: int) -> None:
    more_marks = empty = 0
    for seed in range(40 * block, 40 * block + 40):
        rng = np.random.default_rng([5, seed])
        truth, datasets = WORLD.some_class(rng), random_datasets(rng, 4)
        test = WORLD.test(truth, datasets)
        known = random_groups(rng, WORLD.names, test.graph, true=0.8)  # type: ignore[arg-type]
        consistent = WORLD.every.consistent_classes(datasets, truth).tolist()
        wanted = WORLD.shown(consistent, obeying(known, WORLD.every))
        exact, published = (cs.discover(test, knowledge=known, engine=engine, limit=None, resolve="strict") for engine in ("exact", "iod"))
        assert set(exact.pags) == wanted, (seed, known)
        assert exact.pags == published.pags, (seed, known)
        assert len(exact.pags) == len(wanted) or not wanted
        more_marks += not wanted <= WORLD.pags(consistent)
        if not wanted:
            empty += 1
            assert exact.conflicts == published.conflicts
            assert any(decision.kind == Source.KNOWLEDGE for decision in exact.conflicts), seed
    assert more_marks > 3
    assert empty > 0


@pytest.mark.slow
def test_a_core_of_decisions_and_groups() -> None:
    """No MAG agrees with what is named as a conflict, and some MAG does with all but any one."""
    seen = 0
    for seed in range(60):
        rng = np.random.default_rng([6, seed])
        test = WORLD.test(WORLD.some_class(rng), random_datasets(rng, 4, 3), seed=seed, graded=True)
        known = random_groups(rng, WORLD.names, test.graph, true=0.0)  # type: ignore[arg-type]
        evidence = Evidence(WORLD, test)
        found = cs.discover(test, knowledge=known, limit=None, resolve="strict")
        assert set(found.pags) == WORLD.shown(evidence.consistent, obeying(known, WORLD.every)), (seed, known)
        if not found.pags:
            check_core(WORLD, evidence, known, found.conflicts, (seed, known), pieces(known))
            seen += 1
    assert seen > 5


@pytest.mark.slow
@pytest.mark.parametrize("selection_bias", [False, True])
def test_groups_beside_tiers_and_statements_of_all_forms(selection_bias: bool) -> None:
    world, checked = World(4, selection_bias), 0
    for seed in range(40):
        rng = np.random.default_rng([7, seed])
        truth, datasets = world.some_class(rng), random_datasets(rng, 4)
        test = world.test(truth, datasets)
        groups = random_groups(rng, world.names, test.graph, true=0.9)  # type: ignore[arg-type]
        others = random_knowledge(rng, test.graph, 0.9, tuple(Relation))  # type: ignore[arg-type]
        consistent = world.every.consistent_classes(datasets, truth).tolist()
        try:
            known = Knowledge(**groups.to_dict() | {key: value for key, value in others.to_dict().items() if value})
        except KnowledgeError:
            assert not (obeying(groups, world.every) & world.obeying(others)).any()
            continue
        wanted = world.shown(consistent, obeying(groups, world.every) & world.obeying(others, consistent))
        for engine in ("exact",) if selection_bias else ("exact", "iod"):
            found = cs.discover(test, knowledge=known, engine=engine, limit=None, resolve="strict", selection_bias=selection_bias)
            assert set(found.pags) == wanted, (seed, known)
        checked += bool(wanted)
    assert checked > 10


@pytest.mark.slow
def test_five_nodes() -> None:
    """Of all 328,924 MAGs."""
    world, checked = World(5), 0
    for seed in range(60):
        rng = np.random.default_rng([8, seed])
        truth, datasets = world.some_class(rng), random_datasets(rng, 5, 3)
        test = world.test(truth, datasets)
        known = random_groups(rng, world.names, test.graph, true=0.9)  # type: ignore[arg-type]
        consistent = world.every.consistent_classes(datasets, truth).tolist()
        if len(consistent) > 200:
            continue
        wanted = world.shown(consistent, obeying(known, world.every))
        exact, published = (cs.discover(test, knowledge=known, engine=engine, limit=None, resolve="strict") for engine in ("exact", "iod"))
        assert set(exact.pags) == set(published.pags) == wanted, (seed, known)
        checked += bool(wanted)
    assert checked > 20


@pytest.mark.slow
def test_optimal_never_gives_them_up() -> None:
    for seed in range(30):
        rng = np.random.default_rng([9, seed])
        test = WORLD.test(WORLD.some_class(rng), random_datasets(rng, 4, 3), seed=seed, flips=0.1, graded=True)
        known = random_groups(rng, WORLD.names, test.graph, true=0.4)  # type: ignore[arg-type]
        evidence = Evidence(WORLD, test)
        obey = obeying(known, WORLD.every)
        classes = np.unique(WORLD.every.class_of[obey])
        best = classes[evidence.cost[classes] == evidence.cost[classes].min()].tolist()
        found = cs.discover(test, knowledge=known, resolve="optimal", limit=None)
        assert set(found.pags) == WORLD.shown(best, obey), (seed, known)


@pytest.mark.slow
def test_with_selection_bias() -> None:
    """An exogenous variable may then have undirected edges: it may influence who is in the data."""
    world, lines = World(4, selection_bias=True), 0
    for seed in range(40):
        rng = np.random.default_rng([10, seed])
        truth, datasets = world.some_class(rng), random_datasets(rng, 4)
        test = world.test(truth, datasets)
        known = random_groups(rng, world.names, test.graph, true=0.9)  # type: ignore[arg-type]
        consistent = world.every.consistent_classes(datasets, truth).tolist()
        found = cs.discover(test, knowledge=known, selection_bias=True, limit=None, resolve="strict")
        assert set(found.pags) == world.shown(consistent, obeying(known, world.every)), (seed, known)
        lines += any(" --- " in str(pag) or " --o " in str(pag) for pag in found.pags)
    assert lines > 3


def test_what_time_order_leaves_open() -> None:
    """The question that brought it here: nothing causes age, so what joins it to the pulse is not a common cause."""
    hidden = Oracle(MAG.parse("age <-> pulse, rest --> pulse"))
    tiers = Knowledge(tiers=[["age"], ["pulse", "rest"]])
    for engine in ("exact", "iod"):
        (pag,) = cs.discover(hidden, knowledge=tiers, engine=engine).pags
        assert str(pag) == "age o-> pulse, rest o-> pulse"
        (pag,) = cs.discover(hidden, knowledge=Knowledge(exogenous=["age"]), engine=engine).pags
        assert str(pag) == "age --> pulse, rest o-> pulse"


def test_associated_exogenous_variables_are_no_contradiction() -> None:
    clinic = Oracle(MAG.parse("age <-> sex, age --> pulse"))
    for engine in ("exact", "iod"):
        (pag,) = cs.discover(clinic, knowledge=Knowledge(exogenous=["age", "sex"]), engine=engine).pags
        assert str(pag) == "age --> pulse, age o-o sex"
