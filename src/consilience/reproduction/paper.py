"""What the paper reports, to be put beside what a run finds."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from consilience.simulate.methods import ComparedMethod

__all__ = ["Paper", "paper"]


@dataclass(frozen=True, slots=True)
class Paper:
    """The numbers of the paper's tables; None where it has none."""

    numbers: dict[str, Any]

    def cell(self, table: str, method: ComparedMethod, n: int, sites: int) -> float | None:
        """An entry of ``"shd"`` or ``"d"``. The default fedCI has the entry of the paper's one.

        >>> paper().cell("shd", ComparedMethod.FISHER, 2500, 8), paper().cell("d", ComparedMethod.POOLED, 500, 4)
        (0.258, None)
        """
        name = ComparedMethod.JOINT if method is ComparedMethod.FEDCI else method
        row = self.numbers[table].get(name.value, {}).get(str(sites))
        samples = self.numbers["samples"]
        return float(row[samples.index(n)]) if row is not None and n in samples else None

    def reduction(self, smaller: str, larger: str) -> tuple[int, int, int]:
        """Of 100 runs, those in which one variant had as many candidates as another; least and greatest reduction in the others."""
        unchanged, least, greatest = self.numbers["candidates"][f"{smaller}_{larger}"]
        return unchanged, least, greatest


def paper() -> Paper:
    """The numbers, from ``paper.toml``."""
    return Paper(tomllib.loads((files("consilience.reproduction") / "paper.toml").read_text(encoding="utf-8")))
