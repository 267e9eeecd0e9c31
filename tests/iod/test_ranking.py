"""Scores: the weight of the tests that a graph contradicts; and the order that follows from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import consilience as cs
from consilience.graph import PAG, m_separated, pag_to_mag
from consilience.iod import Knowledge
from tests.iod.brute_force import ALPHA, World, random_datasets, weight

WORLD = World(4)


def score_by_hand(found: cs.Discovery, pag: PAG) -> float:
    mag = pag_to_mag(pag)
    asked = found.tests.filter("informative").select("x", "y", "given", "p_value").rows()
    return sum(weight(p) for x, y, given, p in asked if m_separated(mag, x, y, given) != (p > ALPHA))


def in_order(pags: Sequence[PAG], scores: Sequence[float]) -> bool:
    keys = [(round(score, 9), len(pag.edges), str(pag)) for pag, score in zip(pags, scores, strict=True)]
    return keys == sorted(keys)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"engine": "iod"}, {"resolve": "optimal"}, {"max_given": 1}], ids=str)
def test_scores_and_order(options: dict[str, object]) -> None:
    several = apart = wrong = 0
    for seed in range(25):
        rng = np.random.default_rng([1, seed])
        silent = [0.0, 0.15][seed % 2]
        test = WORLD.test(WORLD.some_class(rng), random_datasets(rng, 4), seed=seed, flips=0.15, silent=silent, graded=True)
        found = cs.discover(test, limit=40, **options)  # type: ignore[arg-type]
        assert found.scores == pytest.approx([score_by_hand(found, pag) for pag in found.pags]), seed
        assert in_order(found.pags, found.scores), seed
        several += len(found.pags) > 1
        apart += len({round(score, 9) for score in found.scores}) > 1
        wrong += any(found.scores)
    assert several > 3
    assert wrong > 3
    assert apart > 0 or "resolve" in options  # where answers are missing, tests that no local graph rests on tell graphs apart


def test_no_test_is_contradicted_where_none_errs() -> None:
    for seed in range(10):
        rng = np.random.default_rng([2, seed])
        found = cs.discover(WORLD.test(WORLD.some_class(rng), random_datasets(rng, 4)))
        assert set(found.scores) == {0.0}
        assert in_order(found.pags, found.scores)


def test_knowledge_has_no_part_in_the_score() -> None:
    test = WORLD.test(90, [(0, 1, 2), (1, 2, 3)], seed=4, flips=0.15, graded=True)
    known = cs.discover(test, knowledge=Knowledge(tiers=[["A"], ["B", "C", "D"]]))
    plain = cs.discover(test)
    assert known.pags
    assert set(known.scores) <= set(plain.scores)
    assert in_order(known.pags, known.scores)
