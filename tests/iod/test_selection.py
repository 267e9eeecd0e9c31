"""Selection bias: undirected edges, against all MAGs that have them, too."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import consilience as cs
from consilience.graph import PAG
from tests.iod.brute_force import Evidence, World, random_datasets
from tests.iod.mag_enumeration import ARROW, COUNTS_WITH_SELECTION, NONE, TAIL, load, load_with_selection, questions
from tests.iod.solver.test_conflict import check_core
from tests.iod.test_enumeration import has_inducing_path, nodes_of, separated

WORLD = World(4, selection_bias=True)


def classes_with_undirected_edges(world: World = WORLD) -> list[int]:
    """Classes whose members all have some."""
    mags = world.every.mags
    with_lines = ((mags == TAIL) & (mags.transpose(0, 2, 1) == TAIL)).any(axis=(1, 2))
    return sorted(set(range(len(world.every.pags))) - set(world.every.class_of[~with_lines].tolist()))


def test_the_enumeration_by_definition() -> None:
    """All graphs with five states per pair that are ancestral and maximal, and their separations by paths."""
    every = load_with_selection(3)
    ends = [(NONE, NONE), (ARROW, TAIL), (TAIL, ARROW), (ARROW, ARROW), (TAIL, TAIL)]
    kept = []
    for states in np.ndindex(5, 5, 5):
        marks = np.zeros((3, 3), dtype=np.int8)
        for (i, j), state in zip(combinations(range(3), 2), states, strict=True):
            marks[i, j], marks[j, i] = ends[state]
        directed = (marks == ARROW) & (marks.T == TAIL)
        above = directed | (directed @ directed)
        lines = ((marks == TAIL) & (marks.T == TAIL)).any(axis=0)
        wrong = ((marks == ARROW) & above.T).any() or above.diagonal().any() or ((marks == ARROW).any(axis=0) & lines).any()
        if not wrong and not any(marks[i, j] == NONE and has_inducing_path(marks, i, j) for i, j in combinations(range(3), 2)):
            kept.append(marks)
    assert {marks.tobytes() for marks in kept} == {marks.tobytes() for marks in every.mags}
    sample = np.random.default_rng(0).choice(len(WORLD.every.mags), 200, replace=False)
    for k in sample:
        slow = [separated(WORLD.every.mags[k], i, j, nodes_of(mask)) for i, j, mask in questions(4)]
        assert WORLD.every.models[WORLD.every.class_of[k]].tolist() == slow


def test_counts() -> None:
    """Three classes over four nodes have no member without undirected edges: the rings."""
    for n in (1, 2, 3, 4):
        assert (len(load_with_selection(n).mags), len(load_with_selection(n).pags)) == COUNTS_WITH_SELECTION[n]
    plain = {model.tobytes() for model in load(4).models}
    assert {model.tobytes() for model in WORLD.every.models} > plain
    rings = classes_with_undirected_edges()
    assert {str(pag) for pag in WORLD.pags(rings)} == {
        "A --- B, A --- C, B --- D, C --- D",
        "A --- B, A --- D, B --- C, C --- D",
        "A --- C, A --- D, B --- C, B --- D",
    }


@pytest.mark.slow
def test_exactly_the_consistent_classes() -> None:
    """Oracles of all kinds: the rings, classes that have members with undirected edges, and those that have none."""
    rings = classes_with_undirected_edges()
    for seed in range(120):
        rng = np.random.default_rng(seed)
        truth = rings[seed % 3] if seed < 30 else WORLD.some_class(rng)
        datasets = random_datasets(rng, 4)
        wanted = WORLD.pags(WORLD.every.consistent_classes(datasets, truth))
        members = WORLD.every.members(truth)
        test = WORLD.test(truth, datasets)
        test.graph = WORLD.mags[np.flatnonzero(WORLD.every.class_of == truth)[int(rng.integers(len(members)))]]
        found = cs.discover(test, selection_bias=True, limit=None, resolve="strict")
        assert set(found.pags) == wanted, seed
        assert len(found.pags) == len(wanted), seed


@pytest.mark.slow
def test_exactly_the_consistent_classes_over_five_nodes() -> None:
    world, checked = World(5, selection_bias=True), 0
    only = classes_with_undirected_edges(world)
    assert len(only) == 24_566 - 24_259
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = only[int(rng.integers(len(only)))] if seed % 2 else world.some_class(rng)
        datasets = random_datasets(rng, 5, 3)
        consistent = world.every.consistent_classes(datasets, truth)
        if len(consistent) < 300:
            found = cs.discover(world.test(truth, datasets), selection_bias=True, limit=None, resolve="strict")
            assert set(found.pags) == world.pags(consistent), seed
            assert len(found.pags) == len(consistent), seed
            checked += 1
    assert checked > 50


@pytest.mark.slow
def test_local_pags_have_the_marks_that_the_marginal_class_shares() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth, datasets = WORLD.some_class(rng), random_datasets(rng, 4)
        found = cs.discover(WORLD.test(truth, datasets), selection_bias=True)
        for held, pag in zip(found.datasets, found.local_pags, strict=True):
            nodes = ["ABCD".index(name) for name in held]
            small = load_with_selection(len(nodes))
            bits = [WORLD.every.separated(truth, nodes[i], nodes[j], [nodes[k] for k in nodes_of(z)]) for i, j, z in questions(len(nodes))]
            (local,) = np.flatnonzero((small.models == bits).all(axis=1)).tolist()
            assert pag == PAG.from_matrix(small.pags[local], held), seed


@pytest.mark.slow
@pytest.mark.parametrize("max_given", [None, 1])
def test_errors_and_missing_answers(max_given: int | None) -> None:
    empty = 0
    for seed in range(50):
        rng = np.random.default_rng([1, seed])
        test = WORLD.test(
            WORLD.some_class(rng), random_datasets(rng, 4, 3), seed=seed, flips=0.15, silent=[0.0, 0.1][seed % 2], graded=True
        )
        evidence = Evidence(WORLD, test, max_given)
        found = cs.discover(test, selection_bias=True, max_given=max_given, limit=None, resolve="strict")
        assert set(found.pags) == WORLD.pags(evidence.consistent), seed
        assert len(found.pags) == len(evidence.consistent), seed
        if not found.pags:
            check_core(evidence, found.conflicts, seed)
            empty += 1
    assert empty > 3


@pytest.mark.slow
def test_optimal() -> None:
    for seed in range(25):
        rng = np.random.default_rng([2, seed])
        test = WORLD.test(WORLD.some_class(rng), random_datasets(rng, 4, 3), seed=seed, flips=0.2, graded=seed % 2 == 0)
        evidence = Evidence(WORLD, test)
        best = np.flatnonzero(evidence.cost == evidence.cost.min()).tolist()
        found = cs.discover(test, selection_bias=True, resolve="optimal", limit=None)
        assert set(found.pags) == WORLD.pags(best), seed
        assert {(d.x, d.y, d.given) for d in found.overruled} == evidence.contradicted(best), seed


def test_a_ring_fits_no_graph_without_selection_bias() -> None:
    ring = WORLD.test(classes_with_undirected_edges()[0], [(0, 1, 2, 3)])
    without, with_bias = cs.discover(ring, resolve="strict"), cs.discover(ring, selection_bias=True, resolve="strict")
    assert without.pags == ()
    assert len(without.conflicts) > 1
    assert [str(pag) for pag in with_bias.pags] == [str(WORLD.pags(classes_with_undirected_edges()[:1]).pop())]
