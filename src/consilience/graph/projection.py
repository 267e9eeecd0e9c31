"""Latent variables: taking them out of a graph, and putting them back.

The MAG over the observed variables O of a graph with latent variables L has an edge between x and y iff there is an inducing path between
them relative to L, with a tail at x iff x is an ancestor of y, and an arrowhead otherwise (Richardson & Spirtes 2002, section 4).
"""

from __future__ import annotations

from collections.abc import Iterable

from consilience.graph.errors import LabelError, UndirectedEdgeError
from consilience.graph.graphs import DAG, MAG
from consilience.graph.marks import ARROW, TAIL, Mark
from consilience.graph.marksets import MarkSets, bits, mask_of
from consilience.graph.mixed import MixedGraph
from consilience.graph.separation import Separation

__all__ = ["canonical_dag", "latent_projection", "latent_projection_marks"]


def latent_projection(graph: MixedGraph, observed: str | Iterable[str]) -> MAG:
    """The MAG over some nodes of a graph whose other nodes are latent.

    Parameters
    ----------
    graph : DAG, MAG or another ancestral graph
    observed : str or iterable of str
        The nodes that are kept, in the order of the result's labels.

    Returns
    -------
    MAG

    Raises
    ------
    CircleMarkError
        If the graph has circles.
    LabelError
        If a node is named twice.
    UnknownNodeError
        If the graph has no such node.

    Examples
    --------
    >>> latent_projection(DAG.parse("L --> A, L --> B, B --> C"), ["A", "B", "C"])
    MAG.parse('A <-> B, B --> C')
    """
    labels = (observed,) if isinstance(observed, str) else tuple(observed)
    if len(set(labels)) != len(labels):
        raise LabelError(f"Every observed node is named once; got {list(labels)}.")
    graph._check_no_circles("Only graphs without circles can be projected.")
    marks = latent_projection_marks(graph.working(), [graph.index(label) for label in labels])
    return MAG(marks.to_matrix(), labels)


def latent_projection_marks(marks: MarkSets, observed: list[int]) -> MarkSets:
    """The marks of the MAG over ``observed``, whose nodes get the numbers 0, 1, … in this order."""
    separation = Separation(marks)
    latent = ((1 << marks.n) - 1) & ~mask_of(observed)
    anterior = _anterior(marks, separation)
    mag = MarkSets.empty(len(observed))
    for i, x in enumerate(observed):
        for j, y in enumerate(observed[:i]):
            if separation.inducing(x, y, latent):
                mag.add_edge(i, j, TAIL if anterior[y] >> x & 1 else ARROW, TAIL if anterior[x] >> y & 1 else ARROW)
    return mag


def _anterior(marks: MarkSets, separation: Separation) -> list[int]:
    """For each node those with a path to it of undirected, then directed edges: its ancestors, if there is no selection."""
    if not marks.has_undirected():  # the usual case, and the ancestors are there already
        return separation.ancestors
    anterior = []
    for ancestors in separation.ancestors:
        found = new = ancestors
        while new:
            new = _union(marks.undirected(v) for v in bits(new)) & ~found
            found |= new
        anterior.append(found)
    return anterior


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def canonical_dag(mag: MAG) -> DAG:
    """The DAG with a latent common cause in the place of every a <-> b.

    Parameters
    ----------
    mag : MAG
        Without undirected edges.

    Returns
    -------
    DAG
        Its projection on the nodes of ``mag`` is ``mag``; the latent nodes ``L(a,b)`` come after these.

    Raises
    ------
    UndirectedEdgeError
        If there is an edge a --- b, which takes a selection variable.

    Examples
    --------
    >>> canonical_dag(MAG.parse("A <-> B, B --> C")).labels
    ('A', 'B', 'C', 'L(A,B)')
    """
    labels = list(mag.labels)
    edges = mag.edges
    for edge in edges:
        if (edge.at_a, edge.at_b) == (Mark.TAIL, Mark.TAIL):
            raise UndirectedEdgeError(
                f"Latent variables alone explain no undirected edge, it takes a selection variable; got {edge}. "
                f"A Markov equivalent MAG without undirected edges, if there is one, has a canonical DAG."
            )
    latent = [_new_label(f"L({edge.a},{edge.b})", mag) for edge in edges if edge.at_a == Mark.ARROW]
    causes = iter(range(len(labels), len(labels) + len(latent)))
    dag = MarkSets.empty(len(labels) + len(latent))
    for edge in edges:
        a, b = mag.index(edge.a), mag.index(edge.b)
        if edge.at_a == Mark.ARROW:
            cause = next(causes)
            dag.add_edge(cause, a, TAIL, ARROW)
            dag.add_edge(cause, b, TAIL, ARROW)
        else:
            dag.add_edge(a, b, TAIL, ARROW)
    return DAG._trusted(dag, (*labels, *latent))


def _new_label(wanted: str, graph: MixedGraph) -> str:
    label = wanted
    while label in graph:
        label += "'"
    return label
