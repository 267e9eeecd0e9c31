"""Other encodings: what is written can be read again, by this package and by the others."""

from __future__ import annotations

import importlib
import sys
import warnings
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.errors import MissingPackageError
from consilience.graph import DAG, PAG, MixedGraph
from consilience.graph.errors import GraphTextError, HalfEdgeError, LabelError
from tests.graph.helpers import LABELS


def any_pag(seed: int, n: int = 6) -> PAG:
    """Any marks at all: encodings do not ask whether a graph is a valid PAG."""
    random = Random(seed)
    pairs = [pair for pair in combinations(LABELS[:n], 2) if random.random() < 0.5]
    text = [f"{a} {random.choice('o<-')}-{random.choice('o>-')} {b}" for a, b in pairs]
    return PAG.parse(", ".join([*text, *LABELS[:n]]), labels=random.sample(LABELS[:n], n))


def optional(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


graphs = st.integers(0, 10**6).map(any_pag)


@settings(deadline=None)
@given(graphs)
def test_pcalg_matrix_round_trip(pag) -> None:
    assert PAG.from_matrix(pag.to_matrix(), pag.labels) == pag


@settings(deadline=None)
@given(graphs)
def test_dot_round_trip(pag) -> None:
    again = PAG.from_dot(pag.to_dot())
    assert again == pag
    assert again.labels == pag.labels


@settings(deadline=None)
@given(graphs)
def test_tetrad_round_trip(pag) -> None:
    again = PAG.from_tetrad(pag.to_tetrad())
    assert again == pag
    assert again.labels == pag.labels


def test_networkx_round_trip() -> None:
    optional("networkx")
    for seed in range(50):
        pag = any_pag(seed)
        again = PAG.from_networkx(pag.to_networkx())
        assert again == pag
        assert again.labels == pag.labels


def test_causallearn_round_trip() -> None:
    optional("causallearn.graph.GeneralGraph")
    for seed in range(50):
        pag = any_pag(seed)
        again = PAG.from_causallearn(pag.to_causallearn())
        assert again == pag
        assert again.labels == pag.labels


def test_dot_text() -> None:
    assert PAG.parse("A o-> B, B <-> C, C --- D").to_dot() == (
        'digraph {\n  "A";\n  "B";\n  "C";\n  "D";\n'
        '  "A" -> "B" [dir=both, arrowtail=odot, arrowhead=normal];\n'
        '  "B" -> "C" [dir=both, arrowtail=normal, arrowhead=normal];\n'
        '  "C" -> "D" [dir=both, arrowtail=none, arrowhead=none];\n}\n'
    )


@settings(deadline=None)
@given(st.lists(st.text(min_size=1, max_size=8), min_size=2, max_size=3, unique=True))
def test_dot_quotes_any_label(labels: list[str]) -> None:
    graph = MixedGraph.parse("A o-> B", labels=LABELS[: len(labels)])
    named = MixedGraph(graph.marks, labels)
    assert MixedGraph.from_dot(named.to_dot()) == named


@pytest.mark.parametrize("label", ['a"b', "a\\", "\\N", "a;b", "a -> b", "]", "node", "digraph", "//x", "a:b", "<b>x</b>", "é\n"])
def test_dot_quotes_awkward_labels(label: str) -> None:
    graph = MixedGraph([[0, 2], [1, 0]], ["A", label])
    assert MixedGraph.from_dot(graph.to_dot()) == graph


def test_dot_of_other_programs() -> None:
    text = """
    /* a comment */ strict digraph "g" {
      graph [rankdir=LR]; node [shape=box] // another
      rankdir = TB
# and another
      edge [dir=both, arrowtail=none];
      a -> b -> c [arrowhead=odot, color="red"]
      d [label="D"]; "e 1" -> a [dir=back, arrowtail=normal]; 7
    }
    """
    assert MixedGraph.from_dot(text) == MixedGraph.parse('a --o b, b --o c, d, a --> "e 1", 7')
    assert DAG.from_dot("digraph { a -> b }") == DAG.parse("a --> b")
    assert MixedGraph.from_dot("graph { a -- b; c }") == MixedGraph.parse("a --- b, c")


def test_dot_is_what_another_reader_takes_it_for() -> None:
    pydot = optional("pydot")
    graph = MixedGraph.parse('A o-> "B \\"b\\"", "a, b" <-> A')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (read,) = pydot.graph_from_dot_data(graph.to_dot())
    ends = {(e.get_source(), e.get_destination(), e.get("arrowtail"), e.get("arrowhead"), e.get("dir")) for e in read.get_edges()}
    assert ends == {('"A"', '"B \\"b\\""', "odot", "normal", "both"), ('"A"', '"a, b"', "normal", "normal", "both")}


def test_tetrad_text() -> None:
    text = "Graph Nodes:\nA;B;C;D\n\nGraph Edges:\n1. A o-> B\n2. B <-> C\n3. C --- D\n"
    assert PAG.parse("A o-> B, B <-> C, C --- D").to_tetrad() == text


def test_tetrad_text_with_properties_and_attributes() -> None:
    text = "Some heading\n\nGraph Nodes:\nX1;X2;X3\n\nGraph Edges:\n1. X1 --> X2 dd nl\n2. X2 o-o X3\n\nGraph Attributes:\nBIC: -12.5\n"
    assert PAG.from_tetrad(text) == PAG.parse("X1 --> X2, X2 o-o X3")


def test_networkx_attributes_and_directed_graphs() -> None:
    networkx = optional("networkx")
    graph = PAG.parse("A o-> B, C").to_networkx()
    assert graph.edges["A", "B"]["marks"] == {"A": "circle", "B": "arrow"}
    assert sorted(graph.nodes) == ["A", "B", "C"]
    assert DAG.from_networkx(networkx.DiGraph([("A", "B"), ("C", "B")])) == DAG.parse("A --> B, C --> B")
    with pytest.raises(GraphTextError, match="marks="):
        PAG.from_networkx(networkx.Graph([("A", "B")]))
    with pytest.raises(LabelError, match="relabel_nodes"):
        DAG.from_networkx(networkx.DiGraph([(1, 2)]))


def test_causallearn_reads_the_same_edges() -> None:
    optional("causallearn.graph.GeneralGraph")
    graph = PAG.parse("A o-> B, B <-> C, D --> C, D o-o A, E --o A").to_causallearn()
    assert {str(edge) for edge in graph.get_graph_edges()} == {"A o-> B", "B <-> C", "D --> C", "A o-o D", "A o-- E"}


BAD = [
    (lambda: PAG.from_dot("tree { a }"), "begins with"),
    (lambda: PAG.from_dot("digraph { a -> b"), "closing brace"),
    (lambda: PAG.from_dot("digraph { a -> b [arrowhead=diamond] }"), "diamond"),
    (lambda: PAG.from_dot("digraph { a -- b }"), "Expected '->'"),
    (lambda: PAG.from_dot("digraph { subgraph { a } }"), "Subgraphs"),
    (lambda: PAG.from_dot("digraph { a -> { b } }"), "Subgraphs"),
    (lambda: PAG.from_dot("digraph { a % b }"), "% b"),
    (lambda: PAG.from_dot("digraph { a -> b -> a [dir=both, arrowtail=odot]}"), "one edge"),
    (lambda: PAG.from_tetrad("A --> B"), "Graph Nodes"),
    (lambda: PAG.from_tetrad("Graph Nodes:\nA;B\nGraph Edges:\n1. A => B"), "=>"),
    (lambda: PAG.from_tetrad("Graph Nodes:\nA;B\nGraph Edges:\n1. A --> C"), "'C'"),
    (lambda: PAG.from_tetrad("Graph Nodes:\nA;B\nGraph Edges:\nA -->"), "reads like"),
    (lambda: PAG.from_tetrad("Graph Nodes:\nA;B\nGraph Edges:\n1. A --> B xx"), "reads like"),
    (lambda: PAG.from_tetrad("Graph Nodes:\nA;A\nGraph Edges:\n"), "different names"),
    (lambda: PAG.parse('"a b" o-> C').to_tetrad(), "underscores"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_text_is_refused_with_the_cause(make, message: str) -> None:
    with pytest.raises(GraphTextError, match=message):
        make()


def test_a_missing_package_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingPackageError, match="pip install networkx"):
        PAG.parse("A o-> B").to_networkx()
    monkeypatch.setitem(sys.modules, "causallearn.graph.GeneralGraph", None)
    with pytest.raises(MissingPackageError, match="pip install causal-learn"):
        PAG.parse("A o-> B").to_causallearn()


def test_half_an_edge_in_pcalgs_matrix_is_refused() -> None:
    with pytest.raises(HalfEdgeError, match="set both"):
        PAG.from_matrix([[0, 1], [0, 0]], ["A", "B"])
