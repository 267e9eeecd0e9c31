"""Strongest evidence first: which decisions can be kept, if the stronger of two that clash always wins.

Decisions are taken in order of their weight. Each is accepted if some graph agrees with it and with all accepted before, and overruled if
none does: then stronger evidence contradicts it. That is the way of COmbINE (S. Triantafillou, I. Tsamardinos, Constraint-based causal
discovery from multiple interventions over overlapping variable sets, JMLR 16, 2015), lexicographic: no number of weak decisions outvotes a
strong one. Background knowledge comes before all decisions.

*Ties.* Decisions of equal weight are taken together, and as many of them are kept as can be, whichever these are. So the answer depends
neither on the order of the variables nor on that of the data sets: it is the set of graphs whose contradicted weights, sorted, come first.

*Anytime.* The last graph at hand agrees with everything accepted so far. It is what there is when time runs out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from consilience.graph.marks import ARROW
from consilience.graph.marksets import MarkSets
from consilience.iod.clock import Clock, Endless, TimeIsUp
from consilience.iod.evidence import Decision, Ruling, strength
from consilience.iod.exact.marginal import contradiction, neighbourhoods
from consilience.iod.resolution import Resolution
from consilience.iod.search_problem import SearchProblem
from consilience.iod.solver.encoding import encode_free, knowledge_program, price
from consilience.iod.solver.listing import Listing, list_classes
from consilience.iod.solver.program import PRICE, Met, Program
from consilience.settings.choices import Resolve

__all__ = ["Choice", "any_graph", "solve_strongest"]

SAME_WEIGHT = 9
"""Digits after the point in which weights must agree to count as equal: the same p-value may come out of two orders of the same sum."""
FEW_VARIABLES = 8
"""Contradictions are looked for among so many variables first."""
DEAD_ENDS = (300, 300, 1000, 2000, 4000, 8000, 16000)
"""Dead ends of the solver after which it is asked something easier. A thousand take it up to four seconds with fourteen variables."""
MARGINAL_DEAD_ENDS = 2000
"""The same where something easier is asked: there they take tenths of a second."""


def solve_strongest(problem: SearchProblem, clock: Clock, limit: int | None) -> tuple[Listing, Resolution]:
    """The classes that agree with all knowledge and with the strongest decisions that can hold together."""
    clock.words = "taking decisions, strongest first"
    try:
        clock.tick()
        choice = Choice(problem, encode_free(problem, clock))
    except TimeIsUp:
        return _at_once(problem)
    try:
        choice.make(clock)
    except TimeIsUp:
        if choice.graph is None:
            return _at_once(problem)
    if choice.graph is None:  # the knowledge contradicts itself
        return Listing((), complete=True), Resolution(Resolve.STRONGEST)
    return choice.listing(clock, limit), choice.resolution(clock)


def any_graph(problem: SearchProblem) -> MarkSets | None:
    """A graph that obeys the knowledge, at once; None if there is none.

    Without knowledge, the pairs that no data set separates joined by ``<->``: a MAG, since no node is an ancestor of another, and one that
    agrees with every dependence of two variables that are adjacent somewhere.
    """
    if problem.rules:
        program = knowledge_program(problem)
        return None if program is None else program.first(Endless(), ())
    graph = MarkSets.empty(problem.n)
    apart = {pair for local in problem.locals_ for pair in local.sepsets}
    for x in range(problem.n):
        for y in range(x + 1, problem.n):
            if (x, y) not in apart and any(local.variables >> x & 1 and local.variables >> y & 1 for local in problem.locals_):
                graph.add_edge(x, y, ARROW, ARROW)
    return graph


def _at_once(problem: SearchProblem) -> tuple[Listing, Resolution]:
    """What there is when there was no time for anything."""
    graph = any_graph(problem)
    if graph is None:
        return Listing((), complete=True), Resolution(Resolve.STRONGEST)
    given_up = tuple(sorted(problem.contradicted(graph), key=strength, reverse=True))
    total = sum(map(strength, given_up))
    # What was not considered is not overruled: it may be contradicted, and nobody knows whether it had to be.
    resolution = Resolution(Resolve.STRONGEST, (), total, proved=False, undecided=len(problem.weighed))
    return Listing.of_one(graph), resolution


@dataclass(slots=True, eq=False)
class Choice:
    """Decisions accepted and overruled so far, and a graph that agrees with what is accepted."""

    problem: SearchProblem
    program: Program
    graph: MarkSets | None = None
    contradicted: frozenset[Decision] = frozenset()
    accepted: dict[int, Ruling] = field(default_factory=dict)
    """By the literal that says that the decision holds."""
    ties: list[int] = field(default_factory=list)
    """Literals that bound how many decisions of a group of equals fail."""
    overruled: list[Ruling] = field(default_factory=list)
    cores: dict[Decision, frozenset[int]] = field(default_factory=dict)
    """Of a decision that was overruled, literals of stronger ones, and perhaps of ties, that it cannot hold together with."""
    considered: int = 0

    def literals(self) -> list[tuple[int, Ruling]]:
        """All decisions, each with the literal that says that it holds."""
        first = len(self.problem.decisions)
        return [(self.program.holds(number), ruling) for number, ruling in enumerate(self.problem.weighed, start=first)]

    def let_go(self) -> None:
        """Give back the literals of ties: a choice that is left open would double the answers."""
        for literal in self.ties:
            self.program.withdraw(literal)

    def groups(self) -> Iterator[list[tuple[int, Ruling]]]:
        """Literals and decisions, strongest first, equals together."""

        def rank(one: tuple[int, Ruling]) -> float:
            return -round(strength(one[1].decision), SAME_WEIGHT)

        for _, group in groupby(sorted(self.literals(), key=rank), key=rank):
            yield list(group)

    def make(self, clock: Clock) -> None:
        """Consider every decision, strongest first."""
        # knowledge has to be obeyed; without it a graph is at hand before the solver has said anything
        self._take(self.program.first(clock, ()) if self.problem.rules else any_graph(self.problem))
        if self.graph is None:
            return
        for group in self.groups():
            if not self._holds(group):
                self._decide(group, clock)
            else:  # the graph at hand proves that they can all be kept
                self.accepted |= dict(group)
            self.considered += len(group)
            clock.words = f"taking decisions, strongest first: {len(self.accepted)} kept, {len(self.overruled)} overruled so far"

    def _holds(self, group: Sequence[tuple[int, Ruling]]) -> bool:
        return not any(ruling.decision in self.contradicted for _, ruling in group)

    def _take(self, graph: MarkSets | None) -> bool:
        if graph is None:
            return False
        # what a graph agrees with is read off the graph: the solver need not have said of a decision that it holds
        self.graph, self.contradicted = graph, frozenset(self.problem.contradicted(graph))
        return True

    def _decide(self, group: Sequence[tuple[int, Ruling]], clock: Clock) -> None:
        core = self._clash(group, clock)
        if core is None:
            self.accepted |= dict(group)
        elif len(group) == 1:
            self._overrule(group[0][1], core)
        else:
            self._decide_tie(group, clock)

    def _overrule(self, ruling: Ruling, core: Iterable[int]) -> None:
        self.overruled.append(ruling)
        self.cores[ruling.decision] = frozenset(core)

    def _clash(self, group: Sequence[tuple[int, Ruling]], clock: Clock) -> list[int] | None:
        """Literals of what is held with which decisions cannot hold together; None if they can, and the graph at hand then has them.

        The solver is asked for a graph, for a while; then for contradictions among fewer variables; then for longer, and among more.
        """
        wanted = [ruling for _, ruling in group]
        literals = [literal for literal, _ in group]
        for size, dead_ends in enumerate(DEAD_ENDS, start=FEW_VARIABLES - 1):
            if size >= self.problem.n:
                break
            if size >= FEW_VARIABLES:
                for variables in neighbourhoods(wanted, list(self.accepted.values()), self.problem.n, size):
                    clock.tick()
                    found = contradiction(self.problem, wanted, self.accepted, variables, clock, MARGINAL_DEAD_ENDS)
                    if found is not None:
                        return found
            met = self._meet(literals, clock, dead_ends)
            if met.mag is not None or met.core is not None:
                return met.core
        return self._meet(literals, clock).core

    def _meet(self, literals: Sequence[int], clock: Clock, dead_ends: int = -1) -> Met:
        """Decisions together with what is held; the core is of the latter."""
        met = self.program.meet(clock, [*self.accepted, *self.ties, *literals], dead_ends)
        self._take(met.mag)
        return met if met.core is None else Met(None, [literal for literal in met.core if literal not in literals])

    def _decide_tie(self, group: Sequence[tuple[int, Ruling]], clock: Clock) -> None:
        """Keep as many as can be. Which ones may differ from graph to graph."""
        possible = []
        for one in group:  # what cannot be kept alone cannot be kept with others
            core = self._clash([one], clock)
            if core is None:
                possible.append(one)
            else:
                self._overrule(one[1], core)
        if len(possible) < len(group) and (not possible or self._clash(possible, clock) is None):
            self.accepted |= dict(possible)
            return
        for most in range(1, len(possible) + 1):
            bound = self.program.at_most_denied([literal for literal, _ in possible], most)
            if self._take(self.program.first(clock, [*self.accepted, *self.ties, bound])):
                self.ties.append(bound)
                break
            self.program.withdraw(bound)
        self.overruled += [ruling for _, ruling in possible if ruling.decision in self.contradicted]

    def listing(self, clock: Clock, limit: int | None) -> Listing:
        """All classes that agree with what is accepted; the graph at hand, if there is no time for more."""
        assert self.graph is not None
        if self.considered == len(self.problem.weighed):
            for literal in (*self.accepted, *self.ties):
                self.program.require(literal)
            found = list_classes(self.program, clock, limit)
            if found.mags:
                return found
        # without the program: what it has is more than what agrees with the decisions
        return Listing.of_one(self.graph)

    def resolution(self, clock: Clock) -> Resolution:
        """What became of the decisions."""
        complete = self.considered == len(self.problem.weighed)
        overruled = tuple(sorted((ruling.decision for ruling in self.overruled), key=strength, reverse=True))
        kept = [ruling.decision for ruling in self.accepted.values()]
        given_up = sum(strength(decision) for decision in self.contradicted)
        reasons = {
            decision: tuple(sorted((self.accepted[literal].decision for literal in core), key=strength, reverse=True))
            for decision, core in self.cores.items()
            if core and core <= self.accepted.keys()
        }
        return Resolution(
            Resolve.STRONGEST,
            overruled,
            given_up,
            min(self.lower() / PRICE, given_up),
            proved=complete,
            undecided=len(self.problem.weighed) - self.considered,
            weakest=min(kept, key=strength, default=None),
            reasons=reasons,
        )

    def lower(self) -> int:
        """A price that every graph pays: of each contradiction at least the cheapest member, and no decision more than its own price."""
        left = {literal: price(ruling) for literal, ruling in self.accepted.items()}
        total = 0
        for ruling in self.overruled:
            core = self.cores.get(ruling.decision)
            # A contradiction with a tie says nothing about single decisions: that many of the tie hold is a choice, too.
            if core is not None and core <= left.keys():
                least = min([price(ruling), *(left[literal] for literal in core)])
                total += least
                for literal in core:
                    left[literal] -= least
        return total
