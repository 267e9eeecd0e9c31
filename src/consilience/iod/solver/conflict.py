"""Why there is no graph: a minimal set of decisions that cannot hold together."""

from __future__ import annotations

from consilience.iod.clock import Clock
from consilience.iod.evidence import Decision
from consilience.iod.search_problem import SearchProblem
from consilience.iod.solver.encoding import encode_separately

__all__ = ["find_conflict"]


def find_conflict(problem: SearchProblem, clock: Clock) -> tuple[Decision, ...]:
    """Decisions that no graph agrees with, though one does with any of them left out; none if there is no contradiction.

    The solver names some that suffice for a contradiction; then each is left out in turn, and stays out if the rest still contradict
    each other. Strong decisions are left out first, so that what remains points at weak ones. A data set that contradicts itself is looked
    at alone: its decisions fit a graph over all variables iff they fit one over its own.
    """
    clock.words = "looking for decisions that contradict each other"
    program = encode_separately(problem, problem.contradictory_data_set(), clock)
    decisions = problem.decisions
    numbers = {program.holds(number): number for number in range(len(decisions))}
    core = program.core(clock, list(numbers))
    if core is None:
        return ()
    for literal in sorted(core, key=lambda known: -_strength(decisions[numbers[known]])):
        if literal in core:
            rest = program.core(clock, [other for other in core if other != literal])
            if rest is not None:
                core = rest
    return tuple(decisions[number] for number in sorted(numbers[literal] for literal in core))


def _strength(decision: Decision) -> float:
    return float("-inf") if decision.weight is None else decision.weight
