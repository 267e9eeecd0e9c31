"""Where the numbers of a variable lie, in all sites together: asked only where sites have no intercepts of their own."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from consilience.data.schema import Schema
from consilience.glm.kernel import Floats
from consilience.protocol.desk import Desk
from consilience.protocol.guard import Guard
from consilience.protocol.request import MANY, Request, VariableSet
from consilience.protocol.units import location
from consilience.settings.choices import Method
from consilience.wording import counted

__all__ = ["Locate"]


class Locate(Request, frozen=True, tag="locate"):
    """Per continuous variable or count: (rows, sum in units of two to its exponent).

    With site effects every site centres its own columns, and nobody needs to know where. Without them a column far from zero loses digits
    when it is squared, so all sites move it by the same mean.
    """

    variables: Annotated[tuple[str, ...], MANY]
    exponents: dict[str, int]

    def length(self, schema: Schema) -> int:
        """Two numbers a variable."""
        return 2 * len(self.variables)

    def samples(self) -> tuple[VariableSet, ...]:
        """Each variable alone."""
        return tuple((name,) for name in self.variables)

    def check(self, guard: Guard) -> None:
        """Continuous variables and counts of the study, where it has agreed on common locations, in its units, and over enough sites and
        rows.
        """
        guard.knows_numbers(self.variables)
        guard.is_method(Method.FEDCI)
        guard.moves_columns(moved=True)
        for variables in self.samples():
            guard.allows_sum(variables)
        guard.keeps_units(self.exponents)

    def answer(self, desk: Desk, site: int) -> Floats:
        """Counts and sums of what is not missing; where some values lie far outside, as many times the centre: any point near the others
        will do.
        """
        # All rows or none: cross-products hold the same sum with the values that lie far outside, and the difference of the two would be
        # just these, of one patient perhaps.
        answer: list[float] = []
        for name in self.variables:
            n, total = location(desk.table, name, self.exponents.get(name, 0))
            answer += [float(n), total]
        return np.array(answer)

    def read(self, total: Floats, schema: Schema) -> dict[str, float]:
        """The means, in the variables' own units.

        >>> Locate(("A",), {"A": 8}).read(np.array([4.0, 2.0]), Schema({"A": "continuous"}))
        {'A': 128.0}
        """
        parts = total.reshape(-1, 2)
        means = np.divide(parts[:, 1], parts[:, 0], out=np.zeros(len(parts)), where=parts[:, 0] > 0)
        return {name: float(np.ldexp(mean, self.exponents.get(name, 0))) for name, mean in zip(self.variables, means, strict=True)}

    def words(self) -> str:
        """What is asked for, in words.

        >>> Locate(("A",), {}).words()
        'numbers of rows and sums of 1 variable: A'
        """
        return f"numbers of rows and sums of {counted(len(self.variables), 'variable')}: {', '.join(self.variables)}"
