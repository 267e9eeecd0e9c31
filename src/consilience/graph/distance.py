"""Structural Hamming distance between two graphs."""

from __future__ import annotations

import numpy as np

from consilience.graph.errors import DifferentNodesError
from consilience.graph.mixed import MixedGraph

__all__ = ["normalised_shd", "shd"]


def shd(first: MixedGraph, second: MixedGraph) -> int:
    """The structural Hamming distance: how many marks differ, "no edge" being a mark as well.

    Both ends of every pair are counted, so an edge that one graph lacks counts twice. (Tsamardinos et al. 2006 count edges of DAGs, once;
    a PAG may differ in one end of an edge only.)

    Parameters
    ----------
    first, second : MixedGraph
        Two graphs over the same nodes, in any order and of any class.

    Returns
    -------
    int
        Between 0 and n(n-1) for n nodes.

    Raises
    ------
    DifferentNodesError
        If one has a node that the other lacks.

    Examples
    --------
    >>> a, b = (MixedGraph.parse(text) for text in ("A o-> B, C", "A --> B, B o-o C"))
    >>> shd(a, b)
    3
    """
    if set(first.labels) != set(second.labels):
        odd = sorted(set(first.labels) ^ set(second.labels))
        raise DifferentNodesError(
            f"A distance needs graphs over the same nodes; {', '.join(map(repr, odd))} in one of them only. "
            f"graph.reordered(labels) adds nodes without edges."
        )
    places = [second.index(label) for label in first.labels]
    return int(np.count_nonzero(first.marks != second.marks[np.ix_(places, places)]))


def normalised_shd(first: MixedGraph, second: MixedGraph) -> float:
    """The share of marks that differ: 0 for equal graphs, 1 if every mark differs.

    Parameters
    ----------
    first, second : MixedGraph
        Two graphs over the same nodes, in any order and of any class.

    Returns
    -------
    float
        :func:`shd` over n(n-1); 0 for graphs of one node or none.

    Raises
    ------
    DifferentNodesError
        If one has a node that the other lacks.

    Examples
    --------
    >>> a, b = (MixedGraph.parse(text) for text in ("A o-> B", "A --> B"))
    >>> normalised_shd(a, b)
    0.5
    """
    n = len(first)
    distance = shd(first, second)
    return distance / (n * (n - 1)) if n > 1 else 0.0
