"""Sets that separate two nodes: whether there are any among given nodes, all of them, and the minimal ones.

A set is a *minimal separator* if it separates and no proper subset of it does. All of them are ancestors of x or y, and among ancestors
m-separation is separation in an undirected graph: a and b are joined in the *augmented graph* if a path joins them every inner node of
which is a collider (Richardson & Spirtes 2002, section 3.3). There the neighbours of the part that hangs on y, once the neighbours of x are
taken out, are the minimal separator closest to x; moving one of its nodes to x's side, unless it is next to y, gives the next ones (Shen
& Liang, Theoretical Computer Science 180, 1997). Nodes that may not be in a set are taken out before, and their neighbours joined to each
other. So every set costs a polynomial number of steps, however many there are, and the search can stop after any of them (van der Zander,
Liśkiewicz & Textor, Artificial Intelligence 270, 2019).

All functions take marks without circles and undirected edges, which need not be those of a MAG.
"""

from __future__ import annotations

from collections.abc import Iterator

from consilience.graph.marksets import MarkSets, bits
from consilience.graph.paths import Path, simple_path
from consilience.graph.separation import Separation

__all__ = ["minimal_separators", "open_path", "separators", "widest_separator"]


def widest_separator(separation: Separation, x: int, y: int, among: int, including: int = 0) -> int | None:
    """A set that separates x and y with members of ``among`` only, those of ``including`` in it; None if there is none.

    >>> chain = Separation([[0, 2, 0], [3, 0, 2], [0, 3, 0]])  # 0 --> 1 --> 2
    >>> widest_separator(chain, 0, 2, among=0b010), widest_separator(chain, 0, 2, among=0)
    (2, None)
    """
    # If any such set separates, the ancestors among those allowed do (van der Zander, Liśkiewicz & Textor 2019, lemma 3.4).
    widest = separation.ancestors_of(1 << x | 1 << y | including) & among & ~(1 << x | 1 << y)
    return widest if separation.separated(x, y, widest) else None


def separators(marks: MarkSets, x: int, y: int, among: int) -> Iterator[int]:
    """All sets of members of ``among`` that separate x and y.

    >>> list(separators(MarkSets.from_matrix([[0, 2, 0], [3, 0, 2], [0, 3, 0]]), 0, 2, among=0b010))
    [2]
    """
    separation = Separation(marks)

    def search(including: int, undecided: tuple[int, ...], allowed: int) -> Iterator[int]:
        if widest_separator(separation, x, y, allowed, including) is None:
            return
        if not undecided:
            yield including
            return
        node, *rest = undecided
        yield from search(including, tuple(rest), allowed & ~(1 << node))
        yield from search(including | 1 << node, tuple(rest), allowed)

    among &= ~(1 << x | 1 << y)
    return search(0, bits(among), among)


def minimal_separators(marks: MarkSets, x: int, y: int, among: int) -> Iterator[int]:
    """All minimal separators of x and y with members of ``among`` only.

    >>> diamond = MarkSets.from_matrix([[0, 2, 2, 0], [3, 0, 0, 2], [3, 0, 0, 2], [0, 3, 3, 0]])  # 0 --> 1 --> 3, 0 --> 2 --> 3
    >>> [bits(found) for found in minimal_separators(diamond, 0, 3, among=0b0110)]
    [(1, 2)]
    """
    graph = _augmented(marks, Separation(marks).ancestors_of(1 << x | 1 << y))
    _take_out(graph, ~(among | 1 << x | 1 << y))
    if graph[x] >> y & 1:
        return
    closest = _far_border(graph, 1 << x, y)
    seen = {closest}
    queue = [closest]
    for separator in queue:
        yield separator
        near = _part(graph, x, separator)
        for v in bits(separator & ~graph[y]):
            following = _far_border(graph, near | 1 << v, y)
            if following not in seen:
                seen.add(following)
                queue.append(following)


def _augmented(marks: MarkSets, nodes: int) -> list[int]:
    """For each of some nodes, which must be all ancestors of themselves, those that a path of colliders within them joins it with."""
    graph = [0] * marks.n
    for v in bits(nodes):
        colliders = new = marks.far_arrow[v] & nodes
        while new:
            onward = 0
            for u in bits(new):
                onward |= marks.spouses(u) & nodes
            new = onward & ~colliders
            colliders |= new
        joined = marks.adjacent[v]
        for u in bits(colliders):
            joined |= 1 << u | marks.arrow[u]
        graph[v] = joined & nodes & ~(1 << v)
    return graph


def _take_out(graph: list[int], nodes: int) -> None:
    """Take nodes out of an undirected graph and join what they led to: separation among the others stays what it was."""
    for v, around in enumerate(graph):
        if nodes >> v & 1:
            for u in bits(around):
                graph[u] = (graph[u] | around) & ~(1 << u | 1 << v)
            graph[v] = 0


def _part(graph: list[int], start: int, without: int) -> int:
    """The nodes joined with ``start`` once those of ``without`` are taken out."""
    found = new = 1 << start
    while new:
        onward = 0
        for v in bits(new):
            onward |= graph[v]
        new = onward & ~found & ~without
        found |= new
    return found


def _border(graph: list[int], part: int) -> int:
    """The nodes next to a set of nodes."""
    found = 0
    for v in bits(part):
        found |= graph[v]
    return found & ~part


def _far_border(graph: list[int], near: int, y: int) -> int:
    """The minimal separator closest to a connected set of nodes with no neighbour y."""
    return _border(graph, _part(graph, y, without=_border(graph, near)))


def open_path(marks: MarkSets, x: int, y: int, given: int) -> Path | None:
    """A path that connects x and y given a set, the shortest if that is possible; None if the set separates.

    >>> open_path(MarkSets.from_matrix([[0, 2, 0], [3, 0, 2], [0, 3, 0]]), 0, 2, given=0)
    (0, 1, 2)
    """
    above = Separation(marks).ancestors_of(given)

    def step(previous: int, current: int) -> int:
        """Where to go on: by an arrowhead only if the node is open as a collider, and otherwise only if it is not given."""
        by_head = marks.arrow[current] >> previous & 1
        passing = 0 if given >> current & 1 else (marks.tail[current] if by_head else marks.adjacent[current])
        closing = marks.arrow[current] if by_head and above >> current & 1 else 0
        return (passing | closing) & ~(1 << x | 1 << previous)

    found = [path for first in bits(marks.adjacent[x]) if (path := simple_path(x, first, step, lambda _, v: v == y)) is not None]
    return min(found, key=len, default=None)
