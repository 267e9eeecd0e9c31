"""Graphs for a problem, by either engine: listed, explained where there are none, ranked and summarised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from consilience.graph.equivalence import pag_to_mag_marks
from consilience.graph.graphs import PAG
from consilience.iod.answers import Answers
from consilience.iod.clock import Clock, TimeIsUp
from consilience.iod.evidence import Decision, Ruling
from consilience.iod.exact.optimal import solve_optimal
from consilience.iod.exact.outline import ancestral, outline
from consilience.iod.exact.strict import solve_strict
from consilience.iod.exact.strongest import solve_strongest
from consilience.iod.published.engine import enumerate_pags
from consilience.iod.published.union import Variant
from consilience.iod.ranking import scores
from consilience.iod.resolution import Resolution
from consilience.iod.search_problem import SearchProblem
from consilience.iod.solver.conflict import find_conflict
from consilience.iod.solver.encoding import encode_strict
from consilience.iod.solver.listing import Listing, graph_of, list_classes
from consilience.iod.solver.program import Program
from consilience.iod.summary import ALL, NO, SOME, UNKNOWN, Summary
from consilience.parallel import Jobs
from consilience.settings.choices import Resolve

__all__ = ["Ranked", "Solution", "solve_exact", "solve_published"]

STRICT_SHARE = 0.5
"""Of the time for graphs, how much may be spent on graphs that agree with everything, where there is another way if there are none."""
CONFLICT_SHARE = 0.2
"""Of the time that is then left, how much on an example of a contradiction."""
CONFLICT_SECONDS = 5.0
"""And no more than this, if time is limited: an example that takes longer helps nobody, and graphs are there already."""


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A member MAG of each class, the graph to show for it, and what goes with the list as a whole."""

    problem: SearchProblem
    names: tuple[str, ...]
    listing: Listing
    graphs: tuple[PAG, ...]
    conflicts: tuple[Decision, ...]
    candidates: int
    resolution: Resolution
    """How contradictions were resolved."""
    exact: bool = True
    """True if the listing's program has the graphs that are not listed, too."""

    @property
    def strict(self) -> bool:
        """True if every decision holds in every graph."""
        return self.resolution.how is Resolve.STRICT

    def ranked(self, answers: Answers) -> list[Ranked]:
        """The graphs, best first: by score, then by number of edges, then by text."""
        problem, mags = self.problem, self.listing.mags
        given_up = [() if self.strict else tuple(problem.contradicted(mag)) for mag in mags]
        marks = scores(mags, answers, problem.locals_, strict=self.strict)
        found = [Ranked(graph, score, contradicted) for graph, score, contradicted in zip(self.graphs, marks, given_up, strict=True)]
        # rounded: the same weights added in another order are a tie, which parsimony and the text decide
        return sorted(found, key=lambda one: (round(one.score, 9), np.count_nonzero(one.pag.marks), str(one.pag)))

    def summary(self, clock: Clock) -> Summary:
        """What holds in all, some or none: counted where the list is complete, asked of the solver where it is not."""
        names, program = self.names, self.listing.program if self.exact else None
        if self.listing.complete or program is None:
            return Summary.of(self.graphs, names, complete=self.listing.complete, ancestors=self._ancestors(clock))
        told = outline(self.problem, self.listing, [graph.working() for graph in self.graphs], clock)
        return Summary.from_statuses(
            names,
            {(names[x], names[y]): status for (x, y), status in told.edges.items()},
            {(names[x], names[y], mark): status for (x, y, mark), status in told.marks.items()},
            {(names[x], names[y]): mark for (x, y), mark in told.ends.items()},
            {(names[x], names[y]): status for (x, y), status in told.ancestors.items()},
        )

    def _ancestors(self, clock: Clock) -> dict[tuple[str, str], str] | None:
        """Ancestral relations where the graphs of the list cannot tell; None where they can."""
        if not self.problem.rules and not self.problem.selection_bias:
            return None
        program, mags = self.listing.program, self.listing.mags
        if not mags or program is None or not self.listing.complete:
            return dict.fromkeys(permutations(self.names, 2), NO if self.listing.complete else UNKNOWN)
        # The published engine's program has no data sets: it is asked of each class.
        classes = [self.listing.assumptions] if self.exact else [program.signature(mag) for mag in mags]
        told = [ancestral(program, mags if self.exact else (), clock, chosen) for chosen in classes]
        found = {pair: {one[pair] for one in told} for pair in told[0]}
        return {(self.names[x], self.names[y]): _joined(statuses) for (x, y), statuses in found.items()}


def _joined(statuses: set[str]) -> str:
    """How many graphs of several classes have what these statuses say of each."""
    if len(statuses) == 1:
        return statuses.pop()
    return SOME if SOME in statuses or statuses >= {ALL, NO} else UNKNOWN


@dataclass(frozen=True, slots=True)
class Ranked:
    """A graph, the weight of the tests that it contradicts, and the decisions that were given up for it."""

    pag: PAG
    score: float
    contradicted: tuple[Decision, ...]


