"""Spaces of sums of which none is about few sites: against every vector of small combinations, and against ranks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.disclosure import isolation
from consilience.disclosure.isolation import Space, light_sets


def tells_few(vectors: list[tuple[int, ...]], weights: list[int], least: int) -> bool:
    """True if some combination is zero but for few sites: the rank falls by as much as the columns of these sites are left out."""
    if not vectors:
        return False
    matrix = np.array(vectors, dtype=float)
    rank = np.linalg.matrix_rank(matrix)
    types = range(len(weights))
    few = (j for size in range(1, least) for j in itertools.combinations(types, size) if sum(weights[i] for i in j) < least)
    return any(np.linalg.matrix_rank(np.delete(matrix, j, axis=1)) < rank for j in few)


studies = st.integers(1, 6).flatmap(
    lambda types: st.tuples(
        st.lists(st.integers(1, 3), min_size=types, max_size=types),
        st.integers(2, 5),
        st.lists(st.tuples(*[st.integers(0, 1)] * types), max_size=12),
    )
)


@given(studies)
def test_a_vector_joins_if_and_only_if_nothing_is_about_few_sites(study: tuple[list[int], int, list[tuple[int, ...]]]) -> None:
    weights, least, vectors = study
    space, chosen = Space(weights, least), list[tuple[int, ...]]()
    for vector in vectors:
        joined = space.join(vector)
        assert joined != tells_few([*chosen, vector], weights, least)
        assert joined == (vector in space) == space.join(vector)
        chosen += [vector] if joined else []


@given(studies)
def test_the_rule_for_many_types_is_on_the_safe_side(study: tuple[list[int], int, list[tuple[int, ...]]]) -> None:
    weights, least, vectors = study
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isolation, "MOST_LIGHT", 0)
        space = Space(weights, least)
    joined = [vector for vector in vectors if space.join(vector)]
    assert not tells_few(joined, weights, least)


def test_light_sets_are_the_largest_that_are_light() -> None:
    assert light_sets([1, 1, 1], 2) == [(0,), (1,), (2,)]
    assert light_sets([3, 3], 3) == []
    assert light_sets([1] * 60, 9) is None


def test_rank_and_not_only_differences_of_two() -> None:
    """No two of these sums differ by fewer than two sites, and together they say what one site has."""
    space = Space([1, 1, 1], 2)
    assert space.join((1, 1, 0))
    assert space.join((0, 1, 1))
    assert not space.join((1, 0, 1))
