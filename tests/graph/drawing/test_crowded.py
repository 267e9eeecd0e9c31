"""Graphs with hundreds of edges: drawn at once, with every edge and its marks."""

from __future__ import annotations

import time
from itertools import combinations
from xml.etree import ElementTree as ET

import numpy as np

from consilience.graph.drawing.crowding import CLEARANCE
from consilience.graph.drawing.routing import Box, distances, points_of, routes
from consilience.graph.drawing.shapes import OPEN, Line
from consilience.graph.drawing.svg import MOST_NOTED, draw
from consilience.graph.marks import ARROW, CIRCLE, TAIL

MARKS = (CIRCLE, ARROW, TAIL, OPEN)
NAMES = [f"variable_{i:02d}" for i in range(30)]


def lines_of(count: int, note: str = "") -> list[Line]:
    rng = np.random.default_rng(count)
    pairs = rng.permutation(np.array(list(combinations(range(len(NAMES)), 2))))[:count]
    marks = rng.choice(MARKS, (count, 2)).tolist()
    return [Line(NAMES[i], NAMES[j], a, b, "", note=note) for (i, j), (a, b) in zip(pairs.tolist(), marks, strict=True)]


def test_a_dense_graph_is_drawn_whole_and_soon() -> None:
    lines = lines_of(370)
    positions = {name: (600.0 * np.cos(k / 4.8), 600.0 * np.sin(k / 4.8)) for k, name in enumerate(NAMES)}
    begin = time.process_time()
    picture = draw(NAMES, lines, ("a", "b", "c"), positions=positions, enlarge=False)
    assert time.process_time() - begin < 1.0  # a tenth of it where nothing else runs
    groups = [one for one in ET.fromstring(picture).iter() if one.get("class") == "edge"]
    names = {CIRCLE: "circle", ARROW: "arrow", TAIL: "tail", OPEN: "open"}
    shown = [(g.get("data-from"), g.get("data-to"), g.get("data-mark-from"), g.get("data-mark-to")) for g in groups]
    assert shown == [(line.a, line.b, names[line.at_a], names[line.at_b]) for line in lines]


def test_beyond_many_edges_those_that_bend_do_so_for_boxes_only() -> None:
    boxes = [Box(100.0 * k, 0.0, 15.0, 15.0, 15.0) for k in range(18)]
    ends = list(combinations(range(18), 2))
    curves = routes(boxes, ends)
    bent = np.abs(curves[:, 1, 1]) > 1e-9
    assert bent.tolist() == [b - a > 1 for a, b in ends]
    for (a, b), points in zip(ends, points_of(curves), strict=True):
        if b - a == 2:  # with one box in the way there is room around it
            assert float(distances(np.array([boxes[a + 1]]), points[None]).min()) > 0.5 * CLEARANCE


def test_notes_stand_beside_some_edges_and_not_beside_very_many() -> None:
    few, many = (draw(NAMES, lines_of(count, "62%"), ("a", "b", "c")) for count in (40, MOST_NOTED + 1))
    assert (few.count(">62%<"), many.count(">62%<")) == (40, 0)
