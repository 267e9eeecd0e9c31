"""All Markov equivalence classes that agree with every data set."""

from __future__ import annotations

from consilience.iod.clock import Clock, TimeIsUp
from consilience.iod.search_problem import SearchProblem
from consilience.iod.solver.encoding import encode_strict
from consilience.iod.solver.listing import Listing, list_classes

__all__ = ["solve_strict"]


def solve_strict(problem: SearchProblem, clock: Clock, limit: int | None) -> Listing:
    """The classes that agree with all decisions and all knowledge."""
    try:
        clock.tick()
        program = encode_strict(problem, clock)
    except TimeIsUp:
        return Listing((), complete=False)
    return Listing((), complete=True) if program is None else list_classes(program, clock, limit)
