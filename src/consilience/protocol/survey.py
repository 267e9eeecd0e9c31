"""Who can contribute how many rows to which variable set, and how widely numbers spread."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from consilience.data.schema import Schema
from consilience.glm.kernel import Floats
from consilience.protocol.desk import Desk
from consilience.protocol.guard import Guard
from consilience.protocol.request import MANY, Request, VariableSet
from consilience.protocol.units import spreads_of
from consilience.wording import counted

__all__ = ["Survey", "Surveyed"]

EXPONENT_STEP = 8
"""Spreads are told in powers of 2⁸ only: enough to keep numbers in range, and little more than the unit."""


class Surveyed(NamedTuple):
    """Per variable set: (contributors, rows). Per variable with a spread: the exponent of two that sites agree on, by their mean."""

    counts: dict[VariableSet, tuple[int, int]]
    exponents: dict[str, int]


class Survey(Request, frozen=True, tag="survey"):
    """Per variable set: (holds it with a complete row?, complete rows). Per name in ``spreads``: (votes?, exponent of its spread).

    >>> request = Survey((("A", "C"),), ("A",))
    >>> request.length(Schema({"A": "continuous", "C": "binary"}))
    4
    """

    sets: Annotated[tuple[VariableSet, ...], MANY]
    spreads: Annotated[tuple[str, ...], MANY] = ()

    def length(self, schema: Schema) -> int:
        """Two numbers a set and two a spread."""
        return 2 * len(self.sets) + 2 * len(self.spreads)

    def samples(self) -> tuple[VariableSet, ...]:
        """None: counting is what a survey is for."""
        return ()

    def check(self, guard: Guard) -> None:
        """Counts of any set of the study's variables may be summed, but for sets that no sum is made over under strict isolation; they are
        what limits on other sums rest on.
        """
        guard.each_once(self.sets)
        for variables in self.sets:
            guard.knows(variables)
        guard.knows_numbers(self.spreads)
        guard.not_too_large(self.sets)
        for variables in self.sets:
            guard.may_count(variables)
        for name in self.spreads:
            guard.enough_contribute((name,))

    def answer(self, desk: Desk, site: int) -> Floats:
        """Counts of complete rows; and for each spread a vote, unless the column is absent or constant here."""
        table, answer = desk.table, list[float]()
        for variables in self.sets:
            n = table.complete(variables).n if table.holds(variables) else 0
            answer += [float(n > 0), float(n)]
        for spread in spreads_of(table, self.spreads):
            votes = spread > 0.0 and math.isfinite(spread)
            # the exponent, not the spread: a mean of spreads would need a unit to be summed in, which is what is being agreed on
            answer += [1.0, EXPONENT_STEP * round(math.log2(spread) / EXPONENT_STEP)] if votes else [0.0, 0.0]
        return np.array(answer)

    def read(self, total: Floats, schema: Schema) -> Surveyed:
        """Whole numbers again: counts are exact in the ring, and a sum of doubles that is not masked may be off by rounding.

        >>> Survey((("A", "C"),), ("A",)).read(np.array([2.0, 31.0, 2.0, 16.0]), Schema({"A": "continuous", "C": "binary"}))
        Surveyed(counts={('A', 'C'): (2, 31)}, exponents={'A': 8})
        """
        whole = np.rint(total).astype(np.int64)
        counts = whole[: 2 * len(self.sets)].reshape(-1, 2).tolist()
        votes = whole[2 * len(self.sets) :].reshape(-1, 2).tolist()
        return Surveyed(
            {variables: (sites, rows) for variables, (sites, rows) in zip(self.sets, counts, strict=True)},
            {name: round(exponents / n) if n else 0 for name, (n, exponents) in zip(self.spreads, votes, strict=True)},
        )

    def words(self) -> str:
        """What is asked for, in words.

        >>> Survey((("A", "C"), ("A",)), ("A",)).words()
        'whether and with how many rows this site can contribute to 2 variable sets; the order of magnitude of the spread of 1 variable'
        """
        words = f"whether and with how many rows this site can contribute to {counted(len(self.sets), 'variable set')}"
        spread = f"; the order of magnitude of the spread of {counted(len(self.spreads), 'variable')}"
        return words + (spread if self.spreads else "")
