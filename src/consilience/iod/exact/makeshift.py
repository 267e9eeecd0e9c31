"""A graph for those who have no time: it agrees with what is known, and with decisions as far as that costs nothing."""

from __future__ import annotations

from consilience.graph.marks import ARROW, TAIL
from consilience.graph.marksets import MarkSets
from consilience.iod.clock import Clock
from consilience.iod.search_problem import SearchProblem
from consilience.iod.solver.encoding import encode_knowledge

__all__ = ["makeshift", "too_large"]

RULES_PER_SECOND = 250_000.0
"""How many rules are grounded in a second, at least; grounding cannot be interrupted."""


def too_large(problem: SearchProblem, clock: Clock) -> bool:
    """True if the solver would not be ready before time is up."""
    left = clock.left()
    # Walks for every pair of every data set dominate: each of them may step from every node to every other.
    rules = sum(local.variables.bit_count() ** 2 for local in problem.locals_) * problem.n**2
    return left is not None and rules / RULES_PER_SECOND > left


def makeshift(problem: SearchProblem) -> MarkSets | None:
    """Some MAG that agrees with the knowledge; None if the knowledge contradicts itself.

    Its edges are the pairs that are adjacent in some local graph and separated in none, where the knowledge allows that; all of them point
    from the first variable to the later one if nothing is known.
    """
    apart = {pair for local in problem.locals_ for pair in local.sepsets}
    joined = {pair for local in problem.locals_ for pair in local.inseparable} - apart
    if not problem.rules:
        mag = MarkSets.empty(problem.n)
        for x, y in sorted(joined):
            mag.add_edge(x, y, TAIL, ARROW)
        return mag
    # A DAG if one will do: soon found. A required edge between two that do not cause each other takes more.
    for acyclic in (True, False):
        program = encode_knowledge(problem, acyclic=acyclic)
        skeleton = [literal if pair in joined else -literal for pair, literal in program.adjacencies.items()]
        for assumptions in (skeleton, []):
            met = program.meet(Clock(), assumptions)
            if met.mag is not None:
                return met.mag
    return None
