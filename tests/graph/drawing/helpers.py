"""Pictures read back, with geometry of their own, and graphs to draw."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from consilience.graph import PAG, Mark
from consilience.graph.drawing import to_svg

SVG = "{http://www.w3.org/2000/svg}"
NAMES = {Mark.CIRCLE: "circle", Mark.ARROW: "arrow", Mark.TAIL: "tail"}
WORDS = [
    "Age",
    "Sex",
    "BMI",
    "Blood pressure",
    "Smoking",
    "Cholesterol",
    "Stroke",
    "HbA1c",
    "Statin use",
    "Physical activity (hours a week)",
]
WORDS += ["eGFR", "Education", "Income", "Alcohol", "Heart failure", "LDL", "C-reactive protein", "Sleep", "Depression", "Diet"]
ROUNDING = 0.02
"""Coordinates have two decimals."""


class Box(NamedTuple):
    x: float
    y: float
    wide: float
    high: float
    corner: float

    def distance(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of points from the border, negative inside. The border is a radius away from the core, the box without its rounded rim."""
        core = np.array([self.wide - self.corner, self.high - self.corner])
        centre = np.array([self.x, self.y])
        nearest = centre + np.clip(points - centre, -core, core)
        outside = np.linalg.norm(points - nearest, axis=-1) - self.corner
        inside = np.max(np.abs(points - centre) - core, axis=-1) - self.corner
        return np.asarray(np.where((np.abs(points - centre) <= core).all(axis=-1), inside, outside))


class DrawnEdge(NamedTuple):
    ends: tuple[str, str]
    names: tuple[str, str]
    line: NDArray[np.float64]
    circles: list[NDArray[np.float64]]
    heads: list[NDArray[np.float64]]


class Picture(NamedTuple):
    root: ET.Element
    boxes: dict[str, Box]
    edges: list[DrawnEdge]


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.?\d*", text)]


def points_on(path: str) -> NDArray[np.float64]:
    """Two hundred points of a straight line or a quadratic curve."""
    assert re.fullmatch(r"M[-\d. ]+(L|Q)[-\d. ]+", path)
    control = np.array(numbers(path)).reshape(-1, 2)
    t = np.linspace(0.0, 1.0, 200)[:, None]
    if len(control) == 2:
        return np.asarray((1 - t) * control[0] + t * control[1])
    return np.asarray((1 - t) ** 2 * control[0] + 2 * t * (1 - t) * control[1] + t**2 * control[2])


def read(svg: str) -> Picture:
    root = ET.fromstring(svg)
    boxes, edges = {}, []
    for group in root.iter(f"{SVG}g"):
        if group.get("class") == "node":
            rect = group.find(f"{SVG}rect")
            assert rect is not None
            x, y, width, height, corner = (float(rect.get(key, "")) for key in ("x", "y", "width", "height", "rx"))
            boxes[group.attrib["data-label"]] = Box(x + width / 2, y + height / 2, width / 2, height / 2, corner)
        else:
            assert group.get("class") == "edge"
            paths = {kind: [path.attrib["d"] for path in group.findall(f"{SVG}path[@class='{kind}']")] for kind in ("line", "mark arrow")}
            (line,) = paths["line"]
            circles = [
                np.array([float(c.attrib[key]) for key in ("cx", "cy", "r")]) for c in group.findall(f"{SVG}circle[@class='mark circle']")
            ]
            heads = [np.array(numbers(path)).reshape(3, 2) for path in paths["mark arrow"]]
            ends = group.attrib["data-from"], group.attrib["data-to"]
            names = group.attrib["data-mark-from"], group.attrib["data-mark-to"]
            edges.append(DrawnEdge(ends, names, points_on(line), circles, heads))
    return Picture(root, boxes, edges)


def random_graph(n: int, edges: int, seed: int, labels: list[str] | None = None) -> PAG:
    """Any marks at the ends of so many edges."""
    random = np.random.default_rng([n, edges, seed])
    marks = np.zeros((n, n), dtype=int)
    pairs = list(combinations(range(n), 2))
    for k in random.choice(len(pairs), size=min(edges, len(pairs)), replace=False):
        i, j = pairs[k]
        marks[i, j], marks[j, i] = random.integers(1, 4, size=2)
    return PAG.from_matrix(marks, labels or [WORDS[k] for k in random.permutation(len(WORDS))[:n]])


@cache
def sparse() -> list[tuple[PAG, Picture]]:
    """Graphs with 5 to 20 nodes and 1.3 edges for each."""
    graphs = [random_graph(n, round(1.3 * n), seed) for n in (5, 6, 7, 8, 9, 10, 12, 14, 17, 20) for seed in range(4)]
    return [(graph, read(to_svg(graph))) for graph in graphs]


@cache
def denser() -> list[tuple[PAG, Picture]]:
    sizes = [(4, 6), (5, 10), (6, 13), (8, 20), (10, 25), (10, 45), (12, 30), (15, 35), (20, 45)]
    return [(graph, read(to_svg(graph))) for graph in (random_graph(n, edges, 0) for n, edges in sizes)]


def pictures() -> list[tuple[PAG, Picture]]:
    return sparse() + denser()


def space_from_third_boxes(picture: Picture) -> float:
    return min(
        (box.distance(edge.line).min() for edge in picture.edges for label, box in picture.boxes.items() if label not in edge.ends),
        default=np.inf,
    )
