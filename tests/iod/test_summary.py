"""What all, some or none of the PAGs have: counted, put together from statuses, and drawn."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations, permutations
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

from consilience import errors
from consilience.graph import PAG, Mark
from consilience.graph.drawing.lettering import FONT, text_width
from consilience.graph.drawing.svg import positions_of
from consilience.iod.summary import MARKS, Summary

SVG = "{http://www.w3.org/2000/svg}"
NAMED = {"arrow": Mark.ARROW, "tail": Mark.TAIL, "circle": Mark.CIRCLE}
THREE = [PAG.parse("A --> C, B o-> C, D"), PAG.parse("A --> C, B <-> C, B o-o D"), PAG.parse("A --> C, B o-> C, B o-o D")]
"""One edge in all; one in all whose mark at B differs; one in two of three."""


def random_pags(n: int, count: int, seed: int) -> list[PAG]:
    """Lists that share some edges and marks: every PAG changes a few entries of the first."""
    random = np.random.default_rng([n, count, seed])
    labels = [f"v{i}" for i in random.permutation(n)]
    first = np.zeros((n, n), dtype=int)
    for i, j in combinations(range(n), 2):
        if random.random() < 0.6:
            first[i, j], first[j, i] = random.integers(1, 4, size=2)
    pags = []
    for _ in range(count):
        marks = first.copy()
        for i, j in combinations(range(n), 2):
            if random.random() < 0.15:
                marks[i, j], marks[j, i] = random.integers(1, 4, size=2) if random.random() < 0.5 else (0, 0)
        order = random.permutation(n)
        pags.append(PAG.from_matrix(marks[np.ix_(order, order)], [labels[k] for k in order]))
    return pags


def status(share: Fraction) -> str:
    return "none" if share == 0 else "all" if share == 1 else "some"


# Counting


@pytest.mark.parametrize(("n", "count", "seed"), [(2, 3, 0), (4, 1, 0), (4, 7, 1), (5, 10, 2), (6, 25, 3)])
def test_counts_are_those_of_the_list(n: int, count: int, seed: int) -> None:
    pags = random_pags(n, count, seed)
    summary = Summary.of(pags, pags[0].labels)
    assert (summary.count, summary.complete, summary.frame.height) == (count, True, n * (n - 1) // 2)
    for row in summary.frame.iter_rows(named=True):
        x, y = row["x"], row["y"]
        assert x < y
        share = Fraction(sum(pag.adjacent(x, y) for pag in pags), count)
        assert (row["edge"], row["edge_share"]) == (status(share), float(share))
        for end, (a, b) in (("x", (y, x)), ("y", (x, y))):
            for name, mark in NAMED.items():
                share = Fraction(sum(pag.mark(a, b) == mark for pag in pags), count)
                assert (row[f"{name}_at_{end}"], row[f"share_{name}_at_{end}"]) == (status(share), float(share))
            assert sum(row[f"share_{name}_at_{end}"] for name in NAMED) == pytest.approx(row["edge_share"])


def test_columns() -> None:
    frame = Summary.of(THREE, "DCBA").frame
    ends = [f"{mark}_at_{end}" for end in "xy" for mark in ("arrow", "tail", "circle")]
    of_mags = ["mark_at_x", "mark_at_y", "x_causes_y", "y_causes_x"]
    assert frame.columns == ["x", "y", "edge", "edge_share", *ends, *(f"share_{name}" for name in ends), *of_mags]
    assert frame.select("x", "y").rows() == list(combinations("ABCD", 2))


def test_no_pag_at_all() -> None:
    summary = Summary.of([], "ABC")
    assert (summary.count, summary.complete) == (0, True)
    assert set(summary.frame["edge"]) == set(summary.frame["arrow_at_x"]) == {"none"}
    assert summary.frame["edge_share"].null_count() == 3
    assert str(summary) == "no PAG agrees with all decisions"
    root = ET.fromstring(summary.to_svg())
    assert root.findall(f"{SVG}g[@class='edge']") == []
    assert words_of(root) == ["No graph agrees with all decisions."]


def test_no_edge_at_all() -> None:
    summary = Summary.of([PAG.parse("A, B")], "AB")
    assert str(summary) == "no edge in any PAG"
    assert words_of(ET.fromstring(summary.to_svg())) == ["No edge in any graph."]


def test_no_pair_at_all() -> None:
    assert Summary.of([PAG.parse("A")], "A").frame.height == 0
    assert Summary.of([], []).to_svg().startswith("<svg")


def test_pags_over_other_variables_are_refused() -> None:
    with pytest.raises(errors.LabelError):
        Summary.of([PAG.parse("A --> Z")], "AB")


@pytest.mark.parametrize("seed", range(4))
def test_a_list_that_was_cut_claims_nothing_that_the_whole_denies(seed: int) -> None:
    pags = random_pags(5, 12, seed)
    whole, part = Summary.of(pags, pags[0].labels), Summary.of(pags[:4], pags[0].labels, complete=False)
    assert part.count is None
    assert not part.complete
    for name in whole.frame.columns:
        if name.startswith(("edge_share", "share")):
            assert part.frame[name].null_count() == part.frame.height
        elif name not in "xy":
            pairs = set(zip(part.frame[name], whole.frame[name], strict=True))
            assert {known for said, known in pairs if said != "unknown"} <= {"either" if name.startswith("mark") else "some"}


# From statuses


def statuses_of(pags: list[PAG]) -> tuple[dict[tuple[str, str], str], dict[tuple[str, str, str], str]]:
    labels = sorted(pags[0].labels)
    edge = {(x, y): status(Fraction(sum(p.adjacent(x, y) for p in pags), len(pags))) for x, y in combinations(labels, 2)}
    marks = {
        (x, y, name): status(Fraction(sum(p.mark(x, y) == mark for p in pags), len(pags)))
        for x, y in permutations(labels, 2)
        for name, mark in NAMED.items()
    }
    return edge, marks


@pytest.mark.parametrize("seed", range(5))
def test_statuses_say_the_same_as_counts_but_for_shares(seed: int) -> None:
    pags = random_pags(5, 8, seed)
    edge, marks = statuses_of(pags)
    counted = Summary.of(pags, pags[0].labels)
    ancestors = {(cause, effect): status for cause, effect, status in counted.ancestors.iter_rows()}
    told = Summary.from_statuses(pags[0].labels, edge, marks, ancestors=ancestors)
    statuses = [name for name, dtype in counted.frame.schema.items() if dtype == pl.String]
    assert told.frame.select(statuses).equals(counted.frame.select(statuses))
    assert told.frame.schema == counted.frame.schema
    assert (told.complete, told.count) == (True, None)
    assert told.union() == counted.union()
    shares = re.compile(r" in \d+%| in [<>]\d+%")
    plain = [shares.sub(" in some", line.split(" (")[0]) for line in counted.lines()]
    assert told.lines() == plain


def test_edges_may_be_named_in_either_order() -> None:
    marks = {("A", "B", "arrow"): "some", ("B", "A", "tail"): "some"}
    one, two = (Summary.from_statuses("AB", {pair: "some"}, marks) for pair in (("A", "B"), ("B", "A")))
    assert one.frame.equals(two.frame)


def test_what_follows_is_added() -> None:
    edge = {("A", "B"): "all", ("A", "C"): "none", ("B", "C"): "some"}
    marks = {("A", "B", "arrow"): "all", ("B", "A", "arrow"): "none", ("B", "A", "circle"): "none"}
    marks |= {("B", "C", "tail"): "none", ("B", "C", "circle"): "none", ("C", "B", "arrow"): "some", ("C", "B", "tail"): "some"}
    summary = Summary.from_statuses("ABC", edge, marks)
    rows = {(row["x"], row["y"]): row for row in summary.frame.iter_rows(named=True)}
    assert [rows["A", "B"][f"{mark}_at_y"] for mark in MARKS] == ["all", "none", "none"]
    assert [rows["A", "B"][f"{mark}_at_x"] for mark in MARKS] == ["none", "all", "none"]
    assert {rows["A", "C"][f"{mark}_at_{end}"] for mark in MARKS for end in "xy"} == {"none"}
    assert rows["B", "C"]["arrow_at_y"] == "some"
    assert rows["B", "C"]["circle_at_x"] == "unknown"
    assert not summary.complete
    assert summary.lines() == ["A --> B in all", "B ?-> C in some"]


def test_what_is_left_out_is_unknown() -> None:
    summary = Summary.from_statuses("AB", {}, {})
    assert (summary.frame["edge"][0], summary.complete, summary.lines()) == ("unknown", False, ["A ?-? B perhaps"])


@pytest.mark.parametrize(
    ("edge", "marks"),
    [
        ({("A", "B"): "none"}, {("A", "B", "arrow"): "some"}),
        ({("A", "B"): "some"}, {("A", "B", "arrow"): "all"}),
        ({("A", "B"): "all"}, {("A", "B", "arrow"): "all", ("A", "B", "tail"): "some"}),
        ({("A", "B"): "all"}, {("A", "B", mark): "none" for mark in MARKS}),
        ({("A", "B"): "all"}, {("A", "B", "arrow"): "some", ("A", "B", "tail"): "none", ("A", "B", "circle"): "none"}),
        ({("A", "B"): "most"}, {}),
        ({}, {("A", "B", "arrowhead"): "all"}),
    ],
)
def test_statuses_that_cannot_be_are_refused(edge: dict[tuple[str, str], str], marks: dict[tuple[str, str, str], str]) -> None:
    with pytest.raises(errors.OptionError):
        Summary.from_statuses("AB", edge, marks)


@pytest.mark.parametrize("key", [("A", "Z"), ("A", "A")])
def test_statuses_of_other_pairs_are_refused(key: tuple[str, str]) -> None:
    with pytest.raises(errors.UnknownNodeError, match="A, B"):
        Summary.from_statuses("AB", {key: "all"}, {})


# In words


def test_words() -> None:
    summary = Summary.of(THREE, "ABCD")
    assert str(summary) == "A --> C in all, B ?-> C in all (at B: arrow in 33%, circle in 67%), B o-o D in 67%"
    assert repr(summary).startswith("Summary(of 3 PAGs: A --> C in all")


def test_a_single_arrowhead_points_to_the_right() -> None:
    assert Summary.of([PAG.parse("B --> A, C --o D")], "ABCD").lines() == ["B --> A in all", "C --o D in all"]


# As a picture


def words_of(root: ET.Element) -> list[str]:
    legend = root.find(f"{SVG}g[@class='legend']")
    assert legend is not None
    return [text.text or "" for text in legend.findall(f"{SVG}text")]


def edges_of(root: ET.Element) -> dict[tuple[str, str], ET.Element]:
    return {(edge.attrib["data-from"], edge.attrib["data-to"]): edge for edge in root.findall(f"{SVG}g[@class='edge']")}


def dashed(edge: ET.Element) -> bool:
    line = edge.find(f"{SVG}path[@class='line']")
    assert line is not None
    return "stroke-dasharray" in line.attrib


def test_a_picture_of_three() -> None:
    root = ET.fromstring(Summary.of(THREE, "ABCD").to_svg())
    edges = edges_of(root)
    assert {pair: dashed(edge) for pair, edge in edges.items()} == {("A", "C"): False, ("B", "C"): False, ("B", "D"): True}
    marks = {pair: (edge.attrib["data-mark-from"], edge.attrib["data-mark-to"]) for pair, edge in edges.items()}
    assert marks == {("A", "C"): ("tail", "arrow"), ("B", "C"): ("open", "arrow"), ("B", "D"): ("circle", "circle")}
    assert [text.text for text in root.findall(f"{SVG}text")] == ["67%"]
    legend = ["in all 3 graphs", "in some, with their share", "a mark on which they agree", "they differ on the mark"]
    assert words_of(root) == legend


@pytest.mark.parametrize("seed", range(6))
def test_pictures_show_what_the_frame_says(seed: int) -> None:
    pags = random_pags(6, 9, seed)
    summary = Summary.of(pags, pags[0].labels)
    root = ET.fromstring(summary.to_svg())
    edges = edges_of(root)
    rows = {frozenset((row["x"], row["y"])): row for row in summary.frame.iter_rows(named=True)}
    assert {frozenset(pair) for pair in edges} == {pair for pair, row in rows.items() if row["edge"] != "none"}
    notes = []
    for (a, b), edge in edges.items():
        row = rows[frozenset((a, b))]
        assert dashed(edge) == (row["edge"] == "some")
        notes += [f"{row['edge_share']:.0%}"] if row["edge"] == "some" else []
        having = [pag for pag in pags if pag.adjacent(a, b)]
        for one, other, key in ((b, a, "data-mark-from"), (a, b, "data-mark-to")):
            there = {pag.mark(one, other) for pag in having}
            expected = next(name for name, mark in NAMED.items() if mark in there) if len(there) == 1 else "open"
            assert edge.attrib[key] == expected
        ends = [edge.attrib[key] for key in ("data-mark-from", "data-mark-to")]
        assert len(edge.findall(f"{SVG}path[@class='mark open']")) == ends.count("open")
        assert len(edge.findall(f"{SVG}path[@class='mark arrow']")) == ends.count("arrow")
        assert len(edge.findall(f"{SVG}circle[@class='mark circle']")) == ends.count("circle")
    assert sorted(text.text or "" for text in root.findall(f"{SVG}text")) == sorted(notes)


@pytest.mark.parametrize("seed", range(8))
def test_shares_stand_clear_of_nodes_and_of_each_other(seed: int) -> None:
    pags = random_pags(6, 9, seed)
    root = ET.fromstring(Summary.of(pags, pags[0].labels).to_svg())
    notes = []
    for text in root.findall(f"{SVG}text"):
        size = float(text.attrib["font-size"])
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        half = 0.5 * text_width(text.text or "") * size / FONT
        notes.append((x - half, y - 0.75 * size, x + half, y))
    boxes = []
    for rect in root.iter(f"{SVG}rect"):
        x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        boxes.append((x, y, x + width, y + height))
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    for k, note in enumerate(notes):
        assert left < note[0]
        assert top < note[1]
        assert note[2] < left + width
        assert note[3] < top + height
        for other in (*boxes, *notes[:k]):
            assert note[2] <= other[0] or other[2] <= note[0] or note[3] <= other[1] or other[3] <= note[1]


def test_one_graph_and_unknown_edges_are_explained() -> None:
    assert words_of(ET.fromstring(Summary.of(THREE[:1], "ABCD").to_svg()))[0] == "in the one graph"
    unknown = ET.fromstring(Summary.from_statuses("AB", {}, {}).to_svg())
    differ = "an arrowhead in some, a tail in others, or it is not known"
    assert words_of(unknown) == ["in every graph", "not known: all, some or none", differ]
    assert dashed(edges_of(unknown)["A", "B"])


def test_summary_and_graphs_are_drawn_alike() -> None:
    summary = Summary.of(THREE, "ABCD")
    positions = positions_of(summary.union(), *THREE)

    def centres(svg: str) -> dict[str, tuple[float, float]]:
        found = {}
        for node in ET.fromstring(svg).findall(f"{SVG}g[@class='node']"):
            rect = node.find(f"{SVG}rect")
            assert rect is not None
            x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
            found[node.attrib["data-label"]] = (round(x + width / 2, 1), round(y + height / 2, 1))
        return found

    drawn = [centres(summary.to_svg(positions=positions)), *(centres(pag.to_svg(positions=positions)) for pag in THREE)]
    assert all(one == drawn[0] for one in drawn)


def test_hostile_labels_stay_text() -> None:
    labels = ["<script>alert(1)</script>", "\"&'", "</svg>"]
    marks = [[0, 2, 0], [1, 0, 3], [0, 2, 0]]
    pags = [PAG.from_matrix(marks, labels), PAG.from_matrix(np.zeros((3, 3)), labels)]
    svg = Summary.of(pags, labels).to_svg(title=labels[0])
    root = ET.fromstring(svg)
    assert {node.attrib["data-label"] for node in root.findall(f"{SVG}g[@class='node']")} == set(labels)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        *("svg", "title", "desc", "style", "g", "rect", "text", "tspan", "path", "circle")
    }
    assert svg.count("http") == 1


def test_every_colour_has_one_for_dark_pages() -> None:
    svg = Summary.of(THREE, "ABCD").to_svg()
    style = svg.split("<style>")[1].split("</style>")[0]
    assert "prefers-color-scheme:dark" in style
    for rule in (".edge .open{stroke", ".words{fill", ".edge{stroke", ".node text{fill"):
        assert f".consilience-graph {rule}" in style


def test_notebooks_draw_it() -> None:
    summary = Summary.of(THREE, "ABCD")
    assert summary._repr_svg_() == summary.to_svg()
    assert float(ET.fromstring(summary.to_svg(width=500)).attrib["width"]) == 500.0
