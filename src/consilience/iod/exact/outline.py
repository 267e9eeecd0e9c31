"""What holds in all, some or no graph, asked of the solver instead of counted over a list.

Edges, arrowheads, tails and ancestral relations of MAGs are features that the solver decides for all answers at once, however many there
are (:mod:`~consilience.iod.solver.consequences`). What all MAGs share at an end is the mark of every PAG there. Where MAGs differ, each PAG
has an arrowhead, a tail or a circle: which of these occur is told by PAGs that show them, and by all of them where they are few.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import combinations, permutations
from typing import NamedTuple

from consilience.graph.marksets import MarkSets
from consilience.iod.clock import Clock, TimeIsUp
from consilience.iod.search_problem import SearchProblem
from consilience.iod.solver.consequences import Consequences
from consilience.iod.solver.listing import Listing, graph_of
from consilience.iod.solver.program import Program
from consilience.iod.summary import ALL, EITHER, MARKS, NO, SOME, UNKNOWN

__all__ = ["Outline", "ancestral", "outline"]

TRIES = 1000
"""Classes to look at for marks of PAGs where fewer than these are listed: a few seconds. What MAGs share does not depend on it."""

EXAMPLES = 200
"""Listed MAGs to learn from before the solver is asked: neighbours in a list are much alike, and more of them refute little more."""

Pair = tuple[int, int]
End = tuple[int, int, str]


class Outline(NamedTuple):
    """Statuses: of edges (x, y), x < y; of PAGs' marks (x, y, mark) at y; of x as an ancestor of y; and the mark (x, y) of MAGs at y.

    A mark of PAGs is left out where MAGs differ and nobody has looked at all PAGs.
    """

    edges: dict[Pair, str]
    marks: dict[End, str]
    ends: dict[Pair, str]
    ancestors: dict[Pair, str]


def outline(problem: SearchProblem, listing: Listing, graphs: Sequence[MarkSets], clock: Clock) -> Outline:
    """What holds in "all", "some" or "none", or is "unknown" because time ran out; ``graphs`` are those of the listing."""
    program, assumptions = listing.program, listing.assumptions
    assert program is not None, "without a program there is nothing to ask"
    clock.words = "summarising"
    found = _asked(program, listing.mags, clock, assumptions)
    edges = {pair: _status(found, "edge", *pair) for pair in combinations(range(program.n), 2)}
    ends = {end: _end(found, *end) for end in permutations(range(program.n), 2)}
    seen, all_seen = _marks_of(graphs), False
    if EITHER in ends.values() and len(graphs) < TRIES:
        with suppress(TimeIsUp):
            all_seen = _look_at_more(problem, program, seen, clock, assumptions)
    marks: dict[End, str] = {}
    for (x, y), mark in ends.items():
        edge = edges[min(x, y), max(x, y)]
        if mark == EITHER:
            marks |= _marks_that_differ(x, y, edge, seen, all_seen=all_seen)
        else:  # no PAG has a circle there; unknown marks stay unknown
            marks |= {(x, y, name): UNKNOWN if mark == UNKNOWN else edge if name == mark else NO for name in MARKS}
    return Outline(edges, marks, ends, _ancestors(found, program.n))


def ancestral(program: Program, mags: Sequence[MarkSets], clock: Clock, assumptions: Sequence[int] = ()) -> dict[Pair, str]:
    """Of which MAGs that agree x is an ancestor of y: for lists whose PAGs cannot tell, with knowledge or with selection bias."""
    return _ancestors(_asked(program, mags, clock, assumptions), program.n)


def _asked(program: Program, mags: Sequence[MarkSets], clock: Clock, assumptions: Sequence[int]) -> Consequences:
    found = Consequences(program, assumptions)
    for mag in mags[:: max(1, len(mags) // EXAMPLES)]:
        found.see(mag)
    with suppress(TimeIsUp):
        found.ask(clock)
    return found


def _status(found: Consequences, what: str, x: int, y: int) -> str:
    here, elsewhere = found.occurs((what, x, y)), found.lacks((what, x, y))
    if here is False:
        return NO
    if here is None or elsewhere is None:
        return UNKNOWN
    return SOME if elsewhere else ALL


def _ancestors(found: Consequences, n: int) -> dict[Pair, str]:
    return {pair: _status(found, "cause", *pair) for pair in permutations(range(n), 2)}


def _end(found: Consequences, x: int, y: int) -> str:
    """The mark at y on which the MAGs that have the edge x–y agree."""
    edge, arrow, tail = (found.occurs(one) for one in (("edge", min(x, y), max(x, y)), ("arrow", x, y), ("tail", x, y)))
    if arrow and tail:
        return EITHER
    if edge is False:
        return NO
    # An edge has one mark at each end: where it occurs and one of them does not, the other does.
    if edge and tail is False:
        return "arrow"
    if edge and arrow is False:
        return "tail"
    return UNKNOWN


def _marks_of(graphs: Iterable[MarkSets]) -> dict[str, list[int]]:
    """For each mark and node y, the nodes x of which some graph has the mark at y."""
    seen: dict[str, list[int]] = {}
    for graph in graphs:
        _see(graph, seen)
    return seen


def _see(graph: MarkSets, seen: dict[str, list[int]]) -> None:
    for name, rows in (("arrow", graph.arrow), ("tail", graph.tail), ("circle", graph.circle)):
        before = seen.setdefault(name, [0] * graph.n)
        seen[name] = [row | more for row, more in zip(before, rows, strict=True)]


def _look_at_more(problem: SearchProblem, program: Program, seen: dict[str, list[int]], clock: Clock, assumptions: Sequence[int]) -> bool:
    """Look at the marks of more PAGs; True if these are all there are."""
    mags: list[MarkSets] = []
    for mag in program.classes(clock, assumptions):
        if len(mags) == TRIES:
            return False
        mags.append(mag)
        if not problem.rules:  # else the solver is asked about each class, which it can be only between searches
            _see(graph_of(mag, problem, program, clock, assumptions=assumptions), seen)
    for mag in mags if problem.rules else ():
        _see(graph_of(mag, problem, program, clock, assumptions=assumptions), seen)
    return True


def _marks_that_differ(x: int, y: int, edge: str, seen: dict[str, list[int]], *, all_seen: bool) -> dict[End, str]:
    """Marks of PAGs at an end at which MAGs have an arrowhead and a tail. Neither is in all PAGs then."""
    there = [name for name in MARKS if seen and seen[name][y] >> x & 1]
    if all_seen:
        # A circle is in all PAGs if the edge is and no other mark; arrowheads and tails are not, or all MAGs would have them.
        return {(x, y, name): NO if name not in there else edge if len(there) == 1 else SOME for name in MARKS}
    # What has been seen is in some PAGs, and not in all if another mark has been seen or the edge is missing in some.
    return {(x, y, name): SOME for name in there if name != "circle" or len(there) > 1 or edge == SOME}
