"""What graphs have to agree with: the findings of the data sets and background knowledge, over numbered nodes.

Both engines are handed one :class:`SearchProblem`. It says what is asked for, and can tell of one graph whether it agrees; how graphs are
looked for is the engines' business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from consilience.graph.marksets import MarkSets
from consilience.graph.separation import Separation
from consilience.iod.evidence import Decision, Ruling
from consilience.iod.local import Local
from consilience.iod.validate import is_solution

__all__ = ["Literal", "Rule", "SearchProblem"]

Literal = tuple[str, int, int, bool]
"""("adj", "anc" or "head", x, y, whether it is so): adjacent, x an ancestor of y, an arrowhead at y on an edge x–y."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A piece of background knowledge: of each of its clauses at least one literal must be true."""

    decision: Decision
    clauses: tuple[tuple[Literal, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class SearchProblem:
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
