"""The graphs that give up the least weight in all, or as little as could be found, and what every graph gives up at least.

Both bounds are moved. Strongest evidence first gives a graph to start with, and contradictions, each of which costs at least its weakest
member. A local search then asks for what is given up, one decision at a time: does some graph that keeps it cost less? What that leaves is
put to the solver from the other side: it adds up what contradictions cost until a graph costs no more.
"""

from __future__ import annotations

from contextlib import suppress

from consilience.graph.marksets import MarkSets
from consilience.iod.clock import Clock, TimeIsUp
from consilience.iod.evidence import strength
from consilience.iod.exact.strongest import Choice, any_graph
from consilience.iod.resolution import Resolution
from consilience.iod.search_problem import SearchProblem
from consilience.iod.solver.encoding import encode_priced, price
from consilience.iod.solver.listing import Listing, list_classes
from consilience.iod.solver.program import PRICE
from consilience.settings.choices import Resolve

__all__ = ["solve_optimal"]

START_SHARE = 0.8
"""Of the time for the optimum, how much may go into a start from the strongest evidence. It needs a fraction of that as a rule; where it
needs more, half a start is worse than none of what follows: with half of 30 seconds, 39.8 were given up instead of 26.0 (whas500, twelve
variables)."""
LOCAL_SHARE = 0.5
"""Of what is then left, how much may go into the local search. The proof that follows finds better graphs only at its end."""
DEAD_ENDS = 2000
"""Dead ends of the solver after which one step of the local search is given up: a fraction of a second."""


def solve_optimal(problem: SearchProblem, clock: Clock, limit: int | None) -> tuple[Listing, Resolution]:
    """The classes that agree with all knowledge and contradict decisions of the least weight in all; ties are all listed.

    If time runs out, the best that was found, with a bound that no graph goes below.
    """
    try:
        clock.words = "weighing decisions against each other"
        clock.tick()
        choice = Choice(problem, encode_priced(problem, clock))
    except TimeIsUp:
        return _at_once(problem)
    try:
        choice.make(clock.part(START_SHARE))
    except TimeIsUp:
        if choice.graph is None:
            return _at_once(problem)
    if choice.graph is None:  # the knowledge contradicts itself
        return Listing((), complete=True), Resolution(Resolve.OPTIMAL)
    choice.let_go()
    search = _Search(choice, choice.graph)
    search.run(clock)
    return search.listing(clock, limit), search.resolution()


class _Search:
    """The best graph so far and its price, and what every graph costs at least; both in the solver's whole numbers."""

    def __init__(self, choice: Choice, graph: MarkSets) -> None:
        self._problem, self._program = choice.problem, choice.program
        self._prices = {ruling.decision: price(ruling) for ruling in self._problem.weighed}
        self._literals = {ruling.decision: literal for literal, ruling in choice.literals()}
        self.graph, self.upper, self.lower = graph, self._cost(graph), choice.lower()

    def _cost(self, graph: MarkSets) -> int:
        return sum(self._prices[decision] for decision in self._problem.contradicted(graph))

    @property
    def proved(self) -> bool:
        return self.lower >= self.upper

    def run(self, clock: Clock) -> None:
        """Narrow the gap for as long as there is time."""
        with suppress(TimeIsUp):
            self._improve(clock.part(LOCAL_SHARE))
        with suppress(TimeIsUp):
            self._prove(clock)

    def _say(self, clock: Clock) -> None:
        clock.words = f"weighing decisions against each other ({self.lower / PRICE:.2f} to {self.upper / PRICE:.2f} to be given up)"

    def _take(self, graph: MarkSets) -> bool:
        # The solver may leave out decisions that its graph agrees with, so the graph can be cheaper than the solver says.
        cost = self._cost(graph)
        if cost >= self.upper:
            return False
        self.graph, self.upper = graph, cost
        return True

    def _improve(self, clock: Clock) -> None:
        """Ask for decisions that are given up, the dearest first, as long as that finds cheaper graphs."""
        better = True
        while better and not self.proved:
            better = False
            for decision in sorted(self._problem.contradicted(self.graph), key=lambda one: self._prices[one], reverse=True):
                self._say(clock)
                clock.tick()
                for graph in self._program.cheaper(clock, self.upper, [self._literals[decision]], DEAD_ENDS):
                    better |= self._take(graph)

    def _prove(self, clock: Clock) -> None:
        """Close the gap from below."""
        if self.proved:
            return

        def told(lower: int) -> None:
            self.lower = max(self.lower, min(lower, self.upper))
            self._say(clock)

        self._say(clock)
        for graph in self._program.cheapest(clock, self.upper, told):
            self._take(graph)
            self._say(clock)
        self.lower = self.upper  # it came to its end: nothing is cheaper than the best

    def listing(self, clock: Clock, limit: int | None) -> Listing:
        """All classes of the least weight; where it is not proved, the graph at hand."""
        if self.proved:
            self._program.bound = self.upper
            found = list_classes(self._program, clock, limit)
            if found.mags:
                return found
        return Listing.of_one(self.graph)

    def resolution(self) -> Resolution:
        """What was given up, and how little any graph can."""
        return _resolution(self._problem, self.graph, self.lower / PRICE, proved=self.proved)


def _at_once(problem: SearchProblem) -> tuple[Listing, Resolution]:
    """What there is when there was no time for anything."""
    graph = any_graph(problem)
    if graph is None:
        return Listing((), complete=True), Resolution(Resolve.OPTIMAL)
    return Listing.of_one(graph), _resolution(problem, graph, 0.0, proved=False)


def _resolution(problem: SearchProblem, graph: MarkSets, bound: float, *, proved: bool) -> Resolution:
    overruled = tuple(sorted(problem.contradicted(graph), key=strength, reverse=True))
    given_up = sum(map(strength, overruled))
    # rounding prices to thousandths may put the proved optimum a little above or below the sum of weights
    return Resolution(Resolve.OPTIMAL, overruled, given_up, given_up if proved else min(bound, given_up), proved=proved)
