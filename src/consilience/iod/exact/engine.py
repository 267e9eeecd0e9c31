"""All Markov equivalence classes that agree with every data set, or with as much of the evidence as can be."""

from __future__ import annotations

from dataclasses import dataclass, replace

from consilience.graph.equivalence import mag_to_pag_marks
from consilience.graph.marks import ARROW, TAIL
from consilience.graph.marksets import MarkSets
from consilience.iod.exact.problem import Problem
from consilience.iod.exact.program import Clock, Program, TimeIsUp

__all__ = ["Listing", "graph_of", "list_classes", "solve_optimal", "solve_strict"]


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """A member MAG of every class that was found, whether these are all, the program to ask further questions, and the classes' PAGs."""

    mags: tuple[MarkSets, ...]
    complete: bool
    program: Program | None = None
    pags: tuple[MarkSets, ...] = ()


def list_classes(program: Program, clock: Clock, limit: int | None) -> Listing:
    """One MAG of each class, at most ``limit`` of them."""
    mags: list[MarkSets] = []
    pags: list[MarkSets] = []
    complete = True
    try:
        for mag in program.classes(clock):
            if limit is not None and len(mags) == limit:
                complete = False
                break
            pags.append(mag_to_pag_marks(mag))
            mags.append(mag)
            clock.words = f"solving: {len(mags)} PAGs so far"
    except TimeIsUp:
        complete = False
    return Listing(tuple(mags), complete, program, tuple(pags))


def solve_strict(problem: Problem, clock: Clock, limit: int | None) -> Listing:
    """The classes that agree with all decisions and all knowledge."""
    program = problem.strict()
    return Listing((), complete=True) if program is None else list_classes(program, clock, limit)


def solve_optimal(problem: Problem, clock: Clock, limit: int | None) -> Listing:
    """The classes that agree with all knowledge and contradict decisions of the least weight in all; ties are all listed."""
    program = problem.priced()
    clock.words = "weighing decisions against each other"
    try:
        best = program.optimum(clock)
    except TimeIsUp:
        return Listing((), complete=False)
    if best is None:  # the knowledge contradicts itself
        return Listing((), complete=True)
    program.bound, proved = best
    found = list_classes(program, clock, limit)
    return found if proved else replace(found, complete=False)


def graph_of(mag: MarkSets, problem: Problem, program: Program | None, clock: Clock, pag: MarkSets | None = None) -> MarkSets:
    """The PAG of a MAG's class, if it is not at hand; with background knowledge, the marks that all members share that obey it."""
    pag = mag_to_pag_marks(mag) if pag is None else pag
    if problem.rules and program is not None and pag.has_circles():
        shared = program.shared(clock, program.signature(mag))
        for mark, ends in ((ARROW, shared.arrows), (TAIL, shared.tails)):
            for x, y in ends:
                pag.put(x, y, mark)
    return pag
