"""Where the values of a variable lie at the sites, and how widely: the middle half of each site's rows, summed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.glm.kernel import Floats
from consilience.protocol.desk import Desk
from consilience.protocol.guard import Guard
from consilience.protocol.request import MANY, Request, VariableSet
from consilience.protocol.units import middle_half
from consilience.settings.choices import Method
from consilience.wording import counted

__all__ = ["Place", "Placed", "centres_of", "middle_half"]

LARGEST = 2.0**52
"""In units of the spread: what lies farther from zero could not be told apart in doubles anyway."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The mean over sites of their centres and of their spreads, in the variable's own unit. ``sites`` have voted."""

    sites: int
    centre: float
    spread: float


@dataclass(slots=True)
class _Centres:
    """Centres of a site's columns, found once."""

    found: dict[str, tuple[float, float]] = field(default_factory=dict)


class _Lookup(Mapping[str, float]):
    def __init__(self, table: Table, kept: _Centres) -> None:
        self._table, self._kept = table, kept

    def __getitem__(self, name: str) -> float:
        if name not in self._kept.found:
            self._kept.found[name] = middle_half(self._table.numbers[name])
        return self._kept.found[name][0]

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self._table.numbers)

    def __len__(self) -> int:
        return len(self._table.numbers)


def centres_of(desk: Desk) -> Mapping[str, float]:
    """The centres of a site's continuous columns, over all rows that have a value."""
    return _Lookup(desk.table, desk.keep(_Centres))


class Place(Request, frozen=True, tag="place"):
    """Per continuous variable: (votes?, centre, spread) of the middle half of a site's rows, in units of two to its exponent.

    A mean over half of the rows is nobody's value. Knots are looked for around it.
    """

    variables: Annotated[tuple[str, ...], MANY]
    exponents: dict[str, int]

    def length(self, schema: Schema) -> int:
        """Three numbers a variable."""
        return 3 * len(self.variables)

    def samples(self) -> tuple[VariableSet, ...]:
        """Each variable alone."""
        return tuple((name,) for name in self.variables)

    def check(self, guard: Guard) -> None:
        """Continuous variables of the study, for tests of residuals, in its units, and over enough sites and rows."""
        guard.knows_numbers(self.variables)
        guard.is_method(Method.RESIDUAL)
        for variables in self.samples():
            guard.allows_sum(variables)
        guard.keeps_units(self.exponents)

    def answer(self, desk: Desk, site: int) -> Floats:
        """Centre and spread of the columns that are here and vary."""
        answer = np.zeros((len(self.variables), 3))
        for i, name in enumerate(self.variables):
            if name not in desk.table.numbers:
                continue
            centre, spread = middle_half(desk.table.numbers[name])
            if spread > 0.0:
                told = np.ldexp([centre, spread], -self.exponents.get(name, 0))
                answer[i] = 1.0, *np.clip(told, -LARGEST, LARGEST)
        return answer.ravel()

    def read(self, total: Floats, schema: Schema) -> dict[str, Placed]:
        """The means over sites, in the variables' own units.

        >>> Place(("A",), {"A": 3}).read(np.array([2.0, 1.0, 0.5]), Schema({"A": "continuous"}))
        {'A': Placed(sites=2, centre=4.0, spread=2.0)}
        """
        found: dict[str, Placed] = {}
        for name, (votes, centre, spread) in zip(self.variables, total.reshape(-1, 3).tolist(), strict=True):
            n, exponent = round(votes), self.exponents.get(name, 0)
            unit = 2.0**exponent / max(n, 1)
            found[name] = Placed(n, centre * unit, spread * unit)
        return found

    def words(self) -> str:
        """What is asked for, in words.

        >>> Place(("A",), {}).words()
        'centre and spread of the middle half of 1 continuous variable: A'
        """
        return f"centre and spread of the middle half of {counted(len(self.variables), 'continuous variable')}: {', '.join(self.variables)}"
