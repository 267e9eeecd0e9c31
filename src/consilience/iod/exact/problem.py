"""What graphs have to agree with, put to the solver in three ways.

*Strict*: all data sets must be agreed with. Local PAGs are taken over whole, which is why this way reaches twenty variables and more.
*Separate*: every decision may hold or not, and is assumed or left out one by one: for finding out which of them contradict each other.
*Priced*: decisions may be given up at the price of their weight; background knowledge may not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from consilience.graph.marksets import MarkSets, bits
from consilience.graph.separation import Separation
from consilience.iod.evidence import Decision, Ruling
from consilience.iod.exact.known import Known
from consilience.iod.exact.program import PRICE, Program, facts_of
from consilience.iod.local import Local
from consilience.iod.validate import is_solution

__all__ = ["Literal", "Problem", "Rule"]

Literal = tuple[str, int, int, bool]
"""("adj" or "anc", x, y, whether it is so)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A piece of background knowledge: of each of its clauses at least one literal must be true."""

    decision: Decision
    clauses: tuple[tuple[Literal, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Data sets' findings and background knowledge over nodes 0 … n-1.

    ``rulings`` are the decisions that the local PAGs rest on, ``weighed`` those among which the
    least are to be given up. Decisions are numbered: first ``rulings``, then ``rules``.
    """

    n: int
    locals_: Sequence[Local]
    rulings: Sequence[Ruling]
    weighed: Sequence[Ruling] = ()
    rules: Sequence[Rule] = ()
    selection_bias: bool = False

    @property
    def decisions(self) -> list[Decision]:
        """All decisions, by number."""
        return [ruling.decision for ruling in self.rulings] + [rule.decision for rule in self.rules]

    def contradictory_data_set(self) -> int | None:
        """The number of a data set whose own decisions fit no graph, if there is one."""
        everything = (1 << self.n) - 1
        for number, local in enumerate(self.locals_, start=1):
            if local.complete and not is_solution(local.marks, [local], everything):
                return number
        return None

    def strict(self) -> Program | None:
        """All decisions together; None if they contradict each other at sight."""
        if self.contradictory_data_set() is not None:
            return None
        units = [clause[0] for rule in self.rules for clause in rule.clauses if len(clause) == 1]
        never = [(x, y) for what, x, y, so in units if what == "anc" and not so]
        known = Known.of(self.n, self.locals_, selection_bias=self.selection_bias, never=never)
        if known.contradictory:
            return None
        complete = [(i, local) for i, local in enumerate(self.locals_, start=1) if local.complete]
        facts = self._latent() + facts_of("chain", known.chains)
        facts += facts_of("apart", [(i, x, y) for i, local in complete for x, y in local.sepsets])
        facts += facts_of("together", [(i, x, y) for i, local in complete for x, y in local.inseparable])
        others = {i for i, _ in enumerate(self.locals_, start=1)} - {i for i, _ in complete}
        numbered = [(number, self._within(ruling, others)) for number, ruling in enumerate(self.rulings)]
        facts += _constraints(numbered) + facts_of("hard", [(number,) for number, _ in numbered])
        facts += self._knowledge() + facts_of("hard", self._rule_numbers())
        return Program(known, facts, selection_bias=self.selection_bias)

    def separate(self, only: int | None = None) -> Program:
        """Every decision may hold or not; ``only`` those of one data set, if its number is given."""
        known = Known(self.n)
        facts = self._latent() + facts_of("free", [(number,) for number in range(len(self.decisions))])
        numbered = list(enumerate(self.rulings))
        if only is None:
            facts += _constraints(numbered) + self._knowledge()
        else:  # its own variables are all that there are: an adjacency is an edge
            numbered = [(number, self._within(ruling, {only})) for number, ruling in numbered]
            facts += _constraints((number, replace(ruling, inseparable=())) for number, ruling in numbered)
            facts += facts_of("joined", [(number, x, y) for number, ruling in numbered for _, x, y in ruling.inseparable])
            for v in bits((1 << self.n) - 1 & ~self.locals_[only - 1].variables):
                known.isolate(v)
        facts += _triples(numbered, self.locals_)
        return Program(known, facts, selection_bias=self.selection_bias)

    def priced(self) -> Program:
        """What is weighed may be given up at the price of its weight, knowledge may not."""
        first = len(self.decisions)
        numbered = list(enumerate(self.weighed, start=first))
        facts = facts_of("soft", [(number, max(1, round(PRICE * (ruling.decision.weight or 0.0)))) for number, ruling in numbered])
        facts += self._latent() + _constraints(numbered) + self._knowledge() + facts_of("hard", self._rule_numbers())
        return Program(Known(self.n), facts, selection_bias=self.selection_bias)

    def _rule_numbers(self) -> list[tuple[int]]:
        return [(len(self.rulings) + number,) for number in range(len(self.rules))]

    def _within(self, ruling: Ruling, datasets: set[int]) -> Ruling:
        """What some data sets have to do with a decision."""
        key = ruling.separated
        own = key is not None and any(self.locals_[i - 1].sepsets.get(key[:2]) == key[2] for i in datasets)
        return replace(
            ruling, separated=key if own else None, inseparable=tuple(part for part in ruling.inseparable if part[0] in datasets)
        )

    def _latent(self) -> str:
        rows = [(i, v) for i, local in enumerate(self.locals_, start=1) for v in range(self.n) if not local.variables >> v & 1]
        return facts_of("latent", rows)

    def _knowledge(self) -> str:
        text = ""
        for number, rule in enumerate(self.rules, start=len(self.rulings)):
            for clause in rule.clauses:
                text += f":- holds({number}), {', '.join(_denied(literal) for literal in clause)}."
        return text

    def contradicted(self, mag: MarkSets) -> list[Decision]:
        """The decisions in ``weighed`` with which a MAG does not agree."""
        separation = Separation(mag)
        outside = [(1 << self.n) - 1 & ~local.variables for local in self.locals_]

        def agrees(ruling: Ruling) -> bool:
            if ruling.separated is not None and not separation.separated(*ruling.separated):
                return False
            if ruling.connected is not None and separation.separated(*ruling.connected):
                return False
            return all(separation.inducing(x, y, outside[i - 1]) for i, x, y in ruling.inseparable)

        return [ruling.decision for ruling in self.weighed if not agrees(ruling)]


