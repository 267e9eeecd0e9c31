"""PAGs with marks that come from knowledge: members, and adjustment sets, against all MAGs of a class that have these marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np
import pytest

import consilience as cs
from consilience.graph import PAG, Identification, MarkSets, adjustment_sets
from consilience.graph.errors import InvalidPAGError
from consilience.graph.members import member_marks
from tests.graph.adjustment_by_definition import Criterion
from tests.iod.mag_enumeration import CIRCLE, Marks, load


def parts(n: int) -> Iterator[tuple[Marks, Marks]]:
    """Of every class, those members that have one more mark at one end, for every end and mark; and the marks that these share."""
    every = load(n)
    for k, pag in enumerate(every.pags):
        members = every.members(k)
        for i, j in permutations(range(n), 2):
            for mark in np.unique(members[:, i, j]) if pag[i, j] == CIRCLE else ():
                some = members[members[:, i, j] == mark]
                yield some, np.where((some == some[0]).all(axis=0), some[0], CIRCLE)


@pytest.mark.slow
def test_a_member_of_every_part_of_every_class_of_four_nodes() -> None:
    count = 0
    for members, shared in parts(4):
        found = member_marks(MarkSets.from_matrix(shared)).to_matrix()
        assert (members == found).all(axis=(1, 2)).any(), shared
        count += 1
    assert count > 1000


def sets_by_definition(members: Marks, x: int, y: int) -> tuple[set[tuple[int, ...]], bool]:
    """Sets that fulfil the criterion in every member; and whether x is an ancestor of y in some."""
    criteria = [Criterion(mag.tolist(), x, y) for mag in members]
    tried = (z for size in range(len(criteria[0].others) + 1) for z in combinations(criteria[0].others, size))
    return {z for z in tried if all(criterion.holds(set(z)) for criterion in criteria)}, any(criterion.possible for criterion in criteria)


@pytest.mark.slow
def test_no_set_is_promised_that_fails_in_a_member() -> None:
    found: Counter[str] = Counter()
    for members, shared in list(parts(4))[::20]:
        pag = PAG(shared, "ABCD")
        for x, y in permutations(range(4), 2):
            told = adjustment_sets(pag, "ABCD"[x], "ABCD"[y], minimal=False)
            sets, possible = sets_by_definition(members, x, y)
            if told.identification is Identification.ZERO:
                assert not possible, (pag, x, y)
            promised = {tuple("ABCD".index(name) for name in names) for names in told.sets}
            assert promised <= sets, (pag, x, y)
            found["promised"] += bool(promised)
            found["missed"] += bool(possible and sets and not promised)
    assert found["promised"] > 10
    assert found["missed"] < found["promised"] / 5


def test_effects_and_measurements_of_a_discovery_with_knowledge() -> None:
    """Of A o-o B o-o C it is known that A acts on B: what B does to C is then free of hidden causes, as A --> B makes it visible."""
    oracle = cs.Oracle(PAG.parse("A o-o B, B o-o C"), datasets=["ABC"])
    (pag,) = cs.discover(oracle, knowledge=cs.Knowledge(required=["A --> B"])).pags
    assert pag == PAG.parse("A --> B, B --> C")
    assert adjustment_sets(pag, "B", "C").sets == ((),)
    assert adjustment_sets(pag, "A", "B").identification is Identification.HIDDEN_CAUSE


def test_marks_of_no_class() -> None:
    with pytest.raises(InvalidPAGError, match="nor of a part of one"):
        member_marks(PAG.parse("A --> B, B --> C, C --> A").working())
