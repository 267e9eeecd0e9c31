"""Strongest evidence first: decisions are considered in the order of their weight, and what contradicts stronger ones is overruled.

The way of COmbINE (S. Triantafillou, I. Tsamardinos, Constraint-based causal discovery from multiple interventions over overlapping
variable sets, JMLR 16, 2015) with one rule for ties. Decisions of the same weight, to a thousandth, are one group; no order among them
would be better than another, and any would make the answer depend on the order of columns or sites. Of a group as many as possible hold,
whichever these are. So the graphs that remain are those whose contradicted decisions, counted group by group from the heaviest, are
lexicographically fewest, which is a property of a graph alone.

A decision is accepted without a solver where the graph at hand agrees with it: that graph proves that it goes with all accepted before.
Only the others cost anything, and of these the ones that are overruled, since nothing less than a proof does for them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from consilience.graph.equivalence import mag_to_pag_marks
from consilience.graph.marksets import MarkSets
from consilience.iod.clock import Clock, TimeIsUp
from consilience.iod.evidence import Decision
from consilience.iod.exact.makeshift import makeshift, too_large
from consilience.iod.resolution import Resolution
from consilience.iod.search_problem import SearchProblem
from consilience.iod.solver.encoding import encode_weighed, price
from consilience.iod.solver.listing import Listing, list_classes
from consilience.iod.solver.program import PRICE, Met, Program
from consilience.settings.choices import Resolve

__all__ = ["Course", "by_weight", "listed", "solve_strongest", "without_solver"]

DEAD_ENDS = 10
"""Dead ends of the solver after which it is not known whether a reason could do without one of its decisions; it then stays."""

ATTEMPTS = 100
"""How often that is tried in all. Reasons are to be read, not to be proved least, and each attempt takes some ten milliseconds."""


def solve_strongest(problem: SearchProblem, clock: Clock, limit: int | None) -> tuple[Listing, Resolution]:
    """The classes that agree with all knowledge and all decisions that were accepted, and what became of the others.

    If time runs out, at least one class that agrees with what was accepted until then; none at all only if the knowledge contradicts
    itself.
    """
    if too_large(problem, clock):
        return without_solver(problem, Resolve.STRONGEST)
    course = Course(problem)
    try:
        possible = course.run(clock)
    except TimeIsUp:
        possible = True
    if not possible:
        return Listing((), complete=True), Resolution(Resolve.STRONGEST)
    if course.mag is None:
        return without_solver(problem, Resolve.STRONGEST)
    reasons = course.reasons(clock)
    course.program.settle(course.held)
    found = listed(course.program, clock, limit, course.mag)
    return (found if not course.undecided else replace(found, complete=False)), course.resolution(found, reasons)


def without_solver(problem: SearchProblem, how: Resolve) -> tuple[Listing, Resolution]:
    """Some graph that agrees with the knowledge, where there was no time for a better one."""
    mag = makeshift(problem)
    if mag is None:
        return Listing((), complete=True), Resolution(how)
    given_up = sum((decision.weight or 0.0 for decision in problem.contradicted(mag)), start=0.0)
    found = Listing((mag,), complete=False, program=None, pags=(mag_to_pag_marks(mag),))
    return found, Resolution(how, given_up=given_up, proved=not problem.weighed, undecided=len(problem.weighed))


def listed(program: Program, clock: Clock, limit: int | None, known: MarkSets) -> Listing:
    """The classes of a program of which one MAG is known: at least its class, if there is no time for more."""
    found = list_classes(program, clock, limit)
    return found if found.mags else replace(found, mags=(known,), pags=(mag_to_pag_marks(known),))


def by_weight(problem: SearchProblem) -> list[list[int]]:
    """What is weighed, by place: groups of the same weight, the heaviest first."""
    groups: dict[int, list[int]] = defaultdict(list)
    for place, ruling in enumerate(problem.weighed):
        groups[price(ruling)].append(place)
    return [groups[weight] for weight in sorted(groups, reverse=True)]


class Course:
    """Decisions as they are considered one after the other. They are numbered by their place in ``problem.weighed``.

    ``accepted`` hold in all graphs that are left and ``overruled`` in none. Of a group in ``split`` so many hold, in one graph these and in
    another those. ``held`` is all of that as literals of ``program``, and ``mag`` is a graph that agrees.
    """

    def __init__(self, problem: SearchProblem) -> None:
        self.problem = problem
        self.groups = by_weight(problem)
        ties = [group for group in self.groups if len(group) > 1]
        self._tie = {group[0]: number for number, group in enumerate(ties)}
        self.program = encode_weighed(problem, ties)
        first = len(problem.decisions)
        self._literals = [self.program.holds(first + place) for place in range(len(problem.weighed))]
        self._decisions = [ruling.decision for ruling in problem.weighed]
        self.accepted: list[int] = []
        self.overruled: list[int] = []
        self.split: list[list[int]] = []
        self.held: list[int] = []
        self._behind: dict[int, tuple[int, ...]] = {}
        self._cores: dict[int, list[int]] = {}
        self.mag: MarkSets | None = None
        self._agreed: frozenset[int] = frozenset()

    def literal(self, place: int) -> int:
        """The solver's literal that says that a decision holds."""
        return self._literals[place]

    @property
    def undecided(self) -> int:
        """How many decisions have not been considered."""
        return len(self._literals) - len(self.accepted) - len(self.overruled) - sum(map(len, self.split))

    def run(self, clock: Clock) -> bool:
        """Consider all decisions; False if no graph agrees with the knowledge alone.

        :class:`~consilience.iod.clock.TimeIsUp` leaves what has been found until then.
        """
        if self._meet(clock, ()).mag is None:
            return False
        for group in self.groups:
            done = len(self._literals) - self.undecided
            clock.words = f"strongest evidence first: {done} of {len(self._literals)} decisions considered, {len(self.overruled)} overruled"
            clock.tick()
            self._consider(group, clock)
        return True

    def _meet(self, clock: Clock, literals: Iterable[int]) -> Met:
        """Whether what is held goes with more; if so, the graph at hand is one that agrees."""
        met = self.program.meet(clock, [*self.held, *literals])
        if met.mag is not None:
            self.mag = met.mag
            self._agreed = self._agreeing(met.mag)
        return met

    def _agreeing(self, mag: MarkSets) -> frozenset[int]:
        against = set(self.problem.contradicted(mag))
        return frozenset(place for place, decision in enumerate(self._decisions) if decision not in against)

    def _consider(self, group: Sequence[int], clock: Clock) -> None:
        if self._accept_all(group, clock):
            return
        if len(group) == 1:
            return  # the attempt to accept it has overruled it
        # Who contradicts stronger decisions alone is overruled; the rest of the group clash with each other.
        possible = [place for place in group if self._accept_all([place], clock, only_try=True)]
        if len(possible) < len(group) and self._accept_all(possible, clock):
            return
        self._accept_most(group, possible, clock)

    def _accept_all(self, group: Sequence[int], clock: Clock, *, only_try: bool = False) -> bool:
        """Accept decisions if they hold together with what is held; if not, and it is a single one, overrule it."""
        literals = [self._literals[place] for place in group]
        if not self._agreed.issuperset(group):
            met = self._meet(clock, literals)
            if met.mag is None:
                if len(group) == 1:
                    self.overruled.append(group[0])
                    self._cores[group[0]] = met.core or []
                return False
        if not only_try:
            self.accepted += group
            self.held += literals
        return True

    def _accept_most(self, group: Sequence[int], possible: Sequence[int], clock: Clock) -> None:
        """Of decisions that do not hold together, as many as can be."""
        count = len(self._agreed.intersection(possible))
        while (met := self._meet(clock, [self.program.enough(self._tie[group[0]], count + 1)])).mag is not None:
            count = len(self._agreed.intersection(possible))
        assert met.core is not None
        self.split.append(list(possible))
        if count:
            literal = self.program.enough(self._tie[group[0]], count)
            self._behind[literal] = tuple(possible)
            self.held.append(literal)

    def reasons(self, clock: Clock) -> dict[Decision, tuple[Decision, ...]]:
        """Of each decision that was overruled, stronger ones that it cannot hold together with, as few as is soon found out."""
        clock.words = "looking for reasons"
        budget = ATTEMPTS
        for place in self.overruled:  # the strongest first: their reasons are what people look for
            try:
                budget = self._shorten(place, clock, budget)
            except TimeIsUp:
                break
        own = {self._literals[place] for place in self.overruled}
        return {
            self._decisions[place]: tuple(
                self._decisions[other] for literal in core if literal not in own for other in self._places(literal)
            )
            for place, core in self._cores.items()
        }

    def _shorten(self, place: int, clock: Clock, budget: int) -> int:
        """Leave decisions out of a core that is a contradiction without them; what is left of so many attempts."""
        own = self._literals[place]
        # Another order of the same decisions often gives a core of half the size. Then one by one, weak ones first: strong reasons remain.
        for attempt in (None, *reversed(self._cores[place])):
            core = self._cores[place]
            if budget and attempt != own and (attempt is None or attempt in core):
                clock.tick()
                budget -= 1
                rest = self.program.meet(clock, [literal for literal in reversed(core) if literal != attempt], DEAD_ENDS).core
                if rest is not None:
                    self._cores[place] = [literal for literal in core if literal in rest]
        return budget

    def _places(self, literal: int) -> tuple[int, ...]:
        return self._behind.get(literal) or (self._literals.index(literal),)

    @property
    def bound(self) -> int:
        """A price that every graph gives up: of each core at least its cheapest member, where no decision pays for more than it weighs."""
        left = [price(ruling) for ruling in self.problem.weighed]
        total = 0
        for core in sorted(self._cores.values(), key=len):
            if not any(literal in self._behind for literal in core):
                members = [self._literals.index(literal) for literal in core]
                least = min((left[place] for place in members), default=0)
                total += least
                for place in members:
                    left[place] -= least
        return total

    def given_up(self, mag: MarkSets) -> float:
        """The weight of what a graph contradicts."""
        return sum((decision.weight or 0.0 for decision in self.problem.contradicted(mag)), start=0.0)

    def resolution(self, found: Listing, reasons: dict[Decision, tuple[Decision, ...]]) -> Resolution:
        """What became of the decisions in the graphs of a list."""
        given_up = min(map(self.given_up, found.mags[:1] if not self.undecided else found.mags))
        tied = {place for group in self.split for place in group}
        against = {decision for mag in found.mags if tied for decision in self.problem.contradicted(mag)}
        gone = [*self.overruled, *(place for place in tied if self._decisions[place] in against)]
        weakest = min(self.accepted, key=lambda place: self._decisions[place].weight or 0.0, default=None)
        return Resolution(
            Resolve.STRONGEST,
            overruled=tuple(self._decisions[place] for place in sorted(gone, key=lambda place: -(self._decisions[place].weight or 0.0))),
            given_up=given_up,
            bound=min(given_up, self.bound / PRICE),
            proved=not self.undecided,
            undecided=self.undecided,
            weakest=None if weakest is None else self._decisions[weakest],
            reasons=reasons,
        )
