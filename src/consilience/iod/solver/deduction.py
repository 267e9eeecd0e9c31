"""What follows from local graphs before a solver is asked: who is not adjacent, who is an ancestor of whom and who is not.

A mark of a local PAG is an ancestral relation, and ancestral relations hold in every consistent graph over all variables. Together with
the order (ancestors are transitive and never mutual) and with the few pairs that may still be adjacent, they decide most of the graph;
what is left to the solver is small. The solver would find all of this itself, but only after every open pair has been grounded: rules
that speak of three nodes or of a walk are written out for each of them, and grounding is where a program over many nodes spends its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from consilience.graph.marksets import bits
from consilience.iod.local import Local

__all__ = ["Deduced"]


class Deduced:
    """Per node, as bits: ``apart`` (not adjacent), ``ancestor`` (surely an ancestor of), ``never`` (surely not an ancestor of).

    ``chains`` are triples whose middle is an ancestor of one of its ends, ``pointed`` the nodes at which some local graph has an
    arrowhead: these are no ancestors of selection variables. ``contradictory`` tells that no graph fits.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.apart = [1 << v for v in range(n)]
        self.ancestor = [0] * n
        self.never = [1 << v for v in range(n)]
        self.chains: set[tuple[int, int, int]] = set()
        self.pointed = 0
        self.contradictory = False

    @classmethod
    def of(cls, n: int, locals_: Sequence[Local], *, selection_bias: bool, never: Iterable[tuple[int, int]] = ()) -> Deduced:
        """Everything that follows from local graphs, and from pairs (x, y) of which x is known not to be an ancestor of y.

        With selection bias a tail may stand for an ancestor of a selection variable, so that only arrowheads are taken over.
        """
        deduced = cls(n)
        for x, y in never:
            deduced.never[x] |= 1 << y
        for local in locals_:
            deduced._take(local, selection_bias=selection_bias)
        deduced._close(selection_bias=selection_bias)
        return deduced

    def isolate(self, v: int) -> None:
        """No edge, and hence no ancestral relation, at a node."""
        everyone = (1 << self.n) - 1
        self.apart = [row | 1 << v for row in self.apart]
        self.never = [row | 1 << v for row in self.never]
        self.apart[v] = self.never[v] = everyone

    def _take(self, local: Local, *, selection_bias: bool) -> None:
        for x, y in local.sepsets:
            self.apart[x] |= 1 << y
            self.apart[y] |= 1 << x
        for (a, b, c), collider in local.triples.items():
            if collider:
                self.never[b] |= 1 << a | 1 << c
                self.pointed |= 1 << b
            else:
                self.chains.add((a, b, c))
        if local.complete:
            marks = local.marks
            # Who cannot be reached along edges that may point onward is no descendant in any graph, adjacent or not: marks alone speak of
            # adjacent pairs only.
            may_lead = _reach([marks.adjacent[v] & ~marks.arrow[v] & ~marks.far_tail[v] for v in range(self.n)])
            for v in bits(local.variables):
                self.never[v] |= marks.arrow[v] | local.variables & ~may_lead[v]
                self.pointed |= bool(marks.arrow[v]) << v
                if not selection_bias:
                    self.ancestor[v] |= marks.tail[v]

    def _close(self, *, selection_bias: bool) -> None:
        """Draw conclusions until there are no more."""
        before: list[list[int]] = []
        while before != [self.ancestor, self.never] and not self.contradictory:
            before = [self.ancestor.copy(), self.never.copy()]
            self._by_order()
            self._by_edges()
            if not selection_bias:
                self._by_chains()
            self.contradictory = any(yes & no for yes, no in zip(self.ancestor, self.never, strict=True))

    def _by_order(self) -> None:
        """Ancestors are transitive and never mutual."""
        self.ancestor = _reach(self.ancestor)
        for x in range(self.n):
            for y in bits(self.ancestor[x]):
                self.never[y] |= 1 << x | self.never[x] & ~(1 << y)  # were y an ancestor of z, so were x
        for y in range(self.n):
            for x in range(self.n):
                if x != y and self.ancestor[y] & self.never[x]:
                    self.never[x] |= 1 << y  # were x an ancestor of y, so it were of all that y is

    def _by_edges(self) -> None:
        """An ancestor is one along edges that may be there."""
        everyone = (1 << self.n) - 1
        may_lead = _reach([everyone & ~self.apart[v] & ~self.never[v] for v in range(self.n)])
        self.never = [row | everyone & ~may_lead[v] for v, row in enumerate(self.never)]

    def _by_chains(self) -> None:
        """The middle of a non-collider is an ancestor of one end if not of the other."""
        for a, b, c in self.chains:
            for one, other in ((a, c), (c, a)):
                if self.never[b] >> one & 1:
                    self.ancestor[b] |= 1 << other


def _reach(steps: Sequence[int]) -> list[int]:
    """For each node the nodes that a way of at least one step leads to."""
    reach = list(steps)
    for middle in range(len(reach)):
        for v, row in enumerate(reach):
            if row >> middle & 1:
                reach[v] = row | reach[middle]
    return reach
