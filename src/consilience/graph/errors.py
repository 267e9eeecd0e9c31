"""Graphs that cannot be used."""

from __future__ import annotations

from consilience.errors import GraphError

__all__ = [
    "CircleMarkError",
    "DifferentNodesError",
    "DirectedCycleError",
    "GraphTextError",
    "HalfEdgeError",
    "InvalidPAGError",
    "LabelError",
    "MarkError",
    "NotAncestralError",
    "NotDirectedError",
    "NotMaximalError",
    "SelfLoopError",
    "UndirectedEdgeError",
    "UnknownNodeError",
]


class LabelError(GraphError):
    """Labels that are not distinct, non-empty text, one for every node."""


class UnknownNodeError(GraphError):
    """A label that the graph does not have."""


class DifferentNodesError(GraphError):
    """Two graphs over different variables, where one set is needed."""


class MarkError(GraphError):
    """A matrix that does not hold marks."""


class HalfEdgeError(MarkError):
    """A mark at one end of an edge and none at the other."""


class SelfLoopError(MarkError):
    """An edge from a node to itself."""


class GraphTextError(GraphError):
    """Text that cannot be read as a graph, or a label that a text format cannot hold."""


class CircleMarkError(GraphError):
    """A circle, where only arrowheads and tails have a meaning."""


class NotDirectedError(GraphError):
    """A DAG with an edge other than ``a --> b``."""


class DirectedCycleError(GraphError):
    """A DAG with a directed cycle."""


class NotAncestralError(GraphError):
    """A MAG in which a mark contradicts an ancestral relation."""


class NotMaximalError(GraphError):
    """A MAG with two non-adjacent nodes that no set separates."""


class UndirectedEdgeError(GraphError):
    """An undirected edge (selection bias), where only latent variables are allowed for."""


class InvalidPAGError(GraphError):
    """A PAG that stands for no Markov equivalence class."""
