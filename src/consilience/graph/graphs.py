"""The three classes of graphs: DAG, MAG and PAG.

* A **DAG** has edges a --> b only and no directed cycle.
* A **MAG** (maximal ancestral graph) describes the observed variables of a DAG some of whose variables are latent: an arrowhead
  at a says that a is no ancestor of the other end, a tail that it is. a --- b says that both are ancestors of a selection variable.
* A **PAG** (partial ancestral graph) describes all MAGs that have the same m-separations: arrowheads and tails that all of them share,
  and circles where they differ.

A DAG and a MAG are checked when they are made. A PAG is not, beyond the form of its matrix, because algorithms work on graphs that
may turn out to be none; ask :func:`consilience.graph.is_valid_pag`.
"""

from __future__ import annotations

from consilience.graph.ancestral import ancestral_fault, directed_cycle, inseparable_pair
from consilience.graph.errors import DirectedCycleError, NotAncestralError, NotDirectedError, NotMaximalError
from consilience.graph.marks import Mark
from consilience.graph.mixed import Edge, MixedGraph
from consilience.graph.separation import separation_of

__all__ = ["DAG", "MAG", "PAG"]


class PAG(MixedGraph):
    """A partial ancestral graph: a Markov equivalence class of MAGs.

    Its marks are not checked beyond the form of the matrix: :func:`consilience.graph.is_valid_pag` tells whether they belong to a class.

    Parameters
    ----------
    marks : array_like of int, shape (n, n)
        Entry (i, j) is the mark at j on the edge i–j: 0 no edge, 1 circle, 2 arrowhead, 3 tail (pcalg's coding).
    labels : iterable of str
        One name for every node, in the order of the matrix.

    Raises
    ------
    MarkError
        If the matrix holds no marks.
    LabelError
        If the labels are not distinct, non-empty text, one for every node.

    See Also
    --------
    parse : from text such as ``A o-> B``
    consilience.graph.pag_to_mag : a member of the class

    Examples
    --------
    >>> pag = PAG.parse("A o-> C, B o-> C, C --> D")
    >>> pag.mark("A", "C")
    <Mark.ARROW: 2>
    >>> pag == PAG.from_matrix(pag.to_matrix(), pag.labels)
    True
    """

    __slots__ = ()


class MAG(MixedGraph):
    """A maximal ancestral graph, checked when it is made.

    Parameters
    ----------
    marks : array_like of int, shape (n, n)
        Entry (i, j) is the mark at j on the edge i–j: 0 no edge, 2 arrowhead, 3 tail.
    labels : iterable of str
        One name for every node, in the order of the matrix.

    Raises
    ------
    CircleMarkError
        If an end has a circle.
    NotAncestralError
        If a mark contradicts an ancestral relation.
    NotMaximalError
        If no set separates two non-adjacent nodes.

    See Also
    --------
    parse : from text such as ``A --> B``
    consilience.graph.mag_to_pag : the class it belongs to
    consilience.graph.latent_projection : the MAG over some nodes of a graph

    Examples
    --------
    >>> MAG.parse("A --> B, B <-> C").spouses("B")
    ('C',)
    """

    __slots__ = ()

    def _check(self) -> None:
        self._check_no_circles("A MAG has arrowheads and tails only.")
        marks, separation = self.working(), separation_of(self)
        fault = ancestral_fault(marks, separation)
        if fault is not None:
            i, j, wrong = fault
            edge = Edge(self.labels[i], self.labels[j], marks.mark(j, i), marks.mark(i, j))
            raise NotAncestralError(f"In a MAG an arrowhead stands at no ancestor; {edge} {wrong}. Change its marks, or use MixedGraph.")
        pair = inseparable_pair(marks, separation)
        if pair is not None:
            a, b = (self.labels[i] for i in pair)
            raise NotMaximalError(
                f"In a MAG some set separates any two non-adjacent nodes; none separates {a!r} and {b!r}. "
                f"latent_projection(graph, graph.labels) adds the edges that are missing."
            )


class DAG(MixedGraph):
    """A directed acyclic graph, checked when it is made.

    Parameters
    ----------
    marks : array_like of int, shape (n, n)
        Entry (i, j) is the mark at j on the edge i–j: 0 no edge, 2 arrowhead, 3 tail; every edge has one of each.
    labels : iterable of str
        One name for every node, in the order of the matrix.

    Raises
    ------
    NotDirectedError
        If an edge is not a --> b.
    DirectedCycleError
        If edges close a cycle.

    See Also
    --------
    parse : from text such as ``A --> B``
    consilience.graph.latent_projection : the MAG over some nodes of a graph

    Examples
    --------
    >>> DAG.parse("A --> B, A --> C").children("A")
    ('B', 'C')
    """

    __slots__ = ()

    def _check(self) -> None:
        for edge in self.edges:
            if (edge.at_a, edge.at_b) != (Mark.TAIL, Mark.ARROW):
                raise NotDirectedError(f"A DAG has edges a --> b only; got {edge}. Use MAG or PAG for graphs with other edges.")
        cycle = directed_cycle(self.working(), separation_of(self))
        if cycle is not None:
            a, b = (self.labels[i] for i in cycle)
            raise DirectedCycleError(f"A DAG has no directed cycle; {a!r} --> {b!r} closes one. Turn or remove an edge of it.")
