"""No text escapes its element, and labels are shown in full."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from consilience.graph import PAG
from consilience.graph.drawing import to_svg
from tests.graph.drawing.helpers import SVG, WORDS, read

HOSTILE = [
    "<script>alert(1)</script>",
    "]]><!-- & -->",
    "\" onload='alert(1)' x=\"",
    "a & b &amp; c",
    "</text></svg><img src=x>",
    "{colour} %s {0}",
    "👩‍👩‍👧‍👦 🇩🇪 👍🏽",
    "收縮壓與心率",
    "ضغط الدم",
    "e\u0301\u0323 Å",
    "line one\nline two\tand more",
    "x" * 3000,
    "several words " * 40,
]


def test_hostile_labels_stay_text() -> None:
    graph = PAG.parse(", ".join(f"v{i} o-> v{i + 1}" for i in range(len(HOSTILE) - 1)))
    graph = PAG.from_matrix(graph.reordered([f"v{i}" for i in range(len(HOSTILE))]).to_matrix(), HOSTILE)
    svg = to_svg(graph, title=HOSTILE[0])
    picture = read(svg)
    assert set(picture.boxes) == set(HOSTILE)
    assert {edge.ends for edge in picture.edges} == set(pairwise(HOSTILE))
    tags = {"svg", "title", "desc", "style", "g", "rect", "text", "tspan", "path", "circle"}
    assert {element.tag.removeprefix(SVG) for element in picture.root.iter()} <= tags
    allowed = {"class", "d", "x", "y", "width", "height", "rx", "cx", "cy", "r", "fill", "stroke", "text-anchor"}
    for element in picture.root.iter():
        names = {name for name in element.attrib if not name.startswith(("data-", "stroke-", "font-"))}
        assert names <= (allowed if element is not picture.root else {"class", "role", "aria-label", "viewBox", "width", "height"})
    assert "<script" not in svg


def test_labels_are_shown_in_full_unless_very_long() -> None:
    shown = {}
    for node in ET.fromstring(to_svg(PAG.parse(", ".join(f'"{word}"' for word in WORDS)))).findall(f"{SVG}g"):
        lines = ["".join(line.itertext()) for line in node.iter(f"{SVG}tspan")]
        shown[node.attrib["data-label"]] = lines
    assert {label: " ".join(lines) for label, lines in shown.items()} == {word: word for word in WORDS}
    assert len(shown["Physical activity (hours a week)"]) == 2
    long = ET.fromstring(to_svg(PAG([[0]], ["several words " * 40])))
    assert [*long.iter(f"{SVG}tspan")][-1].text.endswith("…")  # type: ignore[union-attr]
    assert [title.text for title in long.iter(f"{SVG}title")][-1] == "several words " * 40


def test_longer_labels_have_wider_boxes() -> None:
    boxes = read(to_svg(PAG.parse('i, W, Sex, "Heart failure", 收縮壓與心率'))).boxes
    assert boxes["i"].wide == boxes["i"].high
    assert boxes["i"].wide < boxes["Sex"].wide < boxes["Heart failure"].wide
    assert 2 * boxes["收縮壓與心率"].wide > 6 * 14


@pytest.mark.parametrize("label", ["\x00", "a\x07b", "\ud800", "\ufffe", " ", "\x1c", "\u200b"])
def test_characters_that_xml_does_not_have(label: str) -> None:
    svg = to_svg(PAG([[0, 2], [1, 0]], [label, "B"]), title=label)
    svg.encode("utf-8")
    assert len(read(svg).boxes) == 2
