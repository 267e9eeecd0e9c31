"""Graphs as objects: marks, labels, text, equality, and what is refused."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience import errors
from consilience.errors import ConsilienceError
from consilience.graph import DAG, MAG, PAG, Edge, Mark, MixedGraph, is_mag
from tests.graph.helpers import LABELS, mixed_graphs, random_mags

SYMBOLS = [f"{left}-{right}" for left in "o<-" for right in "o>-"]


def test_the_mark_at_b_is_the_entry_in_row_a_and_column_b() -> None:
    pag = PAG.from_matrix([[0, 2, 0], [1, 0, 3], [0, 2, 0]], ["X", "Y", "Z"])
    assert (pag.mark("X", "Y"), pag.mark("Y", "X"), pag.mark("X", "Z")) == (Mark.ARROW, Mark.CIRCLE, Mark.NONE)
    assert str(pag) == "X o-> Y, Z --> Y"
    assert pag.mark("Z", "Y") is Mark.ARROW
    assert pag.mark("Y", "Z") is Mark.TAIL


def test_relatives() -> None:
    mag = MAG.parse("A --> B, B <-> C, B --> D, E")
    assert mag.neighbours("B") == ("A", "C", "D")
    assert (mag.parents("B"), mag.children("B"), mag.spouses("B")) == (("A",), ("D",), ("C",))
    assert mag.neighbours("E") == ()
    assert mag.adjacent("A", "B")
    assert not mag.adjacent("A", "C")


def test_edges_are_listed_once_and_point_to_the_right() -> None:
    pag = PAG.parse("B <-o A, C --> B, D <-> A, C o-- D")
    assert pag.edges == (
        Edge("A", "B", Mark.CIRCLE, Mark.ARROW),
        Edge("A", "D", Mark.ARROW, Mark.ARROW),
        Edge("C", "B", Mark.TAIL, Mark.ARROW),
        Edge("D", "C", Mark.TAIL, Mark.CIRCLE),
    )
    assert str(pag) == "A o-> B, A <-> D, C --> B, D --o C"


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_every_edge_can_be_written_and_read(symbol: str) -> None:
    graph = MixedGraph.parse(f"A {symbol} B")
    assert MixedGraph.parse(str(graph)) == graph
    assert eval(repr(graph), {"MixedGraph": MixedGraph}) == graph


def test_short_edges_and_line_ends_can_be_read() -> None:
    assert MixedGraph.parse("A -> B\nB -- C,\n\n D <- C") == MixedGraph.parse("A --> B, B --- C, C --> D")


@settings(deadline=None)
@given(st.lists(st.text(min_size=1, max_size=6), min_size=2, max_size=4, unique=True), st.sampled_from(SYMBOLS))
def test_any_label_survives_the_text(labels: list[str], symbol: str) -> None:
    plain = MixedGraph.parse(f"A {symbol} B", labels=LABELS[: len(labels)])
    graph = MixedGraph(plain.marks, labels)
    again = MixedGraph.parse(str(graph))
    assert again == graph
    assert again.labels == tuple(sorted(labels))


@pytest.mark.parametrize("label", ["o->", "-->", "->", "a b", "a,b", 'a"b', "a\nb", "\u2028", "\\", "é"])
def test_awkward_labels_survive_the_text(label: str) -> None:
    graph = PAG([[0, 2, 0], [1, 0, 0], [0, 0, 0]], ["A", label, "z" + label])
    assert PAG.parse(str(graph)) == graph


def test_equality_does_not_depend_on_the_order_of_the_labels() -> None:
    one, other = PAG.parse("A o-> B, C"), PAG.parse("A o-> B, C", labels=["C", "B", "A"])
    assert one == other
    assert hash(one) == hash(other)
    assert str(one) == str(other)
    assert one.to_matrix().tolist() != other.to_matrix().tolist()
    assert one != PAG.parse("A o-o B, C")
    assert one != PAG.parse("A o-> B, D")


def test_graphs_of_different_classes_differ() -> None:
    assert MAG.parse("A --> B") != DAG.parse("A --> B")
    assert len({MAG.parse("A --> B"), DAG.parse("A --> B"), MAG.parse("B <-- A")}) == 2


def test_a_graph_cannot_be_changed() -> None:
    pag = PAG.parse("A o-> B")
    with pytest.raises(ValueError, match="read-only"):
        pag.marks[0, 1] = 3
    pag.to_matrix()[0, 1] = 3
    working = pag.working()
    working.put(0, 1, Mark.TAIL)
    assert pag == PAG.parse("A o-> B")
    assert pag.with_mark("A", "B", Mark.TAIL) == PAG.parse("A o-- B") == PAG.from_working(working, "AB")


def test_the_matrix_that_was_given_may_change_later() -> None:
    matrix = np.array([[0, 2], [3, 0]], dtype=np.int8)
    graph = DAG(matrix, ["A", "B"])
    matrix[0, 1] = 1
    assert graph == DAG.parse("A --> B")


def test_pickle_and_length() -> None:
    mag = MAG.parse("A --> B, B <-> C", labels="CBA")
    again = pickle.loads(pickle.dumps(mag))
    assert again == mag
    assert again.labels == ("C", "B", "A")
    assert not again.marks.flags.writeable
    assert len(mag) == 3
    assert "A" in mag
    assert "Z" not in mag


def test_graphs_without_nodes_or_edges() -> None:
    assert PAG([], []) == PAG.parse("")
    assert str(PAG.parse("")) == ""
    assert PAG.from_matrix([[0]], ["A"]) == PAG.parse("A")


@settings(deadline=None)
@given(mixed_graphs(undirected=True))
def test_working_copies_and_matrices_are_the_same_graph(marks) -> None:
    graph = MixedGraph.from_working(marks, LABELS[: marks.n])
    assert graph.working().same_marks(marks)
    assert all(graph.marks[i, j] == marks.mark(i, j) for i in range(marks.n) for j in range(marks.n))
    copy = marks.copy()
    for i in range(marks.n):
        for j in range(marks.n):
            if i != j:
                copy.remove_edge(i, j)
    assert not copy.to_matrix().any()
    assert graph.working().same_marks(marks)


@settings(deadline=None)
@given(random_mags())
def test_projections_are_accepted_as_mags(marks) -> None:
    assert is_mag(MAG.from_working(marks, LABELS[: marks.n]))


BAD = [
    (lambda: PAG([[0, 2], [0, 0]], "AB"), errors.HalfEdgeError, "has one at B only"),
    (lambda: PAG([[0, 0], [2, 0]], "AB"), errors.HalfEdgeError, "has one at A only"),
    (lambda: PAG([[1, 0], [0, 0]], "AB"), errors.SelfLoopError, r"\(A, A\)"),
    (lambda: PAG([[0, 4], [1, 0]], "AB"), errors.MarkError, r"got 4 at \(A, B\)"),
    (lambda: PAG([[0, 0.5], [1, 0]], "AB"), errors.MarkError, "got 0.5"),
    (lambda: PAG([[0, float("nan")], [1, 0]], "AB"), errors.MarkError, "got nan"),
    (lambda: PAG([["", "o"], ["o", ""]], "AB"), errors.MarkError, "numbers 0 to 3"),
    (lambda: PAG([[0, 1]], "AB"), errors.MarkError, "shape"),
    (lambda: PAG([[0, 1], [0]], "AB"), errors.MarkError, "one length"),
    (lambda: PAG(np.zeros((2, 2)), "ABC"), errors.LabelError, "3 labels for a matrix of 2"),
    (lambda: PAG(np.zeros((2, 2)), "AA"), errors.LabelError, "'A' more than once"),
    (lambda: PAG(np.zeros((2, 2)), ["A", ""]), errors.LabelError, "non-empty"),
    (lambda: PAG(np.zeros((2, 2)), ["A", 1]), errors.LabelError, "got 1"),
    (lambda: PAG.parse("A o-> B").mark("A", "C"), errors.UnknownNodeError, "It has: A, B"),
    (lambda: PAG.parse("A o-> B").mark("A", ["C"]), errors.UnknownNodeError, "No node"),
    (lambda: PAG.parse("A o-> B").reordered("AC"), errors.LabelError, "'B' not in"),
    (lambda: PAG.parse("A, B").with_mark("A", "B", Mark.ARROW), errors.HalfEdgeError, "on an edge"),
    (lambda: PAG.parse("A o=> B"), errors.GraphTextError, "o=>"),
    (lambda: PAG.parse("A o-> B C"), errors.GraphTextError, "commas"),
    (lambda: PAG.parse("o->"), errors.GraphTextError, "o->"),
    (lambda: PAG.parse("A o-> B, B --> A"), errors.GraphTextError, "one edge at most"),
    (lambda: PAG.parse("A o-> A"), errors.GraphTextError, "itself"),
    (lambda: PAG.parse('A o-> "B'), errors.GraphTextError, "got"),
    (lambda: PAG.parse('A o-> "\\x"'), errors.GraphTextError, "JSON"),
    (lambda: DAG.parse("A --> B, B --> C, C --> A"), errors.DirectedCycleError, "closes one"),
    (lambda: DAG.parse("A <-> B"), errors.NotDirectedError, "A <-> B"),
    (lambda: MAG.parse("A o-> B"), errors.CircleMarkError, r"A o-> B.*pag_to_mag"),
    (lambda: MAG.parse("A --> B, B --> C, C --> A"), errors.NotAncestralError, "directed cycle"),
    (lambda: MAG.parse("A --> B, B --> C, A <-> C"), errors.NotAncestralError, "A <-> C joins"),
    (lambda: MAG.parse("A --> B, B --- C"), errors.NotAncestralError, "undirected"),
    (lambda: MAG.parse("A <-> B, B <-> C, C <-> D, B --> D, C --> A"), errors.NotMaximalError, "'A' and 'D'"),
]


@pytest.mark.parametrize(("make", "error", "message"), BAD)
def test_bad_input_is_refused_with_the_cause(make, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert isinstance(caught.value, ConsilienceError)
    assert re.search(message, str(caught.value))
    assert str(caught.value).endswith((".", "0"))


def test_a_notebook_shows_the_drawing() -> None:
    pag = PAG.parse("A o-> B, B <-> C")
    assert pag._repr_svg_() == pag.to_svg()
    assert pag.to_svg().startswith("<svg")
