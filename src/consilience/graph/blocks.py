"""Biconnected components: which nodes lie on a path between two neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from consilience.graph.marksets import bits

__all__ = ["blocks"]


def blocks(adjacent: Sequence[int]) -> dict[tuple[int, int], int]:
    """For each edge (x, y), x < y, the nodes on paths between x and y that visit no node twice, x and y among them.

    These are the nodes of the edge's biconnected component (Hopcroft & Tarjan 1973): parts of the graph that hang on one node only are
    cut off.

    >>> rows = [0b0110, 0b0101, 0b1011, 0b0100]  # a triangle 0, 1, 2, and 3 hanging on 2
    >>> {edge: bin(nodes) for edge, nodes in sorted(blocks(rows).items())}
    {(0, 1): '0b111', (0, 2): '0b111', (1, 2): '0b111', (2, 3): '0b1100'}
    """
    # With a stack of its own: recursion would end at Python's limit of a thousand nodes.
    found: dict[tuple[int, int], int] = {}
    depth: dict[int, int] = {}
    low: dict[int, int] = {}
    edges: list[tuple[int, int]] = []
    for root in range(len(adjacent)):
        if root in depth:
            continue
        depth[root] = low[root] = 0
        stack = [(root, -1, iter(bits(adjacent[root])))]
        while stack:
            v, parent, rest = stack[-1]
            w = next(rest, None)
            if w is None:
                stack.pop()
                if stack:
                    low[parent] = min(low[parent], low[v])
                    if low[v] >= depth[parent]:
                        _close(edges, (parent, v), found)
            elif w not in depth:
                edges.append((v, w))
                depth[w] = low[w] = depth[v] + 1
                stack.append((w, v, iter(bits(adjacent[w]))))
            elif w != parent and depth[w] < depth[v]:
                edges.append((v, w))
                low[v] = min(low[v], depth[w])
    return found


def _close(edges: list[tuple[int, int]], first: tuple[int, int], found: dict[tuple[int, int], int]) -> None:
    """The edges since ``first``, itself included, are one component."""
    component: list[tuple[int, int]] = []
    while not component or component[-1] != first:
        component.append(edges.pop())
    nodes = 0
    for v, w in component:
        nodes |= 1 << v | 1 << w
    for v, w in component:
        found[min(v, w), max(v, w)] = nodes
