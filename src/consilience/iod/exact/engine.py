"""All Markov equivalence classes that agree with every data set, or with as much of the evidence as can be."""

from __future__ import annotations

from dataclasses import replace

from consilience.graph.equivalence import mag_to_pag_marks
from consilience.graph.marksets import MarkSets
from consilience.iod.clock import Clock, TimeIsUp
from consilience.iod.evidence import Decision
from consilience.iod.exact.strongest import solve_strongest
from consilience.iod.resolution import Resolution
from consilience.iod.search_problem import SearchProblem
from consilience.iod.solver.encoding import encode_priced, encode_strict
from consilience.iod.solver.listing import Listing, list_classes
from consilience.iod.solver.program import PRICE
from consilience.settings.choices import Resolve

__all__ = ["solve_optimal", "solve_strict"]

START_SHARE = 0.5
"""Of the time for the optimum, how much may go into a start from the strongest evidence. It gives an answer whatever happens, and a weight
that branch and bound has to beat; more would leave nothing to beat it with."""


def solve_strict(problem: SearchProblem, clock: Clock, limit: int | None) -> Listing:
    """The classes that agree with all decisions and all knowledge."""
    try:
        clock.tick()
    except TimeIsUp:  # grounding cannot be interrupted: it is not begun
        return Listing((), complete=False)
    program = encode_strict(problem)
    return Listing((), complete=True) if program is None else list_classes(program, clock, limit)


def solve_optimal(problem: SearchProblem, clock: Clock, limit: int | None) -> tuple[Listing, Resolution]:
    """The classes that agree with all knowledge and contradict decisions of the least weight in all; ties are all listed.

    If time runs out, the best that was found, with a bound that no graph goes below.
    """
    early = clock.part(START_SHARE)
    listing, start = solve_strongest(problem, early, 1)
    if not listing.mags:  # the knowledge contradicts itself
        return listing, replace(start, how=Resolve.OPTIMAL)
    graph = listing.mags[0]
    cost, proved = _cost(problem, problem.contradicted(graph)), False
    program = None
    try:
        clock.words = "weighing decisions against each other"
        clock.tick()
        program = encode_priced(problem)
        found = program.optimum(clock, cost)
        if found is not None and found[0] <= cost:
            cost, proved, graph = found
    except TimeIsUp:
        pass
    if program is not None and proved:
        program.bound = cost
        listed = list_classes(program, clock, limit)
        if listed.mags:
            return listed, _weighed_up(problem, listed.mags[0], start, proved=True)
    return Listing((graph,), complete=False, pags=(mag_to_pag_marks(graph),)), _weighed_up(problem, graph, start, proved=proved)


def _cost(problem: SearchProblem, given_up: list[Decision]) -> int:
    """In the solver's whole numbers."""
    gone = set(given_up)
    return sum(max(1, round(PRICE * (ruling.decision.weight or 0.0))) for ruling in problem.weighed if ruling.decision in gone)


def _weighed_up(problem: SearchProblem, graph: MarkSets, start: Resolution, *, proved: bool) -> Resolution:
    overruled = tuple(sorted(problem.contradicted(graph), key=lambda decision: decision.weight or 0.0, reverse=True))
    given_up = sum(decision.weight or 0.0 for decision in overruled)
    # rounding prices to thousandths may put the proved optimum a little above or below the sum of weights
    bound = given_up if proved else min(start.bound, given_up)
    return Resolution(Resolve.OPTIMAL, overruled, given_up, bound, proved=proved)
