"""Graphs as causal-learn's ``GeneralGraph``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from consilience.graph.errors import GraphTextError
from consilience.graph.formats.optional import import_optional
from consilience.graph.marks import Mark, MarkMatrix
from consilience.graph.text import edge_symbol, marks_from_edges, ordered_pairs
from consilience.graph.views import register_encoding

__all__ = ["read_causallearn", "write_causallearn"]


def write_causallearn(labels: Sequence[str], marks: MarkMatrix) -> Any:
    """A ``GeneralGraph`` of causal-learn."""
    package = "causal-learn"
    general = import_optional("causallearn.graph.GeneralGraph", package).GeneralGraph
    edge = import_optional("causallearn.graph.Edge", package).Edge
    endpoint = import_optional("causallearn.graph.Endpoint", package).Endpoint
    nodes = [import_optional("causallearn.graph.GraphNode", package).GraphNode(label) for label in labels]
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


register_encoding("causallearn", write_causallearn, read_causallearn)
