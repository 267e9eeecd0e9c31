"""Markov equivalence: from a MAG to the PAG of its class, from a PAG to a member, and whether graphs are what they should be.

Functions whose names end in ``_marks`` do the same on numbered nodes and working copies, without checks, for callers that do it often.
"""

from __future__ import annotations

from consilience.graph.ancestral import is_mag_marks
from consilience.graph.errors import InvalidPAGError
from consilience.graph.graphs import MAG, PAG
from consilience.graph.marks import ARROW, TAIL
from consilience.graph.marksets import MarkSets, bits
from consilience.graph.paths import Path
from consilience.graph.rules import orient, r0
from consilience.graph.triples import triples_with_order_marks

__all__ = ["is_valid_pag", "is_valid_pag_marks", "mag_to_pag", "mag_to_pag_marks", "markov_equivalent", "pag_to_mag", "pag_to_mag_marks"]


def mag_to_pag(mag: MAG) -> PAG:
    """The PAG of all MAGs that are Markov equivalent to one.

    Parameters
    ----------
    mag : MAG

    Returns
    -------
    PAG
        With the arrowheads and tails that all of them share, and circles where they differ.

    Examples
    --------
    >>> mag_to_pag(MAG.parse("A --> C, B --> C, C --> D"))
    PAG.parse('A o-> C, B o-> C, C --> D')
    """
    return PAG._trusted(mag_to_pag_marks(mag.working()), mag.labels)


def mag_to_pag_marks(mag: MarkSets) -> MarkSets:
    """The marks that all MAGs Markov equivalent to ``mag`` share, circles elsewhere.

    Rules R0–R10 with the MAG itself to answer what R0 and R4 ask: a path that is discriminating in the unfinished PAG is discriminating
    in every member, and whether its β is a collider is the same in all of them. A class with a member without undirected edges gives
    R5–R7 nothing to do (Zhang 2008), so they run only if the MAG has one.
    """

    def is_collider(path: Path) -> bool:
        return mag.is_collider(*path[-3:])

    pag = MarkSets.skeleton(mag.adjacent)
    r0(pag, is_collider)
    orient(pag, is_collider, selection_bias=mag.has_undirected())
    return pag


def pag_to_mag(pag: PAG) -> MAG:
    """A MAG of the class.

    Parameters
    ----------
    pag : PAG

    Returns
    -------
    MAG
        Always the same one, with no more edges <-> than the PAG shows.

    Raises
    ------
    InvalidPAGError
        If the marks belong to no class.

    Examples
    --------
    >>> pag_to_mag(PAG.parse("A o-> C, B o-> C, C --> D"))
    MAG.parse('A --> C, B --> C, C --> D')
    """
    marks = pag_to_mag_marks(pag.working())
    if not is_mag_marks(marks):
        raise InvalidPAGError(f"These marks belong to no Markov equivalence class: {pag}. Ask is_valid_pag(pag) first.")
    return MAG._trusted(marks, pag.labels)


def pag_to_mag_marks(pag: MarkSets) -> MarkSets:
    """Zhang's tail augmentation: o-> and --o become -->, and the edges o-o a DAG without unshielded colliders.

    The result is a member if ``pag`` is a valid PAG, and may be anything else if it is not. Raises ``InvalidPAGError`` if the edges
    o-o do not form a chordal graph, because then there is no such DAG.
    """
    mag = pag.copy()
    for a, b in _perfect_order(pag):
        mag.resolve(b, a, TAIL)
        mag.resolve(a, b, ARROW)
    for v in range(mag.n):
        for u in bits(mag.circle[v]):
            # One circle is left on this edge: u <-o v becomes u <-- v, and u --o v becomes u --> v.
            mag.resolve(u, v, ARROW if mag.far_tail[v] >> u & 1 else TAIL)
    return mag


def _perfect_order(pag: MarkSets) -> list[tuple[int, int]]:
    """The edges o-o as (a, b) with a before b, in an order of the nodes in which those before any node form a clique.

    Maximum cardinality search finds such an order iff there is one, that is, iff the graph is chordal (Tarjan & Yannakakis 1984).
    """
    rows = [near & far for near, far in zip(pag.circle, pag.far_circle, strict=True)]
    left = {v for v, row in enumerate(rows) if row}
    done = 0
    edges = []
    while left:
        # of equals the first, so that a PAG always gives the same member
        v = max(left, key=lambda node: ((rows[node] & done).bit_count(), -node))
        before = rows[v] & done
        for u in bits(before):
            if before & ~rows[u] & ~(1 << u):
                raise InvalidPAGError("The circle edges of a PAG form a chordal graph; these have a cycle without a chord.")
            edges.append((u, v))
        done |= 1 << v
        left.remove(v)
    return edges


def is_valid_pag(pag: PAG) -> bool:
    """True if the marks are those of some Markov equivalence class: there is a member MAG, whose PAG it is.

    Parameters
    ----------
    pag : PAG

    Returns
    -------
    bool

    Examples
    --------
    >>> is_valid_pag(PAG.parse("A o-> B, B <-o C")), is_valid_pag(PAG.parse("A o-> B, B o-o C"))
    (True, False)
    """
    return is_valid_pag_marks(pag.working())


def is_valid_pag_marks(pag: MarkSets) -> bool:
    """True if the marks are those of the PAG of some Markov equivalence class."""
    # There and back: of the PAG of a class tail augmentation gives a member, whose PAG is this one again. That no rule finds anything more
    # would not do instead: marks without circles are closed under all of them, a directed cycle included.
    try:
        mag = pag_to_mag_marks(pag)
    except InvalidPAGError:
        return False
    return is_mag_marks(mag) and mag_to_pag_marks(mag).same_marks(pag)


def markov_equivalent(first: MAG, second: MAG) -> bool:
    """True if both have the same nodes and the same m-separations: the same adjacencies and colliders with order.

    Parameters
    ----------
    first, second : MAG

    Returns
    -------
    bool

    Examples
    --------
    >>> markov_equivalent(MAG.parse("A --> B, B --> C"), MAG.parse("A <-- B, B --> C"))
    True
    >>> markov_equivalent(MAG.parse("A --> B, B --> C"), MAG.parse("A --> B, B <-- C"))
    False
    """
    if set(first.labels) != set(second.labels):
        return False
    one, other = first.working(), second.reordered(first.labels).working()
    return one.adjacent == other.adjacent and _colliders(one) == _colliders(other)


def _colliders(mag: MarkSets) -> set[tuple[int, int, int]]:
    return {triple for triple, (collider, _) in triples_with_order_marks(mag).items() if collider}