def _triples(numbered: Sequence[tuple[int, Ruling]], locals_: Sequence[Local]) -> str:
    """Which separation and which two adjacencies of a data set make an unshielded triple there."""
    separations = {ruling.separated: number for number, ruling in numbered if ruling.separated is not None}
    adjacencies = {part: number for number, ruling in numbered for part in ruling.inseparable}
    found: dict[str, list[tuple[int, ...]]] = {"valley": [], "ridge": []}
    for i, local in enumerate(locals_, start=1):
        for (x, y), given in local.sepsets.items():
            number = separations.get((x, y, given))
            for z in bits(local.variables & ~(1 << x | 1 << y)):
                left, right = (adjacencies.get((i, min(v, z), max(v, z))) for v in (x, y))
                if number is not None and left is not None and right is not None:
                    found["ridge" if given >> z & 1 else "valley"].append((number, left, right, x, z, y))
    return "".join(facts_of(name, dict.fromkeys(rows)) for name, rows in found.items())


def _constraints(numbered: Iterable[tuple[int, Ruling]]) -> str:
    """Decisions as facts; tests of the same variable given the same set share their walks."""
    walks: dict[tuple[int, int], int] = {}
    facts = ""
    for number, ruling in numbered:
        facts += facts_of("inseparable", [(number, *part) for part in ruling.inseparable])
        for name, key in (("independent", ruling.separated), ("dependent", ruling.connected)):
            if key is not None:
                x, y, given = key
                facts += facts_of(name, [(number, walks.setdefault((x, given), len(walks)), y)])
    facts += facts_of("source", [(walk, x) for (x, _), walk in walks.items()])
    return facts + facts_of("given", [(walk, v) for (_, given), walk in walks.items() for v in bits(given)])


def _denied(literal: Literal) -> str:
    what, x, y, so = literal
    atom = f"adj({min(x, y)},{max(x, y)})" if what == "adj" else f"anc({x},{y})"
    return f"not {atom}" if so else atom
