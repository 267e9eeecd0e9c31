"""Positions of one's own, what stands on a page with others, and the same picture every time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import combinations
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from consilience.errors import OptionError
from consilience.graph import DAG, PAG
from consilience.graph.drawing import positions_of, to_svg
from consilience.graph.drawing.crowding import CLEARANCE, MARGIN
from consilience.graph.drawing.shapes import STYLE
from tests.graph.drawing.helpers import SVG, random_graph, read, space_from_third_boxes

# Positions of one's own


def test_positions_of_a_graph_stay_as_they_are() -> None:
    graph = random_graph(9, 12, 1)
    assert to_svg(graph, positions=positions_of(graph)) == to_svg(graph)


def test_several_graphs_are_drawn_alike() -> None:
    one, two = PAG.parse("A o-> B, B o-o C, D"), PAG.parse("A o-> B, C <-> D, B --- E")
    positions = positions_of(one, two)
    boxes = [read(to_svg(graph, positions=positions)).boxes for graph in (one, two)]
    centres = [{label: (box.x, box.y) for label, box in drawn.items() if label in one.labels} for drawn in boxes]
    assert centres[0] == centres[1]


def test_graphs_pass_positions_on() -> None:
    boxes = read(PAG.parse("A o-> B").to_svg(positions={"A": (0.0, 0.0), "B": (0.0, 200.0)})).boxes
    assert (boxes["A"].x, boxes["B"].x, boxes["B"].y - boxes["A"].y) == (0.0, 0.0, 200.0)


def test_positions_in_small_units_are_enlarged_as_a_whole() -> None:
    boxes = read(to_svg(PAG.parse("A o-> B, B o-> C"), positions={"A": (0.0, 0.0), "B": (1.0, 0.0), "C": (1.0, 2.0)})).boxes
    a, b, c = (np.array(boxes[label][:2]) for label in "ABC")
    assert np.linalg.norm(c - b) == pytest.approx(2 * np.linalg.norm(b - a), abs=0.05)


def test_nodes_in_one_place_are_pushed_apart() -> None:
    graph = random_graph(12, 14, 0)
    picture = read(to_svg(graph, positions=dict.fromkeys(graph.labels, (0.0, 0.0))))
    for a, b in combinations(picture.boxes.values(), 2):
        assert max(abs(a.x - b.x) - a.wide - b.wide, abs(a.y - b.y) - a.high - b.high) > MARGIN - 0.1


def test_edges_bend_around_nodes_that_are_in_the_way() -> None:
    positions = {label: (150.0 * k, 0.0) for k, label in enumerate("ABCD")}
    picture = read(to_svg(PAG.parse("A o-> B, B --> C, C --> D, A <-> C, B o-> D, A --- D"), positions=positions))
    assert space_from_third_boxes(picture) > CLEARANCE - 4.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positions": {"A": (0.0, 0.0)}}, "none for 'B'"),
        ({"positions": {"A": (0.0, 0.0), "B": (np.nan, 0.0)}}, "pair of finite numbers"),
        ({"positions": {"A": (0.0, 0.0, 0.0), "B": (1.0, 0.0, 0.0)}}, "pair of finite numbers"),
        ({"positions": {"A": (0.0, 0.0), "B": 1.0}}, "pair of finite numbers"),
        ({"positions": {"A": (0.0, 0.0), "B": ("left", "top")}}, "pair of finite numbers"),
        ({"width": 0.0}, "positive number of pixels"),
        ({"width": np.inf}, "positive number of pixels"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        to_svg(PAG.parse("A o-> B"), **options)  # type: ignore[arg-type]


def test_the_width_scales_the_picture() -> None:
    graph = PAG.parse("A o-> B, C --> B")
    natural, wide = (ET.fromstring(to_svg(graph, width=width)).attrib for width in (None, 1000))
    assert wide["viewBox"] == natural["viewBox"]
    assert float(wide["width"]) == 1000.0
    assert float(wide["height"]) / float(natural["height"]) == pytest.approx(1000.0 / float(natural["width"]), rel=1e-3)


# On a page


def test_the_picture_can_be_read_aloud() -> None:
    root = ET.fromstring(to_svg(PAG.parse('A o-> B, B <-> "<C>"'), title="Class 3"))
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == "Class 3: <C> <-> B, A o-> B"
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert (title.text, desc.text) == ("Class 3", "<C> (arrow) – B (arrow); A (circle) – B (arrow).")
    assert ET.fromstring(to_svg(DAG.parse("A --> B"))).attrib["aria-label"] == "DAG with 2 nodes and 1 edge: A --> B"


def test_the_picture_needs_nothing_from_outside_and_can_stand_beside_others() -> None:
    svg = to_svg(PAG.parse("A o-> B"))
    assert not re.search(r"href|url\(|@import|\bid=|<script", svg)
    assert svg.count("http") == 1  # the namespace
    style = ET.fromstring(svg).find(f"{SVG}style")
    assert style is not None
    assert style.text is not None
    rules = re.findall(r"([^{}]+)\{[^{}]+\}", style.text.replace("@media screen and (prefers-color-scheme:dark){", ""))
    assert all(rule.startswith((".consilience-graph ", "svg.consilience-graph")) for rule in rules)


def test_a_page_may_hold_the_style_of_its_pictures() -> None:
    graph = PAG.parse("A o-> B, B <-> C")
    alone, embedded = to_svg(graph), to_svg(graph, embedded=True)
    assert "style" not in embedded
    assert STYLE in alone
    assert re.sub("<style>.*</style>", "", alone) == embedded


def luminance(colour: str) -> float:
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one: str, other: str) -> float:
    high, low = sorted([luminance(one), luminance(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_colours_can_be_told_from_light_and_dark_pages() -> None:
    """WCAG 2.1: 4.5 for text, 3 for lines."""
    svg = to_svg(PAG.parse("A <-> B, B o-> C"))
    light, dark = svg.split("</style>")[1], svg.split("<style>")[1].split("</style>")[0]
    for text, page in ((light, "#ffffff"), (dark, "#121212")):
        lines = set(re.findall(r"stroke[=:]\"?(#\w{6})", text))
        assert len(lines) == 3
        assert all(contrast(line, page) > 4.5 for line in lines)
    boxes = re.findall(r"<rect[^>]+fill=\"(#\w+)\"", light)[0], re.findall(r"rect\{fill:(#\w+)", dark)[0]
    texts = re.findall(r"<text fill=\"(#\w+)\"", light)[0], re.findall(r"text\{fill:(#\w+)", dark)[0]
    assert all(contrast(*pair) > 7.0 for pair in zip(boxes, texts, strict=True))


# The same picture every time


def test_the_order_of_labels_does_not_matter() -> None:
    graph = random_graph(8, 11, 3)
    assert to_svg(graph.reordered(graph.labels[::-1])) == to_svg(graph)
    assert to_svg(graph.reordered(sorted(graph.labels))) == to_svg(graph)


def test_another_process_draws_the_same() -> None:
    text = "A o-> B, B <-> C, C --> D, A o-o D, D --> E, B --> E, F"
    program = f"from consilience.graph import PAG, drawing; import sys; sys.stdout.write(drawing.to_svg(PAG.parse({text!r})))"
    other = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, encoding="utf-8", env={**os.environ, "PYTHONHASHSEED": "7"}
    )
    assert other.stdout == to_svg(PAG.parse(text))
