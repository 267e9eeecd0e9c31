"""Graphs as networkx' undirected ``Graph``, whose edges have ``marks={label: "circle" | "arrow" | "tail", …}``.

The module is not called ``networkx``, lest it be taken for the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from consilience.graph.errors import GraphTextError, LabelError
from consilience.graph.formats.optional import import_optional
from consilience.graph.marks import Mark, MarkMatrix
from consilience.graph.text import edge_symbol, marks_from_edges, ordered_pairs
from consilience.graph.views import register_encoding

__all__ = ["read_networkx", "write_networkx"]


def write_networkx(labels: Sequence[str], marks: MarkMatrix) -> Any:
    """A ``networkx.Graph``; A o-> B becomes an edge with the attribute ``marks={"A": "circle", "B": "arrow"}``."""
    graph = import_optional("networkx", "networkx").Graph()
    graph.add_nodes_from(labels)
    rows = marks.tolist()
    for i, j in ordered_pairs(labels, marks):
        ends = {labels[i]: Mark(rows[j][i]).name.lower(), labels[j]: Mark(rows[i][j]).name.lower()}
        graph.add_edge(labels[i], labels[j], marks=ends)
    return graph


def read_networkx(graph: Any) -> tuple[list[str], MarkMatrix]:
    """Labels and marks from networkx: edges with ``marks``, or the edges a --> b of a directed graph."""
    import_optional("networkx", "networkx")
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


register_encoding("networkx", write_networkx, read_networkx)
