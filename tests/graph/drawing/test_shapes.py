"""The right mark at the right end."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from consilience.graph import PAG
from consilience.graph.drawing import to_svg
from tests.graph.drawing.helpers import NAMES, ROUNDING, SVG, pictures


@pytest.mark.slow
def test_every_edge_is_drawn_once_with_its_marks() -> None:
    for graph, picture in pictures():
        assert set(picture.boxes) == set(graph.labels)
        assert len(picture.edges) == len(graph.edges)
        for edge in picture.edges:
            a, b = edge.ends
            assert edge.names == (NAMES[graph.mark(b, a)], NAMES[graph.mark(a, b)])
            assert len(edge.circles) == edge.names.count("circle")
            assert len(edge.heads) == edge.names.count("arrow")


@pytest.mark.slow
def test_marks_touch_the_box_of_their_node_and_lines_touch_their_marks() -> None:
    for _, picture in pictures():
        for edge in picture.edges:
            circles, heads = iter(edge.circles), iter(edge.heads)
            for label, name, end in zip(edge.ends, edge.names, (edge.line[0], edge.line[-1]), strict=True):
                box = picture.boxes[label]
                if name == "tail":
                    assert abs(box.distance(end)) < ROUNDING
                elif name == "arrow":
                    tip, *back = next(heads)
                    assert abs(box.distance(tip)) < ROUNDING
                    middle = np.mean(back, axis=0)
                    assert np.linalg.norm(end - middle) < 1.5  # the line ends in the head, and the head continues it
                    assert np.linalg.norm(tip - middle) > 10.0
                else:
                    x, y, radius = next(circles)
                    assert np.linalg.norm(end - (x, y)) == pytest.approx(radius, abs=ROUNDING)
                    assert radius + 0.75 - ROUNDING < box.distance(np.array([x, y])) < radius + 2.0


@pytest.mark.slow
def test_marks_do_not_overlap_boxes() -> None:
    for _, picture in pictures():
        for edge in picture.edges:
            for box in (picture.boxes[label] for label in edge.ends):
                assert all((box.distance(head[1:]) > 0).all() for head in edge.heads)
                assert all(box.distance(circle[:2]) > circle[2] for circle in edge.circles)
                assert box.distance(edge.line[1:-1]).min() > -ROUNDING


@pytest.mark.slow
def test_marks_at_the_two_ends_of_an_edge_do_not_touch() -> None:
    for _, picture in pictures():
        assert all(np.linalg.norm(edge.line[-1] - edge.line[0]) > 10.0 for edge in picture.edges)


def test_bidirected_edges_also_differ_in_colour_and_none_is_dashed() -> None:
    """Dashes say that only some of several graphs have an edge."""
    svg = to_svg(PAG.parse("A <-> B, B o-> C"))
    bidirected, other = ET.fromstring(svg).findall(f"{SVG}g[@class='edge']")
    assert bidirected.attrib["stroke"] != other.attrib["stroke"]
    assert "stroke-dasharray" not in svg
