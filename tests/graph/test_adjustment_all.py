"""Adjustment sets against the definition, path by path and set by set: all small PAGs and DAGs, and some MAGs and PAGs of five nodes.

All PAGs of five nodes, some minutes: benchmarks/adjustment_brute_force.py.
"""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from consilience.graph import DAG, MAG, PAG, Identification
from tests.graph.adjustment_by_definition import Criterion
from tests.graph.adjustment_compared import compare, compare_measured
from tests.iod.mag_enumeration import ARROW, load

NAMES = "ABCDE"


def compare_pairs(graph: PAG | MAG | DAG) -> list[Identification]:
    matrix, dag = graph.marks.tolist(), isinstance(graph, DAG)
    pairs = permutations(range(len(graph)), 2)
    return [compare(graph, Criterion(matrix, x, y, causal_sufficiency=dag), x, y) for x, y in pairs]


def test_all_pags_of_three_nodes() -> None:
    """By hand: hidden are two effects in each of 3 graphs of one edge, all 6 in 3 chains and the triangle, and two in 3 colliders."""
    found = Counter(what for pag in load(3).pags for what in compare_pairs(PAG(pag, NAMES[:3])))
    assert found == {Identification.ZERO: 30, Identification.HIDDEN_CAUSE: 36}


@pytest.mark.slow
def test_all_pags_of_four_nodes() -> None:
    found = Counter(what for pag in load(4).pags for what in compare_pairs(PAG(pag, NAMES[:4])))
    assert found == {Identification.ZERO: 1572, Identification.HIDDEN_CAUSE: 1344, Identification.ADJUSTED: 60}


@pytest.mark.slow
def test_some_pags_of_five_nodes() -> None:
    pags = load(5).pags
    some = np.random.default_rng(18).choice(len(pags), 150, replace=False)
    found = Counter(what for k in some for what in compare_pairs(PAG(pags[k], NAMES)))
    assert min(found[what] for what in (Identification.ZERO, Identification.HIDDEN_CAUSE, Identification.ADJUSTED)) > 50


@pytest.mark.slow
def test_some_pags_of_five_nodes_of_which_data_sets_measure_parts() -> None:
    pags = load(5).pags
    amenable = 0
    for k in np.random.default_rng(19).choice(len(pags), 150, replace=False):
        pag = PAG(pags[k], NAMES)
        for x, y in permutations(range(5), 2):
            criterion = Criterion(pags[k].tolist(), x, y)
            if criterion.possible and criterion.amenable:
                amenable += 1
                compare_measured(pag, criterion, x, y)
    assert amenable > 50


@pytest.mark.slow
def test_some_mags_of_four_nodes() -> None:
    for mag in load(4).mags[::10]:
        compare_pairs(MAG(mag, NAMES[:4]))


@pytest.mark.slow
def test_all_dags_of_four_nodes() -> None:
    """In which every edge is visible: 543 of them."""
    mags = load(4).mags
    dags = mags[~((mags == ARROW) & (mags.transpose(0, 2, 1) == ARROW)).any(axis=(1, 2))]
    assert len(dags) == 543
    for dag in dags:
        compare_pairs(DAG(dag, NAMES[:4]))
