"""Ancestors, m-separation and inducing paths, on graphs with arrowheads and tails only.

* A node on a path is a *collider* if both edges of the path have an arrowhead at it, otherwise a *non-collider*.
* A path between x and y is *m-connecting* given Z if no non-collider on it is in Z and every collider on it is in Z or an ancestor
  of a member of Z. x and y are *m-separated* by Z if there is no such path (Richardson & Spirtes 2002).
* A path between x and y is *inducing* relative to L if every node on it that is not in L is a collider, and every collider on it is
  an ancestor of x or of y. It exists iff no subset of the nodes outside L separates x and y.

Both kinds of path are found by one search for a *walk*. It passes node v as a non-collider where that is allowed and as a collider
where that is allowed, and needs to know of its past only whether it came to v by an arrowhead; so every edge is used twice at most. In
ancestral graphs, and in any graph without undirected edges, there is such a path iff there is such a walk. A search over paths, which is
what the definitions say, has exponentially many states; the tests have it, to compare with.
"""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike

from consilience.citest.errors import ConditioningError, SameVariableError
from consilience.graph.errors import CircleMarkError
from consilience.graph.marksets import MarkSets, bits, mask_of
from consilience.graph.mixed import MixedGraph

__all__ = ["Separation", "ancestors", "has_inducing_path", "m_separated", "separation_of"]


class Separation:
    """m-separation between the numbered nodes of one graph, with sets of nodes as the bits of an integer. Made once, asked often.

    >>> chain = Separation([[0, 2, 0], [3, 0, 2], [0, 3, 0]])
    >>> chain.separated(0, 2, 0), chain.separated(0, 2, 0b010)
    (False, True)
    """

    __slots__ = ("_any_heads", "_any_tails", "_children", "_parents", "_spouses", "_undirected", "ancestors", "n")

    def __init__(self, marks: MarkSets | ArrayLike) -> None:
        sets = marks if isinstance(marks, MarkSets) else MarkSets.from_matrix(marks)
        if sets.has_circles():
            raise CircleMarkError("m-separation needs arrowheads and tails only; got circles. Take a member of the class: pag_to_mag(pag).")
        nodes = range(sets.n)
        self.n = sets.n
        # Where an edge leads from each node, by the marks at both of its ends; "any" is whatever stands at this one.
        self._children = [*map(sets.children, nodes)]
        self._parents = [*map(sets.parents, nodes)]
        self._spouses = [*map(sets.spouses, nodes)]
        self._undirected = [*map(sets.undirected, nodes)]
        self._any_heads = sets.far_arrow.copy()
        self._any_tails = sets.far_tail.copy()
        self.ancestors = _closure(self._parents)
        """For each node the set of its ancestors, itself among them."""

    def ancestors_of(self, nodes: int) -> int:
        """The ancestors of a set of nodes, the set itself among them."""
        found = 0
        ancestors = self.ancestors
        while nodes:
            low = nodes & -nodes
            found |= ancestors[low.bit_length() - 1]
            nodes ^= low
        return found

    def separated(self, i: int, j: int, given: int) -> bool:
        """True if the set ``given`` m-separates i and j; neither may be in it."""
        # The ancestors of the given set are known, so a collider is looked up. A walk down to a given descendant and back finds the same
        # and is what the solver's rules do (decisions.lp), which have no such table.
        return not self._walk(i, 1 << j, ~given, self.ancestors_of(given))

    def connected(self, i: int, given: int) -> int:
        """All nodes outside ``given`` that are m-connected with i given it, i among them."""
        return (self._walk(i, 0, ~given, self.ancestors_of(given)) | 1 << i) & ~given

    def inducing(self, i: int, j: int, latent: int = 0) -> bool:
        """True if there is an inducing path between i and j relative to the set ``latent``; neither may be in it."""
        return bool(self._walk(i, 1 << j, latent, self.ancestors[i] | self.ancestors[j]))

    def _walk(self, start: int, target: int, through: int, collide: int) -> int:
        """Nodes that walks reach which pass non-colliders in ``through`` and colliders in ``collide`` only.

        With a ``target``, stop at once when it is reached, and return 0 if it never is.
        """
        # Two states per node: the walk came to it by an arrowhead, or by a tail. Where it goes from there:
        #   by a tail:                 v is no collider whatever comes next, so if it may be passed as none, by any edge
        #   by an arrowhead, passing:  v must stay a non-collider, so by an edge with a tail at v
        #   by an arrowhead, closing:  v must be a collider, so by an edge with an arrowhead at v
        # A whole front of nodes moves at once. The loops over bits are written out, as this is where discovery with an oracle spends its
        # time: with the generator `bits` a walk takes almost half as long again.
        children, parents, spouses, undirected = self._children, self._parents, self._spouses, self._undirected
        any_heads, any_tails = self._any_heads, self._any_tails
        by_head = new_heads = any_heads[start]
        by_tail = new_tails = any_tails[start]
        while not (by_head | by_tail) & target:
            heads = tails = 0
            here = new_tails & through
            while here:
                low = here & -here
                v = low.bit_length() - 1
                heads |= any_heads[v]
                tails |= any_tails[v]
                here ^= low
            here = new_heads & through
            while here:
                low = here & -here
                v = low.bit_length() - 1
                heads |= children[v]
                tails |= undirected[v]
                here ^= low
            here = new_heads & collide
            while here:
                low = here & -here
                v = low.bit_length() - 1
                heads |= spouses[v]
                tails |= parents[v]
                here ^= low
            new_heads = heads & ~by_head
            new_tails = tails & ~by_tail
            if not new_heads | new_tails:
                return 0 if target else by_head | by_tail
            by_head |= new_heads
            by_tail |= new_tails
        return by_head | by_tail