def solve_exact(
    problem: SearchProblem,
    names: tuple[str, ...],
    clock: Clock,
    limit: int | None,
    resolve: Resolve,
    weigh: Callable[[], Sequence[Ruling]],
    *,
    explain: bool = True,
) -> Solution:
    """By the constraint solver. ``weigh`` gives the decisions to weigh, and is called where they contradict each other; ``explain`` says
    whether an example of a contradiction is looked for, which takes time.
    """
    if resolve is Resolve.STRICT:
        listing = solve_strict(problem, clock, limit)
        conflicts = () if listing.mags or not listing.complete or not explain else _explained(problem, clock)
        return _solution(problem, names, listing, clock, conflicts, Resolution(Resolve.STRICT, proved=listing.complete))
    # One graph tells whether anything need be given up. To weigh at once would be slower by far where nothing is: that program has a walk
    # for every test and knows no local PAGs.
    early = clock.part(STRICT_SHARE)
    listing = solve_strict(problem, early, 1)
    if listing.mags and resolve is Resolve.AUTO:
        return _agreed(problem, names, listing, clock, limit)
    problem = replace(problem, weighed=tuple(weigh()))
    if _all_agree(problem, listing):
        return _agreed(problem, names, listing, clock, limit)
    contradictory = explain and listing.complete and not listing.mags
    listing, resolution = (solve_optimal if resolve is Resolve.OPTIMAL else solve_strongest)(problem, clock, limit)
    left = clock.left()
    late = clock.part(min(CONFLICT_SHARE, CONFLICT_SECONDS / left) if left else CONFLICT_SHARE)
    conflicts = _explained(problem, late) if contradictory else ()
    return _solution(problem, names, listing, clock, conflicts, resolution)


def _agreed(problem: SearchProblem, names: tuple[str, ...], listing: Listing, clock: Clock, limit: int | None) -> Solution:
    """All decisions hold together: the rest of the graphs that agree with them."""
    found = listing if listing.program is None else list_classes(listing.program, clock, limit)
    if not found.mags:  # no time was left; the one that is known stays
        found = replace(listing, complete=False)
    return _solution(problem, names, found, clock, (), Resolution(Resolve.STRICT))


def _all_agree(problem: SearchProblem, listing: Listing) -> bool:
    """True if nothing need be given up: a graph that agrees with all findings agrees with all that is weighed.

    The findings must be among what is weighed, and every data set tested completely: then all graphs that agree with the findings say the
    same within the data sets.
    """
    findings = {ruling.decision for ruling in problem.rulings} <= {ruling.decision for ruling in problem.weighed}
    complete = all(local.complete for local in problem.locals_)
    return findings and complete and bool(listing.mags) and not problem.contradicted(listing.mags[0])


def _solution(
    problem: SearchProblem, names: tuple[str, ...], listing: Listing, clock: Clock, conflicts: tuple[Decision, ...], resolution: Resolution
) -> Solution:
    graphs = []
    clock = clock.again()  # a list that took all the time is not to be lost for want of the marks that follow from knowledge
    for number, (mag, pag) in enumerate(zip(listing.mags, listing.pags, strict=True)):
        try:
            graphs.append(PAG._trusted(graph_of(mag, problem, listing.program, clock, pag, listing.assumptions), names))
        except TimeIsUp:  # the rest would lack marks that follow from knowledge
            if number == 0:  # a graph with fewer marks than follow is true, and better than none
                graphs.append(PAG._trusted(pag, names))
                number = 1  # noqa: PLW2901
            listing = replace(listing, mags=listing.mags[:number], pags=listing.pags[:number], complete=False)
            break
    return Solution(problem, names, listing, tuple(graphs), conflicts, len(listing.mags), resolution)


def _explained(problem: SearchProblem, clock: Clock) -> tuple[Decision, ...]:
    try:
        return find_conflict(problem, clock)
    except TimeIsUp:
        return ()


def solve_published(
    problem: SearchProblem, names: tuple[str, ...], clock: Clock, limit: int | None, variant: Variant, jobs: Jobs
) -> Solution:
    """By the published algorithm; of its graphs, those with a member that obeys the background knowledge are kept."""

    def go_on(seen: int, valid: int) -> bool:
        clock.words = f"validating: {seen} candidates, {valid} PAGs so far"
        try:
            clock.tick()
        except TimeIsUp:
            return False
        return limit is None or valid <= limit

    found = enumerate_pags(problem.n, problem.locals_, variant, jobs, go_on, clock.left())
    classes = [(pag_to_mag_marks(pag), pag) for pag in found.pags]
    complete = found.complete
    members: Program | None = None
    if problem.rules:
        # The algorithm knows no knowledge, so the solver is asked of each class whether a member obeys. Without the data sets: that the
        # class agrees with them is established, and all its members do.
        members = encode_strict(replace(problem, locals_=(), rulings=(), weighed=()))
        try:  # without a program the knowledge contradicts itself
            classes = [] if members is None else [one for one in classes if members.core(clock, members.signature(one[0])) is None]
        except TimeIsUp:  # nobody knows which of them obey
            classes, complete = [], False
    conflicts = () if classes or not complete else _explained(problem, clock)
    listed = classes[:limit]
    listing = Listing(tuple(mag for mag, _ in listed), complete and len(listed) == len(classes), members, tuple(pag for _, pag in listed))
    return replace(
        _solution(problem, names, listing, clock, conflicts, Resolution(Resolve.STRICT)), candidates=found.candidates, exact=False
    )
