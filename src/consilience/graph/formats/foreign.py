"""Graphs in the encodings of other software, each with a reader and a writer between (labels, marks) and the foreign form.

===============  =======================================================================================
pcalg            its matrix of marks is this package's own store: ``from_matrix``, ``to_matrix``
Tetrad           text with ``Graph Nodes:`` and ``Graph Edges:``
networkx         an undirected ``Graph`` whose edges have ``marks={label: "circle" | "arrow" | "tail", …}``
causal-learn     its ``GeneralGraph``
Graphviz         in ``dot.py``
===============  =======================================================================================

networkx and causal-learn are imported when they are needed, not before.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from typing import Any

from consilience.errors import MissingPackageError
from consilience.graph.errors import GraphTextError, LabelError
from consilience.graph.marks import Mark, MarkMatrix
from consilience.graph.text import edge_symbol, marks_from_edges, ordered_pairs

__all__ = ["read_causallearn", "read_networkx", "read_tetrad", "write_causallearn", "write_networkx", "write_tetrad"]

_EDGE_PROPERTIES = {"dd", "pd", "nl", "pl"}
"""What Tetrad may write behind an edge: definitely or possibly direct, no or possibly a latent confounder."""


def _optional(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingPackageError(
            f"This needs the package {package}, which is not installed. Install it with: pip install {package}"
        ) from None


def write_tetrad(labels: Sequence[str], marks: MarkMatrix) -> str:
    r"""Tetrad's text of a graph.

    >>> print(write_tetrad(*read_tetrad("Graph Nodes:\nA;B;C\n\nGraph Edges:\n1. A o-> B")))
    Graph Nodes:
    A;B;C
    <BLANKLINE>
    Graph Edges:
    1. A o-> B
    <BLANKLINE>
    """
    for label in labels:
        if re.search(r"[\s;,]", label):
            raise GraphTextError(
                f"Tetrad's names have no blanks, commas or semicolons; got {label!r}. Rename it, for example with underscores."
            )
    rows = marks.tolist()
    pairs = enumerate(ordered_pairs(labels, marks), start=1)
    edges = [f"{number}. {labels[i]} {edge_symbol(rows[j][i], rows[i][j])} {labels[j]}" for number, (i, j) in pairs]
    return "\n".join(["Graph Nodes:", ";".join(labels), "", "Graph Edges:", *edges, ""])


def read_tetrad(text: str) -> tuple[list[str], MarkMatrix]:
    r"""Labels and marks from Tetrad's text; names may be separated by semicolons or, as in old versions, by commas.

    >>> read_tetrad("Graph Nodes:\nA,B\n\nGraph Edges:\n1. A --> B dd nl\n")
    (['A', 'B'], array([[0, 2],
           [3, 0]], dtype=int8))
    """
    sections = _tetrad_sections(text)
    if "nodes" not in sections or "edges" not in sections:
        raise GraphTextError("Tetrad's text has the lines 'Graph Nodes:' and 'Graph Edges:'; at least one of them is missing.")
    labels = [name.strip() for name in re.split(r"[;,]", ";".join(sections["nodes"])) if name.strip()]
    edges = []
    for line in sections["edges"]:
        match = re.fullmatch(r"(?:\d+\.\s+)?(\S+)\s+(\S+)\s+(\S+)((?:\s+\S+)*)", line)
        if not match or not set(match[4].split()) <= _EDGE_PROPERTIES:
            raise GraphTextError(f"An edge in Tetrad's text reads like '1. A o-> B'; got {line!r}.")
        edges.append((match[1], match[2], match[3]))
    if len(set(labels)) != len(labels):
        raise GraphTextError(f"Tetrad's nodes have different names; got {', '.join(labels)}.")
    return labels, marks_from_edges(labels, edges)


def _tetrad_sections(text: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for raw in text.splitlines():
        line = raw.strip()
        if heading := re.fullmatch(r"Graph (.+):", line):
            current = sections.setdefault(heading[1].lower(), [])
        elif line:
            current.append(line)
    return sections


def write_networkx(labels: Sequence[str], marks: MarkMatrix) -> Any:
    """A ``networkx.Graph``; A o-> B becomes an edge with the attribute ``marks={"A": "circle", "B": "arrow"}``."""
    graph = _optional("networkx", "networkx").Graph()
    graph.add_nodes_from(labels)
    rows = marks.tolist()
    for i, j in ordered_pairs(labels, marks):
        ends = {labels[i]: Mark(rows[j][i]).name.lower(), labels[j]: Mark(rows[i][j]).name.lower()}
        graph.add_edge(labels[i], labels[j], marks=ends)
    return graph


def read_networkx(graph: Any) -> tuple[list[str], MarkMatrix]:
    """Labels and marks from networkx: edges with ``marks``, or the edges a --> b of a directed graph."""
    _optional("networkx", "networkx")
    labels = list(graph.nodes)
    for label in labels:
        if not isinstance(label, str):
            raise LabelError(f"A label is text; got the node {label!r}. Rename the nodes: networkx.relabel_nodes(graph, str).")
    edges = []
    for a, b, data in graph.edges(data=True):
        names = data.get("marks", {a: "tail", b: "arrow"} if graph.is_directed() else {})
        try:
            symbol = edge_symbol(Mark[names[a].upper()], Mark[names[b].upper()])
        except (KeyError, AttributeError, TypeError):
            raise GraphTextError(
                f"An edge of an undirected networkx graph has marks={{{a!r}: ..., {b!r}: ...}}, each 'circle', 'arrow' or 'tail'; "
                f"got {data!r}."
            ) from None
        edges.append((a, symbol, b))
    return labels, marks_from_edges(labels, edges)


def write_causallearn(labels: Sequence[str], marks: MarkMatrix) -> Any:
    """A ``GeneralGraph`` of causal-learn."""
    package = "causal-learn"
    general = _optional("causallearn.graph.GeneralGraph", package).GeneralGraph
    edge = _optional("causallearn.graph.Edge", package).Edge
    endpoint = _optional("causallearn.graph.Endpoint", package).Endpoint
    nodes = [_optional("causallearn.graph.GraphNode", package).GraphNode(label) for label in labels]
    graph = general(nodes)
    rows = marks.tolist()
    for i, j in ordered_pairs(labels, marks):
        # ordered_pairs gives tail-circle edges tail first; causal-learn silently drops them the other way round.
        graph.add_edge(edge(nodes[i], nodes[j], endpoint[Mark(rows[j][i]).name], endpoint[Mark(rows[i][j]).name]))
    return graph


def read_causallearn(graph: Any) -> tuple[list[str], MarkMatrix]:
    """Labels and marks from causal-learn's ``GeneralGraph``, or from a result that has one as ``G``, as ``pc`` gives it."""
    general = getattr(graph, "G", graph)
    labels = [str(node.get_name()) for node in general.get_nodes()]
    edges = []
    for edge in general.get_graph_edges():
        names = (edge.get_endpoint1().name, edge.get_endpoint2().name)
        if not {*names} <= {"CIRCLE", "ARROW", "TAIL"}:
            raise GraphTextError(f"An end of an edge is a circle, an arrowhead or a tail; causal-learn's graph has {edge}.")
        symbol = edge_symbol(Mark[names[0]], Mark[names[1]])
        edges.append((str(edge.get_node1().get_name()), symbol, str(edge.get_node2().get_name())))
    return labels, marks_from_edges(labels, edges)
