"""The graphs that give up the least weight in all, or as little as could be found, and what every graph gives up at least.

Upper and lower bound come from two sides. Strongest evidence first gives a graph to start with, and decisions that contradict each other,
each set of which costs at least its weakest member. Then every decision that is given up is asked for in turn: does some graph that has it
cost less? What that leaves is put to the solver, which starts from contradictions and adds up what they cost until a graph costs no more.
"""

from __future__ import annotations

from dataclasses import replace

from consilience.graph.marksets import MarkSets
from consilience.iod.clock import Clock, TimeIsUp
from consilience.iod.exact.makeshift import too_large
from consilience.iod.exact.strongest import Course, listed, without_solver
from consilience.iod.resolution import Resolution
from consilience.iod.search_problem import SearchProblem
from consilience.iod.solver.encoding import price
from consilience.iod.solver.listing import Listing
from consilience.iod.solver.program import PRICE
from consilience.settings.choices import Resolve

__all__ = ["solve_optimal"]

DEAD_ENDS = 2000
"""Dead ends of the solver after which one step of the local search is given up: a fraction of a second."""

START = 0.5
"""The share of the time after which strongest evidence first has to do as a start, even if it is not through."""


def solve_optimal(problem: SearchProblem, clock: Clock, limit: int | None) -> tuple[Listing, Resolution]:
    """The classes that agree with all knowledge and contradict decisions of the least weight in all; ties are all listed.

    If time runs out, classes that contradict the least that was found, and a bound. None at all only if the knowledge contradicts itself.
    """
    if too_large(problem, clock):
        return without_solver(problem, Resolve.OPTIMAL)
    course = Course(problem)
    try:
        possible = course.run(clock.part(START))
    except TimeIsUp:
        possible = True
    if not possible:
        return Listing((), complete=True), Resolution(Resolve.OPTIMAL)
    if course.mag is None:
        return without_solver(problem, Resolve.OPTIMAL)
    search = _Search(course, course.mag)
    try:
        search.improve(clock)
        search.prove(clock)
    except TimeIsUp:
        pass
    # From here on the program has the graphs of this weight only, for the list and for whatever is asked of it later.
    course.program.bound = search.upper
    found = listed(course.program, clock, limit, search.mag)
    gone = {decision for mag in found.mags for decision in problem.contradicted(mag)}
    given_up = course.given_up(search.mag)
    resolution = Resolution(
        Resolve.OPTIMAL,
        overruled=tuple(sorted(gone, key=lambda decision: -(decision.weight or 0.0))),
        given_up=given_up,
        bound=given_up if search.proved else min(given_up, search.lower / PRICE),
        proved=search.proved,
    )
    return (found if search.proved else replace(found, complete=False)), resolution


class _Search:
    """The best graph so far and its price, and what every graph costs at least."""

    def __init__(self, course: Course, mag: MarkSets) -> None:
        self._course, self._program = course, course.program
        self._prices = {ruling.decision: price(ruling) for ruling in course.problem.weighed}
        self._places = {ruling.decision: place for place, ruling in enumerate(course.problem.weighed)}
        self.mag, self.upper, self.lower = mag, self._price(mag), course.bound

    def _price(self, mag: MarkSets) -> int:
        return sum(self._prices[decision] for decision in self._course.problem.contradicted(mag))

    @property
    def proved(self) -> bool:
        return self.lower >= self.upper

    def _take(self, mag: MarkSets) -> None:
        # The solver may leave decisions out that its graph agrees with, so the graph can be cheaper than it says.
        cost = self._price(mag)
        if cost < self.upper:
            self.mag, self.upper = mag, cost

    def _say(self, clock: Clock) -> None:
        clock.words = f"weighing decisions against each other: {self.lower / PRICE:.2f} to {self.upper / PRICE:.2f} to be given up"

    def improve(self, clock: Clock) -> None:
        """Ask for decisions that are given up, one by one, as long as that finds cheaper graphs."""
        before = None
        while before != self.upper and not self.proved:
            before = self.upper
            for decision in sorted(self._course.problem.contradicted(self.mag), key=lambda decision: -self._prices[decision]):
                self._say(clock)
                wanted = self._course.literal(self._places[decision])
                for _, mag in self._program.cheaper(clock, self.upper, [wanted], DEAD_ENDS):
                    self._take(mag)

    def prove(self, clock: Clock) -> None:
        """Close the gap from below."""
        if self.proved:
            return
        self._say(clock)

        def told(lower: int) -> None:
            self.lower = max(self.lower, lower)
            self._say(clock)

        for _, mag in self._program.proof(clock, self.upper, told):
            self._take(mag)
            self._say(clock)
        self.lower = self.upper  # it came to its end: nothing is cheaper than the best