def _closure(parents: list[int]) -> list[int]:
    """Reflexive transitive closure, by Warshall's algorithm on rows of bits."""
    reach = [mask | 1 << v for v, mask in enumerate(parents)]
    for middle in range(len(reach)):
        through = reach[middle]
        if through & (through - 1):  # a node that has itself alone for an ancestor adds nothing
            for v, mask in enumerate(reach):
                if mask >> middle & 1:
                    reach[v] = mask | through
    return reach


def separation_of(graph: MixedGraph) -> Separation:
    """The :class:`Separation` of a graph, made at the first call and kept with it.

    >>> separation_of(MixedGraph.parse("A --> B")).ancestors
    [1, 3]
    """
    # With the graph, not in a cache of this module: it lives as long as the graph does, and a cache would take graphs that differ in the
    # order of their nodes for one, because they are equal.
    kept = graph._memo.get("separation")
    if not isinstance(kept, Separation):
        graph._check_no_circles("Ancestors and m-separation need arrowheads and tails only.")
        kept = graph._memo["separation"] = Separation(graph.working())
    return kept


def ancestors(graph: MixedGraph, nodes: str | Iterable[str]) -> frozenset[str]:
    """The nodes with a directed path to one of some nodes, and these themselves.

    Parameters
    ----------
    graph : MixedGraph
        Without circles.
    nodes : str or iterable of str

    Returns
    -------
    frozenset of str

    Raises
    ------
    CircleMarkError
        If the graph has circles.
    UnknownNodeError
        If it has no such node.

    Examples
    --------
    >>> sorted(ancestors(MixedGraph.parse("A --> B, B --> C, C <-> D"), "C"))
    ['A', 'B', 'C']
    """
    separation = separation_of(graph)
    return frozenset(graph.labels[i] for i in bits(separation.ancestors_of(_mask(graph, nodes))))


def m_separated(graph: MixedGraph, x: str, y: str, given: str | Iterable[str] = ()) -> bool:
    """True if a set m-separates two nodes.

    Parameters
    ----------
    graph : MixedGraph
        Without circles.
    x, y : str
    given : str or iterable of str, default ()
        The set.

    Returns
    -------
    bool

    Raises
    ------
    CircleMarkError
        If the graph has circles.
    SameVariableError, ConditioningError
        If x and y are one node, or in the set.
    UnknownNodeError
        If the graph has no such node.

    Examples
    --------
    >>> graph = MixedGraph.parse("A --> B, B <-> C")
    >>> m_separated(graph, "A", "C"), m_separated(graph, "A", "C", given=["B"])
    (True, False)
    """
    i, j, mask = _question(graph, x, y, given)
    return separation_of(graph).separated(i, j, mask)


def has_inducing_path(graph: MixedGraph, x: str, y: str, latent: str | Iterable[str] = ()) -> bool:
    """True if there is an inducing path between two nodes: no set of the nodes that are not latent separates them.

    Parameters
    ----------
    graph : MixedGraph
        Without circles.
    x, y : str
    latent : str or iterable of str, default ()
        Nodes that the path may pass as non-colliders.

    Returns
    -------
    bool

    Raises
    ------
    CircleMarkError
        If the graph has circles.
    SameVariableError, ConditioningError
        If x and y are one node, or latent.
    UnknownNodeError
        If the graph has no such node.

    Examples
    --------
    >>> graph = MixedGraph.parse("A <-- L, L --> B, B --> C")
    >>> has_inducing_path(graph, "A", "C", latent=["L"]), has_inducing_path(graph, "A", "C", latent=["L", "B"])
    (False, True)
    """
    i, j, mask = _question(graph, x, y, latent)
    return separation_of(graph).inducing(i, j, mask)


def _question(graph: MixedGraph, x: str, y: str, others: str | Iterable[str]) -> tuple[int, int, int]:
    i, j, mask = graph.index(x), graph.index(y), _mask(graph, others)
    if i == j:
        raise SameVariableError(f"x and y must be two nodes; both are {x!r}.")
    if mask >> i & 1 or mask >> j & 1:
        raise ConditioningError(f"{x!r} and {y!r} are asked about and cannot be in the other set as well; take them out of it.")
    return i, j, mask


def _mask(graph: MixedGraph, nodes: str | Iterable[str]) -> int:
    return mask_of(graph.index(label) for label in ((nodes,) if isinstance(nodes, str) else nodes))
