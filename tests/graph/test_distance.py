"""Structural Hamming distance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from consilience.graph import MAG, PAG, MixedGraph, normalised_shd, shd
from consilience.graph.errors import DifferentNodesError
from tests.graph.helpers import mixed_graphs


def test_every_mark_counts_once() -> None:
    pag = PAG.parse("A o-> B, B o-o C")
    assert shd(pag, pag) == 0
    assert shd(pag, PAG.parse("A --> B, B o-o C")) == 1
    assert shd(pag, PAG.parse("A <-- B, B o-o C")) == 2
    assert shd(pag, PAG.parse("A o-> B, C")) == 2
    assert shd(pag, PAG.parse("A, B, C")) == 4


def test_the_maximum_for_five_nodes_is_twenty() -> None:
    full = PAG(np.ones((5, 5)) - np.eye(5), "ABCDE")
    empty = PAG(np.zeros((5, 5)), "ABCDE")
    assert shd(full, empty) == 20
    assert normalised_shd(full, empty) == 1.0


def test_labels_are_matched_by_name() -> None:
    pag = PAG.parse("A o-> B, B --> C, D")
    assert shd(pag, pag.reordered("DCBA")) == 0
    assert shd(pag, MAG.parse("A --> B, B --> C, D", labels="CADB")) == 1


def test_small_graphs_and_different_nodes() -> None:
    assert normalised_shd(PAG.parse("A"), PAG.parse("A")) == 0.0
    assert normalised_shd(PAG.parse(""), PAG.parse("")) == 0.0
    with pytest.raises(DifferentNodesError, match="'C', 'D'"):
        shd(PAG.parse("A, B, C"), PAG.parse("A, B, D"))


@pytest.mark.slow
@settings(deadline=None)
@given(mixed_graphs(most=3), mixed_graphs(most=3), mixed_graphs(most=3))
def test_it_is_a_metric(first, second, third) -> None:
    a, b, c = (MixedGraph.from_working(marks, "ABC"[: marks.n]).reordered("ABC") for marks in (first, second, third))
    assert shd(a, b) == shd(b, a)
    assert (shd(a, b) == 0) is (a == b)
    assert shd(a, c) <= shd(a, b) + shd(b, c)
