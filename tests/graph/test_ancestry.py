"""Who is an ancestor of whom in all and in some members of a class, against all members of all classes."""

from __future__ import annotations

import numpy as np
import pytest

from consilience.graph.ancestry import descendants, possible_descendants, sure_descendants
from consilience.graph.marksets import MarkSets
from tests.iod.mag_enumeration import ARROW, TAIL, Bools, Enumeration, load, load_with_selection


def ancestors_of(mags: np.ndarray) -> Bools:
    """[N, x, y]: whether a directed path leads from x to y."""
    found: Bools = (mags == ARROW) & (mags.transpose(0, 2, 1) == TAIL)
    for k in range(mags.shape[1]):
        found |= found[:, :, k, None] & found[:, None, k, :]
    return found


def by_class(every: Enumeration) -> tuple[Bools, Bools]:
    """[C, x, y]: whether x is an ancestor of y in all members, and in some."""
    ancestors, shape = ancestors_of(every.mags), (len(every.pags), every.n, every.n)
    in_all, in_some = np.ones(shape, dtype=bool), np.zeros(shape, dtype=bool)
    np.logical_and.at(in_all, every.class_of, ancestors)
    np.logical_or.at(in_some, every.class_of, ancestors)
    return in_all, in_some


def as_array(rows: list[int]) -> Bools:
    return np.array([[bool(row >> y & 1) for y in range(len(rows))] for row in rows])


@pytest.mark.parametrize("n", [3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_all_classes(n: int) -> None:
    every = load(n)
    others = [(1 << n) - 1 & ~(1 << v) for v in range(n)]
    for pag, in_all, in_some in zip(every.pags, *by_class(every), strict=True):
        marks = MarkSets.from_matrix(pag)
        assert (as_array(possible_descendants(marks)) == in_some).all(), pag
        assert (as_array(sure_descendants(marks, among=others)) == in_all).all(), pag


def test_with_selection_bias_what_may_be_is_told_and_a_directed_path_is_sure() -> None:
    every = load_with_selection(4)
    for pag, in_all, in_some in zip(every.pags, *by_class(every), strict=True):
        marks = MarkSets.from_matrix(pag)
        assert (as_array(possible_descendants(marks)) == in_some).all(), pag
        assert not (as_array(descendants(marks)) & ~in_all).any(), pag


def test_only_what_is_asked_about() -> None:
    marks = MarkSets.from_matrix([[0, 2, 0], [3, 0, 2], [0, 3, 0]])
    assert sure_descendants(marks, among=[0b100, 0, 0]) == [0b100, 0, 0]
