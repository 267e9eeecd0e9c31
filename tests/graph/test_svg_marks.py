"""Every drawing has the right marks at the right ends, checked by parsing it."""

from __future__ import annotations

from itertools import combinations
from random import Random
from xml.etree import ElementTree as ET

import pytest

from consilience.graph import PAG, Mark

SVG = "{http://www.w3.org/2000/svg}"
NAMES = {Mark.CIRCLE: "circle", Mark.ARROW: "arrow", Mark.TAIL: "tail"}


def random_pag(seed: int, n: int) -> PAG:
    random = Random(seed)
    labels = [f"V{i}" for i in range(n)]
    pairs = random.sample(list(combinations(labels, 2)), min(int(1.4 * n), n * (n - 1) // 2))
    return PAG.parse(", ".join([*(f"{a} {random.choice('o<-')}-{random.choice('o>-')} {b}" for a, b in pairs), *labels]))


def by_class(root: ET.Element, name: str) -> list[ET.Element]:
    return [e for e in root.iter(f"{SVG}g") if name in e.get("class", "").split()]


@pytest.mark.parametrize("n", [2, 5, 8, 12, 20])
@pytest.mark.parametrize("seed", range(3))
def test_marks_and_shapes_at_both_ends(n: int, seed: int) -> None:
    pag = random_pag(seed, n)
    root = ET.fromstring(pag.to_svg())
    assert {e.get("data-label") for e in by_class(root, "node")} == set(pag.labels)
    drawn = by_class(root, "edge")
    assert len(drawn) == len(pag.edges)
    for edge in drawn:
        a, b = edge.get("data-from", ""), edge.get("data-to", "")
        marks = [pag.mark(b, a), pag.mark(a, b)]
        assert [edge.get("data-mark-from"), edge.get("data-mark-to")] == [NAMES[m] for m in marks]
        shapes = [e.get("class", "").split() for e in edge.iter()]
        assert sum("arrow" in s and "mark" in s for s in shapes) == marks.count(Mark.ARROW)
        assert sum("circle" in s and "mark" in s for s in shapes) == marks.count(Mark.CIRCLE)


def test_hostile_labels_are_text_and_nothing_else() -> None:
    pag = PAG([[0, 2], [3, 0]], ["<script>alert('x')</script>", 'a "quoted" & b'])
    root = ET.fromstring(pag.to_svg())
    assert not list(root.iter(f"{SVG}script"))
    assert {e.get("data-label") for e in by_class(root, "node")} == set(pag.labels)


def test_a_graph_is_drawn_the_same_way_every_time_and_in_notebooks() -> None:
    pag = random_pag(1, 9)
    assert pag.to_svg() == pag.to_svg() == pag._repr_svg_()
