"""The Markov equivalence classes that a program has, one after the other, and the graph to show for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from consilience.graph.equivalence import mag_to_pag_marks
from consilience.graph.marks import ARROW, TAIL
from consilience.graph.marksets import MarkSets
from consilience.iod.clock import Clock, TimeIsUp
from consilience.iod.search_problem import SearchProblem
from consilience.iod.solver.program import Program

__all__ = ["Listing", "graph_of", "list_classes"]


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """A member MAG of every class that was found, whether these are all, the program to ask further questions, and the classes' PAGs.

    ``assumptions`` are literals that have to be assumed in every question, as they were for the list.
    """

    mags: tuple[MarkSets, ...]
    complete: bool
    program: Program | None = None
    pags: tuple[MarkSets, ...] = ()
    assumptions: tuple[int, ...] = ()

    @classmethod
    def of_one(cls, mag: MarkSets) -> Self:
        """The graph at hand, where there is no time for more."""
        return cls((mag,), complete=False, pags=(mag_to_pag_marks(mag),))


LISTING = 0.5
"""The share of the time that a list may take once it has a graph; the rest is for what holds in all graphs, listed or not."""


def list_classes(program: Program, clock: Clock, limit: int | None, assumptions: Sequence[int] = ()) -> Listing:
    """One MAG of each class, at most ``limit`` of them."""
    mags: list[MarkSets] = []
    pags: list[MarkSets] = []
    complete = True
    clock = clock.part(1.0)
    try:
        for mag in program.classes(clock, assumptions):
            if not mags:
                clock.keep(LISTING)
            if limit is not None and len(mags) == limit:
                complete = False
                break
            # By rules R0-R10. The solver could name the marks that members share, but it can be asked only between searches.
            pags.append(mag_to_pag_marks(mag))
            mags.append(mag)
            clock.words = f"solving: {len(mags)} PAGs so far"
    except TimeIsUp:
        complete = False
    return Listing(tuple(mags), complete, program, tuple(pags), tuple(assumptions))


def graph_of(
    mag: MarkSets,
    problem: SearchProblem,
    program: Program | None,
    clock: Clock,
    pag: MarkSets | None = None,
    assumptions: Sequence[int] = (),
) -> MarkSets:
    """The PAG of a MAG's class, if it is not at hand; with background knowledge, the marks that all members share that obey it."""
    pag = mag_to_pag_marks(mag) if pag is None else pag
    if problem.rules and program is not None and pag.has_circles():
        shared = program.shared(clock, [*assumptions, *program.signature(mag)])
        for mark, ends in ((ARROW, shared.arrows), (TAIL, shared.tails)):
            for x, y in ends:
                pag.put(x, y, mark)
    return pag
