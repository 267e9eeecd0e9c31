"""What the package says about one effect, held against the definition."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from consilience.graph import DAG, MAG, PAG, Adjustment, Identification, adjustment_sets, is_adjustment_set
from tests.graph.adjustment_by_definition import Criterion, minimal


def expected(criterion: Criterion, sets: list[set[int]]) -> Identification:
    if not criterion.possible:
        return Identification.ZERO
    if not criterion.amenable:
        return Identification.HIDDEN_CAUSE
    return Identification.ADJUSTED if sets else Identification.OPEN_PATH


def named(graph: PAG | MAG | DAG, sets: Iterable[Iterable[int]]) -> set[frozenset[str]]:
    return {frozenset(graph.labels[v] for v in z) for z in sets}


def told(found: Adjustment) -> set[frozenset[str]]:
    assert len({*found.sets}) == len(found.sets)
    assert found.complete
    return set(map(frozenset, found.sets))


def compare(graph: PAG | MAG | DAG, criterion: Criterion, x: int, y: int) -> Identification:
    """Assert that all sets, the minimal ones, the canonical one, the forbidden variables and the verdict are those of the definition."""
    names = graph.labels
    about = graph, names[x], names[y]
    sets = list(criterion.sets())
    found = adjustment_sets(*about)
    assert found.identification is expected(criterion, sets), about
    if found.identification is Identification.ADJUSTED:
        assert told(found) == named(graph, minimal(sets)), about
        assert told(adjustment_sets(*about, minimal=False)) == named(graph, sets), about
        assert found.canonical is not None
        assert criterion.holds({graph.index(name) for name in found.canonical}), about
        assert set(found.forbidden) == {names[v] for v in criterion.forbidden}, about
    for size in range(len(criterion.others) + 1):
        for z in combinations(criterion.others, size):
            assert is_adjustment_set(*about, [names[v] for v in z]) is (set(z) in sets), (about, z)
    return found.identification


def compare_measured(graph: PAG | MAG | DAG, criterion: Criterion, x: int, y: int) -> None:
    """Assert the same of every part of the variables that a data set may measure, of an effect that is neither zero nor hidden."""
    names = graph.labels
    sets = list(criterion.sets())
    for size in range(len(criterion.others) + 1):
        for held in combinations(criterion.others, size):
            found = adjustment_sets(graph, names[x], names[y], among=[names[v] for v in (x, y, *held)])
            here = [z for z in sets if z <= set(held)]
            assert told(found) == named(graph, minimal(here)), (graph, x, y, held)
            missing = Identification.NOT_TOGETHER if sets else Identification.OPEN_PATH
            assert found.identification is (Identification.ADJUSTED if here else missing)
