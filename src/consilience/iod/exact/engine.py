"""All Markov equivalence classes that agree with every data set, or with as much of the evidence as can be."""

from __future__ import annotations

from dataclasses import replace

from consilience.iod.clock import Clock, TimeIsUp
from consilience.iod.search_problem import SearchProblem
from consilience.iod.solver.encoding import encode_priced, encode_strict
from consilience.iod.solver.listing import Listing, list_classes

__all__ = ["solve_optimal", "solve_strict"]


def solve_strict(problem: SearchProblem, clock: Clock, limit: int | None) -> Listing:
    """The classes that agree with all decisions and all knowledge."""
    program = encode_strict(problem)
    return Listing((), complete=True) if program is None else list_classes(program, clock, limit)


def solve_optimal(problem: SearchProblem, clock: Clock, limit: int | None) -> Listing:
    """The classes that agree with all knowledge and contradict decisions of the least weight in all; ties are all listed."""
    program = encode_priced(problem)
    clock.words = "weighing decisions against each other"
    try:
        best = program.optimum(clock)
    except TimeIsUp:
        return Listing((), complete=False)
    if best is None:  # the knowledge contradicts itself
        return Listing((), complete=True)
    # From here on the program has the graphs of least weight only, for the list and for whatever is asked of it later. An optimum that is
    # not proved bounds them all the same; the list then says that it is not complete.
    program.bound, proved = best
    found = list_classes(program, clock, limit)
    return found if proved else replace(found, complete=False)
