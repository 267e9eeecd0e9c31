"""One tiny graph for every orientation rule, one where it applies and some where it must not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from consilience.graph import (
    MAG,
    PAG,
    MarkSets,
    MixedGraph,
    Separation,
    by_separating_sets,
    decide,
    discriminating_paths,
    mag_to_pag,
    mask_of,
    orient,
    rules,
)
from consilience.graph.marks import ARROW, TAIL
from consilience.graph.paths import simple_path
from tests.graph.helpers import LABELS, random_mags, subsets


def check(rule, before: str, after: str | None, *arguments) -> None:
    """``rule`` turns ``before`` into ``after``; None if it must leave it alone."""
    graph = PAG.parse(before)
    marks = graph.working()
    assert rule(marks, *arguments) is (after is not None)
    assert PAG.from_working(marks, graph.labels) == PAG.parse(after or before)
    assert not marks.contradicted


def test_r0() -> None:
    check(rules.r0, "A o-o B, B o-o C", "A o-> B, C o-> B", lambda path: path == (0, 1, 2))
    check(rules.r0, "A o-o B, B o-o C", None, lambda path: False)
    check(rules.r0, "A o-o B, B o-o C", None, lambda path: None)
    check(rules.r0, "A o-o B, B o-o C, A o-o C", None, lambda path: True)


def test_r0_from_separating_sets() -> None:
    empty = by_separating_sets({frozenset({0, 2}): ()})
    check(rules.r0, "A o-o B, B o-o C", "A o-> B, C o-> B", empty)
    check(rules.r0, "A o-o B, B o-o C", None, by_separating_sets({frozenset({0, 2}): (1,)}))
    check(rules.r0, "A o-o B, B o-o C", None, by_separating_sets({}))


def test_r1() -> None:
    check(rules.r1, "A o-> B, B o-o C", "A o-> B, B --> C")
    check(rules.r1, "A <-> B, B o-> C", "A <-> B, B --> C")
    check(rules.r1, "A o-> B, B o-o C, A o-o C", None)
    check(rules.r1, "A o-o B, B o-o C", None)
    check(rules.r1, "A o-> B, B <-o C", None)


def test_r2() -> None:
    check(rules.r2, "A --> B, B o-> C, A o-o C", "A --> B, B o-> C, A o-> C")
    check(rules.r2, "A o-> B, B --> C, A o-o C", "A o-> B, B --> C, A o-> C")
    check(rules.r2, "A <-> B, B --> C, A <-o C", "A <-> B, B --> C, A <-> C")
    check(rules.r2, "A o-> B, B o-> C, A o-o C", None)
    check(rules.r2, "A --> B, B o-o C, A o-o C", None)


def test_r3() -> None:
    check(
        rules.r3,
        "A o-> B, C o-> B, A o-o D, C o-o D, D o-o B",
        "A o-> B, C o-> B, A o-o D, C o-o D, D o-> B",
    )
    check(rules.r3, "A o-> B, C o-> B, A o-o D, C o-o D, D o-o B, A o-o C", None)
    check(rules.r3, "A o-> B, C o-> B, A o-> D, C o-o D, D o-o B", None)
    check(rules.r3, "A o-> B, C o-o B, A o-o D, C o-o D, D o-o B", None)


DISCRIMINATING = "X o-> A, A <-o B, A --> C, B o-> C"


def test_r4_collider() -> None:
    check(rules.r4, DISCRIMINATING, "X o-> A, A <-> B, A --> C, B <-> C", lambda path: True)


def test_r4_non_collider() -> None:
    check(rules.r4, DISCRIMINATING, "X o-> A, A <-o B, A --> C, B --> C", lambda path: False)


def test_r4_asks_about_the_whole_path_and_accepts_not_to_know() -> None:
    asked = []
    check(rules.r4, DISCRIMINATING, None, asked.append)
    a, b, c, x = range(4)
    assert asked == [(x, a, b, c)]
    check(rules.r4, DISCRIMINATING, "X o-> A, A <-o B, A --> C, B --> C", by_separating_sets({frozenset({x, c}): {a, b}}))


def test_r4_needs_a_discriminating_path() -> None:
    def never(path) -> bool:
        raise AssertionError(path)

    check(rules.r4, DISCRIMINATING + ", X o-o C", None, never)
    check(rules.r4, "X o-> A, A o-o B, A --> C, B o-o C", None, never)
    check(rules.r4, "X o-o A, A <-o B, A --> C, B o-o C", None, never)
    check(rules.r4, "X o-> A, A <-o B, A o-> C, B o-o C", None, never)


def test_r4_on_a_long_path() -> None:
    """θ = X, then three colliders that are parents of C."""
    text = "X o-> P, P <-> Q, Q <-> A, A <-o B, P --> C, Q --> C, A --> C, B o-> C"
    check(rules.r4, text, text.replace("A <-o B", "A <-> B").replace("B o-> C", "B <-> C"), lambda path: len(path) == 6)
    check(rules.r4, text.replace("Q --> C", "Q <-> C"), None, lambda path: True)


def test_r4_tries_another_path_when_one_is_not_known() -> None:
    """X and Y both begin a path; only Sepset(Y, C) is known."""
    text = "X o-> A, Y o-> A, A <-o B, A --> C, B o-o C"
    y, c, b = 4, 2, 1
    check(rules.r4, text, text.replace("B o-o C", "B --> C"), by_separating_sets({frozenset({y, c}): {b}}))


def test_a_caller_can_follow_both_answers() -> None:
    graph = PAG.parse(DISCRIMINATING)
    marks = graph.working()
    assert not orient(marks, lambda path: None)
    paths = list(discriminating_paths(marks))
    assert paths == [(3, 0, 1, 2)]
    found = []
    for collider in (True, False):
        branch = marks.copy()
        assert decide(branch, paths[0], collider=collider)
        orient(branch)
        found.append(PAG.from_working(branch, graph.labels))
    assert found == [PAG.parse("X o-> A, A <-> B, A --> C, B <-> C"), PAG.parse("X o-> A, A <-o B, A --> C, B --> C")]
    assert list(discriminating_paths(marks)) == paths


def test_r5() -> None:
    check(rules.r5, "A o-o B, B o-o C, C o-o D, D o-o A", "A --- B, B --- C, C --- D, D --- A")
    check(rules.r5, "A o-o B, B o-o C, C o-o D, D o-o A, A o-o C", None)
    check(rules.r5, "A o-o B, B o-o C, C o-> D, D o-o A", None)
    check(rules.r5, "A o-o B, B o-o C, C o-o A", None)


def test_r5_on_a_long_cycle() -> None:
    ring = "A o-o B, B o-o C, C o-o D, D o-o E, E o-o F, F o-o A"
    check(rules.r5, ring, ring.replace("o-o", "---"))
    two_rings = ring + ", A o-o D"
    check(rules.r5, two_rings, "A --- B, B --- C, C --- D, D o-o E, E o-o F, F o-o A, A --- D")
    check(lambda marks: orient(marks, selection_bias=True), two_rings, two_rings.replace("o-o", "---"))


def test_r6() -> None:
    check(rules.r6, "A --- B, B o-o C", "A --- B, B --o C")
    check(rules.r6, "A --- B, B o-o C, A o-o C", "A --- B, B --o C, A --o C")
    check(rules.r6, "A --o B, B o-o C", None)


def test_r7() -> None:
    check(rules.r7, "A --o B, B o-o C", "A --o B, B --o C")
    check(rules.r7, "A --o B, B o-o C, A o-o C", None)
    check(rules.r7, "A o-o B, B o-o C", None)


def test_r8() -> None:
    check(rules.r8, "A --> B, B --> C, A o-> C", "A --> B, B --> C, A --> C")
    check(rules.r8, "A --o B, B --> C, A o-> C", "A --o B, B --> C, A --> C")
    check(rules.r8, "A o-> B, B --> C, A o-> C", None)
    check(rules.r8, "A --> B, B o-> C, A o-> C", None)
    check(rules.r8, "A --> B, B --> C, A o-o C", None)


def test_r9() -> None:
    check(rules.r9, "A o-> C, A o-o B, B o-o D, D --> C", "A --> C, A o-o B, B o-o D, D --> C")
    check(rules.r9, "A o-> C, A o-o B, B o-o D, D o-> C", "A --> C, A o-o B, B o-o D, D --> C")
    check(rules.r9, "A o-> C, A o-> B, B --> D, D --> C", "A --> C, A o-> B, B --> D, D --> C")
    check(rules.r9, "A o-> C, A o-o B, B o-o D, D --> C, B --> C", None)
    check(rules.r9, "A o-> C, A o-o B, B o-o D, D --> C, A o-o D", None)
    check(rules.r9, "A o-> C, A o-o B, B <-o D, D --> C", None)
    check(rules.r9, "A o-> C, A o-o B, B o-o D, D <-> C", None)


def test_r10() -> None:
    check(rules.r10, "A o-> C, B --> C, D --> C, A o-o B, A o-o D", "A --> C, B --> C, D --> C, A o-o B, A o-o D")
    check(rules.r10, "A o-> C, B --> C, D --> C, A o-o B, A o-o D, B o-o D", None)
    check(rules.r10, "A o-> C, B o-> C, D --> C, A o-o B, A o-o D", None)
    check(rules.r10, "A o-> C, B --> C, D --> C, A <-o B, A o-o D", None)
    check(rules.r10, "A o-> C, B --> C, D --> C, A o-o B", None)


def test_r10_with_longer_paths() -> None:
    text = "A o-> C, B --> C, D --> C, A o-o M, M o-> B, A o-o W, W o-> D"
    check(rules.r10, text, text.replace("A o-> C", "A --> C"))
    check(rules.r10, text + ", M o-o W", None)
    check(rules.r10, text + ", A o-> B", text.replace("A o-> C", "A --> C") + ", A o-> B")


def test_marks_are_never_overwritten_and_contradictions_are_noted() -> None:
    graph = MixedGraph.parse("A o-> B, B o-- C")
    marks = graph.working()
    assert rules.r1(marks)
    assert marks.contradicted
    assert MixedGraph.from_working(marks, graph.labels) == MixedGraph.parse("A o-> B, B --- C")
    assert marks.copy().contradicted


def test_selection_bias_must_be_allowed_for() -> None:
    ring = PAG.parse("A o-o B, B o-o C, C o-o D, D o-o A").working()
    assert not orient(ring.copy())
    assert orient(ring, selection_bias=True)
    assert PAG.from_working(ring, "ABCD") == PAG.parse("A --- B, B --- C, C --- D, D --- A")


@settings(deadline=None)
@given(random_mags())
def test_fci_from_separating_sets_is_the_pag_of_the_mag(marks) -> None:
    """R0 and R4 answered from separating sets, as data give them, not from the graph."""
    mag = MAG.from_working(marks, LABELS[: marks.n])
    pag = MarkSets.skeleton(marks.adjacent)
    answers = by_separating_sets(separating_sets(marks))
    rules.r0(pag, answers)
    orient(pag, answers)
    assert not pag.contradicted
    assert PAG.from_working(pag, mag.labels) == mag_to_pag(mag)
    assert not orient(pag, answers)


def separating_sets(marks: MarkSets) -> dict[frozenset[int], set[int]]:
    separation = Separation(marks)
    found = {}
    for x in range(marks.n):
        for y in range(x):
            if not marks.adjacent[x] >> y & 1:
                others = [v for v in range(marks.n) if v not in (x, y)]
                found[frozenset({x, y})] = next(s for s in subsets(others) if separation.separated(x, y, mask_of(s)))
    return found


def test_a_walk_that_is_no_path_does_not_count() -> None:
    """The shortest walk 0-1-2-3-1-4 visits 1 twice, and so does every other."""
    steps = {(0, 1): 2, (1, 2): 3, (2, 3): 1, (3, 1): 4}

    def step(previous: int, current: int) -> int:
        return 1 << steps[previous, current] if (previous, current) in steps else 0

    assert simple_path(0, 1, step, lambda _, v: v == 4) is None
    assert simple_path(0, 1, step, lambda _, v: v == 3) == (0, 1, 2, 3)


def test_a_longer_path_is_found_where_the_shortest_walk_is_none() -> None:
    steps = {(0, 1): [2, 5], (1, 2): [3], (2, 3): [1], (3, 1): [4], (1, 5): [6], (5, 6): [7], (6, 7): [8], (7, 8): [4]}
    found = simple_path(0, 1, lambda a, b: mask_of(steps.get((a, b), [])), lambda _, v: v == 4)
    assert found == (0, 1, 5, 6, 7, 8, 4)


@pytest.mark.parametrize("mark", [ARROW, TAIL])
def test_resolve_turns_circles_only(mark: int) -> None:
    marks = MarkSets.complete(2)
    assert marks.resolve(0, 1, mark)
    assert not marks.resolve(0, 1, mark)
    assert not marks.contradicted
    assert not marks.resolve(0, 1, ARROW + TAIL - mark)
    assert marks.contradicted
    assert marks.mark(0, 1) == mark
