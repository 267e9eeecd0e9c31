"""What all answers of a program have in common, and what some have, found so that whatever is decided stays when time is up.

An answer refutes at once all that it lacks, and shows all that it has. What no answer seen so far has is asked for, many literals in one
question: is there an answer with at least one of them? If so, it is one more answer to learn from; if not, all of them are settled. A few
dozen answers are enough for thirty variables, while classes are as many as they like: nothing here is done class by class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from consilience.graph.ancestry import descendants
from consilience.graph.marksets import MarkSets
from consilience.iod.clock import Clock, TimeIsUp
from consilience.iod.solver.program import Feature, Program

__all__ = ["Consequences"]

TOGETHER = 32
"""Literals in one question. With all in one, nothing would be settled before the end; one by one, most time would go into asking."""

PATIENCE = 0.25
"""The share of the time left that one question may take: a hard one must not keep the others from being asked."""


class Consequences:
    """What is known of the features of a program's answers under ``assumptions``: at first nothing.

    >>> from consilience.iod.solver.deduction import Deduced
    >>> found = Consequences(Program(Deduced(2), ":- not adj(0,1). :- anc(0,1)."))
    >>> found.occurs(("arrow", 0, 1)) is None
    True
    >>> found.ask(Clock())
    >>> found.occurs(("arrow", 0, 1)), found.lacks(("arrow", 0, 1)), found.lacks(("edge", 0, 1)), found.occurs(("cause", 0, 1))
    (True, True, False, False)
    """

    def __init__(self, program: Program, assumptions: Sequence[int] = ()) -> None:
        self._program, self._assumptions = program, tuple(assumptions)
        self._features: Mapping[Feature, int] = program.features()
        # Features that the solver knows to be the same share a literal.
        self._literals = list(dict.fromkeys(self._features.values()))
        self._open = dict.fromkeys(signed for literal in self._literals for signed in (literal, -literal))
        self._seen: set[int] = set()
        self.any_answer = False
        """True if an answer was seen; without one, nothing is said."""

    def occurs(self, feature: Feature) -> bool | None:
        """Whether some answer has a feature; None where that is not known."""
        literal = self._features.get(feature)
        return self._found(literal) if literal is not None else False if self.any_answer else None

    def lacks(self, feature: Feature) -> bool | None:
        """Whether some answer lacks it."""
        literal = self._features.get(feature)
        return self._found(-literal) if literal is not None else True if self.any_answer else None

    def _found(self, literal: int) -> bool | None:
        return None if literal in self._open or not self.any_answer else literal in self._seen

    def see(self, mag: MarkSets) -> None:
        """Learn from a MAG that is an answer."""
        below = descendants(mag)

        def has(what: str, x: int, y: int) -> bool:
            rows = {"edge": mag.adjacent, "arrow": mag.far_arrow, "tail": mag.far_tail, "cause": below}[what]
            return bool(rows[x] >> y & 1)

        self._learn({literal if has(*feature) else -literal for feature, literal in self._features.items()})

    def _learn(self, true: set[int]) -> None:
        self.any_answer = True
        self._seen |= true
        for literal in true & self._open.keys():
            del self._open[literal]

    def ask(self, clock: Clock) -> None:
        """Settle what is open. Where time is up before, ``TimeIsUp`` is raised and what is settled stays so."""
        if not self.any_answer and not self._another([], clock):
            return
        together = TOGETHER
        while self._open:
            clock.tick()
            chosen = list(islice(self._open, together))
            try:
                settled = self._none_of(chosen, clock.part(PATIENCE))
            except TimeIsUp:
                # Others may be easier, and so may parts of this question: it is put off, not given up.
                settled, together = False, max(1, together // 2)
                self._open |= {literal: self._open.pop(literal) for literal in chosen}
            if settled:
                for literal in chosen:
                    del self._open[literal]

    def _none_of(self, literals: Sequence[int], clock: Clock) -> bool:
        """True if no answer has any of these literals; else an answer that has one has been learnt from."""
        alternative = self._program.any_of(literals)
        try:
            return not self._another([alternative], clock)
        finally:
            self._program.withdraw(alternative)

    def _another(self, literals: Sequence[int], clock: Clock) -> bool:
        """Learn from an answer with these literals, if there is one."""
        true = self._program.answer(clock, [*self._assumptions, *literals], self._literals)
        if true is not None:
            self._learn(true)
        return true is not None
